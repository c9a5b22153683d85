-- neardup_guard(): guards, triggers that refuse, report, record or skip near-duplicates.
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
SELECT neardup_guard('proposals', 'sig', 0.9, name => 'no_copies');
SELECT guarded, name, rule, enabled FROM neardup_guards;
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'proposals'::regclass AND NOT indisprimary;

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
-- A row stored before is named rather than one of the same statement.
INSERT INTO proposals VALUES (20, 'd', words(1, 3)), (21, 'd', words(1, 3));
-- Of several similar rows the most similar is named.
INSERT INTO proposals VALUES (4, 'e', words(4) || words(5)), (5, 'f', words(4));
ALTER TABLE proposals DISABLE TRIGGER no_copies;
INSERT INTO proposals VALUES (6, 'g', words(4, 6));
ALTER TABLE proposals ENABLE TRIGGER no_copies;
INSERT INTO proposals VALUES (7, 'h', words(4, 6));
DELETE FROM proposals WHERE id >= 4;
-- Empty texts and NULLs are similar to nothing.
INSERT INTO proposals VALUES (4, 'i', ''), (5, 'j', ''), (6, 'k', NULL), (7, 'l', NULL);

-- ---- Updates, upserts, MERGE, COPY ----
UPDATE proposals SET title = upper(title);
UPDATE proposals SET body = body || ' and more' WHERE id = 1;
UPDATE proposals SET body = words(1, 3) WHERE id = 2;
UPDATE proposals SET id = id + 100 WHERE id = 2;
INSERT INTO proposals VALUES (1, 'm', words(1, 4)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO proposals VALUES (1, 'n', words(2, 4)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO proposals VALUES (102, 'o', words(1, 4)) ON CONFLICT DO NOTHING;
INSERT INTO proposals VALUES (103, 'o', words(1, 4)) ON CONFLICT DO NOTHING;
DO $$
BEGIN
	-- PostgreSQL 15 and later have MERGE.
	IF current_setting('server_version_num')::int >= 150000 THEN
		EXECUTE 'MERGE INTO proposals USING (VALUES (1, words(1, 5)), (104, words(104))) AS new (id, body) ON proposals.id = new.id
			WHEN MATCHED THEN UPDATE SET body = new.body WHEN NOT MATCHED THEN INSERT VALUES (new.id, ''o'', new.body)';
		DELETE FROM proposals WHERE id = 104;
		EXECUTE 'MERGE INTO proposals USING (VALUES (105, words(1, 4))) AS new (id, body) ON proposals.id = new.id
			WHEN NOT MATCHED THEN INSERT VALUES (new.id, ''o'', new.body)';
	END IF;
	RAISE EXCEPTION USING ERRCODE = 'exclusion_violation';
EXCEPTION WHEN exclusion_violation THEN
	RAISE NOTICE 'refused';
END $$;
COPY proposals (id, title, body) FROM stdin;
8	p	one two three four five six seven eight
9	q	One, two, three, four, five, six, seven, eight!
\.
WITH gone AS (DELETE FROM proposals WHERE id = 1 RETURNING body)
INSERT INTO proposals SELECT 1, 'a', body FROM gone;
SELECT id, title FROM proposals ORDER BY id;
-- A row that was similar to another before the guard existed may change other columns.
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
-- A row of a savepoint that was rolled back does not count; one of a savepoint that was released does.
BEGIN;
SAVEPOINT a;
INSERT INTO proposals VALUES (302, 'u', words(32));
ROLLBACK TO a;
INSERT INTO proposals VALUES (303, 'u', words(32));
SAVEPOINT b;
UPDATE proposals SET body = words(33) WHERE id = 303;
RELEASE b;
INSERT INTO proposals VALUES (304, 'u', words(32));
INSERT INTO proposals VALUES (305, 'u', words(33));
ROLLBACK;
-- A snapshot that does not show a row does not hide it from the guard.
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) > 0 FROM proposals;
INSERT INTO proposals VALUES (302, 'v', words(1, 5));
ROLLBACK;
-- The index is used however small the table is, and nothing is locked.
BEGIN;
SELECT seq_scan, idx_scan FROM pg_stat_xact_user_tables WHERE relname = 'proposals' \gset
INSERT INTO proposals VALUES (302, 'x', words(31));
SELECT seq_scan - :seq_scan AS seq_scans, idx_scan - :idx_scan AS index_scans FROM pg_stat_xact_user_tables WHERE relname = 'proposals';
SELECT locktype, mode FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype IN ('object', 'advisory') OR relation IN (SELECT indexrelid FROM pg_index WHERE indrelid = 'proposals'::regclass
	UNION ALL SELECT 'proposals'::regclass) AND mode NOT IN ('AccessShareLock', 'RowExclusiveLock'));
ROLLBACK;

