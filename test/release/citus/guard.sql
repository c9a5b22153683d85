-- No two near-duplicates in the whole cluster: a reference table has the constraint, and is filled in the same statement.
CREATE TABLE kept (id bigint PRIMARY KEY, body text NOT NULL, sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT create_distributed_table('kept', 'id', shard_count => 4);
CREATE TABLE guard (id bigint PRIMARY KEY, sig minhash(512) NOT NULL, CONSTRAINT guard_near EXCLUDE USING neardup (near(sig, 0.7) WITH &&));
SELECT create_reference_table('guard');

PREPARE keep(bigint, text) AS
WITH g AS (INSERT INTO guard VALUES ($1, to_minhash($2)) ON CONFLICT DO NOTHING RETURNING id)
INSERT INTO kept (id, body) SELECT $1, $2 FROM g;
EXECUTE keep(1, 'The library opens at nine on weekdays and at ten on Saturdays.');
EXECUTE keep(2, 'The library opens at nine on weekdays, and at ten on Saturdays!');
EXECUTE keep(3, 'A swimming pool needs a lifeguard, clean water, and a roof that does not leak.');
SELECT id FROM kept ORDER BY id;

-- Many rows in one statement.
WITH batch AS MATERIALIZED (SELECT id + 10 AS id, body, to_minhash(body) AS sig FROM docs),
g AS (INSERT INTO guard SELECT id, sig FROM batch ON CONFLICT DO NOTHING RETURNING id)
INSERT INTO kept (id, body) SELECT id, body FROM batch JOIN g USING (id);
SELECT count(*) FROM kept;
SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM kept', 0.7);

-- A row that goes frees its place.
BEGIN;
DELETE FROM kept WHERE id = 1;
DELETE FROM guard WHERE id = 1;
COMMIT;
EXECUTE keep(2, 'The library opens at nine on weekdays, and at ten on Saturdays!');
SELECT * FROM (SELECT count(*) FROM kept) k, (SELECT count(*) FROM guard) g, (SELECT count(*) FROM kept JOIN guard USING (id)) b;
-- Each node has the same guards.
SELECT count(DISTINCT result) FROM run_command_on_placements('guard', 'SELECT sum(id) FROM %s');
