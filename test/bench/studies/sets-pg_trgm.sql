-- pg_trgm compares sets of letters too, cut at the ends of words, so its answers are others.
SET client_min_messages = warning;
CREATE EXTENSION pg_trgm;
SELECT time_build('sets, letters', 'pg_trgm, GIN', 'docs_gin', 'CREATE INDEX docs_gin ON docs USING gin (title gin_trgm_ops)', 1),
	time_build('sets, letters', 'pg_trgm, GiST', 'docs_gist', 'CREATE INDEX docs_gist ON docs USING gist (title gist_trgm_ops(siglen = 64))', 1) \g /dev/null
DROP INDEX docs_letters;
VACUUM ANALYZE docs;
SELECT contest('similar, letters, 0.7', 'pg_trgm, GIN', 'queries', 'SELECT id FROM docs WHERE title % v.title', 1, 200,
		'enable_seqscan = off, enable_indexscan = off, pg_trgm.similarity_threshold = 0.7'),
	contest('ten nearest, letters', 'pg_trgm, GiST', 'queries', 'SELECT (row_number() OVER (ORDER BY d) + 10 * (1e8 * d)::int)::int AS id FROM (SELECT letters <-> v.letters AS d FROM docs ORDER BY title <-> v.title LIMIT 10) AS t', 1, 200,
		'enable_seqscan = off, enable_sort = off') \g /dev/null
