-- A table that is distributed by tenant: each shard has the index, and a constraint within the tenant.
CREATE TABLE papers (tenant int, id bigint, body text NOT NULL, sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED,
	PRIMARY KEY (tenant, id));
SELECT create_distributed_table('papers', 'tenant', shard_count => 4);
CREATE INDEX ON papers USING neardup (tenant, sig);
ALTER TABLE papers ADD CONSTRAINT no_copies EXCLUDE USING neardup (tenant WITH =, near(sig, 0.7) WITH &&);
INSERT INTO papers SELECT i % 8, i, words(i % 25, 0) FROM generate_series(1, 200) i;
\set VERBOSITY sqlstate
INSERT INTO papers VALUES (1, 1000, words(1, 1));
\set VERBOSITY terse
INSERT INTO papers VALUES (1, 1000, words(1, 1)) ON CONFLICT DO NOTHING;
INSERT INTO papers VALUES (1, 1000, words(1000, 1)) ON CONFLICT DO NOTHING;
SELECT id FROM papers WHERE tenant = 1 AND is_similar(sig, to_minhash(words(1, 1)), 0.7);
SELECT id FROM papers WHERE tenant = 1 ORDER BY sig <-> (SELECT sig FROM papers WHERE (tenant, id) = (2, 26)) LIMIT 1;
SELECT id FROM papers WHERE tenant = 2 ORDER BY sig <-> (SELECT sig FROM papers WHERE (tenant, id) = (2, 26)) LIMIT 1;
SELECT count(*) FROM papers a JOIN papers b ON a.tenant = b.tenant AND is_similar(a.sig, b.sig, 0.7) AND a.id < b.id;
SELECT count(*) FROM papers a JOIN papers b ON is_similar(a.sig, b.sig, 0.7) AND a.id < b.id;
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM papers', 0.7, equal => 'all');
SET citus.enable_unsafe_triggers = on;
CREATE TRIGGER one_each AFTER INSERT OR UPDATE ON papers FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.5', 'within=tenant');
INSERT INTO papers VALUES (1, 1001, words(1, 6));
INSERT INTO papers VALUES (1, 1001, words(2000, 6));
DROP TRIGGER one_each ON papers;
-- All rows in one shard: a constraint needs no tenant.
CREATE TABLE single (id bigint, sig minhash(512), CONSTRAINT one_copy EXCLUDE USING neardup (near(sig, 0.7) WITH &&));
SELECT create_distributed_table('single', NULL);
INSERT INTO single SELECT id, sig FROM queries ON CONFLICT DO NOTHING;
SELECT id FROM single WHERE id <> 1005 ORDER BY id;
