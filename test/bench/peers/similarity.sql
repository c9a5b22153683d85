-- pg_similarity: the resemblance of sets of words, with upper and lower case apart.  Its
-- functions raise an error for a text of more than 1,024 bytes, so its index has only shorter
-- texts, and a longer text finds nothing.
ALTER DATABASE :"DBNAME" SET pg_similarity.jaccard_threshold = 0.8;
SET pg_similarity.jaccard_threshold = 0.8;
-- An operator with its true cost comes after the condition on the length.
ALTER FUNCTION jaccard_op(text, text) COST 10000;
SELECT make_peer('similarity', 'pg_similarity, GIN, texts up to 1,024 bytes', 'yes, of words', 'index');
SELECT time_statement('similarity', 'build', 'CREATE INDEX ON similarity_texts USING gin (lower(body) gin_similarity_ops) WHERE octet_length(lower(body)) <= 1024');
SELECT make_function('similarity', 'search', 'short text := CASE WHEN octet_length(lower(q)) <= 1024 THEN lower(q) END;',
		'SELECT id FROM similarity_texts WHERE octet_length(lower(body)) <= 1024 AND lower(body) ~?? short'),
	make_insert('similarity', 'INSERT INTO similarity_texts VALUES (id, body)');
