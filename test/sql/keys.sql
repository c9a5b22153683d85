-- Keys beside the signature: the index filters by them, and the answer is that of a sequential
-- scan.
SET client_min_messages = warning;
SET neardup.background = off;
SET jit = off;
\set pass_horizon `cat "${PG_ABS_SRCDIR:-test}/tools/pass_horizon.sql"`
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN code AS varchar(10);
CREATE TABLE docs (
	id int,
	tenant int,
	big bigint,
	small smallint,
	lang text,
	name code,
	made date,
	at timestamptz,
	who uuid,
	feeling mood,
	price numeric,
	tags text[],
	sig minhash(64)
) WITH (autovacuum_enabled = off);

-- Each ten rows are similar.  Some rows have no tenant, no signature, or an empty one.  The hash of a large
-- number is that of 3.
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO docs
	SELECT i, nullif(i % 40, 39), CASE i % 7 WHEN 4 THEN 8589934593 ELSE i % 7 END, i % 5, (ARRAY['en', 'de', 'fr'])[1 + i % 3], 'n' || i % 11,
		'2026-01-01'::date + i % 13, '2026-01-01 00:00Z'::timestamptz + make_interval(hours => i % 17),
		md5((i % 19)::text)::uuid, (ARRAY['sad', 'ok', 'happy']::mood[])[1 + i % 3], (i % 23)::numeric / 10,
		ARRAY[(i % 29)::text, 'x'],
		CASE WHEN i % 50 = 49 THEN NULL WHEN i % 50 = 48 THEN to_minhash(to_shingles('{}'::text[]), 64) ELSE to_minhash(to_shingles(words), 64) END
	FROM generate_series(first, last) i,
		LATERAL (SELECT array_agg(CASE WHEN j < i % 10 THEN i ELSE i / 10 END || '-' || j) AS words FROM generate_series(1, 30) j) w
$$;
SELECT fill(0, 5999);

