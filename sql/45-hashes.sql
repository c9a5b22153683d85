-- Hashes made elsewhere, in columns of bigint and bit(n): ways in, and their distance.
--
-- hamming_within() on them is in 40-distance.sql, hamming_ball() in 50-balls.sql.

-- ---- Ways in ----------------------------------------------------------------

CREATE FUNCTION hex_to_bigint(text) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_hex_to_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hex_to_bigint(text) IS
	'the bits of 1 to 16 hexadecimal digits, as a bigint';

CREATE FUNCTION hex_to_bit(text) RETURNS bit
	AS 'MODULE_PATHNAME', 'neardup_hex_to_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hex_to_bit(text) IS
	'the bits of hexadecimal digits, four for each digit';

CREATE FUNCTION unsigned_to_bigint(numeric) RETURNS bigint
	AS 'MODULE_PATHNAME', 'neardup_unsigned_to_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION unsigned_to_bigint(numeric) IS
	'the bigint with the 64 bits of an unsigned number';

-- ---- A value to order by -----------------------------------------------------

CREATE FUNCTION as_hash(bigint) RETURNS simhash
	AS 'MODULE_PATHNAME', 'neardup_as_hash_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION as_hash(bigint) IS
	'a hash to measure distances from, as in ORDER BY phash <~> as_hash(q)';

CREATE FUNCTION as_hash(bit) RETURNS minhash
	AS 'MODULE_PATHNAME', 'neardup_as_hash_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION as_hash(bit) IS
	'a hash to measure distances from, as in ORDER BY phash <~> as_hash(q)';

-- ---- Distance ---------------------------------------------------------------

CREATE FUNCTION bigint_hamming_distance(bigint, simhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bigint_hamming_distance_bigint'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_hamming_distance(bigint, simhash) IS
	'implementation of <~> operator';

CREATE FUNCTION bigint_hamming_distance(simhash, bigint) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bigint_hamming_distance_simhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_hamming_distance(simhash, bigint) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bigint, RIGHTARG = simhash, FUNCTION = bigint_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bigint, simhash) IS 'number of bits that differ';

CREATE OPERATOR <~> (
	LEFTARG = simhash, RIGHTARG = bigint, FUNCTION = bigint_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (simhash, bigint) IS 'number of bits that differ';

CREATE FUNCTION bit_hamming_distance(bit, minhash) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_distance_bit'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_hamming_distance(bit, minhash) IS
	'implementation of <~> operator';

CREATE FUNCTION bit_hamming_distance(minhash, bit) RETURNS int
	AS 'MODULE_PATHNAME', 'neardup_bit_hamming_distance_minhash'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_hamming_distance(minhash, bit) IS
	'implementation of <~> operator';

CREATE OPERATOR <~> (
	LEFTARG = bit, RIGHTARG = minhash, FUNCTION = bit_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (bit, minhash) IS 'number of bits that differ';

CREATE OPERATOR <~> (
	LEFTARG = minhash, RIGHTARG = bit, FUNCTION = bit_hamming_distance,
	COMMUTATOR = <~>
);
COMMENT ON OPERATOR <~> (minhash, bit) IS 'number of bits that differ';
