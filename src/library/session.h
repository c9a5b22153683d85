/*
 * session.h: sessions from the inside: calls of the library, their memory and their errors.
 */
#ifndef NEARDUP_LIBRARY_SESSION_H
#define NEARDUP_LIBRARY_SESSION_H

#include <setjmp.h>

#include "library/neardup.h"
#include "sketch/forms.h"

/* Memory that a call has allocated and not freed, in a ring. */
typedef struct Block
{
	struct Block *next;
	struct Block *previous;
} Block;

struct neardup_session
{
	neardup_host host;
	Block blocks;           /* of the call under way */
	jmp_buf failed;         /* where an error of the call goes */
	neardup_session *outer; /* whose call called the host, which called this session */
	neardup_code code;
	char message[512];
};

struct neardup_lexicon
{
	LexiconParts parts;
	Weights weights;
	SchemeId weighed;
};

struct neardup_signer
{
	neardup_kind kind;
	SignatureMaker maker; /* for shingles: scheme, weights and the header's scheme */
};

/*
 * Begins a call of the library.  If there is an error later, what the call has allocated is
 * freed, and the function that has this line returns the error's code.
 */
#define SESSION_BEGIN(session) \
	do \
	{ \
		if (setjmp(*session_begin(session)) != 0) \
			return session_give_up(); \
	} while (0)

extern jmp_buf *session_begin(neardup_session *session);
extern neardup_code session_end(void);
extern neardup_code session_pause(void);
extern neardup_code session_give_up(void);
extern void session_inherit(neardup_session *session, const neardup_session *from);
extern void session_release(void *memory);
extern void session_adopt(void *memory);
extern _Noreturn void session_fail(neardup_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

extern SchemeId scheme_of_name(const char *name);
extern FormReader reader_of(const void *bytes, size_t length);
extern Signature signature_of_bytes(neardup_kind kind, const void *bytes, size_t length);
extern Bag bag_of_bytes(const void *bytes, size_t length, uint8_t *version, SchemeId *scheme);
extern SignatureHeader header_of_set(uint8_t version, SchemeId scheme);
extern void check_comparable(const SignatureHeader *x, const SignatureHeader *y);

#endif
