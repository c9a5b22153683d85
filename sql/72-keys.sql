-- Keys: columns beside the signature, for WHERE tenant = 7 within the index.
--
-- A class has the equality of its type.  The index hashes keys by the hash function of that
-- operator's default hash operator class.  A bigint is a signature by default, and a key
-- beside another signature.  Whoever has keys of another type adds a class to the family.

CREATE OPERATOR FAMILY key_ops USING neardup;
COMMENT ON OPERATOR FAMILY key_ops USING neardup IS 'keys beside a signature, compared with =';

CREATE OPERATOR CLASS boolean_key_ops DEFAULT FOR TYPE boolean USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS smallint_key_ops DEFAULT FOR TYPE smallint USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS integer_key_ops DEFAULT FOR TYPE integer USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS bigint_key_ops FOR TYPE bigint USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS numeric_key_ops DEFAULT FOR TYPE numeric USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS text_key_ops DEFAULT FOR TYPE pg_catalog.text USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS character_key_ops DEFAULT FOR TYPE character USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS bytea_key_ops DEFAULT FOR TYPE pg_catalog.bytea USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS uuid_key_ops DEFAULT FOR TYPE pg_catalog.uuid USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS date_key_ops DEFAULT FOR TYPE pg_catalog.date USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS timestamp_key_ops DEFAULT FOR TYPE timestamp USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS timestamptz_key_ops DEFAULT FOR TYPE pg_catalog.timestamptz USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS inet_key_ops DEFAULT FOR TYPE pg_catalog.inet USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS enum_key_ops DEFAULT FOR TYPE pg_catalog.anyenum USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS array_key_ops DEFAULT FOR TYPE pg_catalog.anyarray USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;
CREATE OPERATOR CLASS range_key_ops DEFAULT FOR TYPE pg_catalog.anyrange USING neardup FAMILY key_ops AS OPERATOR 5 pg_catalog.=;

-- Columns and values of different types.
ALTER OPERATOR FAMILY key_ops USING neardup ADD
	OPERATOR 5 pg_catalog.= (smallint, integer),
	OPERATOR 5 pg_catalog.= (smallint, bigint),
	OPERATOR 5 pg_catalog.= (integer, smallint),
	OPERATOR 5 pg_catalog.= (integer, bigint),
	OPERATOR 5 pg_catalog.= (bigint, smallint),
	OPERATOR 5 pg_catalog.= (bigint, integer);
ALTER OPERATOR FAMILY bigint_hamming_ops USING neardup ADD
	OPERATOR 5 pg_catalog.= (bigint, bigint),
	OPERATOR 5 pg_catalog.= (bigint, integer),
	OPERATOR 5 pg_catalog.= (bigint, smallint);

COMMENT ON OPERATOR CLASS boolean_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS smallint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS integer_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bigint_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS numeric_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS text_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS character_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS bytea_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS uuid_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS date_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamp_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS timestamptz_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS inet_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS enum_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS array_key_ops USING neardup IS 'keys beside a signature, compared with =';
COMMENT ON OPERATOR CLASS range_key_ops USING neardup IS 'keys beside a signature, compared with =';
