-- Predicted and actual cost of plans, and of the scan.
SET client_min_messages = warning;

CREATE TABLE plans (
	documents int,
	bits int,
	distance int,
	query int,
	search text,
	method text,
	groups int,
	radius int,
	hits int,
	planned_us float8,
	us float8
);

-- Makes uniform fingerprints with an index, and measures it: the best of several runs.
CREATE FUNCTION study(documents int, bits int, distances int[], queries int DEFAULT 10, runs int DEFAULT 5) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
	searches text[] := '{auto,scan}';
BEGIN
	DROP TABLE IF EXISTS studied;
	EXECUTE format($$CREATE TABLE studied AS
		SELECT id, substring(('x' || encode(sha512((id || ' ' || %1$s)::bytea), 'hex'))::bit(512) FOR %2$s)::bit(%2$s) AS sig
		FROM generate_series(1, %1$s) id$$, documents, bits);
	CREATE INDEX studied_sig ON studied USING neardup (sig);
	FOR search IN 1 .. 2
	LOOP
		PERFORM set_config('neardup.search', searches[search], true);
		FOR run IN 1 .. runs
		LOOP
			INSERT INTO plans
			SELECT study.documents, study.bits, distance, s.id, searches[search], max(e.method), max(e.groups),
				max(e.radius), max(e.hits), sum(e.planned_us), sum(e.us)
			FROM unnest(distances) distance,
				(SELECT * FROM studied ORDER BY id LIMIT queries) s,
				neardup_explain('studied_sig', hamming_ball(s.sig, distance)) e
			WHERE e.segment IS NOT NULL
			GROUP BY distance, s.id;
		END LOOP;
	END LOOP;
END
$make$;

SELECT study(4000, 64, '{3,6,10,14,18,22}'), study(30000, 64, '{3,6,10,14,18,22}'),
	study(300000, 64, '{3,6,8,10,12,14,18}'), study(1000000, 64, '{3,6,8,10,12,14,18}'),
	study(3000000, 64, '{3,6,8,10,12,14,18}'),
	study(4000, 400, '{20,40,60,80,100,120,140}'), study(30000, 400, '{20,40,60,80,100,120,140}'),
	study(300000, 400, '{20,40,60,70,80,90,100,120,140}'), study(1000000, 400, '{20,40,60,70,80,90,100,120,140}'),
	study(4000, 512, '{20,40,60,80,100,120,140}'), study(30000, 512, '{20,40,60,80,100,120,140}'),
	study(300000, 512, '{20,40,60,80,100,120,140}') \g /dev/null

\echo
\echo '### Plans: the index's choice compared with its packed scan'
\echo
\echo '| documents | bits | distance | plan | predicted µs | µs | times predicted | scan: predicted µs | µs | times the scan |'
\echo '|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|'

WITH best AS (
	SELECT documents, bits, distance, query, search, max(method) AS method, max(groups) AS groups, max(radius) AS radius,
		max(hits) AS hits, max(planned_us) AS planned_us, min(us) AS us
	FROM plans GROUP BY documents, bits, distance, query, search
), medians AS (
	SELECT documents, bits, distance, search, max(method) AS method, max(groups) AS groups, max(radius) AS radius, max(hits) AS hits,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY planned_us)::numeric AS planned, percentile_cont(0.5) WITHIN GROUP (ORDER BY us)::numeric AS us
	FROM best GROUP BY documents, bits, distance, search
)
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', a.documents, a.bits, a.distance,
	a.method || coalesce(format(', %s groups, radius %s, %s hits', a.groups, a.radius, a.hits), ''), round(a.planned, 1), round(a.us, 1),
	round(a.us / a.planned, 2), round(s.planned, 1), round(s.us, 1), round(a.us / s.us, 2))
FROM medians a JOIN medians s USING (documents, bits, distance)
WHERE a.search = 'auto' AND s.search = 'scan'
ORDER BY a.bits, a.documents, a.distance;
