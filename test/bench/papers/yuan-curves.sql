-- Choosing and merging of Yuan et al. (2012) by the resemblance at 400 bits, and by the number of bits at a
-- resemblance of 0.7.  Published are seconds at 0.7: 1,921 and 273 for 400 bits (abstract), 40 and 15 for 64
-- bits (section 5.3).  Measured are seconds for 1,000 searches (by the median), each method with that number of
-- groups that suits it best; published are those of h + 3 groups, which yuan.sql measures.

-- Of k bits, k (1 - r) / 2 differ at a resemblance of r; rounded down, so that all that is found reaches r.
CREATE TABLE points AS
SELECT k, r, floor(k * (1 - r) / 2)::int AS h
FROM (SELECT 400, r FROM unnest('{0.5,0.6,0.7,0.8,0.9,0.95}'::numeric[]) r UNION SELECT k, 0.7 FROM unnest('{64,100,200,300,400,600,1000}'::int[]) k) p (k, r);

-- h + 1 groups are the fewest that choosing and merging can use.  Choosing is fastest with these few.
CREATE TABLE tried AS SELECT k, h, h + more AS m FROM points, unnest('{1,3,6,10,20}'::int[]) more;

SELECT time_scan(k, h, :searches) FROM points WHERE contest_of(k, h) NOT IN (SELECT contest FROM answers) \g /dev/null
SELECT time_groups(k, h, m, CASE WHEN choices(m, h) > 1000 THEN '{merge}' ELSE '{merge,choose}' END::text[], :searches) FROM tried WHERE NOT EXISTS (SELECT FROM cut t WHERE t.k = tried.k AND t.h = tried.h AND t.m = tried.m) \g /dev/null
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
\copy (SELECT k, m, h, choices(m, h) AS choices, ms(k, h, 'choose m = ' || m) AS "Alg.G, choosing, ms", ms(k, h, 'merge m = ' || m) AS "Alg.H, merging, ms", ms(k, h, 'auto m = ' || m) AS "neardup, the same index, ms", ms(k, h, 'SQL m = ' || m) AS "Alg.H in SQL on B-trees, ms", ms(k, h, 'seq scan') AS "sequential scan, ms" FROM cut ORDER BY k, m, h) TO 'yuan-groups.csv' CSV HEADER

-- A search that takes a millisecond takes a second 1,000 times.
CREATE VIEW best AS
SELECT DISTINCT ON (contest, method) contest, method, m, round(ms::numeric, 4) AS seconds
FROM (SELECT contest, ms, split_part(label, ' m = ', 1) AS method, split_part(label, ' m = ', 2) AS m FROM contest_results) r
WHERE method <> 'auto' OR m = '0'
ORDER BY contest, method, ms;

CREATE VIEW figure AS
SELECT k, r, p.g AS "published Alg.G", p.h AS "published Alg.H",
	seconds ->> 'choose' AS "measured Alg.G", seconds ->> 'merge' AS "measured Alg.H", seconds ->> 'auto' AS "measured neardup",
	seconds ->> 'scan' AS "measured scan of signatures", seconds ->> 'seq scan' AS "measured sequential scan",
	groups ->> 'choose' AS "groups Alg.G", groups ->> 'merge' AS "groups Alg.H"
FROM points LEFT JOIN (VALUES (64, 0.7, 40, 15), (400, 0.7, 1921, 273)) p (k, r, g, h) USING (k, r),
	LATERAL (SELECT jsonb_object_agg(method, seconds) AS seconds, jsonb_object_agg(method, m) AS groups FROM best WHERE contest = contest_of(k, points.h)) b;

\copy (SELECT r AS resemblance, "published Alg.G", "published Alg.H", "measured Alg.G", "measured Alg.H", "measured neardup", "measured scan of signatures", "measured sequential scan", "groups Alg.G", "groups Alg.H" FROM figure WHERE k = 400 ORDER BY r) TO 'yuan-resemblance.csv' CSV HEADER
\copy (SELECT k AS bits, "published Alg.G", "published Alg.H", "measured Alg.G", "measured Alg.H", "measured neardup", "measured scan of signatures", "measured sequential scan", "groups Alg.G", "groups Alg.H" FROM figure WHERE r = 0.7 ORDER BY k) TO 'yuan-bits.csv' CSV HEADER
