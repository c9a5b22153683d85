-- Exclusion constraints: no two rows whose balls contain each other's centres.
CREATE TABLE proposals (
	id int PRIMARY KEY,
	body text,
	sig minhash GENERATED ALWAYS AS (to_minhash(body, 64)) STORED,
	CONSTRAINT no_copies EXCLUDE USING neardup (near(sig, 0.9) WITH &&)
) WITH (autovacuum_enabled = off);
INSERT INTO proposals VALUES (1, 'plant two hundred trees along the river and build a path for cyclists beside them');
INSERT INTO proposals VALUES (2, 'Plant two hundred trees along the river, and build a path for cyclists beside them!');
INSERT INTO proposals VALUES (2, 'open a library in the old station');
INSERT INTO proposals VALUES (3, 'Plant two hundred trees along the river, and build a path for cyclists beside them!')
	ON CONFLICT ON CONSTRAINT no_copies DO NOTHING;
-- An empty text and NULL conflict with nothing.
INSERT INTO proposals VALUES (4, ''), (5, ''), (6, NULL), (7, NULL);
-- Also within one statement.
INSERT INTO proposals VALUES (8, 'a skate park by the school for everybody'), (9, 'A skate park by the school for everybody');
UPDATE proposals SET body = 'plant two hundred trees along the river and build a path for cyclists beside them' WHERE id = 2;
-- An update does not conflict with the row's old version.
UPDATE proposals SET body = 'plant two hundred trees along the river and build a path for cyclists beside it' WHERE id = 1;
DELETE FROM proposals WHERE id = 1;
INSERT INTO proposals VALUES (10, 'plant two hundred trees along the river and build a path for cyclists beside them');
SELECT id, body FROM proposals ORDER BY id;

-- Queries that use the constraint's expression use its index.
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM proposals WHERE near(sig, 0.9) && near(to_minhash('open a library in the old station', 64), 0.9);
SELECT id FROM proposals WHERE near(sig, 0.9) && near(to_minhash('open a library in the old station', 64), 0.9);
-- Each ball must contain the other's centre, so the smaller ball decides.
SELECT id FROM proposals WHERE near(sig, 0.9) && near(to_minhash('open a library in an old station', 64), 0.1);
SELECT count(*) FROM proposals WHERE sig <@ near(to_minhash('open a library in an old station', 64), 0.1);
RESET enable_seqscan;

-- A constraint added to a table with copies, and a deferred one.
CREATE TABLE late (id int, print simhash) WITH (autovacuum_enabled = off);
INSERT INTO late SELECT g, to_simhash('text number ' || g / 2 || ' of many that are not alike') FROM generate_series(1, 6) g;
\set VERBOSITY terse
ALTER TABLE late ADD CONSTRAINT no_prints EXCLUDE USING neardup (hamming_ball(print, 0) WITH &&);
\set VERBOSITY default
TRUNCATE late;
INSERT INTO late SELECT g, to_simhash('text number ' || g / 2 || ' of many that are not alike') FROM generate_series(2, 6, 2) g;
ALTER TABLE late ADD CONSTRAINT no_prints EXCLUDE USING neardup (hamming_ball(print, 0) WITH &&)
	DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO late SELECT 10, print FROM late WHERE id = 2;
DELETE FROM late WHERE id = 2;
COMMIT;
BEGIN;
INSERT INTO late SELECT 11, print FROM late WHERE id = 10;
COMMIT;
SELECT id FROM late ORDER BY id;
SELECT neardup_check('no_copies'), neardup_check('no_prints');
DROP TABLE proposals, late;

-- The error abbreviates a signature; the ball itself is complete, also in a dump.
CREATE TABLE brief (id int, sig minhash(512), print simhash, ball ball,
	CONSTRAINT no_sig EXCLUDE USING neardup (near(sig, 0.9) WITH &&),
	CONSTRAINT no_print EXCLUDE USING neardup (hamming_ball(print, 3) WITH &&),
	CONSTRAINT no_ball EXCLUDE USING neardup (ball WITH &&));
INSERT INTO brief (id, sig) VALUES (1, to_minhash('open a library in the old station'));
INSERT INTO brief (id, sig) VALUES (2, to_minhash('open a library in the old station'));
INSERT INTO brief (id, print) VALUES (1, 7::bigint::simhash);
INSERT INTO brief (id, print) VALUES (2, 3::bigint::simhash);
INSERT INTO brief (id, ball) SELECT id, near(sig, 0.8) FROM brief WHERE sig IS NOT NULL;
INSERT INTO brief (id, ball) SELECT id, near(sig, 0.8) FROM brief WHERE sig IS NOT NULL;
DROP TABLE brief;
