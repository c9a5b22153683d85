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
