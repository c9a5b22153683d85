-- Lexicons, and sets weighed by them.

-- ---- The type ----------------------------------------------------------------

CREATE TYPE shingle_lexicon;

CREATE FUNCTION shingle_lexicon_in(pg_catalog.cstring) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_in(pg_catalog.cstring) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_out(shingle_lexicon) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_out(shingle_lexicon) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_recv(pg_catalog.internal) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_shingle_lexicon_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_lexicon_recv(pg_catalog.internal) IS
	'I/O';

CREATE FUNCTION shingle_lexicon_send(shingle_lexicon) RETURNS pg_catalog.bytea
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
	STORAGE = external
);
COMMENT ON TYPE shingle_lexicon IS
	'weights of shingles, from 0 to 15, by how few of many documents have them';

-- ---- Making and showing --------------------------------------------------------

CREATE FUNCTION neardup_lexicon(
	query pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 1', entries int DEFAULT 10000,
	share pg_catalog.float8 DEFAULT 0.05) RETURNS shingle_lexicon
	AS 'MODULE_PATHNAME', 'neardup_lexicon'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION neardup_lexicon(pg_catalog.text, pg_catalog.text, int, pg_catalog.float8) IS
	'the lexicon of the texts or shingles that a query returns: at most `entries` frequent shingles weigh less, and those that a share of the rows, and at least 20 rows, have weigh nothing';

CREATE FUNCTION lexicon_info(
	shingle_lexicon, OUT scheme pg_catalog.text, OUT documents bigint, OUT entries int, OUT left_out int) RETURNS pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_lexicon_info'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lexicon_info(shingle_lexicon) IS
	'the scheme of the shingles that a lexicon weighs, the numbers of its documents and entries, and how many entries weigh nothing';

-- ---- Weighing ------------------------------------------------------------------

CREATE FUNCTION weigh(shingles, lexicon shingle_lexicon) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_weigh'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION weigh(shingles, shingle_lexicon) IS
	'the shingles of a set whose weights are not 0, with the weights as their frequencies';

CREATE FUNCTION shingles_copies(shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_copies'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION shingles_copies(shingles) IS
	'the plain set of as many copies of each element as its frequency: its similarity is the weighted Jaccard';

CREATE FUNCTION to_shingles(pg_catalog.text[], weights pg_catalog.float8[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(pg_catalog.text[], pg_catalog.float8[]) IS
	'the set of the given elements, with 16 times their weights as frequencies (scheme weighted)';

-- The shape comes before the lexicon, or to_minhash($1, $2, $3) would be ambiguous.
CREATE FUNCTION to_minhash(pg_catalog.text, lexicon shingle_lexicon) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_lexicon'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(pg_catalog.text, shingle_lexicon) IS
	'sketch of the shingles of a text weighted by a lexicon: 512 symbols of one bit';

CREATE FUNCTION to_minhash(pg_catalog.text, k int, b int, lexicon shingle_lexicon) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_lexicon'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(pg_catalog.text, int, int, shingle_lexicon) IS
	'sketch of the shingles of a text weighted by a lexicon: k symbols of b bits';
