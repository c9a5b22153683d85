-- Answers before and after changes to the rows, and figures.
SET enable_seqscan = on;
ANALYZE;

-- After a third of the rows is deleted, a peer finds what it found before of those that are left.
WITH again AS (SELECT peer, query, array_agg(kind) AS kinds FROM timed WHERE kind IN ('search', 'search after vacuum') GROUP BY peer, query HAVING count(*) = 2),
before AS (SELECT peer, query, id FROM found JOIN again USING (peer, query) JOIN docs USING (id) WHERE kind = 'search' AND id % 3 <> 0),
afterwards AS (SELECT peer, query, id FROM found JOIN again USING (peer, query) LEFT JOIN docs USING (id) WHERE kind = 'search after vacuum' AND docs.id IS NOT NULL)
SELECT must(peer || ' finds the same after vacuum', EXISTS (SELECT FROM again a WHERE a.peer = p.peer)
	AND NOT EXISTS (SELECT query, id FROM before b WHERE b.peer = p.peer EXCEPT SELECT query, id FROM afterwards a WHERE a.peer = p.peer)
	AND NOT EXISTS (SELECT query, id FROM afterwards a WHERE a.peer = p.peer EXCEPT SELECT query, id FROM before b WHERE b.peer = p.peer))
FROM peers p WHERE skipped IS NULL AND peer <> 'base' AND (exact LIKE 'yes%' OR threshold = 'candidates')
	AND EXISTS (SELECT FROM measured m WHERE m.peer = p.peer AND measure = 'vacuum') ORDER BY place;

-- Each peer with rows of its own has each figure.
SELECT must(format('%s has all figures', peer), bool_and(coalesce(figure(peer, measure) >= 0, false)))
FROM peers, unnest('{build,build WAL,update,update WAL,vacuum,search after vacuum,insert,insert WAL}'::text[]) measure
WHERE skipped IS NULL AND peer <> 'base' AND to_regclass(peer || '_texts') IS NOT NULL
GROUP BY peer, place ORDER BY place;
SELECT must('an update of another column writes WAL', (SELECT bool_and(value > 40) FROM measured WHERE measure = 'update WAL'));
