-- neardup: from a file of texts to an index.
SELECT make_peer('neardup', 'neardup', 'yes, of signatures', 'index', false),
	make_peer('exact', 'neardup, then the texts', 'yes, of texts', 'index', false),
	make_peer('scan', 'sequential scan over signatures', 'yes, of signatures', 'none', false);
CREATE TABLE neardup_texts (id int PRIMARY KEY, body text NOT NULL, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
SELECT time_statement('neardup', 'sign', format('COPY neardup_texts (id, body) FROM %L', :'docs'));
SELECT time_statement('neardup', 'index', 'CREATE INDEX ON neardup_texts USING neardup (sig)');
INSERT INTO measured SELECT 'neardup', 'build', 's', sum(value) FROM measured WHERE peer = 'neardup' AND measure IN ('sign', 'index');
SELECT note_size('neardup', '{neardup_texts}'), note_memory('neardup');

SELECT make_function('neardup', 'search', 's minhash := to_minhash(q);', 'SELECT id FROM neardup_texts WHERE is_similar(sig, s, 0.8)'),
	make_function('neardup', 'nearest', 's minhash := to_minhash(q);', 'SELECT id FROM neardup_texts ORDER BY sig <-> s LIMIT 10'),
	make_function('exact', 'search', 's minhash := to_minhash(q); words shingles := to_shingles(q);',
		'SELECT id FROM neardup_texts WHERE is_similar(sig, s, 0.7) AND is_similar(to_shingles(body), words, 0.8)'),
	make_function('scan', 'search', 's minhash := to_minhash(q);', 'SELECT id FROM neardup_texts WHERE is_similar(sig, s, 0.8)');
ALTER FUNCTION scan_search SET enable_indexscan = off;
ALTER FUNCTION scan_search SET enable_bitmapscan = off;
