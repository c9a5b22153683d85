-- The type minhash: constructors, text format, typmods, union, casts.

-- Every constructor takes a literal, a varchar, an untyped parameter and a column.
SELECT to_minhash('the quick brown fox jumps', 64);
SELECT to_minhash('the quick brown fox jumps'::varchar, 64)
	= to_minhash('the quick brown fox jumps', 64) AS same;
PREPARE of_text AS SELECT to_minhash($1, 64);
EXECUTE of_text('the quick brown fox jumps');
SELECT pg_typeof(to_minhash(body)), to_minhash(body, 16, 8, 'word 1')
FROM (VALUES ('alpha beta'::text), ('')) AS t(body);
SELECT to_minhash(to_shingles('{alpha,beta}'::text[]), 16, 8) = to_minhash(to_shingles(a), 16, 8) AS same
FROM (VALUES (ARRAY['beta', 'alpha', 'beta'])) AS t(a);
SELECT to_minhash(to_shingles(ARRAY['alpha', 'beta']::varchar[]), 16, 8);
SELECT to_minhash(to_shingles('{1,-2,3}'::bigint[]), 16, 8) = to_minhash(to_shingles(a), 16, 8) AS same
FROM (VALUES (ARRAY[3, 1, -2, 3]::bigint[])) AS t(a);
PREPARE of_tokens(text[]) AS SELECT to_minhash(to_shingles($1), 16, 8);
EXECUTE of_tokens('{alpha,beta}');
SELECT to_minhash(to_shingles('a b c d e f'), 64, 4) = to_minhash('a b c d e f', 64, 4) AS same;
SELECT to_minhash(to_shingles('a b c d', 'char 3'), 64) = to_minhash('a b c d', 64, 1, 'char 3') AS same;
SELECT to_minhash('a b c', k => 64, scheme => 'WORD  2') = to_minhash('a b c', 64, 1, 'word 2') AS same;
SELECT bool_and(to_minhash('a b c d', 64, 1, s) = to_minhash(to_shingles('a b c d', s), 64)) AS same
FROM unnest(ARRAY['word 1', 'word 2', 'char 2', 'word 1', 'stopword 1', '  word   1                           ']) AS s;

-- NULLs
SELECT to_minhash(NULL::text) IS NULL AS a, to_minhash('x', NULL) IS NULL AS b,
	to_minhash('x', scheme => NULL) IS NULL AS c, to_minhash(NULL::shingles) IS NULL AS d;
SELECT to_minhash(to_shingles(ARRAY['a', NULL]));
SELECT to_minhash(to_shingles(ARRAY[1, NULL]::bigint[]));
SELECT to_minhash(to_shingles('{{a,b},{c,d}}'::text[]));

-- Shapes
SELECT to_minhash('x', 15);
SELECT to_minhash('x', 16385);
SELECT to_minhash('x', 16384, 8);
SELECT to_minhash('x', 64, 3);
SELECT to_minhash('x', -1, 0);
SELECT to_minhash('x', 64, 1, 'word 0');
SELECT to_minhash('x', 64, 1, 'tokens');
SELECT to_minhash('x', 64, 1, '');
SELECT length(minhash_send(to_minhash('x', 16384, 4))) AS bytes,
	length(minhash_send(to_minhash('x', 2048, 32))) AS bytes,
	length(minhash_send(to_minhash('x', 100))) AS bytes;

-- The empty set
SELECT to_minhash('') AS text, to_minhash(to_shingles('{}'::text[]), 16) AS tokens,
	to_minhash(to_shingles('{}'::bigint[]), 100, 32) AS hashes, to_minhash(' .,; ', 16) AS separators;
SELECT to_minhash('') = to_minhash('...') AS equal, cardinality(to_minhash(''));
SELECT minhash_truncate(to_minhash('', 16, 32), 4) = to_minhash('', 16, 4) AS same;

