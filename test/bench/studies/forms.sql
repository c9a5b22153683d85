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

-- Texts of a number of words in families, whose members differ in as many as put them just below or just
-- above 0.8, by resemblance or by the share of a text in its keeper.
CREATE FUNCTION member(i int, family int, words int, own int) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT array_agg(CASE WHEN e < own THEN hashint8extended(i * 10000::bigint + e, 3) ELSE hashint8extended(i / family * 10000::bigint + e, 4) END)
	FROM generate_series(0, words - 1) AS e
$$;
CREATE TABLE kept (words int, family int, "where" text, decides text, seconds float8, rows bigint);
CREATE PROCEDURE measure_family(words int, family int, "where" text, own int, texts int) LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	decides text;
	found bigint;
BEGIN
	CREATE TEMPORARY TABLE members AS
	SELECT i AS id, s, to_minhash(s) AS sig FROM generate_series(0, texts - 1) AS i, to_shingles(member(i, family, words, own)) AS s;
	FOREACH decides IN ARRAY '{signatures,sets decide,contained}'::text[] LOOP
		start := clock_timestamp();
		EXECUTE format('SELECT %s - count(*) FILTER (WHERE id <> keeper) FROM neardup_clusters(%L, 0.8%s)', texts,
			'SELECT id, sig' || CASE decides WHEN 'signatures' THEN '' ELSE ', s' END || ' FROM members ORDER BY id',
			CASE decides WHEN 'contained' THEN ', contained => 0.9' ELSE '' END) INTO found;
		INSERT INTO kept VALUES (words, family, "where", decides, extract(epoch FROM clock_timestamp() - start), found);
	END LOOP;
	DROP TABLE members;
END
$$;
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT words, least(family, texts) AS family, side, (words * own)::int AS own, texts
		FROM (VALUES (20, 20000), (200, 20000), (2000, 3000)) AS w (words, texts), unnest('{100,1000,100000}'::int[]) AS family,
			(VALUES ('below', 0.165), ('above', 0.1)) AS o (side, own) LOOP
		CALL measure_family(c.words, c.family, c.side, c.own, c.texts);
	END LOOP;
END
$$;
SELECT E'\n### Families just below and just above 0.8: seconds, and rows kept\n'
UNION ALL SELECT '| words | family | | signatures | sets decide | contained at 0.9 |'
UNION ALL SELECT '|---:|---:|---|---:|---:|---:|'
UNION ALL (SELECT format('| %s | %s | %s | %s | %s | %s |', words, family, "where", max(of) FILTER (WHERE decides = 'signatures'),
		max(of) FILTER (WHERE decides = 'sets decide'), max(of) FILTER (WHERE decides = 'contained'))
	FROM kept, LATERAL (SELECT format('%s, %s', round(seconds::numeric, 2), rows) AS of) AS f
	GROUP BY words, family, "where" ORDER BY words, family, "where");
