-- RUM's index of arrays has the resemblance of sets, at one threshold a statement.
SET client_min_messages = warning;
CREATE EXTENSION rum;
SELECT time_build('sets, words', 'RUM', 'docs_rum', 'CREATE INDEX docs_rum ON docs USING rum (hashes rum_anyarray_ops)', 1) \g /dev/null
VACUUM ANALYZE docs;
SELECT contest('similar, words, ' || t, 'RUM', 'queries', 'SELECT id FROM docs WHERE hashes % v.hashes', 1, 200,
	'enable_seqscan = off, rum.array_similarity_function = jaccard, rum.array_similarity_threshold = ' || t)
FROM unnest('{0.7,0.5}'::text[]) AS t \g /dev/null
