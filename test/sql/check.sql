-- neardup_check() finds differences between an index and its table, in little memory.

SET client_min_messages = warning;
SET neardup.background = off;
\set VERBOSITY terse

\set pass_horizon `cat "${PG_ABS_SRCDIR:-test}/tools/pass_horizon.sql"`

-- ---- Rows that the index lacks, or has with another signature ----
CREATE TABLE shown (id int PRIMARY KEY, h bigint) WITH (autovacuum_enabled = off);
CREATE FUNCTION as_shown(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
CREATE INDEX shown_h ON shown USING neardup (as_shown(h));
INSERT INTO shown SELECT i, CASE WHEN i % 7 > 0 THEN i END FROM generate_series(1, 3000) i;
SELECT neardup_check('shown_h');
-- Inserts skip an index that is not ready.
UPDATE pg_index SET indisready = false WHERE indexrelid = 'shown_h'::regclass;
INSERT INTO shown VALUES (0, 1);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'shown_h'::regclass;
SELECT neardup_check('shown_h');
DELETE FROM shown WHERE id = 0;
SELECT neardup_check('shown_h');
-- Also in the middle of the table.
DELETE FROM shown WHERE id BETWEEN 500 AND 1000 AND id <> 1000;
:pass_horizon
VACUUM shown;
UPDATE pg_index SET indisready = false WHERE indexrelid = 'shown_h'::regclass;
INSERT INTO shown VALUES (500, 500);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'shown_h'::regclass;
SELECT ctid < '(6,0)'::tid AS in_the_middle FROM shown WHERE id = 500;
SELECT neardup_check('shown_h');
REINDEX INDEX shown_h;
SELECT neardup_check('shown_h');
CREATE OR REPLACE FUNCTION as_shown(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN CASE $1 WHEN 2999 THEN 0 ELSE $1 END; END';
SELECT neardup_check('shown_h');
CREATE OR REPLACE FUNCTION as_shown(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN coalesce($1, 0); END';
SELECT neardup_check('shown_h');
CREATE OR REPLACE FUNCTION as_shown(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN nullif($1, 1000); END';
SELECT neardup_check('shown_h');
DROP TABLE shown;
DROP FUNCTION as_shown;

-- ---- Memory ----
-- An expression sees the session's memory while the table is read.  PostgreSQL 14 and later show it.
CREATE FUNCTION megabytes() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF to_regclass('pg_catalog.pg_backend_memory_contexts') IS NULL THEN
		RETURN 0;
	END IF;
	RETURN (SELECT sum(total_bytes) / 1048576 FROM pg_backend_memory_contexts);
END $$;
CREATE FUNCTION seen(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF $1 = 299990 AND public.megabytes() - coalesce(nullif(current_setting('check.before', true), ''), '1000')::int > 6 THEN
		RAISE WARNING 'it takes % MB', public.megabytes() - current_setting('check.before')::int;
	END IF;
	RETURN $1;
END $$;
CREATE TABLE many WITH (autovacuum_enabled = off) AS SELECT i::bigint AS h FROM generate_series(1, 300000) i;
CREATE INDEX many_h ON many USING neardup (seen(h));
SET maintenance_work_mem = '1MB';
SELECT set_config('check.before', megabytes()::text, false) <> '' AS measured;
SELECT neardup_check('many_h') LIKE 'segments: %, documents: 300000, dead: 0, postings: %, rows: 300000' AS sound;
RESET maintenance_work_mem;
DROP TABLE many;
DROP FUNCTION seen, megabytes;
