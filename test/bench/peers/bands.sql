-- LSH by hand: 128 symbols of 32 bits in 18 bands of 7, which find a pair at 0.8 with
-- probability 0.986 (lsh_probability).  The signature then decides.
SELECT make_peer('bands', 'bands, B-tree', 'no', 'candidates');
CREATE TABLE bands_keys (key bigint NOT NULL, id int NOT NULL);
SELECT time_statement('bands', 'build', 'ALTER TABLE bands_texts ADD COLUMN sig minhash(128, 32) GENERATED ALWAYS AS (to_minhash(body, 128, 32)) STORED');
SELECT time_statement('bands', 'build', 'INSERT INTO bands_keys SELECT unnest(minhash_bands(sig, 7)), id FROM bands_texts');
SELECT time_statement('bands', 'build', 'CREATE INDEX ON bands_keys (key) INCLUDE (id)');
ANALYZE bands_keys;
ANALYZE bands_texts;
SELECT make_function('bands', 'search', 's minhash := to_minhash(q, 128, 32); keys bigint[] := minhash_bands(s, 7);',
		'SELECT id FROM bands_texts WHERE is_similar(sig, s, 0.8) AND id IN (SELECT k.id FROM bands_keys k WHERE key = ANY (keys))'),
	make_insert('bands', 'INSERT INTO bands_texts VALUES (id, body);
		INSERT INTO bands_keys SELECT unnest(minhash_bands(to_minhash(body, 128, 32), 7)), id');

SELECT make_peer('bands_gin', 'bands, GIN', 'no', 'candidates');
SELECT time_statement('bands_gin', 'build', 'ALTER TABLE bands_gin_texts
	ADD COLUMN sig minhash(128, 32) GENERATED ALWAYS AS (to_minhash(body, 128, 32)) STORED,
	ADD COLUMN keys bigint[] GENERATED ALWAYS AS (minhash_bands(to_minhash(body, 128, 32), 7)) STORED');
SELECT time_statement('bands_gin', 'build', 'CREATE INDEX ON bands_gin_texts USING gin (keys)');
SELECT make_function('bands_gin', 'search', 's minhash := to_minhash(q, 128, 32); query_keys bigint[] := minhash_bands(s, 7);',
		'SELECT id FROM bands_gin_texts WHERE keys && query_keys AND is_similar(sig, s, 0.8)'),
	make_insert('bands_gin', 'INSERT INTO bands_gin_texts VALUES (id, body)');
