-- The algorithms of Yuan et al. (2012): 100,000 fingerprints of 64 bits, cut into m
-- groups.
SET client_min_messages = warning;
CREATE TABLE loaded (id int PRIMARY KEY, sig bigint NOT NULL);
CREATE TABLE paper_queries (id int, sig bigint);
\copy loaded FROM 'paper.rows' (FORMAT binary)
\copy paper_queries FROM 'paper.queries' (FORMAT binary)

-- The m groups of a fingerprint; the first ones are one bit wider if m does not divide 64.
CREATE FUNCTION first_bit(m int, g int) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT g * (64 / m) + least(g, 64 % m)$$;
CREATE FUNCTION group_value(sig bigint, m int, g int) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT substring(sig::bit(64) FROM first_bit(m, g) + 1 FOR first_bit(m, g + 1) - first_bit(m, g))::int$$;

-- Makes a table of fingerprints with an index of m groups, and one of their groups with a B-tree.
CREATE FUNCTION prepare(m int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE f%s AS SELECT * FROM loaded', m);
	EXECUTE format('ALTER TABLE f%s ADD PRIMARY KEY (id)', m);
	EXECUTE format('CREATE INDEX ON f%s USING neardup (sig) WITH (groups = %s)', m, m);
	EXECUTE format('CREATE TABLE g%s AS SELECT g::int2 AS number, group_value(sig, %s, g) AS value, id AS doc FROM loaded, generate_series(0, %s - 1) g', m, m, m);
	EXECUTE format('CREATE INDEX ON g%s (number, value) INCLUDE (doc)', m);
	EXECUTE format('ANALYZE f%s', m);
	EXECUTE format('ANALYZE g%s', m);
END
$$;

-- Merging in SQL: the lists of all groups, the documents in m - h of them, and the distance.
CREATE FUNCTION merging(m int, h int) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT f.id FROM (SELECT doc FROM (%s) hits GROUP BY doc HAVING count(*) >= %s) c JOIN f%s f ON f.id = c.doc WHERE bit_count((f.sig # v.sig)::bit(64)) <= %s',
		string_agg(format('SELECT doc FROM g%s WHERE number = %s AND value = group_value(v.sig, %s, %s)', m, g, m, g), ' UNION ALL '), m - h, m, h)
	FROM generate_series(0, m - 1) g
$$;

CREATE FUNCTION compete(m int, h int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	contest text := format('m = %s, h = %s', m, h);
	naive text := format('SELECT id FROM f%s WHERE bit_count((sig # v.sig)::bit(64)) <= %s', m, h);
	method text;
BEGIN
	PERFORM contest(contest, 'exact', 'paper_queries', naive, 1, 50), contest(contest, 'seq scan', 'paper_queries', naive, 1, 20);
	FOREACH method IN ARRAY '{choose,merge,auto}'::text[]
	LOOP
		PERFORM contest(contest, method, 'paper_queries', format('SELECT id FROM f%s WHERE hamming_within(sig, v.sig, %s)', m, h), 3, 50,
			'enable_seqscan = off, neardup.search = ' || method);
	END LOOP;
	PERFORM contest(contest, 'SQL on B-trees', 'paper_queries', merging(m, h), 3, 50, 'enable_seqscan = off');
END
$$;

SELECT prepare(m) FROM unnest('{4,8,12}'::int[]) m \g /dev/null
CHECKPOINT;
SELECT compete(m, h) FROM (VALUES (4, 3), (8, 3), (8, 6), (12, 3), (12, 6), (12, 10)) v (m, h) \g /dev/null

\echo
\echo '### Algorithms of the paper: 100,000 fingerprints of 64 bits, m groups, distance h (median ms)'
\echo
\echo '| m | h | choices | Alg.G (choose) | Alg.H (merge) | neardup, the same index | Alg.H in SQL on B-trees | seq scan | rows lost or wrong |'
\echo '|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s |', m, h, trim_scale(factorial(m) / factorial(h) / factorial(m - h)), times ->> 'choose', times ->> 'merge', times ->> 'auto',
	times ->> 'SQL on B-trees', times ->> 'seq scan', wrong)
FROM (VALUES (4, 3), (8, 3), (8, 6), (12, 3), (12, 6), (12, 10)) v (m, h),
	LATERAL (SELECT jsonb_object_agg(label, round(r.ms::numeric, 3)) AS times, sum(r.wrong) + count(*) FILTER (WHERE r.recall < 1 AND label <> 'seq scan') AS wrong
		FROM contest_results r WHERE r.contest = format('m = %s, h = %s', m, h)) r;
