-- The type shingles: constructors, text and binary format, casts.

-- Each constructor with a literal, a varchar, an untyped parameter, a column.
CREATE TABLE rose (line text, short varchar(40), fixed char(40), words text[], hashes bigint[]);
INSERT INTO rose VALUES ('a rose is a rose is a rose', 'a rose is a rose is a rose',
	'a rose is a rose is a rose', '{a,rose,is,a,rose}', '{5,-3,5,0}');
PREPARE of_text AS SELECT to_shingles($1) = (SELECT to_shingles(line) FROM rose);
EXECUTE of_text('a rose is a rose is a rose');
PREPARE of_scheme AS SELECT to_shingles($1, $2) = (SELECT to_shingles(line, 'word 4') FROM rose);
EXECUTE of_scheme('a rose is a rose is a rose', 'word 4');
SELECT to_shingles('a rose is a rose is a rose') = to_shingles(line) AS literal,
	to_shingles(short) = to_shingles(line) AS varchar,
	to_shingles(fixed) = to_shingles(line) AS char,
	to_shingles(line) = to_shingles(line, 'word 3') AS default_scheme,
	to_shingles(line, scheme => ' WORD   3 ') = to_shingles(line) AS scheme_spelling
FROM rose;
PREPARE of_tokens(text[]) AS SELECT to_shingles($1) = (SELECT to_shingles(words) FROM rose);
EXECUTE of_tokens('{a,rose,is,a,rose}');
PREPARE of_hashes(bigint[]) AS SELECT to_shingles($1);
EXECUTE of_hashes('{5,-3,5,0}');
SELECT to_shingles(words) = to_shingles(ARRAY['a', 'rose', 'is', 'a', 'rose']) AS words,
	to_shingles(words::varchar[]) = to_shingles(words) AS varchars,
	to_shingles(hashes) = to_shingles(ARRAY[5, -3, 5, 0]) AS integers
FROM rose;

-- Broder's example: eight words, five windows of four, three distinct ones.
SELECT cardinality(s), shingle_total(s)
FROM rose, to_shingles(line, 'word 4') s;
SELECT shingle, count FROM rose, show_shingles(line, 'word 4');

-- Elements are hashes: XXH3-64 of the bytes of a token, as published.
SELECT to_shingles(ARRAY['']), to_shingles(ARRAY['']) = '1/tokens/{3244421341483603138}' AS known;
SELECT to_shingles('{9223372036854775807,-9223372036854775808,0,-1,0,1}'::bigint[]);

-- Empty input gives an empty set.
SELECT to_shingles(''), to_shingles(' -- '), to_shingles('{}'::text[]), to_shingles('{}'::bigint[]);
SELECT to_shingles(NULL::text), to_shingles('a', NULL), to_shingles(NULL::bigint[]);

-- A text of fewer words than the width is one shingle.
SELECT cardinality(to_shingles('one')), cardinality(to_shingles('one two')),
	cardinality(to_shingles('one two three')), cardinality(to_shingles('one two three four'));

-- Schemes that are unknown or do not read text.
SELECT to_shingles('a b c', 'wrd 3');
SELECT to_shingles('a b c', 'word');
SELECT to_shingles('a b c', 'word 0');
SELECT to_shingles('a b c', 'word 256');
SELECT to_shingles('a b c', '');
SELECT to_shingles('a b c', 'tokens');
SELECT to_shingles('a b c', 'foreign');
-- Arrays that are not a list of elements.
SELECT to_shingles(ARRAY['a', NULL]);
SELECT to_shingles(ARRAY[1, NULL]::bigint[]);
SELECT to_shingles('{{a,b},{c,d}}'::text[]);
SELECT to_shingles('{{1,2},{3,4}}'::bigint[]);
-- An array may have any lower bound.
SELECT to_shingles('[5:6]={1,2}'::bigint[]), to_shingles('[0:1]={a,b}'::text[]) = to_shingles('{a,b}'::text[]) AS same;

-- Text form: output is valid input.
SELECT '1/word 3/{-7,12:2}'::shingles, '1/char 255/{}'::shingles, '1/hashes/{0:4294967295}'::shingles,
	'255/stopword 2/{-9223372036854775808,9223372036854775807}'::shingles;
SELECT count(*) AS texts, bool_and(to_shingles(t)::text::shingles = to_shingles(t)) AS same
FROM (SELECT string_agg((i * i % 17)::text, ' ') FROM generate_series(1, 500) i GROUP BY i % 7) x(t);

