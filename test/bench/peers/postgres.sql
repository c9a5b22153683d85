-- What comes with PostgreSQL: a digest in a unique index, and pg_trgm.
SELECT make_peer('digest', 'md5 of the words, B-tree', 'yes, of equality', 'no');
CREATE FUNCTION digest_of(body text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	$$SELECT md5(btrim(regexp_replace(lower(body), '\W+', ' ', 'g')))::uuid$$;
SELECT time_statement('digest', 'build', 'ALTER TABLE digest_texts ADD COLUMN digest uuid GENERATED ALWAYS AS (digest_of(body)) STORED');
SELECT time_statement('digest', 'build', 'CREATE INDEX ON digest_texts (digest)');
SELECT make_function('digest', 'search', 'd uuid := digest_of(q);', 'SELECT id FROM digest_texts WHERE digest = d'),
	make_insert('digest', 'INSERT INTO digest_texts VALUES (id, body)');

-- Its threshold is a setting, and its similarity that of sets of trigrams of characters.
CREATE EXTENSION pg_trgm;
ALTER DATABASE :"DBNAME" SET pg_trgm.similarity_threshold = 0.8;
SET pg_trgm.similarity_threshold = 0.8;
SELECT make_peer('trgm_gin', 'pg_trgm, GIN', 'yes, of trigrams', 'index');
SELECT time_statement('trgm_gin', 'build', 'CREATE INDEX ON trgm_gin_texts USING gin (body gin_trgm_ops)');
SELECT make_function('trgm_gin', 'search', '', 'SELECT id FROM trgm_gin_texts WHERE body % q'),
	make_insert('trgm_gin', 'INSERT INTO trgm_gin_texts VALUES (id, body)');

-- An index row of GiST has all trigrams of a text, and must fit in a page.
SELECT make_peer('trgm_gist', 'pg_trgm, GiST, texts up to 12,000 characters', 'yes, of trigrams', 'index');
SELECT time_statement('trgm_gist', 'build', 'CREATE INDEX ON trgm_gist_texts USING gist (body gist_trgm_ops (siglen = 256)) WHERE length(body) <= 12000');
SELECT make_function('trgm_gist', 'search', '', 'SELECT id FROM trgm_gist_texts WHERE body % q AND length(body) <= 12000'),
	make_function('trgm_gist', 'nearest', '', 'SELECT id FROM trgm_gist_texts WHERE length(body) <= 12000 ORDER BY body <-> q LIMIT 10'),
	make_insert('trgm_gist', 'INSERT INTO trgm_gist_texts VALUES (id, body)');
