-- Document frequencies of shingles: those of forms, I-Match and TF-IDF.

CREATE FUNCTION neardup_frequencies(
	query text,
	OUT shingle bigint, OUT df bigint, OUT idf float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_frequencies'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION neardup_frequencies(text) IS
	'how many of the N sets that a query returns contain each shingle, and its idf = ln(N / df) / ln(N), 0 to 1';

CREATE FUNCTION neardup_common_shingles(query text, share float8 DEFAULT 0.2, scheme text DEFAULT 'word 3',
		sample int DEFAULT 10000) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_common_shingles'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION neardup_common_shingles(text, float8, text, int) IS
	'the shingles that a share of the texts or sets of a query have, such as those of a form, from a sample of rows';

CREATE FUNCTION neardup_idf_filter(shingles, frequencies regclass, low float8, high float8) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_idf_filter'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_idf_filter(shingles, regclass, float8, float8) IS
	'the shingles whose idf in a table (shingle, idf) is from low to high';

CREATE FUNCTION neardup_tfidf_cosine(shingles, shingles, frequencies regclass) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_tfidf_cosine'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION neardup_tfidf_cosine(shingles, shingles, regclass) IS
	'cosine of two vectors of frequency times idf, from a table (shingle, idf), 0 to 1';

CREATE FUNCTION imatch(shingles) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_imatch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION imatch(shingles) IS
	'128-bit digest of the distinct shingles, equal for equal sets; NULL for the empty set';
