-- Updates the catalog of version 0.1.0 (ALTER EXTENSION neardup UPDATE).
\echo Use "ALTER EXTENSION neardup UPDATE TO '1.0.0'" to load this file. \quit

-- ---- Inspecting an index: the functions check the rights of the caller -------

GRANT EXECUTE ON FUNCTION neardup_index_info(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_check(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash_ball) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, minhash, float8) TO PUBLIC;
GRANT EXECUTE ON FUNCTION neardup_explain(regclass, simhash, float8) TO PUBLIC;

-- ---- All indexes of the database ------------------------------------------------

-- Returns no row for an index that the caller may not inspect.

CREATE FUNCTION neardup_index_status(index regclass,
		OUT shape text, OUT bytes bigint, OUT segments int, OUT documents bigint, OUT dead bigint,
		OUT tail bigint, OUT last_upkeep timestamptz, OUT advice text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_index_status'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION neardup_index_status(regclass) IS
	'the row of neardup_indexes for an index; no row without the privilege to inspect it';

CREATE VIEW neardup_indexes AS
	SELECT x.indrelid::regclass AS table_name, x.indexrelid::regclass AS index_name, s.shape, s.bytes, s.segments,
		s.documents, s.dead, s.tail, s.last_upkeep, s.advice
	FROM pg_catalog.pg_am a
		JOIN pg_catalog.pg_class c ON c.relam = a.oid AND c.relkind = 'i'
		JOIN pg_catalog.pg_index x ON x.indexrelid = c.oid,
		neardup_index_status(c.oid) s
	WHERE a.amname = 'neardup' AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace);
COMMENT ON VIEW neardup_indexes IS
	'the neardup indexes of the database that the current role may inspect: contents, last upkeep, advice';

GRANT EXECUTE ON FUNCTION neardup_index_status(regclass) TO PUBLIC;
GRANT SELECT ON neardup_indexes TO PUBLIC;

-- ---- Which signatures can be compared ---------------------------------------

