-- neardup_reject(), a trigger that rejects near-duplicates.
-- Texts of a family have similarity 0.97 or more to each other, others none.
CREATE FUNCTION words(family int, variant int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
	FROM generate_series(1, 200) i $$;

CREATE TABLE proposals (
	id int PRIMARY KEY,
	title text,
	body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED
);
CREATE INDEX proposals_sig ON proposals USING neardup (sig);
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON proposals
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');

-- ---- Inserts ----
INSERT INTO proposals VALUES (1, 'a', words(1)), (2, 'b', words(2));
INSERT INTO proposals VALUES (3, 'c', words(1, 7));
DO $$
DECLARE state text; named text; in_table text; in_schema text;
BEGIN
	INSERT INTO proposals VALUES (3, 'c', words(1, 7));
EXCEPTION WHEN exclusion_violation THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, named = CONSTRAINT_NAME, in_table = TABLE_NAME,
		in_schema = SCHEMA_NAME;
	RAISE NOTICE '% % %.%', state, named, in_schema, in_table;
END $$;
-- Two rows of one statement.
INSERT INTO proposals SELECT 10 + n, 'd', words(n / 2) FROM generate_series(20, 23) n;
-- Of several similar rows the most similar is named.
INSERT INTO proposals VALUES (4, 'e', words(4) || words(5)), (5, 'f', words(4));
ALTER TABLE proposals DISABLE TRIGGER no_copies;
INSERT INTO proposals VALUES (6, 'g', words(4, 6));
ALTER TABLE proposals ENABLE TRIGGER no_copies;
INSERT INTO proposals VALUES (7, 'h', words(4, 6));
DELETE FROM proposals WHERE id >= 4;
-- Empty texts and NULLs are similar to nothing.
INSERT INTO proposals VALUES (4, 'i', ''), (5, 'j', ''), (6, 'k', NULL), (7, 'l', NULL);

-- ---- Updates, upserts, COPY ----
UPDATE proposals SET title = upper(title);
UPDATE proposals SET body = body || ' and more' WHERE id = 1;
UPDATE proposals SET body = words(1, 3) WHERE id = 2;
UPDATE proposals SET id = id + 100 WHERE id = 2;
INSERT INTO proposals VALUES (1, 'm', words(1, 4)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO proposals VALUES (1, 'n', words(2, 4)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO proposals VALUES (102, 'o', words(1, 4)) ON CONFLICT DO NOTHING;
COPY proposals (id, title, body) FROM stdin;
8	p	one two three four five six seven eight
9	q	One, two, three, four, five, six, seven, eight!
\.
SELECT id, title FROM proposals ORDER BY id;
-- A row that was similar to another before the trigger existed may change other columns.
ALTER TABLE proposals DISABLE TRIGGER no_copies;
INSERT INTO proposals VALUES (200, 'old', words(1, 9));
ALTER TABLE proposals ENABLE TRIGGER no_copies;
UPDATE proposals SET title = 'still there' WHERE id = 200;
UPDATE proposals SET body = words(1, 10) WHERE id = 200;
DELETE FROM proposals WHERE id = 200;
-- Within a transaction.
BEGIN;
INSERT INTO proposals VALUES (300, 'r', words(30));
UPDATE proposals SET title = 's' WHERE id = 300;
SAVEPOINT before;
INSERT INTO proposals VALUES (301, 't', words(30));
ROLLBACK TO before;
DELETE FROM proposals WHERE id = 300;
INSERT INTO proposals VALUES (301, 't', words(30));
COMMIT;

-- The index is used however small the table is.
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'proposals' \gset
INSERT INTO proposals VALUES (302, 'x', words(31));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'proposals';
ROLLBACK;

-- ---- Deferred ----
CREATE TABLE deferred (id int PRIMARY KEY, sig minhash);
CREATE INDEX ON deferred USING neardup (sig);
CREATE CONSTRAINT TRIGGER later AFTER INSERT OR UPDATE ON deferred DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
INSERT INTO deferred VALUES (1, to_minhash(words(1)));
-- Only the rows at the end of the transaction count.
BEGIN;
INSERT INTO deferred VALUES (2, to_minhash(words(1, 2)));
UPDATE deferred SET sig = to_minhash(words(2)) WHERE id = 2;
INSERT INTO deferred VALUES (3, to_minhash(words(1, 3)));
DELETE FROM deferred WHERE id = 3;
COMMIT;
-- The row's last version is checked, also where only its id changed.
BEGIN;
INSERT INTO deferred VALUES (4, to_minhash(words(1, 2)));
UPDATE deferred SET id = 5 WHERE id = 4;
COMMIT;
BEGIN;
INSERT INTO deferred VALUES (4, to_minhash(words(1, 2)));
SET CONSTRAINTS later IMMEDIATE;
ROLLBACK;
SELECT id FROM deferred ORDER BY id;

-- ---- Reporting and recording instead of refusing ----
CREATE TABLE review_queue (
	row_key int,
	resembles int,
	similarity float8,
	noticed_at timestamptz,
	noticed_by name,
	in_table regclass,
	decision text DEFAULT 'open',
	UNIQUE (row_key, resembles)
);
CREATE CONSTRAINT TRIGGER told AFTER INSERT OR UPDATE ON proposals
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.3', 'warn', 'log=review_queue', 'hint=A colleague will look at it.');
INSERT INTO proposals VALUES (400, 'u', words(1) || ' ' || words(40));
INSERT INTO proposals VALUES (401, 'v', words(1));
SELECT row_key, resembles, round(similarity::numeric, 1) AS similarity, noticed_at = now() AS now, noticed_by = current_user AS by_me, in_table, decision
FROM review_queue;
-- An insert and an update in one transaction are recorded once.
BEGIN;
INSERT INTO proposals VALUES (402, 'u', words(1) || ' ' || words(41));
UPDATE proposals SET title = 'w' WHERE id = 402;
COMMIT;
SELECT row_key, resembles FROM review_queue ORDER BY 1;
DROP TRIGGER told ON proposals;
DELETE FROM proposals WHERE id >= 400;

-- ---- Other signatures ----
CREATE TABLE prints (a int, b text, f simhash, h bigint, v bit(64), PRIMARY KEY (a, b));
CREATE CONSTRAINT TRIGGER f AFTER INSERT ON prints FOR EACH ROW EXECUTE FUNCTION neardup_reject('f', '0.9', 'warn');
CREATE CONSTRAINT TRIGGER h AFTER INSERT ON prints FOR EACH ROW EXECUTE FUNCTION neardup_reject('h', '0.9', 'warn');
CREATE CONSTRAINT TRIGGER v AFTER INSERT ON prints FOR EACH ROW EXECUTE FUNCTION neardup_reject('v', '0.9', 'warn', 'log=prints_log');
CREATE TABLE prints_log (row_key text, resembles char(12), similarity numeric(4, 3));
-- Without an index the first use in a session raises a warning.
INSERT INTO prints SELECT 1, 'x', to_simhash(words(1)), 0, 0::bit(64);
CREATE INDEX ON prints USING neardup (f);
CREATE INDEX ON prints USING neardup (h);
CREATE INDEX ON prints USING neardup (v);
INSERT INTO prints SELECT 2, 'y, z', to_simhash(words(1, 2)), 5, 3::bit(64);
INSERT INTO prints SELECT 3, '', to_simhash(words(2, 2)), -1, (-1)::bit(64);
SELECT * FROM prints_log;

-- ---- Names and shapes that change ----
ALTER TABLE proposals RENAME TO submissions;
ALTER TABLE submissions RENAME id TO number;
ALTER TRIGGER no_copies ON submissions RENAME TO "no more copies";
INSERT INTO submissions VALUES (500, 'c', words(1, 7));
DROP INDEX proposals_sig;
INSERT INTO submissions SELECT 500, 'c', body FROM submissions WHERE number = 301;
ALTER TABLE submissions DROP CONSTRAINT proposals_pkey;
CREATE INDEX ON submissions USING neardup (sig) WHERE number > 0;
INSERT INTO submissions VALUES (501, 'c', words(50));
CREATE INDEX ON submissions USING neardup (sig);
INSERT INTO submissions VALUES (502, 'c', words(51));
ALTER TABLE submissions ADD PRIMARY KEY (number);
CREATE SCHEMA "Fund";
ALTER TABLE submissions SET SCHEMA "Fund";
ALTER SCHEMA "Fund" RENAME TO fund;
INSERT INTO fund.submissions VALUES (503, 'c', words(50));
ALTER TABLE fund.submissions RENAME sig TO signature;
INSERT INTO fund.submissions VALUES (503, 'c', words(50));
-- A new signature of another shape.
ALTER TABLE fund.submissions DROP COLUMN signature, ADD COLUMN sig simhash GENERATED ALWAYS AS (to_simhash(body)) STORED;
CREATE INDEX ON fund.submissions USING neardup (sig);
INSERT INTO fund.submissions VALUES (503, 'c', words(50));
DROP SCHEMA fund CASCADE;

-- Sets, with an index, without one, and within equal columns.
CREATE TABLE sets (id int PRIMARY KEY, tenant int, body text, set shingles GENERATED ALWAYS AS (to_shingles(body)) STORED);
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON sets FOR EACH ROW EXECUTE FUNCTION neardup_reject('set', '0.9', 'within=tenant');
INSERT INTO sets VALUES (1, 1, words(1)), (2, 1, words(2)), (3, 1, NULL), (4, 1, ''), (5, 1, '');
INSERT INTO sets VALUES (6, 1, words(1, 7));
CREATE INDEX ON sets USING neardup (tenant, set);
INSERT INTO sets VALUES (6, 1, words(1, 7));
INSERT INTO sets VALUES (6, 2, words(1, 7));
UPDATE sets SET body = words(2, 1) WHERE id = 1;
UPDATE sets SET body = words(2, 1) WHERE id = 2;
SELECT id, tenant FROM sets ORDER BY id;
CREATE TABLE set_log (row_key int, resembles int, similarity float8);
DROP TRIGGER no_copies ON sets;
CREATE CONSTRAINT TRIGGER record AFTER INSERT ON sets FOR EACH ROW EXECUTE FUNCTION neardup_reject('set', '0.9', 'warn', 'log=set_log');
INSERT INTO sets VALUES (7, 1, words(1, 8)), (8, 1, words(2, 2));
SELECT row_key, resembles, round(similarity::numeric, 3) FROM set_log ORDER BY 1;
DROP TABLE sets, set_log;

-- ---- Arguments ----
CREATE TABLE t (id int, body text, sig minhash, set shingles, place point);
CREATE INDEX t_id ON t (id);
CREATE FUNCTION try(VARIADIC arguments text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
	EXECUTE format('CREATE CONSTRAINT TRIGGER try AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION neardup_reject(%s)',
		(SELECT string_agg(quote_literal(a), ', ') FROM unnest(arguments) a));
	INSERT INTO t VALUES (1, 'x', to_minhash('x'), to_shingles('x'));
	RAISE NOTICE 'accepted';
	DROP TRIGGER try ON t;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE NOTICE E'%: %\ndetail: %\nhint: %', SQLSTATE, message, detail, hint;
END $$;
SELECT try('sig');
SELECT try('sig', 'high');
SELECT try('sig', '0.9x');
SELECT try('sig', '1.1');
SELECT try('sig', 'nan');
SELECT try('no', '0.9');
SELECT try('ctid', '0.9');
SELECT try('body', '0.9');
SELECT try('sig', '0.9', 'refuse');
SELECT try('sig', '0.9', 'within=');
SELECT try('sig', '0.9', 'within=id body');
SELECT try('sig', '0.9', 'within=id, none');
SELECT try('sig', '0.9', 'within=place');
SELECT try('sig', '0.9', 'where=id > 0');
SELECT try('sig', '0.9', 'where=pg_class_oid_index');
SELECT try('sig', '0.9', 'where=t_id');
SELECT try('sig', '0.9', 'log');
SELECT try('sig', '0.9', 'log=nowhere');
SELECT try('sig', '0.9', 'log=t');
SELECT try('sig', '0.9', 'log=a.b.c.d');
CREATE INDEX ON t USING neardup (sig);
SELECT try('sig', '1', 'no_lock', 'message=', 'hint=50 % off');
SELECT neardup_reject();
CREATE TRIGGER early BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
INSERT INTO t VALUES (1);
DROP TRIGGER early ON t;
CREATE TRIGGER whole AFTER INSERT ON t EXECUTE FUNCTION neardup_reject('sig', '0.9');
INSERT INTO t VALUES (1);
DROP TRIGGER whole ON t;
CREATE TRIGGER gone AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
DELETE FROM t;
DROP TRIGGER gone ON t;
-- An ordinary AFTER trigger works; message and hint are the user's.
TRUNCATE t;
CREATE TRIGGER plain AFTER INSERT OR UPDATE OF sig ON t FOR EACH ROW
	EXECUTE FUNCTION neardup_reject('sig', '0.9', 'message=This text was sent before.', 'hint=See 100 % of them.');
INSERT INTO t VALUES (1, NULL, to_minhash(words(1)));
INSERT INTO t VALUES (2, NULL, to_minhash(words(1)));
DROP TABLE t;

-- ---- Rows of another shape ----
CREATE TABLE mixed (id int PRIMARY KEY, sig minhash);
INSERT INTO mixed VALUES (1, to_minhash(words(1))), (2, to_minhash(words(2), 64)), (3, NULL);
SELECT is_comparable(a.sig, b.sig), is_comparable(a.sig, NULL), is_comparable(a.sig, to_minhash('', 512, 2)),
	is_comparable(to_simhash('a'), to_simhash('b')), is_comparable(to_simhash('a'), to_simhash('b', f => 128)) FROM mixed a, mixed b WHERE (a.id, b.id) = (1, 2);
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON mixed FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
-- Existing rows of another shape are skipped, with one warning.
INSERT INTO mixed VALUES (4, to_minhash(words(1)));
INSERT INTO mixed VALUES (4, to_minhash(words(4)));
INSERT INTO mixed VALUES (5, to_minhash(words(5)));
INSERT INTO mixed VALUES (6, to_minhash(words(5)));
-- A new row that cannot be compared with any is rejected.
INSERT INTO mixed VALUES (7, to_minhash(words(7), 128));
DELETE FROM mixed WHERE id <> 2;
INSERT INTO mixed VALUES (8, to_minhash(words(8)));
UPDATE mixed SET sig = to_minhash(words(2)) WHERE id = 2;
INSERT INTO mixed VALUES (8, to_minhash(words(8)));
SELECT id FROM mixed ORDER BY id;
DROP TABLE mixed;

-- ---- Partitions: the table that the trigger was created on is guarded ----
CREATE TABLE parts (part int, id int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED,
	PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 (sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, id int NOT NULL, gone int, body text, part int NOT NULL);
ALTER TABLE part_2 DROP gone;
CREATE INDEX ON parts USING neardup (sig);
CREATE CONSTRAINT TRIGGER anywhere AFTER INSERT OR UPDATE ON parts
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 1, words(1)), (2, 1, words(2));
INSERT INTO parts VALUES (2, 2, words(1));
INSERT INTO part_1 VALUES (1, 2, words(2));
UPDATE parts SET part = 2, id = 3 WHERE part = 1;
UPDATE parts SET part = 1, body = words(2) WHERE id = 3;
SELECT part, id FROM parts ORDER BY 1, 2;
ALTER TABLE parts DETACH PARTITION part_2;
INSERT INTO part_2 (part, id, body) VALUES (2, 4, words(2));
DROP TRIGGER anywhere ON parts;
CREATE CONSTRAINT TRIGGER here AFTER INSERT ON part_1
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 1, words(1));
INSERT INTO parts VALUES (1, 2, words(1));
DROP TABLE parts;

-- ---- Within tenants, and where a condition holds ----
CREATE TYPE fund_call AS ENUM ('spring', 'autumn');
CREATE DOMAIN tenant_name AS varchar(20);
CREATE TABLE calls (id int PRIMARY KEY, tenant tenant_name, "Call" fund_call, status char(9) DEFAULT 'submitted', body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON calls
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'within=tenant, "Call"');
INSERT INTO calls VALUES (1, 'a', 'spring', DEFAULT, words(1)), (2, 'b', 'spring', DEFAULT, words(1)), (3, 'a', 'autumn', DEFAULT, words(1));
CREATE INDEX calls_sig ON calls USING neardup (sig);
INSERT INTO calls VALUES (4, 'b', 'spring', DEFAULT, words(1));
INSERT INTO calls VALUES (4, 'b', 'autumn', DEFAULT, words(1));
-- A row that moves to another tenant is checked.
UPDATE calls SET status = 'draft' WHERE id = 4;
UPDATE calls SET tenant = 'a' WHERE id = 4;
UPDATE calls SET "Call" = 'spring' WHERE id = 4;
-- A NULL is equal to nothing.
INSERT INTO calls VALUES (5, NULL, 'spring', DEFAULT, words(1)), (6, NULL, 'spring', DEFAULT, words(1));
UPDATE calls SET tenant = 'a' WHERE id = 5;
SELECT id, tenant, "Call", status FROM calls ORDER BY id;
-- The index is used.
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'calls' \gset
INSERT INTO calls VALUES (7, 'a', 'spring', DEFAULT, words(7));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'calls';
ROLLBACK;
-- Without an index, rows of another shape and of another tenant do not matter.
DROP INDEX calls_sig;
ALTER TABLE calls DROP COLUMN sig, ADD COLUMN sig minhash;
UPDATE calls SET sig = to_minhash(body, 64) WHERE tenant = 'b';
INSERT INTO calls VALUES (8, 'a', 'spring', DEFAULT, NULL, to_minhash(words(8))), (9, 'a', 'spring', DEFAULT, NULL, to_minhash(words(9)));
INSERT INTO calls VALUES (10, 'a', 'spring', DEFAULT, NULL, to_minhash(words(8)));
DROP TRIGGER no_copies ON calls;
-- The condition of a partial index: drafts may be copies.
ALTER TABLE calls DROP COLUMN sig, ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;
TRUNCATE calls;
CREATE INDEX "Submitted" ON calls USING neardup (sig) WHERE status = 'submitted' OR status IS NULL;
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON calls
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'where="Submitted"', 'within=tenant');
INSERT INTO calls VALUES (1, 'a', 'spring', DEFAULT, words(1)), (2, 'a', 'spring', 'draft', words(1)), (3, 'a', 'spring', 'draft', words(1)), (4, 'b', 'spring', DEFAULT, words(1));
UPDATE calls SET status = 'submitted' WHERE id = 2;
UPDATE calls SET status = NULL WHERE id = 3;
UPDATE calls SET status = 'draft' WHERE id = 1;
UPDATE calls SET status = 'submitted' WHERE id = 2;
UPDATE calls SET status = NULL WHERE id = 2;
UPDATE calls SET status = 'submitted' WHERE id = 1;
SELECT id, status FROM calls ORDER BY id;
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'calls' \gset
INSERT INTO calls VALUES (7, 'a', 'spring', DEFAULT, words(7)), (8, 'a', 'spring', 'draft', words(7));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'calls';
ROLLBACK;
-- An index that has not all rows of the condition does not serve.
CREATE INDEX spring ON calls (id) WHERE status <> 'draft';
CREATE CONSTRAINT TRIGGER other AFTER INSERT ON calls FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'where=spring', 'warn');
INSERT INTO calls VALUES (9, 'c', 'spring', 'lost', words(1));
DROP TRIGGER other ON calls;
DROP INDEX "Submitted";
INSERT INTO calls VALUES (10, 'a', 'spring', DEFAULT, words(10));
DROP TABLE calls;
-- An index with keys serves, whichever column comes first; one in which the column is a key does not.
CREATE TABLE keyed (id int PRIMARY KEY, tenant bigint, h bigint, sig minhash);
CREATE CONSTRAINT TRIGGER h AFTER INSERT ON keyed FOR EACH ROW EXECUTE FUNCTION neardup_reject('h', '0.9', 'within=tenant');
CREATE CONSTRAINT TRIGGER sig AFTER INSERT ON keyed FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'within=tenant');
CREATE INDEX ON keyed USING neardup (tenant, sig);
CREATE INDEX ON keyed USING neardup (h bigint_key_ops, sig);
INSERT INTO keyed VALUES (1, 1, 5, to_minhash(words(1)));
CREATE INDEX ON keyed USING neardup (tenant bigint_key_ops, h);
INSERT INTO keyed VALUES (2, 2, 4, to_minhash(words(1))), (3, 1, -1, to_minhash(words(2)));
INSERT INTO keyed VALUES (4, 2, 5, to_minhash(words(4)));
INSERT INTO keyed VALUES (4, 2, -2, to_minhash(words(1)));
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'keyed' \gset
INSERT INTO keyed VALUES (4, 2, -2, to_minhash(words(4)));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'keyed';
ROLLBACK;
DROP TABLE keyed;
-- One transaction at a time for each tenant, not for all.
CREATE TABLE locked (id int, tenant int, sig minhash);
CREATE INDEX ON locked USING neardup (sig);
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT ON locked FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'within=tenant');
BEGIN;
INSERT INTO locked SELECT n, n / 2, to_minhash(words(n)) FROM generate_series(2, 5) n;
SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'pg_trigger'::regclass AND pid = pg_backend_pid();
ROLLBACK;
DROP TABLE locked;
-- Partitions have other column numbers.
CREATE TABLE halls (tenant int, open boolean, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) PARTITION BY LIST (tenant);
CREATE TABLE hall_1 PARTITION OF halls FOR VALUES IN (1, 2);
CREATE TABLE hall_3 (gone int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, body text, open boolean, tenant int);
ALTER TABLE hall_3 DROP gone;
ALTER TABLE halls ATTACH PARTITION hall_3 FOR VALUES IN (3, 4);
CREATE INDEX open_halls ON halls USING neardup (sig) WHERE open;
CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON halls
	FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'within=tenant', 'where=open_halls');
