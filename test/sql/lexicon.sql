-- Lexicons, and sets and signatures weighed by them.
\set SHOW_CONTEXT never

-- 1000 documents: the word c<n> is in every n-th of them, and each has words of its own.
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs
SELECT i, (SELECT string_agg('c' || n, ' ' ORDER BY n) FROM unnest('{1,2,4,8,16,31,62,125,250,500}'::int[]) n WHERE i % n = 0)
	|| format(' own%s other%s third%s', i, i, i)
FROM generate_series(1, 1000) i;

SELECT neardup_lexicon('SELECT body FROM docs', share => 1) AS lex \gset
SELECT documents, entries, scheme ~ '^word 1 lexicon [0-9a-f]{4}$' AS named FROM lexicon_info(:'lex');
-- idf = ln(N / df) / ln(N), in fifteenths; unknown words weigh 15
SELECT shingle, weight, round(15 * ln(1000.0 / (1000 / substr(shingle, 2)::int)) / ln(1000.0)) AS expected
FROM show_weights('c1 c2 c4 c8 c16 c31 c62 c125 c250 c500', :'lex');
SELECT shingle, weight FROM show_weights('Never, own7', :'lex');
-- The most frequent entries only; text in other types; sets
SELECT neardup_lexicon('SELECT body FROM docs', entries => 3, share => 1) AS small \gset
SELECT entries, (SELECT array_agg(weight) FROM show_weights('c1 c2 c4 c8 c16', :'small')) FROM lexicon_info(:'small');
SELECT neardup_lexicon('SELECT body::varchar FROM docs;', share => 1)::text = :'lex' AS varchar,
	neardup_lexicon('SELECT to_shingles(body, ''word 1'') FROM docs', share => 1)::text = :'lex' AS sets,
	neardup_lexicon('SELECT body FROM docs UNION ALL SELECT NULL', share => 1)::text = :'lex' AS nulls;
SELECT i.* FROM lexicon_info(neardup_lexicon('SELECT body FROM docs', 'char 3', 10)) i \gset char_
SELECT :'char_scheme' ~ '^char 3 lexicon' AS char;
SELECT scheme ~ '^tokens lexicon' AS tokens FROM lexicon_info(neardup_lexicon('SELECT to_shingles(string_to_array(body, '' '')) FROM docs'));

-- What a share of the texts have weighs nothing, if at least 20 texts have it: every 16th text is 0.062 of them, every 62nd 16 texts.
SELECT shingle, weight FROM neardup_lexicon('SELECT body FROM docs') AS lex, show_weights('c1 c8 c16 c31 c62', lex);
SELECT share, texts, left_out, (SELECT array_agg(weight) FROM show_weights('c1 c16 c31 c62', lex)) AS weights
FROM unnest('{1,0.5,0.05,0.03,0.001}'::float8[]) AS share, unnest('{1000,600,300}'::int[]) AS texts,
	neardup_lexicon(format('SELECT body FROM docs WHERE id <= %s', texts), share => share) AS lex, lexicon_info(lex) ORDER BY 1, 2;
SELECT neardup_lexicon('SELECT body FROM docs', share => 0);

