-- The ten nearest where nothing is near, beside the packed scan, for BENCH=large.

CREATE TABLE far AS SELECT id, sig FROM documents ORDER BY id LIMIT :rows;
CREATE INDEX far_sig ON far USING neardup (sig);
VACUUM (FREEZE, ANALYZE) far;
CREATE TABLE far_queries AS
SELECT i AS id, (SELECT string_agg(hashint8extended(i, s)::bit(64)::text, '')::bit(512)::minhash FROM generate_series(11, 18) s) AS sig
FROM generate_series(1, 40) i;

SELECT contest('far', way, 'far_queries', 'SELECT id FROM far ORDER BY sig <~> v.sig LIMIT 10', 2, 40, 'enable_seqscan = off, enable_sort = off, neardup.search = ' || way)
FROM unnest('{auto,scan}'::text[]) way \g /dev/null
SELECT format('ten nearest of strangers%s: ms', CASE label WHEN 'scan' THEN ', packed scan' END), percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000
FROM (SELECT label, query, min(us) AS us FROM answers WHERE contest = 'far' GROUP BY label, query) best GROUP BY label ORDER BY label;
