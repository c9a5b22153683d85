-- All pairs of the stored texts, for peers that find them in one statement.
SELECT time_statement('neardup', 'pairs', $$
	INSERT INTO pairs SELECT 'neardup', least(a, b), greatest(a, b) FROM neardup_pairs('SELECT id, sig FROM neardup_texts', 0.8, equal => 'all')$$);
SELECT time_statement('exact', 'pairs', $$
	INSERT INTO pairs SELECT 'exact', least(a, b), greatest(a, b)
	FROM neardup_pairs('SELECT id, to_shingles(body) FROM neardup_texts', 0.8, equal => 'all')$$);
SELECT time_statement('bands', 'pairs', $$
	INSERT INTO pairs SELECT 'bands', a, b
	FROM (SELECT DISTINCT x.id AS a, y.id AS b FROM bands_keys x JOIN bands_keys y ON x.key = y.key AND x.id < y.id) candidates
	JOIN bands_texts r ON r.id = a JOIN bands_texts s ON s.id = b WHERE is_similar(r.sig, s.sig, 0.8)$$);
SELECT time_statement('print_neardup', 'pairs', $$
	INSERT INTO pairs SELECT 'print_neardup', least(a, b), greatest(a, b)
	FROM neardup_pairs('SELECT id, print::simhash FROM print_neardup_texts', 61 / 64.0, equal => 'all')$$);
SELECT time_statement('print_blocks', 'pairs', $$
	INSERT INTO pairs SELECT 'print_blocks', a, b
	FROM (WITH blocks AS MATERIALIZED (SELECT id, print, number, block_of(print, number) AS block FROM print_blocks_texts, generate_series(0, 3) number)
		SELECT DISTINCT x.id AS a, y.id AS b FROM blocks x JOIN blocks y USING (number, block) WHERE x.id < y.id AND is_within(x.print, y.print, 3)) t$$);
SELECT time_statement('print_masks', 'pairs', $$
	INSERT INTO pairs SELECT 'print_masks', a, b
	FROM (SELECT DISTINCT x.id AS a, y.id AS b FROM print_masks_keys x JOIN print_masks_keys y ON x.key = y.key AND x.id < y.id) candidates
	JOIN print_masks_texts r ON r.id = a JOIN print_masks_texts s ON s.id = b WHERE is_within(r.print, s.print, 3)$$);
SELECT time_statement('digest', 'pairs', $$
	INSERT INTO pairs SELECT 'digest', x.id, y.id FROM digest_texts x JOIN digest_texts y ON x.digest = y.digest AND x.id < y.id$$);
