-- What ALTER EXTENSION neardup UPDATE changes in a database of version 0.1.0.
\echo Use "ALTER EXTENSION neardup UPDATE TO '0.2.0'" to load this file. \quit

-- ---- Looking into an index: rights are looked at inside ---------------------

GRANT EXECUTE ON FUNCTION neardup_index_info(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_check(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash, float8) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash, float8) TO PUBLIC;

-- ---- Which signatures can be compared ---------------------------------------

CREATE FUNCTION is_comparable(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(minhash, minhash) IS
	'have two signatures the same shape, scheme and recipe version?';

CREATE FUNCTION is_comparable(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(simhash, simhash) IS
	'have two signatures the same shape, scheme and recipe version?';

-- ---- C functions are named after their SQL functions ------------------------

DO $do$
DECLARE
	definition text;
BEGIN
	FOR definition IN
		SELECT replace(pg_get_functiondef(p.oid), '$function$' || old || '$function$', '$function$' || new || '$function$')
		FROM (VALUES
			('neardup_shingles_to_array', 'neardup_shingle_hashes'),
			('neardup_shingles_total', 'neardup_shingle_total'),
			('neardup_shingles_cardinality', 'neardup_cardinality_shingles'),
			('neardup_minhash_cardinality', 'neardup_cardinality_minhash'),
			('neardup_shingles_similarity', 'neardup_similarity_shingles'),
			('neardup_shingles_containment', 'neardup_containment_shingles'),
			('neardup_minhash_containment', 'neardup_containment_minhash'),
			('neardup_shingles_weighted_jaccard', 'neardup_weighted_jaccard'),
			('neardup_shingles_cosine', 'neardup_cosine_similarity_shingles'),
			('neardup_simhash_cosine', 'neardup_cosine_similarity_simhash'),
			('neardup_shingles_is_similar', 'neardup_is_similar_shingles'),
			('neardup_to_shingles_lists', 'neardup_to_shingles_antecedents'),
			('neardup_show_shingles_lists', 'neardup_show_shingles_antecedents'),
			('neardup_to_shingles_tokens', 'neardup_to_shingles_text_array'),
			('neardup_to_shingles_hashes', 'neardup_to_shingles_bigint_array'),
			('neardup_to_minhash_tokens', 'neardup_to_minhash_text_array'),
			('neardup_to_minhash_hashes', 'neardup_to_minhash_bigint_array'),
			('neardup_bit_to_minhash', 'neardup_minhash_of_bit'),
			('neardup_int8_array_to_minhash', 'neardup_minhash_of_symbols'),
			('neardup_minhash_to_int8_array', 'neardup_minhash_symbols'),
			('neardup_bit_to_simhash', 'neardup_simhash_of_bit'),
			('neardup_int8_to_simhash', 'neardup_simhash_of_bigint'),
			('neardup_simhash_to_int8', 'neardup_simhash_to_bigint'),
			('neardup_distance', 'neardup_signature_distance'),
			('neardup_bit_hamming_within', 'neardup_hamming_within_bit'),
			('neardup_int8_hamming_within', 'neardup_hamming_within_bigint'),
			('neardup_bands', 'neardup_signature_bands'),
			('neardup_bit_hamming_ball', 'neardup_hamming_ball_bit'),
			('neardup_int8_hamming_ball', 'neardup_hamming_ball_bigint'),
			('neardup_in_ball', 'neardup_signature_in_ball'),
			('neardup_int8_in_ball', 'neardup_bigint_in_ball'),
			('neardup_ball_contains_int8', 'neardup_ball_contains_bigint'),
			('neardup_int8_signature', 'neardup_bigint_signature'),
			('neardup_pairs_of_type', 'neardup_pairs_witness'),
			('neardup_clusters_of_type', 'neardup_clusters_witness')
		) AS renamed (old, new)
			JOIN pg_proc p ON prosrc = old
			JOIN pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'e'
			JOIN pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::regclass::oid AND d.refobjid = e.oid
		WHERE extname = 'neardup'
	LOOP
		EXECUTE definition;
	END LOOP;
END
$do$;

CREATE OR REPLACE FUNCTION minhash_ball_key_recv(internal) RETURNS minhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE OR REPLACE FUNCTION simhash_ball_key_recv(internal) RETURNS simhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
