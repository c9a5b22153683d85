-- neardup_pairs() and neardup_clusters() with verdicts: people's judgement of pairs.

\set SHOW_CONTEXT never
\set VERBOSITY default
CREATE SCHEMA batch_verdicts;
SET search_path = batch_verdicts, public;

-- 1 to 4 share 9 of 11 elements each with the next; 5 is far from all, 6 and 7 are equal, 8 is empty, 9 NULL.
CREATE TABLE docs (id int PRIMARY KEY, s shingles, sig minhash, key uuid, name text);
INSERT INTO docs SELECT i, to_shingles(ARRAY(SELECT generate_series(i, i + 9))::bigint[]) FROM generate_series(1, 4) i;
INSERT INTO docs VALUES (5, to_shingles('{101,102}'::bigint[])), (6, to_shingles('{201}'::bigint[])), (7, to_shingles('{201}'::bigint[])),
	(8, to_shingles('{}'::bigint[])), (9, NULL);
UPDATE docs SET sig = to_minhash(s, 1024, 4), key = ('00000000-0000-0000-0000-00000000000' || 10 - id)::uuid, name = 'Doc ' || id;
CREATE TABLE verdicts (a int, b int, same boolean);
CREATE FUNCTION judge(judged text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT split_part(v, '' '', 1)::int, split_part(v, '' '', 3)::int, CASE split_part(v, '' '', 2) WHEN ''='' THEN true WHEN ''<>'' THEN false END
		FROM regexp_split_to_table(%L, '', '') v', judged)
$$;
\set rows '''SELECT id, s FROM docs ORDER BY id'''

\echo Pairs
SELECT * FROM neardup_pairs(:rows, 0.65) ORDER BY 1, 2;
-- Different: not reported; same: reported once, whatever the similarity is.
SELECT * FROM neardup_pairs(:rows, 0.65, verdicts => judge('2 <> 1, 6 <> 7, 4 = 1, 2 = 3, 3 = 2, 3 ? 4, 1 = 1')) ORDER BY 1, 2;
SELECT * FROM neardup_pairs(:rows, 0.65, equal => 'all', verdicts => judge('7 = 6, 5 = 4, 8 = 5, 9 = 5, 9 = 8')) ORDER BY 1, 2;
-- Verdicts on ids that the query does not return say nothing, even contradictory ones; nor do NULLs, or no verdicts.
SELECT * FROM neardup_pairs(:rows, 0.65, verdicts => judge('1 = 77, 77 <> 78, 78 = 77, 77 <> 77, 77 = 3')) ORDER BY 1, 2;
SELECT * FROM neardup_pairs(:rows, 0.65, verdicts => 'SELECT a, b, same FROM verdicts') ORDER BY 1, 2;
SELECT * FROM neardup_pairs(:rows, 0.65, verdicts => 'VALUES (1, 2, NULL::boolean), (NULL, 2, false), (1, NULL, false)') ORDER BY 1, 2;
-- One row of each query; 3 is in both.
SELECT * FROM neardup_pairs('SELECT id, s FROM docs WHERE id IN (1, 3, 6)', 0.65, against => 'SELECT id, s FROM docs WHERE id IN (2, 3, 5, 7)',
	verdicts => judge('2 <> 1, 7 <> 6, 3 = 5, 1 = 6, 2 = 5, 3 = 2, 1 = 3')) ORDER BY 1, 2;
-- Ids of other types, signatures, verified pairs.
SELECT * FROM neardup_pairs('SELECT key, s FROM docs', 0.65, NULL::uuid,
	verdicts => $$SELECT x.key, y.key, v.same FROM (VALUES (1, 2, false), (1, 5, true)) v (a, b, same) JOIN docs x ON x.id = a JOIN docs y ON y.id = b$$) ORDER BY 1, 2;
SELECT * FROM neardup_pairs('SELECT name, s FROM docs', 0.65, NULL::text, verdicts => $$VALUES ('Doc 1'::varchar, 'Doc 2'::text, false), ('Doc 5', 'Doc 1', true)$$) ORDER BY 1, 2;
CREATE DOMAIN number AS bigint;
CREATE DOMAIN opinion AS boolean;
SELECT * FROM neardup_pairs(:rows, 0.65, verdicts => 'SELECT 1::smallint, 2::number, false::opinion UNION ALL SELECT 5, 1, true') ORDER BY 1, 2;
SELECT a, b, p.similarity = similarity(x.sig, y.sig) AS exact FROM neardup_pairs('SELECT id, sig FROM docs ORDER BY id', 0.6, verdicts => judge('1 <> 2, 1 = 4, 4 = 5, 6 = 5, 9 = 1')) p
	JOIN docs x ON x.id = a JOIN docs y ON y.id = b ORDER BY 1, 2;
SELECT a, b, p.similarity = similarity(x.s, y.s) AS exact FROM neardup_pairs('SELECT id, sig, s FROM docs ORDER BY id', 0.7, verdicts => judge('1 <> 2, 1 = 4, 4 = 5')) p
	JOIN docs x ON x.id = a JOIN docs y ON y.id = b ORDER BY 1, 2;
SELECT p.*, m, measure FROM unnest('{f,t}'::boolean[]) m, unnest('{resemblance,containment}'::text[]) measure,
	neardup_pairs($$SELECT * FROM (VALUES (1, to_shingles('{1,1,2,3}'::bigint[])), (2, to_shingles('{1,1,4,5,6,7}'::bigint[]))) v$$, 0.9, m, measure => measure, verdicts => judge('1 = 2')) p ORDER BY m, measure;
-- Of a share, the row that comes later in the query counts.
SELECT n, p.* FROM unnest('{1,-1}'::int[]) n, neardup_pairs(format($$SELECT id, to_minhash(s), s FROM (VALUES (1, to_shingles('{1,2,3,4}'::bigint[])), (2, to_shingles('{1,2,3}'::bigint[]))) v (id, s)
	ORDER BY id * %s$$, n), 0.5, contained => 0.9, verdicts => judge('1 = 2')) p;

\echo Stars
SELECT * FROM neardup_clusters(:rows, 0.65);
-- 1 keeps 2 and 3; 2 leaves; 4, which is the same as 1, does not join 2.
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('1 <> 2'));
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('1 <> 2, 1 = 4'));
-- 3 is judged different from a member of the first keeper's cluster.
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('2 <> 3'));
-- A unit joins by any of its rows, and is joined by any; its first row is the keeper, with or without a signature.
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('5 = 2, 6 = 9'));
SELECT * FROM neardup_clusters('SELECT id, s FROM docs ORDER BY id DESC', 0.65, verdicts => judge('5 = 2, 6 = 9, 9 <> 7'));
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('8 = 9'));
-- Equal rows that are judged different.
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('6 <> 7'));
SELECT * FROM neardup_clusters(:rows, 0.65, verdicts => judge('6 <> 7, 7 = 5'));
-- 2 is as near to 1 as to 3.
SELECT n, c.* FROM unnest('{f,t}'::boolean[]) n, neardup_clusters('SELECT id, s FROM docs WHERE id < 5 ORDER BY id % 2 = 0, id', 0.8, nearest => n, verdicts => judge('1 <> 2, 3 <> 4')) c;
SELECT * FROM neardup_clusters('SELECT id, s FROM docs ORDER BY id', 0.65, measure => 'containment', verdicts => judge('1 <> 2, 5 = 3'));
-- 1 contains 6, and 2 contains 5, of "against"; a verdict parts 1 and 6.
SELECT * FROM neardup_clusters($$SELECT * FROM (VALUES (1, to_shingles('{201,202}'::bigint[])), (2, to_shingles('{101,102,103}'::bigint[]))) v$$, 0.8,
	against => 'SELECT id, s FROM docs WHERE id IN (5, 6)', measure => 'containment', verdicts => judge('1 <> 6, 2 <> 6'));
