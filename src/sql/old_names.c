/*
 * old_names.c: C functions under the names that the catalog of version 0.1.0 calls.
 * A database calls them until ALTER EXTENSION neardup UPDATE.
 */
#include "compat.h"

#include "fmgr.h"

#define OLD_NAME(old, function) \
	extern Datum function(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(old); \
	Datum old(PG_FUNCTION_ARGS) \
	{ \
		return function(fcinfo); \
	} \
	/* keep compiler quiet - no extra ; */ \
	extern int no_such_variable

OLD_NAME(neardup_shingles_to_array, neardup_shingle_hashes);
OLD_NAME(neardup_shingles_total, neardup_shingle_total);
OLD_NAME(neardup_shingles_cardinality, neardup_cardinality_shingles);
OLD_NAME(neardup_minhash_cardinality, neardup_cardinality_minhash);
OLD_NAME(neardup_shingles_similarity, neardup_similarity_shingles);
OLD_NAME(neardup_shingles_containment, neardup_containment_shingles);
OLD_NAME(neardup_minhash_containment, neardup_containment_minhash);
OLD_NAME(neardup_shingles_weighted_jaccard, neardup_weighted_jaccard);
OLD_NAME(neardup_shingles_cosine, neardup_cosine_similarity_shingles);
OLD_NAME(neardup_simhash_cosine, neardup_cosine_similarity_simhash);
OLD_NAME(neardup_shingles_is_similar, neardup_is_similar_shingles);
OLD_NAME(neardup_to_shingles_lists, neardup_to_shingles_antecedents);
OLD_NAME(neardup_show_shingles_lists, neardup_show_shingles_antecedents);
OLD_NAME(neardup_to_shingles_tokens, neardup_to_shingles_text_array);
OLD_NAME(neardup_to_shingles_hashes, neardup_to_shingles_bigint_array);
OLD_NAME(neardup_to_minhash_tokens, neardup_to_minhash_text_array);
OLD_NAME(neardup_to_minhash_hashes, neardup_to_minhash_bigint_array);
OLD_NAME(neardup_bit_to_minhash, neardup_minhash_of_bit);
OLD_NAME(neardup_int8_array_to_minhash, neardup_minhash_of_symbols);
OLD_NAME(neardup_minhash_to_int8_array, neardup_minhash_symbols);
OLD_NAME(neardup_bit_to_simhash, neardup_simhash_of_bit);
OLD_NAME(neardup_int8_to_simhash, neardup_simhash_of_bigint);
OLD_NAME(neardup_simhash_to_int8, neardup_simhash_to_bigint);
OLD_NAME(neardup_distance, neardup_signature_distance);
OLD_NAME(neardup_bit_hamming_within, neardup_hamming_within_bit);
OLD_NAME(neardup_int8_hamming_within, neardup_hamming_within_bigint);
OLD_NAME(neardup_bands, neardup_signature_bands);
OLD_NAME(neardup_bit_hamming_ball, neardup_hamming_ball_bit);
OLD_NAME(neardup_int8_hamming_ball, neardup_hamming_ball_bigint);
OLD_NAME(neardup_in_ball, neardup_signature_in_ball);
OLD_NAME(neardup_int8_in_ball, neardup_bigint_in_ball);
OLD_NAME(neardup_ball_contains_int8, neardup_ball_contains_bigint);
OLD_NAME(neardup_int8_signature, neardup_bigint_signature);
OLD_NAME(neardup_pairs_of_type, neardup_pairs_witness);
OLD_NAME(neardup_clusters_of_type, neardup_clusters_witness);
