-- neardup, with and without its index.
SELECT make_peer('base', 'no search at all', '', '');
SELECT make_insert('base', 'INSERT INTO base_texts VALUES (id, body)');

SELECT make_peer('neardup', 'neardup', 'yes, of signatures', 'index');
SELECT time_statement('neardup', 'build', 'ALTER TABLE neardup_texts ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED');
SELECT time_statement('neardup', 'build', 'CREATE INDEX ON neardup_texts USING neardup (sig)');
SELECT make_function('neardup', 'search', 's minhash := to_minhash(q);', 'SELECT id FROM neardup_texts WHERE is_similar(sig, s, 0.8)'),
	make_function('neardup', 'nearest', 's minhash := to_minhash(q);', 'SELECT id FROM neardup_texts ORDER BY sig <-> s LIMIT 10'),
	make_insert('neardup', 'INSERT INTO neardup_texts VALUES (id, body)');

-- The signature finds candidates, and the texts decide.
SELECT make_peer('exact', 'neardup, then the texts', 'yes, of texts', 'index', false);
SELECT make_function('exact', 'search', 's minhash := to_minhash(q); words shingles := to_shingles(q);',
	'SELECT id FROM neardup_texts WHERE is_similar(sig, s, 0.8 - 0.1) AND is_similar(to_shingles(body), words, 0.8)');

SELECT make_peer('scan', 'sequential scan over signatures', 'yes, of signatures', 'none');
SELECT time_statement('scan', 'build', 'ALTER TABLE scan_texts ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED');
SELECT make_function('scan', 'search', 's minhash := to_minhash(q);', 'SELECT id FROM scan_texts WHERE is_similar(sig, s, 0.8)'),
	make_function('scan', 'nearest', 's minhash := to_minhash(q);', 'SELECT id FROM scan_texts ORDER BY sig <-> s LIMIT 10'),
	make_insert('scan', 'INSERT INTO scan_texts VALUES (id, body)');

-- The sets themselves in the index.
SELECT make_peer('neardup_sets', 'neardup, sets of shingles', 'yes, of texts', 'index');
SELECT time_statement('neardup_sets', 'build', 'ALTER TABLE neardup_sets_texts ADD COLUMN words shingles GENERATED ALWAYS AS (to_shingles(body)) STORED');
SELECT time_statement('neardup_sets', 'build', 'CREATE INDEX ON neardup_sets_texts USING neardup (words)');
SELECT make_function('neardup_sets', 'search', 's shingles := to_shingles(q);', 'SELECT id FROM neardup_sets_texts WHERE is_similar(words, s, 0.8)'),
	make_function('neardup_sets', 'nearest', 's shingles := to_shingles(q);', 'SELECT id FROM neardup_sets_texts ORDER BY words <-> s LIMIT 10'),
	make_insert('neardup_sets', 'INSERT INTO neardup_sets_texts VALUES (id, body)');