-- Keepers from another source.
\set against '''SELECT id, s FROM docs WHERE id IN (2, 3, 5, 7) ORDER BY id'''
SELECT * FROM neardup_clusters('SELECT id, s FROM docs WHERE id IN (1, 4, 6, 9) ORDER BY id', 0.65, against => :against);
SELECT * FROM neardup_clusters('SELECT id, s FROM docs WHERE id IN (1, 4, 6, 9) ORDER BY id', 0.65, against => :against, verdicts => judge('1 <> 2, 6 = 5, 9 = 4'));
SELECT * FROM neardup_clusters('SELECT id, s FROM docs WHERE id IN (1, 4, 6, 9) ORDER BY id', 0.65, against => :against, verdicts => judge('1 <> 4, 3 = 5, 6 <> 7'));
SELECT * FROM neardup_clusters('SELECT key, sig FROM docs WHERE id IN (1, 4, 6, 9) ORDER BY id', 0.6, NULL::uuid, against => 'SELECT key, sig FROM docs WHERE id IN (2, 3, 5, 7) ORDER BY id',
	verdicts => $$SELECT x.key, y.key, v.same FROM (VALUES (1, 2, false), (6, 5, true)) v (a, b, same) JOIN docs x ON x.id = a JOIN docs y ON y.id = b$$);
