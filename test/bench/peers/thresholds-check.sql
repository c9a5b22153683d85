-- Answers at several thresholds.
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
	must('lower thresholds find more', (SELECT count(*) FILTER (WHERE setting = '0.5') > count(*) FILTER (WHERE setting = '1') FROM tried_found WHERE curve = 'thresholds' AND peer = 'neardup'));
