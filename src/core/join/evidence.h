/*
 * evidence.h: sets that belong to signatures, and pairs of documents that they judge.
 */
#ifndef NEARDUP_JOIN_EVIDENCE_H
#define NEARDUP_JOIN_EVIDENCE_H

#include "join/documents.h"

typedef struct Judge Judge;

extern int candidate_radius(const PairOptions *options, const SignatureHeader *shape);
extern Judge *judge_begin(const DocumentList *left, const DocumentList *right, size_t memory);
extern bool judge_pair(Judge *judge, uint32_t a, uint32_t b, double *similarity);
extern void judge_end(Judge *judge);
extern double documents_similarity(const Documents *left, uint32_t a, const Documents *right,
								   uint32_t b);

#endif
