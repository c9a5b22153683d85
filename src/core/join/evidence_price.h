/*
 * evidence_price.h: whether documents are joined by their signatures, or by their evidence alone, and
 * whether that takes long.
 */
#ifndef NEARDUP_JOIN_EVIDENCE_PRICE_H
#define NEARDUP_JOIN_EVIDENCE_PRICE_H

#include "join/documents.h"
#include "join/spread.h"

extern bool evidence_is_cheaper(const DocumentList *left, const DocumentList *right,
								const SpreadJoin *planned);

#endif
