-- Texts of one form: 100 elements, of which 70 are common to all.  Each twentieth text is a changed
-- copy of the one before.  All pairs, and searches, by signatures and by sets.
SET client_min_messages = warning;
SET maintenance_work_mem = '4GB';

CREATE FUNCTION form_elements(i int) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT array_agg(CASE WHEN e < 70 THEN hashint8extended(e, 1) ELSE hashint8extended(CASE WHEN i % 20 = 5 AND e > 73 THEN i - 1 ELSE i END * 100::bigint + e, 2) END)
	FROM generate_series(0, 99) AS e
$$;
CREATE TABLE filled AS
SELECT i AS id, to_minhash(to_shingles(form_elements(i))) AS sig, to_shingles(form_elements(i)) AS elements FROM generate_series(1, 300000) AS i;
CREATE INDEX filled_sig ON filled USING neardup (sig);
CREATE INDEX filled_elements ON filled USING neardup (elements);
VACUUM (FREEZE, ANALYZE) filled;

SELECT race(rows::text, '{signatures,sets decide,sets}', ARRAY[
	format('SELECT count(*) FROM neardup_pairs(''SELECT id, sig FROM filled WHERE id <= %s'', 0.8)', rows),
	format('SELECT count(*) FROM neardup_pairs(''SELECT id, sig, elements FROM filled WHERE id <= %s'', 0.8)', rows),
	format('SELECT count(*) FROM neardup_pairs(''SELECT id, elements FROM filled WHERE id <= %s'', 0.8)', rows)], 3)
FROM unnest('{100000,300000}'::int[]) AS rows \g /dev/null

-- Searches for 500 texts, each once, in milliseconds.
CREATE FUNCTION searches(condition text) RETURNS SETOF float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	v record;
	ids int[];
BEGIN
	FOR v IN SELECT sig, elements FROM filled WHERE id % 600 = 5 LOOP
		start := clock_timestamp();
		EXECUTE 'SELECT array_agg(id) FROM filled WHERE ' || condition INTO ids USING v.sig, v.elements;
		RETURN NEXT extract(epoch FROM clock_timestamp() - start) * 1000;
	END LOOP;
END
$$;

SELECT E'\n### Texts of one form: 70 of 100 shingles are common to all\n'
UNION ALL SELECT '| at 0.8 | signatures | sets decide | sets |'
UNION ALL SELECT '|---|---:|---:|---:|'
UNION ALL (SELECT format('| all pairs of %s, s (medians of %s) | %s | %s | %s |', race, min(runs), max(round(ms::numeric / 1000, 2)) FILTER (WHERE label = 'signatures'),
		max(round(ms::numeric / 1000, 2)) FILTER (WHERE label = 'sets decide'), max(round(ms::numeric / 1000, 2)) FILTER (WHERE label = 'sets'))
	FROM medians GROUP BY race ORDER BY race)
UNION ALL (SELECT format('| a search among 300000, ms (median and 95 %% of 500) | %s | | %s |', string_agg(of, ' | ') FILTER (WHERE place = 1), string_agg(of, ' | ') FILTER (WHERE place = 2))
	FROM unnest('{"is_similar(sig, $1, 0.8)","is_similar(elements, $2, 0.8)"}'::text[]) WITH ORDINALITY AS c (condition, place),
		LATERAL (SELECT string_agg(round(p::numeric, 2)::text, ', ' ORDER BY p) AS of
			FROM unnest((SELECT percentile_cont('{0.5,0.95}'::float8[]) WITHIN GROUP (ORDER BY ms) FROM searches(condition) AS ms)) AS p) AS t);
