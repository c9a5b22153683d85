-- pgvector on the bits of neardup's signatures: a similarity of 0.8 is a distance of 51 of
-- 512 bits.  No threshold is served: a search reads the nearest hundred and filters them.
SELECT make_peer('hnsw', 'pgvector on these bits, HNSW', 'no', 'filter'), make_peer('ivfflat', 'pgvector on these bits, IVFFlat', 'no', 'filter');
SELECT time_statement(peer, 'build', format('ALTER TABLE %I ADD COLUMN sig bit(512) GENERATED ALWAYS AS (to_minhash(body)::bit(512)) STORED', peer || '_texts'))
FROM (VALUES ('hnsw'), ('ivfflat')) v(peer);
SELECT time_statement('hnsw', 'build', 'CREATE INDEX ON hnsw_texts USING hnsw (sig bit_hamming_ops)');
-- As its manual advises: a list for a thousand rows, and the root of that in probes.
SELECT greatest(1, count(*) / 1000) AS lists, greatest(1, round(sqrt(count(*) / 1000.0))) AS probes FROM docs \gset
SELECT time_statement('ivfflat', 'build', 'CREATE INDEX ON ivfflat_texts USING ivfflat (sig bit_hamming_ops) WITH (lists = ' || :lists || ')');
ALTER DATABASE :"DBNAME" SET hnsw.ef_search = 100;
ALTER DATABASE :"DBNAME" SET ivfflat.probes = :probes;
SELECT make_function(peer, 'search', 's bit(512) := to_minhash(q)::bit(512);',
		format('SELECT id FROM (SELECT id, sig <~> s AS distance FROM %I ORDER BY sig <~> s LIMIT 100) t WHERE distance <= (1 - 0.8) * 256', peer || '_texts')),
	make_function(peer, 'nearest', 's bit(512) := to_minhash(q)::bit(512);', format('SELECT id FROM %I ORDER BY sig <~> s LIMIT 10', peer || '_texts')),
	make_insert(peer, format('INSERT INTO %I VALUES (id, body)', peer || '_texts'))
FROM (VALUES ('hnsw'), ('ivfflat')) v(peer);
