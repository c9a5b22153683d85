-- Prints the tables of BENCH=limit after the client has written its times.
CREATE TABLE goals (place text, what text, goal text);
INSERT INTO goals VALUES ('loop', 'resemblance 0.9', '≤ 8, 4 wanted'), ('loop', 'resemblance 0.8', '≤ 20'), ('client', 'resemblance 0.9', '≤ 1.5'),
	('inserts', 'neardup', '≤ 1.18');

\echo
\echo '### A search beside a primary-key lookup, 1,000,000 signatures of 512 bits'
\echo
\echo '| where | what | median µs | times the primary key | of the means | goal |'
\echo '|---|---|---:|---:|---:|---|'
WITH best AS (
	SELECT label AS what, query, min(us) AS us FROM answers WHERE contest = 'loop' AND label <> 'exact' GROUP BY label, query
), medians AS (
	SELECT 'loop' AS place, what, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us, avg(us) AS mean FROM best GROUP BY what
	UNION ALL
	SELECT CASE WHEN what LIKE '%insert%' THEN 'inserts' ELSE 'client' END, replace(what, ' insert', ''),
		percentile_cont(0.5) WITHIN GROUP (ORDER BY us), percentile_cont(0.5) WITHIN GROUP (ORDER BY mean) FROM client_times GROUP BY what
)
SELECT format('| %s | %s | **%s** | %s | %s | %s |', m.place, m.what, round(m.us::numeric, 1), round((m.us / p.us)::numeric, 2),
	round((m.mean / p.mean)::numeric, 2), coalesce(goal, ''))
FROM medians m JOIN medians p ON p.place = m.place AND p.what = 'primary key' LEFT JOIN goals g ON g.place = m.place AND g.what = m.what
ORDER BY m.place DESC, m.us;
