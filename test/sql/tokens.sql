-- show_tokens() and show_shingles(): what the recipe makes of a text.

SELECT show_tokens('Hello, World!  It''s 3.14 o''clock; e-mail ME@example.org_now');
-- Case folding, compatibility forms, composition.
SELECT show_tokens('ﬁne Straße ÉTÉ ① x² Ⅷ ｆｕｌｌ');
SELECT show_tokens(U&'e\0301te\0301') = show_tokens('ÉTÉ') AS composed;
-- In scripts without spaces a character is a token.
SELECT show_tokens('東京tower、カタ ไทย');
-- Texts without tokens.
SELECT show_tokens(''), show_tokens(' ,;- '), show_tokens(NULL);
SELECT show_tokens(U&'\0301\0302') AS lone_marks, show_tokens('😀👩‍👩‍👧 🇩🇪') AS emoji,
	show_tokens(E'\x01\x02\x7f') AS controls;
SELECT show_tokens('שלום עולם') AS hebrew;

-- Shingles in order of first occurrence, with counts and hashes.
SELECT shingle, count FROM show_shingles('To be, or not to be: that is to be.', 'word 2');
SELECT shingle, count FROM show_shingles('a rose is a rose is a rose');
SELECT shingle, count FROM show_shingles('Ab ab', 'char 2');
SELECT shingle, count FROM show_shingles('東京', 'char 2');
SELECT shingle, count FROM show_shingles('the end of the road is the end', 'stopword 2');
-- Short texts are one shingle, empty ones none.
SELECT shingle, count FROM show_shingles('only two');
SELECT shingle, count FROM show_shingles('x', 'char 5');
SELECT * FROM show_shingles('');
SELECT * FROM show_shingles(NULL);
SELECT * FROM show_shingles('a b', 'tokens');
SELECT * FROM shared_shingles('a b', 'a b', 'three words');

-- The same shingles as those of to_shingles().
CREATE TABLE texts AS SELECT n, (SELECT string_agg((i * i % (n + 3))::text, E' \t' ORDER BY i) FROM generate_series(1, n * n) i) AS body
	FROM generate_series(1, 20) n;
SELECT scheme, count(*) AS texts,
	bool_and(to_shingles(body, scheme)::bigint[] = ARRAY(SELECT hash FROM show_shingles(body, scheme) ORDER BY hash)) AS elements,
	bool_and(shingle_total(to_shingles(body, scheme)) =
		(SELECT coalesce(sum(count), 0) FROM show_shingles(body, scheme))) AS totals
FROM texts, (VALUES ('word 1'), ('word 3'), ('word 255'), ('char 4')) s(scheme) GROUP BY scheme ORDER BY scheme;

-- Shared shingles, in the order of the first text, with their counts in each text.
SELECT * FROM shared_shingles('to be or not to be', 'not to be, to be sure', 'word 2');
SELECT * FROM shared_shingles('not to be, to be sure', 'to be or not to be', 'word 2');
SELECT * FROM shared_shingles('nothing in common', 'whatever it may be');
SELECT * FROM shared_shingles('', '');
SELECT bool_and(ARRAY(SELECT hash FROM show_shingles(a.body) JOIN shared_shingles(a.body, b.body) USING (shingle) ORDER BY hash) =
	(to_shingles(a.body) & to_shingles(b.body))::bigint[]) AS as_intersection
FROM texts a, texts b;
DROP TABLE texts;
-- In a select list, in a join with a limit.
SELECT show_shingles('a b c d');
SELECT shingle FROM show_shingles('a b c d e f', 'word 1') LIMIT 2;

-- A text of several megabytes, a very long word, the limit of the scheme.
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat('the quick brown fox ', 200000)) s;
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat('x', 5000000)) s;
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat('x', 5000000), 'char 255') s;
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat(U&'\0301', 1000000)) s;
SELECT cardinality(s), shingle_total(s) FROM to_shingles(repeat('é', 1000000), 'char 2') s;

-- Processing one text can be cancelled.
CREATE TEMP TABLE huge AS SELECT repeat('word ', 20000000) AS body;
BEGIN;
SET LOCAL statement_timeout = '50ms';
SELECT cardinality(to_shingles(body)) FROM huge;
ROLLBACK;
BEGIN;
SET LOCAL statement_timeout = '50ms';
SELECT cardinality(to_shingles(body, 'char 9')) FROM huge;
ROLLBACK;
BEGIN;
SET LOCAL statement_timeout = '50ms';
SELECT cardinality(show_tokens(body)) FROM huge;
ROLLBACK;
BEGIN;
SET LOCAL statement_timeout = '50ms';
SELECT count(*) FROM huge, show_shingles(body);
ROLLBACK;
DROP TABLE huge;
