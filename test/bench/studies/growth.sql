-- S1 with 10,000,000 rows.
SET client_min_messages = warning;
SET maintenance_work_mem = '512MB';

CREATE TABLE s1_large (id int PRIMARY KEY, sig bit(400) NOT NULL);
CREATE TABLE s1_large_queries (id int, sig bit(400));
\copy s1_large FROM 'large.rows' (FORMAT binary)
\copy s1_large_queries FROM 'large.queries' (FORMAT binary)

INSERT INTO targets VALUES
	('large', 'neardup', 'ms', '≤ 3'), ('large', 'neardup', 'build', '≤ 60'), ('large', 'neardup', 'size', '≤ 3.5');

VACUUM (FREEZE, ANALYZE) s1_large;
SELECT time_build('large', 'neardup', 's1_large_sig', 'CREATE INDEX s1_large_sig ON s1_large USING neardup (sig)', 1) \g /dev/null
CHECKPOINT;
SELECT contest('large', 'exact', 's1_large_queries', 'SELECT id FROM s1_large WHERE bit_count(sig # v.sig) <= 60', 1, 20),
	contest('large', 'seq scan', 's1_large_queries', 'SELECT id FROM s1_large WHERE bit_count(sig # v.sig) <= 60', 1, 5),
	contest('large', 'neardup', 's1_large_queries', 'SELECT id FROM s1_large WHERE is_within(sig, v.sig, 60)'),
	contest('large', 'neardup, search = scan', 's1_large_queries', 'SELECT id FROM s1_large WHERE is_within(sig, v.sig, 60)', 3, 20, 'enable_seqscan = off, neardup.search = scan') \g /dev/null

SELECT show('large', '10,000,000 fingerprints of 400 bits, distance 60');
SELECT format(E'\nTimes faster than its own packed scan: **%s** (target ≥ 25).', round((s.ms / a.ms)::numeric, 1))
FROM contest_results s, contest_results a
WHERE s.contest = 'large' AND a.contest = 'large' AND s.label = 'neardup, search = scan' AND a.label = 'neardup';
SELECT show_builds('large', '10,000,000 fingerprints: building', 10000000.0 * 50);
