-- Pairs and clusters of whole tables: seconds, CPU seconds and peak memory of each call, in its own session,
-- and nanoseconds for each pair of the documents of one form, of which there are :skewed.
SET client_min_messages = warning;
CREATE EXTENSION neardup;

CREATE TABLE calls (place serial, label text, target text, seconds float8, cpu float8, found bigint, pair_ns float8, peak_mb int);

-- User and system time of this session.
CREATE FUNCTION cpu_seconds() RETURNS float8 LANGUAGE sql VOLATILE AS $$
	SELECT (s[12]::float8 + s[13]::float8) / 100
	FROM string_to_array(regexp_replace(pg_read_file('/proc/' || pg_backend_pid() || '/stat'), '.*\) ', ''), ' ') s
$$;

-- The peak includes the shared buffers that the session touched.
CREATE FUNCTION measure(label text, target text, statement text, documents bigint DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
	before float8 := cpu_seconds();
	found bigint;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || statement || ') s' INTO found;
	INSERT INTO calls (label, target, seconds, cpu, found, pair_ns, peak_mb)
	SELECT label, target, s, cpu_seconds() - before, found,
		s * 2e9 / (documents::float8 * (documents - 1)),
		substring(pg_read_file('/proc/' || pg_backend_pid() || '/status') FROM 'VmHWM:\s*(\d+)')::int / 1024
	FROM extract(epoch FROM clock_timestamp() - start) s;
END $$;

CREATE TABLE loaded_m (id int, bits bit(512));
CREATE TABLE loaded_64 (id int, hash bigint);
CREATE TABLE loaded_s1 (id int, bits bit(400));
CREATE TABLE documents (source text, name text, body text);
\copy documents FROM 'documents.copy'
\copy loaded_m FROM 'copies.rows' (FORMAT binary)
\copy loaded_64 FROM 'copies64.rows' (FORMAT binary)
\copy loaded_s1 FROM 's1.rows' (FORMAT binary)
CREATE TABLE m AS SELECT id, bits::minhash AS sig FROM loaded_m;
CREATE TABLE s AS SELECT id, hash::simhash AS sig FROM loaded_64;
CREATE TABLE s1 AS SELECT id, bits::minhash AS sig FROM loaded_s1;
CREATE TABLE m_equal AS SELECT * FROM m UNION ALL SELECT 1000000 + i, (SELECT sig FROM m WHERE id = 500) FROM generate_series(1, 200000) i;
CREATE TABLE s_equal AS SELECT * FROM s UNION ALL SELECT 1000000 + i, (SELECT sig FROM s WHERE id = 500) FROM generate_series(1, 200000) i;
CREATE TABLE sets AS SELECT id, to_shingles(body) AS sig FROM
	(SELECT row_number() OVER () AS id, body FROM documents WHERE source = 'description' LIMIT 20000) d;
-- Documents of one form: of 100 shingles 70 are common to all.  Every tenth document shares 25 of its others
-- with the one before.
CREATE TABLE skewed AS SELECT i AS id, to_minhash(to_shingles(ARRAY(SELECT
	CASE WHEN j <= 70 THEN j ELSE hashint8extended((i - (i % 10 = 0 AND j > 75)::int)::bigint * 100 + j, 1) END
	FROM generate_series(1, 100) j)), 512, 1) AS sig FROM generate_series(1, :skewed) i;
VACUUM (FREEZE, ANALYZE);
-- One process, unless noted.
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET max_parallel_maintenance_workers = 0', current_database()); END $$;

\c
SELECT measure('1,000,000 minhash(512, 1), 30 % copies, 0.8: pairs', '≤ 40 s, 2 GB', $$SELECT neardup_pairs('SELECT id, sig FROM m', 0.8)$$) \g /dev/null
\c
SELECT measure('the same: clusters', '≤ 40 s, 2 GB', $$SELECT neardup_clusters('SELECT id, sig FROM m', 0.8)$$) \g /dev/null
\c
SELECT measure('the same with 200,000 equal ones: pairs', 'no more', $$SELECT neardup_pairs('SELECT id, sig FROM m_equal', 0.8)$$) \g /dev/null
\c
SELECT measure('the same: clusters', 'no more', $$SELECT neardup_clusters('SELECT id, sig FROM m_equal', 0.8)$$) \g /dev/null
\c
SET maintenance_work_mem = '64MB';
SELECT measure('in 64 MB (pieces): pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM m', 0.8)$$) \g /dev/null
\c
SET maintenance_work_mem = '1GB';
SET max_parallel_maintenance_workers = 1;
SELECT measure('in 1 GB, with a worker: pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM m', 0.8)$$) \g /dev/null
\c
SELECT measure('recall 0.9: pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM m', 0.8, recall => 0.9)$$) \g /dev/null
\c
SELECT measure('1,000,000 simhash(64), distance 3: pairs', '≤ 0.7 s', $$SELECT neardup_pairs('SELECT id, sig FROM s', 0.95)$$) \g /dev/null
\c
SELECT measure('the same, every pair (equal => all)', '', $$SELECT neardup_pairs('SELECT id, sig FROM s', 0.95, equal => 'all')$$) \g /dev/null
\c
SELECT measure('the same with 200,000 equal ones: pairs', 'no more', $$SELECT neardup_pairs('SELECT id, sig FROM s_equal', 0.95)$$) \g /dev/null
\c
SELECT measure('a join on four blocks of 16 bits', '', $$SELECT DISTINCT a.id, b.id FROM
	(SELECT id, hash, i, hash >> i * 16 & 65535 AS block FROM loaded_64, generate_series(0, 3) i) a JOIN
	(SELECT id, hash, i, hash >> i * 16 & 65535 AS block FROM loaded_64, generate_series(0, 3) i) b
	ON a.i = b.i AND a.block = b.block AND a.id < b.id AND bit_count((a.hash # b.hash)::bit(64)) <= 3$$) \g /dev/null
\c
SELECT measure('300,000 minhash(400, 1), distance 60 (S1): pairs', '≤ 12 s', $$SELECT neardup_pairs('SELECT id, sig FROM s1', 0.7)$$) \g /dev/null
\c
SET maintenance_work_mem = '1GB';
SET max_parallel_maintenance_workers = 1;
SELECT measure('the same in 1 GB, with a worker', '', $$SELECT neardup_pairs('SELECT id, sig FROM s1', 0.7)$$) \g /dev/null
\c
SELECT measure('20,000 texts, word 3-shingles, exact, 0.7: pairs', '≤ 1 s', $$SELECT neardup_pairs('SELECT id, sig FROM sets', 0.7)$$) \g /dev/null
\c
SELECT measure('the same, by containment: pairs', '≤ 1.5 s', $$SELECT neardup_pairs('SELECT id, sig FROM sets', 0.7, measure => 'containment')$$) \g /dev/null
\c
SELECT measure(format('%s of one form, minhash(512, 1), 0.8: pairs', count(*)), '≤ 1.3 ns a pair', $$SELECT neardup_pairs('SELECT id, sig FROM skewed', 0.8)$$, count(*)) FROM skewed \g /dev/null
\c
SELECT measure('the same, 0.9: pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM skewed', 0.9)$$, :skewed) \g /dev/null
\c
SELECT measure('the same, 0.7: pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM skewed', 0.7)$$, :skewed) \g /dev/null
\c
SET maintenance_work_mem = '1GB';
SET max_parallel_maintenance_workers = 1;
SELECT measure('the same, 0.8, in 1 GB, with a worker: pairs', '', $$SELECT neardup_pairs('SELECT id, sig FROM skewed', 0.8)$$, :skewed) \g /dev/null

\pset format unaligned
\pset fieldsep ' | '
\echo
\echo '| call | seconds | CPU seconds | target | rows found | ns a pair | peak MB |'
\echo '|---|---|---|---|---|---|---|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', label, round(seconds::numeric, 2), round(cpu::numeric, 2), target, found,
	round(pair_ns::numeric, 3), peak_mb) FROM calls ORDER BY place;
