-- Searches for some k, b and thresholds, timed by the index itself.
SET client_min_messages = warning;
CREATE TABLE times (k int, b int, t float8, us float8, plan text);
CREATE TABLE shapes (k int, b int, bytes bigint);

-- 100,000 rows; one in ten is a copy of an earlier row with a quarter of its hashes replaced.
CREATE FUNCTION study_times(n int, k int, b int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS studied;
	EXECUTE format('CREATE TABLE studied AS SELECT id, to_minhash(to_shingles(ARRAY(
			SELECT CASE WHEN i > 30 THEN id ELSE family END * 1000003::bigint + i FROM generate_series(1, 40) i)), %s, %s) AS sig
		FROM (SELECT id, CASE WHEN id %% 10 = 0 THEN id - 9 ELSE id END AS family FROM generate_series(1, %s) id) r', k, b, n);
	CREATE INDEX studied_sig ON studied USING neardup (sig);
	INSERT INTO shapes VALUES (k, b, pg_relation_size('studied_sig'));
	FOR run IN 1 .. 5
	LOOP
		INSERT INTO times
		SELECT k, b, t, sum(e.us), max(format('%s %s/%s', e.method, e.groups, e.radius))
		FROM unnest('{0.9,0.8,0.7,0.5}'::float8[]) t, (SELECT * FROM studied WHERE id % 3001 = 1 LIMIT 40) s,
			neardup_explain('studied_sig', near(s.sig, t)) e
		GROUP BY t, s.id;
	END LOOP;
END
$$;
SELECT study_times(100000, k, b) FROM (VALUES (64, 1), (128, 1), (128, 8), (256, 1), (512, 1), (512, 2), (1024, 1)) v (k, b) \g /dev/null

\echo
\echo '| k | b | index MB | 0.9 | 0.8 | 0.7 | 0.5 |'
\echo '|---:|---:|---:|---:|---:|---:|---:|'
WITH medians AS (SELECT k, b, t, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) AS us FROM times GROUP BY k, b, t)
SELECT format('| %s | %s | %s | %s |', k, b, max(round(bytes / 1e6, 1)), string_agg(round(us::numeric)::text, ' | ' ORDER BY t DESC))
FROM medians JOIN shapes USING (k, b) GROUP BY k, b ORDER BY k, b;
