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

CREATE FUNCTION shared_shingles(
	pg_catalog.text, pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3',
	OUT shingle pg_catalog.text, OUT count_a int, OUT count_b int) RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_shared_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION shared_shingles(pg_catalog.text, pg_catalog.text, pg_catalog.text) IS
	'the distinct shingles that two texts share, in the order of the first text, with their frequencies in both';
