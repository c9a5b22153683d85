-- Alg.G (choosing) and Alg.H (merging) of Yuan et al. (2012), on fingerprints of k bits, cut into m groups, of
-- which up to h bits differ.

-- ---- Fingerprints of 64 bits, uniform, and of 1,000 bits, and the first bits of these --
CREATE TABLE loaded (id int, sig bigint);
CREATE TABLE loaded_queries (id int, sig bigint);
CREATE TABLE f1000 (id int, sig bit(1000));
CREATE TABLE q1000 (id int, sig bit(1000));
\copy loaded FROM 'paper.rows' (FORMAT binary)
\copy loaded_queries FROM 'paper.queries' (FORMAT binary)
\copy f1000 FROM 'paper1000.rows' (FORMAT binary)
\copy q1000 FROM 'paper1000.queries' (FORMAT binary)
CREATE TABLE f64 AS SELECT id, sig::bit(64) AS sig FROM loaded;
CREATE TABLE q64 AS SELECT id, sig::bit(64) AS sig FROM loaded_queries;
SELECT format('CREATE TABLE f%s AS SELECT id, sig::bit(%1$s) AS sig FROM f1000', k), format('CREATE TABLE q%s AS SELECT id, sig::bit(%1$s) AS sig FROM q1000', k)
FROM unnest('{100,200,300,400,600}'::int[]) k \gexec
SELECT format('ALTER TABLE f%s ADD PRIMARY KEY (id)', k) FROM unnest('{64,100,200,300,400,600,1000}'::int[]) k \gexec
VACUUM (FREEZE, ANALYZE);

-- ---- Groups in SQL ----------------------------------------------------------------
-- The first groups are one bit wider if m does not divide k.
CREATE FUNCTION first_bit(k int, m int, g int) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT g * (k / m) + least(g, k % m)$$;
CREATE FUNCTION group_value(sig bit, m int, g int) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT substring(sig FROM first_bit(length(sig), m, g) + 1 FOR first_bit(length(sig), m, g + 1) - first_bit(length(sig), m, g))::int$$;

-- Merging in SQL: the lists of all groups, the documents in m - h of them, and the distance.
CREATE FUNCTION merging(k int, m int, h int) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT f.id FROM (SELECT doc FROM (%s) hits GROUP BY doc HAVING count(*) >= %s) c JOIN f%s f ON f.id = c.doc WHERE bit_count(f.sig # v.sig) <= %s',
		string_agg(format('SELECT doc FROM groups WHERE number = %s AND value = group_value(v.sig, %s, %s)', g, m, g), ' UNION ALL '), m - h, k, h)
	FROM generate_series(0, m - 1) g
$$;

CREATE FUNCTION make_groups(k int, m int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS groups;
	EXECUTE format('CREATE TABLE groups AS SELECT g::int2 AS number, group_value(sig, %s, g) AS value, id AS doc FROM f%s, generate_series(0, %1$s - 1) g', m, k);
	CREATE INDEX ON groups (number, value) INCLUDE (doc);
	ANALYZE groups;
END
$$;

-- ---- Contests ----------------------------------------------------------------------
CREATE FUNCTION choices(m int, h int) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT div(factorial(m), factorial(h) * factorial(m - h))$$;

CREATE FUNCTION contest_of(k int, h int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT format('k = %s, h = %s', k, h)$$;

-- Makes the index with m groups; 0: as many as prices decide.
CREATE FUNCTION make_index(k int, m int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	DROP INDEX IF EXISTS paper_index;
	EXECUTE format('CREATE INDEX paper_index ON f%s USING neardup (sig) WITH (groups = %s)', k, m);
END
$$;

-- Times a method of the index; its label tells m.
CREATE FUNCTION time_search(k int, h int, m int, method text, searches int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM contest(contest_of(k, h), format('%s m = %s', method, m), format('q%s', k)::regclass, format('SELECT id FROM f%s WHERE is_within(sig, v.sig, %s)', k, h), 5, searches,
		'enable_seqscan = off, neardup.search = ' || method);
END
$$;

-- Times methods with an index of m groups.  Choosing among many groups takes long, so it gets fewer searches.
CREATE FUNCTION time_groups(k int, h int, m int, methods text[], searches int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	method text;
BEGIN
	PERFORM make_index(k, m);
	FOREACH method IN ARRAY methods
	LOOP
		CONTINUE WHEN method = 'choose' AND choices(m, h) > 100000;	-- the index would merge
		PERFORM time_search(k, h, m, method, CASE WHEN method = 'choose' AND choices(m, h) > 10000 THEN least(searches, 10) ELSE searches END);
	END LOOP;
END
$$;

CREATE FUNCTION time_scan(k int, h int, searches int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	naive text := format('SELECT id FROM f%s WHERE bit_count(sig # v.sig) <= %s', k, h);
BEGIN
	PERFORM contest(contest_of(k, h), 'exact', format('q%s', k)::regclass, naive, 1, searches),
		contest(contest_of(k, h), 'seq scan', format('q%s', k)::regclass, naive, 3, least(searches, 20));
END
$$;

CREATE FUNCTION ms(k int, h int, label text) RETURNS numeric LANGUAGE sql STABLE AS
	$$SELECT round(r.ms::numeric, 4) FROM contest_results r WHERE contest = contest_of(k, h) AND r.label = $3$$;

-- ---- By the number of groups ---------------------------------------------------------
CREATE TABLE cut (k int, m int, h int);
INSERT INTO cut VALUES (64, 4, 3), (64, 8, 3), (64, 8, 6), (64, 12, 3), (64, 12, 6), (64, 12, 9), (64, 12, 10),
	(400, 61, 60), (400, 62, 60), (400, 63, 60), (400, 66, 60), (400, 80, 60);

SELECT time_scan(k, h, :searches) FROM (SELECT DISTINCT k, h FROM cut) t \g /dev/null
SELECT time_groups(k, h, m, '{merge,auto,choose}', :searches) FROM cut \g /dev/null

-- In SQL only the short fingerprints: with 400 bits, a search takes seconds.
SELECT make_groups(k, m), contest(contest_of(k, h), format('SQL m = %s', m), 'q64', merging(k, m, h), 2, least(:searches, 20), 'enable_seqscan = off')
FROM cut WHERE k = 64 \g /dev/null
