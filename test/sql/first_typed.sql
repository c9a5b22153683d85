-- What people type first: each works, or says what to write.
-- PostgreSQL 13 gives less context.
\set SHOW_CONTEXT never
CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
INSERT INTO docs VALUES (1, 'the quick brown fox jumps over the lazy dog'), (2, 'the quick brown fox jumps over the lazy cat'), (3, 'something else');

-- ---- Two texts ----
-- similarity(text, text) is pg_trgm's.
SELECT round(text_similarity('the quick brown fox jumps over the lazy dog', 'The quick, brown fox jumps over the lazy cat!')::numeric, 3) AS words,
	round(text_similarity('the quick brown fox', 'the quick brown fix', 'char 5')::numeric, 3) AS characters,
	text_similarity('the same', 'The same!') AS same, text_similarity('a', NULL) IS NULL AS unknown, text_similarity('', '') AS empty;
SELECT id, round(text_similarity(body, 'the quick brown fox')::numeric, 3) AS similarity FROM docs ORDER BY 2 DESC, 1;
SELECT text_similarity(body, 'the quick brown fox', scheme => 'word 1') = similarity(to_shingles(body, 'word 1'), to_shingles('the quick brown fox', 'word 1')) AS exact FROM docs;
SELECT text_similarity('a', 'b', 'letters');

-- ---- A text in the place of a signature ----
SELECT is_similar(sig, 'hello', 0.8) FROM docs;
SELECT is_similar(sig, '2024 budget', 0.8) FROM docs;
SELECT 'hello'::simhash;
SELECT 'hello'::shingles;
SELECT ''::minhash;
SELECT 'hello'::minhash_ball;

-- ---- A scheme in the second place ----
SELECT to_minhash(body, 'char 5') = to_minhash(body, scheme => 'char 5') AS named, to_minhash(body, 'word 3') = sig AS default,
	to_simhash(body, 'char 3') = to_simhash(body, scheme => 'char 3') AS simhash FROM docs;
SELECT to_minhash('a b c', 'chars 5');
SELECT to_minhash('a b c', '');
SELECT to_minhash('a b c', 'tokens');
-- A number is k, as drivers send it if they do not know its type.
SELECT to_minhash(body, '128') = to_minhash(body, 128) AS minhash, to_simhash(body, '128') = to_simhash(body, f => 128) AS simhash FROM docs;
SELECT to_minhash('a', '5');
SELECT to_simhash('a', '99999999999');
PREPARE two AS SELECT to_minhash($1, $2);
EXECUTE two('', 'char 5');
EXECUTE two('', '64');
DEALLOCATE two;

-- ---- A list of strings ----
PREPARE list AS SELECT to_minhash($1) = to_minhash(ARRAY['a b', 'c']);
EXECUTE list('{"a b",c}');
DEALLOCATE list;
PREPARE list AS SELECT to_minhash($1::text[]) = to_minhash(ARRAY['a b', 'c']);
EXECUTE list('{"a b",c}');
DEALLOCATE list;
-- One warning for a statement.
SELECT count(to_simhash(t)), count(to_shingles(t)) FROM (VALUES ('{a,b}'), ('{"a\",","b"}')) v (t);
-- Texts that are no lists: JSON, code, and braces alone.
SELECT count(to_minhash(t)) FROM (VALUES ('{}'), ('{a}'), ('{"a": 1, "b": 2}'), ('{"a":1}'), ('{ color: red, }'), ('{a,}'), ('{,a}'), ('{a,b} c'), ('{"a,b}'), ('{"a","b\"}'), ('{{a,b}}'),
	('{a,b'), ('{if x, then y}'), ('{"a","b"'), ('{"a"b,c}')) v (t);

