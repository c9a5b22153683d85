-- What people type first: each works, or says what to write.
\set SHOW_CONTEXT never
CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) WITH (autovacuum_enabled = off);
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
SELECT 'hello'::ball;

-- A column of texts, and other types than any function or operator takes: PostgreSQL says so before it calls neardup.
-- doc/reference/errors.md says what to write.  A function is_similar(text, text, float8) would take over is_similar($1, $2, $3),
-- and compare signatures that a driver sends without a type as if they were texts.
\set VERBOSITY terse
SELECT is_similar(body, 'text', 0.8) FROM docs;
SELECT similarity(sig, body) FROM docs;
SELECT sig <-> body FROM docs;
SELECT id FROM docs WHERE body <@ near(to_minhash('text'), 0.8);
SELECT similarity(5::bigint, 6::bigint);
SELECT 5::bigint <~> 6::bigint;
ALTER TABLE docs ADD EXCLUDE USING neardup (sig WITH &&);
\set VERBOSITY default
SET search_path = pg_catalog;
ALTER TABLE public.docs ADD EXCLUDE (public.near(sig, 0.9) WITH OPERATOR(public.&&));
RESET search_path;
-- What to write instead.
SELECT id, text_similarity(body, 'The quick brown fox jumps over the lazy') >= 0.7 AS texts, is_similar(to_minhash(body), to_minhash('The quick brown fox jumps over the lazy'), 0.7) AS signatures FROM docs ORDER BY id;
SELECT 5::bigint <~> 6::bigint::simhash AS bits, similarity(5::bigint::simhash, 6::bigint::simhash) AS similarity;

-- ---- A btree index of signatures ----
-- It finds equal signatures only.  Searches do not use it, and neardup_status() says so.
CREATE INDEX docs_btree ON docs (sig);
SET seq_page_cost = 1000000;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE is_similar(sig, sig, 0.8);
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE sig = '1/word 3/512x1/0/';
SELECT neardup_check('docs_btree');
RESET seq_page_cost;
DROP INDEX docs_btree;

-- ---- A scheme in the second place ----
SELECT to_minhash(body, 'char 5') = to_minhash(body, scheme => 'char 5') AS named, to_minhash(body, 'word 3') = sig AS default,
	to_simhash(body, 'char 3') = to_simhash(body, scheme => 'char 3') AS simhash FROM docs;
SELECT to_minhash('a b c', 'chars 5');
-- Two texts: the second is no scheme, and not repeated as a whole.
SELECT to_minhash('A title', repeat('é', 39) || 'ab' || repeat('a body ', 100000));
SELECT to_minhash('a b c', '');
SELECT to_minhash('a b c', 'tokens');
-- A number without a type is no scheme.
SELECT to_minhash('a', '128');
SELECT to_minhash('a b c', 3);
SELECT to_simhash('a b c', '3');
SELECT to_shingles('a b c', '3');
SELECT text_similarity('a b c', 'a b d', '2');
SELECT to_shingles('a b c', '0');
SELECT to_shingles('a b c', '99999999999999999999');
SELECT 'a'::minhash(3);
PREPARE two AS SELECT to_minhash($1, $2);
EXECUTE two('', 'char 5');
EXECUTE two('', '64');
DEALLOCATE two;

-- ---- Signatures that differ in shape or scheme ----
SELECT sig <-> to_minhash('a', 100, 2, 'char 5') FROM docs;
SELECT sig <-> to_minhash('a', 'char 5') FROM docs;
SELECT similarity(to_simhash('a'), to_simhash('a', 128, 'spot 1 2 de'));
SELECT similarity(to_shingles('a'), to_shingles('a', 'char 5'));
SELECT similarity(to_minhash('a'), to_minhash(to_shingles(ARRAY['a'])));
SELECT similarity(to_minhash(to_shingles(ARRAY[1::bigint])), to_minhash(to_shingles(ARRAY['a'])));
SELECT similarity(to_simhash(to_shingles(ARRAY['a'], ARRAY[1])), to_simhash(ARRAY[1::bigint]::shingles));
SELECT similarity(to_shingles('a', 'spot 1 2', ARRAY['a']), to_shingles(ARRAY['a']));
SELECT similarity(to_minhash('a', 64), B'1'::bit(64)::minhash), 1;
SELECT similarity(to_simhash('a'), 5::bigint::simhash);
SELECT similarity(to_minhash('a', 16, 32), ARRAY[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]::bigint[]::minhash);
-- A column of several shapes.
CREATE TABLE mixed (id int, sig minhash);
INSERT INTO mixed VALUES (1, to_minhash('a b c')), (2, to_minhash('a b c', 64)), (3, to_minhash('a b c', scheme => 'char 5'));
CREATE INDEX ON mixed USING neardup (sig);
SELECT id FROM mixed WHERE NOT is_comparable(sig, '1/word 3/512x1/0/') ORDER BY id;
-- The condition in the hint is one for every scheme and type.
SELECT is_comparable(to_minhash(to_shingles(ARRAY['a']), 32, 8), '1/tokens/32x8/0/') AS tokens, is_comparable(5::bigint::simhash, '1/foreign/64/') AS hashes,
	is_comparable(to_minhash(to_shingles(ARRAY['a'], weights => ARRAY[2.5])), '1/weighted/512x1/0/') AS weighted, is_comparable(to_simhash('a'), '1/word 1/64/') AS simhash;