-- Cardinality
SELECT cardinality(to_minhash('a b c a b c', 16, 1, 'word 1')), pg_typeof(cardinality(to_minhash('a')));
SELECT cardinality('1/word 3/16x1/?/abcd'::minhash);
SELECT cardinality('1/word 3/16x1/4294967295/abcd'::minhash);

-- Text form
SELECT t, t::minhash::text = t AS round_trip
FROM (VALUES ('1/word 3/16x1/7/abcd'), ('1/foreign/16x1/?/0000'), ('1/char 9/100x1/1/' || repeat('f', 25) || '0'),
	('1/tokens/16x1/0/'), ('1/hashes/16x16/3/' || repeat('01', 32))) AS v(t);
SELECT '1/WORD  3/16x1/007/ABCD'::minhash;
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
SELECT message_of(format('SELECT %L::minhash', t)) FROM unnest(ARRAY[
	'', 'x', '1', '1/', '2/word 3/16x1/7/abcd', '0/word 3/16x1/7/abcd', '99999999999999999999/word 3/16x1/7/abcd',
	'-1/word 3/16x1/7/abcd', ' 1/word 3/16x1/7/abcd',
	'1/word/16x1/7/abcd', '1/nonsense 3/16x1/7/abcd', '1/word 300/16x1/7/abcd', '1//16x1/7/abcd',
	'1/word 3', '1/word 3/16/7/abcd', '1/word 3/16x/7/abcd', '1/word 3/x1/7/abcd', '1/word 3/8x1/7/abcd',
	'1/word 3/16x3/7/abcd', '1/word 3/99999x1/7/abcd', '1/word 3/16384x32/7/abcd', '1/word 3/16x1',
	'1/word 3/16x1/7', '1/word 3/16x1//abcd', '1/word 3/16x1/x/abcd', '1/word 3/16x1/4294967296/abcd',
	'1/word 3/16x1/0/abcd', '1/word 3/16x1/7/', '1/word 3/16x1/?/', '1/word 3/16x1/7/abc', '1/word 3/16x1/7/abcde',
	'1/word 3/16x1/7/abcd ', '1/word 3/16x1/7/abcg', '1/word 3/16x1/7/ab/d', '1/word 3/20x1/7/abcdef',
	'1/word 3/16x1/7/é' || repeat('é', 100)]) AS t;

-- Binary format
CREATE TABLE signatures (id int PRIMARY KEY, sig minhash);
INSERT INTO signatures
SELECT row_number() OVER (), sig FROM unnest(ARRAY[NULL, to_minhash('a b c d e'), to_minhash(''),
	to_minhash('a b', 100), to_minhash('a b', 100, 32), to_minhash('x y z', 16384, 4), '1/foreign/16x1/?/abcd']) AS sig;
SELECT encode(minhash_send(sig), 'hex') FROM signatures WHERE id IN (4, 7);
CREATE TABLE copied (id int PRIMARY KEY, sig minhash);
COPY signatures TO PROGRAM 'cat > neardup_test.bin' (FORMAT binary);
COPY copied FROM PROGRAM 'cat neardup_test.bin; rm neardup_test.bin' (FORMAT binary);
SELECT count(*), bool_and(s.sig IS NOT DISTINCT FROM c.sig) AS same
FROM signatures s JOIN copied c USING (id);
-- A table of bytea in the binary format is read as a table of minhash.
CREATE TABLE bytes (b bytea);
CREATE TABLE parsed (sig minhash);
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
-- A cast from bytea reads the same and refuses the same.
SELECT what, received(hex, 'parsed'), nullif(message_of(format('SELECT %L::bytea::minhash', '\x' || hex)), received(hex, 'parsed')) AS cast FROM (VALUES
	('good', '0128001001030000' || '00000007' || 'abcd'),
	('empty', '0138001001030000' || '00000000' || '0000'),
	('foreign', '0108001000000000' || '00000000' || 'abcd'),
	('version', '0228001001030000' || '00000007' || 'abcd'),
	('width', '012e001001030000' || '00000007' || 'abcd'),
	('flag', '0168001001030000' || '00000007' || 'abcd'),
	('simhash', '0100004001010000' || '0123456789abcdef'),
	('k', '0128000f01030000' || '00000007' || 'abcd'),
	('scheme', '012800107f030000' || '00000007' || 'abcd'),
	('variant', '0128001001030001' || '00000007' || 'abcd'),
	('uncounted', '0108001001030000' || '00000007' || 'abcd'),
	('counted 0', '0128001001030000' || '00000000' || 'abcd'),
	('empty 7', '0138001001030000' || '00000007' || '0000'),
	('empty ?', '0118001001030000' || '00000000' || '0000'),
	('empty symbols', '0138001001030000' || '00000000' || '0001'),
	('padding', '0128001401030000' || '00000007' || 'abcdef'),
	('short', '0128001001030000' || '00000007' || 'ab'),
	('long', '0128001001030000' || '00000007' || 'abcdef'),
	('header only', '0128'),
	('nothing', '')) AS v(what, hex);

