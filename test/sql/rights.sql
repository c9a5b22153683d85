-- With whose rights code runs, what it may change, and what messages reveal.

\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_rights;
CREATE DATABASE neardup_test_rights;
\c neardup_test_rights
CREATE SCHEMA near;
CREATE EXTENSION neardup SCHEMA near;
CREATE EXTENSION neardup_study SCHEMA near;
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

-- ---- A guard does all as the user who writes a row ----
SET ROLE regress_neardup_owner;
CREATE FUNCTION desk.told(what text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE NOTICE '% as %', what, current_user; RETURN what; END $$;
CREATE FUNCTION desk.signed(body text) RETURNS near.minhash LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM desk.told('signed'); RETURN near.to_minhash(body); END $$;
CREATE FUNCTION desk.noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM desk.told('logged'); RETURN NEW; END $$;
CREATE TABLE desk.letters (id int PRIMARY KEY, tenant int, body text);
CREATE INDEX letters_signed ON desk.letters USING neardup (desk.signed(body));
CREATE TABLE desk.queue (row_key int, resembles int, noticed_by text);
CREATE TRIGGER noted BEFORE INSERT ON desk.queue FOR EACH ROW EXECUTE FUNCTION desk.noted();
CREATE TABLE desk.judged (a int, b int, same boolean);
ALTER TABLE desk.judged ENABLE ROW LEVEL SECURITY;
CREATE POLICY asked ON desk.judged USING (desk.told('judged') IS NOT NULL);
INSERT INTO desk.judged VALUES (1, 2, true);
CREATE CONSTRAINT TRIGGER logged AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=desk.signed(body)', 'threshold=0.9',
	'action=log', 'log_table=desk.queue', 'verdicts=desk.judged', 'condition=desk.told(''looked at '' || id) IS NOT NULL');
INSERT INTO desk.letters VALUES (1, 1, near.words(1));
GRANT INSERT ON desk.letters, desk.queue TO regress_neardup_writer;
GRANT SELECT ON desk.judged TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
SET client_min_messages = notice;
INSERT INTO desk.letters VALUES (2, 1, near.words(1, 2));
RESET client_min_messages;
-- Also in a session whose own objects come first.
SET search_path = near, public;
CREATE FUNCTION pg_temp.told(what text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'grabbed'; RETURN what; END $$;
CREATE TEMP TABLE judged (a int, b int, same boolean);
CREATE TEMP TABLE queue (row_key int, resembles int);
INSERT INTO desk.letters VALUES (3, 1, near.words(1, 3));
SET search_path = desk, near, public;
RESET ROLE;
DROP TABLE pg_temp.judged, pg_temp.queue;
SELECT row_key, resembles, noticed_by = session_user AS by_me FROM desk.queue ORDER BY 1;
DROP TABLE desk.letters, desk.queue, desk.judged;
DROP FUNCTION desk.told, desk.signed, desk.noted;

-- ---- Who may create triggers learns nothing, and changes nothing ----
SET ROLE regress_neardup_owner;
CREATE TABLE desk.letters (id int PRIMARY KEY, note text, sent date, same_as int, f near.simhash, words near.shingles);
CREATE INDEX letters_f ON desk.letters USING neardup (f);
CREATE INDEX letters_words ON desk.letters USING neardup (words);
CREATE INDEX letters_made ON desk.letters USING neardup ((f::bigint));
CREATE INDEX letters_same ON desk.letters (same_as);
CREATE INDEX letters_lead ON desk.letters USING neardup (f) WHERE same_as = id;
CREATE TABLE desk.secret (row_key int, resembles int);
CREATE TABLE desk.judged (a int, b int, same boolean);
CREATE TABLE desk.closed (id int PRIMARY KEY, f near.simhash);
CREATE INDEX closed_f ON desk.closed USING neardup (f);
INSERT INTO desk.letters SELECT i, 'hidden ' || i, '2026-01-01', i, i::bigint::near.simhash, near.to_shingles('hidden ' || i, 'word 1') FROM generate_series(1, 2) i;
GRANT INSERT ON desk.letters TO regress_neardup_writer;
RESET ROLE;
CREATE SCHEMA den AUTHORIZATION regress_neardup_writer;
GRANT USAGE ON SCHEMA den TO PUBLIC;
SET ROLE regress_neardup_writer;
CREATE FUNCTION den.leak(id int, note text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF note LIKE 'hidden %' THEN RAISE WARNING '    leak: %', note; END IF; RETURN true; END $$;
CREATE TABLE den.queue (row_key int, resembles int, similarity float8, by name DEFAULT current_user);
CREATE TABLE den.judged (a int, b int, same boolean);
INSERT INTO den.judged VALUES (9, 1, false);
CREATE TABLE den.mine (id int PRIMARY KEY, f near.simhash);
CREATE INDEX ON den.mine USING neardup (f);
GRANT ALL ON ALL TABLES IN SCHEMA den TO PUBLIC;
RESET ROLE;
-- One role makes a guard, and the writer writes a row; what it is told, and nothing is left.
CREATE PROCEDURE desk.guarded_by(maker name, times text, VARIADIC options text[]) LANGUAGE plpgsql AS $$
DECLARE
	told text;
	detail text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', maker);
	EXECUTE format('CREATE TRIGGER forged %s ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row(%s)', times, (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) o));
	SET LOCAL ROLE regress_neardup_writer;
	INSERT INTO desk.letters VALUES (9, 'hidden 1', '2026-01-02', NULL, 1::bigint::near.simhash, near.to_shingles('hidden 1', 'word 1'));
	SELECT 'stored' || coalesce(', logged ' || string_agg(q::text, ' '), '') INTO told FROM den.queue q;
	RESET ROLE;
	SELECT told || coalesce(', group ' || same_as, '') INTO told FROM desk.letters WHERE id = 9;
	RAISE EXCEPTION '%', coalesce(told, 'skipped');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RAISE WARNING '%: %', array_to_string(options[3:], ' '), CASE SQLSTATE WHEN '23P01' THEN detail ELSE SQLERRM END;
END $$;
CREATE PROCEDURE desk.each_option(maker name) LANGUAGE plpgsql AS $$
BEGIN
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'action=reject');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.001', 'action=warn');
	CALL desk.guarded_by(maker, 'BEFORE INSERT', 'signature=f', 'threshold=0.9', 'action=skip');
	CALL desk.guarded_by(maker, 'BEFORE INSERT', 'signature=f', 'threshold=0.9', 'action=group', 'group_column=same_as');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'action=log', 'log_table=den.queue');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'action=warn', 'condition=den.leak(id, note)');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'within=note');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'within=sent 10 days');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.98', 'verdicts=den.judged');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'show=note');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=words', 'threshold=0.5', 'measure=contained');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=(f::bigint)', 'threshold=0.9', 'action=reject', 'measure=similarity');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'against=den.mine');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'against=desk.closed');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'action=log', 'log_table=desk.secret');
	CALL desk.guarded_by(maker, 'AFTER INSERT', 'signature=f', 'threshold=0.9', 'verdicts=desk.judged');
