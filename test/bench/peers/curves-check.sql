-- Answers at several thresholds and with several settings.
SET enable_seqscan = on;
ANALYZE;

CREATE FUNCTION tried_same(of text, one text, other text) RETURNS boolean LANGUAGE sql AS $$
	WITH both_ran AS (
		SELECT setting, query FROM tried_timed WHERE curve = of AND peer = one
		INTERSECT SELECT setting, query FROM tried_timed WHERE curve = of AND peer = other),
	a AS (SELECT setting, query, id FROM tried_found JOIN both_ran USING (setting, query) WHERE curve = of AND peer = one),
	b AS (SELECT setting, query, id FROM tried_found JOIN both_ran USING (setting, query) WHERE curve = of AND peer = other)
	SELECT count(DISTINCT setting) >= 3 AND NOT EXISTS (TABLE a EXCEPT TABLE b) AND NOT EXISTS (TABLE b EXCEPT TABLE a) FROM both_ran
$$;
SELECT must('the index and a scan find the same at each threshold', tried_same('thresholds', 'neardup', 'scan')),
	must('lower thresholds find more', (SELECT count(*) FILTER (WHERE setting = '0.5') > count(*) FILTER (WHERE setting = '1') FROM tried_found WHERE curve = 'thresholds' AND peer = 'neardup')),
	must('longer signatures have a greater recall', (SELECT recall FROM recall_curve WHERE setting = '1024 bits') >= (SELECT recall FROM recall_curve WHERE setting = '128 bits') - 0.02),
	must('each setting finds something', (SELECT bool_and(recall > 0.1 AND precision > 0.5) FROM recall_curve)),
	must('the index finds the nearest ten of all kinds', (SELECT bool_and(recall = 1) FROM nearest_curve WHERE peer = 'neardup')),
	must('there are nearest ten of each data', (SELECT count(*) >= 5 FROM nearest_curve WHERE peer = 'neardup')),
	must('bands have several shapes', (SELECT count(*) = 8 FROM recall_curve WHERE peer = 'bands_gin'));
-- Slow settings run fewer queries.
SELECT must('a greater setting of pgvector finds about as much or more',
	count(*) FILTER (WHERE setting = 'ef_search = 800') >= 0.9 * count(*) FILTER (WHERE setting = 'ef_search = 10'))
FROM tried_found f
WHERE curve = 'recall' AND peer = 'hnsw' AND query IN (SELECT query FROM tried_timed WHERE curve = 'recall' AND setting = 'ef_search = 800')
HAVING count(*) > 0;
