-- The extension is in a schema that no role has in its search path or may use, beside
-- functions and operators named like those of PostgreSQL and of the extension.

\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS neardup_test_schemas;
CREATE DATABASE neardup_test_schemas;
\c neardup_test_schemas
CREATE SCHEMA "Near Dup";
CREATE EXTENSION neardup SCHEMA "Near Dup";
CREATE EXTENSION neardup_study SCHEMA "Near Dup";
CREATE ROLE regress_neardup_writer;
CREATE ROLE regress_neardup_keeper;
GRANT USAGE, CREATE ON SCHEMA public TO regress_neardup_writer;

SET ROLE regress_neardup_writer;
CREATE FUNCTION trap(float8, float8) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION trap(float8, bigint) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION trap(tid, tid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION trap(oid, oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION ln(float8) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION now() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION count() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE FUNCTION unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %'', current_user; END';
CREATE OPERATOR = (FUNCTION = trap, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR >= (FUNCTION = trap, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR <= (FUNCTION = trap, LEFTARG = float8, RIGHTARG = float8);
CREATE OPERATOR / (FUNCTION = trap, LEFTARG = float8, RIGHTARG = bigint);
CREATE OPERATOR = (FUNCTION = trap, LEFTARG = tid, RIGHTARG = tid);
CREATE OPERATOR = (FUNCTION = trap, LEFTARG = oid, RIGHTARG = oid);
CREATE DOMAIN float8 AS int;
CREATE DOMAIN int8 AS int;
CREATE DOMAIN text AS int;
RESET ROLE;

-- ---- The inserting role may use neither this schema nor that of the table ----
CREATE SCHEMA closed AUTHORIZATION regress_neardup_keeper;
CREATE SCHEMA desk AUTHORIZATION regress_neardup_keeper;
GRANT USAGE ON SCHEMA "Near Dup" TO regress_neardup_keeper;
SET ROLE regress_neardup_keeper;
CREATE TABLE closed.letters (id int PRIMARY KEY, body pg_catalog.text,
	sig "Near Dup".minhash GENERATED ALWAYS AS ("Near Dup".to_minhash(body)) STORED);
CREATE INDEX letters_sig ON closed.letters USING neardup (sig);
CREATE TABLE desk.queue (row_key int, resembles int, similarity numeric(4, 3), noticed_at timestamptz, noticed_by pg_catalog.text);
GRANT USAGE ON SCHEMA desk TO regress_neardup_writer;
GRANT INSERT ON desk.queue TO regress_neardup_writer;
CREATE CONSTRAINT TRIGGER queued AFTER INSERT ON closed.letters FOR EACH ROW
	EXECUTE FUNCTION "Near Dup".neardup_guard_row('signature=sig', 'threshold=0.9', 'action=log', 'log_table=desk.queue');
RESET ROLE;
CREATE VIEW public.mail AS SELECT id, body FROM closed.letters;
ALTER VIEW public.mail OWNER TO regress_neardup_keeper;
GRANT INSERT ON public.mail TO regress_neardup_writer;
SET ROLE regress_neardup_writer;
SET search_path = public, pg_catalog;
INSERT INTO mail VALUES (1, 'one two three four five six seven eight nine ten');
INSERT INTO mail VALUES (2, 'One, two, three, four, five, six, seven, eight, nine, ten');
RESET ROLE;
SELECT row_key, resembles, similarity, noticed_by = session_user AS by_me FROM desk.queue;
-- This also holds for the first statement of a session, and the row is rejected.
CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON closed.letters FOR EACH ROW
	EXECUTE FUNCTION "Near Dup".neardup_guard_row('signature=sig', 'threshold=0.9');
SET ROLE regress_neardup_writer;
INSERT INTO mail VALUES (3, 'One, two, three, four, five, six, seven, eight, nine, ten');
RESET ROLE;

-- ---- Everything else, called by its qualified name ----
BEGIN;
SET LOCAL enable_seqscan = off;
SELECT id FROM closed.letters WHERE "Near Dup".is_similar(sig, "Near Dup".to_minhash('one two three four five six seven eight nine ten'), 0.9) ORDER BY id;
SELECT idx_scan > 0 AS by_index FROM pg_stat_xact_user_tables WHERE relname = 'letters';
COMMIT;
SELECT * FROM "Near Dup".neardup_pairs('SELECT id, sig FROM closed.letters', 0.9);
SELECT * FROM "Near Dup".neardup_clusters('SELECT id, sig, "Near Dup".to_shingles(body) FROM closed.letters', 0.9);
SELECT * FROM "Near Dup".neardup_pairs('SELECT id, "Near Dup".to_shingles(body) FROM closed.letters', 0.9, NULL::int);
-- What the advice says to type names the schema.
SELECT statement FROM "Near Dup".neardup_advise('SELECT id, body FROM closed.letters', 'VALUES (1, 2, true)') WHERE NOT lexicon AND scheme = 'word 1' \gset
SELECT a, b FROM (:statement) AS p;
CREATE TABLE closed.lexicon AS
SELECT * FROM "Near Dup".neardup_frequencies('SELECT "Near Dup".to_shingles(body, ''word 1'') FROM closed.letters UNION ALL SELECT "Near Dup".to_shingles(''one more'', ''word 1'')');
SELECT df, round(idf::numeric, 3) AS idf, pg_catalog.count(*) FROM closed.lexicon GROUP BY df, idf ORDER BY df;
SELECT "Near Dup".cardinality("Near Dup".neardup_idf_filter("Near Dup".to_shingles('one two three', 'word 1'), 'closed.lexicon', 0.1, 1)) AS kept,
	"Near Dup".neardup_tfidf_cosine("Near Dup".to_shingles('one two', 'word 1'), "Near Dup".to_shingles('two', 'word 1'), 'closed.lexicon') AS cosine;
ALTER TABLE closed.letters DISABLE TRIGGER USER;
DELETE FROM closed.letters WHERE id = 2;
ALTER TABLE closed.letters ADD CONSTRAINT alone EXCLUDE USING neardup ("Near Dup".near(sig, 0.9) WITH OPERATOR("Near Dup".&&));
INSERT INTO closed.letters VALUES (4, 'One, two, three, four, five, six, seven, eight, nine, ten');
ALTER TABLE closed.letters ENABLE TRIGGER USER;
-- What the status says to search by runs as it is printed.
SELECT format('SELECT pg_catalog.count(*) FROM closed.letters WHERE %s', value) FROM "Near Dup".neardup_status('closed.letters') WHERE property = 'searched by' ORDER BY item \gexec

-- ---- The schema is a choice for good ----
ALTER EXTENSION neardup SET SCHEMA desk;

-- ---- The owner of a database creates it, in a schema with objects that were made before ----
CREATE ROLE regress_neardup_lord;
CREATE DATABASE neardup_test_owned OWNER regress_neardup_lord;
\c neardup_test_owned
SET client_min_messages = warning;
SET ROLE regress_neardup_lord;
CREATE SCHEMA prepared;
SET search_path = prepared, pg_catalog;
SELECT format($$ CREATE FUNCTION trap(%1$s, %1$s) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''trapped as %%'', current_user; END' $$, t),
	format('CREATE OPERATOR = (FUNCTION = trap, LEFTARG = %1$s, RIGHTARG = %1$s)', t)
FROM unnest('{name,text,oid,"\"char\"",bigint,anyarray}'::pg_catalog.text[]) t \gexec
CREATE FUNCTION neardup_index_status(oid) RETURNS TABLE (shape text, bytes bigint, segments int, documents bigint, dead bigint, tail bigint,
	last_maintenance timestamptz, advice text) LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE FUNCTION pg_is_other_temp_schema(oid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE FUNCTION shingles_in(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE DOMAIN text AS int;
CREATE DOMAIN regclass AS oid;
CREATE DOMAIN pg_temp.minhash AS int;
CREATE DOMAIN pg_temp.shingles AS int;
-- From PostgreSQL 19 on it is always on.
SELECT set_config('standard_conforming_strings', CASE WHEN current_setting('server_version_num')::int < 190000 THEN 'off' ELSE 'on' END, false) IS NOT NULL AS is_set;
SET transform_null_equals = on;
CREATE EXTENSION neardup SCHEMA prepared;
RESET standard_conforming_strings;
RESET transform_null_equals;
SET search_path = pg_catalog, prepared;
-- He owns the extension and nothing in it.
SELECT extowner::regrole FROM pg_extension WHERE extname = 'neardup';
SELECT count(*) FROM pg_shdepend s JOIN pg_depend d USING (classid, objid) JOIN pg_database b ON b.oid = dbid
WHERE b.datname = current_database() AND d.deptype = 'e' AND s.deptype = 'o';
CREATE TABLE prepared.hashes (id int, h bigint, sig prepared.minhash);
INSERT INTO prepared.hashes SELECT i, i, to_minhash('a text ' || i, 64, 32) FROM generate_series(1, 10) i;
CREATE INDEX hashes_h ON prepared.hashes USING neardup (h);
CREATE INDEX hashes_sig ON prepared.hashes USING neardup (sig, id);
RESET ROLE;
SELECT table_name, index_name, documents FROM neardup_indexes ORDER BY 2;
SELECT index_name, neardup_check(index_name) FROM neardup_indexes ORDER BY 1;
SELECT id FROM prepared.hashes WHERE is_within(h, 3, 0);
-- What he adds to the extension is not taken for its own, here to search for a function that is.
SET ROLE regress_neardup_lord;
CREATE FUNCTION prepared.hamming_ball(prepared.minhash, bigint) RETURNS prepared.ball LANGUAGE plpgsql IMMUTABLE
	AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
ALTER EXTENSION neardup ADD FUNCTION prepared.hamming_ball(prepared.minhash, bigint);
RESET ROLE;
CREATE FUNCTION prepared.is_within(prepared.minhash, prepared.minhash, bigint) RETURNS boolean
	AS '$libdir/neardup', 'neardup_is_within' LANGUAGE C IMMUTABLE STRICT SUPPORT neardup_support;
ALTER EXTENSION neardup ADD FUNCTION prepared.is_within(prepared.minhash, prepared.minhash, bigint);
SET enable_seqscan = off;
SELECT id FROM prepared.hashes WHERE is_within(sig, to_minhash('a text 3', 64, 32), 0::bigint);
ALTER FUNCTION prepared.hamming_ball(prepared.minhash, bigint) OWNER TO CURRENT_USER;
SELECT id FROM prepared.hashes WHERE is_within(sig, to_minhash('a text 3', 64, 32), 0::bigint);
RESET enable_seqscan;
-- A type that a superuser gives away is no longer the extension's.
ALTER TYPE prepared.minhash OWNER TO regress_neardup_lord;
SELECT id FROM prepared.hashes WHERE is_within(sig, to_minhash('a text 3', 64, 32), 0);
ALTER TYPE prepared.minhash OWNER TO CURRENT_USER;
SELECT id FROM prepared.hashes WHERE is_within(sig, to_minhash('a text 3', 64, 32), 0);
DROP EXTENSION neardup CASCADE;
-- The name of its schema has no quotes.
CREATE SCHEMA "it's";
CREATE EXTENSION neardup SCHEMA "it's";
DROP SCHEMA "it's";
-- What has a name of the extension's stays in the way.
\set SHOW_CONTEXT never
SET ROLE regress_neardup_lord;
CREATE DOMAIN prepared.minhash AS int;
CREATE EXTENSION neardup SCHEMA prepared;
DROP DOMAIN prepared.minhash;
CREATE FUNCTION prepared.strip_markup(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE sql AS 'SELECT $1';
CREATE EXTENSION neardup SCHEMA prepared;
DROP FUNCTION prepared.strip_markup(pg_catalog.text);
CREATE VIEW prepared.neardup_indexes AS SELECT 1;
CREATE EXTENSION neardup SCHEMA prepared;
DROP VIEW prepared.neardup_indexes;
-- The study finds the types of the core, whatever else its own schema has.
RESET ROLE;
CREATE SCHEMA core;
CREATE EXTENSION neardup SCHEMA core;
CREATE EXTENSION neardup_study SCHEMA prepared;
SELECT prepared.supershingles(core.to_shingles('a b c d'), 1) IS NOT NULL AS found;
DROP EXTENSION neardup_study;
CREATE DOMAIN prepared.ball AS int;
CREATE EXTENSION neardup_study SCHEMA prepared;
DROP DOMAIN prepared.ball;
DROP EXTENSION neardup;
DROP SCHEMA core;
SET ROLE regress_neardup_lord;
-- ---- A schema in which others may create ----
\set VERBOSITY terse
CREATE EXTENSION neardup SCHEMA prepared;
DROP EXTENSION neardup;
\set VERBOSITY default
GRANT CREATE ON SCHEMA prepared TO regress_neardup_writer, PUBLIC;
CREATE EXTENSION neardup SCHEMA prepared;
DROP EXTENSION neardup;
REVOKE CREATE ON SCHEMA prepared FROM PUBLIC;
SET ROLE regress_neardup_lord;
CREATE EXTENSION neardup SCHEMA prepared;
DROP EXTENSION neardup;
SET client_min_messages = error;
CREATE EXTENSION neardup SCHEMA prepared;
DROP EXTENSION neardup;
SET client_min_messages = warning;
RESET ROLE;

-- Without CREATE on the database nobody creates it.
SET ROLE regress_neardup_writer;
CREATE EXTENSION neardup SCHEMA public;
RESET ROLE;

\c :home
DROP DATABASE neardup_test_schemas;
DROP DATABASE neardup_test_owned;
DROP ROLE regress_neardup_lord;
DROP ROLE regress_neardup_writer;
DROP ROLE regress_neardup_keeper;
