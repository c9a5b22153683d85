-- Answers with several settings.
SELECT must('longer signatures have a greater recall', (SELECT recall FROM recall_curve WHERE setting = '1024 bits') >= (SELECT recall FROM recall_curve WHERE setting = '128 bits') - 0.02),
	must('each setting finds something', (SELECT bool_and(recall > 0.1 AND precision > 0.5) FROM recall_curve)),
	must('bands have several shapes', (SELECT count(*) = 8 FROM recall_curve WHERE peer = 'bands_gin'));
-- Slow settings run fewer queries.
SELECT must('a greater setting of pgvector finds about as much or more',
	count(*) FILTER (WHERE setting = 'ef_search = 800') >= 0.9 * count(*) FILTER (WHERE setting = 'ef_search = 10'))
FROM tried_found f
WHERE curve = 'recall' AND peer = 'hnsw' AND query IN (SELECT query FROM tried_timed WHERE curve = 'recall' AND setting = 'ef_search = 800')
HAVING count(*) > 0;