-- ---- Signatures that differ in shape or scheme ----
SELECT sig <-> to_minhash('a', 100, 2, 'char 5') FROM docs;
SELECT sig <-> to_minhash('a', 'char 5') FROM docs;
SELECT similarity(to_simhash('a'), to_simhash('a', 128, 'spot 1 2 de'));
SELECT similarity(to_shingles('a'), to_shingles('a', 'char 5'));
SELECT similarity(to_minhash('a'), to_minhash(ARRAY['a']));
SELECT similarity(to_minhash(ARRAY[1::bigint]), to_minhash(ARRAY['a']));
SELECT similarity(to_simhash(ARRAY['a'], ARRAY[1]), to_simhash(ARRAY[1::bigint]::shingles));
SELECT similarity(to_shingles('a', 'spot 1 2', ARRAY['a']), to_shingles(ARRAY['a']));
SELECT similarity(to_minhash('a', 64), B'1'::bit(64)::minhash), 1;
SELECT similarity(to_simhash('a'), 5::bigint::simhash);
SELECT similarity(to_minhash('a', 16, 32), ARRAY[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]::bigint[]::minhash);
-- A column of several shapes.
CREATE TABLE mixed (id int, sig minhash);
INSERT INTO mixed VALUES (1, to_minhash('a b c')), (2, to_minhash('a b c', 64)), (3, to_minhash('a b c', scheme => 'char 5'));
CREATE INDEX ON mixed USING neardup (sig);
SELECT * FROM neardup_pairs('SELECT id, sig FROM mixed', 0.8);
SELECT id FROM mixed WHERE NOT is_comparable(sig, to_minhash('')) ORDER BY id;
ALTER TABLE mixed ALTER sig TYPE minhash(512);

-- ---- Thresholds in percent ----
SELECT is_similar(sig, sig, 80) FROM docs;
SELECT near(sig, 95.5) FROM docs;
SELECT * FROM neardup_pairs('SELECT id, sig FROM docs', 80);
SELECT is_similar(sig, sig, 101) FROM docs;
SELECT is_similar(sig, sig, -80) FROM docs;

-- ---- Pairs ----
SELECT * FROM neardup_pairs('SELECT sig, id FROM docs', 0.5);
SELECT * FROM neardup_clusters('SELECT sig, id FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT id::text, sig FROM docs', 0.5);

-- ---- The trigger ----
CREATE TRIGGER no_copies AFTER INSERT ON docs EXECUTE FUNCTION neardup_reject('sig', '0.9');
INSERT INTO docs VALUES (4, 'another text');
DROP TRIGGER no_copies ON docs;
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT ON docs FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '90');
INSERT INTO docs VALUES (4, 'another text');
DROP TRIGGER no_copies ON docs;

-- ---- A constraint added to rows that violate it: how to list the pairs ----
-- The name of the function in the detail has a schema from PostgreSQL 17 on.
\set VERBOSITY terse
ALTER TABLE docs ADD CONSTRAINT no_copies EXCLUDE USING neardup (near(sig, 0.6) WITH &&);
\set VERBOSITY default
SELECT a, b FROM neardup_pairs('SELECT id, sig FROM docs', 0.6);

-- ---- Emoji and punctuation ----
-- Texts without letters and digits have no shingles, and copies of them are not found, unless the scheme sees symbols.
SELECT of, cardinality(to_minhash(t)) AS words, cardinality(to_minhash(t, 'char 3')) AS characters, cardinality(to_minhash(t, 'anychar 3')) AS any_characters,
	is_similar(to_minhash(t), to_minhash(t), 0.8) AS found_by_words, is_similar(to_minhash(t, 'anychar 3'), to_minhash(t, 'anychar 3'), 0.8) AS found
FROM (VALUES ('four emoji', '😀😀😀😀'), ('punctuation', '!!! ???'), ('one emoji', '👍'), ('blanks', E' \t\n'), ('letters', 'a b c')) v (of, t);
SELECT text_similarity('😀😀 👍👍👍', '😀😀  👍👍👍', 'anychar 2') AS same, round(text_similarity('😀😀 👍👍👍', '😀😀 👍👎👍', 'anychar 1')::numeric, 2) AS similar,
	text_similarity('Yes!', 'yes?', 'anychar 1') AS punctuation, text_similarity('Yes!', 'yes?', 'char 1') AS characters;
SELECT shingle, count FROM show_shingles('Wow!! -- Wow', 'anychar 3');
SELECT to_shingles('😀!', 'AnyChar  1');
SELECT to_shingles('a', 'anychar 0');
CREATE TABLE reactions (id int, body text, sig minhash(128) GENERATED ALWAYS AS (to_minhash(body, 128, scheme => 'anychar 3')) STORED);
CREATE INDEX ON reactions USING neardup (sig);
INSERT INTO reactions VALUES (1, '😀👍😀👍'), (2, '😀👍😀👍'), (3, '👎👎👎'), (4, '...?!'), (5, '...?!');
SELECT a, b FROM neardup_pairs('SELECT id, sig FROM reactions', 0.9) ORDER BY 1;
SELECT id FROM reactions WHERE is_similar(sig, to_minhash('👎👎👎', 128, scheme => 'anychar 3'), 0.9);

DROP TABLE docs, mixed, reactions;
