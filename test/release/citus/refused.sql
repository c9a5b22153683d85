-- What Citus refuses, and what to write instead.
SELECT sig AS q FROM here WHERE id = 17 \gset
-- A join of the table with itself.
SELECT count(*) FROM docs a JOIN docs b ON is_similar(a.sig, b.sig, 0.7) AND a.id < b.id;
WITH a AS MATERIALIZED (SELECT id, sig FROM docs)
SELECT count(*) FROM a JOIN docs b ON is_similar(a.sig, b.sig, 0.7) AND a.id < b.id;
-- In order of the distance to another row.
SELECT id FROM docs ORDER BY sig <-> (SELECT sig FROM docs WHERE id = 17) LIMIT 2;
WITH q AS MATERIALIZED (SELECT sig FROM docs WHERE id = 17)
SELECT id FROM docs ORDER BY sig <-> (SELECT sig FROM q) LIMIT 2;
-- Rows of a reference table that resemble nothing.
SELECT id FROM queries q WHERE NOT EXISTS (SELECT FROM docs d WHERE is_similar(d.sig, q.sig, 0.7));
SELECT id FROM queries WHERE id NOT IN (SELECT q.id FROM queries q JOIN docs d ON is_similar(d.sig, q.sig, 0.7));
-- The best for each of several.
SELECT q.id, n.id FROM queries q, LATERAL (SELECT id FROM docs d ORDER BY d.sig <-> q.sig LIMIT 1) n;
SELECT query, id FROM (
	SELECT q.id AS query, d.id, row_number() OVER (PARTITION BY q.id ORDER BY d.sig <-> q.sig, d.id) AS place
	FROM queries q JOIN docs d ON is_similar(d.sig, q.sig, 0.3)) n
WHERE place = 1 ORDER BY 1;
-- Constraints without the distribution column, and triggers.
ALTER TABLE docs ADD CONSTRAINT no_copies EXCLUDE USING neardup (near(sig, 0.9) WITH &&);
CREATE TRIGGER no_copies AFTER INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.7');
-- A trigger compares rows of its shard only, so it accepts copies of row 17 in other shards.
SET citus.enable_unsafe_triggers = on;
CREATE TRIGGER no_copies AFTER INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.7');
CREATE FUNCTION accepted(id bigint, body text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO docs (id, body) VALUES (%s, %L)', id, body);
	RETURN true;
EXCEPTION WHEN unique_violation OR exclusion_violation OR raise_exception OR internal_error THEN
	RETURN false;
END $$;
BEGIN;
SELECT count(*) > 0 AS copies_accepted FROM generate_series(3000, 3009) i WHERE accepted(i, words(17, 0));
ROLLBACK;
DROP TRIGGER no_copies ON docs;
RESET citus.enable_unsafe_triggers;
-- Columnar tables have no index; scans and whole tables work.
CREATE EXTENSION IF NOT EXISTS citus_columnar;
CREATE TABLE cold (id bigint, sig minhash(512)) USING columnar;
SELECT create_distributed_table('cold', 'id', shard_count => 4);
INSERT INTO cold SELECT id, sig FROM docs;
CREATE INDEX ON cold USING neardup (sig);
SELECT id FROM cold WHERE is_similar(sig, :'q', 0.7) ORDER BY id;
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM cold', 0.7);