END $$;
\set VERBOSITY terse
\echo -- the owner makes the guard, and a writer with INSERT
CALL desk.each_option('regress_neardup_owner');
SET ROLE regress_neardup_owner;
GRANT TRIGGER ON desk.letters TO regress_neardup_writer;
RESET ROLE;
\echo -- a guard of the writer, who has INSERT and TRIGGER
CALL desk.each_option('regress_neardup_writer');
SET ROLE regress_neardup_owner;
GRANT SELECT (id, note, f, words, same_as) ON desk.letters TO regress_neardup_writer;
RESET ROLE;
\echo -- and SELECT of some columns
CALL desk.each_option('regress_neardup_writer');
SET ROLE regress_neardup_owner;
GRANT SELECT ON desk.letters TO regress_neardup_writer;
ALTER TABLE desk.letters ENABLE ROW LEVEL SECURITY;
CREATE POLICY new ON desk.letters FOR INSERT WITH CHECK (true);
RESET ROLE;
\echo -- and SELECT, but policies hide rows
CALL desk.each_option('regress_neardup_writer');
SET ROLE regress_neardup_owner;
ALTER TABLE desk.letters DISABLE ROW LEVEL SECURITY;
RESET ROLE;
\echo -- and SELECT of all rows
CALL desk.each_option('regress_neardup_writer');
\set VERBOSITY default
-- What to do is said.  A role that is a member of the owner is no other, as long as it is one.
SET ROLE regress_neardup_owner;
REVOKE SELECT ON desk.letters FROM regress_neardup_writer;
GRANT INSERT ON desk.letters TO regress_neardup_nobody;
CREATE TRIGGER told AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=f', 'threshold=0.9');
SET ROLE regress_neardup_writer;
INSERT INTO desk.letters (id, f) VALUES (10, 1::bigint::near.simhash);
RESET ROLE;
GRANT regress_neardup_owner TO regress_neardup_writer;
SET ROLE regress_neardup_nobody;
INSERT INTO desk.letters (id, f) VALUES (10, 1::bigint::near.simhash);
RESET ROLE;
REVOKE regress_neardup_owner FROM regress_neardup_writer;
SET ROLE regress_neardup_nobody;
INSERT INTO desk.letters (id, f) VALUES (10, 1::bigint::near.simhash);
SET ROLE regress_neardup_owner;
REVOKE TRIGGER ON desk.letters FROM regress_neardup_writer;
SET ROLE regress_neardup_nobody;
INSERT INTO desk.letters (id, f) VALUES (10, 1::bigint::near.simhash);
RESET ROLE;
DROP PROCEDURE desk.each_option, desk.guarded_by;
DROP TABLE desk.letters, desk.secret, desk.judged;
DROP TABLE den.queue, den.judged, den.mine;
DROP FUNCTION den.leak;
DROP SCHEMA den;
TRUNCATE desk.closed;
INSERT INTO desk.closed VALUES (1, 7::bigint::near.simhash);
-- A table of its own does not help.
SET ROLE regress_neardup_writer;
CREATE TABLE public.probe (id int, f near.simhash);
CREATE INDEX ON public.probe USING neardup (f);
CREATE TRIGGER forged AFTER INSERT ON public.probe FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=f', 'threshold=0.9', 'against=desk.closed');
INSERT INTO public.probe VALUES (1, 7::bigint::near.simhash);
INSERT INTO public.probe VALUES (1, (-8)::bigint::near.simhash);
SET ROLE regress_neardup_owner;
GRANT SELECT ON desk.closed TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
INSERT INTO public.probe VALUES (1, 7::bigint::near.simhash);
SET ROLE regress_neardup_owner;
ALTER TABLE desk.closed ENABLE ROW LEVEL SECURITY;
SET ROLE regress_neardup_writer;
INSERT INTO public.probe VALUES (1, 7::bigint::near.simhash);
DROP TABLE public.probe;
RESET ROLE;
DROP TABLE desk.closed;

