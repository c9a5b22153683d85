-- What it costs to ask without a prepared statement: planning a literal query, beside
-- planning a primary-key lookup and beside the search; and when a prepared statement is
-- planned no more.
SET client_min_messages = warning;
SET maintenance_work_mem = '512MB';
CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE hashes (id int PRIMARY KEY, sig bigint NOT NULL);
CREATE TABLE hash_queries (id int, sig bigint);
\copy hashes FROM 'planning64.rows' (FORMAT binary)
\copy hash_queries FROM 'planning64.queries' (FORMAT binary)
CREATE TABLE loaded (id int, sig bit(512));
CREATE TABLE loaded_queries (id int, sig bit(512));
\copy loaded FROM 'planning512.rows' (FORMAT binary)
\copy loaded_queries FROM 'planning512.queries' (FORMAT binary)
CREATE TABLE documents AS SELECT id, sig::minhash(512, 1) AS sig FROM loaded ORDER BY id;
-- A form that was filled in 3,000 times.
INSERT INTO documents SELECT 1000000 + i, set_bit(set_bit(sig, i % 512, 1), i / 512 * 7, 0)::minhash(512, 1) FROM loaded, generate_series(1, 3000) i WHERE id = 1;
CREATE TABLE document_queries AS SELECT id, sig::minhash(512, 1) AS sig FROM loaded_queries;
CREATE INDEX ON hashes USING neardup (sig);
CREATE INDEX ON documents USING neardup (sig);
VACUUM (FREEZE, ANALYZE) hashes;
VACUUM (FREEZE, ANALYZE) documents;
CHECKPOINT;

CREATE TABLE times (place serial, label text, run int, planning float8, literal float8, search float8);
CREATE TABLE prepared (label text, generic int);

-- Times a statement about v, a row of a table of queries, in microseconds: planning it
-- with v's values as literals, all of that, and a search whose plan is kept.
CREATE FUNCTION measure(label text, queries regclass, type text, statement text, runs int) RETURNS void LANGUAGE plpgsql AS $make$
DECLARE
	v record;
	told json;
	start timestamptz;
	literal text;
	literal_us float8;
	search_us float8;
BEGIN
	EXECUTE format($function$
		CREATE OR REPLACE FUNCTION pg_temp.search(v %s) RETURNS float8 LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
		DECLARE
			start timestamptz := clock_timestamp();
		BEGIN
			PERFORM %s;
			RETURN extract(epoch FROM clock_timestamp() - start) * 1e6;
		END $$
		$function$, queries, substr(statement, length('SELECT ') + 1));
	FOR run IN 0 .. runs	-- number 0 warms up
	LOOP
		FOR v IN EXECUTE format('SELECT id, sig::text AS sig FROM %s ORDER BY id', queries)
		LOOP
			literal := replace(replace(statement, 'v.sig', format('%L::%s', v.sig, type)), 'v.id', v.id::text);
			EXECUTE 'EXPLAIN (FORMAT JSON, SUMMARY) ' || literal INTO told;
			start := clock_timestamp();
			EXECUTE literal;
			literal_us := extract(epoch FROM clock_timestamp() - start) * 1e6;
			EXECUTE format('SELECT pg_temp.search(q) FROM %s q WHERE id = $1', queries) INTO search_us USING v.id;
			INSERT INTO times SELECT nextval('times_place_seq'), label, run, (told->0->>'Planning Time')::float8 * 1000, literal_us, search_us WHERE run > 0;
		END LOOP;
	END LOOP;
END $make$;

