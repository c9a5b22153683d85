-- Corpora whose lists are long, for BENCH=large: texts of one form, and hashes with few bits
-- set.  Compares the plan that the index chooses with each that it can be forced to.

CREATE FUNCTION elements(first bigint, number int) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS
	$$SELECT array_agg(hashint8extended(i, 1)) FROM generate_series(first, first + number - 1) i$$;

-- 100 elements, of which 70 are common to all sets.  Each tenth set shares all but 1 to 10
-- of the others with a set before it.
CREATE FUNCTION of_form(i int) RETURNS minhash LANGUAGE sql AS $$
	SELECT to_minhash(to_shingles(elements(0, 70) || CASE WHEN i % 10 = 0 THEN elements((i - i / 10 % 9 - 1) * 100, 30 - other) || elements(i * 100, other)
		ELSE elements(i * 100, 30) END))
	FROM (SELECT i / 10 % 10 + 1 AS other) o
$$;

CREATE TABLE form AS SELECT i AS id, of_form(i) AS sig FROM generate_series(1, 300000) i;
CREATE TABLE form_queries AS SELECT row_number() OVER (ORDER BY hashint4extended(id, 0))::int AS id, sig FROM form WHERE id % 5 = 0 LIMIT 20;

-- 64-bit hashes with 12 % of the bits set.
CREATE TABLE bits AS
SELECT i AS id, hashint8extended(i, 1) & hashint8extended(i, 2) & hashint8extended(i, 3) AS sig FROM generate_series(1, 1000000) i;
CREATE TABLE bits_queries AS SELECT id, sig # 5 AS sig FROM bits WHERE id <= 20;
VACUUM (FREEZE, ANALYZE) form, bits;

-- Times a condition with each way to search an index of so many groups; 0: as the index chooses.
CREATE FUNCTION force(source text, condition text, groups int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX forced ON %s USING neardup (sig) WITH (groups = %s)', source, groups);
	PERFORM contest(condition, format('%s, %s groups', way, groups), (source || '_queries')::regclass,
		format('SELECT id FROM %s WHERE %s', source, condition), 2, 20, 'enable_seqscan = off, neardup.search = ' || way)
	FROM unnest(CASE groups WHEN 0 THEN '{auto,merge,probe,scan}' ELSE '{merge,probe}' END::text[]) way;
	DROP INDEX forced;
END $$;

-- The way that the index chooses compared with the best forced one.
CREATE VIEW beside_forced AS
WITH medians AS (
	SELECT contest, label, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000 AS ms
	FROM (SELECT contest, label, query, min(us) AS us FROM answers GROUP BY contest, label, query) best GROUP BY contest, label
), best AS (
	SELECT DISTINCT ON (contest) * FROM medians WHERE label NOT LIKE 'auto%' ORDER BY contest, ms
), scans AS (
	SELECT * FROM medians WHERE label LIKE 'scan%'
)
SELECT contest, v.what, v.value
FROM medians m JOIN best b USING (contest) JOIN scans s USING (contest),
	LATERAL (SELECT CASE WHEN contest ~ 'similar' THEN 'one form, at ' || substring(contest FROM '0[.][0-9]+') ELSE 'few bits set, at 6' END AS corpus) c,
	LATERAL (VALUES (1, corpus || ': ms', m.ms::text), (2, corpus || ': best forced ms', b.ms::text), (3, corpus || ': best forced way', b.label),
		(4, corpus || ': packed scan ms', s.ms::text), (5, corpus || ': ms / best forced', (m.ms / b.ms)::text)) v (place, what, value)
WHERE m.label LIKE 'auto%' ORDER BY contest DESC, place;