-- Typmods
CREATE TABLE shaped (sig minhash(64, 2), one minhash(128));
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'shaped'::regclass AND attnum > 0;
INSERT INTO shaped VALUES (to_minhash('x', 64, 2), to_minhash('x', 128));
INSERT INTO shaped VALUES (NULL, ('1/foreign/128x1/?/' || repeat('00', 16))::minhash);
INSERT INTO shaped(sig) VALUES (to_minhash('x', 64, 1));
INSERT INTO shaped(sig) VALUES (to_minhash('x', 128, 2));
INSERT INTO shaped(one) VALUES ('1/foreign/64x1/?/0000000000000000');
INSERT INTO shaped(one) SELECT to_minhash('x');
SELECT message_of('COPY shaped(one) FROM PROGRAM ''echo 1/foreign/64x1/?/0000000000000000''') AS copied;
SELECT to_minhash('x', 64)::minhash(64, 1) = to_minhash('x', 64) AS same;
SELECT to_minhash('x', 64)::minhash(65);
SELECT NULL::minhash(15);
SELECT NULL::minhash(64, 3);
SELECT NULL::minhash(64, 1, 1);
SELECT NULL::minhash(x);
CREATE TABLE shaped_binary (sig minhash(64));
SELECT received('0128001001030000' || '00000007' || 'abcd', 'shaped_binary');

-- Truncation
SELECT bool_and(minhash_truncate(wide, b) = to_minhash('a b c d e f', 100, b) AND
	minhash_truncate(minhash_truncate(wide, 16), least(b, 16)) = to_minhash('a b c d e f', 100, least(b, 16))) AS same
FROM to_minhash('a b c d e f', 100, 32) AS wide, unnest(ARRAY[1, 2, 4, 8, 16, 32]) AS b;
SELECT minhash_truncate(to_minhash('a', 64, 4), 8);
SELECT minhash_truncate(to_minhash('a', 64, 4), 3);
SELECT cardinality(minhash_truncate(to_minhash('a b', 64, 4, 'word 1'), 2));

-- Union: symbols of the sketch of the union, cardinality unknown.
CREATE TABLE parts AS SELECT i, 'document ' || i || ' of a few words ' || i % 7 || ' and ' || i % 3 AS body
FROM generate_series(1, 60) AS i;
SELECT minhash_union(to_minhash(a, 64, 32), to_minhash(b, 64, 32))::bigint[]
	= to_minhash(a | b, 64, 32)::bigint[] AS same
FROM to_shingles('one two three four five') AS a, to_shingles('three four five six') AS b;
CREATE AGGREGATE all_shingles(shingles) (SFUNC = shingles_union, STYPE = shingles);
SELECT minhash_union_agg(to_minhash(body, 512, 32))::bigint[]
	= to_minhash(all_shingles(to_shingles(body)), 512, 32)::bigint[] AS same FROM parts;