-- The rows that a statement finds with each kind of scan; %s is an index condition.
CREATE FUNCTION found(statement text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('enable_' || w, (w = way)::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) w;
	EXECUTE format('SELECT string_agg(r::text, '','' ORDER BY r) FROM (%s) q (r)', statement) INTO answer;
	RETURN answer;
END $$;

-- What the index is asked for.
CREATE FUNCTION index_condition(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		IF line ~ 'Index Cond' THEN
			RETURN regexp_replace(trim(line), 'near\([^,]*,', 'near(..,');
		END IF;
	END LOOP;
	RETURN 'no index condition';
END $$;

CREATE TABLE conditions (place serial, condition text);
INSERT INTO conditions (condition) VALUES
	('tenant = 7'), ('tenant = 7::bigint'), ('tenant = 7::smallint'), ('tenant = 1000'), ('tenant = NULL'),
	('tenant = ANY (''{7,8,NULL,9,7}'')'), ('tenant = ANY (''{}'')'), ('tenant IN (1, 2, 3) AND lang = ''en'''),
	('tenant = 7 AND tenant = ANY (''{7,8}'')'), ('7 = tenant'), ('big = 3'), ('big = 3::smallint'), ('small = 3'), ('small = ANY (''{1,3}''::int[])'),
	('lang = ''de'''), ('lang = ANY (''{de,fr,xx}'')'), ('name = ''n5'''), ('made = ''2026-01-05'''), ('at = ''2026-01-01 05:00Z'''),
	('who = md5(''5'')::uuid'), ('feeling = ''ok'''), ('feeling = ANY (''{ok,sad}'')'), ('price = 1.1'), ('price = 1.10'),
	('tags = ''{5,x}'''), ('tenant = 7 AND lang = ''en'' AND big = 2 AND feeling = ''sad''');

-- Searches: within a ball, within any of several, in order, in order within a ball, by the keys
-- alone.
CREATE TABLE searches (number serial, search text);
INSERT INTO searches (search) VALUES
	('SELECT id FROM docs WHERE %s AND is_similar(sig, (SELECT sig FROM docs WHERE id = 1207), 0.3)'),
	('SELECT id FROM docs WHERE %s AND sig <@ ANY (ARRAY(SELECT near(sig, 0.4) FROM docs WHERE id % 500 = 7))'),
	('SELECT sig <~> (SELECT sig FROM docs WHERE id = 1207) FROM docs WHERE %s ORDER BY sig <~> (SELECT sig FROM docs WHERE id = 1207) LIMIT 20'),
	('SELECT id FROM docs WHERE %s ORDER BY sig <-> (SELECT sig FROM docs WHERE id = 1207)'),
	('SELECT id FROM docs WHERE %s AND is_similar(sig, (SELECT sig FROM docs WHERE id = 1207), 0.3) ORDER BY sig <-> (SELECT sig FROM docs WHERE id = 1207)'),
	('SELECT id FROM docs WHERE %s');

-- Runs all searches with all conditions, in all ways; names those that differ.
CREATE FUNCTION differences() RETURNS TABLE (condition text, search int) LANGUAGE sql AS $$
	SELECT c.condition, s.number
	FROM conditions c, searches s, LATERAL (SELECT replace(replace(s.search, '%s', c.condition), '%%', '%') AS statement OFFSET 0) q
	WHERE found(q.statement, 'seqscan') IS DISTINCT FROM found(q.statement, 'indexscan')
		OR (s.number <> 3 AND found(q.statement, 'seqscan') IS DISTINCT FROM found(q.statement, 'bitmapscan'))
	ORDER BY c.place, s.number
$$;

CREATE INDEX docs_keys ON docs USING neardup (tenant, big, small, lang, name, sig, made, at, who, feeling, price, tags);
SELECT neardup_check('docs_keys');
SELECT condition, index_condition(format('SELECT id FROM docs WHERE %s AND is_similar(sig, (SELECT sig FROM docs WHERE id = 1207), 0.3)', condition))
FROM conditions ORDER BY place;
SELECT * FROM differences();

-- After inserts into the tail, updates, a vacuum and maintenance.
SELECT fill(6000, 6500);
UPDATE docs SET tenant = tenant + 1 WHERE id % 100 < 50;
DELETE FROM docs WHERE id % 20 = 3;
SELECT * FROM differences();
:pass_horizon
VACUUM docs;
SELECT neardup_check('docs_keys');
SELECT * FROM differences();
SELECT count(fill(i * 1000, i * 1000 + 999)) FROM generate_series(7, 17) i;
:pass_horizon
VACUUM docs;
SELECT * FROM differences();
SELECT regexp_replace(neardup_check('docs_keys'), 'postings: \d+', 'postings: n');
DROP INDEX docs_keys;

-- Keys after the signature, and lists of keys that nearly every row has.
CREATE INDEX docs_tenant ON docs USING neardup (sig, tenant);
SELECT * FROM differences();
DROP INDEX docs_tenant;
CREATE INDEX docs_expression ON docs USING neardup ((tenant / 100), lower(lang), (minhash_truncate(sig, 1)));
SELECT md5(found('SELECT id FROM docs WHERE tenant / 100 = 0 AND lower(lang) = ''en'' AND is_similar(minhash_truncate(sig, 1), (SELECT sig FROM docs WHERE id = 1207), 0.3)', w))
FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) w;
DROP INDEX docs_expression;

-- A join: each row with those of its tenant.
CREATE INDEX docs_tenant ON docs USING neardup (tenant, sig);
ANALYZE docs;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT index_condition('SELECT a.id FROM docs a JOIN docs b ON a.tenant = b.tenant AND is_similar(a.sig, b.sig, 0.3) WHERE b.id < 100');
SELECT count(*), count(DISTINCT answer) FROM (SELECT found('SELECT a.id FROM docs a JOIN docs b ON a.tenant = b.tenant AND is_similar(a.sig, b.sig, 0.3) WHERE b.id < 100', w) AS answer
	FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) w) x;