CREATE FUNCTION is_comparable(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(minhash, minhash) IS
	'do two signatures have the same shape, scheme and recipe version?';

CREATE FUNCTION is_comparable(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_comparable'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_comparable(simhash, simhash) IS
	'do two signatures have the same shape, scheme and recipe version?';

-- ---- Hashes made elsewhere: ways in ----------------------------------------------------------------

CREATE FUNCTION hex_to_bigint(text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_hex_to_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hex_to_bigint(text) IS
	'the bits of 1 to 16 hexadecimal digits, as a bigint';

CREATE FUNCTION hex_to_bit(text) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_hex_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hex_to_bit(text) IS
	'the bits of hexadecimal digits, four for each digit';

CREATE FUNCTION unsigned_to_bigint(numeric) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_unsigned_to_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION unsigned_to_bigint(numeric) IS
	'the bigint with the 64 bits of an unsigned number';

-- ---- A value to order by -----------------------------------------------------

CREATE FUNCTION as_hash(bigint) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_as_hash_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION as_hash(bigint) IS
	'a hash to measure distances from, as in ORDER BY phash <~> as_hash(q)';

CREATE FUNCTION as_hash(bit) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_as_hash_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION as_hash(bit) IS
	'a hash to measure distances from, as in ORDER BY phash <~> as_hash(q)';

-- ---- Their distance ---------------------------------------------------------

CREATE FUNCTION bigint_hamming_distance(bigint, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bigint_hamming_distance_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_hamming_distance(bigint, simhash) IS
	'implementation of <~> operator';

CREATE FUNCTION bigint_hamming_distance(simhash, bigint) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bigint_hamming_distance_simhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_hamming_distance(simhash, bigint) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bigint, RIGHTARG = simhash, FUNCTION = bigint_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bigint, simhash) IS 'number of bits that differ';

CREATE OPERATOR <~> (
	LEFTARG = simhash, RIGHTARG = bigint, FUNCTION = bigint_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash, bigint) IS 'number of bits that differ';

CREATE FUNCTION bit_hamming_distance(bit, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_distance_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_hamming_distance(bit, minhash) IS
	'implementation of <~> operator';

CREATE FUNCTION bit_hamming_distance(minhash, bit) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_distance_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_hamming_distance(minhash, bit) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bit, RIGHTARG = minhash, FUNCTION = bit_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bit, minhash) IS 'number of bits that differ';

CREATE OPERATOR <~> (
	LEFTARG = minhash, RIGHTARG = bit, FUNCTION = bit_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (minhash, bit) IS 'number of bits that differ';

ALTER OPERATOR FAMILY bit_hamming_ops USING neardup ADD
	OPERATOR 3 <~> (bit, minhash) FOR ORDER BY integer_ops;

ALTER OPERATOR FAMILY bigint_hamming_ops USING neardup ADD
	OPERATOR 3 <~> (bigint, simhash) FOR ORDER BY integer_ops;

-- ---- A category of types, which resolves calls with arguments of unknown type ----

UPDATE pg_catalog.pg_type SET typcategory = 'n', typispreferred = (oid = 'minhash'::pg_catalog.regtype)
	WHERE oid IN ('minhash'::pg_catalog.regtype, 'simhash'::pg_catalog.regtype, 'shingles'::pg_catalog.regtype);

-- ---- What is typed first ------------------------------------------------------

CREATE FUNCTION to_minhash(text, scheme_name text) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_scheme_name'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, text) IS
	'sketch of the shingles of a text under a scheme: 512 symbols of one bit';

CREATE FUNCTION to_simhash(text, scheme_name text) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_scheme_name'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(text, text) IS
	'fingerprint of the shingles of a text under a scheme: 64 bits';

CREATE FUNCTION text_similarity(text, text, scheme text DEFAULT 'word 3') RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_text_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_similarity(text, text, text) IS
	'exact resemblance (Jaccard similarity) of the shingles of two texts under a scheme, 0 to 1';

-- ---- Forms -------------------------------------------------------------------

CREATE FUNCTION to_shingles(text, minus shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_minus'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(text, shingles) IS
	'the shingles of a text that are not in minus, such as those of a form, under the scheme of minus';

-- The shape comes before the shingles, or to_minhash($1, $2, $3) would be ambiguous.
CREATE FUNCTION to_minhash(text, minus shingles) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_minus'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, shingles) IS
	'sketch of the shingles of a text that are not in minus, such as those of a form, under the scheme of minus: 512 symbols of one bit';

CREATE FUNCTION to_minhash(text, k int, b int, minus shingles) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_minus'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, int, int, shingles) IS
	'sketch of the shingles of a text that are not in minus, such as those of a form, under the scheme of minus: k symbols of b bits';

-- The size comes before the shingles, or to_simhash($1::text, $2, $3) would be ambiguous.
CREATE FUNCTION to_simhash(text, minus shingles) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_minus'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(text, shingles) IS
	'fingerprint of the shingles of a text that are not in minus, such as those of a form, under the scheme of minus: 64 bits';

CREATE FUNCTION to_simhash(text, f int, minus shingles) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_minus'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(text, int, shingles) IS
	'fingerprint of the shingles of a text that are not in minus, such as those of a form, under the scheme of minus: f bits';

CREATE FUNCTION common_shingles(query text, share float8 DEFAULT 0.2, scheme text DEFAULT 'word 3',
		sample int DEFAULT 10000) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_common_shingles'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION common_shingles(text, float8, text, int) IS
	'the shingles that a share of the texts or sets of a query have, such as those of a form, from a sample of rows';

-- ---- Showing signatures ------------------------------------------------------

CREATE FUNCTION show_signature(minhash) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_show_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION show_signature(minhash) IS
	'a signature in text format, shortened for display; it cannot be read back';

CREATE FUNCTION show_signature(simhash) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_show_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION show_signature(simhash) IS
	'a signature in text format, shortened for display; it cannot be read back';

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
			('neardup_int8_signature', 'neardup_bigint_signature')
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

-- ---- Functions that tell nothing of their arguments but by their results ------

ALTER FUNCTION minhash_eq(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_ne(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_lt(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_le(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_gt(minhash, minhash) LEAKPROOF;
ALTER FUNCTION minhash_ge(minhash, minhash) LEAKPROOF;
ALTER FUNCTION simhash_eq(simhash, simhash) LEAKPROOF;
ALTER FUNCTION simhash_ne(simhash, simhash) LEAKPROOF;
ALTER FUNCTION simhash_lt(simhash, simhash) LEAKPROOF;
ALTER FUNCTION simhash_le(simhash, simhash) LEAKPROOF;
ALTER FUNCTION simhash_gt(simhash, simhash) LEAKPROOF;
ALTER FUNCTION simhash_ge(simhash, simhash) LEAKPROOF;
ALTER FUNCTION minhash_in_ball(minhash, minhash_ball) LEAKPROOF;
ALTER FUNCTION minhash_ball_contains(minhash_ball, minhash) LEAKPROOF;
ALTER FUNCTION simhash_in_ball(simhash, simhash_ball) LEAKPROOF;
ALTER FUNCTION simhash_ball_contains(simhash_ball, simhash) LEAKPROOF;
ALTER FUNCTION bit_in_ball(bit, minhash_ball) LEAKPROOF;
ALTER FUNCTION minhash_ball_contains(minhash_ball, bit) LEAKPROOF;
ALTER FUNCTION bigint_in_ball(bigint, simhash_ball) LEAKPROOF;
ALTER FUNCTION simhash_ball_contains(simhash_ball, bigint) LEAKPROOF;

-- ---- Comments ---------------------------------------------------------------

COMMENT ON FUNCTION show_shingles(text, text) IS
	'the distinct shingles of a text in order of first occurrence, with their frequencies';
COMMENT ON FUNCTION show_shingles(text, text, text[], text[]) IS
	'the distinct spot signatures of a text with the given antecedents and stop words';
COMMENT ON FUNCTION shared_shingles(text, text, text) IS
	'the distinct shingles that two texts share, in the order of the first text, with their frequencies in both';
COMMENT ON FUNCTION to_shingles(text, text, text[], text[]) IS
	'the spot signatures of a text with the given antecedents and stop words (NULL: those of the language)';
COMMENT ON FUNCTION to_shingles(text[]) IS
	'the set of the given elements, unchanged (scheme tokens)';
COMMENT ON FUNCTION to_shingles(bigint[]) IS
	'the set of the given 64-bit hashes (scheme hashes)';
COMMENT ON CAST (bigint[] AS shingles) IS
	'the set of the given 64-bit hashes (scheme hashes)';
COMMENT ON FUNCTION cardinality(shingles) IS
	'number of distinct shingles of a set';
COMMENT ON FUNCTION shingle_total(shingles) IS
	'sum of the frequencies of all shingles of a set';
COMMENT ON OPERATOR & (shingles, shingles) IS
	'shingles in both sets, each with the lower of its frequencies';
COMMENT ON OPERATOR | (shingles, shingles) IS
	'shingles in either set, each with the higher of its frequencies';
COMMENT ON OPERATOR - (shingles, shingles) IS
	'shingles of the first set with their frequencies less those in the second, if above zero';
COMMENT ON FUNCTION containment(shingles, shingles) IS
	'share of the first set that is in the second, 0 to 1';
COMMENT ON FUNCTION minhash_apply_typmod(minhash, int) IS
	'check that a minhash has the shape of the column';
COMMENT ON CAST (minhash AS minhash) IS
	'check that a minhash has the shape of the column';
COMMENT ON FUNCTION to_minhash(text[], int, int) IS
	'sketch of the set of the given elements (scheme tokens): k symbols of b bits';
COMMENT ON FUNCTION to_minhash(bigint[], int, int) IS
	'sketch of the set of the given 64-bit hashes (scheme hashes): k symbols of b bits';
COMMENT ON FUNCTION minhash_truncate(minhash, int) IS
	'the same sketch with fewer bits for each symbol';
COMMENT ON FUNCTION cardinality(minhash) IS
	'number of distinct shingles of the set; an error if it is unknown';
COMMENT ON CAST (bit AS minhash) IS
	'a signature made elsewhere, with symbols of one bit';
COMMENT ON CAST (minhash AS bit) IS
	'the symbols, if they have one bit';
COMMENT ON CAST (bigint[] AS minhash) IS
	'a signature made elsewhere, with symbols of 32 bits';
COMMENT ON CAST (minhash AS bigint[]) IS
	'the symbols, if they have 32 bits';
COMMENT ON FUNCTION simhash_apply_typmod(simhash, int) IS
	'check that a simhash has the shape of the column';
COMMENT ON CAST (simhash AS simhash) IS
	'check that a simhash has the shape of the column';
COMMENT ON FUNCTION to_simhash(text, int, text) IS
	'fingerprint of the shingles of a text under a scheme, weighted by frequency: f bits';
COMMENT ON FUNCTION to_simhash(shingles, int) IS
	'fingerprint of a set of shingles, weighted by frequency: f bits';
COMMENT ON FUNCTION to_simhash(text[], float8[], int) IS
	'fingerprint of the given elements with their weights (scheme tokens): f bits';
COMMENT ON CAST (bit AS simhash) IS
	'a fingerprint made elsewhere';
COMMENT ON CAST (bigint AS simhash) IS
	'a fingerprint of 64 bits made elsewhere';
COMMENT ON CAST (simhash AS bigint) IS
	'the bits, if there are 64; the first is the sign';
COMMENT ON FUNCTION containment(minhash, minhash) IS
	'estimated share of the first set that is in the second, 0 to 1; containment_error() is its standard error';
COMMENT ON FUNCTION hamming_within(minhash, minhash, int) IS
	'is the number of differing symbols at most the distance?';
COMMENT ON FUNCTION hamming_within(simhash, simhash, int) IS
	'is the number of differing bits at most the distance?';
COMMENT ON FUNCTION hamming_within(bit, bit, int) IS
	'is the number of differing bits at most the distance?';
COMMENT ON FUNCTION hamming_within(bigint, bigint, int) IS
	'is the number of differing bits at most the distance?';
COMMENT ON FUNCTION hamming_ball(minhash, int) IS
	'all minhash values that differ from this one in at most the given number of symbols';
COMMENT ON OPERATOR <@ (minhash, minhash_ball) IS 'is in the ball';
COMMENT ON OPERATOR @> (minhash_ball, minhash) IS 'contains the signature';
COMMENT ON OPERATOR && (minhash_ball, minhash_ball) IS 'each ball contains the centre of the other';
COMMENT ON FUNCTION hamming_ball(simhash, int) IS
	'all simhash values that differ from this one in at most the given number of bits';
COMMENT ON OPERATOR <@ (simhash, simhash_ball) IS 'is in the ball';
COMMENT ON OPERATOR @> (simhash_ball, simhash) IS 'contains the signature';
COMMENT ON OPERATOR && (simhash_ball, simhash_ball) IS 'each ball contains the centre of the other';
COMMENT ON FUNCTION hamming_ball(bit, int) IS
	'all values that differ from this one in at most the given number of bits';
COMMENT ON OPERATOR <@ (bit, minhash_ball) IS 'is in the ball';
COMMENT ON OPERATOR @> (minhash_ball, bit) IS 'contains the value';
COMMENT ON FUNCTION hamming_ball(bigint, int) IS
	'all values that differ from this one in at most the given number of bits';
COMMENT ON OPERATOR <@ (bigint, simhash_ball) IS 'is in the ball';
COMMENT ON OPERATOR @> (simhash_ball, bigint) IS 'contains the value';
COMMENT ON TYPE minhash_ball_key IS
	'a minhash_ball as an index key, which is shown shortened; not for columns';
COMMENT ON TYPE simhash_ball_key IS
	'a simhash_ball as an index key, which is shown shortened; not for columns';
COMMENT ON FUNCTION to_shingles(text, text) IS
	'the shingles of a text under a scheme: word W, char K, anychar K, stopword W or spot D C';
COMMENT ON FUNCTION minhash_error(int, int, float8) IS
	'standard error of the similarity that minhash(k, b) estimates for sets of the given similarity';
COMMENT ON FUNCTION minhash_bands(minhash, int) IS
	'a key for each band of the given number of symbols, to join on';
COMMENT ON FUNCTION simhash_bands(simhash, int) IS
	'a key for each band of the given number of bits, to join on';
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
	'probability that a pair of the given similarity shares a band';
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for the similarities 0, 0.05, ..., 1';
COMMENT ON FUNCTION lsh_parameters(float8, int, float8) IS
	'the longest bands of k symbols that find a pair whose similarity is the threshold with at least this recall';
COMMENT ON FUNCTION edit_distance(text, text, int, int, int, int) IS
	'least cost of insertions, deletions and substitutions of characters that turn the first text into the second; max + 1 if it is above max';
COMMENT ON FUNCTION longest_common_share(text, text) IS
	'length of the longest common substring divided by that of the shorter text, 0 to 1';
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones for every set';
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order, the same for every set';
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'estimated resemblance of two sets from their shingles_bottom() of n or more, 0 to 1';
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations';
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the positions at which two sketches have the same value, 0 to 1';
COMMENT ON FUNCTION permutation_sketch(int[], int[][]) IS
	'the least position of any element under each permutation; row i has the positions of 1, 2, 3, ... under permutation i';
COMMENT ON FUNCTION supershingles(shingles, int) IS
	'a hash of each run of the given number of neighbours among the sorted shingles';
COMMENT ON FUNCTION bucket_sketch(shingles, int) IS
	'the least shingle in each of n buckets';
COMMENT ON FUNCTION shingle_frequencies(text) IS
	'how many of the N sets that a query returns contain each shingle, and its idf = ln(N / df) / ln(N), 0 to 1';
COMMENT ON FUNCTION tfidf_cosine(shingles, shingles, regclass) IS
	'cosine of two vectors of frequency times idf, from a table (shingle, idf), 0 to 1';
COMMENT ON OPERATOR CLASS bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR CLASS bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';
COMMENT ON FUNCTION neardup_index_info(regclass) IS
	'size of a neardup index: segments, documents, dead documents, documents in the tail, bytes';
COMMENT ON FUNCTION neardup_check(regclass) IS
	'verify a neardup index and compare it with its table; raises an error at the first defect, otherwise returns counts';
COMMENT ON FUNCTION neardup_explain(regclass, minhash_ball) IS
	'how a neardup index is searched for a ball: plan, estimated cost and actual cost of each segment';
COMMENT ON FUNCTION neardup_explain(regclass, simhash_ball) IS
	'how a neardup index is searched for a ball: plan, estimated cost and actual cost of each segment';
COMMENT ON FUNCTION neardup_explain(regclass, minhash, float8) IS
	'how a neardup index is searched for similar signatures: plan, estimated cost and actual cost of each segment';
COMMENT ON FUNCTION neardup_explain(regclass, simhash, float8) IS
	'how a neardup index is searched for similar signatures: plan, estimated cost and actual cost of each segment';
COMMENT ON FUNCTION neardup_clusters(text, float8, boolean, text, text, boolean, float8, float8) IS
	'clusters of near-duplicates among the rows (id bigint, signature) of a query: each row with the row to keep';
COMMENT ON FUNCTION neardup_progress() IS
	'progress of running neardup_pairs() and neardup_clusters() of all sessions that the caller may see';
COMMENT ON FUNCTION neardup_join_stats() IS
	'what the last neardup_pairs() or neardup_clusters() of this session compared, and what it did not need to compare';
COMMENT ON FUNCTION neardup_reject() IS
	'trigger (column, threshold, options): rejects, reports or records a row whose signature is similar to that of another row';

-- ---- Keys beside a signature -------------------------------------------------

CREATE OPERATOR FAMILY integer_key_ops USING neardup;
CREATE OPERATOR FAMILY float_key_ops USING neardup;

CREATE OPERATOR CLASS boolean_key_ops DEFAULT FOR TYPE boolean USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS char_key_ops DEFAULT FOR TYPE "char" USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS smallint_key_ops DEFAULT FOR TYPE smallint USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS integer_key_ops DEFAULT FOR TYPE integer USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS bigint_key_ops FOR TYPE bigint USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS oid_key_ops DEFAULT FOR TYPE oid USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS numeric_key_ops DEFAULT FOR TYPE numeric USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS real_key_ops DEFAULT FOR TYPE real USING neardup FAMILY float_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS double_precision_key_ops DEFAULT FOR TYPE double precision USING neardup FAMILY float_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS text_key_ops DEFAULT FOR TYPE text USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS character_key_ops DEFAULT FOR TYPE character USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS name_key_ops DEFAULT FOR TYPE name USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS bytea_key_ops DEFAULT FOR TYPE bytea USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS uuid_key_ops DEFAULT FOR TYPE uuid USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS date_key_ops DEFAULT FOR TYPE date USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS time_key_ops DEFAULT FOR TYPE time USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timetz_key_ops DEFAULT FOR TYPE timetz USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timestamp_key_ops DEFAULT FOR TYPE timestamp USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timestamptz_key_ops DEFAULT FOR TYPE timestamptz USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS interval_key_ops DEFAULT FOR TYPE interval USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS inet_key_ops DEFAULT FOR TYPE inet USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS macaddr_key_ops DEFAULT FOR TYPE macaddr USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS macaddr8_key_ops DEFAULT FOR TYPE macaddr8 USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS jsonb_key_ops DEFAULT FOR TYPE jsonb USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS enum_key_ops DEFAULT FOR TYPE anyenum USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS array_key_ops DEFAULT FOR TYPE anyarray USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS range_key_ops DEFAULT FOR TYPE anyrange USING neardup AS OPERATOR 5 =;

-- Columns and values of different types.
ALTER OPERATOR FAMILY integer_key_ops USING neardup ADD
	OPERATOR 5 = (smallint, integer),
	OPERATOR 5 = (smallint, bigint),
	OPERATOR 5 = (integer, smallint),
	OPERATOR 5 = (integer, bigint),
	OPERATOR 5 = (bigint, smallint),
	OPERATOR 5 = (bigint, integer);
ALTER OPERATOR FAMILY float_key_ops USING neardup ADD
	OPERATOR 5 = (real, double precision),
	OPERATOR 5 = (double precision, real);
ALTER OPERATOR FAMILY bigint_hamming_ops USING neardup ADD
	OPERATOR 5 = (bigint, bigint),
	OPERATOR 5 = (bigint, integer),
	OPERATOR 5 = (bigint, smallint);

COMMENT ON OPERATOR CLASS boolean_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS char_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS smallint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS integer_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bigint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS oid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS numeric_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS real_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS double_precision_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS text_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS character_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS name_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bytea_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS uuid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS date_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS time_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timetz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamp_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamptz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS interval_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS inet_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS macaddr_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS macaddr8_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS jsonb_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS enum_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS array_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS range_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY boolean_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY char_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY integer_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY oid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY numeric_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY float_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY text_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY character_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY name_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY bytea_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY uuid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY date_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY time_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timetz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timestamp_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timestamptz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY interval_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY inet_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY macaddr_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY macaddr8_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY jsonb_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY enum_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY array_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY range_key_ops USING neardup IS 'keys beside a signature, compared with =';

-- ---- The error of a containment -----------------------------------------------------------

CREATE FUNCTION containment_error(k int, b int, containment float8, ratio float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_containment_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment_error(int, int, float8, float8) IS
	'standard error of the containment that minhash(k, b) estimates for a set of the given containment in one that is ratio times as large';

-- ---- Pairs and clusters by containment -----------------------------------------

DROP FUNCTION neardup_pairs(text, float8, boolean, text, text, float8, float8);
DROP FUNCTION neardup_pairs(text, float8, anyelement, boolean, text, text, float8, float8);
DROP FUNCTION neardup_clusters(text, float8, boolean, text, text, boolean, float8, float8);
DROP FUNCTION neardup_clusters(text, float8, anyelement, boolean, text, text, boolean, float8, float8);

CREATE FUNCTION neardup_pairs(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, equal text DEFAULT 'first', verify float8 DEFAULT NULL,
		recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		OUT a bigint, OUT b bigint, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, boolean, text, text, float8, float8, text) IS
	'all pairs of near-duplicates among the rows (id bigint, signature) of a query';

CREATE FUNCTION neardup_pairs(query text, threshold float8, witness anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, equal text DEFAULT 'first',
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		OUT a anyelement, OUT b anyelement, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs_witness'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, anyelement, boolean, text, text, float8, float8, text) IS
	'all pairs of near-duplicates among the rows (id, signature) of a query, with ids of the type of the third argument';

CREATE FUNCTION neardup_clusters(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, method text DEFAULT 'star', nearest boolean DEFAULT false,
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0, measure text DEFAULT 'resemblance',
		OUT id bigint, OUT keeper bigint, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, boolean, text, text, boolean, float8, float8, text) IS
	'clusters of near-duplicates among the rows (id bigint, signature) of a query: each row with the row to keep';

CREATE FUNCTION neardup_clusters(query text, threshold float8, witness anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, method text DEFAULT 'star',
		nearest boolean DEFAULT false, verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0,
		measure text DEFAULT 'resemblance',
		OUT id anyelement, OUT keeper anyelement, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters_witness'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, anyelement, boolean, text, text, boolean, float8, float8, text) IS
	'clusters of near-duplicates among the rows (id, signature) of a query, with ids of the type of the third argument';

-- ---- Lexicons, and sets weighed by them -------------------------------------

CREATE TYPE shingle_lexicon;

CREATE FUNCTION shingle_lexicon_in(cstring) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_in(cstring) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_out(shingle_lexicon) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_out(shingle_lexicon) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_recv(internal) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_recv(internal) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_send(shingle_lexicon) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_send(shingle_lexicon) IS
	'I/O';

CREATE TYPE shingle_lexicon (
	INPUT = shingle_lexicon_in,
	OUTPUT = shingle_lexicon_out,
	RECEIVE = shingle_lexicon_recv,
	SEND = shingle_lexicon_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external,
	CATEGORY = 'n'
);
COMMENT ON TYPE shingle_lexicon IS
	'weights of shingles, from 0 to 15, by how few of many documents have them';

-- ---- Equality and order -------------------------------------------------------

CREATE FUNCTION shingle_lexicon_eq(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_eq(shingle_lexicon, shingle_lexicon) IS
	'implementation of = operator';

CREATE FUNCTION shingle_lexicon_ne(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_ne(shingle_lexicon, shingle_lexicon) IS
	'implementation of <> operator';

CREATE FUNCTION shingle_lexicon_lt(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_lt(shingle_lexicon, shingle_lexicon) IS
	'implementation of < operator';

CREATE FUNCTION shingle_lexicon_le(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_le(shingle_lexicon, shingle_lexicon) IS
	'implementation of <= operator';

CREATE FUNCTION shingle_lexicon_gt(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_gt(shingle_lexicon, shingle_lexicon) IS
	'implementation of > operator';

CREATE FUNCTION shingle_lexicon_ge(shingle_lexicon, shingle_lexicon) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_ge(shingle_lexicon, shingle_lexicon) IS
	'implementation of >= operator';

CREATE FUNCTION shingle_lexicon_cmp(shingle_lexicon, shingle_lexicon) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_cmp(shingle_lexicon, shingle_lexicon) IS
	'less-equal-greater';

CREATE FUNCTION shingle_lexicon_hash(shingle_lexicon) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_hash(shingle_lexicon) IS
	'hash';

CREATE FUNCTION shingle_lexicon_hash_extended(shingle_lexicon, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_hash_extended(shingle_lexicon, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (shingle_lexicon, shingle_lexicon) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (shingle_lexicon, shingle_lexicon) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (shingle_lexicon, shingle_lexicon) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (shingle_lexicon, shingle_lexicon) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (shingle_lexicon, shingle_lexicon) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = shingle_lexicon, RIGHTARG = shingle_lexicon, FUNCTION = shingle_lexicon_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (shingle_lexicon, shingle_lexicon) IS 'greater than or equal';

CREATE OPERATOR CLASS shingle_lexicon_ops DEFAULT FOR TYPE shingle_lexicon USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 shingle_lexicon_cmp(shingle_lexicon, shingle_lexicon);
COMMENT ON OPERATOR CLASS shingle_lexicon_ops USING btree IS 'total order of all lexicons';
COMMENT ON OPERATOR FAMILY shingle_lexicon_ops USING btree IS 'total order of all lexicons';

CREATE OPERATOR CLASS shingle_lexicon_ops DEFAULT FOR TYPE shingle_lexicon USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 shingle_lexicon_hash(shingle_lexicon),
	FUNCTION 2 shingle_lexicon_hash_extended(shingle_lexicon, bigint);
COMMENT ON OPERATOR CLASS shingle_lexicon_ops USING hash IS 'equality of lexicons';
COMMENT ON OPERATOR FAMILY shingle_lexicon_ops USING hash IS 'equality of lexicons';

-- ---- Making and showing --------------------------------------------------------

CREATE FUNCTION neardup_lexicon(
	query text, scheme text DEFAULT 'word 1', entries int DEFAULT 10000) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_lexicon'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION neardup_lexicon(text, text, int) IS
	'the lexicon of the texts or shingles that a query returns, with the most frequent ones, up to the given number';

CREATE FUNCTION lexicon_info(
	shingle_lexicon, OUT scheme text, OUT documents bigint, OUT entries int) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lexicon_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_info(shingle_lexicon) IS
	'the scheme of what a lexicon has weighted, the number of documents that it counted, and its number of entries';

CREATE FUNCTION show_weights(
	text, lexicon shingle_lexicon,
	OUT shingle text, OUT weight int, OUT hash bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_show_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_weights(text, shingle_lexicon) IS
	'the distinct shingles of a text in order of first occurrence, with their weights';

-- ---- Weighing ------------------------------------------------------------------

CREATE FUNCTION weigh(shingles, lexicon shingle_lexicon) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_weigh'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION weigh(shingles, shingle_lexicon) IS
	'the shingles of a set whose weights are not 0, with the weights as their frequencies';

CREATE FUNCTION to_shingles(text[], weights float8[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(text[], float8[]) IS
	'the set of the given elements, with 16 times their weights as frequencies (scheme weighted)';

-- The shape comes before the weights, or to_minhash($1, $2, $3) would be ambiguous.
CREATE FUNCTION to_minhash(text, lexicon shingle_lexicon) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_lexicon'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, shingle_lexicon) IS
	'sketch of the shingles of a text weighted by a lexicon: 512 symbols of one bit';

CREATE FUNCTION to_minhash(text, k int, b int, lexicon shingle_lexicon) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_lexicon'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, int, int, shingle_lexicon) IS
	'sketch of the shingles of a text weighted by a lexicon: k symbols of b bits';

CREATE FUNCTION to_minhash(text[], weights float8[]) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text[], float8[]) IS
	'sketch of the given elements with their weights (scheme weighted): 512 symbols of one bit';

CREATE FUNCTION to_minhash(text[], k int, b int, weights float8[]) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text[], int, int, float8[]) IS
	'sketch of the given elements with their weights (scheme weighted): k symbols of b bits';

-- ---- Advice about schemes and thresholds -------------------------------------------------------

CREATE FUNCTION minhash_probability(k int, b int, similarity float8, threshold float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_probability(int, int, float8, float8) IS
	'probability that minhash(k, b) estimates at least the threshold for sets of the given similarity';

CREATE FUNCTION neardup_advise(query text, scheme text DEFAULT NULL, sample int DEFAULT 2000,
		OUT topic text, OUT finding text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_advise'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 30;
COMMENT ON FUNCTION neardup_advise(text, text, int) IS
	'what a sample of the texts that a query returns says about schemes and thresholds for them';

-- ---- Bands of symbols of few bits --------------------------------------------------------------

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8, b int,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8, int) IS
	'the longest bands of k symbols of b bits that find a pair whose resemblance is the threshold with at least this recall';

-- ---- Shared passages ----------------------------------------------------------------------------

CREATE FUNCTION shared_passages(
	a text, b text, scheme text DEFAULT 'word 3', min_tokens int DEFAULT 8,
	OUT a_start int, OUT a_length int, OUT b_start int, OUT b_length int, OUT tokens int)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_shared_passages'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(text, text, text, int) IS
	'the passages of at least min_tokens tokens that two texts share, with their positions in both';
