-- The index: CREATE INDEX ... USING neardup.

-- ---- Access method ----------------------------------------------------------

CREATE FUNCTION neardup_handler(pg_catalog.internal) RETURNS pg_catalog.index_am_handler
	AS 'MODULE_PATHNAME', 'neardup_handler'
	LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION neardup_handler(pg_catalog.internal) IS
	'neardup index access method handler';

CREATE ACCESS METHOD neardup TYPE INDEX HANDLER neardup_handler;
COMMENT ON ACCESS METHOD neardup IS
	'index of signatures by similarity; exact';

-- ---- Operator classes -------------------------------------------------------
--
-- Support function 1 gives the index the signature of a value.

CREATE FUNCTION minhash_signature(minhash, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_signature_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION minhash_signature(minhash, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS minhash_ops DEFAULT FOR TYPE minhash USING neardup AS
	OPERATOR 1 <@ (minhash, ball),
	OPERATOR 2 <-> (minhash, minhash) FOR ORDER BY pg_catalog.float_ops,
	OPERATOR 3 <~> (minhash, minhash) FOR ORDER BY pg_catalog.integer_ops,
	FUNCTION 1 minhash_signature(minhash, pg_catalog.internal);
COMMENT ON OPERATOR CLASS minhash_ops USING neardup IS 'signatures by similarity';
COMMENT ON OPERATOR FAMILY minhash_ops USING neardup IS 'signatures by similarity';

CREATE FUNCTION simhash_signature(simhash, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_signature_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_signature(simhash, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS simhash_ops DEFAULT FOR TYPE simhash USING neardup AS
	OPERATOR 1 <@ (simhash, ball),
	OPERATOR 2 <-> (simhash, simhash) FOR ORDER BY pg_catalog.float_ops,
	OPERATOR 3 <~> (simhash, simhash) FOR ORDER BY pg_catalog.integer_ops,
	FUNCTION 1 simhash_signature(simhash, pg_catalog.internal);
COMMENT ON OPERATOR CLASS simhash_ops USING neardup IS 'fingerprints by similarity';
COMMENT ON OPERATOR FAMILY simhash_ops USING neardup IS 'fingerprints by similarity';

CREATE FUNCTION bit_signature(bit, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_bit_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bit_signature(bit, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS bit_hamming_ops DEFAULT FOR TYPE bit USING neardup AS
	OPERATOR 1 <@ (bit, ball),
	FUNCTION 1 bit_signature(bit, pg_catalog.internal);
COMMENT ON OPERATOR CLASS bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bit_hamming_ops USING neardup IS 'hashes made elsewhere, by the number of bits that differ';

ALTER OPERATOR FAMILY bit_hamming_ops USING neardup ADD
	OPERATOR 3 <~> (bit, minhash) FOR ORDER BY pg_catalog.integer_ops;

CREATE FUNCTION bigint_signature(bigint, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_bigint_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bigint_signature(bigint, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS bigint_hamming_ops DEFAULT FOR TYPE bigint USING neardup AS
	OPERATOR 1 <@ (bigint, ball),
	FUNCTION 1 bigint_signature(bigint, pg_catalog.internal);
COMMENT ON OPERATOR CLASS bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';
COMMENT ON OPERATOR FAMILY bigint_hamming_ops USING neardup IS 'hashes of 64 bits made elsewhere, by the number of bits that differ';

ALTER OPERATOR FAMILY bigint_hamming_ops USING neardup ADD
	OPERATOR 3 <~> (bigint, simhash) FOR ORDER BY pg_catalog.integer_ops;

CREATE FUNCTION shingles_signature(shingles, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_shingles_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION shingles_signature(shingles, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS shingles_ops DEFAULT FOR TYPE shingles USING neardup AS
	OPERATOR 1 <@ (shingles, ball),
	OPERATOR 2 <-> (shingles, shingles) FOR ORDER BY pg_catalog.float_ops,
	FUNCTION 1 shingles_signature(shingles, pg_catalog.internal);
COMMENT ON OPERATOR CLASS shingles_ops USING neardup IS 'sets, exactly';
COMMENT ON OPERATOR FAMILY shingles_ops USING neardup IS 'sets, exactly';

-- ---- Balls, for exclusion constraints ---------------------------------------

CREATE FUNCTION ball_signature(ball, pg_catalog.internal) RETURNS pg_catalog.void
	AS 'MODULE_PATHNAME', 'neardup_ball_signature'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION ball_signature(ball, pg_catalog.internal) IS
	'neardup index support';

CREATE OPERATOR CLASS ball_ops DEFAULT FOR TYPE ball USING neardup AS
	OPERATOR 4 && (ball, ball),
	FUNCTION 1 ball_signature(ball, pg_catalog.internal);
COMMENT ON OPERATOR CLASS ball_ops USING neardup IS
	'balls around signatures, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';
COMMENT ON OPERATOR FAMILY ball_ops USING neardup IS
	'balls around signatures, for EXCLUDE USING neardup (near(sig, 0.9) WITH &&)';
