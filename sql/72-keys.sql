-- Keys: columns beside the signature, for WHERE tenant = 7 within the index.
--
-- A class has the equality of its type.  The index hashes keys by the hash function of that
-- operator's default hash operator class.  A bigint is a signature by default, and a key
-- beside another signature.

CREATE OPERATOR FAMILY integer_key_ops USING neardup;
CREATE OPERATOR FAMILY float_key_ops USING neardup;

CREATE OPERATOR CLASS boolean_key_ops DEFAULT FOR TYPE boolean USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS char_key_ops DEFAULT FOR TYPE "char" USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS smallint_key_ops DEFAULT FOR TYPE smallint USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS integer_key_ops DEFAULT FOR TYPE integer USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS bigint_key_ops FOR TYPE bigint USING neardup FAMILY integer_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS oid_key_ops DEFAULT FOR TYPE oid USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS numeric_key_ops DEFAULT FOR TYPE numeric USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS real_key_ops DEFAULT FOR TYPE real USING neardup FAMILY float_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS double_precision_key_ops DEFAULT FOR TYPE double precision USING neardup FAMILY float_key_ops AS OPERATOR 5 =;
CREATE OPERATOR CLASS text_key_ops DEFAULT FOR TYPE text USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS character_key_ops DEFAULT FOR TYPE character USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS name_key_ops DEFAULT FOR TYPE name USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS bytea_key_ops DEFAULT FOR TYPE bytea USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS uuid_key_ops DEFAULT FOR TYPE uuid USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS date_key_ops DEFAULT FOR TYPE date USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS time_key_ops DEFAULT FOR TYPE time USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timetz_key_ops DEFAULT FOR TYPE timetz USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timestamp_key_ops DEFAULT FOR TYPE timestamp USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS timestamptz_key_ops DEFAULT FOR TYPE timestamptz USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS interval_key_ops DEFAULT FOR TYPE interval USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS inet_key_ops DEFAULT FOR TYPE inet USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS macaddr_key_ops DEFAULT FOR TYPE macaddr USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS macaddr8_key_ops DEFAULT FOR TYPE macaddr8 USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS jsonb_key_ops DEFAULT FOR TYPE jsonb USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS enum_key_ops DEFAULT FOR TYPE anyenum USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS array_key_ops DEFAULT FOR TYPE anyarray USING neardup AS OPERATOR 5 =;
CREATE OPERATOR CLASS range_key_ops DEFAULT FOR TYPE anyrange USING neardup AS OPERATOR 5 =;

-- Columns and values of different types.
ALTER OPERATOR FAMILY integer_key_ops USING neardup ADD
	OPERATOR 5 = (smallint, integer),
	OPERATOR 5 = (smallint, bigint),
	OPERATOR 5 = (integer, smallint),
	OPERATOR 5 = (integer, bigint),
	OPERATOR 5 = (bigint, smallint),
	OPERATOR 5 = (bigint, integer);
ALTER OPERATOR FAMILY float_key_ops USING neardup ADD
	OPERATOR 5 = (real, double precision),
	OPERATOR 5 = (double precision, real);
ALTER OPERATOR FAMILY bigint_hamming_ops USING neardup ADD
	OPERATOR 5 = (bigint, bigint),
	OPERATOR 5 = (bigint, integer),
	OPERATOR 5 = (bigint, smallint);

COMMENT ON OPERATOR CLASS boolean_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS char_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS smallint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS integer_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bigint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS oid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS numeric_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS real_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS double_precision_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS text_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS character_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS name_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bytea_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS uuid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS date_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS time_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timetz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamp_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamptz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS interval_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS inet_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS macaddr_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS macaddr8_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS jsonb_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS enum_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS array_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS range_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY boolean_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY char_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY integer_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY oid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY numeric_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY float_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY text_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY character_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY name_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY bytea_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY uuid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY date_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY time_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timetz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timestamp_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY timestamptz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY interval_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY inet_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY macaddr_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY macaddr8_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY jsonb_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY enum_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY array_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR FAMILY range_key_ops USING neardup IS 'keys beside a signature, compared with =';
