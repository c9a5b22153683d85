/*
 * session.c: sessions, and what base/host.h asks of a program.
 */
#include "library/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

/* Memory has the alignment of malloc behind its block. */
#define BLOCK_BYTES ((sizeof(Block) + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1))

/* The session whose call this thread is in. */
static _Thread_local neardup_session *active;

/* ---- Memory ------------------------------------------------------------- */

/* Reallocates or frees memory, by the host's function if there is one. */
static void *
session_resize(const neardup_host *host, void *memory, size_t bytes)
{
	if (host->resize != NULL)
		return host->resize(host->state, memory, bytes);
	if (bytes > 0)
		return realloc(memory, bytes);
	free(memory);
	return NULL;
}

/* Removes a block from its ring, if it is in one. */
static void
unlink_block(Block *block)
{
	if (block->next == NULL)
		return;
	block->next->previous = block->previous;
	block->previous->next = block->next;
	block->next = NULL;
}

static void
link_block(Block *block)
{
	block->next = active->blocks.next;
	block->previous = &active->blocks;
	block->next->previous = block;
	active->blocks.next = block;
}

static Block *
block_of(void *memory)
{
	return (Block *) ((char *) memory - BLOCK_BYTES);
}

/* Reallocates memory, as realloc does, but fails instead of returning NULL. */
void *
host_realloc(void *memory, size_t bytes)
{
	Block *block = memory == NULL ? NULL : block_of(memory);
	bool linked = block == NULL || block->next != NULL;
	Block *moved = NULL;

	if (block != NULL)
		unlink_block(block);
	if (bytes <= SIZE_MAX - BLOCK_BYTES)
		moved = session_resize(&active->host, block, BLOCK_BYTES + bytes);
	if (moved == NULL)
	{
		if (block != NULL && linked)
			link_block(block);
		session_fail(NEARDUP_NO_MEMORY, "out of memory: could not allocate %zu bytes", bytes);
	}
	moved->next = NULL;
	if (linked)
		link_block(moved);
	return (char *) moved + BLOCK_BYTES;
}

/* Allocates memory, which the call frees if it fails. */
void *
host_alloc(size_t bytes)
{
	return host_realloc(NULL, bytes);
}

/* Frees memory of host_alloc() or host_realloc(), or NULL. */
void
host_free(void *memory)
{
	if (memory == NULL)
		return;
	unlink_block(block_of(memory));
	session_resize(&active->host, block_of(memory), 0);
}

/* Allocates memory of the process, which is not the host's. */
void *
host_alloc_forever(size_t bytes)
{
	void *memory = malloc(bytes);

	if (memory == NULL)
		session_fail(NEARDUP_NO_MEMORY, "out of memory: could not allocate %zu bytes", bytes);
	return memory;
}

/* ---- Errors ------------------------------------------------------------- */

/* Ends the call with an error, in the function that began it. */
void
session_fail(neardup_code code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(active->message, sizeof(active->message), format, arguments);
	va_end(arguments);
	active->code = code;
	longjmp(active->failed, 1);
}

/* Ends the call if the program wants it to. */
void
host_check_interrupts(void)
{
	if (active->host.cancelled != NULL && active->host.cancelled(active->host.state))
		session_fail(NEARDUP_CANCELLED, "cancelled");
}

bool
neardup_is_set(void *state)
{
	return *(volatile bool *) state;
}

/* Sets a number to random bits of the system.  Returns false if it has none. */
static bool
random_bits(uint64_t *number)
{
#if defined(__GLIBC__) && __GLIBC__ == 2 && __GLIBC_MINOR__ < 25
	FILE *file = fopen("/dev/urandom", "rb");
	bool read = file != NULL && fread(number, sizeof(*number), 1, file) == 1;

	if (file != NULL)
		fclose(file);
	return read;
#else
	return getentropy(number, sizeof(*number)) == 0;
#endif
}

