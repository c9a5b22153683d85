SET client_min_messages = warning;

-- Each query is new: it runs once.  Answers of an order are distances with a rank, because rows may be equally near.
CREATE TABLE searches (place serial, what text, queries regclass, statement text, target text);
INSERT INTO searches (what, queries, statement, target) VALUES
	('similar, words, 0.7', 'queries', 'SELECT id FROM docs WHERE is_similar(words, v.words, 0.7)', '≤ 0.03, p95 ≤ 0.3'),
	('similar, words, 0.5', 'queries', 'SELECT id FROM docs WHERE is_similar(words, v.words, 0.5)', NULL),
	('rows that hold a passage, words, 0.8', 'passages', 'SELECT id FROM docs WHERE is_contained(v.words, words, 0.8)', '≤ 0.03, p95 ≤ 0.5'),
	('rows held in a text, words, 0.8', 'queries', 'SELECT id FROM docs WHERE is_contained(words, v.words, 0.8)', NULL),
	('similar, letters, 0.7', 'queries', 'SELECT id FROM docs WHERE is_similar(letters, v.letters, 0.7)', '≤ 0.3'),
	('ten nearest, letters', 'queries', 'SELECT (row_number() OVER (ORDER BY d) + 10 * (1e8 * d)::int)::int AS id FROM (SELECT letters <-> v.letters AS d FROM docs ORDER BY letters <-> v.letters LIMIT 10) AS t', '≤ 2'),
	('ten nearest, words', 'queries', 'SELECT (row_number() OVER (ORDER BY d) + 10 * (1e8 * d)::int)::int AS id FROM (SELECT words <-> v.words AS d FROM docs ORDER BY words <-> v.words LIMIT 10) AS t', NULL);
INSERT INTO targets SELECT what, 'neardup', 'ms', target FROM searches WHERE target IS NOT NULL;
SELECT contest(what, 'neardup', queries, statement, 1, 1000000, 'enable_seqscan = off, enable_sort = off') FROM searches ORDER BY place \g /dev/null
SELECT contest(what, 'exact', queries, statement, 1, 1000000, 'enable_indexscan = off, enable_bitmapscan = off'),
	contest(what, 'seq scan', queries, statement, 1, 20, 'enable_indexscan = off, enable_bitmapscan = off') FROM searches ORDER BY place \g /dev/null

CREATE TABLE few AS SELECT id, words FROM docs ORDER BY hashint4(id) LIMIT 50000;
CREATE TABLE few_plain (id int PRIMARY KEY, words shingles NOT NULL);
CREATE TABLE few_own (id int PRIMARY KEY, words shingles NOT NULL);
CREATE INDEX ON few_own USING neardup (words);
INSERT INTO targets VALUES ('sets', 'neardup', 'insert', '≤ 40'), ('sets, words', 'neardup', 'build', '≤ 2');
SELECT time_inserts('sets', 'primary key alone', 'few', 'few_plain'), time_inserts('sets', 'neardup', 'few', 'few_own')
FROM generate_series(1, 5) \g /dev/null

-- RUM and smlar index arrays of hashes.
ALTER TABLE docs ADD hashes bigint[];
UPDATE docs SET hashes = shingle_hashes(words);
ALTER TABLE queries ADD hashes bigint[];
UPDATE queries SET hashes = shingle_hashes(words);
