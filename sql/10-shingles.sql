-- The shingles of a text, the type shingles, and exact similarity.

-- ---- Tokens and shingles of a text --------------------------------------------

CREATE FUNCTION shared_passages(
	a pg_catalog.text, b pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3', min_tokens int DEFAULT 8,
	OUT a_start int, OUT a_length int, OUT b_start int, OUT b_length int, OUT tokens int)
	RETURNS SETOF pg_catalog.record
	AS 'MODULE_PATHNAME', 'neardup_shared_passages'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 5000 ROWS 10;
COMMENT ON FUNCTION shared_passages(pg_catalog.text, pg_catalog.text, pg_catalog.text, int) IS
	'the passages of at least min_tokens tokens that two texts share, with their positions in both';

-- ---- The type ----------------------------------------------------------------

CREATE TYPE shingles;

CREATE FUNCTION shingles_in(pg_catalog.cstring) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_in(pg_catalog.cstring) IS
	'I/O';

CREATE FUNCTION shingles_out(shingles) RETURNS pg_catalog.cstring
	AS 'MODULE_PATHNAME', 'neardup_shingles_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_out(shingles) IS
	'I/O';

CREATE FUNCTION shingles_recv(pg_catalog.internal) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_recv(pg_catalog.internal) IS
	'I/O';

CREATE FUNCTION shingles_send(shingles) RETURNS pg_catalog.bytea
	AS 'MODULE_PATHNAME', 'neardup_shingles_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_send(shingles) IS
	'I/O';

CREATE TYPE shingles (
	INPUT = shingles_in,
	OUTPUT = shingles_out,
	RECEIVE = shingles_recv,
	SEND = shingles_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = double,
	STORAGE = external
);
COMMENT ON TYPE shingles IS
	'set of 64-bit shingle hashes with their frequencies, and the scheme that made them';

-- ---- Constructors and casts --------------------------------------------------

CREATE FUNCTION to_shingles(pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3') RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_text'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(pg_catalog.text, pg_catalog.text) IS
	'the shingles of a text under a scheme: word W, char K, anychar K, stopword W or spot D C';

CREATE FUNCTION to_shingles(
	pg_catalog.text, scheme pg_catalog.text, antecedents pg_catalog.text[], stopwords pg_catalog.text[] DEFAULT NULL) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_antecedents'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(pg_catalog.text, pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) IS
	'the spot signatures of a text with the given antecedents and stop words (NULL: those of the language)';

CREATE FUNCTION to_shingles(pg_catalog.text[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_text_array'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(pg_catalog.text[]) IS
	'the set of the given elements, unchanged (scheme tokens)';

CREATE FUNCTION to_shingles(bigint[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_bigint_array'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(bigint[]) IS
	'the set of the given 64-bit hashes (scheme hashes)';

CREATE FUNCTION shingle_hashes(shingles) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingle_hashes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_hashes(shingles) IS
	'the distinct hashes of a set, ascending';

CREATE FUNCTION shingles_of_bytea(pg_catalog.bytea) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_of_bytea'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_of_bytea(pg_catalog.bytea) IS
	'implementation of a cast';

CREATE CAST (pg_catalog.bytea AS shingles) WITH FUNCTION shingles_of_bytea(pg_catalog.bytea);
COMMENT ON CAST (pg_catalog.bytea AS shingles) IS
	'a value in binary format, as clients send it';

CREATE CAST (shingles AS pg_catalog.bytea) WITH FUNCTION shingles_send(shingles);
COMMENT ON CAST (shingles AS pg_catalog.bytea) IS
	'the binary format';

CREATE CAST (bigint[] AS shingles) WITH FUNCTION to_shingles(bigint[]) AS ASSIGNMENT;
COMMENT ON CAST (bigint[] AS shingles) IS
	'the set of the given 64-bit hashes (scheme hashes)';

CREATE CAST (shingles AS bigint[]) WITH FUNCTION shingle_hashes(shingles);
COMMENT ON CAST (shingles AS bigint[]) IS
	'the distinct hashes of a set, ascending';

-- ---- Order -------------------------------------------------------------------

CREATE FUNCTION shingles_eq(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_eq(shingles, shingles) IS
	'implementation of = operator';

CREATE FUNCTION shingles_ne(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_ne(shingles, shingles) IS
	'implementation of <> operator';

CREATE FUNCTION shingles_hash(shingles) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_shingles_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_hash(shingles) IS
	'hash';

CREATE FUNCTION shingles_hash_extended(shingles, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_shingles_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_hash_extended(shingles, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = pg_catalog.eqsel, JOIN = pg_catalog.eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (shingles, shingles) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = pg_catalog.neqsel, JOIN = pg_catalog.neqjoinsel
);
COMMENT ON OPERATOR <> (shingles, shingles) IS 'not equal';

CREATE OPERATOR CLASS shingles_ops DEFAULT FOR TYPE shingles USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 shingles_hash(shingles),
	FUNCTION 2 shingles_hash_extended(shingles, bigint);
COMMENT ON OPERATOR CLASS shingles_ops USING hash IS 'equality of sets of shingles';
COMMENT ON OPERATOR FAMILY shingles_ops USING hash IS 'equality of sets of shingles';

-- ---- Sets --------------------------------------------------------------------

CREATE FUNCTION cardinality(shingles) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_cardinality_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cardinality(shingles) IS
	'number of distinct shingles of a set';

CREATE FUNCTION shingle_total(shingles) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_shingle_total'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_total(shingles) IS
	'sum of the frequencies of all shingles of a set';

CREATE FUNCTION shingles_intersection(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_intersection'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_intersection(shingles, shingles) IS
	'implementation of & operator';

CREATE OPERATOR & (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_intersection, COMMUTATOR = &
);
COMMENT ON OPERATOR & (shingles, shingles) IS
	'shingles in both sets, each with the lower of its frequencies';

CREATE FUNCTION shingles_union(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_union(shingles, shingles) IS
	'implementation of | operator';

CREATE OPERATOR | (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (shingles, shingles) IS
	'shingles in either set, each with the higher of its frequencies';

CREATE FUNCTION shingles_difference(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_difference'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_difference(shingles, shingles) IS
	'implementation of - operator';

CREATE OPERATOR - (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_difference
);
COMMENT ON OPERATOR - (shingles, shingles) IS
	'the shingles of the first set that are not in the second, such as those of a form';

-- ---- Similarity --------------------------------------------------------------

CREATE FUNCTION text_similarity(pg_catalog.text, pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3') RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_text_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION text_similarity(pg_catalog.text, pg_catalog.text, pg_catalog.text) IS
	'exact resemblance (Jaccard similarity) of the shingles of two texts under a scheme, 0 to 1';

CREATE FUNCTION similarity(shingles, shingles) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_similarity_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(shingles, shingles) IS
	'exact resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION containment(shingles, shingles) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_containment_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment(shingles, shingles) IS
	'share of the first set that is in the second, 0 to 1';

CREATE FUNCTION weighted_jaccard(shingles, shingles) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_weighted_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION weighted_jaccard(shingles, shingles) IS
	'Jaccard similarity of two multisets, 0 to 1';

CREATE FUNCTION shingles_distance(shingles, shingles) RETURNS pg_catalog.float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_distance(shingles, shingles) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (shingles, shingles) IS 'distance: 1 - similarity';