/* Returns a random number for the secrets of hash tables, on which no result depends. */
uint64_t
host_random_seed(void)
{
	uint64_t seed;

	if (!random_bits(&seed))
		session_fail(NEARDUP_INVALID, "the system has no random numbers");
	return seed;
}

/* Returns the usual number of elements of a bounded list. */
size_t
host_limit(size_t usual)
{
	return usual;
}

/* Tells the program that a call takes minutes for a family of values. */
void
session_warn(const neardup_session *session, double family, double minutes)
{
	char message[200];

	snprintf(message, sizeof(message),
			 "about %.0f values have to be compared with each other, which takes about %.0f minutes",
			 family, minutes);
	if (session->host.warn != NULL)
		session->host.warn(session->host.state, message);
}

/* Fails because something is too large. */
void
host_refuse_size(const char *what)
{
	session_fail(NEARDUP_TOO_LARGE, "%s", what);
}

/* ---- Temporary files ------------------------------------------------------ */

/* Lets the call close a file at its end. */
void
session_link_file(FileLink *link)
{
	link->next = active->files.next;
	link->previous = &active->files;
	link->next->previous = link;
	active->files.next = link;
}

/* Removes a file that is closed from its ring. */
void
session_unlink_file(FileLink *link)
{
	link->next->previous = link->previous;
	link->previous->next = link->next;
}

/* ---- Calls -------------------------------------------------------------- */

/* Begins a call; returns where its errors go. */
jmp_buf *
session_begin(neardup_session *session)
{
	session->outer = active;
	session->code = NEARDUP_OK;
	session->blocks.next = session->blocks.previous = &session->blocks;
	session->files.next = session->files.previous = &session->files;
	active = session;
	return &session->failed;
}

/* Ends a call: frees what it has allocated and not kept, and returns the code of its error. */
neardup_code
session_end(void)
{
	neardup_session *session = active;

	while (session->files.next != &session->files)
		host_file_close((HostFile *) session->files.next);
	while (session->blocks.next != &session->blocks)
		host_free((char *) session->blocks.next + BLOCK_BYTES);
	active = session->outer;
	return session->code;
}

/* Returns the number of this thread, of those that a call has started. */
int
session_thread(void)
{
	return active->thread;
}

/* Keeps memory, or NULL, beyond the end of this call; then calls of any thread may reallocate it. */
void
session_keep(void *memory)
{
	if (memory != NULL)
		unlink_block(block_of(memory));
}

/*
 * Calls a function of another thread's call in this thread, so that its memory and its errors are
 * of that call.  No other thread may be in it.  Returns false if it failed.
 */
bool
session_lend(neardup_session *owner, void (*function)(void *state), void *state)
{
	neardup_session *own = active;
	volatile bool done = false;
	jmp_buf failed;

	memcpy(&failed, &owner->failed, sizeof(failed));
	active = owner;
	if (setjmp(owner->failed) == 0)
	{
		function(state);
		done = true;
	}
	active = own;
	memcpy(&owner->failed, &failed, sizeof(failed));
	return done;
}

/* Ends the call with the error that it has. */
void
session_fail_again(void)
{
	longjmp(active->failed, 1);
}

/* ---- What the header lists ---------------------------------------------- */

const char *
neardup_version(void)
{
	return NEARDUP_VERSION;
}

neardup_session *
neardup_open(const neardup_host *host)
{
	neardup_session made = {.host = host != NULL ? *host : (neardup_host){0}};
	neardup_session *session = session_resize(&made.host, NULL, sizeof(made));

	if (session != NULL)
		*session = made;
	return session;
}

void
neardup_close(neardup_session *session)
{
	neardup_host host;

	if (session == NULL)
		return;
	host = session->host;
	session_resize(&host, session, 0);
}

const char *
neardup_message(const neardup_session *session)
{
	return session->message;
}

void
neardup_free(neardup_session *session, void *memory)
{
	if (memory != NULL)
		session_resize(&session->host, block_of(memory), 0);
}
