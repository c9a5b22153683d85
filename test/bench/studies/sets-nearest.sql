-- Pages of the index that searches for the nearest sets read, and their times.  Each query is new: it runs once.
CREATE TABLE nearest (what text, index_pages bigint, pages bigint, ms float8);
CREATE FUNCTION measure_nearest(what text, queries regclass, "column" text, index regclass, most int) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
	query text;
	plan json;
	before bigint;
BEGIN
	FOR query IN EXECUTE format('SELECT %I::text FROM %s', "column", queries) LOOP
		before := pg_stat_get_xact_blocks_fetched(index);
		EXECUTE format('EXPLAIN (ANALYZE, FORMAT json) SELECT id FROM docs ORDER BY %I <-> %L LIMIT %s', "column", query, most) INTO plan;
		INSERT INTO nearest VALUES (what, pg_relation_size(index) / current_setting('block_size')::int,
			pg_stat_get_xact_blocks_fetched(index) - before, (plan -> 0 ->> 'Execution Time')::float8);
	END LOOP;
END $$;
SELECT measure_nearest('warms up', 'queries', 'words', 'docs_words', 10), measure_nearest('warms up', 'queries', 'letters', 'docs_letters', 10) \g /dev/null
DELETE FROM nearest;
SELECT measure_nearest(format('%s, %s of %s', most, kind, queries), queries, kind, ('docs_' || kind)::regclass, most)
FROM (VALUES ('words', 'queries'::regclass), ('letters', 'queries'), ('words', 'passages')) AS k(kind, queries), (VALUES (1), (10), (100), (1000)) AS m(most) \g /dev/null
\echo
\echo '| nearest, rows | queries | pages of the index | pages read: median | p95 | most | ms: median | p95 | most |'
\echo '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s |', what, count(*), min(index_pages), percentile_disc(0.5) WITHIN GROUP (ORDER BY pages),
	percentile_disc(0.95) WITHIN GROUP (ORDER BY pages), max(pages), round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2),
	round(percentile_cont(0.95) WITHIN GROUP (ORDER BY ms)::numeric, 1), round(max(ms)::numeric, 1)) FROM nearest GROUP BY what ORDER BY min(ctid);
