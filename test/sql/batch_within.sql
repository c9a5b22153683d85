-- Rows are compared only with rows that are equal in the columns of "within": as one call for
-- each class of rows.

CREATE SCHEMA batch_within;
SET search_path = batch_within, public;
SET jit = off;
SELECT setseed(0.4);

CREATE TABLE docs (id int, tenant numeric, lang text, s shingles, sig minhash, hash simhash);
INSERT INTO docs (id, tenant, lang, s)
	SELECT i, CASE WHEN i % 17 > 0 THEN (ARRAY[1, 1.0, 1.00, 2, 3])[1 + i % 5] END, CASE WHEN i % 19 > 0 THEN (ARRAY['en', 'de', 'a longer name of a language'])[1 + i % 3] END,
		CASE WHEN i % 97 = 0 THEN NULL ELSE to_shingles((SELECT array_agg(CASE WHEN random() < (i % 4) * 0.08 THEN (random() * 1e15)::bigint ELSE i % 23 * 1000 + j % 37 END)
			FROM generate_series(1, 40) j WHERE i > 0)) END
	FROM generate_series(1, 900) i;
UPDATE docs SET sig = to_minhash(s, 64, 8), hash = to_simhash(s);

-- Verdicts on pairs of one class and of two, that do not contradict each other.
CREATE TABLE verdicts AS
	SELECT a.id AS a, b.id AS b, a.id % 11 = b.id % 11 AS same FROM docs a JOIN docs b ON a.id < b.id
	WHERE a.id % 23 = b.id % 23 AND random() < 0.05 OR a.id % 11 = b.id % 11 AND random() < 0.001;

