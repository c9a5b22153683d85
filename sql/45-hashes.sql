-- Hashes made elsewhere, in columns of bigint and bit(n): ways in, and their distance.
--
-- is_within() on them is in 40-distance.sql, hamming_ball() in 50-balls.sql.

-- ---- Ways in ----------------------------------------------------------------
--
-- They refuse a value by a cast that fails: its error shows the reason, then the value.

CREATE FUNCTION hex_to_bigint(pg_catalog.text) RETURNS bigint
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	RETURN CASE WHEN $1 OPERATOR(pg_catalog.~) '^(0[xX])?[0-9A-Fa-f]{1,16}$'
		THEN ('x' OPERATOR(pg_catalog.||) pg_catalog.lpad(pg_catalog.regexp_replace($1, '^0[xX]', ''), 16, '0'))::bit(64)::bigint
		ELSE ('not 1 to 16 hexadecimal digits: ' OPERATOR(pg_catalog.||) $1)::bigint END;
COMMENT ON FUNCTION hex_to_bigint(pg_catalog.text) IS
	'the bits of 1 to 16 hexadecimal digits, as a bigint';

CREATE FUNCTION hex_to_bit(pg_catalog.text) RETURNS bit
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	RETURN CASE WHEN $1 OPERATOR(pg_catalog.~) '^(0[xX])?[0-9A-Fa-f]+$'
		THEN ('x' OPERATOR(pg_catalog.||) pg_catalog.regexp_replace($1, '^0[xX]', ''))::pg_catalog.varbit
		ELSE ('not hexadecimal digits: ' OPERATOR(pg_catalog.||) $1)::bigint::bit(64) END;
COMMENT ON FUNCTION hex_to_bit(pg_catalog.text) IS
	'the bits of hexadecimal digits, four for each digit';

CREATE FUNCTION unsigned_to_bigint(numeric) RETURNS bigint
	LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
	RETURN CASE WHEN $1 OPERATOR(pg_catalog.<>) pg_catalog.trunc($1)
			OR $1 OPERATOR(pg_catalog.<) 0 OR $1 OPERATOR(pg_catalog.>) 18446744073709551615
		THEN pg_catalog.format('not a whole number from 0 to 18446744073709551615: %s', $1)::bigint
		WHEN $1 OPERATOR(pg_catalog.>) 9223372036854775807
		THEN ($1 OPERATOR(pg_catalog.-) 18446744073709551616)::bigint
		ELSE $1::bigint END;
COMMENT ON FUNCTION unsigned_to_bigint(numeric) IS
	'the bigint with the 64 bits of an unsigned number';

-- ---- Distance ---------------------------------------------------------------

-- ORDER BY phash <~> q::simhash or, for a bit(n), q::minhash uses an index.

CREATE FUNCTION bigint_hamming_distance(bigint, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bigint_hamming_distance_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_hamming_distance(bigint, simhash) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bigint, RIGHTARG = simhash, FUNCTION = bigint_hamming_distance
);
COMMENT ON OPERATOR <~> (bigint, simhash) IS 'number of bits that differ';

CREATE FUNCTION bit_hamming_distance(bit, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_distance_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_hamming_distance(bit, minhash) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bit, RIGHTARG = minhash, FUNCTION = bit_hamming_distance
);
COMMENT ON OPERATOR <~> (bit, minhash) IS 'number of bits that differ';