-- ---- Options ----
-- A second call keeps what it does not change; '' takes an option away; the name that is derived serves, too.
SELECT neardup_guard('proposals', name => 'no_copies', threshold => 0.8, show => 'title');
SELECT neardup_guard('proposals', name => 'no_copies', condition => 'id > 0');
SELECT neardup_guard('proposals', name => 'no_copies', show => '');
SELECT rule FROM neardup_guards;
SELECT neardup_guard('proposals', name => 'no_copies', condition => '', threshold => 0.9);
SELECT neardup_guard('proposals', 'sig', 0.5, 'warn');
SELECT neardup_guard('proposals', 'sig', 0.3, 'warn');
SELECT name, rule FROM neardup_guards ORDER BY 1;
INSERT INTO proposals VALUES (400, 'u', words(1) || ' ' || words(40));
-- One guard by its name, all of a signature, all of a table.
SELECT neardup_guard('proposals', name => 'proposals_sig_warn', action => 'none');
SELECT name FROM neardup_guards;
SELECT neardup_guard('proposals', 'body', action => 'none');
SELECT neardup_guard('proposals', 'sig', action => 'none');
SELECT name FROM neardup_guards;
SELECT neardup_guard('proposals', 'to_minhash(body)', 0.9), neardup_guard('proposals', 'sig', 0.9, 'skip', name => 'more');
SELECT name, rule FROM neardup_guards ORDER BY 1;
SELECT neardup_guard('proposals', 'to_minhash(body)', action => 'none');
SELECT name FROM neardup_guards;
SELECT neardup_guard('proposals', action => 'none');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'proposals'::regclass;
-- A guard whose name is that of another one with an end stays, or is refused.
SELECT neardup_guard('proposals', 'sig', 0.9, name => 'a'), neardup_guard('proposals', 'sig', 0.8, 'warn', name => 'a_lock'), neardup_guard('proposals', 'sig', 0.8, 'skip', name => 'a_before');
SELECT neardup_guard('proposals', 'sig', 0.8, 'warn', name => 'a_after');
SELECT neardup_guard('proposals', name => 'a', threshold => 0.7), neardup_guard('proposals', name => 'a', action => 'none');
SELECT name, rule FROM neardup_guards ORDER BY 1;
-- A trigger of another hand is no hindrance.
CREATE TRIGGER by_hand AFTER INSERT ON proposals FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('threshold=0.9');
SELECT neardup_guard('proposals', 'sig', action => 'none');
SELECT name, rule FROM neardup_guards ORDER BY 1;
SELECT neardup_guard('proposals', action => 'none');
DELETE FROM proposals WHERE id > 2;
-- ---- Conditions, with a full and with a partial index ----
CREATE TYPE fund_call AS ENUM ('spring', 'autumn');
CREATE DOMAIN tenant_name AS varchar(20);
CREATE TABLE calls (id int PRIMARY KEY, tenant tenant_name, "Call" fund_call, status char(9) DEFAULT 'submitted', body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE INDEX full_index ON calls USING neardup (sig);
SELECT neardup_guard('calls', 'sig', 0.9, within => 'tenant', condition => 'status = ''submitted'' OR status IS NULL', name => 'no_copies');
SELECT rule FROM neardup_guards;
CREATE FUNCTION write_calls() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE statement text;
BEGIN
	TRUNCATE calls;
	INSERT INTO calls VALUES (1, 'a', 'spring', DEFAULT, words(1)), (2, 'a', 'spring', 'draft', words(1)), (3, 'a', 'spring', 'draft', words(1)), (4, 'b', 'spring', DEFAULT, words(1)),
		(5, NULL, 'spring', DEFAULT, words(1)), (6, NULL, 'spring', DEFAULT, words(1));
	FOREACH statement IN ARRAY ARRAY['UPDATE calls SET status = ''submitted'' WHERE id = 2', 'UPDATE calls SET status = NULL WHERE id = 3',
		'UPDATE calls SET status = ''draft'' WHERE id = 1', 'UPDATE calls SET status = ''submitted'' WHERE id = 2', 'UPDATE calls SET status = NULL WHERE id = 2',
		'UPDATE calls SET status = ''submitted'' WHERE id = 1', 'UPDATE calls SET tenant = ''a'' WHERE id = 5', 'UPDATE calls SET tenant = ''c'' WHERE id = 5',
		'UPDATE calls SET tenant = ''c'' WHERE id = 6', 'INSERT INTO calls VALUES (7, ''b'', ''autumn'', NULL, words(1, 7))'] LOOP
		BEGIN
			EXECUTE statement;
			RETURN NEXT 'done: ' || statement;
		EXCEPTION WHEN exclusion_violation THEN
			RETURN NEXT 'refused: ' || statement;
		END;
	END LOOP;
END $$;
SELECT write_calls();
DROP INDEX full_index;
-- Without an index nobody can write rows.
INSERT INTO calls VALUES (10, 'a', 'spring', DEFAULT, words(10));
UPDATE calls SET id = id;
-- An index that has not all rows of the condition does not serve, one with more rows does.
CREATE INDEX spring ON calls USING neardup (tenant, sig) WHERE "Call" = 'spring' AND (status = 'submitted' OR status IS NULL);
INSERT INTO calls VALUES (10, 'a', 'spring', DEFAULT, words(10));
CREATE INDEX wider ON calls USING neardup (tenant, sig) WHERE status = 'submitted' OR status = 'lost' OR status IS NULL;
INSERT INTO calls VALUES (10, 'a', 'spring', DEFAULT, words(10));
DROP INDEX wider;
CREATE INDEX submitted ON calls USING neardup (sig, tenant) WHERE status = 'submitted' OR status IS NULL;
SELECT write_calls();
-- The guard itself makes the partial index.
DROP INDEX spring, submitted;
SELECT neardup_guard('calls', name => 'no_copies', within => 'tenant, "Call"');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'calls'::regclass AND NOT indisprimary;
SELECT write_calls();
-- The condition may change.
SELECT neardup_guard('calls', name => 'no_copies', condition => '"Call" <> ''autumn'''), neardup_guard('calls', name => 'no_copies', within => '');
INSERT INTO calls VALUES (11, 'x', 'autumn', DEFAULT, words(11)), (12, 'x', 'autumn', DEFAULT, words(11));
UPDATE calls SET "Call" = 'spring' WHERE id > 10;
UPDATE calls SET "Call" = 'spring' WHERE id = 12;
DROP FUNCTION write_calls;
DROP TABLE calls;
DROP DOMAIN tenant_name;
DROP TYPE fund_call;

-- ---- Within an interval ----
CREATE TABLE sent (id int PRIMARY KEY, tenant int, at timestamptz, local timestamp, day date, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT neardup_guard('sent', 'sig', 0.9, within => 'tenant, at 10 minutes', name => 'no_copies');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'sent'::regclass AND NOT indisprimary;
INSERT INTO sent VALUES (1, 1, '2026-01-01 10:00 UTC', '2026-01-01 10:00', '2026-01-01', words(1));
INSERT INTO sent VALUES (2, 1, '2026-01-01 10:10 UTC', NULL, NULL, words(1));
INSERT INTO sent VALUES (2, 1, '2026-01-01 09:50 UTC', NULL, NULL, words(1));
INSERT INTO sent VALUES (2, 1, '2026-01-01 10:10:00.000001 UTC', NULL, NULL, words(1));
INSERT INTO sent VALUES (3, 1, '2026-01-01 09:49:59 UTC', NULL, NULL, words(1));
INSERT INTO sent VALUES (4, 2, '2026-01-01 10:00 UTC', NULL, NULL, words(1)), (5, 1, NULL, NULL, NULL, words(1));
UPDATE sent SET at = '2026-01-01 09:55 UTC' WHERE id = 3;
INSERT INTO sent VALUES (6, 3, 'infinity', NULL, NULL, words(1)), (7, 3, '-infinity', NULL, NULL, words(1));
INSERT INTO sent VALUES (9, 3, 'infinity', NULL, NULL, words(1));
INSERT INTO sent VALUES (9, 3, '-infinity', NULL, NULL, words(1));
SELECT neardup_guard('sent', name => 'no_copies', within => 'local 1 day');
INSERT INTO sent VALUES (10, 1, NULL, '2026-01-02 10:00', NULL, words(1));
INSERT INTO sent VALUES (10, 1, NULL, '2026-01-02 10:01', NULL, words(1));
SELECT neardup_guard('sent', name => 'no_copies', within => 'day 1 month, tenant');
INSERT INTO sent VALUES (11, 1, NULL, NULL, '2026-02-01', words(1));
INSERT INTO sent VALUES (11, 1, NULL, NULL, '2026-02-02', words(1));
SELECT neardup_guard('sent', name => 'no_copies', within => 'tenant 1 day');
SELECT neardup_guard('sent', name => 'no_copies', within => 'at soon');
SELECT neardup_guard('sent', name => 'no_copies', within => 'at -1 day');
DROP TABLE sent;

-- ---- Against another table ----
CREATE TABLE archive (no int, body text, year int, sig minhash, PRIMARY KEY (year, no)) PARTITION BY LIST (year);
CREATE TABLE archive_1 PARTITION OF archive FOR VALUES IN (2024);
CREATE TABLE archive_2 (sig minhash, year int NOT NULL, no int NOT NULL, body text);
ALTER TABLE archive ATTACH PARTITION archive_2 FOR VALUES IN (2025);
SELECT neardup_guard('proposals', 'sig', 0.9, against => 'archive', name => 'no_copies');
CREATE INDEX archive_sig ON archive USING neardup (sig);
INSERT INTO archive SELECT n, words(100 + n), 2024 + n % 2, to_minhash(words(100 + n)) FROM generate_series(1, 4) n;
SELECT neardup_guard('proposals', 'sig', 0.9, against => 'archive', name => 'no_copies');
INSERT INTO proposals VALUES (3, 'c', words(102, 7));
INSERT INTO proposals VALUES (3, 'c', words(103, 7));
INSERT INTO proposals VALUES (3, 'c', words(1, 7));
INSERT INTO proposals VALUES (3, 'c', words(3));
-- Rows of the other table are not checked themselves.
INSERT INTO archive VALUES (5, 'x', 2025, to_minhash(words(3)));
UPDATE proposals SET title = 'd' WHERE id = 3;
INSERT INTO proposals VALUES (4, 'd', words(3));
DELETE FROM proposals WHERE id = 3;
DROP INDEX archive_sig;
INSERT INTO proposals VALUES (3, 'c', words(6));
CREATE INDEX ON archive_1 USING neardup (sig);
INSERT INTO proposals VALUES (3, 'c', words(6));
CREATE INDEX ON archive_2 USING neardup (sig);
INSERT INTO proposals VALUES (3, 'c', words(6));
-- Each is named by its own key; both may be one table.
SELECT neardup_guard('proposals', name => 'no_copies', show => 'title');
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text;
BEGIN
	EXECUTE statement;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN CASE WHEN SQLSTATE <> '23P01' THEN SQLSTATE || ' ' || SQLERRM || ' ' ELSE '' END || detail;
END $$;
SELECT refused('INSERT INTO proposals VALUES (4, ''e'', words(103, 7))');
SELECT neardup_guard('proposals', name => 'no_copies', against => 'proposals');
SELECT refused('INSERT INTO proposals VALUES (4, ''e'', words(1, 7))');
-- Columns of other types cannot be compared.
CREATE TABLE other (id int PRIMARY KEY, title int, body varchar, sig minhash);
CREATE INDEX ON other USING neardup (sig);
SELECT neardup_guard('proposals', name => 'no_copies', against => 'other', within => 'title');
SELECT neardup_guard('proposals', name => 'no_copies', against => 'other', within => 'body');
ALTER TABLE other ALTER body TYPE bytea USING NULL;
INSERT INTO proposals VALUES (4, 'e', words(1, 7));
ALTER TABLE other DROP sig, ADD sig shingles;
CREATE INDEX ON other USING neardup (sig);
SELECT neardup_guard('proposals', name => 'no_copies', against => 'other', within => '');
DROP TABLE other;
DROP TABLE archive;
SELECT neardup_guard('proposals', name => 'no_copies', against => 'archive');
SELECT neardup_guard('proposals', name => 'no_copies', against => '', within => '');

-- ---- What is shown ----
SELECT refused('INSERT INTO proposals VALUES (4, ''a "quoted" title'', words(1, 7))');
SELECT neardup_guard('proposals', name => 'no_copies', show => 'title, id, title');
SELECT refused('INSERT INTO proposals VALUES (4, NULL, words(1, 7))');
SELECT refused('INSERT INTO proposals VALUES (4, ''d'', words(44)), (5, ''e'', words(44))')::jsonb @> '{"same_statement": true, "threshold": 0.9, "guard": "no_copies"}';
SELECT neardup_guard('proposals', name => 'no_copies', show => 'no');
SELECT neardup_guard('proposals', action => 'none');

-- ---- Parts of sets ----
CREATE TABLE sets (id int PRIMARY KEY, tenant int, body text, set shingles GENERATED ALWAYS AS (to_shingles(body)) STORED);
SELECT neardup_guard('sets', 'set', 0.9, within => 'tenant', name => 'no_copies');
INSERT INTO sets VALUES (1, 1, words(1)), (2, 1, words(2)), (3, 1, NULL), (4, 1, ''), (5, 1, '');
INSERT INTO sets VALUES (6, 1, words(1, 7));
INSERT INTO sets VALUES (6, 2, words(1, 7));
UPDATE sets SET body = words(2, 1) WHERE id = 1;
UPDATE sets SET body = words(2, 1) WHERE id = 2;
-- A row that is contained in another, one that contains another, and both.
CREATE FUNCTION try_measure(measure text) RETURNS TABLE (body text, outcome text) LANGUAGE plpgsql AS $$
DECLARE detail text;
BEGIN
	PERFORM neardup_guard('sets', name => 'no_copies', measure => measure, within => '');
	FOR body, outcome IN VALUES ('part', left(words(1), 500)), ('whole', words(1) || ' ' || words(9) || ' ' || words(8)), ('equal', words(1)), ('other', words(7)) LOOP
		BEGIN
			INSERT INTO sets VALUES (7, 7, outcome);
			outcome := 'done';
			DELETE FROM sets WHERE id = 7;
		EXCEPTION WHEN exclusion_violation THEN
			GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
			outcome := detail;
		END;
		RETURN NEXT;
	END LOOP;
END $$;
DELETE FROM sets WHERE id > 1;
SELECT * FROM try_measure('similarity');
SELECT * FROM try_measure('contained');
SELECT * FROM try_measure('contains');
SELECT * FROM try_measure('containment');
SELECT neardup_guard('sets', name => 'no_copies', show => 'tenant');
SELECT * FROM try_measure('containment');
SELECT neardup_guard('sets', name => 'no_copies', measure => 'jaccard');
SELECT neardup_guard('proposals', 'sig', 0.9, measure => 'contained');
DROP FUNCTION try_measure;
DROP TABLE sets;
-- What came in unchecked: 1 and 3 contain 2, and 4, which came before, is contained in 5.
CREATE TABLE sets (id int PRIMARY KEY, set shingles);
SELECT neardup_guard('sets', 'set', 0.9, name => 'no_copies');
SET session_replication_role = replica;
INSERT INTO sets SELECT id, to_shingles(e::bigint[]) FROM (VALUES (1, '{1,2,3,4}'), (2, '{1,2,3}'), (3, '{1,2,3,4}'), (4, '{5,6}'), (5, '{5,6,7}')) v (id, e);
RESET session_replication_role;
CREATE FUNCTION list_violations(measure text) RETURNS text LANGUAGE sql AS $$
	SELECT neardup_guard('sets', name => 'no_copies', measure => measure);
	SELECT string_agg(row_key || ' to ' || resembles, ', ' ORDER BY row_key, resembles) FROM neardup_guard_violations('sets');
$$;
SELECT measure, list_violations(measure) FROM unnest('{similarity,contained,contains,containment}'::text[]) measure;
DROP FUNCTION list_violations;
DROP TABLE sets;

-- ---- Rows that are compared within an expression ----
CREATE TABLE spaces (id int PRIMARY KEY, ws int, "Lang" text, at timestamptz DEFAULT '2026-01-01', body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT neardup_guard('spaces', 'sig', 0.9, within => 'coalesce(ws, -1), lower("Lang" || '',''), at 10 minutes', name => 'no_copies');
SELECT rule FROM neardup_guards WHERE name = 'no_copies';
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'spaces'::regclass AND NOT indisprimary;
INSERT INTO spaces (id, ws, "Lang", body) VALUES (1, NULL, 'En', words(1)), (2, 1, 'En', words(1)), (3, NULL, 'Fr', words(1)), (4, 1, NULL, words(1));
INSERT INTO spaces (id, ws, "Lang", body) VALUES (5, NULL, 'eN', words(1, 1));
INSERT INTO spaces (id, ws, "Lang", body) VALUES (5, 1, 'EN', words(1, 1));
INSERT INTO spaces (id, ws, "Lang", at, body) VALUES (5, 1, 'EN', '2026-01-02', words(1, 1));
UPDATE spaces SET ws = NULL WHERE id = 2;
UPDATE spaces SET "Lang" = 'EN' WHERE id = 1;
-- A row that may wait is compared by the same values as one before it is stored.
SELECT neardup_guard('spaces', name => 'no_copies', action => 'skip');
INSERT INTO spaces (id, ws, "Lang", body) VALUES (6, 1, 'EN', words(1, 1)), (7, 2, 'EN', words(1, 1)) RETURNING id;
SELECT * FROM neardup_guard_violations('spaces');
SELECT neardup_guard('spaces', 'sig', 0.9, within => 'random()');
SELECT neardup_guard('spaces', 'sig', 0.9, within => 'coalesce(ws, -1) 10 minutes');
SELECT neardup_guard('spaces', 'sig', 0.9, within => 'coalesce(wz, -1)');
DROP TABLE spaces;

-- ---- Equal or unknown ----
CREATE TABLE items (id int PRIMARY KEY, shop int, gtin text, size int, title text, sig minhash GENERATED ALWAYS AS (to_minhash(title)) STORED);
SELECT neardup_guard('items', 'sig', 0.9, within => 'shop, gtin', unknown => 'gtin', name => 'no_copies');
SELECT rule FROM neardup_guards WHERE name = 'no_copies';
INSERT INTO items (id, shop, gtin, title) VALUES (1, 1, '4001', words(1)), (2, 1, '4002', words(1)), (3, NULL, NULL, words(1)), (4, 2, NULL, words(1)), (5, 1, NULL, words(2));
INSERT INTO items (id, shop, gtin, title) VALUES (6, 1, NULL, words(1, 1));
INSERT INTO items (id, shop, gtin, title) VALUES (6, 1, '4002', words(1, 1));
INSERT INTO items (id, shop, gtin, title) VALUES (6, 1, '4003', words(2, 1));
INSERT INTO items (id, shop, gtin, title) VALUES (6, 1, '4003', words(1, 1));
-- A key that becomes known or unknown is a change that counts.
UPDATE items SET gtin = NULL WHERE id = 6;
UPDATE items SET gtin = '4002' WHERE id = 6;
UPDATE items SET gtin = '4004', title = words(2, 1) WHERE id = 5;
UPDATE items SET gtin = '4004', title = words(1, 2) WHERE id = 5;
SELECT * FROM neardup_guard_violations('items');
SELECT neardup_guard('items', name => 'no_copies', unknown => 'size');
SELECT neardup_guard('items', name => 'no_copies', unknown => '');
INSERT INTO items (id, shop, gtin, title) VALUES (7, 1, NULL, words(1, 3));
SELECT neardup_guard('items', name => 'no_copies', unknown => 'gtin');
SELECT problem, row_key, resembles FROM neardup_guard_violations('items') ORDER BY 2, 3;
-- Two such columns, beside the definition: what was skipped is near a row that is there.
TRUNCATE items;
SELECT neardup_guard('items', name => 'no_copies', action => 'skip', within => 'gtin, size, shop', unknown => 'size, gtin');
CREATE TABLE offered AS SELECT n AS id, n % 2 AS shop, 'g' || nullif(n * 7 % 5, 0) AS gtin, nullif(n * 3 % 4, 0) AS size, words(n % 3, n % 7 * 20) AS title FROM generate_series(1, 300) n;
INSERT INTO items (id, shop, gtin, size, title) TABLE offered;
CREATE FUNCTION same_item(items, items) RETURNS boolean LANGUAGE sql AS
	'SELECT is_similar($1.sig, $2.sig, 0.9) AND $1.shop = $2.shop AND coalesce($1.gtin = $2.gtin, true) AND coalesce($1.size = $2.size, true)';
SELECT count(*) AS items, (SELECT count(*) FROM items a, items b WHERE a.id < b.id AND same_item(a, b)) AS copies,
	(SELECT count(*) FROM (SELECT o.id, shop, gtin, size, title, to_minhash(title) AS sig FROM offered o) x WHERE NOT EXISTS (SELECT FROM items i WHERE same_item(i, x::text::items))) AS lost
FROM items;
SELECT * FROM neardup_guard_violations('items');
DROP TABLE items, offered CASCADE;

-- ---- What is let in all the same ----
CREATE TABLE "Tips" (id int PRIMARY KEY, "Confirmed" boolean, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE TABLE "Verdicts" (a int, b int, same boolean, PRIMARY KEY (a, b));
SELECT neardup_guard('"Tips"', 'sig', 0.9, unless => '"Confirmed"', name => 'no_copies');
INSERT INTO "Tips" VALUES (1, NULL, words(1));
INSERT INTO "Tips" VALUES (2, true, words(1, 2)), (3, false, words(3));
INSERT INTO "Tips" VALUES (4, false, words(1, 4));
INSERT INTO "Tips" VALUES (4, NULL, words(1, 4));
INSERT INTO "Tips" VALUES (4, true, words(1, 4));
-- What was let in must stand its comparison when it is not confirmed any more.
UPDATE "Tips" SET body = body || '.' WHERE id = 4;
UPDATE "Tips" SET "Confirmed" = false WHERE id = 4;
UPDATE "Tips" SET "Confirmed" = true WHERE id = 3;
-- A pair that people found different is not compared, in either order.
SELECT neardup_guard('"Tips"', name => 'no_copies', unless => '"Confirmed"', verdicts => '"Verdicts"');
SELECT name, rule FROM neardup_guards ORDER BY 1;
INSERT INTO "Verdicts" VALUES (5, 1, false), (2, 5, false), (5, 4, NULL), (6, 7, true);
INSERT INTO "Tips" VALUES (5, false, words(1, 5));
UPDATE "Verdicts" SET same = true WHERE b = 4;
INSERT INTO "Tips" VALUES (5, false, words(1, 5));
UPDATE "Verdicts" SET same = false WHERE b = 4;
INSERT INTO "Tips" VALUES (5, false, words(1, 5));
INSERT INTO "Tips" VALUES (6, false, words(1, 6));
SELECT neardup_guard('"Tips"', name => 'no_copies', unless => '', verdicts => '"Verdicts"');
INSERT INTO "Tips" VALUES (6, true, words(1, 6));
DROP TABLE "Verdicts";
INSERT INTO "Tips" VALUES (6, true, words(6, 6));
CREATE TABLE "Verdicts" (a bigint, b int, PRIMARY KEY (a, b));
INSERT INTO "Tips" VALUES (6, true, words(6, 6));
INSERT INTO "Tips" VALUES (6, true, words(1, 6));
ALTER TABLE "Verdicts" ADD same boolean;
INSERT INTO "Verdicts" SELECT 7, id, false FROM "Tips";
INSERT INTO "Tips" VALUES (7, true, words(1, 6));
INSERT INTO "Tips" VALUES (8, true, words(1, 8));
DROP TABLE "Tips", "Verdicts";
-- Verdicts of a table whose key has other columns of within and of partitions beside.
CREATE TABLE tips (tenant text, id text, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, PRIMARY KEY (tenant, id));
CREATE TABLE verdicts (a text, b text, same boolean);
SELECT neardup_guard('tips', 'sig', 0.9, verdicts => 'verdicts', name => 'no_copies');
SELECT neardup_guard('tips', 'sig', 0.9, verdicts => 'verdicts', name => 'no_copies', within => 'tenant');
INSERT INTO verdicts VALUES ('y', 'x', false);
INSERT INTO tips VALUES ('t', 'x', words(1)), ('t', 'y', words(1));
INSERT INTO tips VALUES ('t', 'z', words(1));
-- A verdict does not go with a row to another key.
UPDATE tips SET id = 'z' WHERE id = 'y';
-- A row without a key, which comes before the constraint is checked, has no verdicts.
SELECT neardup_guard('tips', name => 'no_copies', action => 'skip');
INSERT INTO tips VALUES ('t', NULL, words(1)), ('t', 'y', words(1)), ('t', NULL, words(2));
SELECT neardup_guard('tips', 'sig', 0.9, unless => 'nowhere');
SELECT neardup_guard('tips', 'sig', 0.9, unless => 'body');
SELECT neardup_guard('tips', 'sig', 0.9, verdicts => 'nowhere', within => 'tenant');
SELECT neardup_guard('tips', 'sig', 0.9, verdicts => 'proposals', within => 'tenant');
DROP TABLE tips, verdicts;
-- Whatever the types of verdicts are: they name keys by the equality of the key, and what is no key names none.
CREATE TABLE tips (id int PRIMARY KEY, h bigint);
CREATE INDEX ON tips USING neardup (h);
CREATE TABLE verdicts (a bigint, b text, same boolean, PRIMARY KEY (a, b));
INSERT INTO verdicts VALUES (5000000000, 'x', false), (1, 'one', false), (5000000001, '1', false), (3, ' 01', false);
SELECT neardup_guard('tips', 'h', 0.9, verdicts => 'verdicts', name => 'no_copies');
INSERT INTO tips VALUES (1, 0);
INSERT INTO tips VALUES (2, 1);
INSERT INTO tips VALUES (3, 1);
DROP TABLE tips, verdicts;
CREATE TABLE tips (id numeric PRIMARY KEY, h bigint, same_as numeric);
CREATE INDEX ON tips USING neardup (h);
CREATE TABLE verdicts (a numeric, b numeric, same boolean, PRIMARY KEY (a, b));
INSERT INTO verdicts VALUES (1.00, 2.0, false), (3.0, 2.00, true);
SELECT neardup_guard('tips', 'h', 0.9, 'group', group_column => 'same_as', verdicts => 'verdicts', name => 'no_copies');
INSERT INTO tips VALUES (1, 0), (2, 1), (3, -1);
SELECT id, same_as FROM tips ORDER BY id;
DROP TABLE tips, verdicts;

-- ---- Skipping ----
CREATE TABLE feed (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT neardup_guard('feed', 'sig', 0.9, 'skip', name => 'near');
INSERT INTO feed VALUES (1, words(1)), (2, words(1, 2)), (3, words(3));
INSERT INTO feed SELECT 10 + n, words(n % 7) FROM generate_series(1, 20) n;
COPY feed (id, body) FROM stdin;
40	one two three four five six seven eight
41	One, two, three, four, five, six, seven, eight!
42	another text that is like no other one
43	!
44	\N
\.
WITH given AS (INSERT INTO feed VALUES (50, words(50)), (51, words(50, 1)) RETURNING id)
SELECT array_agg(id) FROM given;
SELECT array_agg(id ORDER BY id) FROM feed;
-- A row is let in that is similar to one that was skipped, but to none that was let in.
INSERT INTO feed VALUES (60, 'a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12'), (61, 'b0 b1 b2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12'), (62, 'b0 b1 b2 a3 a4 a5 a6 a7 a8 a9 b3 b4 b5');
SELECT neardup_guard('feed', name => 'near', threshold => 0.4);
DELETE FROM feed WHERE id BETWEEN 60 AND 69;
INSERT INTO feed VALUES (60, 'a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12'), (61, 'b0 b1 b2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12'), (62, 'b0 b1 b2 a3 a4 a5 a6 a7 a8 a9 b3 b4 b5');
SELECT id FROM feed WHERE id >= 60;
SELECT neardup_guard('feed', name => 'near', threshold => 0.9);
-- ON CONFLICT: the row is skipped before a conflict is looked for.
INSERT INTO feed VALUES (1, words(1, 9)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO feed VALUES (1, words(70)) ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body;
INSERT INTO feed VALUES (3, words(70, 9)), (63, words(71)) ON CONFLICT DO NOTHING;
SELECT id, right(body, 20) FROM feed WHERE id IN (1, 3, 63);
-- An update is refused, as there is no row to skip.
UPDATE feed SET body = words(71, 1) WHERE id = 1;
-- A guard that is renamed remains one.
ALTER TRIGGER near ON feed RENAME TO nearly;
INSERT INTO feed VALUES (80, words(80)), (81, words(80, 1));
SELECT neardup_guard('feed', name => 'nearly', threshold => 0.8);
INSERT INTO feed VALUES (82, words(80, 2)), (83, words(83)) RETURNING id;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'feed'::regclass ORDER BY 1;
ALTER TRIGGER nearly_before ON feed RENAME TO alpha;
INSERT INTO feed VALUES (84, words(80, 4));
SELECT neardup_guard('feed', name => 'nearly', action => 'warn');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'feed'::regclass ORDER BY 1;
INSERT INTO feed VALUES (84, words(80, 4));
DELETE FROM feed WHERE id >= 80;
-- Two guards with the same arguments keep their own helpers.
SELECT neardup_guard('feed', 'sig', 0.9, 'skip', name => 'one'), neardup_guard('feed', 'sig', 0.9, 'skip', name => 'two');
SELECT neardup_guard('feed', name => 'one', action => 'none');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'feed'::regclass ORDER BY 1;
SELECT neardup_guard('feed', name => 'two', action => 'none');
-- A trigger of another function is not replaced.
SELECT neardup_guard('feed', name => 'nearly', action => 'none');
CREATE TRIGGER near BEFORE UPDATE ON feed FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT neardup_guard('feed', 'sig', 0.9, 'skip', name => 'near');
DROP TRIGGER near ON feed;
SELECT neardup_guard('feed', 'sig', 0.9, 'skip', name => 'near');
-- Rows that are not compared are not skipped.
SELECT neardup_guard('feed', name => 'near', condition => 'id < 100');
INSERT INTO feed VALUES (100, words(3)), (101, words(3)), (99, words(3));
SELECT id FROM feed WHERE id > 90;
SELECT neardup_guard('feed', name => 'near', action => 'none');
SELECT tgname FROM pg_trigger WHERE tgrelid = 'feed'::regclass;
DROP TABLE feed;

-- ---- Recording ----
CREATE TABLE review_queue (row_key int, resembles int, similarity float8, noticed_at timestamptz, noticed_by name, in_table regclass, decision text DEFAULT 'open', UNIQUE (row_key, resembles));
SELECT neardup_guard('proposals', 'sig', 0.3, 'log', name => 'told');
SELECT neardup_guard('proposals', 'sig', 0.3, 'log', log_table => 'proposals', name => 'told');
SELECT neardup_guard('proposals', 'sig', 0.3, 'log', log_table => 'review_queue', name => 'told');
SELECT rule FROM neardup_guards;
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
-- With another table, another condition and skipped verdicts.
CREATE TABLE verdicts (a int, b int, same boolean);
INSERT INTO verdicts SELECT 403, id, false FROM proposals WHERE id <> 402;
SELECT neardup_guard('proposals', name => 'told', verdicts => 'verdicts');
INSERT INTO proposals VALUES (403, 'u', words(1));
SELECT row_key, resembles FROM review_queue WHERE row_key = 403;
-- What a guard is to let in is no violation.
SELECT neardup_guard_violations('proposals');
SELECT neardup_guard('proposals', name => 'told', action => 'warn', log_table => '');
SELECT neardup_guard_violations('proposals');
SELECT neardup_guard('proposals', name => 'told', action => 'reject');
SELECT count(*) > 0 AS violations FROM neardup_guard_violations('proposals');
SELECT neardup_guard('proposals', name => 'told', action => 'none');
DELETE FROM proposals WHERE id >= 400;
DROP TABLE verdicts, review_queue;

-- ---- Keys in a log ----
CREATE TABLE prints (a int, b text, f simhash, h bigint, v bit(64), PRIMARY KEY (a, b));
CREATE TABLE prints_log (row_key text, resembles char(12), similarity numeric(4, 3));
SELECT neardup_guard('prints', 'f', 0.9, 'warn', name => 'f'), neardup_guard('prints', 'h', 0.9, 'warn', name => 'h'), neardup_guard('prints', 'v', 0.9, 'log', log_table => 'prints_log', name => 'v');
INSERT INTO prints SELECT 1, 'x', to_simhash(words(1)), 0, 0::bit(64);
INSERT INTO prints SELECT 2, 'y, z', to_simhash(words(1, 2)), 5, 3::bit(64);
INSERT INTO prints SELECT 3, '', to_simhash(words(2, 2)), -1, (-1)::bit(64);
SELECT * FROM prints_log;
-- Without a primary key rows are named by their place.
ALTER TABLE prints DROP CONSTRAINT prints_pkey, ALTER a DROP NOT NULL;
TRUNCATE prints_log;
INSERT INTO prints VALUES (4, '', NULL, 1, 7::bit(64));
SELECT * FROM prints_log;
-- The log's triggers run under the guard's settings; what they set stays.
CREATE FUNCTION set_by_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('test.seen', format('%s as %s', NEW.row_key, '2026-02-01'::date), false);
	RETURN NEW;
END $$;
CREATE TRIGGER sets BEFORE INSERT ON prints_log FOR EACH ROW EXECUTE FUNCTION set_by_log();
SET DateStyle = 'SQL, DMY';
INSERT INTO prints VALUES (5, '', NULL, NULL, 7::bit(64));
SELECT current_setting('test.seen') AS seen, current_setting('DateStyle') AS style;
RESET DateStyle;
DROP TRIGGER sets ON prints_log;
DROP FUNCTION set_by_log;
-- Other sessions would have no such log.
CREATE TEMP TABLE own_log (LIKE prints_log);
SELECT neardup_guard('prints', name => 'v', log_table => 'own_log');
DROP TABLE prints, prints_log, own_log;
-- The numbers of rows are no hashes, but a hash can be the key.
CREATE TABLE numbered (tenant int, id bigint, h bigint, PRIMARY KEY (tenant, id));
SELECT neardup_guard('numbered', 'id', 0.9, within => 'tenant');
SELECT neardup_guard('numbered', 'h', 0.9, within => 'tenant');
ALTER TABLE numbered DROP CONSTRAINT numbered_pkey, ADD PRIMARY KEY (id);
SELECT neardup_guard('numbered', 'id', 0.9);
SELECT neardup_guard('numbered', '(id::simhash)', 0.9);
-- An expression needs no parentheses; the name of a column may have other capital letters.
SELECT neardup_guard('numbered', 'h + 1', 0.9), neardup_guard('numbered', ' H', 0.9);
SELECT name, rule FROM neardup_guards ORDER BY 1;
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'numbered'::regclass AND NOT indisprimary ORDER BY 1;
SELECT neardup_guard('numbered', 'H', action => 'none');
SELECT name FROM neardup_guards ORDER BY 1;
-- Names of guards that are none.
SELECT neardup_guard('numbered', name => 'nowhere', threshold => 0.8);
SELECT neardup_guard('numbered', 'h', 0.9, name => '');
SELECT neardup_guard('numbered', name => '', action => 'none');
DROP TABLE numbered;
-- A log whose own guard writes back.
CREATE TABLE notes (id serial PRIMARY KEY, row_key text, resembles text, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE TABLE notes_log (row_key int, resembles int, sig minhash DEFAULT to_minhash('a log'));
SELECT neardup_guard('notes', 'sig', 0.9, 'log', log_table => 'notes_log'), neardup_guard('notes_log', 'sig', 0.9, 'log', log_table => 'notes');
INSERT INTO notes (body) VALUES (words(1)), (words(1, 1));
SELECT row_key, resembles FROM notes_log ORDER BY 1;
SELECT id, row_key IS NULL AS own FROM notes ORDER BY 1;
DROP TABLE notes, notes_log;

DROP TABLE proposals;
DROP FUNCTION words, refused;
