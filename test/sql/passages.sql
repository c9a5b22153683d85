-- shared_passages(): where two texts have the same passages.

CREATE TEMP TABLE pair (name text, a text, b text);
INSERT INTO pair VALUES
	('edited',
	 'We propose to study how coral reefs recover from bleaching, with divers, drones and three years of measurements.',
	 'In brief: we PROPOSE to study how coral reefs recover after bleaching; with divers, drones, and three years of measurements!'),
	('moved',
	 'The quick brown fox jumps over the lazy dog. A dictionary of the words that sailors borrowed from each other.',
	 'A dictionary of the words that sailors borrowed from each other: the quick brown fox jumps over the lazy dog'),
	('repeated in b', 'one two three four five six seven eight',
	 'one two three four five six seven eight, one two three four five six seven eight'),
	('folded', 'Ｆｕｌｌ　Ｗｉｄｔｈ ﬁne Straße 東京タワー ½ cup İ', 'full width FINE STRASSE 東京ﾀﾜｰ 1⁄2 cup i̇');

CREATE FUNCTION pg_temp.passages(name text, scheme text DEFAULT 'word 3', min_tokens int DEFAULT 8)
RETURNS TABLE (a_start int, b_start int, tokens int, in_a text, in_b text) LANGUAGE sql AS $$
	SELECT s.a_start, s.b_start, s.tokens, substr(a, s.a_start, s.a_length), substr(b, s.b_start, s.b_length)
		FROM pair, shared_passages(a, b, scheme, min_tokens) s WHERE pair.name = passages.name
$$;
SELECT s.* FROM pair, shared_passages(a, b) s WHERE name = 'edited';
SELECT * FROM pg_temp.passages('edited');
SELECT * FROM pg_temp.passages('moved');
SELECT * FROM pg_temp.passages('repeated in b');
SELECT * FROM pg_temp.passages('folded', min_tokens => 2);
SELECT * FROM pg_temp.passages('folded', 'char 5', 12);
SELECT * FROM pg_temp.passages('moved', 'anychar 5', 20);

-- Schemes of words and of characters, NULLs, empty texts, and what is refused.
SELECT count(*) FILTER (WHERE scheme IN ('stopword 3', 'spot 1 2')) AS words, count(*) AS all
FROM (VALUES ('word 1'), ('stopword 3'), ('spot 1 2'), ('char 9'), ('anychar 9')) v (scheme), shared_passages('one two three four', 'one two three four', scheme, 4) s;
SELECT count(*) FROM (SELECT FROM shared_passages(NULL, 'a text') UNION ALL SELECT FROM shared_passages('a text', 'a text', NULL)) n;
SELECT count(*) FROM shared_passages('', '', min_tokens => 1);
SELECT count(*) FROM shared_passages('!', '?', min_tokens => 1);
SELECT * FROM shared_passages('!', 'Oh!', 'anychar 3', 1);
SELECT * FROM shared_passages('a b', 'a b', 'tokens');
SELECT * FROM shared_passages('a b', 'a b', 'three words');
SELECT * FROM shared_passages('a b', 'a b', min_tokens => 0);

-- What lies at the places has the same tokens, as many as the row says.
CREATE TEMP TABLE part AS SELECT row_number() OVER () AS n, part
FROM unnest('{one,two,THREE,four," ",", ",½,㍿,ﷺ,ﬁne,é,é,Ａ　Ｂ,東京,ｶﾞ,กำน,سَلام,한,😀️,f­g,´,ΑΙΣ,ᾳ,Straße,"1,5"}'::text[]) part;
CREATE TEMP TABLE written AS
SELECT t, (SELECT string_agg(part || CASE WHEN hashint4(t * 1000 + i) % 3 = 0 THEN '' ELSE ' ' END, '' ORDER BY i)
	FROM generate_series(1, 60) i JOIN part ON n = 1 + abs(hashint4(t * 100 + i / 6 * 1000 + i % (2 + t % 4))) % (SELECT count(*) FROM part)) AS body
FROM generate_series(1, 60) t;
SELECT count(*) > 1000 AS many, bool_and(show_tokens(in_a) = show_tokens(in_b)) AS same, bool_and(cardinality(show_tokens(in_a)) = tokens) AS counted,
	bool_and(tokens >= 3) AS enough, bool_and(NOT EXISTS (SELECT FROM shared_passages(in_a, in_b, min_tokens => 1) s WHERE s.tokens > x.tokens)) AS whole
FROM (SELECT s.tokens, substr(a.body, a_start, a_length) AS in_a, substr(b.body, b_start, b_length) AS in_b
	FROM written a JOIN written b ON a.t < b.t AND b.t % 5 = a.t % 5, shared_passages(a.body, b.body, min_tokens => 3) s) x;
