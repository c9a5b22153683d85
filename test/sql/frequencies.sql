-- Document frequencies, I-Match, TF-IDF.

CREATE TABLE docs (id int, s shingles);
INSERT INTO docs VALUES (1, '1/hashes/{1:5,2,3}'), (2, '1/hashes/{1,2,4}'), (3, '1/hashes/{1,2:9,5}'), (4, '1/hashes/{1}'), (5, '1/hashes/{}'), (6, NULL);

-- Five documents: idf = ln(5 / df) / ln 5
SELECT shingle, df, round(idf::numeric, 6) AS idf, abs(idf - ln(5.0 / df) / ln(5.0)) < 1e-15 AS exact FROM neardup_frequencies('SELECT s FROM docs') ORDER BY shingle;
-- One document, no document, equal documents
SELECT * FROM neardup_frequencies('SELECT s FROM docs WHERE id = 2') ORDER BY shingle;
SELECT * FROM neardup_frequencies('SELECT s FROM docs WHERE id > 4');
SELECT * FROM neardup_frequencies('SELECT s FROM docs WHERE id = 4 UNION ALL SELECT s FROM docs WHERE id = 4');
SELECT * FROM neardup_frequencies(NULL);
-- A query may end in a comment; a semicolon is not part of it
SELECT count(*) FROM neardup_frequencies('SELECT s FROM docs -- all of them');
SELECT count(*) FROM neardup_frequencies('VALUES (''1/hashes/{7}''::shingles)');
SELECT neardup_frequencies('SELECT id FROM docs');
SELECT neardup_frequencies('SELECT s, id FROM docs');
SELECT neardup_frequencies('SELECT s FROM docs; SELECT s FROM docs');
SELECT neardup_frequencies('DROP TABLE docs');
SELECT neardup_frequencies('');
SELECT neardup_frequencies('SELECT s FROM nowhere');

CREATE TABLE lexicon AS SELECT shingle, df, idf FROM neardup_frequencies('SELECT s FROM docs');
ALTER TABLE lexicon ADD PRIMARY KEY (shingle);

-- Filters keep frequencies, and drop elements that are not in the lexicon
SELECT id, neardup_idf_filter(s, 'lexicon', 0, 1) = s AS all, neardup_idf_filter(s, 'lexicon', 0.2, 0.5) AS middle, neardup_idf_filter(s, 'lexicon', 0.5, 1) AS rare, neardup_idf_filter(s, 'lexicon', 0.9, 0.1) AS none
FROM docs ORDER BY id;
SELECT neardup_idf_filter('1/hashes/{1:7,2:3,99:4}', 'lexicon', 0, 1);
SELECT neardup_idf_filter('1/hashes/{1}', 'docs', 0, 1);
SELECT neardup_idf_filter('1/hashes/{1}', 0::regclass, 0, 1);
-- Independent of the search path
CREATE SCHEMA "odd schema";
CREATE TABLE "odd schema"."odd ""table" AS SELECT * FROM lexicon;
SET search_path = pg_catalog;
SELECT public.neardup_idf_filter('1/hashes/{1,2,3}'::public.shingles, '"odd schema"."odd ""table"', 0.5, 1);
SELECT count(*) FROM public.neardup_frequencies('SELECT s FROM public.docs');
RESET search_path;
DROP SCHEMA "odd schema" CASCADE;

-- Digests: of sets, not of bags; order does not matter
SELECT imatch('1/hashes/{1,2}'), imatch('1/hashes/{1:5,2}') = imatch('1/hashes/{1,2:7}') AS set, imatch('1/hashes/{1,3}') = imatch('1/hashes/{1,2}') AS other,
	imatch('1/hashes/{}') IS NULL AS empty, length(imatch('1/hashes/{-5}'));
SELECT count(DISTINCT imatch(to_shingles(ARRAY(SELECT generate_series(1::bigint, n))))) AS different, count(*) FROM generate_series(1, 1200) AS n;
SELECT imatch(to_shingles('b a c', 'word 1')) = imatch(to_shingles('A, b; c!', 'word 1')) AS words;

-- I-Match: documents with the same terms of middling idf
SELECT imatch(neardup_idf_filter(s, 'lexicon', 0.2, 0.6)) IS NULL AS nothing_left, array_agg(id ORDER BY id) FROM docs GROUP BY imatch(neardup_idf_filter(s, 'lexicon', 0.2, 0.6)) ORDER BY 2;

