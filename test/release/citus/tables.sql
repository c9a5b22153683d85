-- The tables of the other files: 2,000 documents of 24 words, distributed by id.  Document i + 1000 is document i with
-- another first word, usually in another shard.
CREATE EXTENSION IF NOT EXISTS neardup_study SCHEMA public CASCADE;
SELECT count(*) > 0 AS workers, bool_and(success) AS same_version
FROM run_command_on_workers('SELECT extversion FROM pg_extension WHERE extname = ''neardup''');

CREATE FUNCTION words(family int, version int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN n <= version THEN 'changed' ELSE md5(family || ' ' || n) END, ' ') FROM generate_series(1, 24) n
$$;
CREATE TABLE here (id bigint PRIMARY KEY, body text NOT NULL, hash bigint, sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED);
INSERT INTO here (id, body, hash) SELECT i, words(i % 1000, i / 1000), hashint8extended(i % 1000, 0) FROM generate_series(0, 1999) i;

CREATE TABLE docs (id bigint PRIMARY KEY, body text NOT NULL, hash bigint, sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT create_distributed_table('docs', 'id', shard_count => 4);
INSERT INTO docs (id, body, hash) SELECT id, body, hash FROM here;
CREATE INDEX docs_sig ON docs USING neardup (sig);
CREATE INDEX docs_hash ON docs USING neardup (hash);
ANALYZE docs;
SELECT d.number, d.sum = h.sum AS same
FROM (SELECT count(*) AS number, sum(hashtext(sig::text)) FROM docs) d, (SELECT sum(hashtext(sig::text)) FROM here) h;

-- Documents to look up, on every node.
CREATE TABLE queries (id int PRIMARY KEY, sig minhash(512) NOT NULL);
SELECT create_reference_table('queries');
INSERT INTO queries SELECT id, sig FROM here WHERE id IN (5, 1005, 7);
INSERT INTO queries VALUES (2, to_minhash('a text that is not like any of the others in the table'));
