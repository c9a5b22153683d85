-- Descriptions of packages: the new release's are stored.  The old release's that are not among them are new queries.
SET client_min_messages = warning;

CREATE TABLE raw (release text, package text, source text, body text);
\copy raw FROM pstdin
CREATE TABLE texts AS
SELECT row_number() OVER (ORDER BY release, package)::int AS id, release = :'new' AS stored, body, left(body, 45) AS title,
	to_shingles(body) AS words, to_shingles(left(body, 45), 'char 3') AS letters
FROM raw AS r WHERE release = :'new' OR NOT EXISTS (SELECT FROM raw AS n WHERE n.release = :'new' AND n.body = r.body);
CREATE TABLE docs AS SELECT id, body, title, words, letters FROM texts WHERE stored;
SELECT setseed(0.5) \g /dev/null
CREATE TABLE queries AS SELECT id, body, title, words, letters FROM texts WHERE NOT stored AND cardinality(words) > 0 ORDER BY random() LIMIT :queries;
-- Passages of stored texts.
CREATE TABLE passages AS
SELECT id, to_shingles(substr(body, 1 + (random() * greatest(0, length(body) - 200))::int, 200)) AS words
FROM (SELECT * FROM docs ORDER BY random() LIMIT :queries) AS d;
DROP TABLE raw, texts;

SELECT time_build('sets, words', 'neardup', 'docs_words', 'CREATE INDEX docs_words ON docs USING neardup (words)'),
	time_build('sets, letters', 'neardup', 'docs_letters', 'CREATE INDEX docs_letters ON docs USING neardup (letters)') \g /dev/null
VACUUM (FREEZE, ANALYZE);
CHECKPOINT;