-- A rescan with other keys, and one that matches nothing.
SELECT t, (SELECT count(*) FROM (SELECT id FROM docs WHERE tenant = t ORDER BY sig <-> (SELECT sig FROM docs WHERE id = 1207) LIMIT 5) n)
FROM unnest('{7,NULL,1000,8}'::int[]) t;

-- Many equal balls in an array.
SET work_mem = '64kB';
SELECT count(*) FROM docs WHERE sig <@ ANY (ARRAY(SELECT near(d.sig, 0.9) FROM docs d, generate_series(1, 6000) WHERE d.id = 1207));
RESET work_mem;
DROP TABLE docs;

-- A table whose first rows have no signature; parallel builds.
CREATE TABLE late (id int, tenant int, sig minhash) WITH (autovacuum_enabled = off);
INSERT INTO late SELECT i, i % 3, CASE WHEN i > 3000 THEN to_minhash(i || ' a ' || i) END FROM generate_series(1, 6000) i;
CREATE INDEX late_sig ON late USING neardup (tenant, sig);
SELECT neardup_check('late_sig');
SELECT count(*), count(DISTINCT tenant) FROM (SELECT tenant FROM late WHERE tenant = 1 ORDER BY sig <-> to_minhash('1 a 1')) x;
SET min_parallel_table_scan_size = 0;
SET max_parallel_maintenance_workers = 2;
ALTER TABLE late SET (parallel_workers = 2);
REINDEX INDEX late_sig;
SELECT neardup_check('late_sig');
TRUNCATE late;
INSERT INTO late SELECT i, i % 3, CASE WHEN i > 3000 THEN to_minhash(i || ' a ' || i) END FROM generate_series(1, 6000) i;
SELECT regexp_replace(neardup_check('late_sig'), '^segments.* rows: \d+$', 'consistent');
-- The check compares keys.
CREATE FUNCTION odd(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 % current_setting('keys.modulus')::int; END $$;
SET keys.modulus = 2;
CREATE INDEX late_odd ON late USING neardup (odd(id), sig);
SET keys.modulus = 3;
\set VERBOSITY terse
SELECT neardup_check('late_odd');
\set VERBOSITY default
RESET keys.modulus;
DROP TABLE late;

-- No near-duplicates within a tenant.
CREATE TABLE proposals (id int, tenant bigint, sig minhash, EXCLUDE USING neardup (tenant WITH =, near(sig, 0.9) WITH &&));
INSERT INTO proposals VALUES (1, 1, to_minhash('one two three four five')), (2, 2, to_minhash('one two three four five')), (3, NULL, to_minhash('one two three four five'));
\set VERBOSITY terse
INSERT INTO proposals VALUES (4, 2, to_minhash('one two three four five'));
\set VERBOSITY default
INSERT INTO proposals VALUES (5, 2, to_minhash('one two three four five')), (6, 3, to_minhash('one two three four five')), (7, NULL, to_minhash('one two three four five')) ON CONFLICT DO NOTHING RETURNING id;
DROP TABLE proposals;

-- From PostgreSQL 17 on, a constraint of a partitioned table that compares the partition key.
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 170000 THEN
		CREATE TABLE parts (tenant int, sig minhash, EXCLUDE USING neardup (tenant WITH =, near(sig, 0.9) WITH &&)) PARTITION BY LIST (tenant);
		CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
		CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
		INSERT INTO parts VALUES (1, to_minhash('one two three four five')), (2, to_minhash('one two three four five'));
		BEGIN
			INSERT INTO parts VALUES (2, to_minhash('one two three four five'));
			RAISE 'a copy was not refused';
		EXCEPTION WHEN exclusion_violation THEN
			DROP TABLE parts;
		END;
	END IF;
END $$;

-- A bigint is a key beside a minhash, and a signature by itself; of two, one must be named a key.
CREATE TABLE hashes (tenant bigint, phash bigint, body text, sig simhash) WITH (autovacuum_enabled = off);
INSERT INTO hashes SELECT i % 5, hashint8extended(i / 2, 1) # (i % 2), 'text ' || i, to_simhash('text ' || i) FROM generate_series(1, 2000) i;
CREATE INDEX ON hashes USING neardup (tenant, sig);
CREATE INDEX ON hashes USING neardup (tenant, phash);
CREATE INDEX hashes_phash ON hashes USING neardup (tenant bigint_key_ops, phash);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM hashes WHERE tenant = 1 AND is_within(phash, hashint8extended(3, 1), 2);
SELECT count(*) FROM hashes WHERE tenant IN (1, 3) AND is_within(phash, hashint8extended(3, 1), 2);
-- The nearest hashes of a tenant.
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT tenant FROM hashes WHERE tenant = 1 ORDER BY phash <~> hashint8extended(3, 1)::simhash LIMIT 3;
SELECT tenant, phash <~> hashint8extended(3, 1)::simhash AS distance FROM hashes WHERE tenant = 1 ORDER BY 2 LIMIT 3;
RESET enable_sort;
SELECT tenant, (phash <~> hashint8extended(3, 1)::simhash) + 0 AS distance FROM hashes WHERE tenant = 1 ORDER BY 2 LIMIT 3;
-- A bigint that is a key has no distances.  PostgreSQL 18 scans the index all the same, and rechecks all rows.
INSERT INTO hashes (tenant) VALUES (3);
SELECT count(*) FROM hashes WHERE is_within(tenant, 3, 1);
SELECT count(*) FROM hashes WHERE tenant <@ hamming_ball(3::bigint::simhash, 1);
SELECT count(*) FROM hashes WHERE tenant <@ hamming_ball(3::bigint::simhash, 1) AND is_within(phash, hashint8extended(3, 1), 2);
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM hashes WHERE is_within(tenant, 3, 1);
SELECT count(*) FROM hashes WHERE is_within(tenant, 3, 1) AND is_within(phash, hashint8extended(3, 1), 2);
DELETE FROM hashes WHERE phash IS NULL;
RESET enable_indexscan;
RESET enable_bitmapscan;
EXPLAIN (COSTS OFF) SELECT tenant FROM hashes ORDER BY tenant <~> 3::bigint::simhash LIMIT 3;
SET enable_seqscan = off;
DROP INDEX hashes_phash;
CREATE INDEX hashes_phash ON hashes USING neardup (phash);
-- Equality is distance 0.
EXPLAIN (COSTS OFF) SELECT tenant FROM hashes WHERE phash = hashint8extended(3, 1);
SELECT tenant FROM hashes WHERE phash = hashint8extended(3, 1);
SELECT count(*) FROM hashes WHERE phash = 3;
SELECT count(*) FROM hashes WHERE phash = ANY (ARRAY[hashint8extended(3, 1), hashint8extended(4, 1)]);

-- Keys behind a signature of 13 bytes are aligned.
CREATE TABLE odd (id int, tenant int, bits bit(100)) WITH (autovacuum_enabled = off);
CREATE INDEX odd_bits ON odd USING neardup (tenant, bits);
INSERT INTO odd SELECT i, i % 7, ('x' || left(md5((i / 14)::text), 25))::bit(100) FROM generate_series(1, 700) i;
SELECT neardup_check('odd_bits');
SELECT id FROM odd WHERE tenant = 3 AND is_within(bits, ('x' || left(md5('5'), 25))::bit(100), 3) ORDER BY id;
VACUUM odd;
SELECT id FROM odd WHERE tenant = 3 AND is_within(bits, ('x' || left(md5('5'), 25))::bit(100), 3) ORDER BY id;
DROP TABLE odd;

-- What makes no index.
CREATE INDEX ON hashes USING neardup (body);
CREATE INDEX ON hashes USING neardup (lower(body), tenant bigint_key_ops);
CREATE INDEX ON hashes USING neardup (sig, sig);
CREATE INDEX ON hashes USING neardup (sig, (point '(1,2)'));
DROP TABLE hashes;

-- Another type: its class has its equality, which needs hash functions.
CREATE TABLE others (place money, sig minhash);
CREATE OPERATOR CLASS money_key_ops DEFAULT FOR TYPE money USING neardup AS OPERATOR 5 =;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'money_key_ops';
CREATE INDEX ON others USING neardup (place, sig);
DROP TABLE others;
DROP OPERATOR FAMILY money_key_ops USING neardup CASCADE;

-- Values of these types have no hash, or one that ALTER TYPE changes: such an index could not take a row, or
-- would not find it later.
CREATE TYPE place AS (x int, y int);
CREATE DOMAIN amounts AS money[];
CREATE TYPE money_range AS RANGE (subtype = money);
CREATE TABLE contained (a money[], b amounts, c amounts[], d money_range, e money_range[], f place[], g bit(4)[], sig minhash,
	i int4range, j int4range[], k mood[], l code[], m int2vector) WITH (autovacuum_enabled = off);
-- As for an index from PostgreSQL 17 on, so that messages name types in the same way.
SET search_path = pg_catalog;
SELECT format('CREATE INDEX ON public.contained USING neardup (%s, sig)', attname) FROM pg_attribute
WHERE attrelid = 'public.contained'::regclass AND attnum BETWEEN 1 AND 7 ORDER BY attnum \gexec
CREATE INDEX ON public.contained USING neardup ((f || f), sig);
\set VERBOSITY terse
ALTER TABLE public.contained ADD EXCLUDE USING neardup (f WITH =, public.near(sig, 0.9) WITH OPERATOR(public.&&));
\set VERBOSITY default
RESET search_path;
CREATE INDEX contained_sound ON contained USING neardup (i, j, k, l, m, sig);
INSERT INTO contained (i, j, k, l, m, sig) VALUES ('[1,2)', '{"[1,2)"}', '{ok}', '{n1}', '1 2', to_minhash('some text'));
SELECT neardup_check('contained_sound');
-- A class that is dropped later: rows are refused, the rest goes on.
CREATE FUNCTION money_hash(money) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT hashint8($1::numeric::bigint)';
CREATE OPERATOR CLASS money_hash_ops DEFAULT FOR TYPE money USING hash AS OPERATOR 1 =, FUNCTION 1 money_hash(money);
CREATE INDEX contained_money ON contained USING neardup (a, sig);
INSERT INTO contained (a, sig) VALUES ('{1,2}', to_minhash('some text'));
DROP OPERATOR FAMILY money_hash_ops USING hash;
SET enable_seqscan = off;
INSERT INTO contained (a, sig) VALUES ('{1,2}', to_minhash('some text'));
VACUUM contained;
SELECT count(*) FROM contained WHERE is_similar(sig, to_minhash('some text'), 0.9);
RESET enable_seqscan;
DROP TABLE contained;
DROP FUNCTION money_hash;
DROP TYPE money_range, place;
DROP DOMAIN amounts;

-- A type whose hash function inserts rows.  Its default hash operator class counts, and other
-- classes may come and go.
CREATE TYPE loud AS (word text);
CREATE FUNCTION loud_equal(loud, loud) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN lower($1.word) = lower($2.word); END $$;
CREATE TABLE heard (length int, sig minhash(64)) WITH (autovacuum_enabled = off);
CREATE INDEX heard_sig ON heard USING neardup (length, sig);
CREATE FUNCTION loud_hash(loud) RETURNS int LANGUAGE sql SET search_path = public AS $$
	INSERT INTO heard VALUES (length($1.word), to_minhash('it is said: ' || $1.word, 64));
	SELECT hashtext(lower($1.word));
$$;
CREATE FUNCTION other_hash(loud) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN hashtext(upper($1.word)); END $$;
CREATE OPERATOR = (LEFTARG = loud, RIGHTARG = loud, PROCEDURE = loud_equal, COMMUTATOR = =, HASHES);
CREATE OPERATOR CLASS other_ops FOR TYPE loud USING hash AS OPERATOR 1 =, FUNCTION 1 other_hash(loud);
CREATE OPERATOR CLASS loud_key_ops DEFAULT FOR TYPE loud USING neardup AS OPERATOR 5 =;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'loud_key_ops';
CREATE OPERATOR CLASS loud_hash_ops DEFAULT FOR TYPE loud USING hash AS OPERATOR 1 =, FUNCTION 1 loud_hash(loud);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'loud_key_ops';
CREATE TABLE said (word loud, sig minhash(64)) WITH (autovacuum_enabled = off);
CREATE INDEX said_sig ON said USING neardup (word, sig);
INSERT INTO said SELECT ROW('Word' || i % 10)::loud, to_minhash('she said ' || i % 3, 64) FROM generate_series(1, 1000) i;
DROP OPERATOR FAMILY other_ops USING hash;
ALTER INDEX said_sig SET (groups = 8);
SELECT neardup_check('said_sig');
SELECT regexp_replace(neardup_check('heard_sig'), '\d+', 'n', 'g');
SELECT count(*) FROM said WHERE word = ROW('WORD7')::loud AND is_similar(sig, to_minhash('she said 1', 64), 0.9);
DROP TABLE said, heard;
DROP TYPE loud CASCADE;
DROP OPERATOR FAMILY loud_key_ops USING neardup;
DROP FUNCTION fill, found, index_condition, differences, odd;
DROP TABLE conditions, searches;
DROP DOMAIN code;
DROP TYPE mood;

-- The nearest rows of a tenant cost what its list of documents does, also if it has fewer rows than
-- LIMIT, or none; and those of a tenant that most rows have cost no more than those of all.  A
-- tenant's NULLs and empty signatures are in its list, too.
CREATE FUNCTION blocks(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::int + (plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::int;
END $$;
CREATE TABLE rented (id int, tenant int, lang int, kind int, state int, level int, sig simhash) WITH (autovacuum_enabled = off);
INSERT INTO rented
SELECT i, CASE WHEN i % 2 = 0 THEN 0 WHEN i % 10000 = 1 THEN 500 ELSE i % 400 END, 1, 1, 1, 1, to_simhash('document ' || i)
FROM generate_series(1, 120000) i;
CREATE INDEX rented_sig ON rented USING neardup (tenant, lang, kind, state, level, sig);
VACUUM ANALYZE rented;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT blocks($$SELECT id FROM rented WHERE tenant = 500 ORDER BY sig <-> to_simhash('document 4') LIMIT 20$$) < 60 AS few_rows,
	blocks($$SELECT id FROM rented WHERE tenant = 400 ORDER BY sig <-> to_simhash('document 4') LIMIT 20$$) < 30 AS no_rows,
	pg_relation_size('rented_sig') / 8192 > 500 AS of_many;
-- Some rows have no signature, or an empty one.
UPDATE rented SET sig = CASE WHEN id % 3 = 0 THEN to_simhash('') END WHERE id % 7 = 0;
:pass_horizon
VACUUM rented;
REINDEX INDEX rented_sig;
SELECT blocks($$SELECT id FROM rented WHERE tenant = 401 ORDER BY sig <-> to_simhash('document 4') LIMIT 20$$) < 30 AS no_rows,
	blocks($$SELECT id FROM rented WHERE tenant = 400$$) < 30 AS no_rows_at_all;
-- How long a list is follows from two of its pages.
SELECT many - alone <= 12 AS looks_at_few
FROM (SELECT min(blocks($$SELECT id FROM rented WHERE is_within(sig, to_simhash('document 4'), 1)$$)) AS alone,
		min(blocks($$SELECT id FROM rented WHERE tenant = 0 AND lang = 1 AND kind = 1 AND state = 1 AND level = 1 AND is_within(sig, to_simhash('document 4'), 1)$$)) AS many
	FROM generate_series(1, 3) n) warm;
DROP FUNCTION blocks;
DROP TABLE rented;