-- TF-IDF: 1 is in four of five, 3 and 4 in one
WITH w(one, two, rare) AS (SELECT ln(5 / 4.0) / ln(5.0), ln(5 / 3.0) / ln(5.0), 1)
SELECT abs(neardup_tfidf_cosine(a.s, b.s, 'lexicon') - (5 * one * one + two * two) / (sqrt(25 * one * one + two * two + rare) * sqrt(one * one + two * two + rare))) < 1e-12 AS formula
FROM docs AS a, docs AS b, w WHERE a.id = 1 AND b.id = 2;
SELECT neardup_tfidf_cosine(s, s, 'lexicon') AS itself, neardup_tfidf_cosine(s, '1/hashes/{77}', 'lexicon') AS unknown, neardup_tfidf_cosine(s, '1/hashes/{}', 'lexicon') AS empty FROM docs WHERE id < 4;
SELECT neardup_tfidf_cosine('1/hashes/{1}', '1/word 3/{1}', 'lexicon');
INSERT INTO docs SELECT 7, '1/hashes/{2}';
ALTER TABLE lexicon DROP CONSTRAINT lexicon_pkey;
INSERT INTO lexicon SELECT * FROM lexicon WHERE shingle = 2;
SELECT neardup_idf_filter('1/hashes/{2:3}', 'lexicon', 0, 1);
SELECT neardup_tfidf_cosine('1/hashes/{2}', '1/hashes/{2}', 'lexicon');
DROP TABLE docs, lexicon;
-- Several lexicons in a statement; a lexicon that changes between calls; an error leaves nothing behind
CREATE TABLE one (shingle bigint, idf float8);
CREATE TABLE two (shingle bigint, idf float8);
INSERT INTO one VALUES (1, 0.5);
INSERT INTO two VALUES (2, 0.5);
SELECT name, neardup_idf_filter('1/hashes/{1,2,3}', name::regclass, 0, 1) FROM unnest('{one,two,one,one,two}'::text[]) AS name;
DO $$
DECLARE
	kept shingles;
BEGIN
	FOR i IN 1 .. 4 LOOP
		kept := neardup_idf_filter('1/hashes/{1,2,3}', 'one', 0, 1);
		RAISE NOTICE '%', kept;
		IF i = 2 THEN
			ALTER TABLE one ADD COLUMN more text;
			INSERT INTO one VALUES (3, 0.5);
		END IF;
		BEGIN
			PERFORM neardup_idf_filter('1/hashes/{1}', x::regclass, 0, 1) FROM unnest('{one,pg_class}'::text[]) AS x;
		EXCEPTION WHEN undefined_column THEN
			NULL;
		END;
	END LOOP;
END
$$;
DROP TABLE one, two;
-- A query may end in a semicolon or a comment; it is a SELECT
SELECT * FROM neardup_frequencies('SELECT ''1/hashes/{1,2}''::shingles;') ORDER BY shingle;
SELECT * FROM neardup_frequencies(' ; SELECT ''1/hashes/{1}''::shingles ; -- and no more') ORDER BY shingle;
SELECT * FROM neardup_frequencies('SELECT ''1/hashes/{1}''::shingles -- and no more') ORDER BY shingle;
CREATE TABLE sets (s shingles);
SELECT * FROM neardup_frequencies('DELETE FROM sets RETURNING s');
-- Sets with nothing in common are not similar, whatever their weights
CREATE TABLE heavy (shingle bigint PRIMARY KEY, idf float8);
INSERT INTO heavy VALUES (1, 1e50), (2, 1e50), (3, 'Infinity');
SELECT neardup_tfidf_cosine('1/hashes/{1}', '1/hashes/{2}', 'heavy'), neardup_tfidf_cosine('1/hashes/{1,2}', '1/hashes/{1,2}', 'heavy');
SELECT neardup_tfidf_cosine('1/hashes/{1}', '1/hashes/{3}', 'heavy');
DROP TABLE sets, heavy;

-- With weights of any size the cosine is 0 with nothing in common and 1 for equal sets
CREATE TABLE lexicon (shingle bigint PRIMARY KEY, idf float8);
INSERT INTO lexicon VALUES (1, 1e-170), (2, 1e-170), (3, 5e-324), (4, 1e50), (5, 1);
SELECT x, y, neardup_tfidf_cosine(x, y, 'lexicon') FROM (VALUES ('1/hashes/{1}'::shingles), ('1/hashes/{2}'), ('1/hashes/{3}'), ('1/hashes/{4:4000000000}')) AS a (x), (VALUES ('1/hashes/{1}'::shingles), ('1/hashes/{3}'), ('1/hashes/{4}')) AS b (y);
DROP TABLE lexicon;