-- Counts the generic plans among 20 executions of a prepared statement.
CREATE FUNCTION count_generic(label text, queries regclass, types text, statement text, more text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v record;
BEGIN
	EXECUTE format('PREPARE counted(%s) AS %s', types, statement);
	FOR v IN EXECUTE format('SELECT sig::text AS sig FROM %s ORDER BY id LIMIT 20', queries)
	LOOP
		EXECUTE format('EXECUTE counted(%L%s)', v.sig, more);
	END LOOP;
	INSERT INTO prepared SELECT label, generic_plans FROM pg_prepared_statements WHERE name = 'counted';
	DEALLOCATE counted;
END $$;

SELECT measure('primary key', 'hash_queries', 'bigint', 'SELECT id FROM hashes WHERE id = v.id', :runs),
	measure('is_within(hash, q, 3)', 'hash_queries', 'bigint', 'SELECT id FROM hashes WHERE is_within(sig, v.sig, 3)', :runs),
	measure('hash <@ hamming_ball(q, 3)', 'hash_queries', 'bigint', 'SELECT id FROM hashes WHERE sig <@ hamming_ball(v.sig, 3)', :runs),
	measure('is_similar(sig, q, 0.9)', 'document_queries', 'minhash', 'SELECT id FROM documents WHERE is_similar(sig, v.sig, 0.9)', :runs),
	measure('ORDER BY sig <-> q LIMIT 1', 'document_queries', 'minhash', 'SELECT id FROM documents ORDER BY sig <-> v.sig LIMIT 1', :runs) \g /dev/null
SELECT count_generic('is_within(hash, $1, 3)', 'hash_queries', 'bigint', 'SELECT id FROM hashes WHERE is_within(sig, $1, 3)', ''),
	count_generic('is_within(hash, $1, $2), $2 = 3', 'hash_queries', 'bigint, int', 'SELECT id FROM hashes WHERE is_within(sig, $1, $2)', ', 3'),
	count_generic('is_similar(sig, $1, 0.9)', 'document_queries', 'minhash', 'SELECT id FROM documents WHERE is_similar(sig, $1, 0.9)', ''),
	count_generic('is_similar(sig, $1, 0.7)', 'document_queries', 'minhash', 'SELECT id FROM documents WHERE is_similar(sig, $1, 0.7)', ''),
	count_generic('is_similar(sig, $1, 0.7) ORDER BY sig <-> $1 LIMIT 10', 'document_queries', 'minhash', 'SELECT id FROM documents WHERE is_similar(sig, $1, 0.7) ORDER BY sig <-> $1 LIMIT 10', ''),
	count_generic('ORDER BY sig <-> $1 LIMIT 10', 'document_queries', 'minhash', 'SELECT id FROM documents ORDER BY sig <-> $1 LIMIT 10', ''),
	count_generic('is_similar(sig, $1, $2), $2 = 0.7', 'document_queries', 'minhash, float8', 'SELECT id FROM documents WHERE is_similar(sig, $1, $2)', ', 0.7'),
	count_generic('is_similar(sig, $1, $2), $2 = 0.9', 'document_queries', 'minhash, float8', 'SELECT id FROM documents WHERE is_similar(sig, $1, $2)', ', 0.9'),
	count_generic('is_similar(sig, $1, $2), $2 = 0.98', 'document_queries', 'minhash, float8', 'SELECT id FROM documents WHERE is_similar(sig, $1, $2)', ', 0.98') \g /dev/null

\echo
\echo '### Planning a literal query (1,000,000 hashes of 64 bits; 103,000 signatures minhash(512, 1), 3,000 of them of one form)'
\echo
\echo 'Medians over the queries, microseconds. "search": in a server-side loop, with a plan that is kept; "literal": parsed, planned and run.'
\echo
\echo '| statement | planning | x a primary key''s | search | planning / search | literal |'
\echo '|---|---:|---:|---:|---:|---:|'
WITH medians AS (
	SELECT label, min(place) AS place, percentile_cont(0.5) WITHIN GROUP (ORDER BY planning)::numeric AS planning, percentile_cont(0.5) WITHIN GROUP (ORDER BY search)::numeric AS search,
		percentile_cont(0.5) WITHIN GROUP (ORDER BY literal)::numeric AS literal
	FROM times GROUP BY label
)
SELECT format('| %s | %s | %s | %s | %s | %s |', label, round(planning, 1), round(planning / first_value(planning) OVER (ORDER BY place), 1), round(search, 1), round(planning / search, 1), round(literal, 1))
FROM medians ORDER BY place;

\echo
\echo '### Prepared statements: generic plans among 20 executions'
\echo
\echo '| statement | generic |'
\echo '|---|---:|'
SELECT format('| %s | %s |', label, generic) FROM prepared;
