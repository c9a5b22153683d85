-- A search compared with a primary-key lookup: 1,000,000 signatures minhash(512, 1),
-- one row in ten a copy of another, each query a copy of one of them.
SET client_min_messages = warning;
SET maintenance_work_mem = '512MB';

CREATE TABLE limit_loaded (id int PRIMARY KEY, sig bit(512));
CREATE TABLE limit_loaded_queries (id int, sig bit(512));
\copy limit_loaded FROM 'limit.rows' (FORMAT binary)
\copy limit_loaded_queries FROM 'limit.queries' (FORMAT binary)
CREATE TABLE documents AS SELECT id, sig::minhash(512, 1) AS sig FROM limit_loaded ORDER BY id;
ALTER TABLE documents ADD PRIMARY KEY (id);
CREATE TABLE queries AS SELECT id, (id * 977) % 1000000 AS key, sig::minhash(512, 1) AS sig FROM limit_loaded_queries;
ALTER TABLE queries ADD PRIMARY KEY (id);
DROP TABLE limit_loaded, limit_loaded_queries;
CREATE INDEX documents_sig ON documents USING neardup (sig);
VACUUM (FREEZE, ANALYZE) documents;
VACUUM (FREEZE, ANALYZE) queries;
CREATE TABLE client_times (what text, us float8, mean float8);
CREATE TABLE plain (id bigint PRIMARY KEY, sig minhash(512) NOT NULL);
CREATE TABLE own (id bigint PRIMARY KEY, sig minhash(512) NOT NULL);
CREATE INDEX ON own USING neardup (sig);
CREATE SEQUENCE plain_ids CACHE 100;
CREATE SEQUENCE own_ids CACHE 100;
CHECKPOINT;

-- By turns: all queries of each kind, then again.
SELECT contest('loop', 'exact', 'queries', 'SELECT id FROM documents WHERE id = v.key', 1, 1) \g /dev/null
SELECT contest('loop', 'primary key', 'queries', 'SELECT id FROM documents WHERE id = v.key', 2, 1000),
	contest('loop', 'resemblance 0.9', 'queries', 'SELECT id FROM documents WHERE is_similar(sig, v.sig, 0.9)', 2, 1000),
	contest('loop', 'resemblance 0.8', 'queries', 'SELECT id FROM documents WHERE is_similar(sig, v.sig, 0.8)', 2, 200),
	contest('loop', 'resemblance 0.7', 'queries', 'SELECT id FROM documents WHERE is_similar(sig, v.sig, 0.7)', 2, 100)
FROM generate_series(1, 5) \g /dev/null