ALTER TABLE mixed ADD EXCLUDE USING neardup (near(sig, 0.9) WITH &&);
CREATE INDEX mixed_sig ON mixed USING neardup (sig) WHERE id = 1;
INSERT INTO mixed VALUES (1, to_minhash('a b c', 64));
SELECT * FROM neardup_pairs('SELECT id, sig FROM mixed', 0.8);
-- They name the row.
CREATE FUNCTION context_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	EXECUTE query;
	RETURN NULL;
EXCEPTION WHEN datatype_mismatch THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN split_part(context, E'\n', 1);
END $$;
SELECT context_of($$SELECT neardup_pairs('SELECT id, sig FROM mixed ORDER BY id', 0.8)$$);
SELECT context_of($$SELECT neardup_clusters('SELECT ''no. '' || id, sig FROM mixed ORDER BY id', 0.8, NULL::text)$$);
SELECT context_of($$SELECT neardup_pairs('SELECT n, to_shingles(''a'', ''word '' || n) FROM generate_series(1, 3) n', 0.8)$$);
SELECT context_of($$SELECT neardup_pairs('SELECT 1, to_minhash(''a'')', 0.8, against => 'SELECT 7, to_minhash(''a'', 64)')$$);
DROP FUNCTION context_of;
SELECT id FROM mixed WHERE NOT is_comparable(sig, to_minhash('')) ORDER BY id;
-- <@ is LEAKPROOF and raises no error: a signature of another shape or scheme lies in no ball.
SELECT id FROM mixed WHERE sig <@ near(to_minhash('a b c', 'char 5'), 0.8) ORDER BY id;
SELECT id FROM mixed WHERE sig <@ near(to_minhash('a b c', 'char 4'), 0.8) ORDER BY id;
-- A column of another size.
ALTER TABLE docs ADD COLUMN small minhash(64) GENERATED ALWAYS AS (to_minhash(body)) STORED;
ALTER TABLE docs ADD COLUMN small minhash(64) GENERATED ALWAYS AS (to_minhash(body, 64, 8)) STORED;
ALTER TABLE docs ADD COLUMN small simhash(128) GENERATED ALWAYS AS (to_simhash(body)) STORED;
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
SELECT * FROM neardup_clusters('SELECT md5(body)::uuid, sig FROM docs', 0.5);
SELECT * FROM neardup_clusters('SELECT md5(body)::uuid, sig FROM docs', 0.5, NULL::text);
SELECT * FROM neardup_pairs('SELECT id, body FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT id, id::bigint AS "pHash" FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT id, B''1''::bit(64) AS hash FROM docs', 0.5);
SELECT * FROM neardup_pairs('SELECT id, now() FROM docs', 0.5);
-- A parameter inside the text of a query.
SELECT * FROM neardup_pairs('SELECT id, sig FROM docs WHERE id < $1', 0.5);
SELECT * FROM neardup_clusters('SELECT id, sig FROM docs WHERE id < $1', 0.5);
SELECT * FROM neardup_frequencies('SELECT to_shingles(body) FROM docs WHERE id < $1');
SELECT * FROM neardup_common_shingles('SELECT body FROM docs WHERE id < $1');
SELECT neardup_lexicon('SELECT body FROM docs WHERE id < $1');
SELECT * FROM neardup_advise('SELECT id, body FROM docs WHERE id < $1');
SELECT count(*) FROM neardup_pairs(format('SELECT id, sig FROM docs WHERE id < %L', 3), 0.5);
-- A placeholder of a client, and a table.
SELECT * FROM neardup_pairs('SELECT id, sig FROM docs WHERE id < ?', 0.5);
SELECT * FROM neardup_frequencies('docs');

-- ---- Hashes ----
-- Messages name no type that the user does not have.
SELECT is_within(5::bigint, 6, -1);
SELECT hamming_ball(5::bigint, 65);
SELECT is_within(B'1010101010101010', B'1010101010101011', 17);
SELECT hamming_ball(B'1010101010101010', -1);
SELECT is_within(to_minhash('a', 64), to_minhash('a', 64), 65);

-- ---- Guards ----
SELECT neardup_guard('docs');
SELECT neardup_guard('docs', 'sig');
SELECT neardup_guard('docs', 'sig', 90);
SELECT neardup_guard('docs', 'body', 0.9);
SELECT neardup_guard('docs', 'lower(body)', 0.9);
SELECT neardup_guard('docs', 'signature', 0.9);
SELECT neardup_guard('docs', 'sig', 0.9, within => 'tenant');
SELECT neardup_guard('docs', verdicts => 'verdicts');
CREATE TABLE "Docs" ("Id" int PRIMARY KEY, "Tenant" int, "Sig" minhash);
SELECT neardup_guard('"Docs"', 'Sig', 0.9);
SELECT neardup_guard('"Docs"', '"Sig"', 0.9, within => 'Tenant');
DROP TABLE "Docs";
SELECT neardup_guard('docs', 'sig', 0.9, action => 'refuse');
SELECT neardup_guard('docs', 'sig', 0.9, show => 'titel');
CREATE TRIGGER no_copies AFTER INSERT ON docs EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
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

-- ---- Settings before the library is loaded ----
-- A session takes any name and any value.  When it loads the library, it warns of wrong ones, and from PostgreSQL 15 on removes wrong names.
\c
SET client_min_messages = error;
SET neardup.bakground = off;
SET neardup.search = 'fastest';
SET neardup.cache_size = '1MB';
SHOW neardup.bakground;
SELECT to_minhash('a') IS NULL AS loaded;
SELECT current_setting('neardup.search') AS search, current_setting('neardup.cache_size') AS cache_size,
	current_setting('server_version_num')::int < 150000 OR current_setting('neardup.bakground', true) IS NULL AS removed;
