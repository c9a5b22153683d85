-- With whose rights code runs, what it may change, and what messages reveal.

\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_rights;
CREATE DATABASE neardup_test_rights;
\c neardup_test_rights
CREATE SCHEMA near;
CREATE EXTENSION neardup SCHEMA near;
GRANT USAGE ON SCHEMA near TO PUBLIC;
CREATE ROLE regress_neardup_owner;
CREATE ROLE regress_neardup_writer;
CREATE ROLE regress_neardup_watcher;
CREATE ROLE regress_neardup_nobody;
GRANT pg_monitor TO regress_neardup_watcher;
CREATE SCHEMA desk AUTHORIZATION regress_neardup_owner;
GRANT USAGE ON SCHEMA desk TO PUBLIC;
GRANT CREATE ON SCHEMA public TO PUBLIC;
SET search_path = desk, near, public;
CREATE FUNCTION near.words(seed int, variant int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$SELECT pg_catalog.string_agg(pg_catalog.md5(seed || ' ' || j), ' ') || CASE variant WHEN 0 THEN '' ELSE ' ' || variant END FROM pg_catalog.generate_series(1, 60) j$$;

-- ---- A check runs the code of a table with its owner's rights ----
SET ROLE regress_neardup_owner;
CREATE FUNCTION desk.mark(h bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN h; END';
CREATE TABLE desk.hashes (id int PRIMARY KEY, h bigint);
INSERT INTO desk.hashes VALUES (1, 10), (2, 20), (3, NULL);
CREATE INDEX hashes_marked ON desk.hashes USING neardup (desk.mark(h));
CREATE FUNCTION desk.is_wanted(id int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE INDEX hashes_wanted ON desk.hashes USING neardup (h) WHERE desk.is_wanted(id);
CREATE FUNCTION desk.leave() RETURNS void LANGUAGE plpgsql AS 'BEGIN CREATE TEMPORARY TABLE left_behind (i int); END';
-- The owner changes what the functions do, and waits for an administrator.
CREATE OR REPLACE FUNCTION desk.mark(h bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE WARNING 'mark(%) runs as %, with %', h, current_user, current_setting('search_path');
	RETURN h;
END $$;
CREATE OR REPLACE FUNCTION desk.is_wanted(id int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE WARNING 'is_wanted(%) runs as %, with %', id, current_user, current_setting('search_path');
	PERFORM desk.leave();
	RETURN true;
END $$;
RESET ROLE;
SELECT neardup_check('hashes_marked');
\set VERBOSITY terse
SELECT neardup_check('hashes_wanted');
SELECT current_user = session_user AS myself, current_setting('search_path') AS path;
-- After an error, caught or not, the owner's rights are dropped.
SET ROLE regress_neardup_owner;
CREATE OR REPLACE FUNCTION desk.mark(h bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE EXCEPTION 'fails as %', current_user;
END $$;
RESET ROLE;
DO $$
BEGIN
	PERFORM neardup_check('hashes_marked');
EXCEPTION WHEN raise_exception THEN
	RAISE WARNING '"%", and then % with %', SQLERRM, current_user = session_user, current_setting('search_path');
	CREATE TEMPORARY TABLE after_it (i int);
END $$;
SELECT neardup_check('hashes_marked');
SELECT current_user = session_user AS myself, current_setting('search_path') AS path;
\set VERBOSITY default
DROP INDEX hashes_marked, hashes_wanted;

-- ---- A check by others runs no code of the owner: it would meet their temporary schema ----
SET ROLE regress_neardup_owner;
ALTER TABLE desk.hashes ADD other bigint;
UPDATE desk.hashes SET other = id;
CREATE DOMAIN desk.code AS bigint;
CREATE FUNCTION desk.coded(h bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE SET search_path = desk AS $$
DECLARE c bigint;
BEGIN
	EXECUTE 'SELECT $1::code' INTO c USING h;
	RETURN c;
END $$;
CREATE INDEX hashes_coded ON desk.hashes USING neardup (desk.coded(h));
CREATE INDEX hashes_some ON desk.hashes USING neardup (h) WHERE desk.coded(id) > 1;
CREATE INDEX hashes_signed ON desk.hashes USING neardup (h) WHERE desk.coded(id) > 1;
CREATE INDEX hashes_keyed ON desk.hashes USING neardup (h, desk.coded(id) bigint_key_ops, other bigint_key_ops);
CREATE INDEX hashes_all ON desk.hashes USING neardup (h, id);
CREATE FUNCTION desk.check_for_others(index regclass) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT near.neardup_check(index)';
RESET ROLE;
CREATE FUNCTION desk.check_as_superuser(index regclass) RETURNS text LANGUAGE sql SECURITY DEFINER AS 'SELECT near.neardup_check(index)';
SET ROLE regress_neardup_watcher;
CREATE FUNCTION public.grab(value bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'grabbed as %', current_user; RETURN true; END $$;
CREATE DOMAIN pg_temp.code AS bigint CHECK (public.grab(VALUE));
SELECT neardup_check('hashes_coded');
\set VERBOSITY terse
SELECT neardup_check('hashes_some');
SELECT neardup_check('hashes_keyed');
SELECT neardup_check('hashes_all');
-- Nor with the rights of a function that the owner or a superuser has made for others.
SELECT desk.check_for_others('hashes_some'), desk.check_as_superuser('hashes_some');
-- What needs no such code is compared all the same.
RESET ROLE;
DROP DOMAIN pg_temp.code;
UPDATE pg_index SET indisready = false WHERE indexrelid IN ('hashes_coded'::regclass, 'hashes_some'::regclass);
INSERT INTO hashes VALUES (4, 40, 4);
UPDATE pg_index SET indisready = true WHERE indrelid = 'hashes'::regclass;
UPDATE pg_index SET indkey = '3' WHERE indexrelid = 'hashes_signed'::regclass;
UPDATE pg_index SET indkey = '2 0 2' WHERE indexrelid = 'hashes_keyed'::regclass;
SET ROLE regress_neardup_watcher;
CREATE DOMAIN pg_temp.code AS bigint CHECK (public.grab(VALUE));
SELECT neardup_check('hashes_coded');
SELECT neardup_check('hashes_some');
SELECT neardup_check('hashes_signed');
SELECT neardup_check('hashes_keyed');
RESET ROLE;
DELETE FROM hashes WHERE id = 4;
-- A member who has the rights of the owner could replace that code anyway.
GRANT regress_neardup_owner TO regress_neardup_watcher;
SET ROLE regress_neardup_watcher;
SELECT neardup_check('hashes_some');
RESET ROLE;
REVOKE regress_neardup_owner FROM regress_neardup_watcher;
\set VERBOSITY default
DROP FUNCTION public.grab CASCADE;
DROP FUNCTION desk.check_for_others, desk.check_as_superuser;
DROP INDEX hashes_coded, hashes_some, hashes_signed, hashes_keyed, hashes_all;
ALTER TABLE desk.hashes DROP other;

-- ---- Inspecting an index ----
SET ROLE regress_neardup_owner;
CREATE INDEX hashes_h ON desk.hashes USING neardup (h);
CREATE INDEX hashes_cast ON desk.hashes USING neardup ((h::simhash));
CREATE FUNCTION desk.looks() RETURNS TABLE (who name, checks text, tells text, explains text, explains_cast text) LANGUAGE plpgsql AS $$
BEGIN
	who := current_user;
	BEGIN checks := near.neardup_check('desk.hashes_h');
	EXCEPTION WHEN insufficient_privilege THEN checks := 'no'; END;
	BEGIN SELECT documents INTO tells FROM near.neardup_index_status('desk.hashes_h');
	EXCEPTION WHEN insufficient_privilege THEN tells := 'no'; END;
	BEGIN SELECT sum(matches) INTO explains FROM near.neardup_explain('desk.hashes_h', near.hamming_ball(10::bigint, 0));
	EXCEPTION WHEN insufficient_privilege THEN explains := 'no'; END;
	BEGIN SELECT sum(matches) INTO explains_cast FROM near.neardup_explain('desk.hashes_cast', near.near(10::bigint::near.simhash, 1));
	EXCEPTION WHEN insufficient_privilege THEN explains_cast := 'no'; END;
	RETURN NEXT;
END $$;
SELECT * FROM desk.looks();
SET ROLE regress_neardup_watcher;
SELECT * FROM desk.looks();
SET ROLE regress_neardup_nobody;
SELECT * FROM desk.looks();
-- The view shows no row to others.
SET search_path = pg_catalog;
SET ROLE regress_neardup_owner;
SELECT table_name, index_name, documents, advice FROM near.neardup_indexes ORDER BY 2;
SET ROLE regress_neardup_watcher;
SELECT table_name, index_name, documents, advice FROM near.neardup_indexes ORDER BY 2;
SET ROLE regress_neardup_nobody;
SELECT table_name, index_name, documents, advice FROM near.neardup_indexes ORDER BY 2;
SELECT near.neardup_index_status('desk.hashes_h');
SET search_path = desk, near, public;
-- neardup_explain() needs the right to read the column, or for an expression the table.
SET ROLE regress_neardup_owner;
GRANT SELECT (h) ON desk.hashes TO regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
SELECT * FROM desk.looks();
-- That of a partial index would tell which rows satisfy the predicate, and needs its columns too.
SET ROLE regress_neardup_owner;
CREATE INDEX hashes_first ON desk.hashes USING neardup (h) WHERE id < 2;
SET ROLE regress_neardup_nobody;
SELECT sum(matches) FROM neardup_explain('hashes_first', hamming_ball(10::bigint, 0));
SET ROLE regress_neardup_owner;
GRANT SELECT (id) ON desk.hashes TO regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
SELECT sum(matches) FROM neardup_explain('hashes_first', hamming_ball(10::bigint, 0));
SET ROLE regress_neardup_owner;
GRANT SELECT ON desk.hashes TO regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
SELECT * FROM desk.looks();
SET ROLE regress_neardup_owner;
ALTER TABLE desk.hashes ENABLE ROW LEVEL SECURITY;
SET ROLE regress_neardup_nobody;
SELECT * FROM desk.looks();
SELECT near.neardup_explain('desk.hashes_h', near.hamming_ball(10::bigint, 0));
SET ROLE regress_neardup_owner;
REVOKE SELECT ON desk.hashes FROM regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
SELECT near.neardup_check('desk.hashes_h');
SELECT near.neardup_index_status('desk.hashes_h');
SELECT near.neardup_explain('desk.hashes_h', near.hamming_ball(10::bigint, 0));
RESET ROLE;
SELECT near.neardup_check('desk.hashes'), 'a table';
SELECT near.neardup_check(0), 'nothing';
DROP TABLE desk.hashes;

-- ---- Only plain code runs with the owner's rights ----
-- Functions of the owner find what the session has in pg_temp, whatever the search path is.
SET ROLE regress_neardup_owner;
CREATE FUNCTION desk.mine() RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE DOMAIN desk.ticket AS text;
CREATE TYPE desk.pair AS (c desk.ticket);
CREATE FUNCTION desk.coded(text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = desk AS 'BEGIN RETURN $1::ticket; END';
CREATE FUNCTION desk.folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT pg_catalog.lower($1) OPERATOR(pg_catalog.||) ('(x)'::pair).c$$;
CREATE TABLE desk.letters (id int PRIMARY KEY, body text, sig near.minhash GENERATED ALWAYS AS (near.to_minhash(body)) STORED);
CREATE INDEX letters_sig ON desk.letters USING neardup (sig);
CREATE TABLE desk.queue (row_key int, resembles int, noticed_by text);
CREATE CONSTRAINT TRIGGER logged AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'log=desk.queue');
INSERT INTO desk.letters VALUES (1, near.words(1));
GRANT INSERT ON desk.letters TO regress_neardup_writer;
-- Changes a table, inserts a near-duplicate, and takes both back.
CREATE FUNCTION desk.attempt(VARIADIC changes text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE change text; message text; detail text;
BEGIN
	FOREACH change IN ARRAY changes LOOP
		EXECUTE change;
	END LOOP;
	INSERT INTO desk.letters (id, body) VALUES (2, near.words(1, 2));
	RAISE 'accepted';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || message || rtrim(E'\n' || regexp_replace(detail, ' uses it.*', ''), E'\n');
END $$;
CREATE FUNCTION desk.tidy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
\pset format unaligned
\pset tuples_only on
SELECT desk.attempt('SET LOCAL DateStyle = ISO');
SELECT desk.attempt('CREATE TRIGGER tidy BEFORE INSERT ON desk.queue FOR EACH ROW EXECUTE FUNCTION desk.tidy()');
SELECT desk.attempt('CREATE TRIGGER tidy AFTER INSERT ON desk.queue EXECUTE FUNCTION desk.tidy()');
SELECT desk.attempt('CREATE TRIGGER tidy AFTER UPDATE ON desk.queue EXECUTE FUNCTION desk.tidy()');
SELECT desk.attempt('CREATE TRIGGER tidy BEFORE INSERT OR UPDATE ON desk.queue FOR EACH ROW WHEN (desk.mine()) EXECUTE FUNCTION suppress_redundant_updates_trigger()');
SELECT desk.attempt('CREATE RULE twice AS ON INSERT TO desk.queue DO ALSO SELECT desk.mine()');
SELECT desk.attempt('CREATE RULE never AS ON INSERT TO desk.queue DO INSTEAD NOTHING');
SELECT desk.attempt('ALTER TABLE desk.queue ADD mine boolean DEFAULT desk.mine()');
SELECT desk.attempt('ALTER TABLE desk.queue ADD mine text', 'ALTER TABLE desk.queue ALTER mine SET DEFAULT ts_rewrite(''a'', ''SELECT desk.mine()'')::text');
SELECT desk.attempt('ALTER TABLE desk.queue ADD mine text GENERATED ALWAYS AS (desk.coded(noticed_by)) STORED');
SELECT desk.attempt('ALTER TABLE desk.queue ADD CONSTRAINT mine CHECK (desk.mine())');
SELECT desk.attempt('CREATE INDEX queue_coded ON desk.queue (desk.coded(noticed_by))');
SELECT desk.attempt('CREATE INDEX queue_mine ON desk.queue (row_key) WHERE desk.mine()');
SELECT desk.attempt('ALTER TABLE desk.queue ADD CONSTRAINT queue_coded EXCLUDE USING btree (desk.coded(noticed_by) WITH =)');
SELECT desk.attempt('ALTER TABLE desk.queue ALTER noticed_by TYPE desk.ticket');
SELECT desk.attempt('ALTER TABLE desk.queue ALTER noticed_by TYPE desk.ticket', 'INSERT INTO desk.letters VALUES (3, near.words(1, 3))',
	'ALTER DOMAIN desk.ticket ADD CHECK (desk.coded(VALUE::text) <> '''')');
SELECT desk.attempt('ALTER DOMAIN desk.ticket ADD CHECK (desk.mine())', 'ALTER TABLE desk.queue ADD pairs desk.pair[]');
SELECT desk.attempt('CREATE DOMAIN desk.over AS desk.ticket', 'ALTER DOMAIN desk.over SET DEFAULT desk.coded(''x'')', 'ALTER TABLE desk.queue ADD o desk.over');
SELECT desk.attempt('CREATE TYPE desk.kind AS ENUM (''1'', ''2'')', 'CREATE FUNCTION desk.to_kind(text) RETURNS desk.kind LANGUAGE sql AS $f$SELECT ''1''::desk.kind$f$',
	'CREATE CAST (text AS desk.kind) WITH FUNCTION desk.to_kind(text)', 'ALTER TABLE desk.queue DROP resembles', 'ALTER TABLE desk.queue ADD resembles desk.kind');
SELECT desk.attempt('CREATE TYPE desk.kind AS ENUM (''1'', ''2'')', 'CREATE FUNCTION desk.of_kind(desk.kind) RETURNS int LANGUAGE sql AS ''SELECT 1''',
	'CREATE CAST (desk.kind AS int) WITH FUNCTION desk.of_kind(desk.kind) AS IMPLICIT', 'ALTER TABLE desk.queue DROP resembles',
	'ALTER TABLE desk.queue ADD resembles desk.kind REFERENCES desk.letters (id)');
SELECT desk.attempt('CREATE TYPE desk.span AS RANGE (subtype = int)', 'ALTER TABLE desk.queue ADD span desk.span');
SELECT desk.attempt('DROP TABLE desk.queue', 'CREATE TABLE desk.queue (row_key int, resembles int) PARTITION BY LIST (row_key)');
SELECT desk.attempt('CREATE TABLE desk.all_queues (row_key int, resembles int, noticed_by text) PARTITION BY LIST (row_key)',
	'ALTER TABLE desk.all_queues ATTACH PARTITION desk.queue DEFAULT');
SELECT desk.attempt('ALTER TABLE desk.queue RENAME TO q', 'CREATE VIEW desk.queue AS SELECT * FROM desk.q');
SELECT desk.attempt('DROP TABLE desk.queue');
-- A condition likewise.
SELECT desk.attempt('CREATE INDEX mine ON desk.letters (id) WHERE desk.coded(body) <> ''''',
	'CREATE TRIGGER told AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_reject(''sig'', ''0.9'', ''where=mine'')');
SELECT desk.attempt('CREATE INDEX mine ON desk.letters (id) WHERE lower(body) <> ''''',
	'CREATE TRIGGER told AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_reject(''sig'', ''0.9'', ''where=mine'')');
-- What PostgreSQL and this extension have may run.
SELECT desk.attempt('DROP TABLE desk.queue', $$CREATE TABLE desk.queue (
	id bigint GENERATED ALWAYS AS IDENTITY,
	row_key int NOT NULL REFERENCES desk.letters ON DELETE CASCADE,
	resembles bigint NOT NULL REFERENCES desk.letters DEFERRABLE INITIALLY DEFERRED CHECK (resembles <> row_key),
	similarity numeric(4, 3) CHECK (similarity BETWEEN 0 AND 1),
	noticed_at timestamptz NOT NULL,
	day date DEFAULT now() CHECK (day > '2000-01-01'),
	noticed_by text NOT NULL CHECK (lower(noticed_by) ~ '^[a-z_]+$'),
	in_table regclass,
	note desk.ticket,
	seen int[] DEFAULT ARRAY[1, pg_backend_pid()],
	sig near.minhash(512) DEFAULT near.to_minhash('a log'),
	both_rows bigint[] GENERATED ALWAYS AS (ARRAY[row_key, resembles]) STORED,
	decision text NOT NULL DEFAULT 'open' CHECK (decision IN ('open', 'same', 'different')),
	UNIQUE (row_key, resembles))$$,
	'CREATE INDEX ON desk.queue (lower(decision)) WHERE decision <> ''same''', 'CREATE INDEX ON desk.queue USING neardup (row_key, sig)',
	'CREATE TRIGGER own AFTER INSERT ON desk.queue FOR EACH ROW EXECUTE FUNCTION near.neardup_reject(''sig'', ''0.9'', ''warn'', ''message=logged'')');
-- Functions of the owner's other indexes are called and inlined with the writer's rights.
-- They become careless when the index is there: PostgreSQL 17 and later let no careless one in.
CREATE OR REPLACE FUNCTION desk.folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT pg_catalog.lower($1)$$;
CREATE INDEX letters_folded ON desk.letters (desk.folded(body)) WHERE desk.coded('x') = 'y' OR id > 0;
CREATE OR REPLACE FUNCTION desk.folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT pg_catalog.lower($1) OPERATOR(pg_catalog.||) ('(x)'::pair).c$$;
ALTER TABLE desk.letters ADD CONSTRAINT folded CHECK (desk.folded(body) <> 'y' OR id > 0);
SET ROLE regress_neardup_writer;
SET search_path = near, public;
CREATE FUNCTION pg_temp.grab() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF current_user = 'regress_neardup_owner' THEN
		RAISE WARNING 'grabbed';
	END IF;
	RETURN true;
END $$;
CREATE DOMAIN pg_temp.ticket AS text CHECK (pg_temp.grab());
CREATE TYPE pg_temp.pair AS (c pg_temp.ticket);
SET constraint_exclusion = on;
SET plan_cache_mode = force_custom_plan;
INSERT INTO desk.letters VALUES (2, near.words(1, 2)), (3, near.words(3));
DISCARD PLANS;
INSERT INTO desk.letters VALUES (4, near.words(1, 4));
SET ROLE regress_neardup_owner;
SET client_min_messages = error;
CREATE INDEX letters_all ON desk.letters (id) WHERE desk.coded('x') = 'x';
SET client_min_messages = warning;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (5, near.words(1, 5));
RESET ROLE;
DROP INDEX desk.letters_all;
RESET constraint_exclusion;
RESET plan_cache_mode;
SET search_path = desk, near, public;
-- The log names the user who logged in; the current user may be another when a deferred trigger fires.
RESET ROLE;
SELECT row_key, resembles, noticed_by = session_user FROM desk.queue;
\pset format aligned
\pset tuples_only off
-- An error shows no value that the writer may not read.
DROP INDEX desk.letters_folded;
ALTER TABLE desk.letters DROP CONSTRAINT folded;
ALTER TABLE desk.queue DROP noticed_by;
ALTER TABLE desk.queue ADD CONSTRAINT few CHECK (resembles > 9) NOT VALID;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (5, near.words(1, 5));
SET ROLE regress_neardup_owner;
INSERT INTO desk.letters VALUES (5, near.words(1, 5));
SELECT current_user, current_setting('search_path') AS path;
ALTER TABLE desk.queue DROP CONSTRAINT few, ALTER resembles TYPE boolean USING true;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (1005, near.words(1, 5));
SET ROLE regress_neardup_owner;
ALTER TABLE desk.queue ALTER resembles TYPE smallint USING 1, ALTER row_key TYPE smallint;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (100000, near.words(1, 6));
SELECT current_user, current_setting('search_path') AS path;
RESET ROLE;
DROP FUNCTION desk.tidy, desk.attempt;

-- ---- Triggers that write to a log ----
SET ROLE regress_neardup_owner;
DROP TRIGGER logged ON desk.letters;
DELETE FROM desk.letters;
DELETE FROM desk.queue;
INSERT INTO desk.letters VALUES (1, near.words(1));
CREATE TABLE desk.secret (row_key int, resembles int);
GRANT TRIGGER ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
CREATE TRIGGER forged AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'log=desk.secret');
INSERT INTO desk.letters VALUES (66, near.words(1, 66));
-- Nor a row that is similar to no other.
INSERT INTO desk.letters VALUES (67, near.words(67));
RESET ROLE;
SELECT * FROM desk.secret;
-- A role that may write to the log anyway gains nothing.
SET ROLE regress_neardup_owner;
GRANT INSERT ON desk.secret TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (66, near.words(1, 66));
RESET ROLE;
SELECT * FROM desk.secret;
-- If only the owner can create triggers, other roles need no right to the log.
SET ROLE regress_neardup_owner;
REVOKE INSERT ON desk.secret FROM regress_neardup_writer;
REVOKE TRIGGER ON desk.letters FROM regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (68, near.words(1, 68));
-- The same holds for members of the owner's role.
RESET ROLE;
GRANT regress_neardup_owner TO regress_neardup_watcher;
GRANT TRIGGER ON desk.letters TO regress_neardup_watcher;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (69, near.words(1, 69));
RESET ROLE;
-- A change of a membership counts at once.
REVOKE regress_neardup_owner FROM regress_neardup_watcher;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (71, near.words(1, 71));
RESET ROLE;
GRANT TRIGGER ON desk.letters TO PUBLIC;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (70, near.words(1, 70));
RESET ROLE;
SELECT * FROM desk.secret ORDER BY row_key;
-- Likewise for verdicts: a trigger of another role would tell which rows the owner's table has.
SET ROLE regress_neardup_owner;
REVOKE TRIGGER ON desk.letters FROM PUBLIC, regress_neardup_watcher;
DELETE FROM desk.letters WHERE id <> 1;
CREATE TABLE desk.judged (a int, b int, same boolean);
INSERT INTO desk.judged VALUES (1, 80, false);
GRANT TRIGGER ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
CREATE TRIGGER told AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'verdicts=desk.judged');
RESET ROLE;
DROP TRIGGER forged ON desk.letters;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (80, near.words(1, 80));
SET ROLE regress_neardup_owner;
GRANT SELECT ON desk.judged TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (80, near.words(1, 80));
-- Under row-level security, too.
SET ROLE regress_neardup_owner;
ALTER TABLE desk.judged ENABLE ROW LEVEL SECURITY;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (81, near.words(1, 81));
SET ROLE regress_neardup_owner;
REVOKE TRIGGER ON desk.letters FROM regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (82, near.words(82));
RESET ROLE;
SELECT id FROM desk.letters WHERE id >= 80 ORDER BY id;
DROP TABLE desk.letters, desk.secret, desk.queue, desk.judged;

-- ---- What messages reveal ----
SET ROLE regress_neardup_owner;
CREATE TABLE desk.prints (id int PRIMARY KEY, f near.simhash);
CREATE INDEX prints_f ON desk.prints USING neardup (f);
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.prints FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('f', '0.01');
INSERT INTO desk.prints VALUES (1, 1234567890123456789::bigint::near.simhash);
GRANT INSERT ON desk.prints TO regress_neardup_writer;
-- Recovers a hidden fingerprint bit by bit from the similarities in messages.
CREATE FUNCTION desk.recover() RETURNS TABLE (inserts int, recovered bigint, says text) LANGUAGE plpgsql AS $$
DECLARE
	guess bigint := 0;
	most numeric;
	now numeric;
BEGIN
	inserts := 0;
	FOR i IN -1 .. 63 LOOP
		inserts := inserts + 1;
		BEGIN
			INSERT INTO desk.prints VALUES (2, (CASE WHEN i < 0 THEN guess ELSE guess # (1::bigint << i) END)::near.simhash);
		EXCEPTION WHEN exclusion_violation THEN
			GET STACKED DIAGNOSTICS says = PG_EXCEPTION_DETAIL;
		END;
		now := substring(says FROM 'has similarity (0\.\d+|1\.0+)');
		IF now > most AND i >= 0 THEN guess := guess # (1::bigint << i); most := now; END IF;
		most := coalesce(most, now);
	END LOOP;
	recovered := guess;
	RETURN NEXT;
END $$;
SET ROLE regress_neardup_writer;
SELECT * FROM desk.recover();
-- With the right to read the key, the message names the other row but no similarity.
SET ROLE regress_neardup_owner;
GRANT SELECT (id) ON desk.prints TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
SELECT * FROM desk.recover();
SET ROLE regress_neardup_owner;
GRANT SELECT (f) ON desk.prints TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
SELECT * FROM desk.recover();
SET ROLE regress_neardup_owner;
ALTER TABLE desk.prints ENABLE ROW LEVEL SECURITY;
CREATE POLICY new ON desk.prints FOR INSERT WITH CHECK (true);
CREATE POLICY own ON desk.prints FOR SELECT USING (id > 1);
SET ROLE regress_neardup_writer;
SELECT * FROM desk.recover();
SET ROLE regress_neardup_owner;
ALTER TABLE desk.prints DISABLE ROW LEVEL SECURITY;
DROP TRIGGER told ON desk.prints;
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.prints FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('f', '0.01', 'warn');
REVOKE SELECT (id, f) ON desk.prints FROM regress_neardup_writer;
SET ROLE regress_neardup_writer;
SET client_min_messages = notice;
INSERT INTO desk.prints VALUES (2, 1234567890123456789::bigint::near.simhash);
RESET client_min_messages;
RESET ROLE;
DROP TABLE desk.prints;
DROP FUNCTION desk.recover;
-- A role that may read the columns of a generated signature can compute it.
SET ROLE regress_neardup_owner;
CREATE TABLE desk.essays (id int PRIMARY KEY, title text, body text, sig near.minhash GENERATED ALWAYS AS (near.to_minhash(title || body)) STORED);
CREATE INDEX essays_sig ON desk.essays USING neardup (sig);
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.essays FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('sig', '0.9');
INSERT INTO desk.essays VALUES (1, '', near.words(1));
GRANT INSERT, SELECT (id, body) ON desk.essays TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.essays VALUES (2, '', near.words(1));
SET ROLE regress_neardup_owner;
GRANT SELECT (title) ON desk.essays TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.essays VALUES (2, '', near.words(1));
RESET ROLE;
DROP TABLE desk.essays;

-- ---- Rows that are compared: options within and where of a trigger ----
-- A key tells that its row is in the new row's scope, so a role that may not read that is not told.
SET ROLE regress_neardup_owner;
CREATE TABLE desk.letters (id int PRIMARY KEY, tenant int, status text, sig near.minhash);
CREATE INDEX letters_sig ON desk.letters USING neardup (sig);
CREATE INDEX letters_sent ON desk.letters USING neardup (sig) WHERE status <> 'draft';
INSERT INTO desk.letters VALUES (1, 1, 'sent', near.to_minhash(near.words(1)));
CREATE CONSTRAINT TRIGGER told AFTER INSERT OR UPDATE ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'within=tenant', 'where=letters_sent');
GRANT INSERT, SELECT (id, sig) ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (2, 1, 'sent', near.to_minhash(near.words(1)));
RESET ROLE;
GRANT SELECT (tenant) ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (2, 1, 'sent', near.to_minhash(near.words(1)));
RESET ROLE;
GRANT SELECT (status) ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (2, 1, 'sent', near.to_minhash(near.words(1)));
RESET ROLE;
DROP TRIGGER told ON desk.letters;
DROP INDEX desk.letters_sent;
-- A role that may create triggers cannot have an expression run as the owner.
GRANT TRIGGER ON desk.letters TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
CREATE FUNCTION public.grab() RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'grabbed as %', current_user; RETURN true; END $$;
CREATE CONSTRAINT TRIGGER a AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'where=public.grab()');
CREATE CONSTRAINT TRIGGER b AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'within=tenant) OR public.grab() OR (true');
CREATE CONSTRAINT TRIGGER c AFTER INSERT ON desk.letters FOR EACH ROW
	EXECUTE FUNCTION near.neardup_reject('sig', '0.9', 'within="tenant IS NULL OR public.grab() OR tenant"');
INSERT INTO desk.letters VALUES (3, 2, 'sent', near.to_minhash(near.words(2)));
RESET ROLE;
DROP TRIGGER a ON desk.letters;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (3, 2, 'sent', near.to_minhash(near.words(2)));
RESET ROLE;
DROP TRIGGER b ON desk.letters;
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters VALUES (3, 2, 'sent', near.to_minhash(near.words(2)));
RESET ROLE;
DROP FUNCTION public.grab;
DROP TABLE desk.letters;

-- ---- Keys in a log do not depend on the session's settings ----
CREATE TABLE desk.days (day timestamptz, span interval, PRIMARY KEY (day, span), h bigint);
CREATE INDEX days_h ON desk.days USING neardup (h);
CREATE TABLE desk.days_log (row_key text, resembles text, UNIQUE (row_key, resembles));
CREATE CONSTRAINT TRIGGER noted AFTER INSERT ON desk.days FOR EACH ROW EXECUTE FUNCTION neardup_reject('h', '0.9', 'warn', 'log=desk.days_log');
INSERT INTO desk.days VALUES ('2026-05-04 12:00 UTC', '1 day', 1);
SET client_min_messages = notice;
SET DateStyle = 'SQL, DMY';
SET TimeZone = 'Asia/Tokyo';
SET IntervalStyle = 'iso_8601';
INSERT INTO desk.days VALUES ('05/04/2026 12:00 UTC', 'P2D', 1);
RESET DateStyle;
RESET TimeZone;
RESET IntervalStyle;
RESET client_min_messages;
SELECT * FROM desk.days_log;
DROP TABLE desk.days, desk.days_log;

-- ---- A schema where others may create objects ----
GRANT CREATE ON SCHEMA near TO regress_neardup_nobody;
SET ROLE regress_neardup_owner;
CREATE DOMAIN desk.finger AS bigint;
CREATE DOMAIN desk.mark AS near.minhash;
CREATE DOMAIN desk.bag AS near.shingles;
CREATE TABLE desk.guarded (id int PRIMARY KEY, h desk.finger, m desk.mark, v bit(64), t desk.finger DEFAULT 7);
CREATE INDEX guarded_h ON desk.guarded USING neardup (h);
CREATE INDEX guarded_m ON desk.guarded USING neardup (m);
CREATE INDEX guarded_v ON desk.guarded USING neardup (v);
CREATE CONSTRAINT TRIGGER h AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('h', '0.9', 'warn');
CREATE CONSTRAINT TRIGGER m AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('m', '0.9', 'warn', 'within=t');
CREATE CONSTRAINT TRIGGER v AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_reject('v', '0.9', 'warn');
GRANT USAGE ON SCHEMA desk TO PUBLIC;
SET ROLE regress_neardup_nobody;
CREATE FUNCTION near.trap(desk.finger, near.ball) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'trapped as %', current_user; RETURN false; END $$;
CREATE FUNCTION near.trap(desk.mark, near.ball) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'trapped as %', current_user; RETURN false; END $$;
CREATE FUNCTION near.similarity(desk.mark, near.minhash) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'trapped as %', current_user; RETURN 1; END $$;
CREATE FUNCTION near.shingle_hashes(desk.bag) RETURNS bigint[] LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'trapped as %', current_user; RETURN '{1}'; END $$;
CREATE OPERATOR near.<@ (FUNCTION = near.trap, LEFTARG = desk.finger, RIGHTARG = near.ball);
CREATE FUNCTION near.trap(desk.finger, desk.finger) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'trapped as %', current_user; RETURN false; END $$;
CREATE OPERATOR near.= (FUNCTION = near.trap, LEFTARG = desk.finger, RIGHTARG = desk.finger);
CREATE OPERATOR near.<@ (FUNCTION = near.trap, LEFTARG = desk.mark, RIGHTARG = near.ball);
RESET ROLE;
SET client_min_messages = notice;
INSERT INTO desk.guarded VALUES (1, 5, near.to_minhash(near.words(1)), 5::bit(64));
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'guarded' \gset
INSERT INTO desk.guarded VALUES (2, 4, near.to_minhash(near.words(1)), 7::bit(64));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'guarded';
COMMIT;
SELECT df FROM near.neardup_frequencies('SELECT near.to_shingles(''one'', ''word 1'')::desk.bag');
RESET client_min_messages;

\c :home
DROP DATABASE neardup_test_rights;
DROP ROLE regress_neardup_owner;
DROP ROLE regress_neardup_writer;
DROP ROLE regress_neardup_watcher;
DROP ROLE regress_neardup_nobody;
