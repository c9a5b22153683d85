-- The other methods: each function's time for a text or a pair of texts, compared with md5() of a text.
\set QUIET on
\pset tuples_only on
\pset format unaligned

CREATE TABLE sample AS
SELECT row_number() OVER (ORDER BY md5(body)) AS id, body,
	-- A near-duplicate: every fiftieth word differs.
	(SELECT string_agg(CASE WHEN n % 50 = 0 THEN 'changed' ELSE word END, ' ' ORDER BY n)
		FROM regexp_split_to_table(body, '\s+') WITH ORDINALITY AS w(word, n)) AS copy,
	to_shingles(body) AS s
FROM texts WHERE class IN ('2 to 4 kB', '4 to 16 kB') ORDER BY md5(body) LIMIT 1000;
ALTER TABLE sample ADD PRIMARY KEY (id);
CREATE TABLE lexicon AS SELECT * FROM neardup_frequencies('SELECT s FROM sample');
ALTER TABLE lexicon ADD PRIMARY KEY (shingle);
CREATE TABLE pairs AS
SELECT x.body AS a, x.copy AS b, y.body AS c, x.s AS s, to_shingles(x.copy) AS t FROM sample AS x JOIN sample AS y ON y.id = x.id % (SELECT count(*) FROM sample) + 1 WHERE x.id <= 200;
CREATE TABLE postings AS SELECT h, id FROM sample, unnest(shingle_hashes(s)) AS h;
CREATE TABLE signed AS SELECT id, to_minhash(s) AS sig FROM sample;
CREATE INDEX ON signed USING neardup (sig);
VACUUM ANALYZE;

SELECT race('methods', array_agg(label ORDER BY n), array_agg(format('SELECT count(%s) FROM %s', label, source) ORDER BY n), :runs)
FROM (VALUES
	(1, 'md5(body)', 'sample'),
	(2, 'strip_markup(body)', 'sample'),
	(3, 'to_shingles(body)', 'sample'),
	(4, 'shingles_mod(s, 25)', 'sample'),
	(5, 'shingles_bottom(s, 400)', 'sample'),
	(6, 'shingles_minima(s, 100)', 'sample'),
	(7, 'supershingles(s, 6)', 'sample'),
	(8, 'bucket_sketch(s, 64)', 'sample'),
	(9, 'imatch(s)', 'sample'),
	(10, 'neardup_idf_filter(s, ''lexicon'', 0.2, 0.9)', 'sample'),
	(11, 'similarity(s, t)', 'pairs'),
	(12, 'bottom_resemblance(s, t, 400)', 'pairs'),
	(13, 'neardup_tfidf_cosine(s, t, ''lexicon'')', 'pairs'),
	(14, 'token_edit_distance(a, b)', 'pairs'),
	(15, 'token_edit_distance(a, c)', 'pairs'),
	(16, 'edit_distance(a, b)', 'pairs'),
	(17, 'edit_distance(a, c)', 'pairs'),
	(18, 'edit_distance(a, c, 200)', 'pairs'),
	(19, 'weighted_edit_distance(a, b, 200, 1, 1, 2)', 'pairs'),
	(20, 'longest_common_substring(a, c)', 'pairs')) AS v(n, label, source) \g /dev/null

\echo
\echo '### Methods: times md5() of a text'
\echo
SELECT format('%s real texts of 2 to 16 kB, %s bytes on average; b is a with every fiftieth word changed and its blanks made single ones, c another text.', count(*), round(avg(octet_length(body)))) FROM sample;
\echo
\echo '| function | times md5 | µs |'
\echo '|---|---:|---:|'
WITH each AS (SELECT label, place, ms * 1000 / CASE WHEN place <= 10 THEN (SELECT count(*) FROM sample) ELSE 200 END AS us FROM medians WHERE race = 'methods')
SELECT format('| `%s` | **%s ×** | %s |', label, round((us / first_value(us) OVER (ORDER BY place))::numeric, 2), round(us::numeric, 1)) FROM each ORDER BY place;

SELECT race('pairs', ARRAY['the textbook''s SQL', '`is_similar`, all with all', '`is_similar` by the index on minhash, then exact', '`neardup_pairs`, exact'],
	ARRAY['SELECT count(*) FROM (SELECT x.id AS a, y.id AS b, count(*) AS shared FROM postings AS x JOIN postings AS y ON x.h = y.h AND x.id < y.id GROUP BY x.id, y.id) AS v
			JOIN sample AS x ON x.id = a JOIN sample AS y ON y.id = b WHERE shared::float8 / (cardinality(x.s) + cardinality(y.s) - shared) >= 0.7',
		'SELECT count(*) FROM sample AS x JOIN sample AS y ON x.id < y.id AND is_similar(x.s, y.s, 0.7)',
		'SELECT count(*) FROM signed AS x JOIN signed AS y ON x.id < y.id AND is_similar(x.sig, y.sig, 0.65) JOIN sample AS a ON a.id = x.id JOIN sample AS b ON b.id = y.id AND is_similar(a.s, b.s, 0.7)',
		'SELECT count(*) FROM neardup_pairs(''SELECT id, s FROM sample'', 0.7)'],
	least(:runs, 3)) \g /dev/null

\echo
\echo '### All pairs of these texts at 0.7'
\echo
\echo '| way | times the textbook | ms |'
\echo '|---|---:|---:|'
SELECT format('| %s | **%s ×** | %s |', label, round((ms / first_value(ms) OVER (ORDER BY place))::numeric, 3), round(ms::numeric)) FROM medians WHERE race = 'pairs' ORDER BY place;
