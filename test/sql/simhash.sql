-- The type simhash: constructors, text format, typmods, casts.

-- Every constructor takes a literal, a varchar, an untyped parameter and a column.
SELECT to_simhash('the quick brown fox jumps');
SELECT to_simhash('the quick brown fox jumps'::varchar) = to_simhash('the quick brown fox jumps') AS same;
PREPARE fingerprint AS SELECT to_simhash($1);
EXECUTE fingerprint('the quick brown fox jumps');
SELECT pg_typeof(to_simhash(body)), to_simhash(body, 128)
FROM (VALUES ('alpha beta'::text), ('')) AS t(body);
SELECT to_simhash(to_shingles('a b c a', 'word 1')) = to_simhash('a b c a') AS same;
SELECT to_simhash(to_shingles('a b c a b c a'), 512) = to_simhash('a b c a b c a', 512, 'word 3') AS same;
SELECT to_simhash(to_shingles('{1,2,3}'::bigint[]));
SELECT bool_and(to_simhash(body, f) = to_simhash(to_shingles(body, 'word 1'), f)) AS same
FROM (VALUES ('a a a b b c d e f g h a'::text), (repeat('x y z z ', 50000))) AS t(body),
	unnest(ARRAY[64, 128, 256, 512]) AS f;
SELECT to_simhash(to_shingles(t, w))::bit(64) = to_simhash('b a b')::bit(64) AS as_frequencies
FROM (VALUES (ARRAY['a', 'b'], ARRAY[1, 2]::float8[])) AS v(t, w);
PREPARE weighted(text[], float8[]) AS SELECT to_simhash(to_shingles($1, $2), 128);
EXECUTE weighted('{a,b}', '{0.5,0.25}');
SELECT to_simhash(to_shingles('{a}'::text[], '{0}'::float8[]));

-- NULLs
SELECT to_simhash(NULL::text) IS NULL AS a, to_simhash('x', NULL) IS NULL AS b, to_simhash(NULL::shingles) IS NULL AS c;

-- Shapes
SELECT to_simhash('x', 63);
SELECT to_simhash('x', 1024);
SELECT to_simhash('x', 64, 'hashes');
SELECT to_simhash('x', 64, 'nonsense');

-- The empty set
SELECT to_simhash(''), to_simhash(to_shingles('{}'::text[]), 128);
SELECT to_simhash('') = to_simhash('?!') AS equal, to_simhash('') = '1/word 1/64/0000000000000000' AS equal_to_zero;

-- Text form
SELECT t, t::simhash::text = t AS round_trip
FROM (VALUES ('1/word 3/64/0123456789abcdef'), ('1/foreign/64/ffffffffffffffff'), ('1/char 9/64/'),
	('1/tokens/128/00112233445566778899aabbccddeeff')) AS v(t);
CREATE FUNCTION message_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN sqlstate || ' ' || sqlerrm || coalesce(' (' || nullif(detail, '') || ')', '');
END $$;
SELECT message_of(format('SELECT %L::simhash', t)) FROM unnest(ARRAY[
	'', '1', '7/word 1/64/0123456789abcdef', '1/word 1/63/0123456789abcdef', '1/word 1/64',
	'1/word 1/64x1/0123456789abcdef', '1/word 1/64/7/0123456789abcdef', '1/word 1/64/0123456789abcde',
	'1/word 1/64/0123456789abcdeg', '1/word 1/128/0123456789abcdef', '1/verb 1/64/0123456789abcdef']) AS t;

