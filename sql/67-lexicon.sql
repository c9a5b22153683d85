-- Lexicons, and sets weighed by them.

-- ---- The type ----------------------------------------------------------------

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
