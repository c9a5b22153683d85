-- WAL and size of inserts of 64-byte signatures, a row in each transaction, for BENCH=large:
-- with maintenance by background workers, until none is left, and with maintenance by the session.
LOAD 'neardup';
CREATE TABLE few AS SELECT id::bigint, sig FROM documents ORDER BY id LIMIT :rows;
CREATE TABLE built AS SELECT * FROM few;
CREATE INDEX built_sig ON built USING neardup (sig);
CREATE TABLE logged (maintenance text, bytes float8, size float8);

-- Inserts the rows into plain or into own, and records the WAL for each and the size of the index.
CREATE PROCEDURE insert_each(maintenance text) LANGUAGE plpgsql AS $$
DECLARE
	v few%ROWTYPE;
	start pg_lsn;
BEGIN
	TRUNCATE plain, own;
	CHECKPOINT;
	start := pg_current_wal_insert_lsn();
	FOR v IN SELECT * FROM few LOOP
		IF maintenance = 'none' THEN
			INSERT INTO plain VALUES (v.*);
		ELSE
			INSERT INTO own VALUES (v.*);
		END IF;
		COMMIT;
	END LOOP;
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'neardup maintenance') LOOP
		PERFORM pg_sleep(0.1);
		COMMIT;
	END LOOP;
	INSERT INTO logged SELECT maintenance, (pg_current_wal_insert_lsn() - start)::float8 / count(*), pg_relation_size('own_sig_idx') / 64.0 / count(*) FROM few;
END $$;
CALL insert_each('none');
CALL insert_each('by workers');
SET neardup.background = off;
CALL insert_each('by the session');

SELECT 'built / raw', pg_relation_size('built_sig') / 64.0 / :rows;
SELECT v.* FROM logged l, logged n, LATERAL (VALUES (format('WAL a row beyond the primary key, maintenance %s', l.maintenance), l.bytes - n.bytes),
	(format('grown / raw, maintenance %s', l.maintenance), l.size)) v
WHERE n.maintenance = 'none' AND l.maintenance <> 'none' ORDER BY v.*;
