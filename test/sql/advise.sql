-- Which comparison fits a set of texts, and the pairs to judge to find out.
\set SHOW_CONTEXT never

-- Words of a made language: word n of text t
CREATE FUNCTION word(t int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT translate(left(md5(abs(hashint4(t * 1000 + n)) % 3000 || ''), 5), '0123456789', 'ghijklmnop')$$;
CREATE FUNCTION words(t int, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT string_agg(word(t, n), ' ' ORDER BY n) FROM generate_series(first, last) AS n$$;

-- 150 works.  Of every third there is a version, of which 5 to 95 words of 100 are new.  People
-- call it the same up to 60 new words.  In every work there are 20 words of the work before.
CREATE TABLE texts (id int PRIMARY KEY, work int, body text);
INSERT INTO texts SELECT t, t, words(t - 1, 1, 20) || ' ' || words(t, 1, 100) FROM generate_series(1, 150) AS t;
INSERT INTO texts SELECT 1000 + t, CASE WHEN new <= 60 THEN t ELSE 1000 + t END, words(t - 1, 1, 20) || ' ' || words(t, 1, 100 - new) || ' ' || words(1000 + t, 1, new)
FROM generate_series(3, 150, 3) AS t, LATERAL (SELECT 5 + 90 * (t - 3) / 147) AS n (new);
CREATE TABLE verdicts (a int, b int, same boolean);
-- Judges pairs drawn as people would
CREATE FUNCTION judge(source text, query text, pairs int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO verdicts SELECT p.a::int, p.b::int, x.work = y.work FROM neardup_pairs_to_judge(%L, %s, judged => ''SELECT * FROM verdicts'') AS p
		JOIN %I AS x ON x.id = p.a::int JOIN %I AS y ON y.id = p.b::int', query, pairs, source, source);
	RETURN (SELECT count(*) FROM verdicts);
END $$;

-- ---- Pairs to judge ----

-- Each pair once, of all similarities, none of them judged before; the most similar ones are among the first ten
CREATE TABLE drawn AS SELECT row_number() OVER () AS n, * FROM neardup_pairs_to_judge('SELECT id, body FROM texts', 40);
SELECT count(*), count(DISTINCT (least(a, b), greatest(a, b))) AS distinct, count(*) FILTER (WHERE similarity > 0.5) >= 3 AS near, count(*) FILTER (WHERE similarity < 0.2) > 5 AS far FROM drawn;
SELECT count(*) FILTER (WHERE similarity > 0.3) >= 3 AS near FROM neardup_pairs_to_judge('SELECT id, body FROM texts');
-- In random order, and always the same
SELECT corr(n, similarity) BETWEEN -0.4 AND 0.4 AS random FROM drawn;
SELECT count(*) FROM neardup_pairs_to_judge('SELECT id, body FROM texts ORDER BY body', 40) AS again JOIN drawn
	ON (again.a, again.b) IN ((drawn.a, drawn.b), (drawn.b, drawn.a));
DROP TABLE drawn;
SELECT judge('texts', 'SELECT id, body FROM texts', 20);
SELECT judge('texts', 'SELECT id, body FROM texts', 40);
SELECT count(DISTINCT (least(a, b), greatest(a, b))) AS distinct, count(*) FILTER (WHERE same) BETWEEN 5 AND 45 AS of_60 FROM verdicts;
-- All pairs, where there are few; those of equal texts only as a part of what would be reported
SELECT a, b, similarity FROM neardup_pairs_to_judge($$VALUES (1, 'how coral reefs recover from bleaching'), (2, 'How coral reefs recover from bleaching!'), (3, 'how coral reefs recover after bleaching'), (4, ''), (5, NULL), (NULL, 'reefs')$$)
ORDER BY a, b;
SELECT count(*) FROM neardup_pairs_to_judge('SELECT 1, ''one text''');
SELECT count(*) FROM neardup_pairs_to_judge('SELECT id, body FROM texts WHERE false');

-- ---- Advice by verdicts ----

SELECT count(*) AS rows, count(DISTINCT (scheme, lexicon, measure)) AS candidates, bool_and(f1 BETWEEN 0 AND 1 AND recall BETWEEN 0 AND 1 AND coalesce("precision", precision_low) BETWEEN precision_low AND precision_high
	AND threshold BETWEEN 0.01 AND 1 AND pairs > 0 AND pairs_low = pairs AND pairs_high = pairs AND to_halve > 0) AS within FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts');
-- The best first; F1 is what was promised, or better
CREATE FUNCTION pg_temp.f1(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
	good bigint;
BEGIN
	EXECUTE format('SELECT count(*), count(*) FILTER (WHERE x.work = y.work) FROM (%s) AS p JOIN texts x ON x.id = p.a JOIN texts y ON y.id = p.b', statement) INTO found, good;
	RETURN 2.0 * good / (found + (SELECT count(*) FROM texts AS x JOIN texts AS y USING (work) WHERE x.id < y.id));
END $$;
SELECT n, abs(measured - f1) < 0.1 AS near, measured > 0.9 AS good FROM (SELECT *, row_number() OVER () AS n FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts')) AS a,
	pg_temp.f1(statement) AS f (measured) WHERE n <= 3 ORDER BY n;
-- A higher precision costs recall
SELECT bool_and(p.threshold >= a.threshold) AS higher, bool_and(p.recall <= a.recall) AS fewer, bool_and(p.pairs <= a.pairs) AS pairs, count(*) > 3 AS most
FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts') AS a JOIN neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts', least_precision => 0.97) AS p USING (scheme, lexicon, measure);
-- Who judges all pairs that a row reports knows its precision; a draw of them bounds it, and does not depend on other verdicts
CREATE FUNCTION pg_temp.precision(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	share float8;
BEGIN
	EXECUTE format('SELECT avg((x.work = y.work)::int) FROM (%s) AS p JOIN texts x ON x.id = p.a JOIN texts y ON y.id = p.b', statement) INTO share;
	RETURN share;
END $$;
CREATE TABLE every AS SELECT a.id AS a, b.id AS b, a.work = b.work AS same FROM texts AS a JOIN texts AS b ON a.id < b.id;
SELECT count(*) AS rows, bool_and(abs(precision_low - p) < 1e-9 AND abs(precision_high - p) < 1e-9 AND abs("precision" - p) < 1e-9) AS known
FROM neardup_advise('SELECT id, body FROM texts', 'TABLE every'), pg_temp.precision(statement) AS f (p);
DROP TABLE every;
-- Copies of which people call a tenth different, for a reason that no comparison knows: each draw asks for some, and its interval holds
CREATE TABLE copies AS SELECT 2 * t + copy AS id, words(3000 + t, 1, 60) || CASE copy WHEN 1 THEN ' ' || words(4000 + t, 1, 1 + t % 3) ELSE '' END AS body FROM generate_series(1, 100) AS t, generate_series(0, 1) AS copy;
CREATE TABLE judged (a text, b text, same boolean);
CREATE FUNCTION pg_temp.is_same(a text, b text) RETURNS boolean LANGUAGE sql AS $$SELECT x / 2 = y / 2 AND x / 2 % 10 > 0 FROM (VALUES (split_part(a, ' ', 1)::int, split_part(b, ' ', 1)::int)) AS v (x, y)$$;
CREATE FUNCTION pg_temp.draw(number int, OUT near bigint, OUT holds boolean, OUT width boolean) LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id || '' %s'', body FROM copies', number);
	first record;
	share float8;
BEGIN
	TRUNCATE judged;
	FOR round IN 1..6 LOOP
		INSERT INTO judged SELECT p.a, p.b, pg_temp.is_same(p.a, p.b) FROM neardup_pairs_to_judge(query, judged => 'TABLE judged') AS p;
	END LOOP;
	SELECT * INTO first FROM neardup_advise(query, 'TABLE judged') LIMIT 1;
	EXECUTE format('SELECT avg(pg_temp.is_same(a, b)::int) FROM (%s) AS p', first.statement) INTO share;
	SELECT count(*), share BETWEEN first.precision_low AND first.precision_high, first.precision_high - first.precision_low < 0.4 INTO near, holds, width
	FROM judged WHERE split_part(judged.a, ' ', 1)::int / 2 = split_part(judged.b, ' ', 1)::int / 2;
END $$;
SET client_min_messages = warning;
SELECT min(near) >= 12 AS asked, bool_and(holds) AS holds, bool_and(width) AS narrow FROM generate_series(1, 3) AS number, pg_temp.draw(number);
RESET client_min_messages;
DROP TABLE copies, judged;
-- Order, unsure people, repeated verdicts and ids that are not there do not matter
CREATE VIEW advice AS SELECT scheme, lexicon, measure, threshold, round(f1::numeric, 6) AS f1, round(precision_low::numeric, 6) AS low, pairs FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts');
SELECT count(*) AS equal FROM advice JOIN (SELECT scheme, lexicon, measure, threshold, round(f1::numeric, 6) AS f1, round(precision_low::numeric, 6) AS low, pairs FROM
	neardup_advise('SELECT id::bigint, body::varchar FROM texts ORDER BY body;', 'SELECT b, a, same FROM verdicts UNION ALL SELECT * FROM verdicts UNION ALL VALUES (1, 2, NULL), (1, NULL, true), (7, 99999, true), (99998, 99999, false)')) AS other
	USING (scheme, lexicon, measure, threshold, f1, low, pairs);
-- Texts in the sample and outside it: judged pairs count in both
SELECT abs(a.f1 - b.f1::float8) < 0.25 AS near FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts', sample => 100) AS a, advice AS b LIMIT 1;
-- What all texts share weighs nothing, also where more texts were judged than the sample has
SELECT scheme, lexicon, measure FROM neardup_advise('SELECT id, ''name address town '' || md5(id::text) FROM generate_series(1, 12) AS id', 'SELECT id, id + 1, id = 1 FROM generate_series(1, 11) AS id', sample => 3)
WHERE scheme = 'word 1' ORDER BY 2, 3;
-- The halves of a corpus get much the same advice
SELECT count(*), max(threshold) - min(threshold) < 0.1 AS near FROM (
	SELECT a.threshold FROM generate_series(0, 1) AS half, neardup_advise(format('SELECT id, body FROM texts WHERE id %% 1000 / 6 %% 2 = %s', half), 'SELECT * FROM verdicts') AS a
	WHERE (scheme, lexicon, measure) = ('word 3', true, 'resemblance')) AS halves;
-- Other ids, and what to type
SELECT regexp_replace(statement, '\s+', ' ', 'g') AS statement FROM neardup_advise('SELECT md5(id::text), body FROM texts', 'SELECT md5(a::text), md5(b::text), same FROM verdicts') WHERE (scheme, lexicon) = ('word 1', true) ORDER BY measure;
SELECT regexp_replace(statement, '0\.\d+', 'T') AS plain FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts') WHERE scheme = 'word 3' AND NOT lexicon;
-- Each reports as many pairs as promised: of copies all, and whatever else the query returns
CREATE DOMAIN prose AS text;
CREATE DOMAIN numbers AS int;
CREATE TABLE copies AS SELECT id, body FROM texts UNION ALL SELECT 5000 + id, upper(body) FROM texts WHERE id % 5 = 0 UNION ALL SELECT 3000 + n, body FROM texts, generate_series(1, 60) AS n WHERE id = 7
	UNION ALL SELECT 4000 + n, (ARRAY['', '...', NULL])[1 + n % 3] FROM generate_series(1, 60) AS n UNION ALL SELECT NULL, body FROM texts WHERE id < 9;
-- Of these texts more shingles are repeated than a lexicon has entries.
CREATE TABLE versions AS SELECT 1000 * version + work AS id, (SELECT string_agg(left(md5(work || ' ' || n), 8), ' ' ORDER BY n) FROM generate_series(1 + 20 * version, 100 + 20 * version) AS n) AS body
FROM generate_series(1, 150) AS work, generate_series(0, 1) AS version;
-- Twelve families of 45 texts, which have more pairs than are kept; for a lexicon the empty texts count, too.
CREATE TABLE families AS SELECT t AS id, CASE WHEN t > 540 THEN '' ELSE (SELECT string_agg(CASE WHEN abs(hashint4(t * 100 + n)) % 100 < t % 50 THEN 'x' || t * 100 + n ELSE 'f' || t % 12 * 100 + n END, ' ' ORDER BY n) FROM generate_series(1, 60) AS n) END AS body
FROM generate_series(1, 1080) AS t;
CREATE FUNCTION pg_temp.reported(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	found bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) AS p', statement) INTO found;
	RETURN found;
END $$;
SELECT n, count(*) AS candidates, min(pairs) > 20 AS some, count(*) FILTER (WHERE pairs <> pg_temp.reported(statement)) AS differ
FROM (VALUES (1, 'SELECT id, body FROM copies -- and versions', 'SELECT * FROM verdicts'), (2, 'SELECT ''nr '' || id, body::varchar FROM copies;', 'SELECT ''nr '' || a, ''nr '' || b, same FROM verdicts'),
	(3, 'SELECT id::numbers, body::prose FROM copies WHERE id IS NOT NULL; -- every one', 'SELECT * FROM verdicts'), (4, 'TABLE copies', NULL),
	(5, 'SELECT * FROM versions', 'SELECT id, id + 1000, true FROM generate_series(1, 20) AS id UNION ALL SELECT id, id + 1, false FROM generate_series(1, 20) AS id'),
	(6, 'SELECT * FROM versions', NULL), (7, 'TABLE families', 'SELECT id, id + 12, true FROM generate_series(1, 99, 3) AS id UNION ALL SELECT id, id + 1, false FROM generate_series(1, 99, 3) AS id'),
	(8, 'TABLE families', NULL)) AS q (n, query, judged), LATERAL neardup_advise(query, judged) GROUP BY n ORDER BY n;
-- What a statement says of new rows finds the same pairs, by an index
CREATE TABLE docs AS SELECT * FROM texts;
CREATE FUNCTION pg_temp.searched(statement text) RETURNS bigint LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE
	line text;
	found bigint;
BEGIN
	FOREACH line IN ARRAY regexp_match(statement, '/\* New rows:\n(?:(CALL [^\n]*);\n)?(CREATE [^\n]*);\n') LOOP
		IF line IS NOT NULL THEN EXECUTE line; END IF;
	END LOOP;
	ANALYZE docs;
	EXECUTE 'SELECT count(*) FROM docs AS n, LATERAL (' || replace(substring(statement, '\n(SELECT id FROM docs [^\n]*); \*/$'), '$1', 'n.body') || ') AS f WHERE f.id > n.id' INTO found;
	EXECUTE 'DROP INDEX ' || (SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'docs'::regclass);
	DROP FUNCTION IF EXISTS set_of(text);
	RETURN found;
END $$;
SELECT count(*) AS candidates, count(*) FILTER (WHERE searched <> pairs) AS differ
FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts'), pg_temp.searched(statement) AS s (searched);
DROP TABLE docs;
-- A pair that is judged twice: where the verdicts differ it is unsure, so it says nothing, and is not drawn again
SELECT count(*) AS equal FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts UNION ALL VALUES (1, 50, true), (50, 1, false)') AS a JOIN advice AS b USING (scheme, lexicon, measure, threshold, pairs)
WHERE abs(a.f1 - b.f1::float8) < 0.02;
SELECT count(*) FROM neardup_advise('SELECT id, body FROM texts', 'VALUES (1, 50, true), (50, 1, false)');
SELECT count(*) > 0 AS others, count(*) FILTER (WHERE (a, b) IN (('1', '2'), ('2', '1'))) AS again FROM neardup_pairs_to_judge($$SELECT id, body FROM texts WHERE id < 5$$, 30, 'VALUES (1, 2, true), (1, 2, false), (1, 3, false), (2, 4, true)');
-- Nor is a pair whose verdict is NULL, unless somebody knows
SELECT bool_or((a, b) IN (('1', '2'), ('2', '1'))) AS again FROM neardup_pairs_to_judge($$SELECT id, body FROM texts WHERE id < 5$$, 30, 'VALUES (1, 2, NULL), (1, 3, false), (2, 4, true)');
SELECT count(*) AS equal FROM advice JOIN (SELECT scheme, threshold, pairs FROM neardup_advise('SELECT id, body FROM texts', 'SELECT * FROM verdicts UNION ALL SELECT b, a, NULL FROM verdicts')) AS other USING (scheme, threshold, pairs);
-- Wrong verdicts come first, at most two of ten, until they are judged again, and are named; if they were confirmed, they count little
CREATE TABLE wrong AS SELECT a, b, same FROM verdicts UNION ALL VALUES (10, 130, true), (1003, 3, false);
SELECT a, b, similarity > 0.5 AS near, again FROM neardup_pairs_to_judge('SELECT id, body FROM texts', judged => 'TABLE wrong') LIMIT 3;
SELECT count(*), count(*) FILTER (WHERE again) AS again FROM neardup_pairs_to_judge('SELECT id, body FROM texts', 1, 'TABLE wrong');
SELECT scheme IS NOT NULL AS advised FROM neardup_advise('SELECT id, body FROM texts', 'TABLE wrong') LIMIT 1;
SELECT abs(a.f1 - b.f1::float8) < 0.15 AS little FROM neardup_advise('SELECT id, body FROM texts', 'TABLE wrong UNION ALL VALUES (10, 130, true), (1003, 3, false)') AS a, advice AS b LIMIT 1;
INSERT INTO wrong VALUES (130, 10, false), (1003, 3, true);
SELECT count(*) FILTER (WHERE again AND a IN ('10', '130', '3', '1003')) AS again, count(*) FROM neardup_pairs_to_judge('SELECT id, body FROM texts', judged => 'TABLE wrong');
DROP TABLE wrong;
-- A verdict without which the first row would report other pairs is one of the first to judge again
CREATE TABLE few AS SELECT 1 + 10 * n AS a, 3 + 10 * n AS b, false AS same FROM generate_series(0, 9) AS n UNION ALL SELECT 7 + 10 * n, 8 + 10 * n, false FROM generate_series(0, 2) AS n UNION ALL SELECT id, 1000 + id, true FROM generate_series(3, 18, 3) AS id
	UNION ALL VALUES (10, 11, true);
SELECT a, b, again FROM neardup_pairs_to_judge('SELECT id, body FROM texts', judged => 'TABLE few') WHERE again;
SELECT pairs FROM neardup_advise('SELECT id, body FROM texts', 'TABLE few') LIMIT 1;
SELECT pairs FROM neardup_advise('SELECT id, body FROM texts', 'TABLE few UNION ALL VALUES (10, 11, false)') LIMIT 1;
DROP TABLE few;
-- Variants left out: they are not asked for, not counted, and the statement does not report them
CREATE TABLE offers AS SELECT t AS id, words(5000 + t / 4, 1, 8) || ' KX' || 100 + t / 2 || CASE t % 2 WHEN 1 THEN ' new' ELSE '' END AS body FROM generate_series(0, 79) AS t;
SELECT variants, count(*) FILTER (WHERE is_variant(x.body, y.body)) > 0 AS asked FROM unnest('{t,f}'::boolean[]) AS variants, neardup_pairs_to_judge('SELECT id, body FROM offers', 30, variants => variants) AS p
	JOIN offers AS x ON x.id = p.a::int JOIN offers AS y ON y.id = p.b::int GROUP BY variants ORDER BY variants;
SELECT variants, threshold < 0.6 AS low, pairs, pg_temp.reported(statement) AS reported, statement ~ 'AND NOT is_variant\(body, \$1\); \*/$' AS searches
FROM unnest('{t,f}'::boolean[]) AS variants, LATERAL (SELECT * FROM neardup_advise('SELECT id, body FROM offers', 'SELECT 2 * n, 2 * n + 1, true FROM generate_series(0, 9) AS n UNION ALL SELECT n, n + 9, false FROM generate_series(0, 9) AS n', variants => variants) LIMIT 1) AS a ORDER BY variants;
DROP TABLE offers;
-- Verdicts of one kind only, and few
SELECT count(*) > 0 AS rows FROM neardup_advise('SELECT id, body FROM texts', 'SELECT a, b, true FROM verdicts WHERE same LIMIT 3');
SELECT count(*) AS rows FROM neardup_advise('SELECT id, body FROM texts', 'SELECT a, b, false FROM verdicts WHERE NOT same LIMIT 3');

-- ---- Advice without verdicts ----

SELECT scheme, lexicon, measure, threshold, f1, "precision", recall, pairs FROM neardup_advise('SELECT id, body FROM texts');
-- Short texts, of which no similarity is rare, and whose form weighs nothing
CREATE TABLE records AS SELECT t AS id, 'name address ' || words(t / 2, 1, 5 + t % 3) || ' ' || words(t, 1, 1 + t % 7) AS body FROM generate_series(1, 300) AS t;
SELECT scheme, lexicon, measure, threshold, f1, pairs FROM neardup_advise('SELECT id, body FROM records');
-- Four forms of 150 words around the texts do not matter
SELECT scheme, lexicon, measure, abs(a.threshold - b.threshold) < 0.05 AS near FROM neardup_advise('SELECT id, body FROM texts') AS a
FULL JOIN neardup_advise('SELECT id, words(2000 + work % 4, 1, 75) || '' '' || body || '' '' || words(2000 + work % 4, 76, 150) FROM texts') AS b USING (scheme, lexicon, measure);
-- Pairs of a sample stay together: 300 rows of 3,000 have about a tenth of the pairs, not a hundredth, and their spread bounds the number
SELECT pairs BETWEEN 700 AND 2500 AS about_1500, 1499 BETWEEN pairs_low AND pairs_high AS holds, pairs_high < 2 * pairs AS narrow FROM neardup_advise('SELECT id, words(id / 2, 1, 40) FROM generate_series(1, 3000) AS id', sample => 300);
-- Long texts are compared by a sample of their shingles
SELECT threshold > 0 AS found, pairs, 9 BETWEEN pairs_low AND pairs_high AS holds FROM neardup_advise('SELECT id, (SELECT string_agg(md5((id / 2 * 20000 + i)::text), '' '') FROM generate_series(1, 20000) AS i WHERE i % 10 > 0 OR id % 2 = 0) FROM generate_series(1, 20) AS id');
SELECT count(*) FROM neardup_advise('SELECT id, body FROM texts WHERE false');
SELECT count(*) FROM neardup_advise('SELECT 1, ''one text''');

-- ---- What they read ----

SELECT count(*) > 0 AS domains FROM neardup_pairs_to_judge('SELECT id::numbers, body::prose FROM texts', judged => 'SELECT a::numbers, b::bigint, same FROM verdicts');
SELECT neardup_advise(NULL);
SELECT neardup_advise('SELECT id, body FROM texts', sample => NULL);
SELECT neardup_advise('SELECT id, body FROM texts', sample => 0);
SELECT neardup_advise('SELECT id, body FROM texts', variants => NULL);
SELECT neardup_advise('SELECT id, body FROM texts', least_precision => 1.5);
SELECT neardup_advise('SELECT id, body FROM texts', least_precision => 'NaN');
SELECT neardup_pairs_to_judge('SELECT id, body FROM texts', 0);
SELECT neardup_pairs_to_judge('SELECT id, body FROM texts', NULL);
SELECT neardup_advise('SELECT body FROM texts');
SELECT neardup_advise('SELECT body, id FROM texts');
SELECT neardup_advise('SELECT id, to_minhash(body) FROM texts');
SELECT neardup_advise('SELECT point(id, id), body FROM texts');
SELECT neardup_advise('DELETE FROM texts RETURNING id, body');
SELECT neardup_advise('SELECT id, body FROM texts FOR UPDATE');
SELECT neardup_advise('SELECT id, body FROM texts', 'SELECT a, b FROM verdicts');
SELECT neardup_advise('SELECT id, body FROM texts', 'SELECT a::text, b::text, same FROM verdicts');
SELECT neardup_advise('SELECT id, body FROM texts', 'SELECT a, b, 1 FROM verdicts');
SELECT neardup_advise('SELECT id, body FROM texts', 'DELETE FROM verdicts RETURNING *');
SELECT neardup_advise('SELECT id, body FROM texts', 'VALUES (1, 1, false)');
SELECT neardup_advise('SELECT id, body FROM texts', 'VALUES (1, 99999, true)');

-- The chance that signatures reach a threshold
SELECT abs(minhash_probability(16, 1, 0, 1) * 2 ^ 16 - 1) < 1e-9 AS all_agree, minhash_probability(512, 1, 1, 1) AS equal, minhash_probability(64, 1, 0, 0.0001)::numeric(5, 4) AS half;
-- With half of the elements in common, a symbol of one bit agrees three times of four
SELECT abs(minhash_probability(16, 1, 0.5, 0.87) - (0.75 ^ 16 + 16 * 0.75 ^ 15 * 0.25)) < 1e-12 AS binomial;
-- Unrelated pairs reach 0.2 once in 400,000, and 300,000 documents have less than one such pair from 0.3 on
SELECT round(1 / minhash_probability(512, 1, 0, 0.2)::numeric, -3) AS once_in, round((300000 * 299999.0 / 2 * minhash_probability(512, 1, 0, 0.3))::numeric, 2) AS pairs;
-- The measured share: signatures of 200 sets without common elements, 19,900 pairs
CREATE TABLE measured AS SELECT id, to_minhash(to_shingles(ARRAY(SELECT id * 1000 + n FROM generate_series(1::bigint, 600) AS n))) AS sig FROM generate_series(1::bigint, 200) AS id;
SELECT count(*) FILTER (WHERE similarity(a.sig, b.sig) >= 0.08) / 19900.0 / minhash_probability(512, 1, 0, 0.08) BETWEEN 0.75 AND 1.25 AS as_computed FROM measured a JOIN measured b ON a.id < b.id;
SELECT minhash_probability(512, 3, 0, 0.5);
SELECT minhash_probability(512, 1, 1.5, 0.5);
SELECT minhash_probability(512, 1, 0.5, 0);

DROP VIEW advice;
DROP TABLE verdicts, texts, copies, versions, families, records, measured;
DROP DOMAIN prose, numbers;
DROP FUNCTION words, word, judge;