-- ---- Nobody watches what he may not read ----
SET ROLE regress_neardup_owner;
CREATE TABLE desk.letters (id int PRIMARY KEY, sig near.minhash);
GRANT SELECT (id) ON desk.letters TO regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
\set VERBOSITY terse
SELECT neardup_watch('desk.letters', schema => 'public');
SELECT neardup_watch('desk.letters', 80, schema => 'public');
\set VERBOSITY default
RESET ROLE;
SELECT to_regclass('public.neardup_watched') IS NULL AS nothing_is_made;
DROP TABLE desk.letters;

-- ---- A superuser who looks for violations runs no code of another role ----
SET ROLE regress_neardup_owner;
CREATE FUNCTION desk.taken(id int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'taken as %', current_user; RETURN true; END $$;
CREATE TABLE desk.letters (id int PRIMARY KEY, sig near.minhash);
CREATE INDEX letters_sig ON desk.letters USING neardup (sig);
INSERT INTO desk.letters VALUES (1, near.to_minhash(near.words(1)));
CREATE TRIGGER guard AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=sig', 'threshold=0.9', 'condition=desk.taken(id)');
RESET ROLE;
SELECT neardup_guard_violations('desk.letters');
DROP TRIGGER guard ON desk.letters;
-- Nor the code of a view of verdicts.
SET ROLE regress_neardup_owner;
CREATE VIEW desk.judged AS SELECT 1 AS a, 2 AS b, false AS same WHERE desk.taken(1);
RESET ROLE;
ALTER TABLE desk.letters OWNER TO CURRENT_USER;
CREATE TRIGGER guard AFTER INSERT ON desk.letters FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=sig', 'threshold=0.9', 'verdicts=desk.judged');
INSERT INTO desk.letters VALUES (2, near.to_minhash(near.words(2)));
ALTER TABLE desk.letters DISABLE TRIGGER guard;
INSERT INTO desk.letters VALUES (3, near.to_minhash(near.words(1)));
SELECT neardup_guard_violations('desk.letters');
DROP VIEW desk.judged;
DROP TABLE desk.letters;
DROP FUNCTION desk.taken;

-- ---- What messages reveal ----
SET ROLE regress_neardup_owner;
CREATE TABLE desk.prints (id int PRIMARY KEY, f near.simhash);
CREATE INDEX prints_f ON desk.prints USING neardup (f);
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.prints FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=f', 'threshold=0.01');
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
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.prints FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=f', 'threshold=0.01', 'action=warn');
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
CREATE CONSTRAINT TRIGGER told AFTER INSERT ON desk.essays FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=sig', 'threshold=0.9');
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
CREATE CONSTRAINT TRIGGER h AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=h', 'threshold=0.9', 'action=warn');
CREATE CONSTRAINT TRIGGER m AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=m', 'threshold=0.9', 'action=warn', 'within=t');
CREATE CONSTRAINT TRIGGER v AFTER INSERT ON desk.guarded FOR EACH ROW EXECUTE FUNCTION near.neardup_guard_row('signature=v', 'threshold=0.9', 'action=warn');
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
