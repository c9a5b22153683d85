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

CREATE FUNCTION cosine_similarity(shingles, shingles) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_cosine_similarity_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cosine_similarity(shingles, shingles) IS
	'cosine of two vectors of frequencies, 0 to 1';
