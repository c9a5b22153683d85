-- The nearest rows of one tenant, and its rows within a threshold: an index on (tenant, sig),
-- beside an index on sig and a search of all rows.
SET client_min_messages = warning;
SET maintenance_work_mem = '1GB';

CREATE TABLE loaded (id int, sig bit(512));
CREATE TABLE loaded_queries (id int, sig bit(512));
\copy loaded FROM 'tenants.rows' (FORMAT binary)
\copy loaded_queries FROM 'tenants.queries' (FORMAT binary)
CREATE TABLE all_rows AS SELECT id, sig::minhash AS sig FROM loaded;
CREATE INDEX ON all_rows USING neardup (sig);

-- One table for each number of tenants; one of queries, each by a tenant.
DO $$
DECLARE
	tenants int;
BEGIN
	FOREACH tenants IN ARRAY '{1000,100,10,2}'::int[]
	LOOP
		EXECUTE format('CREATE TABLE rows_%s AS SELECT id, id %% %1$s AS tenant, sig FROM all_rows', tenants);
		EXECUTE format('CREATE INDEX ON rows_%s USING neardup (tenant, sig)', tenants);
		EXECUTE format('CREATE TABLE queries_%s AS SELECT id, id %% %1$s AS tenant, sig::minhash AS sig FROM loaded_queries', tenants);
	END LOOP;
END
$$;
VACUUM (FREEZE, ANALYZE);
CHECKPOINT;

-- The answers are distances, since several rows may be at the last one.
SELECT contest('nearest ' || n, 'exact', 'queries_' || n, format('SELECT (q.d * 16 + row_number() OVER (ORDER BY q.d))::int AS id FROM (SELECT sig <~> v.sig AS d FROM rows_%s WHERE tenant = v.tenant ORDER BY 1 LIMIT 10) q', n), 1, 20, 'enable_indexscan = off'),
	contest('nearest ' || n, 'seq scan', 'queries_' || n, format('SELECT id FROM rows_%s WHERE tenant = v.tenant ORDER BY sig <~> v.sig LIMIT 10', n), 1, 5, 'enable_indexscan = off'),
	contest('nearest ' || n, 'all rows', 'queries_' || n, 'SELECT (q.d * 16 + row_number() OVER (ORDER BY q.d))::int AS id FROM (SELECT sig <~> v.sig AS d FROM all_rows ORDER BY sig <~> v.sig LIMIT 10) q', 3, 20),
	contest('nearest ' || n, 'one tenant', 'queries_' || n, format('SELECT (q.d * 16 + row_number() OVER (ORDER BY q.d))::int AS id FROM (SELECT sig <~> v.sig AS d FROM rows_%s WHERE tenant = v.tenant ORDER BY sig <~> v.sig LIMIT 10) q', n), 3, 20),
	contest('within 0.8 ' || n, 'exact', 'queries_' || n, format('SELECT id FROM rows_%s WHERE tenant = v.tenant AND is_similar(sig, v.sig, 0.8)', n), 1, 20, 'enable_indexscan = off, enable_bitmapscan = off'),
	contest('within 0.8 ' || n, 'seq scan', 'queries_' || n, format('SELECT id FROM rows_%s WHERE tenant = v.tenant AND is_similar(sig, v.sig, 0.8)', n), 1, 5, 'enable_indexscan = off, enable_bitmapscan = off'),
	contest('within 0.8 ' || n, 'all rows', 'queries_' || n, 'SELECT id FROM all_rows WHERE is_similar(sig, v.sig, 0.8)', 5, 100),
	contest('within 0.8 ' || n, 'one tenant', 'queries_' || n, format('SELECT id FROM rows_%s WHERE tenant = v.tenant AND is_similar(sig, v.sig, 0.8)', n), 5, 100)
FROM unnest('{1000,100,10,2}'::int[]) n \g /dev/null

SELECT E'\n### One tenant of many, ' || (SELECT count(*) FROM all_rows) || E' rows of minhash(512, 1)\n'
UNION ALL SELECT '| search | tenants | one tenant, ms | all rows, ms | one tenant / all rows | target | seq scan, ms | recall | queries × runs |'
UNION ALL SELECT '|---|---:|---:|---:|---:|---|---:|---:|---|'
UNION ALL (SELECT format('| %s | %s | %s | %s | **%s** | %s | %s | %s | %s × %s |', regexp_replace(contest, ' \d+$', ''),
	regexp_replace(contest, '.* ', ''), round(one.ms::numeric, 3), round(whole.ms::numeric, 3), round((one.ms / whole.ms)::numeric, 2),
	CASE WHEN contest = 'nearest 1000' THEN '≤ 1.5' END, round((one.ms * one.faster)::numeric, 1), round(one.recall::numeric, 4), one.queries, one.runs)
FROM contest_results one JOIN contest_results whole USING (contest)
WHERE one.label = 'one tenant' AND whole.label = 'all rows' ORDER BY one.place);