-- Any other input is an error that gives the position.
SELECT ''::shingles;
SELECT 'word 3'::shingles;
SELECT '0/word 3/{}'::shingles;
SELECT '01/word 3/{}'::shingles;
SELECT '256/word 3/{}'::shingles;
SELECT '99999999999999999999999/word 3/{}'::shingles;
SELECT '1/word 3'::shingles;
SELECT '1/wrd 3/{}'::shingles;
SELECT '1/word 300/{}'::shingles;
SELECT '1//{}'::shingles;
SELECT '1/word 3/1'::shingles;
SELECT '1/word 3/{'::shingles;
SELECT '1/word 3/{1'::shingles;
SELECT '1/word 3/{1,'::shingles;
SELECT '1/word 3/{1,}'::shingles;
SELECT '1/word 3/{,1}'::shingles;
SELECT '1/word 3/{1 2}'::shingles;
SELECT '1/word 3/{1, 2}'::shingles;
SELECT '1/word 3/{2,1}'::shingles;
SELECT '1/word 3/{1,1}'::shingles;
SELECT '1/word 3/{-}'::shingles;
SELECT '1/word 3/{-0}'::shingles;
SELECT '1/word 3/{+1}'::shingles;
SELECT '1/word 3/{01}'::shingles;
SELECT '1/word 3/{1.5}'::shingles;
SELECT '1/word 3/{9223372036854775808}'::shingles;
SELECT '1/word 3/{-9223372036854775809}'::shingles;
SELECT '1/word 3/{18446744073709551616}'::shingles;
SELECT '1/word 3/{1:0}'::shingles;
SELECT '1/word 3/{1:1}'::shingles;
SELECT '1/word 3/{1:}'::shingles;
SELECT '1/word 3/{1:-2}'::shingles;
SELECT '1/word 3/{1:4294967296}'::shingles;
SELECT '1/word 3/{1}x'::shingles;
SELECT '1/word 3/{1} '::shingles;
SELECT shingles(3) '1/word 3/{}';

-- Binary format: network order, layout 1, recipe 1, flags, scheme, count.
SELECT shingles_send('1/word 3/{}');
SELECT shingles_send('1/word 3/{-2,3}');
SELECT shingles_send('1/hashes/{-2,3:258}');
SELECT bool_and(to_shingles(line)::bytea::shingles = to_shingles(line)) AS same FROM rose;
SELECT (to_shingles('a b')::bytea || '\x00')::shingles;
SELECT '\x01'::bytea::shingles;
-- COPY out and in; values that are truncated, too long, or wrong in any field.
CREATE FUNCTION receive(image bytea) RETURNS shingles LANGUAGE plpgsql AS $$
DECLARE
	path text := current_setting('data_directory') || '/neardup_shingles.bin';
	rows bytea := '\x5047434f50590aff0d0a0000000000000000000001'::bytea ||
		int4send(length(image)) || image || '\xffff'::bytea;
	loid oid;
	result shingles;
BEGIN
	loid := lo_from_bytea(0, rows);
	PERFORM lo_export(loid, path);
	PERFORM lo_unlink(loid);
	CREATE TEMP TABLE IF NOT EXISTS received (s shingles);
	DELETE FROM received;
	EXECUTE format('COPY received FROM %L (FORMAT binary)', path);
	SELECT s INTO result FROM received;
	RETURN result;
END
$$;
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT receive(shingles_send('1/word 3/{}'));
SELECT receive(shingles_send('1/hashes/{-2,3:258}'));
SELECT receive(shingles_send(to_shingles(line))) = to_shingles(line) AS same FROM rose;
\set VERBOSITY default
CREATE FUNCTION refusal(image bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	RETURN receive(image)::text;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws('; ', SQLSTATE, SQLERRM, nullif(detail, ''));
END
$$;
SELECT what, refusal(image) FROM (VALUES
	('layout', '\x020100000103000000000000'::bytea),
	('recipe', '\x010000000103000000000000'),
	('flags', '\x010100020103000000000000'),
	('scheme kind', '\x010100000903000000000000'),
	('scheme width', '\x010100000100000000000000'),
	('scheme variant', '\x010100000103000100000000'),
	('cut header', '\x0101000001030000'),
	('cut element', '\x01010000010300000000000100000000000000'),
	('too long', '\x010100000103000000000001000000000000000100'),
	('count', '\x0101000001030000ffffffff0000000000000001'),
	('order', '\x01010000010300000000000200000000000000020000000000000001'),
	('twice', '\x01010000010300000000000200000000000000010000000000000001'),
	('frequency 0', '\x010100010103000000000001000000000000000100000000'),
	('frequencies 1', '\x010100010103000000000001000000000000000100000001'),
	('no frequencies', '\x0101000101030000000000010000000000000001'),
	('good', '\x010100010103000000000001000000000000000100000002')
) bad(what, image);
RESET client_min_messages;
DROP FUNCTION refusal, receive;

-- Casts: from hashes made elsewhere by assignment, to an array explicitly.
SELECT ARRAY[3, 1, 3]::bigint[]::shingles, '1/word 3/{-7,12:2}'::shingles::bigint[];
SELECT '1/word 3/{}'::shingles::bigint[], '{}'::bigint[]::shingles;
SELECT s::bigint[]::shingles & s::bigint[]::shingles = s::bigint[]::shingles AS same
FROM rose, to_shingles(line) s;
CREATE TABLE loaded (s shingles);
INSERT INTO loaded SELECT hashes FROM rose;
SELECT s FROM loaded;
CREATE TABLE unloaded (h bigint[]);
INSERT INTO unloaded SELECT s FROM loaded;

-- A generated column, and values large enough to be stored out of line.
CREATE TABLE stored (id int, body text, s shingles GENERATED ALWAYS AS (to_shingles(body, 'word 2')) STORED);
INSERT INTO stored (id, body) SELECT n, string_agg(i::text, ' ') FROM generate_series(1, 6) n, generate_series(1, (4 ^ n)::int) i GROUP BY n;
SELECT id, cardinality(s), shingle_total(s), similarity(s, to_shingles(body, 'word 2')) FROM stored ORDER BY id;
SELECT attstorage FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attname = 's';
DROP TABLE rose, loaded, unloaded, stored;