-- Little memory: rare words are forgotten, frequent ones are not
SET maintenance_work_mem = '1MB';
SELECT neardup_lexicon('SELECT body || format('' x%s y%s z%s'', id, id, id) || (SELECT string_agg(format('' w%s'', 50 * id + j), '''') FROM generate_series(1, 50) j) FROM docs', entries => 2)::text
	= neardup_lexicon('SELECT body FROM docs', entries => 2)::text AS same;
SELECT neardup_lexicon('SELECT body FROM docs', entries => 10000) IS NOT NULL AS enough;
SELECT neardup_lexicon('SELECT body FROM docs', entries => 10001);
RESET maintenance_work_mem;

-- What no lexicon is made of
SELECT neardup_lexicon('SELECT id FROM docs');
SELECT neardup_lexicon('SELECT id, body FROM docs');
SELECT neardup_lexicon('DELETE FROM docs RETURNING body');
SELECT neardup_lexicon('WITH gone AS (DELETE FROM docs RETURNING body) SELECT body FROM gone');
SELECT neardup_lexicon('SELECT body FROM docs WHERE id = 1');
SELECT neardup_lexicon('SELECT body FROM docs', 'spot 1 2');
SELECT neardup_lexicon('SELECT body FROM docs', 'tokens');
SELECT neardup_lexicon('SELECT body FROM docs', entries => 0);
SELECT neardup_lexicon('SELECT to_shingles(body) FROM docs WHERE id = 1 UNION ALL SELECT to_shingles(body, ''word 1'') FROM docs WHERE id = 2');
SELECT neardup_lexicon('SELECT weigh(to_shingles(body, ''word 1''), neardup_lexicon(''SELECT body FROM docs'')) FROM docs WHERE id < 3');
SELECT neardup_lexicon(NULL) IS NULL AS null;

-- Text and binary format
CREATE TABLE lexicons (name text PRIMARY KEY, lex shingle_lexicon);
INSERT INTO lexicons VALUES ('all', :'lex'), ('small', :'small'), ('none', '1/word 1/0/{}'), ('edges', '1/stopword 3/9223372036854775807/{0:0,4294967295:14}');
SELECT name, lex FROM lexicons WHERE name IN ('none', 'edges') ORDER BY name;
SELECT name, lexicon_info(lex) FROM lexicons WHERE name IN ('none', 'edges') ORDER BY name;
SELECT shingle_lexicon_send(lex) FROM lexicons WHERE name = 'edges';
COPY lexicons TO PROGRAM 'cat > neardup_test_lexicon.bin' (FORMAT binary);
CREATE TABLE copied (LIKE lexicons);
COPY copied FROM PROGRAM 'cat neardup_test_lexicon.bin; rm neardup_test_lexicon.bin' (FORMAT binary);
SELECT bool_and(c.lex::text = l.lex::text) AS same, count(*) FROM copied c JOIN lexicons l USING (name);
CREATE TABLE bytes (b bytea);
CREATE TABLE parsed (lex shingle_lexicon);
CREATE FUNCTION received(hex text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	TRUNCATE bytes, parsed;
	INSERT INTO bytes VALUES (decode(hex, 'hex'));
	COPY bytes TO PROGRAM 'cat > neardup_test_lexicon.bin' (FORMAT binary);
	BEGIN
		COPY parsed FROM PROGRAM 'cat neardup_test_lexicon.bin; rm neardup_test_lexicon.bin' (FORMAT binary);
		RETURN (SELECT lex FROM parsed);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
		RETURN format('%s %s: %s', SQLSTATE, SQLERRM, said);
	END;
END $$;
SELECT what, received(hex) FROM (VALUES
	('right', '01 01 0000 01010000 00000002 000000000000000a 00000007 00000008 01 0e'),
	('layout', '02 01 0000 01010000 00000000 000000000000000a'),
	('reserved', '01 01 0001 01010000 00000000 000000000000000a'),
	('version', '01 00 0000 01010000 00000000 000000000000000a'),
	('scheme', '01 01 0000 04120000 00000000 000000000000000a'),
	('weighed', '01 01 0000 01013f2a 00000000 000000000000000a'),
	('later', '01 02 0000 01013f2a 00000000 000000000000000a'),
	('documents', '01 01 0000 01010000 00000000 800000000000000a'),
	('count', '01 01 0000 01010000 00000003 000000000000000a 00000007 00000008 01 0e'),
	('many', '01 01 0000 01010000 ffffffff 000000000000000a 00000007 00000008 01 0e'),
	('order', '01 01 0000 01010000 00000002 000000000000000a 00000007 00000007 01 0e'),
	('weight', '01 01 0000 01010000 00000002 000000000000000a 00000007 00000008 01 0f'),
	('short', '01 01 0000 01010000 00')) v (what, hex);
DROP TABLE bytes, parsed;
DROP FUNCTION received;
SELECT '2/word 9/1/{7:1}'::shingle_lexicon, '2/unknown 1f010000/1/{7:1}'::shingle_lexicon;
SELECT to_minhash('a', lexicon => '2/word 1/1/{7:1}');
SELECT '1/word 1/1/{7:15}'::shingle_lexicon;
SELECT '1/word 1/1/{7:1,7:2}'::shingle_lexicon;
SELECT '1/word 1/1/{7:1,6:2}'::shingle_lexicon;
SELECT '1/word 1/1/{4294967296:1}'::shingle_lexicon;
SELECT '1/word 1/1/{7}'::shingle_lexicon;
SELECT '1/word 1/1/{7:1,}'::shingle_lexicon;
SELECT '1/word 1/1/{7:1}x'::shingle_lexicon;
SELECT '1/word 1/-1/{}'::shingle_lexicon;
SELECT '1/word 1/{}'::shingle_lexicon;
SELECT '1/spot 1 2/1/{}'::shingle_lexicon;
SELECT '1/word 1 lexicon 3f2a/1/{}'::shingle_lexicon;
SELECT 'the'::shingle_lexicon;

-- weigh() gives the same as to_minhash(text, lexicon)
SELECT to_minhash(body, lexicon => :'lex') = to_minhash(weigh(to_shingles(body, 'word 1'), :'lex')) AS same,
	to_minhash(body, k => 64, b => 32, lexicon => :'lex') = to_minhash(weigh(to_shingles(body, 'word 1'), :'lex'), 64, 32) AS shaped, count(*)
FROM docs GROUP BY 1, 2;
SELECT weigh(to_shingles('c1 c4 c4 never', 'word 1'), '1/word 1/10/{}'), cardinality(weigh(to_shingles('c1 c4', 'word 1'), :'lex')), shingle_total(weigh(to_shingles('c1 c4', 'word 1'), :'lex'));
-- The cardinality of a signature is the number of copies
SELECT cardinality(to_minhash('1/weighted/{1,2:3}'::shingles)) AS copies, containment(to_minhash('c500 never', lexicon => :'lex'), to_minhash('c500 other', lexicon => :'lex')) BETWEEN 0.2 AND 0.7 AS containment;
-- A text of words that all documents have is weighed whole
SELECT weigh(to_shingles('c1', 'word 1'), :'lex'), cardinality(to_minhash('c1', lexicon => :'lex'));

-- The estimate is close to the exact weighted Jaccard: its error is at most that of a plain set
CREATE TABLE pairs AS
SELECT weighted_jaccard(weigh(a, :'lex'), weigh(b, :'lex')) AS exact,
	similarity(to_minhash(weigh(a, :'lex'), 1024, 4), to_minhash(weigh(b, :'lex'), 1024, 4)) AS estimate
FROM (SELECT to_shingles((SELECT string_agg('r' || (i * 100 + j), ' ') || ' c1 c2 c4 c16 c62 c250' FROM generate_series(1, 10 + i % 20) j), 'word 1') AS a,
		to_shingles((SELECT string_agg('r' || (i * 100 + j), ' ') || ' c2 c4 c8 c31 c125' FROM generate_series(1 + i % 7, 12 + i % 15) j), 'word 1') AS b
	FROM generate_series(1, 300) i) s;
SELECT count(*), abs(avg(estimate - exact)) < 0.003 AS unbiased,
	sqrt(avg((estimate - exact) ^ 2)) / sqrt(avg(minhash_error(1024, 4, exact) ^ 2)) < 1.1 AS error FROM pairs;
DROP TABLE pairs;

-- Joins of weighed sets are exact; those of signatures estimate the same
CREATE TABLE notes (id int PRIMARY KEY, body text);
INSERT INTO notes VALUES (1, 'c1 c2 c4 c8 alpha beta'), (2, 'c1 c2 c16 alpha beta'), (3, 'c1 c2 c4 c8 gamma delta'), (4, 'c2 c4 c8 epsilon');
SELECT a, b, round(similarity::numeric, 4) AS similarity FROM neardup_pairs('SELECT id, to_shingles(body, ''word 1'') FROM notes', 0.3) ORDER BY 1, 2;
SELECT a, b, round(p.similarity::numeric, 4) AS similarity, weighted_jaccard(weigh(to_shingles(x.body, 'word 1'), :'lex'), weigh(to_shingles(y.body, 'word 1'), :'lex')) = p.similarity AS exact
FROM neardup_pairs(format('SELECT id, weigh(to_shingles(body, ''word 1''), %L) FROM notes', :'lex'), 0.3, multiset => true) p
JOIN notes x ON x.id = a JOIN notes y ON y.id = b ORDER BY 1, 2;
SELECT a, b FROM neardup_pairs(format('SELECT id, to_minhash(body, 1024, 8, lexicon => %L) FROM notes', :'lex'), 0.3) ORDER BY 1, 2;
SELECT id, keeper FROM neardup_clusters(format('SELECT id, weigh(to_shingles(body, ''word 1''), %L) FROM notes', :'lex'), 0.5, multiset => true) ORDER BY id;

-- Sets and signatures of different lexicons, or none, are never compared
CREATE FUNCTION say(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	said_detail text;
	said_hint text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = MESSAGE_TEXT, said_detail = PG_EXCEPTION_DETAIL, said_hint = PG_EXCEPTION_HINT;
	RETURN format('%s %s: %s / %s', SQLSTATE, said, said_detail, said_hint);
END $$;
SELECT say(statement) FROM unnest(ARRAY[
	$$SELECT similarity(to_minhash('a b', lexicon => '1/word 1/10/{7:1}'), to_minhash('a b', lexicon => '1/word 1/10/{7:2}'))$$,
	$$SELECT similarity(to_minhash('a b', lexicon => '1/word 1/10/{7:1}'), to_minhash('a b', scheme => 'word 1'))$$,
	$$SELECT weighted_jaccard(weigh(to_shingles('a b', 'word 1'), '1/word 1/10/{7:1}'), to_shingles('a b', 'word 1'))$$,
	$$SELECT similarity(to_minhash(to_shingles('{a}'::text[], weights => '{1}')), to_minhash(to_shingles('{a}'::text[])))$$,
	$$SELECT similarity(to_simhash(weigh(to_shingles('a b', 'word 1'), '1/word 1/10/{7:1}')), to_simhash('a b'))$$,
	$$SELECT weigh(to_shingles('a b'), '1/word 1/10/{7:1}')$$,
	$$SELECT weigh(weigh(to_shingles('a b', 'word 1'), '1/word 1/10/{7:1}'), '1/word 1/10/{7:1}')$$,
	$$SELECT to_minhash('a b', lexicon => '1/tokens/10/{7:1}')$$,
	$$SELECT to_minhash('a b', scheme => 'word 1 lexicon 3f2a')$$,
	$$SELECT to_minhash('a b', k => 3, b => 1, lexicon => '1/word 1/10/{7:1}')$$]) statement;

-- Tokens with weights of the caller: in sixteenths, those of equal tokens added up
SELECT to_shingles('{a,b,c,a}'::text[], weights => '{1,0.5,0.01,0.25}') AS set, to_shingles('{}'::text[], weights => '{}') AS empty,
	to_shingles('{a,b}'::text[], weights => '{1,2.5}') = to_shingles('{b,a}'::text[], weights => '{2.5,1}') AS same;
SELECT weighted_jaccard(to_shingles('{a,b}'::text[], weights => '{1,3}'), to_shingles('{a,b}'::text[], weights => '{2,1}')) AS exact,
	similarity(to_minhash(to_shingles('{a,b}'::text[], weights => '{1,3}'), 16384, 4), to_minhash(to_shingles('{a,b}'::text[], weights => '{2,1}'), 16384, 4)) BETWEEN 0.35 AND 0.45 AS estimate;
SELECT say(format('SELECT to_minhash(to_shingles(%L::text[], weights => %L))', tokens, weights))
FROM (VALUES ('{a}', '{-1}'), ('{a}', '{NaN}'), ('{a}', '{Infinity}'), ('{a}', '{1,2}'), ('{a}', '{NULL}'), ('{a,NULL}', '{1,2}'), ('{a}', '{4194305}'), ('{a,a}', '{4194304,4194304}'), ('{a,b}', '{4194304,1}')) v (tokens, weights);
SELECT say($$SELECT to_minhash('1/weighted/{1:4294967295}'::shingles)$$);

-- The copies of weighted elements are plain sets, whose similarity is the weighted Jaccard
SELECT shingles_copies('1/word 1/{-5,3:3}'), shingles_copies('1/word 1/{}'), shingles_copies(to_shingles('a b', 'word 1')) = to_shingles('a b', 'word 1') AS plain;
SELECT to_minhash(shingles_copies(a), 64, 32) = to_minhash(a, 64, 32) AS signed, cardinality(shingles_copies(a)) = shingle_total(a) AS counted
FROM (VALUES ('1/weighted/{-5:7,3:3,4}'::shingles)) v (a);
SELECT say($$SELECT shingles_copies('1/weighted/{1:4294967295}'::shingles)$$);
DO $$
BEGIN
	EXECUTE format('CREATE FUNCTION weighed(text) RETURNS shingles LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS %L',
		format('SELECT public.weigh(public.to_shingles($1, ''word 1''), %L)', (SELECT lex FROM lexicons WHERE name = 'all')));
END $$;
CREATE INDEX docs_copies ON docs USING neardup (shingles_copies(weighed(body)));
SET enable_seqscan = off;
SELECT t, count(*) > 100 AS many, bool_and(b.id = ANY (found) = (weighted_jaccard(weighed(a.body), weighed(b.body)) >= t)) AS exact
FROM docs a, unnest('{0.1,0.3,0.6,1}'::float8[]) t, docs b, LATERAL (SELECT array_agg(c.id) AS found FROM docs c WHERE is_similar(shingles_copies(weighed(c.body)), shingles_copies(weighed(a.body)), t) OFFSET 0) i
WHERE a.id % 97 = 0 AND b.id % 7 = 0 GROUP BY t ORDER BY t;
RESET enable_seqscan;
DROP INDEX docs_copies;
DROP FUNCTION weighed;

-- A lexicon in a generated column and an index
DO $$
BEGIN
	EXECUTE format('CREATE FUNCTION signed(text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS %L',
		format('SELECT to_minhash($1, lexicon => %L)', (SELECT lex FROM lexicons WHERE name = 'all')));
END $$;
ALTER TABLE notes ADD COLUMN sig minhash GENERATED ALWAYS AS (signed(body)) STORED;
CREATE INDEX notes_sig ON notes USING neardup (sig);
INSERT INTO notes SELECT id + 10, body FROM docs;
SET enable_seqscan = off;
SELECT id FROM notes WHERE is_similar(sig, signed('c1 c2 alpha beta c4 c8'), 0.9);
SELECT id FROM notes WHERE is_similar(sig, signed('c4 c8 c2 c1 own8 other8 third8'), 0.8);
RESET enable_seqscan;
-- A renewed lexicon makes signatures that the index does not take
SELECT regexp_replace(say($$
	CREATE OR REPLACE FUNCTION signed(text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$SELECT to_minhash($1, lexicon => '1/word 1/10/{7:1}')$f$;
	INSERT INTO notes VALUES (2000, 'c1 delta')$$), 'lexicon [0-9a-f]{4}', 'lexicon ....', 'g') AS said;

-- Lexicons of a table, some of them out of line, in turns
ALTER TABLE lexicons ALTER lex SET STORAGE external;
INSERT INTO lexicons SELECT 'large', neardup_lexicon('SELECT body FROM docs UNION ALL SELECT body FROM docs');
INSERT INTO lexicons SELECT 'other', neardup_lexicon('SELECT body FROM docs WHERE id > 500 UNION ALL SELECT body FROM docs');
SELECT name, count(DISTINCT to_minhash(body, lex)) > 1 AS signed, bool_and(to_minhash(body, lex) = to_minhash(weigh(to_shingles(body, 'word 1'), lex))) AS same
FROM notes, lexicons WHERE id < 20 AND name <> 'edges' GROUP BY name ORDER BY name;
SELECT name, to_minhash('c1 c2 c500 own7', lex) = to_minhash('c1 c2 c500 own7', lex::text::shingle_lexicon) AS same FROM lexicons WHERE name IN ('large', 'other') ORDER BY name;
DROP TABLE notes, docs, lexicons, copied;
DROP FUNCTION signed, say;
