-- Yuan et al. (2012), figures 5 and 6: choosing and merging by the resemblance at 400 bits, and by the number
-- of bits at a resemblance of 0.7.  Only the times at 400 bits and 0.7 are known here as published.
-- Measured are seconds for 1,000 searches, each method with that number of groups that suits it best.

-- Of k bits, k (1 - r) / 2 differ at a resemblance of r.
CREATE TABLE points AS
SELECT k, r, round(k * (1 - r) / 2)::int AS h
FROM (SELECT 400, r FROM unnest('{0.5,0.6,0.7,0.8,0.9,0.95}'::numeric[]) r UNION SELECT k, 0.7 FROM unnest('{100,200,300,400}'::int[]) k) p (k, r);

-- h + 1 groups are the fewest that choosing and merging can use.
CREATE TABLE tried AS SELECT k, h, h + more AS m FROM points, unnest('{1,2,3,4,6,10,20,40}'::int[]) more WHERE h + more <= k / 2;

SELECT time_scan(k, h, :searches) FROM points WHERE contest_of(k, h) NOT IN (SELECT contest FROM answers) \g /dev/null
SELECT time_groups(k, h, m, :searches) FROM tried WHERE NOT EXISTS (SELECT FROM table1 t WHERE t.k = tried.k AND t.h = tried.h AND t.m = tried.m) \g /dev/null
SELECT make_index(k, 0), time_search(k, h, 0, 'auto', :searches), time_search(k, h, 0, 'scan', :searches) FROM points \g /dev/null

-- Choosing chooses, and does not merge because of too many choices.
SELECT make_index(400, 63) \g /dev/null
SET neardup.search = choose;
SELECT must('choosing chooses', bool_and(method = 'choose'))
FROM neardup_explain('paper_index', hamming_ball((SELECT sig FROM q400 LIMIT 1), 60)) WHERE segment IS NOT NULL \g /dev/null
RESET neardup.search;

SELECT must('all methods find the rows of the scan', (SELECT bool_and(wrong = 0 AND recall = 1) FROM contest_results)),
	must('there are rows to find', (SELECT bool_and(found > 0) FROM (SELECT sum(cardinality(ids)) AS found FROM answers WHERE label = 'exact' GROUP BY contest) f)) \g /dev/null

-- ---- CSV -----------------------------------------------------------------------------
\copy (SELECT k, m, h, choices(m, h) AS choices, ms(k, h, 'choose m = ' || m) AS "Alg.G, choosing, ms", ms(k, h, 'merge m = ' || m) AS "Alg.H, merging, ms", ms(k, h, 'auto m = ' || m) AS "neardup, the same index, ms", ms(k, h, 'SQL m = ' || m) AS "Alg.H in SQL on B-trees, ms", ms(k, h, 'seq scan') AS "sequential scan, ms" FROM table1 ORDER BY k, m, h) TO 'yuan-table1.csv' CSV HEADER

-- Seconds for 1,000 searches: milliseconds of one, on average.
CREATE VIEW best AS
SELECT DISTINCT ON (k, h, method) k, h, method, m, seconds
FROM (SELECT p.k, p.h, split_part(label, ' m = ', 1) AS method, split_part(label, ' m = ', 2) AS m, avg(us) / 1000 AS seconds
	FROM points p JOIN (SELECT contest, label, query, min(us) AS us FROM answers GROUP BY contest, label, query) a ON a.contest = contest_of(p.k, p.h) GROUP BY p.k, p.h, label) s
WHERE method <> 'auto' OR m = '0'
ORDER BY k, h, method, seconds;

CREATE VIEW figure AS
SELECT p.k, p.r, CASE WHEN p.k = 400 AND p.r = 0.7 THEN 1921 END AS "published Alg.G", CASE WHEN p.k = 400 AND p.r = 0.7 THEN 273 END AS "published Alg.H",
	round(g.seconds::numeric, 4) AS "measured Alg.G", round(h.seconds::numeric, 4) AS "measured Alg.H", round(n.seconds::numeric, 4) AS "measured neardup",
	round(s.seconds::numeric, 4) AS "measured scan of signatures", round(q.seconds::numeric, 4) AS "measured sequential scan", g.m AS "groups Alg.G", h.m AS "groups Alg.H"
FROM points p LEFT JOIN best g ON (g.k, g.h, g.method) = (p.k, p.h, 'choose') LEFT JOIN best h ON (h.k, h.h, h.method) = (p.k, p.h, 'merge')
	LEFT JOIN best n ON (n.k, n.h, n.method) = (p.k, p.h, 'auto') LEFT JOIN best s ON (s.k, s.h, s.method) = (p.k, p.h, 'scan')
	LEFT JOIN best q ON (q.k, q.h, q.method) = (p.k, p.h, 'seq scan');

\copy (SELECT r AS resemblance, "published Alg.G", "published Alg.H", "measured Alg.G", "measured Alg.H", "measured neardup", "measured scan of signatures", "measured sequential scan", "groups Alg.G", "groups Alg.H" FROM figure WHERE k = 400 ORDER BY r) TO 'yuan-figure5.csv' CSV HEADER
\copy (SELECT k AS bits, "published Alg.G", "published Alg.H", "measured Alg.G", "measured Alg.H", "measured neardup", "measured scan of signatures", "measured sequential scan", "groups Alg.G", "groups Alg.H" FROM figure WHERE r = 0.7 ORDER BY k) TO 'yuan-figure6.csv' CSV HEADER