SELECT bool_and(s.rows = turned.rows) AS turned, bool_and(s.rows <= s.bound) AS bounded
FROM (SELECT a.t AS ta, b.t AS tb, a.body AS a, b.body AS b FROM written a JOIN written b ON a.t < b.t) p,
	LATERAL (SELECT count(*) AS rows, 2 * (cardinality(show_tokens(a)) + cardinality(show_tokens(b))) / 3 AS bound FROM shared_passages(a, b, min_tokens => 3)) s,
	LATERAL (SELECT count(*) AS rows FROM shared_passages(b, a, min_tokens => 3)) turned;
-- Texts without characters of several tokens, so that no run is shortened: what is not marked has no shared run.
CREATE TEMP TABLE plain AS
SELECT t, (SELECT string_agg('w' || abs(hashint4(t * 100 + i / 6 * 1000 + i % (2 + t % 4))) % 12, ' ' ORDER BY i) FROM generate_series(1, 60) i) AS body
FROM generate_series(1, 40) t;
SELECT count(*) FILTER (WHERE marked), count(*) FILTER (WHERE marked <> shared) AS wrong
FROM (SELECT a.t, i, EXISTS (SELECT FROM shared_passages(a.body, b.body, min_tokens => 3) s
			WHERE starts >= a_start AND starts < a_start + a_length) AS marked,
		EXISTS (SELECT FROM generate_series(greatest(i - 2, 1), least(i, 58)) f
			WHERE strpos(' ' || b.body || ' ', ' ' || array_to_string((string_to_array(a.body, ' '))[f:f + 2], ' ') || ' ') > 0) AS shared
	FROM plain a JOIN plain b ON b.t = a.t % 40 + 1, generate_series(1, 60) i,
		LATERAL (SELECT coalesce(length(array_to_string((string_to_array(a.body, ' '))[1:i - 1], ' ')) + CASE WHEN i > 1 THEN 2 ELSE 1 END, 1)) s (starts)) x;

-- A million equal tokens; a passage that each text repeats a thousand times.
SELECT * FROM shared_passages(repeat('x ', 1000000), repeat('x ', 300000));
SELECT count(*), min(tokens), max(tokens) FROM (SELECT string_agg('one two three four five six seven eight ' || i, ' ') AS a FROM generate_series(1, 1000) i) x,
	(SELECT string_agg('one two three four five six seven eight ' || i + 1000, ' ') AS b FROM generate_series(1, 1000) i) y, shared_passages(a, b);

-- Positions count characters of the server's encoding, of which one may be two of UTF-8.
\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_jis;
CREATE DATABASE neardup_test_jis TEMPLATE template0 ENCODING 'EUC_JIS_2004' LC_COLLATE 'C' LC_CTYPE 'C';
\c neardup_test_jis
SET client_encoding = UTF8;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE EXTENSION neardup_study CASCADE;
SELECT length('か゚き゚'), s.*, substr(a, a_start, a_length) AS in_a, substr(b, b_start, b_length) AS in_b
FROM (VALUES ('か゚き゚く゚ one two 東京タワー three か゚', 'x か゚ one two 東京ﾀﾜｰ three か゚ four')) v (a, b), shared_passages(a, b, min_tokens => 3) s;
SELECT a_start, substr(a, a_start, a_length) AS in_a, b_start FROM (VALUES ('東 one two three', '東京 one two three')) v (a, b), shared_passages(a, b, min_tokens => 3) s;
-- It stores codes that UTF-8 lacks, and UTF-8 has parts of its characters.
SELECT show_shingles('か゚', 'char 1');
SELECT to_minhash(convert_from('\xa4fc', 'EUC_JIS_2004'));
\c :home
DROP DATABASE neardup_test_jis;
CREATE DATABASE neardup_test_jis TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
\c neardup_test_jis
SET client_encoding = UTF8;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
CREATE EXTENSION neardup;
SELECT s.*, substr(a, a_start, a_length) AS in_a FROM (VALUES ('Crème brûlée à l''été ½', 'la crème BRÛLÉE à l''été 1/2')) v (a, b), shared_passages(a, b, min_tokens => 3) s;
\c :home
DROP DATABASE neardup_test_jis;

-- A run of n words is found if at least 4 of its n - 2 shingles are in a sample of one in 4, which a binomial
-- distribution gives.  Counts of 2000 runs are within four standard deviations of it.
WITH runs AS (
	SELECT n, i, shingles_mod(to_shingles(string_agg('w' || i * 100 + word, ' ' ORDER BY word)), 4) AS s
	FROM unnest('{10,20,30,40,60}'::int[]) n, generate_series(1, 2000) i, generate_series(1, n) word GROUP BY n, i
), expected AS (
	SELECT n, 1 - sum(c * 0.25 ^ x * 0.75 ^ (n - 2 - x)) AS p
	FROM unnest('{10,20,30,40,60}'::int[]) n, LATERAL (VALUES (0, 1.0), (1, n - 2.0), (2, (n - 2.0) * (n - 3) / 2), (3, (n - 2.0) * (n - 3) * (n - 4) / 6)) v (x, c) GROUP BY n
)
SELECT n, round(p, 3) AS formula, abs(count(*) FILTER (WHERE cardinality(s) >= 4) - 2000 * p) <= 4 * sqrt(2000 * p * (1 - p)) AS observed
FROM runs JOIN expected USING (n) GROUP BY n, p ORDER BY n;

