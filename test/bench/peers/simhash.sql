-- Another task: hashes of 64 bits within a distance of 3.  All have the same column, the
-- simhash of the words.
SELECT make_peer('print_neardup', 'simhash within 3 of 64 bits: neardup', 'yes, of hashes', 'index', family => 'simhash'),
	make_peer('print_scan', 'simhash within 3 of 64 bits: sequential scan', 'yes, of hashes', 'none', family => 'simhash'),
	make_peer('print_blocks', 'simhash within 3 of 64 bits: four blocks, four B-trees', 'yes, of hashes', 'candidates', family => 'simhash'),
	make_peer('print_masks', 'simhash within 3 of 64 bits: 16 tables of 28 bits, B-tree', 'yes, of hashes', 'candidates', family => 'simhash');
SELECT time_statement(peer, 'build', format('ALTER TABLE %I ADD COLUMN print bigint GENERATED ALWAYS AS (to_simhash(body)::bigint) STORED', peer || '_texts')),
	make_insert(peer, format('INSERT INTO %I VALUES (id, body)', peer || '_texts'))
FROM peers WHERE family = 'simhash' AND peer <> 'print_masks';
SELECT make_function(peer, 'search', 'p bigint := to_simhash(q)::bigint;', format('SELECT id FROM %I WHERE is_within(print, p, 3)', peer || '_texts'))
FROM (VALUES ('print_neardup'), ('print_scan')) v(peer);
SELECT time_statement('print_neardup', 'build', 'CREATE INDEX ON print_neardup_texts USING neardup (print)');

-- Of four blocks of 16 bits, three differing bits leave one equal.
CREATE FUNCTION block_of(print bigint, number int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$SELECT ((print >> (16 * number)) & 65535)::int$$;
SELECT time_statement('print_blocks', 'build', format('CREATE INDEX ON print_blocks_texts (block_of(print, %s))', number)) FROM generate_series(0, 3) number;
ANALYZE print_blocks_texts;
SELECT make_function('print_blocks', 'search', 'p bigint := to_simhash(q)::bigint;', 'SELECT id FROM print_blocks_texts
	WHERE (block_of(print, 0) = block_of(p, 0) OR block_of(print, 1) = block_of(p, 1)
		OR block_of(print, 2) = block_of(p, 2) OR block_of(print, 3) = block_of(p, 3)) AND is_within(print, p, 3)');

-- Manku, Jain and Das Sarma (2007) keep a sorted table for each block with each quarter of the
-- other 48 bits, of which three differing bits leave one equal too.  Each mask is such a table.
CREATE TABLE print_masks_keys (key bigint NOT NULL, id int NOT NULL);
CREATE FUNCTION masked(print bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$SELECT array_agg(print & ((65535::bigint << (16 * block)) | (4222189076152335::bigint << (4 * quarter))))
	FROM generate_series(0, 3) block, generate_series(0, 3) quarter$$;
SELECT time_statement('print_masks', 'build', 'ALTER TABLE print_masks_texts ADD COLUMN print bigint GENERATED ALWAYS AS (to_simhash(body)::bigint) STORED');
SELECT time_statement('print_masks', 'build', 'INSERT INTO print_masks_keys SELECT unnest(masked(print)), id FROM print_masks_texts');
SELECT time_statement('print_masks', 'build', 'CREATE INDEX ON print_masks_keys (key) INCLUDE (id)');
ANALYZE print_masks_keys;
ANALYZE print_masks_texts;
SELECT make_function('print_masks', 'search', 'p bigint := to_simhash(q)::bigint; keys bigint[] := masked(p);',
		'SELECT id FROM print_masks_texts WHERE is_within(print, p, 3) AND id IN (SELECT k.id FROM print_masks_keys k WHERE key = ANY (keys))'),
	make_insert('print_masks', 'INSERT INTO print_masks_texts VALUES (id, body);
		INSERT INTO print_masks_keys SELECT unnest(masked(to_simhash(body)::bigint)), id');