SELECT * FROM neardup_clusters('SELECT name, s FROM docs ORDER BY id', 0.65, NULL::text, verdicts => $$VALUES ('Doc 1', 'Doc 2', false), ('Doc 5', 'Doc 1', true)$$);
SELECT * FROM neardup_clusters('SELECT id, sig, s FROM docs ORDER BY id', 0.8, verdicts => judge('1 <> 2, 4 = 1'));

\echo Components
SELECT * FROM neardup_clusters(:rows, 0.8, method => 'components');
SELECT * FROM neardup_clusters(:rows, 0.8, method => 'components', verdicts => judge('5 = 9, 9 = 4, 8 = 8'));
-- A chain is cut at its least similar pair, or at the last one of equally similar pairs.
SELECT * FROM neardup_clusters(:rows, 0.8, method => 'components', verdicts => judge('1 <> 4'));
SELECT * FROM neardup_clusters(:rows, 0.8, method => 'components', verdicts => judge('1 <> 4, 3 = 4, 2 <> 3'));
SELECT * FROM neardup_clusters(:rows, 0.8, method => 'components', verdicts => judge('1 <> 2, 2 <> 3, 3 <> 4, 6 <> 7'));
SELECT * FROM neardup_clusters('SELECT * FROM (VALUES (1, to_shingles(''{1,2,3,4}''::bigint[])), (2, to_shingles(''{1,2,3,5}''::bigint[])), (3, to_shingles(''{1,2,3,4,5}''::bigint[]))) v', 0.6,
	method => 'components', verdicts => judge('1 <> 2'));
-- The first row without a signature.
SELECT * FROM neardup_clusters('SELECT id, s FROM docs ORDER BY id DESC', 0.8, method => 'components', verdicts => judge('9 = 3, 4 <> 1'));

\echo Contradictions
SELECT neardup_pairs(:rows, 0.5, verdicts => judge('1 = 2, 2 <> 1'));
SELECT neardup_pairs(:rows, 0.5, verdicts => judge('4 <> 4'));
SELECT neardup_clusters(:rows, 0.5, verdicts => judge('1 = 2, 2 <> 1'));
SELECT neardup_clusters(:rows, 0.5, verdicts => judge('1 = 2, 2 = 3, 3 <> 1'));
SELECT neardup_clusters(:rows, 0.5, method => 'components', verdicts => judge('1 = 2, 2 = 3, 3 <> 1'));
SELECT neardup_clusters('SELECT name, s FROM docs WHERE id < 3', 0.5, NULL::text, against => 'SELECT name, s FROM docs WHERE id > 2', verdicts => $$VALUES ('Doc 3', 'Doc 1', true), ('Doc 3', 'Doc 2', true), ('Doc 1', 'Doc 2', false)$$);
-- For pairs it is no contradiction that 1 and 3 are like 2 but not like each other; for clusters it is none without 2.
SELECT * FROM neardup_pairs('SELECT id, s FROM docs WHERE id < 4', 0.5, verdicts => judge('1 = 2, 2 = 3, 3 <> 1')) ORDER BY 1, 2;
SELECT * FROM neardup_clusters('SELECT id, s FROM docs WHERE id <> 2', 0.5, verdicts => judge('1 = 2, 2 = 3, 3 <> 1'));

