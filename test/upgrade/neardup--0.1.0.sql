-- Sets of shingles: what the recipe makes of a text, the type shingles, and
-- exact similarity.

-- ---- Looking at a text ------------------------------------------------------

CREATE FUNCTION show_tokens(text) RETURNS text[]
	AS 'MODULE_PATHNAME', 'neardup_show_tokens'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_tokens(text) IS
	'the normalised tokens of a text, in order';

CREATE FUNCTION show_shingles(
	text, scheme text DEFAULT 'word 3',
	OUT shingle text, OUT count int, OUT hash bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_show_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_shingles(text, text) IS
	'the distinct shingles of a text, in order of first occurrence, with how often each occurs';

CREATE FUNCTION show_shingles(
	text, scheme text, antecedents text[], stopwords text[] DEFAULT NULL,
	OUT shingle text, OUT count int, OUT hash bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_show_shingles_lists'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION show_shingles(text, text, text[], text[]) IS
	'the distinct spot signatures of a text with antecedents and stop words of one''s own';

CREATE FUNCTION shared_shingles(
	text, text, scheme text DEFAULT 'word 3',
	OUT shingle text, OUT count_a int, OUT count_b int) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_shared_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION shared_shingles(text, text, text) IS
	'the distinct shingles that two texts share, in the order of the first, with how often each occurs in either';

-- ---- The type ----------------------------------------------------------------

CREATE TYPE shingles;

CREATE FUNCTION shingles_in(cstring) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_in(cstring) IS
	'I/O';

CREATE FUNCTION shingles_out(shingles) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_shingles_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_out(shingles) IS
	'I/O';

CREATE FUNCTION shingles_recv(internal) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_recv(internal) IS
	'I/O';

CREATE FUNCTION shingles_send(shingles) RETURNS bytea
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

CREATE FUNCTION to_shingles(text, scheme text DEFAULT 'word 3') RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_text'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(text, text) IS
	'the shingles of a text under a scheme: word W, char K, stopword W or spot D C';

CREATE FUNCTION to_shingles(
	text, scheme text, antecedents text[], stopwords text[] DEFAULT NULL) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_lists'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(text, text, text[], text[]) IS
	'the spot signatures of a text with antecedents and stop words of one''s own (NULL: the language''s)';

CREATE FUNCTION to_shingles(text[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_tokens'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(text[]) IS
	'a set of the elements given, taken as they are (scheme tokens)';

CREATE FUNCTION to_shingles(bigint[]) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_to_shingles_hashes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION to_shingles(bigint[]) IS
	'a set of the 64-bit hashes given (scheme hashes)';

CREATE FUNCTION shingle_hashes(shingles) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_to_array'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_hashes(shingles) IS
	'the distinct hashes of a set, ascending';

CREATE CAST (bigint[] AS shingles) WITH FUNCTION to_shingles(bigint[]) AS ASSIGNMENT;
COMMENT ON CAST (bigint[] AS shingles) IS
	'a set of the 64-bit hashes given (scheme hashes)';

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

CREATE FUNCTION shingles_lt(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_lt(shingles, shingles) IS
	'implementation of < operator';

CREATE FUNCTION shingles_le(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_le(shingles, shingles) IS
	'implementation of <= operator';

CREATE FUNCTION shingles_gt(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_gt(shingles, shingles) IS
	'implementation of > operator';

CREATE FUNCTION shingles_ge(shingles, shingles) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_ge(shingles, shingles) IS
	'implementation of >= operator';

CREATE FUNCTION shingles_cmp(shingles, shingles) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_shingles_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_cmp(shingles, shingles) IS
	'less-equal-greater';

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
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (shingles, shingles) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (shingles, shingles) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (shingles, shingles) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (shingles, shingles) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (shingles, shingles) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (shingles, shingles) IS 'greater than or equal';

CREATE OPERATOR CLASS shingles_ops DEFAULT FOR TYPE shingles USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 shingles_cmp(shingles, shingles);
COMMENT ON OPERATOR CLASS shingles_ops USING btree IS 'total order of all sets of shingles';
COMMENT ON OPERATOR FAMILY shingles_ops USING btree IS 'total order of all sets of shingles';

CREATE OPERATOR CLASS shingles_ops DEFAULT FOR TYPE shingles USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 shingles_hash(shingles),
	FUNCTION 2 shingles_hash_extended(shingles, bigint);
COMMENT ON OPERATOR CLASS shingles_ops USING hash IS 'equality of sets of shingles';
COMMENT ON OPERATOR FAMILY shingles_ops USING hash IS 'equality of sets of shingles';

-- ---- Sets --------------------------------------------------------------------

CREATE FUNCTION cardinality(shingles) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_shingles_cardinality'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cardinality(shingles) IS
	'how many distinct shingles a set has';

CREATE FUNCTION shingle_total(shingles) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_shingles_total'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingle_total(shingles) IS
	'how many shingles a set has, each as often as it occurs';

CREATE FUNCTION shingles_intersection(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_intersection'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_intersection(shingles, shingles) IS
	'implementation of & operator';

CREATE OPERATOR & (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_intersection, COMMUTATOR = &
);
COMMENT ON OPERATOR & (shingles, shingles) IS
	'what two sets share, each as often as in the one with fewer';

CREATE FUNCTION shingles_union(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_union(shingles, shingles) IS
	'implementation of | operator';

CREATE OPERATOR | (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_union, COMMUTATOR = |
);
COMMENT ON OPERATOR | (shingles, shingles) IS
	'what either set has, each as often as in the one with more';

CREATE FUNCTION shingles_difference(shingles, shingles) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_difference'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_difference(shingles, shingles) IS
	'implementation of - operator';

CREATE OPERATOR - (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_difference
);
COMMENT ON OPERATOR - (shingles, shingles) IS
	'what the first set has beyond the second';

-- ---- Similarity --------------------------------------------------------------

CREATE FUNCTION similarity(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(shingles, shingles) IS
	'exact resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION jaccard_similarity(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard_similarity(shingles, shingles) IS
	'exact resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION containment(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_containment'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment(shingles, shingles) IS
	'share of the first set that lies in the second, 0 to 1';

CREATE FUNCTION weighted_jaccard(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_weighted_jaccard'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION weighted_jaccard(shingles, shingles) IS
	'Jaccard similarity of two multisets, 0 to 1';

CREATE FUNCTION cosine_similarity(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_cosine'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cosine_similarity(shingles, shingles) IS
	'cosine of two vectors of frequencies, 0 to 1';

CREATE FUNCTION is_similar(shingles, shingles, threshold float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_shingles_is_similar'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION is_similar(shingles, shingles, float8) IS
	'is the similarity of two sets at least the threshold?';

CREATE FUNCTION shingles_distance(shingles, shingles) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_shingles_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_distance(shingles, shingles) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = shingles, RIGHTARG = shingles, FUNCTION = shingles_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (shingles, shingles) IS 'distance: 1 - similarity';
-- The type minhash: k symbols of b bits, sketches of a set.

-- ---- The type ---------------------------------------------------------------

CREATE TYPE minhash;

CREATE FUNCTION minhash_in(cstring, oid, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_in(cstring, oid, int) IS
	'I/O';

CREATE FUNCTION minhash_out(minhash) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_signature_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_out(minhash) IS
	'I/O';

CREATE FUNCTION minhash_recv(internal, oid, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_recv(internal, oid, int) IS
	'I/O';

CREATE FUNCTION minhash_send(minhash) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_signature_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_send(minhash) IS
	'I/O';

CREATE FUNCTION minhash_typmod_in(cstring[]) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_minhash_typmod_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_in(cstring[]) IS
	'I/O typmod';

CREATE FUNCTION minhash_typmod_out(int) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_minhash_typmod_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typmod_out(int) IS
	'I/O typmod';

CREATE FUNCTION minhash_typanalyze(internal) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_typanalyze'
	LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_typanalyze(internal) IS
	'minhash typanalyze';

CREATE TYPE minhash (
	INPUT = minhash_in,
	OUTPUT = minhash_out,
	RECEIVE = minhash_recv,
	SEND = minhash_send,
	TYPMOD_IN = minhash_typmod_in,
	TYPMOD_OUT = minhash_typmod_out,
	ANALYZE = minhash_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE minhash IS
	'sketch of a set: k symbols of b bits, minhash(k, b); estimates resemblance';

CREATE FUNCTION minhash_apply_typmod(minhash, int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_signature_apply_typmod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_apply_typmod(minhash, int) IS
	'refuse a minhash of another shape than the column has';

CREATE CAST (minhash AS minhash) WITH FUNCTION minhash_apply_typmod(minhash, int) AS IMPLICIT;
COMMENT ON CAST (minhash AS minhash) IS
	'refuse a minhash of another shape than the column has';

-- ---- Constructors -----------------------------------------------------------

CREATE FUNCTION to_minhash(
	text, k int DEFAULT 512, b int DEFAULT 1, scheme text DEFAULT 'word 3') RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_text'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text, int, int, text) IS
	'sketch of the shingles of a text under a scheme: k symbols of b bits';

CREATE FUNCTION to_minhash(shingles, k int DEFAULT 512, b int DEFAULT 1) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(shingles, int, int) IS
	'sketch of a set of shingles: k symbols of b bits';

CREATE FUNCTION to_minhash(text[], k int DEFAULT 512, b int DEFAULT 1) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_tokens'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(text[], int, int) IS
	'sketch of the set of the elements given (scheme tokens): k symbols of b bits';

CREATE FUNCTION to_minhash(bigint[], k int DEFAULT 512, b int DEFAULT 1) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_to_minhash_hashes'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_minhash(bigint[], int, int) IS
	'sketch of the set of the 64-bit hashes given (scheme hashes): k symbols of b bits';

-- ---- Truncation, union, cardinality -----------------------------------------

CREATE FUNCTION minhash_truncate(minhash, b int) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_truncate'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_truncate(minhash, int) IS
	'the same sketch with fewer bits a symbol';

CREATE FUNCTION minhash_union(minhash, minhash) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_union'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union(minhash, minhash) IS
	'sketch of the union of two sets, from their sketches with symbols of 32 bits';

CREATE FUNCTION minhash_union_step(minhash, minhash) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_minhash_union_step'
	LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION minhash_union_step(minhash, minhash) IS
	'transition and combine function of minhash_union_agg';

CREATE AGGREGATE minhash_union_agg(minhash) (
	SFUNC = minhash_union_step,
	STYPE = minhash,
	COMBINEFUNC = minhash_union_step,
	PARALLEL = SAFE
);
COMMENT ON AGGREGATE minhash_union_agg(minhash) IS
	'sketch of the union of sets, from their sketches with symbols of 32 bits';

CREATE FUNCTION cardinality(minhash) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_minhash_cardinality'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cardinality(minhash) IS
	'how many distinct shingles the set has; an error where that is unknown';

-- ---- Casts ------------------------------------------------------------------

CREATE FUNCTION minhash_of_bit(bit) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_bit_to_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_of_bit(bit) IS
	'implementation of a cast';

CREATE CAST (bit AS minhash) WITH FUNCTION minhash_of_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS minhash) IS
	'a signature made elsewhere, of symbols of one bit';

CREATE FUNCTION minhash_to_bit(minhash, int) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_signature_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_to_bit(minhash, int) IS
	'implementation of a cast';

CREATE CAST (minhash AS bit) WITH FUNCTION minhash_to_bit(minhash, int) AS ASSIGNMENT;
COMMENT ON CAST (minhash AS bit) IS
	'the symbols, where they have one bit';

CREATE FUNCTION minhash_of_symbols(bigint[]) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_int8_array_to_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_of_symbols(bigint[]) IS
	'implementation of a cast';

CREATE CAST (bigint[] AS minhash) WITH FUNCTION minhash_of_symbols(bigint[]) AS ASSIGNMENT;
COMMENT ON CAST (bigint[] AS minhash) IS
	'a signature made elsewhere, of symbols of 32 bits';

CREATE FUNCTION minhash_symbols(minhash) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_minhash_to_int8_array'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_symbols(minhash) IS
	'implementation of a cast';

CREATE CAST (minhash AS bigint[]) WITH FUNCTION minhash_symbols(minhash) AS ASSIGNMENT;
COMMENT ON CAST (minhash AS bigint[]) IS
	'the symbols, where they have 32 bits';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION minhash_eq(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_eq(minhash, minhash) IS
	'implementation of = operator';

CREATE FUNCTION minhash_ne(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ne(minhash, minhash) IS
	'implementation of <> operator';

CREATE FUNCTION minhash_lt(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_lt(minhash, minhash) IS
	'implementation of < operator';

CREATE FUNCTION minhash_le(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_le(minhash, minhash) IS
	'implementation of <= operator';

CREATE FUNCTION minhash_gt(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_gt(minhash, minhash) IS
	'implementation of > operator';

CREATE FUNCTION minhash_ge(minhash, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ge(minhash, minhash) IS
	'implementation of >= operator';

CREATE FUNCTION minhash_cmp(minhash, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_cmp(minhash, minhash) IS
	'less-equal-greater';

CREATE FUNCTION minhash_hash(minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_hash(minhash) IS
	'hash';

CREATE FUNCTION minhash_hash_extended(minhash, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_hash_extended(minhash, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (minhash, minhash) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash, minhash) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash, minhash) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash, minhash) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash, minhash) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash, minhash) IS 'greater than or equal';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 minhash_cmp(minhash, minhash);
COMMENT ON OPERATOR CLASS minhash_ops USING btree IS 'total order of all minhash values';
COMMENT ON OPERATOR FAMILY minhash_ops USING btree IS 'total order of all minhash values';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 minhash_hash(minhash),
	FUNCTION 2 minhash_hash_extended(minhash, bigint);
COMMENT ON OPERATOR CLASS minhash_ops USING hash IS 'equality of minhash values';
COMMENT ON OPERATOR FAMILY minhash_ops USING hash IS 'equality of minhash values';
-- The type simhash: fingerprints of f bits.

-- ---- The type ---------------------------------------------------------------

CREATE TYPE simhash;

CREATE FUNCTION simhash_in(cstring, oid, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in(cstring, oid, int) IS
	'I/O';

CREATE FUNCTION simhash_out(simhash) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_signature_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_out(simhash) IS
	'I/O';

CREATE FUNCTION simhash_recv(internal, oid, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_simhash_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_recv(internal, oid, int) IS
	'I/O';

CREATE FUNCTION simhash_send(simhash) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_signature_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_send(simhash) IS
	'I/O';

CREATE FUNCTION simhash_typmod_in(cstring[]) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_simhash_typmod_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typmod_in(cstring[]) IS
	'I/O typmod';

CREATE FUNCTION simhash_typmod_out(int) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_simhash_typmod_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typmod_out(int) IS
	'I/O typmod';

CREATE FUNCTION simhash_typanalyze(internal) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_typanalyze'
	LANGUAGE C STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_typanalyze(internal) IS
	'simhash typanalyze';

CREATE TYPE simhash (
	INPUT = simhash_in,
	OUTPUT = simhash_out,
	RECEIVE = simhash_recv,
	SEND = simhash_send,
	TYPMOD_IN = simhash_typmod_in,
	TYPMOD_OUT = simhash_typmod_out,
	ANALYZE = simhash_typanalyze,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash IS
	'fingerprint of a weighted set: f bits, simhash(f); estimates the angle';

CREATE FUNCTION simhash_apply_typmod(simhash, int) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_signature_apply_typmod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_apply_typmod(simhash, int) IS
	'refuse a simhash of another shape than the column has';

CREATE CAST (simhash AS simhash) WITH FUNCTION simhash_apply_typmod(simhash, int) AS IMPLICIT;
COMMENT ON CAST (simhash AS simhash) IS
	'refuse a simhash of another shape than the column has';

-- ---- Constructors -----------------------------------------------------------

CREATE FUNCTION to_simhash(
	text, f int DEFAULT 64, scheme text DEFAULT 'word 1') RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_text'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(text, int, text) IS
	'fingerprint of the shingles of a text under a scheme, each as often as it occurs: f bits';

CREATE FUNCTION to_simhash(shingles, f int DEFAULT 64) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_shingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(shingles, int) IS
	'fingerprint of a set of shingles, each as often as it occurs: f bits';

CREATE FUNCTION to_simhash(text[], weights float8[], f int DEFAULT 64) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_to_simhash_weights'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION to_simhash(text[], float8[], int) IS
	'fingerprint of the elements given with their weights (scheme tokens): f bits';

-- ---- Casts ------------------------------------------------------------------

CREATE FUNCTION simhash_of_bit(bit) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_bit_to_simhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_of_bit(bit) IS
	'implementation of a cast';

CREATE CAST (bit AS simhash) WITH FUNCTION simhash_of_bit(bit) AS ASSIGNMENT;
COMMENT ON CAST (bit AS simhash) IS
	'a fingerprint made elsewhere';

CREATE FUNCTION simhash_to_bit(simhash, int) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_signature_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bit(simhash, int) IS
	'implementation of a cast';

CREATE CAST (simhash AS bit) WITH FUNCTION simhash_to_bit(simhash, int) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bit) IS
	'the bits';

CREATE FUNCTION simhash_of_bigint(bigint) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_int8_to_simhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_of_bigint(bigint) IS
	'implementation of a cast';

CREATE CAST (bigint AS simhash) WITH FUNCTION simhash_of_bigint(bigint) AS ASSIGNMENT;
COMMENT ON CAST (bigint AS simhash) IS
	'a fingerprint of 64 bits made elsewhere';

CREATE FUNCTION simhash_to_bigint(simhash) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_simhash_to_int8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_to_bigint(simhash) IS
	'implementation of a cast';

CREATE CAST (simhash AS bigint) WITH FUNCTION simhash_to_bigint(simhash) AS ASSIGNMENT;
COMMENT ON CAST (simhash AS bigint) IS
	'the bits, where there are 64; the first is the sign';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION simhash_eq(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_eq(simhash, simhash) IS
	'implementation of = operator';

CREATE FUNCTION simhash_ne(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ne(simhash, simhash) IS
	'implementation of <> operator';

CREATE FUNCTION simhash_lt(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_lt(simhash, simhash) IS
	'implementation of < operator';

CREATE FUNCTION simhash_le(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_le(simhash, simhash) IS
	'implementation of <= operator';

CREATE FUNCTION simhash_gt(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_gt(simhash, simhash) IS
	'implementation of > operator';

CREATE FUNCTION simhash_ge(simhash, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_signature_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ge(simhash, simhash) IS
	'implementation of >= operator';

CREATE FUNCTION simhash_cmp(simhash, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_cmp(simhash, simhash) IS
	'less-equal-greater';

CREATE FUNCTION simhash_hash(simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash(simhash) IS
	'hash';

CREATE FUNCTION simhash_hash_extended(simhash, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_hash_extended(simhash, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash, simhash) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash, simhash) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash, simhash) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash, simhash) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash, simhash) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash, simhash) IS 'greater than or equal';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_cmp(simhash, simhash);
COMMENT ON OPERATOR CLASS simhash_ops USING btree IS 'total order of all simhash values';
COMMENT ON OPERATOR FAMILY simhash_ops USING btree IS 'total order of all simhash values';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_hash(simhash),
	FUNCTION 2 simhash_hash_extended(simhash, bigint);
COMMENT ON OPERATOR CLASS simhash_ops USING hash IS 'equality of simhash values';
COMMENT ON OPERATOR FAMILY simhash_ops USING hash IS 'equality of simhash values';
-- How alike two signatures are.

-- ---- Planner ----------------------------------------------------------------

CREATE FUNCTION neardup_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'neardup_support'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_support(internal) IS
	'planner support for is_similar and hamming_within';

-- ---- minhash ----------------------------------------------------------------

CREATE FUNCTION similarity(minhash, minhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(minhash, minhash) IS
	'estimated resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION jaccard_similarity(minhash, minhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard_similarity(minhash, minhash) IS
	'estimated resemblance (Jaccard similarity) of two sets, 0 to 1';

CREATE FUNCTION containment(minhash, minhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_containment'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION containment(minhash, minhash) IS
	'estimated share of the first set that lies in the second, 0 to 1';

CREATE FUNCTION is_similar(minhash, minhash, threshold float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_similar'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_similar(minhash, minhash, float8) IS
	'is the similarity of two sets at least the threshold?';

CREATE FUNCTION hamming_distance(minhash, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_hamming_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_distance(minhash, minhash) IS
	'number of symbols that differ';

CREATE FUNCTION hamming_within(minhash, minhash, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_hamming_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION hamming_within(minhash, minhash, int) IS
	'do at most so many symbols differ?';

CREATE OPERATOR <~> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (minhash, minhash) IS 'number of symbols that differ';

CREATE FUNCTION minhash_distance(minhash, minhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_distance(minhash, minhash) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = minhash, RIGHTARG = minhash, FUNCTION = minhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (minhash, minhash) IS 'distance: 1 - similarity';

-- ---- simhash ----------------------------------------------------------------

CREATE FUNCTION similarity(simhash, simhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION similarity(simhash, simhash) IS
	'share of the bits in which two fingerprints agree, 0 to 1';

CREATE FUNCTION cosine_similarity(simhash, simhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_simhash_cosine'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION cosine_similarity(simhash, simhash) IS
	'estimated cosine of the angle between two weighted sets, -1 to 1';

CREATE FUNCTION is_similar(simhash, simhash, threshold float8) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_is_similar'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION is_similar(simhash, simhash, float8) IS
	'is the similarity of two fingerprints at least the threshold?';

CREATE FUNCTION hamming_distance(simhash, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_hamming_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_distance(simhash, simhash) IS
	'number of bits that differ';

CREATE FUNCTION hamming_within(simhash, simhash, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_hamming_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION hamming_within(simhash, simhash, int) IS
	'do at most so many bits differ?';

CREATE OPERATOR <~> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash, simhash) IS 'number of symbols that differ';

CREATE FUNCTION simhash_distance(simhash, simhash) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_distance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_distance(simhash, simhash) IS
	'implementation of <-> operator';

CREATE OPERATOR <-> (
	LEFTARG = simhash, RIGHTARG = simhash, FUNCTION = simhash_distance,
	COMMUTATOR = <->
);
COMMENT ON OPERATOR <-> (simhash, simhash) IS 'distance: 1 - similarity';

-- ---- bit and bigint: hashes made elsewhere ----------------------------------

CREATE FUNCTION hamming_within(bit, bit, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION hamming_within(bit, bit, int) IS
	'do at most so many bits differ?';

CREATE FUNCTION hamming_within(bigint, bigint, distance int) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_int8_hamming_within'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE
	SUPPORT neardup_support;
COMMENT ON FUNCTION hamming_within(bigint, bigint, int) IS
	'do at most so many bits differ?';
-- Balls: all signatures within a threshold of one, as a value.

-- ---- Estimators -------------------------------------------------------------

CREATE FUNCTION neardup_ball_sel(internal, oid, internal, int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_ball_sel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_sel(internal, oid, internal, int) IS
	'restriction selectivity of operators on balls';

CREATE FUNCTION neardup_ball_joinsel(internal, oid, internal, smallint, internal) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_ball_joinsel'
	LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_ball_joinsel(internal, oid, internal, smallint, internal) IS
	'join selectivity of operators on balls';

-- ---- minhash_ball -----------------------------------------------------------

CREATE TYPE minhash_ball;

CREATE FUNCTION minhash_ball_in(cstring) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_minhash_ball_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_in(cstring) IS
	'I/O';

CREATE FUNCTION minhash_ball_out(minhash_ball) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_out(minhash_ball) IS
	'I/O';

CREATE FUNCTION minhash_ball_recv(internal) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_minhash_ball_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_recv(internal) IS
	'I/O';

CREATE FUNCTION minhash_ball_send(minhash_ball) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_send(minhash_ball) IS
	'I/O';

CREATE TYPE minhash_ball (
	INPUT = minhash_ball_in,
	OUTPUT = minhash_ball_out,
	RECEIVE = minhash_ball_recv,
	SEND = minhash_ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE minhash_ball IS
	'all minhash values within a threshold of one';

CREATE FUNCTION near(minhash, threshold float8) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(minhash, float8) IS
	'all minhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION hamming_ball(minhash, distance int) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(minhash, int) IS
	'all minhash values that differ from this one in at most so many symbols';

CREATE FUNCTION minhash_in_ball(minhash, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_in_ball(minhash, minhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION minhash_ball_contains(minhash_ball, minhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, minhash) IS
	'implementation of @> operator';

CREATE FUNCTION minhash_balls_meet(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_balls_meet'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_balls_meet(minhash_ball, minhash_ball) IS
	'implementation of && operator';

CREATE OPERATOR <@ (
	LEFTARG = minhash, RIGHTARG = minhash_ball, FUNCTION = minhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (minhash, minhash_ball) IS 'lies in the ball';

CREATE OPERATOR @> (
	LEFTARG = minhash_ball, RIGHTARG = minhash, FUNCTION = minhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (minhash_ball, minhash) IS 'holds the signature';

CREATE OPERATOR && (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_balls_meet,
	COMMUTATOR = &&,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR && (minhash_ball, minhash_ball) IS 'each ball holds the centre of the other';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION minhash_ball_eq(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_eq(minhash_ball, minhash_ball) IS
	'implementation of = operator';

CREATE FUNCTION minhash_ball_ne(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ne(minhash_ball, minhash_ball) IS
	'implementation of <> operator';

CREATE FUNCTION minhash_ball_lt(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_lt(minhash_ball, minhash_ball) IS
	'implementation of < operator';

CREATE FUNCTION minhash_ball_le(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_le(minhash_ball, minhash_ball) IS
	'implementation of <= operator';

CREATE FUNCTION minhash_ball_gt(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_gt(minhash_ball, minhash_ball) IS
	'implementation of > operator';

CREATE FUNCTION minhash_ball_ge(minhash_ball, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_ge(minhash_ball, minhash_ball) IS
	'implementation of >= operator';

CREATE FUNCTION minhash_ball_cmp(minhash_ball, minhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_ball_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_cmp(minhash_ball, minhash_ball) IS
	'less-equal-greater';

CREATE FUNCTION minhash_ball_hash(minhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash(minhash_ball) IS
	'hash';

CREATE FUNCTION minhash_ball_hash_extended(minhash_ball, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_hash_extended(minhash_ball, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (minhash_ball, minhash_ball) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (minhash_ball, minhash_ball) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (minhash_ball, minhash_ball) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (minhash_ball, minhash_ball) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (minhash_ball, minhash_ball) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = minhash_ball, RIGHTARG = minhash_ball, FUNCTION = minhash_ball_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (minhash_ball, minhash_ball) IS 'greater than or equal';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 minhash_ball_cmp(minhash_ball, minhash_ball);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING btree IS 'total order of all minhash_ball values';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING btree IS 'total order of all minhash_ball values';

CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 minhash_ball_hash(minhash_ball),
	FUNCTION 2 minhash_ball_hash_extended(minhash_ball, bigint);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING hash IS 'equality of minhash_ball values';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING hash IS 'equality of minhash_ball values';

-- ---- simhash_ball -----------------------------------------------------------

CREATE TYPE simhash_ball;

CREATE FUNCTION simhash_ball_in(cstring) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_simhash_ball_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_in(cstring) IS
	'I/O';

CREATE FUNCTION simhash_ball_out(simhash_ball) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_out(simhash_ball) IS
	'I/O';

CREATE FUNCTION simhash_ball_recv(internal) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_simhash_ball_recv'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_recv(internal) IS
	'I/O';

CREATE FUNCTION simhash_ball_send(simhash_ball) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_send(simhash_ball) IS
	'I/O';

CREATE TYPE simhash_ball (
	INPUT = simhash_ball_in,
	OUTPUT = simhash_ball_out,
	RECEIVE = simhash_ball_recv,
	SEND = simhash_ball_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash_ball IS
	'all simhash values within a threshold of one';

CREATE FUNCTION near(simhash, threshold float8) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_near'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION near(simhash, float8) IS
	'all simhash values whose similarity to this one is at least the threshold';

CREATE FUNCTION hamming_ball(simhash, distance int) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(simhash, int) IS
	'all simhash values that differ from this one in at most so many symbols';

CREATE FUNCTION simhash_in_ball(simhash, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_in_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_in_ball(simhash, simhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION simhash_ball_contains(simhash_ball, simhash) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, simhash) IS
	'implementation of @> operator';

CREATE FUNCTION simhash_balls_meet(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_balls_meet'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_balls_meet(simhash_ball, simhash_ball) IS
	'implementation of && operator';

CREATE OPERATOR <@ (
	LEFTARG = simhash, RIGHTARG = simhash_ball, FUNCTION = simhash_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (simhash, simhash_ball) IS 'lies in the ball';

CREATE OPERATOR @> (
	LEFTARG = simhash_ball, RIGHTARG = simhash, FUNCTION = simhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (simhash_ball, simhash) IS 'holds the signature';

CREATE OPERATOR && (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_balls_meet,
	COMMUTATOR = &&,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR && (simhash_ball, simhash_ball) IS 'each ball holds the centre of the other';

-- ---- Order ------------------------------------------------------------------

CREATE FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_eq'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_eq(simhash_ball, simhash_ball) IS
	'implementation of = operator';

CREATE FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ne'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ne(simhash_ball, simhash_ball) IS
	'implementation of <> operator';

CREATE FUNCTION simhash_ball_lt(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_lt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_lt(simhash_ball, simhash_ball) IS
	'implementation of < operator';

CREATE FUNCTION simhash_ball_le(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_le'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_le(simhash_ball, simhash_ball) IS
	'implementation of <= operator';

CREATE FUNCTION simhash_ball_gt(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_gt'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_gt(simhash_ball, simhash_ball) IS
	'implementation of > operator';

CREATE FUNCTION simhash_ball_ge(simhash_ball, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_ge'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_ge(simhash_ball, simhash_ball) IS
	'implementation of >= operator';

CREATE FUNCTION simhash_ball_cmp(simhash_ball, simhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_ball_cmp'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_cmp(simhash_ball, simhash_ball) IS
	'less-equal-greater';

CREATE FUNCTION simhash_ball_hash(simhash_ball) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_signature_hash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash(simhash_ball) IS
	'hash';

CREATE FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_signature_hash_extended'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_hash_extended(simhash_ball, bigint) IS
	'hash';

CREATE OPERATOR = (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_eq,
	COMMUTATOR = =, NEGATOR = <>,
	RESTRICT = eqsel, JOIN = eqjoinsel,
	HASHES, MERGES
);
COMMENT ON OPERATOR = (simhash_ball, simhash_ball) IS 'equal';

CREATE OPERATOR <> (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ne,
	COMMUTATOR = <>, NEGATOR = =,
	RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (simhash_ball, simhash_ball) IS 'not equal';

CREATE OPERATOR < (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_lt,
	COMMUTATOR = >, NEGATOR = >=,
	RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (simhash_ball, simhash_ball) IS 'less than';

CREATE OPERATOR <= (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_le,
	COMMUTATOR = >=, NEGATOR = >,
	RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (simhash_ball, simhash_ball) IS 'less than or equal';

CREATE OPERATOR > (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_gt,
	COMMUTATOR = <, NEGATOR = <=,
	RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (simhash_ball, simhash_ball) IS 'greater than';

CREATE OPERATOR >= (
	LEFTARG = simhash_ball, RIGHTARG = simhash_ball, FUNCTION = simhash_ball_ge,
	COMMUTATOR = <=, NEGATOR = <,
	RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (simhash_ball, simhash_ball) IS 'greater than or equal';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING btree AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 simhash_ball_cmp(simhash_ball, simhash_ball);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING btree IS 'total order of all simhash_ball values';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING btree IS 'total order of all simhash_ball values';

CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball USING hash AS
	OPERATOR 1 =,
	FUNCTION 1 simhash_ball_hash(simhash_ball),
	FUNCTION 2 simhash_ball_hash_extended(simhash_ball, bigint);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING hash IS 'equality of simhash_ball values';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING hash IS 'equality of simhash_ball values';

-- ---- bit and bigint: hashes made elsewhere ----------------------------------

CREATE FUNCTION hamming_ball(bit, distance int) RETURNS minhash_ball
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bit, int) IS
	'all values in which at most so many bits differ from one';

CREATE FUNCTION bit_in_ball(bit, minhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_bit_in_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_in_ball(bit, minhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION minhash_ball_contains(minhash_ball, bit) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_contains(minhash_ball, bit) IS
	'implementation of @> operator';

CREATE OPERATOR <@ (
	LEFTARG = bit, RIGHTARG = minhash_ball, FUNCTION = bit_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bit, minhash_ball) IS 'lies in the ball';

CREATE OPERATOR @> (
	LEFTARG = minhash_ball, RIGHTARG = bit, FUNCTION = minhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (minhash_ball, bit) IS 'holds the value';

CREATE FUNCTION hamming_ball(bigint, distance int) RETURNS simhash_ball
	AS 'MODULE_PATHNAME', 'neardup_int8_hamming_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_ball(bigint, int) IS
	'all values in which at most so many bits differ from one';

CREATE FUNCTION bigint_in_ball(bigint, simhash_ball) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_int8_in_ball'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_in_ball(bigint, simhash_ball) IS
	'implementation of <@ operator';

CREATE FUNCTION simhash_ball_contains(simhash_ball, bigint) RETURNS boolean
	AS 'MODULE_PATHNAME', 'neardup_ball_contains_int8'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_contains(simhash_ball, bigint) IS
	'implementation of @> operator';

CREATE OPERATOR <@ (
	LEFTARG = bigint, RIGHTARG = simhash_ball, FUNCTION = bigint_in_ball,
	COMMUTATOR = @>,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR <@ (bigint, simhash_ball) IS 'lies in the ball';

CREATE OPERATOR @> (
	LEFTARG = simhash_ball, RIGHTARG = bigint, FUNCTION = simhash_ball_contains,
	COMMUTATOR = <@,
	RESTRICT = neardup_ball_sel, JOIN = neardup_ball_joinsel
);
COMMENT ON OPERATOR @> (simhash_ball, bigint) IS 'holds the value';

-- ---- Keys: what indexes on balls are on ---------------------------------------

CREATE TYPE minhash_ball_key;

CREATE FUNCTION minhash_ball_key_in(cstring) RETURNS minhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_in(cstring) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_out(minhash_ball_key) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_key_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_out(minhash_ball_key) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_recv(internal) RETURNS minhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_recv(internal) IS
	'I/O';

CREATE FUNCTION minhash_ball_key_send(minhash_ball_key) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_ball_key_send(minhash_ball_key) IS
	'I/O';

CREATE TYPE minhash_ball_key (
	INPUT = minhash_ball_key_in,
	OUTPUT = minhash_ball_key_out,
	RECEIVE = minhash_ball_key_recv,
	SEND = minhash_ball_key_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE minhash_ball_key IS
	'a minhash_ball as the index on it takes it, printed short; not for columns';

CREATE CAST (minhash_ball AS minhash_ball_key) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (minhash_ball AS minhash_ball_key) IS
	'for indexes on balls';

CREATE TYPE simhash_ball_key;

CREATE FUNCTION simhash_ball_key_in(cstring) RETURNS simhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_in(cstring) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_out(simhash_ball_key) RETURNS cstring
	AS 'MODULE_PATHNAME', 'neardup_ball_key_out'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_out(simhash_ball_key) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_recv(internal) RETURNS simhash_ball_key
	AS 'MODULE_PATHNAME', 'neardup_ball_key_in'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_recv(internal) IS
	'I/O';

CREATE FUNCTION simhash_ball_key_send(simhash_ball_key) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_ball_send'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_ball_key_send(simhash_ball_key) IS
	'I/O';

CREATE TYPE simhash_ball_key (
	INPUT = simhash_ball_key_in,
	OUTPUT = simhash_ball_key_out,
	RECEIVE = simhash_ball_key_recv,
	SEND = simhash_ball_key_send,
	INTERNALLENGTH = VARIABLE,
	ALIGNMENT = int4,
	STORAGE = external
);
COMMENT ON TYPE simhash_ball_key IS
	'a simhash_ball as the index on it takes it, printed short; not for columns';

CREATE CAST (simhash_ball AS simhash_ball_key) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (simhash_ball AS simhash_ball_key) IS
	'for indexes on balls';
-- Standard error, bands of symbols, and the S-curve that they give.

CREATE FUNCTION minhash_error(k int, b int, similarity float8) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_minhash_error'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_error(int, int, float8) IS
	'standard error of the similarity that minhash(k, b) estimates, where the true one is given';

CREATE FUNCTION minhash_bands(minhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_bands(minhash, int) IS
	'a key for each band of so many symbols; equal keys make a join';

CREATE FUNCTION simhash_bands(simhash, rows int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bands'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_bands(simhash, int) IS
	'a key for each band of so many bits; equal keys make a join';

CREATE FUNCTION lsh_probability(similarity float8, bands int, rows int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_lsh_probability'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_probability(float8, int, int) IS
	'probability that a pair of this similarity shares a band';

CREATE FUNCTION lsh_curve(
	bands int, rows int,
	OUT similarity float8, OUT probability float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_lsh_curve'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 21;
COMMENT ON FUNCTION lsh_curve(int, int) IS
	'probability that a pair shares a band, for similarities 0, 0.05 to 1';

CREATE FUNCTION lsh_parameters(
	threshold float8, k int, recall float8,
	OUT bands int, OUT rows int, OUT probability float8) RETURNS record
	AS 'MODULE_PATHNAME', 'neardup_lsh_parameters'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lsh_parameters(float8, int, float8) IS
	'the longest bands of k symbols that find a pair of the threshold with this probability';
-- Edit distance and longest common substring of two texts.

CREATE FUNCTION edit_distance(
	a text, b text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION edit_distance(text, text, int, int, int, int) IS
	'least cost of insertions, deletions and substitutions of characters that make the second text of the first; max + 1 where it is above max';

CREATE FUNCTION token_edit_distance(
	a text, b text, max int DEFAULT NULL,
	insertion int DEFAULT 1, deletion int DEFAULT 1, substitution int DEFAULT 1) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_token_edit_distance'
	LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION token_edit_distance(text, text, int, int, int, int) IS
	'edit distance that counts normalised tokens instead of characters';

CREATE FUNCTION edit_similarity(a text, b text) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_edit_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION edit_similarity(text, text) IS
	'1 - edit distance / length of the longer text in characters, 0 to 1';

CREATE FUNCTION token_edit_similarity(a text, b text) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_token_edit_similarity'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION token_edit_similarity(text, text) IS
	'1 - edit distance / length of the longer text, both in normalised tokens, 0 to 1';

CREATE FUNCTION longest_common_substring(a text, b text) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_longest_common_substring'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION longest_common_substring(text, text) IS
	'the longest run of characters that occurs in both texts; of several, the first in the first text';

CREATE FUNCTION longest_common_share(a text, b text) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_longest_common_share'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION longest_common_share(text, text) IS
	'length of the longest common substring over that of the shorter text, 0 to 1';
-- Samples and sketches of sets, as the literature has them.

CREATE FUNCTION shingles_mod(shingles, m int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_mod'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_mod(shingles, int) IS
	'about one in m of the shingles, the same ones of every set: keeps resemblance and containment estimable';

CREATE FUNCTION shingles_bottom(shingles, n int) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_shingles_bottom'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION shingles_bottom(shingles, int) IS
	'the n shingles that come first in a random order, the same for every set: for bottom_resemblance';

CREATE FUNCTION bottom_resemblance(shingles, shingles, n int) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_bottom_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bottom_resemblance(shingles, shingles, int) IS
	'the resemblance of two sets, estimated from their shingles_bottom of n or more, 0 to 1';

CREATE FUNCTION shingles_minima(shingles, m int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_shingles_minima'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION shingles_minima(shingles, int) IS
	'the least value under each of m independent permutations: the textbook''s minhash, for sketch_resemblance';

CREATE FUNCTION sketch_resemblance(bigint[], bigint[]) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_sketch_resemblance'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sketch_resemblance(bigint[], bigint[]) IS
	'share of the places where two sketches have the same value, 0 to 1';

CREATE FUNCTION permutation_sketch(elements int[], permutations int[][]) RETURNS int[]
	AS 'MODULE_PATHNAME', 'neardup_permutation_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION permutation_sketch(int[], int[][]) IS
	'the least place of any element under each permutation written out: row i says where permutation i sends 1, 2, 3, ...';

CREATE FUNCTION supershingles(shingles, width int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_supershingles'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION supershingles(shingles, int) IS
	'a hash of each run of so many neighbours among the sorted shingles: shingles of shingles';

CREATE FUNCTION bucket_sketch(shingles, n int) RETURNS bigint[]
	AS 'MODULE_PATHNAME', 'neardup_bucket_sketch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION bucket_sketch(shingles, int) IS
	'the shingles, thrown into n buckets, of which each keeps its least';
-- How many documents have a shingle, and what follows from it: I-Match and TF-IDF.

CREATE FUNCTION shingle_frequencies(
	query text,
	OUT shingle bigint, OUT df bigint, OUT idf float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_shingle_frequencies'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 100000;
COMMENT ON FUNCTION shingle_frequencies(text) IS
	'in how many of the sets that a query returns each shingle is, and its idf = ln(N / df) / ln(N), 0 to 1';

CREATE FUNCTION idf_filter(shingles, lexicon regclass, low float8, high float8) RETURNS shingles
	AS 'MODULE_PATHNAME', 'neardup_idf_filter'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION idf_filter(shingles, regclass, float8, float8) IS
	'the shingles whose idf in a table (shingle, idf) is from low to high';

CREATE FUNCTION tfidf_cosine(shingles, shingles, lexicon regclass) RETURNS float8
	AS 'MODULE_PATHNAME', 'neardup_tfidf_cosine'
	LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION tfidf_cosine(shingles, shingles, regclass) IS
	'cosine of two vectors of frequency times idf, as a table (shingle, idf) has it, 0 to 1';

CREATE FUNCTION imatch(shingles) RETURNS bytea
	AS 'MODULE_PATHNAME', 'neardup_imatch'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION imatch(shingles) IS
	'128-bit digest of the distinct shingles, equal for equal sets; NULL for the empty set';
-- The text of HTML and XML documents.

CREATE FUNCTION strip_markup(text) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_strip_markup'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION strip_markup(text) IS
	'the text of an HTML or XML document: without tags, comments, scripts and styles, with entities decoded';
-- The index: CREATE INDEX ... USING neardup.

-- ---- Access method ----------------------------------------------------------

CREATE FUNCTION neardup_handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME', 'neardup_handler'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_handler(internal) IS
	'neardup index access method handler';

CREATE ACCESS METHOD neardup TYPE INDEX HANDLER neardup_handler;
COMMENT ON ACCESS METHOD neardup IS
	'index of signatures by similarity; exact';

-- ---- Operator classes -------------------------------------------------------
--
-- Function 1 hands the index the signature that a value is.

CREATE FUNCTION minhash_signature(minhash, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_signature_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_signature(minhash, internal) IS
	'neardup index support';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING neardup AS
	OPERATOR 1 <@ (minhash, minhash_ball),
	OPERATOR 2 <-> (minhash, minhash) FOR ORDER BY float_ops,
	OPERATOR 3 <~> (minhash, minhash) FOR ORDER BY integer_ops,
	FUNCTION 1 minhash_signature(minhash, internal);
COMMENT ON OPERATOR CLASS minhash_ops USING neardup IS 'signatures by similarity';
COMMENT ON OPERATOR FAMILY minhash_ops USING neardup IS 'signatures by similarity';

CREATE FUNCTION simhash_signature(simhash, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_signature_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_signature(simhash, internal) IS
	'neardup index support';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING neardup AS
	OPERATOR 1 <@ (simhash, simhash_ball),
	OPERATOR 2 <-> (simhash, simhash) FOR ORDER BY float_ops,
	OPERATOR 3 <~> (simhash, simhash) FOR ORDER BY integer_ops,
	FUNCTION 1 simhash_signature(simhash, internal);
COMMENT ON OPERATOR CLASS simhash_ops USING neardup IS 'fingerprints by similarity';
COMMENT ON OPERATOR FAMILY simhash_ops USING neardup IS 'fingerprints by similarity';

CREATE FUNCTION bit_signature(bit, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_bit_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_signature(bit, internal) IS
	'neardup index support';

CREATE OPERATOR CLASS bit_hamming_ops DEFAULT FOR TYPE bit USING neardup AS
	OPERATOR 1 <@ (bit, minhash_ball),
	FUNCTION 1 bit_signature(bit, internal);
COMMENT ON OPERATOR CLASS bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';

CREATE FUNCTION bigint_signature(bigint, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_int8_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_signature(bigint, internal) IS
	'neardup index support';

CREATE OPERATOR CLASS bigint_hamming_ops DEFAULT FOR TYPE bigint USING neardup AS
	OPERATOR 1 <@ (bigint, simhash_ball),
	FUNCTION 1 bigint_signature(bigint, internal);
COMMENT ON OPERATOR CLASS bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';

-- ---- Balls, for exclusion constraints ---------------------------------------

CREATE FUNCTION ball_signature(minhash_ball, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_ball_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_signature(minhash_ball, internal) IS
	'neardup index support';

CREATE FUNCTION ball_signature(minhash_ball_key, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_ball_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_signature(minhash_ball_key, internal) IS
	'neardup index support';

-- Errors show a key as the class's type prints it.
CREATE OPERATOR CLASS minhash_ball_ops DEFAULT FOR TYPE minhash_ball_key USING neardup AS
	OPERATOR 4 && (minhash_ball, minhash_ball),
	FUNCTION 1 (minhash_ball, minhash_ball) ball_signature(minhash_ball, internal),
	FUNCTION 1 ball_signature(minhash_ball_key, internal);
COMMENT ON OPERATOR CLASS minhash_ball_ops USING neardup IS
	'balls around signatures, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';
COMMENT ON OPERATOR FAMILY minhash_ball_ops USING neardup IS
	'balls around signatures, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';

CREATE FUNCTION ball_signature(simhash_ball, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_ball_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_signature(simhash_ball, internal) IS
	'neardup index support';

CREATE FUNCTION ball_signature(simhash_ball_key, internal) RETURNS void
	AS 'MODULE_PATHNAME', 'neardup_ball_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_signature(simhash_ball_key, internal) IS
	'neardup index support';

-- Errors show a key as the class's type prints it.
CREATE OPERATOR CLASS simhash_ball_ops DEFAULT FOR TYPE simhash_ball_key USING neardup AS
	OPERATOR 4 && (simhash_ball, simhash_ball),
	FUNCTION 1 (simhash_ball, simhash_ball) ball_signature(simhash_ball, internal),
	FUNCTION 1 ball_signature(simhash_ball_key, internal);
COMMENT ON OPERATOR CLASS simhash_ball_ops USING neardup IS
	'balls around fingerprints, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';
COMMENT ON OPERATOR FAMILY simhash_ball_ops USING neardup IS
	'balls around fingerprints, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';
-- Looking into an index: what it is made of, whether it is sound, what a search does.

CREATE FUNCTION neardup_index_info(index regclass,
		OUT segments int, OUT documents bigint, OUT dead bigint, OUT tail bigint, OUT bytes bigint)
	AS 'MODULE_PATHNAME', 'neardup_index_info'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_index_info(regclass) IS
	'segments, documents, dead ones among them, those in the tail, and bytes of a neardup index';
REVOKE ALL ON FUNCTION neardup_index_info(regclass) FROM PUBLIC;

CREATE FUNCTION neardup_check(index regclass) RETURNS text
	AS 'MODULE_PATHNAME', 'neardup_check'
	LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_check(regclass) IS
	'verify a neardup index against itself and its table: an error at the first defect, else counts';
REVOKE ALL ON FUNCTION neardup_check(regclass) FROM PUBLIC;

-- One row a segment, and one for the tails.

CREATE FUNCTION neardup_explain(index regclass, ball minhash_ball,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, minhash_ball) IS
	'how a neardup index is searched for a ball: plan, price and what it cost, by segment';
REVOKE ALL ON FUNCTION neardup_explain(regclass, minhash_ball) FROM PUBLIC;

CREATE FUNCTION neardup_explain(index regclass, ball simhash_ball,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, simhash_ball) IS
	'how a neardup index is searched for a ball: plan, price and what it cost, by segment';
REVOKE ALL ON FUNCTION neardup_explain(regclass, simhash_ball) FROM PUBLIC;

CREATE FUNCTION neardup_explain(index regclass, query minhash, threshold float8,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain_threshold'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, minhash, float8) IS
	'how a neardup index is searched for what is similar: plan, price and what it cost, by segment';
REVOKE ALL ON FUNCTION neardup_explain(regclass, minhash, float8) FROM PUBLIC;

CREATE FUNCTION neardup_explain(index regclass, query simhash, threshold float8,
		OUT segment int, OUT documents bigint,
		OUT method text, OUT groups int, OUT radius int, OUT hits int,
		OUT planned_postings float8, OUT planned_candidates float8, OUT planned_us float8,
		OUT postings bigint, OUT candidates bigint, OUT pages bigint, OUT us float8,
		OUT matches bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_explain_threshold'
	LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION neardup_explain(regclass, simhash, float8) IS
	'how a neardup index is searched for what is similar: plan, price and what it cost, by segment';
REVOKE ALL ON FUNCTION neardup_explain(regclass, simhash, float8) FROM PUBLIC;
-- The whole table at once: pairs and clusters of near-duplicates.

CREATE FUNCTION neardup_pairs(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, equal text DEFAULT 'first', verify float8 DEFAULT NULL,
		recall float8 DEFAULT 1.0,
		OUT a bigint, OUT b bigint, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, boolean, text, text, float8, float8) IS
	'all pairs of near-duplicates among the rows (id bigint, signature) of a query';

CREATE FUNCTION neardup_pairs(query text, threshold float8, witness anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, equal text DEFAULT 'first',
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0,
		OUT a anyelement, OUT b anyelement, OUT similarity float8) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_pairs_of_type'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_pairs(text, float8, anyelement, boolean, text, text, float8, float8) IS
	'all pairs of near-duplicates among the rows (id, signature) of a query, with ids of the type of the third argument';

CREATE FUNCTION neardup_clusters(query text, threshold float8, multiset boolean DEFAULT false,
		against text DEFAULT NULL, method text DEFAULT 'star', nearest boolean DEFAULT false,
		verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0,
		OUT id bigint, OUT keeper bigint, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, boolean, text, text, boolean, float8, float8) IS
	'clusters of near-duplicates among the rows (id bigint, signature) of a query: each row with the one to keep';

CREATE FUNCTION neardup_clusters(query text, threshold float8, witness anyelement,
		multiset boolean DEFAULT false, against text DEFAULT NULL, method text DEFAULT 'star',
		nearest boolean DEFAULT false, verify float8 DEFAULT NULL, recall float8 DEFAULT 1.0,
		OUT id anyelement, OUT keeper anyelement, OUT similarity float8, OUT size bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_clusters_of_type'
	LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION neardup_clusters(text, float8, anyelement, boolean, text, text, boolean, float8, float8) IS
	'clusters of near-duplicates among the rows (id, signature) of a query, with ids of the type of the third argument';

-- What runs at the moment, as the views pg_stat_progress_* tell it of commands.

CREATE FUNCTION neardup_progress(OUT pid int, OUT phase text, OUT rows_read bigint,
		OUT groups_done bigint, OUT groups_total bigint, OUT pairs_found bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_progress'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_progress() IS
	'how far the running neardup_pairs() and neardup_clusters() of all sessions are, as far as the caller may see them';

-- What the last call did.

CREATE FUNCTION neardup_join_stats(OUT rows_read bigint, OUT signatures bigint, OUT joins bigint,
		OUT groups int, OUT radius int, OUT raised int, OUT partitions bigint,
		OUT candidates bigint, OUT pruned_by_length bigint, OUT pruned_by_frequency bigint,
		OUT compared bigint, OUT pairs bigint, OUT workers int) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'neardup_join_stats'
	LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION neardup_join_stats() IS
	'how many comparisons the last neardup_pairs() or neardup_clusters() of this session did, and how many it was spared';
-- Refusing near-duplicates row by row.

CREATE FUNCTION neardup_reject() RETURNS trigger
	AS 'MODULE_PATHNAME', 'neardup_reject'
	LANGUAGE C VOLATILE;
COMMENT ON FUNCTION neardup_reject() IS
	'trigger (column, threshold, options): refuses a row whose signature is similar to that of another, or tells, or records it';