-- Returns how many rows a call returns, and how many differ from one call for each class.
CREATE FUNCTION differences(call text, OUT rows bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
	class record;
BEGIN
	EXECUTE 'CREATE TEMP TABLE got AS SELECT * FROM ' || replace(replace(call, '<class>', ', tenant, lang FROM docs WHERE true'), '<within>', 'within => ''{lang,tenant}''');
	CREATE TEMP TABLE expected (LIKE got);
	FOR class IN SELECT DISTINCT tenant, lang FROM docs WHERE tenant IS NOT NULL AND lang IS NOT NULL LOOP
		EXECUTE 'INSERT INTO expected SELECT * FROM ' || replace(replace(call, '<class>', format(' FROM docs WHERE tenant = %s AND lang = %L', class.tenant, class.lang)), '<within>', 'within => ''{}''');
	END LOOP;
	SELECT count(*) INTO rows FROM got;
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE got, expected;
END $$;

CREATE TABLE variants (call text);
INSERT INTO variants
	SELECT format('%s($q$SELECT id, %s<class> %s ORDER BY id$q$, 0.7%s, <within>)', function, signature, rows, arguments)
	FROM (VALUES ('sig', ''), ('hash', ''), ('s', ''), ('s', ', multiset => true'), ('s', ', measure => $q$containment$q$'), ('sig, s', '')) s (signature, how),
		(VALUES ('neardup_pairs', ''), ('neardup_pairs', ', equal => $q$all$q$'), ('neardup_clusters', ''), ('neardup_clusters', ', nearest => true'),
			('neardup_clusters', ', method => $q$components$q$')) f (function, which),
		(VALUES ('', ''), ('', ', verdicts => $q$TABLE verdicts$q$'), ('AND id % 3 = 0', ', against => $q$SELECT id, %s<class> AND id % 3 > 0 ORDER BY id$q$'),
			('AND id % 3 = 0', ', against => $q$SELECT id, %s<class> AND id % 3 > 0 ORDER BY id$q$, verdicts => $q$TABLE verdicts$q$')) a (rows, others),
		LATERAL (SELECT how || which || replace(others, '%s', signature)) l (arguments)
	WHERE NOT (which ~ 'components' AND (how ~ 'containment' OR others ~ 'against'));
SET client_min_messages = warning;
SELECT count(*) AS calls, sum(rows) > 20000 AS many, sum(differ) AS differ FROM variants, differences(call);

-- Signatures that go to a file, with copies in other classes.
SET maintenance_work_mem = '1MB';
INSERT INTO docs (id, tenant, lang, s)
	SELECT id + generation * 1000, generation, lang, CASE WHEN id % 5 = 0 THEN s ELSE to_shingles((SELECT array_agg(CASE WHEN random() < 0.1 THEN (random() * 1e15)::bigint ELSE id % 300 * 1000 + j END)
		FROM generate_series(1, 40) j WHERE id > 0)) END
	FROM docs, generate_series(1, 3) generation;
UPDATE docs SET sig = to_minhash(s, 512, 8);
SELECT sum(rows) > 10000 AS many, sum(differ) AS differ FROM variants, differences(call) WHERE call ~ 'sig' AND call !~ 'all|sig, s';
RESET client_min_messages;
RESET maintenance_work_mem;

-- A trigger's groups begin as the batch makes them.
ALTER TABLE docs ADD COLUMN same_as int, ADD PRIMARY KEY (id);
SELECT neardup_guard('docs', 'sig', 0.7, 'group', 'tenant, lang', group_column => 'same_as');
SELECT count(*) AS differ FROM docs LEFT JOIN neardup_clusters('SELECT id, sig, tenant, lang FROM docs ORDER BY id', 0.7, nearest => true, within => '{tenant,lang}') c USING (id)
WHERE same_as <> coalesce(keeper, id);
SELECT count(*) > 1000 AS members FROM docs WHERE same_as <> id;

-- Columns in which a NULL is unknown, and equal to all.
CREATE FUNCTION differences_unknown(signature text, unknown name[], OUT pairs bigint, OUT across bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE got AS SELECT a, b, similarity FROM neardup_pairs(%L, 0.7, equal => ''all'', within => ''{tenant,lang}'', unknown => %L)',
		'SELECT id, ' || signature || ', lang, tenant FROM docs WHERE id <= 500 ORDER BY id', unknown);
	EXECUTE format('CREATE TEMP TABLE expected AS SELECT a.id::bigint AS a, b.id::bigint AS b, similarity(a.%1$s, b.%1$s) AS similarity FROM docs a JOIN docs b ON a.id < b.id AND b.id <= 500 AND similarity(a.%1$s, b.%1$s) >= 0.7 '
		'WHERE %2$s AND %3$s', signature, CASE WHEN 'tenant' = ANY (unknown) THEN 'coalesce(a.tenant = b.tenant, true)' ELSE 'a.tenant = b.tenant' END, CASE WHEN 'lang' = ANY (unknown) THEN 'coalesce(a.lang = b.lang, true)' ELSE 'a.lang = b.lang' END);
	SELECT count(*) INTO pairs FROM got;
	SELECT count(*) INTO across FROM got JOIN docs x ON x.id = a JOIN docs y ON y.id = b WHERE (x.tenant IS NULL OR x.lang IS NULL) IS DISTINCT FROM (y.tenant IS NULL OR y.lang IS NULL);
	SELECT count(*) INTO differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE got, expected;
END $$;
SELECT signature, unknown, pairs > 100 AS pairs, across > 10 AS across, differ
FROM unnest('{sig,hash,s}'::text[]) signature, (VALUES ('{tenant}'::name[]), ('{lang,tenant}')) u (unknown), differences_unknown(signature, unknown);
-- Stars are the groups of a guard.
CREATE TABLE grouped (id int PRIMARY KEY, tenant numeric, lang text, sig minhash, same_as int);
SELECT neardup_guard('grouped', 'sig', 0.7, 'group', 'tenant, lang', 'lang', group_column => 'same_as');
INSERT INTO grouped (id, tenant, lang, sig) SELECT id, tenant, lang, sig FROM docs WHERE id <= 500 ORDER BY id;
SELECT count(*) FILTER (WHERE same_as <> coalesce(keeper, id)) AS differ, count(*) FILTER (WHERE same_as <> id) > 100 AS members, count(*) FILTER (WHERE same_as <> id AND lang IS NULL) > 5 AS unknown
FROM grouped LEFT JOIN neardup_clusters('SELECT id, sig, tenant, lang FROM grouped ORDER BY id', 0.7, nearest => true, within => '{tenant,lang}', unknown => '{lang}') c USING (id);
-- Rows that are there are grouped so, too.
SELECT neardup_guard('grouped', action => 'none');
UPDATE grouped SET same_as = NULL;
SELECT neardup_guard('grouped', 'sig', 0.7, 'group', 'tenant, lang', 'lang', group_column => 'same_as');
SELECT count(*) FILTER (WHERE same_as <> coalesce(keeper, id)) AS differ
FROM grouped LEFT JOIN neardup_clusters('SELECT id, sig, tenant, lang FROM grouped ORDER BY id', 0.7, nearest => true, within => '{tenant,lang}', unknown => '{lang}') c USING (id);
DROP TABLE grouped;
-- Rows that are not compared may be near one keeper: if they are judged different, one of them joins it.
SELECT id, keeper FROM neardup_clusters('SELECT v.id, to_shingles(''a b c d''), v.tenant FROM (VALUES (1, NULL), (2, 1), (3, 2), (4, 2)) v (id, tenant) ORDER BY id', 0.7,
	within => '{tenant}', unknown => '{tenant}', verdicts => 'VALUES (2, 3, false)');
-- People may know better than keys; the groups of a guard are the same.
SELECT * FROM neardup_pairs('SELECT v.id, to_shingles(''a b c d''), v.tenant FROM (VALUES (1, NULL), (2, 1), (3, 2)) v (id, tenant) ORDER BY id', 0.7,
	within => '{tenant}', unknown => '{tenant}', verdicts => 'VALUES (2, 3, true), (1, 2, false)');
SELECT id, keeper FROM neardup_clusters('SELECT v.id, to_shingles(''a b c d''), v.tenant FROM (VALUES (2, 1), (3, 2), (4, 2)) v (id, tenant) ORDER BY id', 0.7,
	within => '{tenant}', unknown => '{tenant}', verdicts => 'VALUES (2, 3, true)');
SELECT * FROM neardup_pairs('SELECT id, sig, tenant FROM docs', 0.7, within => '{tenant}', unknown => '{lang}');
SELECT * FROM neardup_clusters('SELECT id, sig, tenant FROM docs', 0.7, within => '{tenant}', unknown => '{tenant}', method => 'components');

-- Columns that do not fit.
\set VERBOSITY default
SELECT * FROM neardup_pairs('SELECT id, sig, tenant FROM docs', 0.7, within => '{tenant,lang}');
SELECT * FROM neardup_pairs('SELECT id, sig, tenant, lang FROM docs', 0.7, within => '{tenant,region}');
SELECT * FROM neardup_pairs('SELECT id, sig, tenant, lang FROM docs', 0.7, within => '{tenant}');
SELECT * FROM neardup_pairs('SELECT id, sig, to_json(lang) AS lang FROM docs', 0.7, within => '{lang}');
SELECT * FROM neardup_clusters('SELECT id, sig, tenant FROM docs', 0.7, against => 'SELECT id, sig, id AS tenant FROM docs', within => '{tenant}');
SELECT * FROM neardup_clusters('SELECT id, sig, tenant FROM docs', 0.7, within => '{NULL}');
SELECT * FROM neardup_clusters('SELECT id, sig, tenant FROM docs', 0.7, within => NULL);
\set VERBOSITY terse
SET client_min_messages = warning;
DROP SCHEMA batch_within CASCADE;