\echo Queries that are refused
SELECT neardup_pairs(:rows, 0.5, verdicts => 'SELECT 1, 2');
SELECT neardup_pairs(:rows, 0.5, verdicts => 'SELECT 1, 2::numeric, true');
SELECT neardup_clusters('SELECT key, s FROM docs', 0.5, NULL::uuid, verdicts => 'SELECT 1, 2, true');
SELECT neardup_clusters(:rows, 0.5, verdicts => 'SELECT 1, 2, 1');
SELECT neardup_clusters(:rows, 0.5, verdicts => 'SELECT 1, 2, true; SELECT 1');
SELECT neardup_clusters(:rows, 0.5, verdicts => 'verdicts');
SELECT neardup_clusters(:rows, 0.5, verdicts => 'DELETE FROM verdicts RETURNING a, b, same');
SELECT neardup_clusters(:rows, 0.5, verdicts => 'SELECT a, b, same FROM verdicts FOR UPDATE');
CREATE ROLE batch_verdicts_reader;
GRANT USAGE ON SCHEMA batch_verdicts TO batch_verdicts_reader;
GRANT SELECT ON docs TO batch_verdicts_reader;
SET ROLE batch_verdicts_reader;
SELECT neardup_clusters(:rows, 0.5, verdicts => 'SELECT a, b, same FROM verdicts');
RESET ROLE;
DROP OWNED BY batch_verdicts_reader;
DROP ROLE batch_verdicts_reader;

\echo Compared with plain SQL
SET jit = off;
SELECT setseed(0.5);
CREATE TABLE sets (id bigint PRIMARY KEY, s shingles);
CREATE TABLE node (n int PRIMARY KEY, side int, id bigint, sig minhash, unit int, keeper int);

-- Documents of families, some equal, empty or NULL; pairs judged same at random; pairs judged different that are not the same.
CREATE FUNCTION elements(family int, change float8) RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(CASE WHEN random() < change THEN (random() * 1e15)::bigint ELSE family * 1000 + j END) FROM generate_series(1, 40) j
$$;
CREATE FUNCTION make_docs(n int, families int, change float8) RETURNS void LANGUAGE sql AS $$
	TRUNCATE sets;
	INSERT INTO sets SELECT i, CASE WHEN i % 23 = 0 THEN NULL WHEN i % 29 = 0 THEN to_shingles('{}'::bigint[])
		ELSE to_shingles(elements(i % families, CASE WHEN i % 5 = 0 THEN 0 ELSE random() * change END)) END FROM generate_series(1, n) i;
