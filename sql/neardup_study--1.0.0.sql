-- The types are those of the core, whose schema is in the search path of this script.

DO $$
DECLARE
	found pg_catalog.text;
BEGIN
	SELECT name INTO found
	FROM pg_catalog.unnest('{shingles,minhash,simhash,shingle_lexicon,ball}'::pg_catalog.text[]) AS name
	WHERE NOT EXISTS (
		SELECT FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e
			ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) e.oid
		WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
			AND d.objid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(name)::pg_catalog.oid
			AND d.deptype OPERATOR(pg_catalog.=) 'e' AND e.extname OPERATOR(pg_catalog.=) 'neardup');
	IF found IS NOT NULL THEN
		RAISE EXCEPTION 'schema "%" has another type "%"', '@extschema@', found
			USING ERRCODE = 'duplicate_object',
			HINT = 'Create neardup_study in another schema, such as the schema of neardup.';
	END IF;
END
$$;
-- What texts, sets, signatures and lexicons consist of.

CREATE FUNCTION show_tokens(pg_catalog.text) RETURNS pg_catalog.text[]
	AS 'MODULE_PATHNAME', 'neardup_show_tokens'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_tokens(pg_catalog.text) IS
	'the normalised tokens of a text, in order';

CREATE FUNCTION show_shingles(
	pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3',
	OUT shingle pg_catalog.text, OUT count int, OUT hash bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_show_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_shingles(pg_catalog.text, pg_catalog.text) IS
	'the distinct shingles of a text in order of first occurrence, with their frequencies';

CREATE FUNCTION show_shingles(
	pg_catalog.text, scheme pg_catalog.text, antecedents pg_catalog.text[], stopwords pg_catalog.text[] DEFAULT NULL,
	OUT shingle pg_catalog.text, OUT count int, OUT hash bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_show_shingles_antecedents'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_shingles(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) IS
	'the distinct spot signatures of a text with the given antecedents and stop words';

CREATE FUNCTION show_weights(
	pg_catalog.text, lexicon shingle_lexicon,
	OUT shingle pg_catalog.text, OUT weight int, OUT hash bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_show_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_weights(pg_catalog.text, shingle_lexicon) IS
	'the distinct shingles of a text in order of first occurrence, with their weights';

CREATE FUNCTION show_signature(minhash) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_show_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION show_signature(minhash) IS
	'a signature in text format, shortened for display; it cannot be read back';

CREATE FUNCTION show_signature(simhash) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_show_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION show_signature(simhash) IS
	'a signature in text format, shortened for display; it cannot be read back';
-- Sketches of sets.

CREATE FUNCTION bottom_resemblance(shingles, shingles, n int) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_bottom_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'estimated resemblance of two sets from their shingles_bottom() of n or more, 0 to 1';

CREATE FUNCTION shingles_minima(shingles, m int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_minima'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations';

CREATE FUNCTION sketch_resemblance(bigint[], bigint[]) RETURNS pg_catalog.float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.cardinality($1) OPERATOR(pg_catalog.>) 0 AND pg_catalog.cardinality($2) OPERATOR(pg_catalog.>) 0
			AND pg_catalog.cardinality($1) OPERATOR(pg_catalog.<>) pg_catalog.cardinality($2)
		THEN pg_catalog.format('not sketches of one size: %s and %s values',
			pg_catalog.cardinality($1), pg_catalog.cardinality($2))::pg_catalog.float8
		ELSE coalesce(pg_catalog.avg((x OPERATOR(pg_catalog.=) y)::int), 0) END
	FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) AS u (x, y);
	END;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the positions at which two sketches have the same value, 0 to 1';

CREATE FUNCTION permutation_sketch(elements int[], permutations int[][]) RETURNS int[]
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	BEGIN ATOMIC
	SELECT CASE WHEN EXISTS (
			SELECT FROM pg_catalog.generate_subscripts(permutations, 1) AS i, pg_catalog.generate_subscripts(permutations, 2) AS j
			GROUP BY i
			HAVING pg_catalog.count(DISTINCT permutations[i][j]) OPERATOR(pg_catalog.<) size
				OR pg_catalog.min(permutations[i][j]) OPERATOR(pg_catalog.<) 1
				OR pg_catalog.max(permutations[i][j]) OPERATOR(pg_catalog.>) size)
		THEN ARRAY[pg_catalog.format('not permutations of 1 to %s: %s', size, permutations)::int]
		WHEN EXISTS (
			SELECT FROM pg_catalog.unnest(elements) AS e
			WHERE (e OPERATOR(pg_catalog.>=) 1 AND e OPERATOR(pg_catalog.<=) size) IS NOT TRUE)
		THEN ARRAY[pg_catalog.format('not elements from 1 to %s: %s', size, elements)::int]
		ELSE ARRAY(
			SELECT pg_catalog.min(permutations[i][e])
			FROM pg_catalog.generate_subscripts(permutations, 1) AS i, pg_catalog.unnest(elements) AS e
			GROUP BY i ORDER BY i) END
	FROM coalesce(pg_catalog.array_length(permutations, 2), 0) AS size;
	END;
COMMENT ON FUNCTION permutation_sketch(int[], int[][]) IS
	'the least position of any element under each permutation; row i has the positions of 1, 2, 3, ... under permutation i';

CREATE FUNCTION supershingles(shingles, width int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_supershingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(shingles, int) IS
	'a hash of each run of the given number of neighbours among the sorted shingles';

CREATE FUNCTION bucket_sketch(shingles, n int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bucket_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bucket_sketch(shingles, int) IS
	'the least shingle in each of n buckets';
-- Document frequencies, I-Match and TF-IDF.

CREATE FUNCTION neardup_frequencies(
	query pg_catalog.text,
	OUT shingle bigint, OUT df bigint, OUT idf pg_catalog.float8) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_frequencies'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION neardup_frequencies(pg_catalog.text) IS
	'how many of the N sets that a query returns contain each shingle, and its idf = ln(N / df) / ln(N), 0 to 1';

CREATE FUNCTION neardup_idf_filter(shingles, frequencies pg_catalog.regclass, low pg_catalog.float8, high pg_catalog.float8) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_idf_filter'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_idf_filter(shingles, pg_catalog.regclass, pg_catalog.float8, pg_catalog.float8) IS
	'the shingles whose idf in a table (shingle, idf) is from low to high';

CREATE FUNCTION neardup_tfidf_cosine(shingles, shingles, frequencies pg_catalog.regclass) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_tfidf_cosine'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_tfidf_cosine(shingles, shingles, pg_catalog.regclass) IS
	'cosine of two vectors of frequency times idf, from a table (shingle, idf), 0 to 1';

CREATE FUNCTION imatch(shingles) RETURNS pg_catalog.bytea
	AS 'MODULE_PATHNAME', 'neardup_imatch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION imatch(shingles) IS
	'128-bit digest of the distinct shingles, equal for equal sets; NULL for the empty set';
-- The S-curve of bands, and the probability of an estimate.

CREATE FUNCTION lsh_probability(similarity pg_catalog.float8, bands int, rows int) RETURNS pg_catalog.float8
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	RETURN CASE WHEN NOT (similarity OPERATOR(pg_catalog.>=) 0 AND similarity OPERATOR(pg_catalog.<=) 1)
		THEN pg_catalog.format('not a similarity from 0 to 1: %s', similarity)::pg_catalog.float8
		WHEN bands OPERATOR(pg_catalog.<) 1 OR rows OPERATOR(pg_catalog.<) 1
		THEN pg_catalog.format('less than 1: bands %s, rows %s', bands, rows)::pg_catalog.float8
		ELSE 1 OPERATOR(pg_catalog.-) ((1 OPERATOR(pg_catalog.-) (similarity OPERATOR(pg_catalog.^) rows)) OPERATOR(pg_catalog.^) bands) END;
COMMENT ON FUNCTION lsh_probability(pg_catalog.float8, int, int) IS
	'probability that a pair of the given similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity pg_catalog.float8, OUT probability pg_catalog.float8) RETURNS SETOF pg_catalog.record
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE ROWS 21
	BEGIN ATOMIC
	SELECT s, @extschema@.lsh_probability(s, bands, rows)
	FROM pg_catalog.generate_series(0, 20) AS i, LATERAL (SELECT i OPERATOR(pg_catalog./) 20.0::pg_catalog.float8) AS of_pairs (s);
	END;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for the similarities 0, 0.05, ..., 1';

CREATE FUNCTION lsh_parameters(
	threshold pg_catalog.float8, k int, recall pg_catalog.float8, b int DEFAULT 1,
	OUT bands int, OUT rows int, OUT probability pg_catalog.float8) RETURNS pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(pg_catalog.float8, int, pg_catalog.float8, int) IS
	'the longest bands of k symbols of b bits that find a pair whose resemblance is the threshold with at least this recall';

CREATE FUNCTION minhash_probability(k int, b int, similarity pg_catalog.float8, threshold pg_catalog.float8) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_probability(int, int, pg_catalog.float8, pg_catalog.float8) IS
	'probability that minhash(k, b) estimates at least the threshold for sets of the given similarity';
-- Edit distances with costs, and of tokens.

CREATE FUNCTION weighted_edit_distance(
	a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION weighted_edit_distance(pg_catalog.text, pg_catalog.text, int, int, int, int) IS
	'least cost of insertions, deletions and substitutions of characters that turn the first text into the second; max + 1 if it is above max';

CREATE FUNCTION token_edit_distance(
	a pg_catalog.text, b pg_catalog.text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_token_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION token_edit_distance(pg_catalog.text, pg_catalog.text, int, int, int, int) IS
	'edit distance that counts normalised tokens instead of characters';
-- The plan of a search, with its estimated and actual cost.  The function checks the rights of
-- the caller on the table itself, and returns a row for each segment, and one for the tails.

CREATE FUNCTION neardup_explain(index pg_catalog.regclass, ball ball,
		OUT segment int, OUT documents bigint,
		OUT method pg_catalog.text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings pg_catalog.float8, OUT planned_candidates pg_catalog.float8, OUT planned_us pg_catalog.float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us pg_catalog.float8,
		OUT matches bigint) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(pg_catalog.regclass, ball) IS
	'how a neardup index is searched for a ball: plan, estimated cost and actual cost of each segment';