SELECT i % 4 AS part, minhash_union_agg(to_minhash(body, 64, 32))::bigint[]
	= to_minhash(all_shingles(to_shingles(body)), 64, 32)::bigint[] AS same FROM parts GROUP BY 1 ORDER BY 1;
SELECT minhash_union(x, e) = x AND minhash_union(e, x) = x AND minhash_union(e, e) = e AS kept
FROM to_minhash('a b', 64, 32) AS x, to_minhash('', 64, 32) AS e;
SELECT minhash_union_agg(sig) IS NULL AS none FROM (VALUES (NULL::minhash), (NULL)) AS v(sig);
SELECT cardinality(minhash_union_agg(sig)) FROM (VALUES (NULL::minhash), (to_minhash('a b', 64, 32))) AS v(sig);
SELECT cardinality(minhash_union(x, x)) FROM to_minhash('a b', 64, 32) AS x;
SELECT minhash_union(x, x) FROM to_minhash('a b', 64, 16) AS x;
SELECT minhash_union_agg(x) FROM to_minhash('a b', 64, 16) AS x;
SELECT minhash_union(to_minhash('a', 64, 32), to_minhash('a', 128, 32));
SELECT minhash_union(to_minhash('a', 64, 32), to_minhash('a', 64, 32, 'word 2'));
SELECT minhash_union(NULL, to_minhash('a', 64, 32)) IS NULL AS strict;

-- Casts
SELECT B'1010101111001101'::bit(16)::minhash, to_minhash('a b', 16)::bit(16), pg_typeof(to_minhash('a b', 16)::bit(16));
SELECT to_minhash('a b', 100)::bit(100)::minhash::bit(100) = to_minhash('a b', 100)::bit(100) AS same;
SELECT to_minhash('a b', 100)::bit(64);
SELECT to_minhash('a b', 100)::bit;
SELECT to_minhash('a b', 16, 2)::bit(32);
SELECT to_minhash('', 16)::bit(16);
SELECT B'101'::minhash;
SELECT ARRAY(SELECT i * 252645135 FROM generate_series(0::bigint, 16) AS i)::minhash;
SELECT (a::minhash)::bigint[] = a AS same
FROM (SELECT ARRAY(SELECT i * 252645135 FROM generate_series(0::bigint, 17) AS i WHERE i <> 9)) AS v(a);
SELECT array_fill(-1::bigint, '{16}')::minhash;
SELECT array_fill(4294967296, '{16}')::minhash;
SELECT (array_fill(1::bigint, '{16}') || NULL::bigint)::minhash;
SELECT array_fill(1::bigint, '{16,2}')::minhash;
SELECT '{1,2}'::bigint[]::minhash;
SELECT to_minhash('a', 16)::bigint[];
SELECT to_minhash('', 16, 32)::bigint[];
CREATE TABLE assigned (sig minhash(16));
INSERT INTO assigned VALUES (B'1010101111001101'), ('1/foreign/16x1/?/abcd');
SELECT count(*), count(DISTINCT sig) FROM assigned;
INSERT INTO assigned VALUES (B'10101011110011010');

-- Values larger than a page
CREATE TABLE large (sig minhash);
INSERT INTO large SELECT to_minhash('x ' || i, 2048, 32) FROM generate_series(1, 20) AS i;
SELECT count(DISTINCT sig), min(cardinality(sig)) FROM large;
SELECT pg_column_size(sig) FROM large LIMIT 1;

DROP TABLE signatures, copied, bytes, parsed, shaped, shaped_binary, parts, assigned, large;
DROP AGGREGATE all_shingles(shingles);
DROP FUNCTION message_of, received;

-- A short text, which is not read back.
SELECT show_signature(to_minhash('a rose is a rose')), show_signature(to_minhash('a rose is a rose', 64)), show_signature(to_minhash('')), show_signature(NULL::minhash);
SELECT show_signature(to_minhash('a rose is a rose'))::minhash;