$$;
-- The nodes: rows of one source, or of keepers and others, some of them in both.
CREATE FUNCTION make_nodes(two boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE node;
	INSERT INTO node SELECT id, 0, id, to_minhash(s), id FROM sets WHERE NOT two OR id % 3 > 0;
	INSERT INTO node SELECT 1000 + id, 1, id, to_minhash(s), 1000 + id FROM sets WHERE two AND (id % 3 = 0 OR id % 7 = 0);
	LOOP
		UPDATE node l SET unit = m.unit FROM (SELECT x.n, min(y.unit) AS unit
			FROM node x JOIN (SELECT a, b FROM verdicts WHERE same UNION SELECT b, a FROM verdicts WHERE same) v ON v.a = x.id AND v.a <> v.b JOIN node y ON y.id = v.b GROUP BY x.n) m
			WHERE m.n = l.n AND m.unit < l.unit;
		EXIT WHEN NOT FOUND;
	END LOOP;
	-- Equal rows without verdicts are one keeper.
	DELETE FROM node x USING node y WHERE two AND x.side = 0 AND y.side = 0 AND y.n < x.n AND y.sig = x.sig
		AND NOT EXISTS (SELECT FROM verdicts v WHERE v IS NOT NULL AND (v.a IN (x.id, y.id) OR v.b IN (x.id, y.id)));
END $$;
CREATE FUNCTION make_verdicts(alike int, different int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE verdicts;
	INSERT INTO verdicts SELECT x.id, y.id, true FROM sets x JOIN sets y ON x.id <> y.id AND (random() < 0.02 OR similarity(x.s, y.s) > 0.3) ORDER BY random() LIMIT alike;
	PERFORM make_nodes(false);
	INSERT INTO verdicts SELECT x.id, y.id, false FROM node x JOIN node y ON x.unit <> y.unit AND (random() < 0.02 OR similarity(x.sig, y.sig) > 0.3) ORDER BY random() LIMIT different;
	INSERT INTO verdicts SELECT b, a, same FROM verdicts ORDER BY random() LIMIT 3;
	INSERT INTO verdicts VALUES (5, 6, NULL), (7, NULL, true), (NULL, 5, false), (1, 1, true), (1, 9999, true), (2, 9999, true), (1, 9999, false);
END $$;
CREATE VIEW differ AS SELECT a, b FROM verdicts WHERE NOT same UNION SELECT b, a FROM verdicts WHERE NOT same;

-- Units in order join the first or nearest keeper's unit whose cluster has no row that is judged different.
CREATE FUNCTION make_stars(t float8, near boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	u int;
	best int;
BEGIN
	UPDATE node SET keeper = unit WHERE unit < 1000 AND EXISTS (SELECT FROM node WHERE side = 1);
	FOR u IN SELECT DISTINCT unit FROM node WHERE keeper IS NULL ORDER BY 1 LOOP
		SELECT k.unit INTO best FROM node k JOIN node x ON x.unit = u AND k.keeper = k.unit AND k.side = 0 AND is_similar(k.sig, x.sig, t)
			WHERE NOT EXISTS (SELECT FROM node c JOIN node y ON c.keeper = k.unit AND y.unit = u JOIN differ v ON v.a = c.id AND v.b = y.id)
			GROUP BY k.unit ORDER BY CASE WHEN near THEN -max(similarity(k.sig, x.sig)) END, k.unit LIMIT 1;
		UPDATE node SET keeper = coalesce(best, CASE WHEN u < 1000 THEN u END) WHERE unit = u;
	END LOOP;
END $$;
-- The maximum spanning forest of units, then its edges from the most similar one, unless they join what is judged different.
CREATE FUNCTION make_components(t float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	e record;
BEGIN
	CREATE TEMP TABLE forest (a int, b int, s float8);
	FOR pass IN 1 .. 2 LOOP
		UPDATE node SET keeper = unit;
		CREATE TEMP TABLE edge AS SELECT x.unit AS a, y.unit AS b, max(similarity(x.sig, y.sig)) AS s FROM node x JOIN node y ON x.unit < y.unit AND is_similar(x.sig, y.sig, t) GROUP BY 1, 2;
		FOR e IN SELECT * FROM (SELECT * FROM edge WHERE pass = 1 UNION ALL SELECT * FROM forest WHERE pass = 2) o ORDER BY s DESC, a, b LOOP
			CONTINUE WHEN (SELECT keeper FROM node WHERE n = e.a) = (SELECT keeper FROM node WHERE n = e.b);
			CONTINUE WHEN pass = 2 AND EXISTS (SELECT FROM node x JOIN differ d ON d.a = x.id JOIN node y ON y.id = d.b
				WHERE x.keeper = (SELECT keeper FROM node WHERE n = e.a) AND y.keeper = (SELECT keeper FROM node WHERE n = e.b));
			INSERT INTO forest SELECT e.a, e.b, e.s WHERE pass = 1;
			UPDATE node SET keeper = least(x.keeper, y.keeper) FROM node x, node y
				WHERE x.n = e.a AND y.n = e.b AND node.keeper IN (x.keeper, y.keeper);
		END LOOP;
		DROP TABLE edge;
	END LOOP;
	DROP TABLE forest;
END $$;
-- How many rows of clusters differ from the nodes' keepers.
CREATE FUNCTION count_differ(call text, OUT clustered bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT x.id, k.id AS keeper, CASE WHEN x.n = k.n THEN 1 WHEN cardinality(kd.s) > 0 AND cardinality(xd.s) > 0 THEN similarity(k.sig, x.sig) END AS similarity,
			count(*) OVER (PARTITION BY x.keeper) AS size
		FROM node x JOIN node k ON k.n = x.keeper JOIN sets xd ON xd.id = x.id JOIN sets kd ON kd.id = k.id
		WHERE x.side = 1 OR x.n = k.n OR NOT EXISTS (SELECT FROM node WHERE side = 1);
	DELETE FROM expected WHERE size = 1;
	EXECUTE 'CREATE TEMP TABLE got AS SELECT * FROM neardup_clusters(' || call || ', verdicts => ''SELECT a, b, same FROM verdicts'')';
	SELECT count(*) INTO clustered FROM expected;
	SELECT count(*) INTO count_differ.differ FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got;
END $$;
CREATE FUNCTION compare_clusters(t float8, OUT clustered bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
	one text := format('''SELECT id, to_minhash(s) FROM sets ORDER BY id'', %s', t);
	two text := format('''SELECT id, to_minhash(s) FROM sets WHERE id %% 3 = 0 OR id %% 7 = 0 ORDER BY id'', %s, against => ''SELECT id, to_minhash(s) FROM sets WHERE id %% 3 > 0 ORDER BY id''', t);
	near boolean;
	found bigint;
	wrong bigint;
BEGIN
	clustered := 0;
	differ := 0;
	FOREACH near IN ARRAY '{f,t}'::boolean[] LOOP
		PERFORM make_nodes(false), make_stars(t, near);
		SELECT * INTO found, wrong FROM count_differ(format('%s, nearest => %L', one, near));
		clustered := clustered + found;
		differ := differ + wrong;
		PERFORM make_nodes(true), make_stars(t, near);
		SELECT * INTO found, wrong FROM count_differ(format('%s, nearest => %L', two, near));
		clustered := clustered + found;
		differ := differ + wrong;
	END LOOP;
	PERFORM make_nodes(false), make_components(t);
	SELECT * INTO found, wrong FROM count_differ(format('%s, method => ''components''', one));
	clustered := clustered + found;
	differ := differ + wrong;
END $$;
-- Pairs: without verdicts, minus those judged different, plus those judged the same.
CREATE FUNCTION compare_pairs(t float8, against text, equal_rows text, OUT pairs bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE expected AS SELECT * FROM neardup_pairs('SELECT id, s FROM sets WHERE id % 3 < 2 ORDER BY id', t, against => against, equal => equal_rows);
	DELETE FROM expected e USING differ d WHERE (d.a, d.b) = (e.a, e.b);
	INSERT INTO expected SELECT x.id, y.id, CASE WHEN cardinality(x.s) > 0 AND cardinality(y.s) > 0 THEN similarity(x.s, y.s) END
		FROM (SELECT a, b FROM verdicts WHERE same UNION SELECT b, a FROM verdicts WHERE same) v JOIN sets x ON x.id = v.a JOIN sets y ON y.id = v.b AND x.id <> y.id
		WHERE x.id % 3 < 2 AND CASE WHEN against IS NULL THEN y.id % 3 < 2 AND x.id < y.id ELSE y.id % 3 > 0 END
			AND NOT EXISTS (SELECT FROM expected e WHERE (e.a, e.b) = (x.id, y.id));
	CREATE TEMP TABLE got AS SELECT * FROM neardup_pairs('SELECT id, s FROM sets WHERE id % 3 < 2 ORDER BY id', t, against => against, equal => equal_rows,
		verdicts => 'SELECT a, b, same FROM verdicts');
	SELECT count(*) INTO pairs FROM expected;
	SELECT count(*) INTO wrong FROM ((TABLE expected EXCEPT ALL TABLE got) UNION ALL (TABLE got EXCEPT ALL TABLE expected)) d;
	DROP TABLE expected, got;
END $$;
SET client_min_messages = warning;
CREATE FUNCTION compare(rounds int, n int, families int, change float8, t float8, alike int, different int, OUT pairs bigint, OUT clustered bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
	found record;
BEGIN
	pairs := 0;
	clustered := 0;
	differ := 0;
	FOR i IN 1 .. rounds LOOP
		PERFORM make_docs(n, families, change), make_verdicts(alike, different);
		SELECT * INTO found FROM compare_clusters(t);
		clustered := clustered + found.clustered;
		differ := differ + found.differ;
		SELECT sum(p.pairs) AS pairs, sum(p.wrong) AS wrong INTO found FROM unnest(ARRAY[NULL, 'SELECT id, s FROM sets WHERE id % 3 > 0 ORDER BY id']) against,
			unnest('{first,all}'::text[]) equal_rows, compare_pairs(t, against, equal_rows) p;
		pairs := pairs + found.pairs;
		differ := differ + found.wrong;
	END LOOP;
END $$;
SELECT pairs > 0 AS some, clustered > 0 AS clustered, differ FROM compare(5, 60, 6, 0.4, 0.5, 8, 20);
SELECT pairs > 0 AS some, clustered > 0 AS clustered, differ FROM compare(3, 60, 2, 0.5, 0.4, 2, 60);
SELECT pairs > 0 AS some, clustered > 0 AS clustered, differ FROM compare(2, 80, 12, 0.3, 0.6, 30, 10);
SELECT pairs > 0 AS some, clustered > 0 AS clustered, differ FROM compare(1, 100, 3, 0.4, 0.5, 0, 300);
\echo More pairs than are kept
SELECT setseed(0.5);
SELECT make_docs(1000, 2, 0.2), make_verdicts(40, 60);
CREATE FUNCTION cluster(memory text) RETURNS TABLE (options text, id bigint, keeper bigint, similarity float8, size bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('maintenance_work_mem', memory, true);
	FOREACH options IN ARRAY ARRAY['nearest => false', 'nearest => true', 'method => ''components'''] LOOP
		RETURN QUERY EXECUTE format('SELECT %L, c.* FROM neardup_clusters(%L, 0.6, %s, verdicts => ''SELECT a, b, same FROM verdicts'') c',
			options, 'SELECT id, to_minhash(s) FROM sets ORDER BY id', options);
	END LOOP;
END $$;
SELECT count(*) > 32768 AS many FROM neardup_pairs('SELECT id, to_minhash(s) FROM sets', 0.6);
CREATE TABLE kept AS SELECT * FROM cluster('64MB');
SELECT count(*) > 1000 AS some, count(DISTINCT keeper) > 10 AS keepers FROM kept;
SELECT count(*) AS differ FROM (TABLE kept EXCEPT ALL SELECT * FROM cluster('1MB')) d;

\echo All verdicts hold with little recall
TRUNCATE kept;
INSERT INTO kept SELECT method, c.* FROM unnest('{star,components}'::text[]) method,
	neardup_clusters('SELECT id, to_minhash(s) FROM sets ORDER BY id', 0.7, method => method, recall => 0.3, verdicts => 'SELECT a, b, same FROM verdicts') c;
SELECT m AS method, count(*) > 90 AS some, count(*) FILTER (WHERE v.same AND x.keeper IS DISTINCT FROM y.keeper) AS apart,
	count(*) FILTER (WHERE NOT v.same AND x.keeper = y.keeper) AS together
FROM unnest('{star,components}'::text[]) m CROSS JOIN verdicts v LEFT JOIN kept x ON (x.options, x.id) = (m, v.a) LEFT JOIN kept y ON (y.options, y.id) = (m, v.b)
WHERE v.a <> v.b AND v.b < 9999 GROUP BY m ORDER BY m;

DROP SCHEMA batch_verdicts CASCADE;
