-- neardup_guard(): indexes and tables that change, partitions, privileges, and arguments that are wrong.
CREATE FUNCTION words(family int, variant int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
	FROM generate_series(1, 200) i $$;
CREATE TABLE proposals (
	id int PRIMARY KEY,
	title text,
	body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED
);
INSERT INTO proposals VALUES (1, 'a', words(1));

-- ---- Indexes that come, change and go ----
SELECT neardup_guard('proposals', 'sig', 0.9, name => 'no_copies');
ALTER INDEX proposals_sig_idx RENAME TO other;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
REINDEX INDEX CONCURRENTLY other;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
CREATE INDEX CONCURRENTLY proposals_sig ON proposals USING neardup (sig);
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
DROP INDEX CONCURRENTLY other;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
CLUSTER proposals USING proposals_pkey;
VACUUM FULL proposals;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
-- Within one transaction, and after a rollback of the change.
BEGIN;
DROP INDEX proposals_sig;
SAVEPOINT a;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
ROLLBACK TO a;
CREATE INDEX proposals_sig ON proposals USING neardup (sig);
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
ROLLBACK;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
TRUNCATE proposals;
INSERT INTO proposals VALUES (20, 'c', words(1, 7));
INSERT INTO proposals VALUES (21, 'c', words(1, 8));
-- Names that change.
ALTER TABLE proposals RENAME TO submissions;
ALTER TABLE submissions RENAME id TO number;
ALTER TRIGGER no_copies ON submissions RENAME TO "no more copies";
INSERT INTO submissions VALUES (21, 'c', words(1, 8));
CREATE SCHEMA "Fund";
ALTER TABLE submissions SET SCHEMA "Fund";
ALTER SCHEMA "Fund" RENAME TO fund;
INSERT INTO fund.submissions VALUES (21, 'c', words(1, 8));
ALTER TABLE fund.submissions RENAME sig TO signature;
INSERT INTO fund.submissions VALUES (21, 'c', words(1, 8));
SELECT neardup_guard('fund.submissions', 'signature', name => 'no more copies');
INSERT INTO fund.submissions VALUES (21, 'c', words(1, 8));
-- A signature of another type.
ALTER TABLE fund.submissions DROP COLUMN signature, ADD COLUMN sig simhash GENERATED ALWAYS AS (to_simhash(body)) STORED;
SELECT neardup_guard('fund.submissions', 'sig', name => 'no more copies');
INSERT INTO fund.submissions VALUES (21, 'c', words(1, 8));
DROP SCHEMA fund CASCADE;
-- Two columns of type bigint: the class tells the key.
CREATE TABLE keyed (id int PRIMARY KEY, tenant bigint, h bigint, sig minhash);
SELECT neardup_guard('keyed', 'h', 0.9, within => 'tenant'), neardup_guard('keyed', 'sig', 0.9, within => 'tenant');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'keyed'::regclass AND NOT indisprimary ORDER BY 1;
CREATE INDEX ON keyed USING neardup (h bigint_key_ops, sig);
INSERT INTO keyed VALUES (1, 1, 5, to_minhash(words(1))), (2, 2, 4, to_minhash(words(1))), (3, 1, -1, to_minhash(words(2)));
INSERT INTO keyed VALUES (4, 2, 5, to_minhash(words(4)));
INSERT INTO keyed VALUES (4, 2, -2, to_minhash(words(1)));
DROP TABLE keyed;
-- A key of an index does not serve if its equality is not the column's; nor are equal values in one partition
-- if the partition key's is not.  (Where citext and collations of ICU are installed.)
CREATE FUNCTION lets_in(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	PERFORM neardup_guard('keyed', 'sig', 0.9, within => 'tenant');
	INSERT INTO keyed VALUES ('Acme', to_minhash(words(1))), ('other', to_minhash(words(1)));
	INSERT INTO keyed VALUES ('acme', to_minhash(words(1)));
	RAISE WARNING 'not refused: %', statement;
EXCEPTION WHEN exclusion_violation OR feature_not_supported OR undefined_object THEN
END $$;
SELECT lets_in('CREATE EXTENSION citext; CREATE TABLE keyed (tenant citext, sig minhash)');
SELECT lets_in('CREATE EXTENSION citext; CREATE TABLE keyed (tenant citext, sig minhash); CREATE INDEX ON keyed USING neardup (tenant, sig)');
SELECT lets_in('CREATE COLLATION ci (provider = icu, locale = ''und-u-ks-level2'', deterministic = false); CREATE TABLE keyed (tenant text COLLATE ci, sig minhash);
	CREATE INDEX ON keyed USING neardup (tenant COLLATE "C", sig)');
SELECT lets_in('CREATE COLLATION ci (provider = icu, locale = ''und-u-ks-level2'', deterministic = false); CREATE TABLE keyed (tenant text COLLATE ci, sig minhash) PARTITION BY LIST (tenant COLLATE "C");
	CREATE TABLE keyed_1 PARTITION OF keyed FOR VALUES IN (''Acme''); CREATE TABLE keyed_2 PARTITION OF keyed DEFAULT');
DROP FUNCTION lets_in;
-- Expressions: signatures and keys of columns, and of types of the user.
CREATE TYPE sender AS (name text, site text);
CREATE DOMAIN short AS text CHECK (length(VALUE) < 10000);
CREATE DOMAIN print AS minhash;
CREATE TABLE mails (who sender, no numeric, subject short, body short, sig print GENERATED ALWAYS AS (to_minhash(body)) STORED, PRIMARY KEY (who, no));
SELECT neardup_guard('mails', 'to_minhash(subject || '' '' || body)', 0.9, within => 'who', show => 'subject', name => 'same');
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'mails'::regclass AND NOT indisprimary;
SELECT rule FROM neardup_guards;
INSERT INTO mails VALUES (('a', 'b'), 1.0, 'x', words(1)), (('a', 'c'), 1.0, 'x', words(1)), (('a', 'b'), 2, NULL, words(1));
INSERT INTO mails VALUES (('a', 'b'), 3.00, 'y', words(1, 1));
UPDATE mails SET subject = 'z' WHERE no = 2;
SELECT neardup_guard('mails', name => 'same', action => 'none'), neardup_guard('mails', 'sig', 0.9, within => 'who', name => 'same');
INSERT INTO mails VALUES (('d', 'b'), 3.00, 'y', words(1, 1)), (('d', 'b'), 4.00, 'y', words(2, 1));
INSERT INTO mails VALUES (('d', 'b'), 5.00, 'y', words(1, 1));
DROP TABLE mails;
DROP DOMAIN short, print;
DROP TYPE sender;

-- ---- Checks at the end of the transaction ----
CREATE TABLE deferred (id int PRIMARY KEY, sig minhash);
CREATE INDEX ON deferred USING neardup (sig);
CREATE CONSTRAINT TRIGGER later AFTER INSERT OR UPDATE ON deferred DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
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
-- Of two rows that swap their texts both are checked.
BEGIN;
UPDATE deferred SET sig = CASE id WHEN 1 THEN to_minhash(words(2)) ELSE to_minhash(words(1)) END;
COMMIT;
DROP TABLE deferred;

-- ---- Partitions: the table that the guard was made for is guarded ----
CREATE TABLE parts (part int, id int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED,
	PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 (sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, id int NOT NULL, gone int, body text, part int NOT NULL);
ALTER TABLE part_2 DROP gone;
SELECT neardup_guard('parts', 'sig', 0.9, name => 'anywhere');
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 1, words(1)), (2, 1, words(2));
INSERT INTO parts VALUES (2, 2, words(1));
INSERT INTO part_1 VALUES (1, 2, words(2));
UPDATE parts SET part = 2, id = 3 WHERE part = 1;
UPDATE parts SET part = 1, body = words(2) WHERE id = 3;
SELECT part, id FROM parts ORDER BY 1, 2;
-- A partition that is detached is guarded no more, and is not searched.
ALTER TABLE parts DETACH PARTITION part_2;
INSERT INTO part_2 (part, id, body) VALUES (2, 4, words(2));
INSERT INTO parts VALUES (1, 5, words(2));
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 6, words(2));
ALTER TABLE parts DETACH PARTITION part_2 CONCURRENTLY;
INSERT INTO parts VALUES (1, 6, words(1));
INSERT INTO part_2 (part, id, body) VALUES (2, 7, words(1));
CREATE TABLE part_3 PARTITION OF parts FOR VALUES IN (3, 4) PARTITION BY LIST (part);
CREATE TABLE part_4 PARTITION OF part_3 FOR VALUES IN (4);
INSERT INTO parts VALUES (4, 7, words(1, 2));
INSERT INTO part_4 VALUES (4, 7, words(4));
INSERT INTO part_1 VALUES (1, 8, words(4, 2));
-- Only the own partition is searched if rows are compared within its key.
SELECT neardup_guard('parts', name => 'anywhere', within => 'part');
INSERT INTO parts VALUES (4, 8, words(1));
INSERT INTO parts VALUES (4, 9, words(4, 2));
UPDATE parts SET part = 1, id = 10 WHERE id = 8;
BEGIN;
SELECT relname, coalesce(idx_scan, 0) AS idx_scan INTO TEMP scans FROM pg_stat_xact_user_tables WHERE relname LIKE 'part_%';
INSERT INTO parts VALUES (4, 9, words(9));
SELECT relname, x.idx_scan - s.idx_scan AS scans FROM pg_stat_xact_user_tables x JOIN scans s USING (relname) WHERE relname IN ('part_1', 'part_4') ORDER BY 1;
ROLLBACK;
-- A guard of one partition.
SELECT neardup_guard('parts', action => 'none'), neardup_guard('part_1', 'sig', 0.9, name => 'here');
INSERT INTO parts VALUES (4, 20, words(1));
INSERT INTO parts VALUES (1, 20, words(1));
DROP TABLE parts, part_2;
-- A table that inherits has its own triggers, and is not searched.
CREATE TABLE parents (id int PRIMARY KEY, sig minhash);
CREATE TABLE children (age int) INHERITS (parents);
SELECT neardup_guard('parents', 'sig', 0.9, name => 'no_copies');
INSERT INTO children VALUES (1, to_minhash(words(1)), 5), (2, to_minhash(words(1)), 5);
INSERT INTO parents VALUES (3, to_minhash(words(1)));
INSERT INTO parents VALUES (4, to_minhash(words(1)));
UPDATE parents SET id = id + 10;
DROP TABLE parents, children;
-- A partition on another server can be neither guarded nor searched.
\set VERBOSITY sqlstate
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE TABLE wide (part int, sig minhash) PARTITION BY LIST (part);
CREATE TABLE near PARTITION OF wide FOR VALUES IN (1);
CREATE FOREIGN TABLE far PARTITION OF wide FOR VALUES IN (2) SERVER nowhere;
SELECT neardup_guard('wide', 'sig', 0.9);
\set VERBOSITY default
CREATE INDEX ON near USING neardup (sig);
CREATE TABLE ordinary (sig minhash);
CREATE INDEX ON ordinary USING neardup (sig);
SELECT neardup_guard('ordinary', 'sig', 0.9, against => 'wide');
SELECT neardup_guard('ordinary', 'sig', 0.9, against => 'far');
DROP TABLE wide, ordinary;
DROP FOREIGN DATA WRAPPER nothing CASCADE;

-- ---- Privileges ----
-- They log in as this user does.
\set password `echo "${PGPASSWORD:-none}"`
CREATE ROLE regress_neardup_clerk LOGIN PASSWORD :'password';
CREATE ROLE regress_neardup_owner LOGIN PASSWORD :'password';
\set admin :USER
GRANT CREATE ON SCHEMA public TO regress_neardup_owner;
\c - regress_neardup_owner
CREATE TABLE letters (id int PRIMARY KEY, owner name DEFAULT current_user, title text, body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
CREATE TABLE letters_log (row_key int, resembles int, noticed_by text);
CREATE TABLE letters_judged (a int, b int, same boolean);
SELECT neardup_guard('letters', 'sig', 0.9, 'log', log_table => 'letters_log', name => 'noted');
INSERT INTO letters VALUES (1, DEFAULT, 'first', words(1));
GRANT INSERT ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
-- The log is written as the clerk, who needs the privilege; he does not need to read the letters.
INSERT INTO letters VALUES (2, DEFAULT, 'second', words(1, 2));
\c - :admin
GRANT INSERT ON letters_log TO regress_neardup_clerk;
\c - regress_neardup_clerk
INSERT INTO letters VALUES (2, DEFAULT, 'second', words(1, 2));
SELECT * FROM letters_log;
\c - :admin
SELECT row_key, resembles, noticed_by FROM letters_log;
REVOKE INSERT ON letters_log FROM regress_neardup_clerk;
GRANT INSERT (row_key, resembles) ON letters_log TO regress_neardup_clerk;
\c - regress_neardup_clerk
INSERT INTO letters VALUES (3, DEFAULT, 'third', words(1, 3));
-- The clerk may not make guards.
SELECT neardup_guard('letters', name => 'noted', action => 'none');
SELECT neardup_guard('letters', 'sig', 0.9);
\c - regress_neardup_owner
SELECT neardup_guard('letters', name => 'noted', action => 'reject', log_table => '', show => 'title, body');
CREATE FUNCTION try_rights(id int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
	INSERT INTO letters VALUES (id, DEFAULT, 'third', words(1, 2));
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', SQLSTATE, SQLERRM, regexp_replace(detail, 'f1w1 .*?(variant .)', '... \1', 'g'), nullif(hint, ''));
END $$;
-- Shown is what the clerk may read, by what is granted.
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
GRANT SELECT (id) ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
GRANT SELECT (id, title) ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
GRANT SELECT (sig) ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
REVOKE SELECT (sig) ON letters FROM regress_neardup_clerk;
GRANT SELECT (body) ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
-- The same without columns to show.
\c - regress_neardup_owner
SELECT neardup_guard('letters', name => 'noted', show => '');
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
REVOKE SELECT ON letters FROM regress_neardup_clerk;
REVOKE SELECT (id, title, body) ON letters FROM regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - :admin
GRANT SELECT (id) ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(3);
-- Nothing of a row is told that row-level security hides, nor of any other.
\c - :admin
GRANT SELECT ON letters TO regress_neardup_clerk;
ALTER TABLE letters ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON letters USING (owner = current_user);
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - regress_neardup_owner
SELECT neardup_guard('letters', name => 'noted', show => 'title');
\c - regress_neardup_clerk
SELECT try_rights(3);
-- The owner is not hidden from, unless the table says so.
\c - regress_neardup_owner
SELECT try_rights(3);
ALTER TABLE letters FORCE ROW LEVEL SECURITY;
SELECT try_rights(3);
ALTER TABLE letters NO FORCE ROW LEVEL SECURITY;
ALTER TABLE letters DISABLE ROW LEVEL SECURITY;
-- Verdicts are read as the clerk.
SELECT neardup_guard('letters', name => 'noted', verdicts => 'letters_judged', show => '');
\c - regress_neardup_clerk
SELECT try_rights(3);
\c - regress_neardup_owner
GRANT SELECT ON letters_judged TO regress_neardup_clerk;
INSERT INTO letters_judged SELECT 3, id, false FROM letters;
\c - regress_neardup_clerk
SELECT try_rights(4);
SELECT try_rights(3);
-- The other table need not be readable if it is of the same owner, who alone makes triggers.
\c - regress_neardup_owner
CREATE TABLE older (id int PRIMARY KEY, sig minhash);
CREATE INDEX ON older USING neardup (sig);
INSERT INTO older SELECT 77, sig FROM letters WHERE id = 1;
DELETE FROM letters;
SELECT neardup_guard('letters', name => 'noted', verdicts => '', against => 'older');
\c - regress_neardup_clerk
SELECT try_rights(5);
\c - :admin
GRANT TRIGGER ON letters TO regress_neardup_clerk;
\c - regress_neardup_clerk
SELECT try_rights(5);
\c - :admin
REVOKE TRIGGER ON letters FROM regress_neardup_clerk;
ALTER TABLE older OWNER TO CURRENT_USER;
\c - regress_neardup_clerk
SELECT try_rights(5);
\c - regress_neardup_owner
SELECT try_rights(5);
\c - :admin
GRANT SELECT ON older TO regress_neardup_owner;
\c - regress_neardup_owner
SELECT try_rights(5);
-- A superuser makes no guard for the table of another role.
\c - :admin
SELECT neardup_guard('letters', name => 'noted', against => '');
\c - :admin
DROP FUNCTION try_rights;
DROP TABLE letters, letters_log, letters_judged, older;
REVOKE CREATE ON SCHEMA public FROM regress_neardup_owner;
DROP ROLE regress_neardup_clerk, regress_neardup_owner;

-- ---- Arguments ----
CREATE TABLE t (id int, body text, sig minhash, set shingles, place point);
CREATE INDEX t_id ON t (id);
CREATE FUNCTION try(VARIADIC arguments text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text;
BEGIN
	EXECUTE format('CREATE CONSTRAINT TRIGGER try AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION neardup_guard_row(%s)',
		(SELECT string_agg(quote_literal(a), ', ') FROM unnest(arguments) a));
	INSERT INTO t VALUES (1, 'x', to_minhash('x'), to_shingles('x'));
	RAISE NOTICE 'accepted';
	DROP TRIGGER try ON t;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE NOTICE E'%: %\ndetail: %\nhint: %', SQLSTATE, message, detail, hint;
END $$;
SELECT try('sig', '0.9');
SELECT try('signature=sig');
SELECT try('threshold=0.9');
SELECT try('signature', 'threshold=0.9');
SELECT try('signature=sig', 'threshold=high');
SELECT try('signature=sig', 'threshold=0.9x');
SELECT try('signature=sig', 'threshold=1.1');
SELECT try('signature=sig', 'threshold=0');
SELECT try('signature=sig', 'threshold=nan');
SELECT try('signature=no', 'threshold=0.9');
SELECT try('signature=ctid', 'threshold=0.9');
SELECT try('signature=body', 'threshold=0.9');
SELECT try('signature=sig, set', 'threshold=0.9');
SELECT try('signature=to_minhash(body', 'threshold=0.9');
SELECT try('signature=(SELECT sig FROM t)', 'threshold=0.9');
SELECT try('signature=sig)) FROM t; SELECT ((sig', 'threshold=0.9');
SELECT try('signature=sig', 'threshold=0.9', 'action=refuse');
SELECT try('signature=sig', 'threshold=0.9', 'within=');
SELECT try('signature=sig', 'threshold=0.9', 'within=id body');
SELECT try('signature=sig', 'threshold=0.9', 'within=id,');
SELECT try('signature=sig', 'threshold=0.9', 'within=id, none');
SELECT try('signature=sig', 'threshold=0.9', 'within="id');
SELECT try('signature=sig', 'threshold=0.9', 'within=place');
SELECT try('signature=sig', 'threshold=0.9', 'condition=id > 0; DROP TABLE t');
SELECT try('signature=sig', 'threshold=0.9', 'condition=id');
SELECT try('signature=sig', 'threshold=0.9', 'condition=none > 0');
SELECT try('signature=sig', 'threshold=0.9', 'condition=EXISTS (SELECT FROM t)');
SELECT try('signature=sig', 'threshold=0.9', 'condition=count(*) > 0');
-- A guard that would check no row is refused, and so is a condition that all satisfy.
SELECT try('signature=sig', 'threshold=0.9', 'condition=NULL');
SELECT try('signature=sig', 'threshold=0.9', 'condition=body = NULL AND id > 0');
SELECT try('signature=sig', 'threshold=0.9', 'condition=1 > 2');
SELECT try('signature=sig', 'threshold=0.9', 'condition=id = 1 AND body = ''a'' AND id = 2');
SELECT try('signature=sig', 'threshold=0.9', 'condition=body IS NULL AND body IS NOT NULL');
SELECT try('signature=sig', 'threshold=0.9', 'condition=id > 0 OR true');
SELECT try('signature=(NULL::public.minhash)', 'threshold=0.9');
SELECT try('signature=public.to_minhash(body || NULL)', 'threshold=0.9');
SELECT try('signature=sig', 'threshold=0.9', 'action=log');
SELECT try('signature=sig', 'threshold=0.9', 'action=log', 'log_table=nowhere');
SELECT try('signature=sig', 'threshold=0.9', 'action=log', 'log_table=t');
SELECT try('signature=sig', 'threshold=0.9', 'action=log', 'log_table=a.b.c.d');
SELECT try('signature=sig', 'threshold=0.9', 'unless=,');
SELECT try('signature=sig', 'threshold=0.9', 'unless=id');
SELECT try('signature=sig', 'threshold=0.9', 'show=body,');
SELECT try('signature=set', 'threshold=0.9', 'measure=jaccard');
CREATE INDEX ON t USING neardup (sig);
SELECT try('signature=sig', 'threshold=1', 'measure=contains');
SELECT try('threshold=1', 'signature=sig', 'show=body');
SELECT neardup_guard(NULL, 'sig', 0.9);
SELECT neardup_guard(1, 'sig', 0.9);
SELECT neardup_guard('t');
SELECT neardup_guard('t', 'sig');
SELECT neardup_guard('t', 'sig', 1.5);
SELECT neardup_guard('t', 'sig', 'NaN');
SELECT neardup_guard('t', 'sig', 0.9, 'refuse');
SELECT neardup_guard('t', 'sig', 0.9, log_table => 'title');
SELECT neardup_guard('t', 'sig', 0.9, 'log', group_column => 'title');
SELECT neardup_guard('t', 'sig', action => 'none');
SELECT neardup_guard('t', name => 't_sig_rejekt', action => 'none');
SELECT neardup_guard('t', 'sig', 0.9, name => '');
SELECT neardup_guard('t', 'sig', 0.9, condition => 'sig IS NULL)) OR ((true');
SELECT neardup_guard('t', 'sig', 0.9, condition => 'body = NULL');
SELECT neardup_guard('t', 'sig', 0.9, condition => 'true');
SELECT neardup_guard('t', '(NULL::minhash)', 0.9);
CREATE VIEW v AS SELECT * FROM t;
CREATE MATERIALIZED VIEW m AS SELECT * FROM t;
\set VERBOSITY sqlstate
SELECT neardup_guard('t_id', 'sig', 0.9);
SELECT neardup_guard('v', 'sig', 0.9);
SELECT neardup_guard('m', 'sig', 0.9);
SELECT neardup_guard('t', 'sig', 0.9, against => 'v');
SELECT neardup_guard('t', 'sig', 0.9, against => 't_id');
\set VERBOSITY default
DROP VIEW v;
DROP MATERIALIZED VIEW m;
-- Triggers that fire at another time.
SELECT neardup_guard_row();
CREATE TRIGGER early BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
INSERT INTO t VALUES (1);
DROP TRIGGER early ON t;
CREATE TRIGGER early BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9', 'action=skip');
INSERT INTO t VALUES (1);
UPDATE t SET id = 2;
DROP TRIGGER early ON t;
CREATE TRIGGER whole AFTER INSERT ON t EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
INSERT INTO t VALUES (1);
DROP TRIGGER whole ON t;
CREATE TRIGGER gone AFTER DELETE ON t FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
DELETE FROM t;
DROP TRIGGER gone ON t;
TRUNCATE t;
-- An ordinary AFTER trigger works, for the columns it names.
CREATE TRIGGER plain AFTER INSERT OR UPDATE OF sig ON t FOR EACH ROW
	WHEN (NEW.id > 0) EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9');
INSERT INTO t VALUES (1, NULL, to_minhash(words(1))), (0, NULL, to_minhash(words(1, 1)));
DROP TABLE t;

-- ---- Dropped guards leave no memory behind ----
CREATE PROCEDURE come_and_go(times int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. times LOOP
		CREATE TEMP TABLE gone (sig minhash);
		PERFORM neardup_guard('gone', 'sig', 0.9);
		INSERT INTO gone VALUES (to_minhash(words(1)));
		DROP TABLE gone;
		COMMIT;
	END LOOP;
END $$;
CALL come_and_go(1);
SELECT count(*) AS contexts FROM pg_backend_memory_contexts WHERE name LIKE 'neardup guard%' \gset
CALL come_and_go(9);
SELECT count(*) - :contexts AS more FROM pg_backend_memory_contexts WHERE name LIKE 'neardup guard%';
DROP PROCEDURE come_and_go;

-- A table that cannot be searched any more does not hinder updates that leave what is compared.
CREATE TABLE near (id int PRIMARY KEY, note text, sig minhash);
CREATE TABLE away (id int PRIMARY KEY, sig minhash);
CREATE INDEX ON away USING neardup (sig);
SELECT neardup_guard('near', 'sig', 0.9, against => 'away', name => 'g');
INSERT INTO near VALUES (1, 'a', to_minhash(words(1)));
ALTER TABLE away RENAME sig TO signed;
UPDATE near SET note = 'b';
\set VERBOSITY terse
INSERT INTO near VALUES (2, 'a', to_minhash(words(2)));
\set VERBOSITY default
DROP TABLE near, away;

DROP FUNCTION words, try;
