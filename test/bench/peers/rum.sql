-- RUM, a relative of GIN that returns rows by distance.

-- Full-text search ranks the rows that have any word of the text, and serves no threshold: a
-- search reads the best hundred and compares their texts.
-- A tsvector has at most a megabyte.
CREATE FUNCTION words_of(body text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$SELECT to_tsvector('english', left(body, 500000))$$;
CREATE FUNCTION any_word(body text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery FROM unnest(words_of(body))$$;
SELECT make_peer('rum', 'RUM, full-text search', 'no', 'filter');
SELECT time_statement('rum', 'build', 'ALTER TABLE rum_texts ADD COLUMN words tsvector GENERATED ALWAYS AS (words_of(body)) STORED');
SELECT time_statement('rum', 'build', 'CREATE INDEX ON rum_texts USING rum (words rum_tsvector_ops)');
SELECT make_function('rum', 'search', 'query tsquery := any_word(q); set shingles := to_shingles(q);',
		'SELECT id FROM (SELECT id, body FROM rum_texts WHERE words @@ query ORDER BY words <=> query LIMIT 100) t WHERE is_similar(to_shingles(body), set, 0.8)'),
	make_function('rum', 'nearest', 'query tsquery := any_word(q);', 'SELECT id FROM rum_texts WHERE words @@ query ORDER BY words <=> query LIMIT 10'),
	make_insert('rum', 'INSERT INTO rum_texts VALUES (id, body)');

-- Arrays of the shingles' hashes have the resemblance of the texts.
ALTER DATABASE :"DBNAME" SET rum.array_similarity_function = 'jaccard';
ALTER DATABASE :"DBNAME" SET rum.array_similarity_threshold = 0.8;
SET rum.array_similarity_function = 'jaccard';
SET rum.array_similarity_threshold = 0.8;
SELECT make_peer('rum_array', 'RUM, arrays of shingles', 'yes, of texts', 'index');
SELECT time_statement('rum_array', 'build', 'ALTER TABLE rum_array_texts ADD COLUMN hashes bigint[] GENERATED ALWAYS AS (shingle_hashes(to_shingles(body))) STORED');
SELECT time_statement('rum_array', 'build', 'CREATE INDEX ON rum_array_texts USING rum (hashes rum_anyarray_ops)');
SELECT make_function('rum_array', 'search', 'h bigint[] := shingle_hashes(to_shingles(q));', 'SELECT id FROM rum_array_texts WHERE hashes % h'),
	make_function('rum_array', 'nearest', 'h bigint[] := shingle_hashes(to_shingles(q));',
		'SELECT id FROM rum_array_texts WHERE hashes && h ORDER BY hashes <=> h LIMIT 10'),
	make_insert('rum_array', 'INSERT INTO rum_array_texts VALUES (id, body)');