-- ---- neardup_passages() ----
\set SHOW_CONTEXT never

-- Texts of 300 words of a language of 400, frequent ones first.  Into each of 40 texts, 100 words of another are put, of
-- which a share is replaced, left out, or followed by another.
CREATE FUNCTION pg_temp.chance(VARIADIC int[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$SELECT ('x' || left(md5($1::text), 7))::bit(28)::int / 2.0 ^ 28$$;
CREATE FUNCTION pg_temp.word(VARIADIC int[]) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT translate(left(md5('w' || floor(400 * pg_temp.chance(VARIADIC $1) ^ 2)), 6), '0123456789', 'ghijklmnop')$$;
CREATE TABLE sources AS SELECT id, ARRAY(SELECT pg_temp.word(id, n) FROM generate_series(1, 300) AS n) AS words FROM generate_series(1, 100) AS id;
CREATE TABLE borrowed AS
SELECT id, changed, before, passage, before || ' ' || passage || ' ' || after AS body
FROM sources, unnest('{0,10,20}'::int[]) AS changed,
	LATERAL (SELECT string_agg(pg_temp.word(-id, n), ' ' ORDER BY n) FILTER (WHERE n <= 200) AS before, string_agg(pg_temp.word(-id, n), ' ' ORDER BY n) FILTER (WHERE n > 200) AS after FROM generate_series(1, 400) AS n) AS r,
	LATERAL (SELECT string_agg(CASE WHEN pg_temp.chance(id, n, 1) >= changed / 100.0 THEN words[n] WHEN pg_temp.chance(id, n, 2) < 0.25 THEN NULL
		WHEN pg_temp.chance(id, n, 2) < 0.5 THEN words[n] || ' ' || pg_temp.word(id, n, 3) ELSE pg_temp.word(id, n, 3) END, ' ' ORDER BY n) AS passage FROM generate_series(101, 200) AS n) AS p
WHERE id <= 40;
-- What is marked of the passages, of which source, and of the rest
WITH marked AS (
	SELECT DISTINCT b.id, changed, p.id = b.id::text AS own, place BETWEEN length(before) + 2 AND length(before) + 1 + length(passage) AS inside, place
	FROM borrowed AS b, neardup_passages(body, 'SELECT id, array_to_string(words, '' '') FROM sources;') AS p, generate_series(p.start, p.start + p.length - 1) AS place
)
SELECT changed, count(*) FILTER (WHERE own AND inside) / passages::float8 > 0.9 AS most, count(*) FILTER (WHERE own AND inside) / passages::float8 > 0.75 AS three_quarters, count(DISTINCT (id, place)) FILTER (WHERE NOT inside) / rest::float8 <= 0.01 AS innocents
FROM marked JOIN (SELECT changed, sum(length(passage)) AS passages, sum(length(body) - length(passage)) AS rest FROM borrowed GROUP BY changed) AS t USING (changed)
GROUP BY changed, passages, rest ORDER BY changed;
-- The same by an index on a sample of the shingles
CREATE TABLE stories (id uuid, body text);
INSERT INTO stories SELECT md5(id::text)::uuid, array_to_string(words, ' ') FROM sources;
CREATE INDEX ON stories USING neardup (shingles_mod(to_shingles(body), 4));
ANALYZE stories;
SELECT changed, count(DISTINCT b.id) AS texts, count(DISTINCT b.id) FILTER (WHERE p.id::uuid = md5(b.id::text)::uuid) AS found
FROM borrowed AS b, neardup_passages(body, 'SELECT id, body FROM unnest($1) AS part, shingles_mod(part, 4) AS s JOIN stories ON is_contained(s, shingles_mod(to_shingles(body), 4), least(1, 4.0 / greatest(cardinality(s), 1)))') AS p
GROUP BY changed ORDER BY changed;
-- Words between runs: three at most; no row for NULLs and texts without words
SELECT substr(body, start, length) FROM (VALUES ('one two three four five A B C six seven eight nine ten eleven'), ('one two three four five A B C D six seven eight nine ten eleven')) AS v (body),
	neardup_passages(body, 'VALUES (1, ''one two three four five six seven eight nine ten eleven'')');
SELECT count(*) FROM (SELECT FROM neardup_passages(NULL, 'VALUES (1, ''text'')') UNION ALL SELECT FROM neardup_passages('', 'VALUES (1, ''''), (NULL, NULL)')) AS n;
SELECT * FROM neardup_passages('one two three four five', 'VALUES (1, ''one two three four five'')', 'three words');
\set VERBOSITY terse
SELECT * FROM neardup_passages('one two three four five', 'SELECT id, bdy FROM stories');
SELECT * FROM neardup_passages('one two three four five', 'stories');
SELECT * FROM neardup_passages('one two three four five', 'SELECT 1');
\set VERBOSITY default
DROP TABLE sources, borrowed, stories;
