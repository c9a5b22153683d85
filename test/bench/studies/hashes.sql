-- One kind of hash made elsewhere: loads it, builds its index, and times searches.
-- :what names it, :type is its type, :distance its usual distance, :rows the number of rows.
SET client_min_messages = warning;
SELECT CASE :'type' WHEN 'bigint' THEN 'simhash' ELSE 'minhash' END AS signature \gset
SET maintenance_work_mem = '1GB';

DROP TABLE IF EXISTS hashes, hash_queries;
CREATE UNLOGGED TABLE hashes (id int, sig :type NOT NULL);
CREATE TABLE hash_queries (id int, sig :type);
\copy hashes FROM 'hash.rows' (FORMAT binary)
\copy hash_queries FROM 'hash.queries' (FORMAT binary)
SELECT time_build(:'what', :'rows', 'hashes_sig', 'CREATE INDEX hashes_sig ON hashes USING neardup (sig)', 1) \g /dev/null
VACUUM (FREEZE, ANALYZE) hashes;
CHECKPOINT;

SELECT contest(:'what', 'within ' || :distance, 'hash_queries', format('SELECT id FROM hashes WHERE is_within(sig, v.sig, %s)', :distance), 3, 100),
	contest(:'what', 'the nearest', 'hash_queries', 'SELECT id FROM hashes ORDER BY sig <~> v.sig::' || :'signature' || ' LIMIT 1', 3, 100),
	contest(:'what', 'the 10 nearest', 'hash_queries', 'SELECT id FROM hashes ORDER BY sig <~> v.sig::' || :'signature' || ' LIMIT 10', 3, 50),
	contest(:'what', 'the 10 nearest within ' || :distance, 'hash_queries',
		format('SELECT id FROM hashes WHERE is_within(sig, v.sig, %s) ORDER BY sig <~> v.sig::%s LIMIT 10', :distance, :'signature'), 3, 100),
	contest(:'what', 'within ' || :distance || ', without the index', 'hash_queries', format('SELECT id FROM hashes WHERE is_within(sig, v.sig, %s)', :distance),
		1, 11, 'enable_indexscan = off, enable_bitmapscan = off') \g /dev/null

WITH best AS (
	SELECT label, query, min(place) AS place, min(us) / 1000 AS ms, max(ids) AS ids FROM answers WHERE contest = :'what' GROUP BY label, query
)
SELECT format('| %s | %s | %s | **%s** | %s | %s | %s |', :'rows', :'what', label, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3),
	round(percentile_cont(0.95) WITHIN GROUP (ORDER BY ms)::numeric, 3), round(avg(coalesce(cardinality(ids), 0)), 2), count(*))
FROM best GROUP BY label ORDER BY min(place);

-- Queries for which the index and the scan of the table differ: none.
SELECT format('| %s | %s | build: %s s, %s MB; %s answers differ | | | | |', :'rows', :'what', round(seconds::numeric, 1), round(bytes / 1e6), (
	SELECT count(*) FROM answers a JOIN answers b USING (query, run) WHERE run = 1 AND a.label = 'within ' || :distance
		AND b.label = a.label || ', without the index' AND ARRAY(SELECT unnest(a.ids) ORDER BY 1) <> ARRAY(SELECT unnest(b.ids) ORDER BY 1)))
FROM builds WHERE contest = :'what' AND label = :'rows';
DELETE FROM answers;