-- Binary format
SELECT encode(simhash_send(sig), 'hex') FROM unnest(ARRAY[to_simhash('x'), to_simhash('')]) AS sig;
CREATE TABLE bytes (b bytea);
CREATE TABLE parsed (sig simhash);
CREATE FUNCTION received(hex text, target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	TRUNCATE bytes;
	INSERT INTO bytes VALUES (decode(hex, 'hex'));
	COPY bytes TO PROGRAM 'cat > neardup_test.bin' (FORMAT binary);
	EXECUTE format('TRUNCATE %I', target);
	result := message_of(format('COPY %I FROM PROGRAM %L (FORMAT binary)',
		target, 'cat neardup_test.bin; rm neardup_test.bin'));
	IF result = 'no error' THEN
		EXECUTE format('SELECT sig FROM %I', target) INTO result;
	END IF;
	RETURN result;
END $$;
SELECT received(encode(simhash_send(sig), 'hex'), 'parsed') = sig::text AS round_trip
FROM unnest(ARRAY[to_simhash('x'), to_simhash(''), to_simhash('a b', 512)]) AS sig;
SELECT sig::bytea = simhash_send(sig) AS sent, sig::bytea::simhash = sig AS same FROM unnest(ARRAY[to_simhash('x'), to_simhash('a b', 512)]) AS sig;
SELECT to_minhash('x')::bytea::simhash;
SELECT what, received(hex, 'parsed') FROM (VALUES
	('good', '0100004001010000' || '0123456789abcdef'),
	('version', '0000004001010000' || '0123456789abcdef'),
	('minhash', '0128001001030000' || '00000007' || 'abcd'),
	('counted', '0120004001010000' || '0123456789abcdef'),
	('width', '0101004001010000' || '0123456789abcdef'),
	('f', '0100003f01010000' || '0123456789abcdef'),
	('scheme', '01000040ff010000' || '0123456789abcdef'),
	('empty symbols', '0110004001010000' || '0123456789abcdef'),
	('short', '0100004001010000' || '0123456789abcd'),
	('long', '0100004001010000' || '0123456789abcdef01')) AS v(what, hex);

-- Typmods
CREATE TABLE shaped (sig simhash(128));
SELECT format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'shaped'::regclass AND attnum > 0;
INSERT INTO shaped VALUES (to_simhash('x', 128));
INSERT INTO shaped VALUES (to_simhash('x'));
INSERT INTO shaped VALUES ('1/word 1/64/0123456789abcdef');
SELECT to_simhash('x')::simhash(64) = to_simhash('x') AS same;
SELECT to_simhash('x')::simhash(128);
SELECT NULL::simhash(100);
SELECT NULL::simhash(64, 1);
SELECT received('0100004001010000' || '0123456789abcdef', 'shaped');

-- Casts
SELECT x::simhash, x::simhash::bigint = x AS same, x::bit(64)::simhash = x::simhash AS as_bits
FROM unnest(ARRAY[0, 1, -1, 9223372036854775807, -9223372036854775808, 81985529216486895]) AS x;
SELECT repeat('10', f / 2)::varbit::bit(512)::simhash FROM unnest(ARRAY[512]) AS f;
SELECT to_simhash('a b', 256)::bit(256)::simhash::bit(256) = to_simhash('a b', 256)::bit(256) AS same;
SELECT to_simhash('a b')::bit(128);
SELECT to_simhash('a b', 128)::bigint;
SELECT to_simhash('')::bigint;
SELECT to_simhash('')::bit(64);
SELECT B'1010'::simhash;
CREATE TABLE assigned (sig simhash(64));
INSERT INTO assigned VALUES (5::bigint), (5::bigint::bit(64)), ('1/foreign/64/0000000000000005');
SELECT count(*), count(DISTINCT sig) FROM assigned;
CREATE TABLE numbers (n bigint, b bit(64));
INSERT INTO numbers SELECT sig, sig FROM assigned LIMIT 1;
SELECT * FROM numbers;

DROP TABLE bytes, parsed, shaped, assigned, numbers;
DROP FUNCTION message_of, received;

-- A short text, which is not read back.
SELECT show_signature(to_simhash('a rose is a rose', 128)), show_signature(to_simhash('a rose is a rose'));
SELECT show_signature(to_simhash('a rose is a rose', 128))::simhash;