INSERT INTO halls VALUES (1, true, words(1)), (2, true, words(1)), (3, true, words(1)), (4, true, words(1)), (3, false, words(1));
INSERT INTO halls VALUES (3, true, words(1));
UPDATE hall_3 SET open = true;
UPDATE halls SET tenant = 1 WHERE tenant = 4;
DROP TABLE halls;
DROP DOMAIN tenant_name;
DROP TYPE fund_call;

-- ---- Privileges ----
CREATE ROLE regress_neardup_clerk;
CREATE ROLE regress_neardup_owner;
GRANT CREATE ON SCHEMA public TO regress_neardup_owner;
SET ROLE regress_neardup_owner;
CREATE TABLE letters (id int PRIMARY KEY, owner name DEFAULT current_user, body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE INDEX ON letters USING neardup (sig);
CREATE TABLE letters_log (row_key int, resembles int, noticed_by text);
CREATE CONSTRAINT TRIGGER a_logged AFTER INSERT ON letters FOR EACH ROW
	EXECUTE FUNCTION neardup_reject('sig', '0.9', 'log=letters_log');
INSERT INTO letters VALUES (1, DEFAULT, words(1));
GRANT INSERT ON letters TO regress_neardup_clerk;
SET ROLE regress_neardup_clerk;
-- The owner's rows are searched and the log is written, though the clerk lacks the privileges.
INSERT INTO letters VALUES (2, DEFAULT, words(1, 2));
SELECT * FROM letters_log;
RESET ROLE;
SELECT row_key, resembles, noticed_by = session_user AS by_me FROM letters_log;
CREATE CONSTRAINT TRIGGER b_refused AFTER INSERT ON letters FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
SET ROLE regress_neardup_clerk;
INSERT INTO letters VALUES (3, DEFAULT, words(1, 3));
RESET ROLE;
GRANT SELECT (id) ON letters TO regress_neardup_clerk;
SET ROLE regress_neardup_clerk;
INSERT INTO letters VALUES (3, DEFAULT, words(1, 2));
RESET ROLE;
ALTER TABLE letters ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON letters USING (owner = current_user);
SET ROLE regress_neardup_clerk;
INSERT INTO letters VALUES (3, DEFAULT, words(1, 2));
RESET ROLE;
-- A trigger cannot be used to write to another owner's table.
ALTER TABLE letters_log OWNER TO regress_neardup_clerk;
INSERT INTO letters VALUES (3, DEFAULT, words(1, 2));
DROP TABLE letters, letters_log;
REVOKE CREATE ON SCHEMA public FROM regress_neardup_owner;
DROP ROLE regress_neardup_clerk;
DROP ROLE regress_neardup_owner;

-- ---- A log whose own trigger writes back ----
CREATE TABLE notes (id serial PRIMARY KEY, row_key text, resembles text, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE INDEX ON notes USING neardup (sig);
CREATE TABLE notes_log (row_key int, resembles int, sig minhash DEFAULT to_minhash('a log'));
CREATE INDEX ON notes_log USING neardup (sig);
CREATE CONSTRAINT TRIGGER logged AFTER INSERT ON notes FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'log=notes_log');
CREATE CONSTRAINT TRIGGER back AFTER INSERT ON notes_log FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9', 'log=notes');
INSERT INTO notes (body) VALUES (words(1)), (words(1, 1));
SELECT row_key, resembles FROM notes_log ORDER BY 1;
SELECT id, row_key IS NULL AS own FROM notes ORDER BY 1;
DROP TABLE notes, notes_log;

-- ---- A key of type money has the same text in every locale ----
CREATE TABLE sums (amount money PRIMARY KEY, h bigint);
CREATE INDEX ON sums USING neardup (h);
CREATE TABLE sums_log (row_key text, resembles text);
CREATE CONSTRAINT TRIGGER logged AFTER INSERT ON sums FOR EACH ROW EXECUTE FUNCTION neardup_reject('h', '0.9', 'log=sums_log');
DO $$
BEGIN
	SET lc_monetary = 'de_DE.UTF-8';
EXCEPTION WHEN invalid_parameter_value THEN
	NULL; -- this machine does not have it
END $$;
INSERT INTO sums VALUES (1234567, 1), (0.5::numeric::money, 1);
SELECT * FROM sums_log ORDER BY row_key;
RESET lc_monetary;
DROP TABLE sums, sums_log;

-- ---- Dropped triggers leave no memory behind ----
CREATE FUNCTION come_and_go(times int) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. times LOOP
		CREATE TEMP TABLE gone (sig minhash);
		CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT ON gone FOR EACH ROW EXECUTE FUNCTION neardup_reject('sig', '0.9');
		INSERT INTO gone VALUES (to_minhash(words(1)));
		DROP TABLE gone;
	END LOOP;
	-- PostgreSQL 14 and later show this.
	IF to_regclass('pg_catalog.pg_backend_memory_contexts') IS NULL THEN
		RETURN 0;
	END IF;
	RETURN (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'neardup_reject rule');
END $$;
SET client_min_messages = error;
SELECT come_and_go(1) = come_and_go(9) AS as_many;
RESET client_min_messages;
DROP FUNCTION come_and_go;

DROP FUNCTION words, try;
DROP TABLE deferred, prints, prints_log, review_queue;
