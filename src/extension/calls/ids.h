/*
 * ids.h: the ids of rows, whose type the call names.
 */
#ifndef NEARDUP_CALLS_IDS_H
#define NEARDUP_CALLS_IDS_H

#include "compat.h"

#include "fmgr.h"

/* The type of the ids of a call (ids.c). */
typedef struct IdType
{
	Oid type;
	int16 length;
	bool by_value;
	FmgrInfo *compare;
	Oid collation;
} IdType;

extern IdType id_type(Oid type, Oid collation);
extern Oid id_column_type(const IdType *ids, Oid column_type);
extern bool id_fits(const IdType *ids, Oid column_type);
extern Datum id_copy(const IdType *ids, Oid column_type, Datum id, MemoryContext context);
extern int id_compare(const IdType *ids, Datum x, Datum y);
extern char *id_text(const IdType *ids, Datum id);

#endif
