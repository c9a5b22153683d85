-- The documents on one server, and what shards.sh records.
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE EXTENSION postgres_fdw;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET max_parallel_maintenance_workers = 0', current_database()); END $$;
CREATE TABLE loaded (id int, bits bit(512));
\copy loaded FROM 'copies.rows' (FORMAT binary)
CREATE TABLE m AS SELECT id, bits::minhash AS sig FROM loaded;
CREATE TABLE docs (id int, sig minhash(512));
VACUUM (FREEZE, ANALYZE) m;
CREATE TABLE calls (place serial, what text, seconds float8);
CREATE TABLE pairs (what text, a int, b int);
CREATE TABLE rates (place serial, what text, value float8, unit text);
