-- What a plan for many servers needs: bytes a document, and documents a second of one process.
SET client_min_messages = warning;

CREATE FUNCTION seconds_of(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE statement;
	RETURN extract(epoch FROM clock_timestamp() - start);
END $$;

-- Texts of 300 words, about 2,300 characters.
CREATE UNLOGGED TABLE texts AS
SELECT i AS id, (SELECT string_agg(left(md5(i || ' ' || n), 4 + n % 7), ' ') FROM generate_series(1, 300) n) AS body
FROM generate_series(1, 10000) i;
VACUUM texts;
INSERT INTO rates (what, value, unit)
SELECT 'signing texts of ' || (SELECT round(avg(length(body)), -2) FROM texts) || ' characters', 10000 / min(seconds), 'documents a second'
FROM (SELECT seconds_of('SELECT count(to_minhash(body)) FROM texts') AS seconds FROM generate_series(1, 3)) s;

CREATE TABLE signed (id bigint PRIMARY KEY, sig minhash(512) NOT NULL);
SELECT count(*) AS rows FROM m \gset
INSERT INTO rates (what, value, unit)
SELECT 'loading signatures', :rows / seconds_of('INSERT INTO signed SELECT id, sig FROM m'), 'documents a second';
INSERT INTO rates (what, value, unit)
SELECT 'building the index', :rows / seconds_of('CREATE INDEX signed_sig ON signed USING neardup (sig)'), 'documents a second';
VACUUM ANALYZE signed;
INSERT INTO rates (what, value, unit)
SELECT 'table and primary key', (pg_table_size('signed') + pg_relation_size('signed_pkey')) / count(*)::float8, 'bytes a document' FROM signed;
INSERT INTO rates (what, value, unit) SELECT 'index', pg_relation_size('signed_sig') / count(*)::float8, 'bytes a document' FROM signed;
-- The cast gives the signatures the scheme of those in the index.
INSERT INTO rates (what, value, unit)
SELECT 'adding texts to the indexed table', 10000 / seconds_of('INSERT INTO signed SELECT id + 10000000, to_minhash(body)::bit(512)::minhash FROM texts'), 'documents a second';

-- Searches with a plan that is kept; each the best of three, for 200 rows.
CREATE FUNCTION search_ms(query minhash, threshold float8) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	best float8 := 'infinity';
BEGIN
	FOR i IN 1 .. 3 LOOP
		start := clock_timestamp();
		PERFORM id FROM signed WHERE is_similar(sig, query, threshold);
		best := least(best, extract(epoch FROM clock_timestamp() - start) * 1000);
	END LOOP;
	RETURN best;
END $$;
INSERT INTO rates (what, value, unit)
SELECT 'search at ' || t, percentile_cont(0.5) WITHIN GROUP (ORDER BY search_ms(sig, t)), 'ms'
FROM unnest('{0.9,0.8}'::float8[]) t, (SELECT sig FROM m WHERE id % 5000 = 17 LIMIT 200) q GROUP BY t ORDER BY t DESC;
