-- Searches for sets of shingles; the variable rows is the number of texts.
SET client_min_messages = warning;
SET maintenance_work_mem = '1GB';
CREATE TABLE texts (id bigint, body text);
CREATE UNLOGGED TABLE docs (id int, words shingles);
CREATE TABLE queries (id bigint, words shingles, half shingles);
\copy texts FROM growth.queries
INSERT INTO queries SELECT id, to_shingles(body), to_shingles(left(body, length(body) / 2)) FROM texts;
TRUNCATE texts;
\copy texts FROM growth.rows
INSERT INTO docs SELECT id, to_shingles(body) FROM texts;
DROP TABLE texts;
SELECT time_build('growth', 'neardup', 'docs_words', 'CREATE INDEX docs_words ON docs USING neardup (words)', 1) \g /dev/null
VACUUM (FREEZE, ANALYZE);
CHECKPOINT;
SELECT contest('0.7', 'neardup', 'queries', 'SELECT id FROM docs WHERE is_similar(words, v.words, 0.7)', 1, 500, 'enable_seqscan = off'),
	contest('0.5', 'neardup', 'queries', 'SELECT id FROM docs WHERE is_similar(words, v.words, 0.5)', 1, 500, 'enable_seqscan = off'),
	contest('held', 'neardup', 'queries', 'SELECT id FROM docs WHERE is_contained(v.half, words, 0.8)', 1, 500, 'enable_seqscan = off') \g /dev/null
SELECT format('| %s | %s | %s | %s |', to_char(:rows, 'FM999,999,999'), round(seconds::numeric, 2), round(bytes / (SELECT sum(cardinality(words)) FROM docs), 1), (
	SELECT string_agg(format('%s | %s', round(ms::numeric, 3), round(p95::numeric, 2)), ' | ' ORDER BY place) FROM (
		SELECT min(place) AS place, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000 AS ms, percentile_cont(0.95) WITHIN GROUP (ORDER BY us) / 1000 AS p95
		FROM answers GROUP BY contest) AS a)) FROM builds;
