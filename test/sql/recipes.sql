-- Methods from the literature as SQL, as doc/explanation/methods shows them.

-- Forty groups of three: a text, a copy with a word changed, and a longer text that contains it; and forty unrelated texts
CREATE TABLE docs (id int PRIMARY KEY, kind text, body text) WITH (autovacuum_enabled = off);
INSERT INTO docs
SELECT 3 * g + k, (ARRAY['original', 'copy', 'container'])[k + 1],
	CASE WHEN k = 2 THEN string_agg('u' || g || 'x' || n, ' ' ORDER BY n) || ' ' ELSE '' END ||
	string_agg(CASE WHEN k = 1 AND n = 60 THEN 'changed' ELSE 'w' || (g * 7919 + n * n * 31 + n) % 100003 END, ' ' ORDER BY n)
FROM generate_series(1, 40) AS g, generate_series(0, 2) AS k, generate_series(1, 120) AS n GROUP BY g, k;
INSERT INTO docs SELECT 1000 + g, 'alone', string_agg('a' || g || 'x' || n, ' ' ORDER BY n) FROM generate_series(1, 40) AS g, generate_series(1, 120) AS n GROUP BY g;
ALTER TABLE docs ADD COLUMN s shingles GENERATED ALWAYS AS (to_shingles(body)) STORED;
ANALYZE docs;

-- ---- Exact duplicates: fingerprint, sort, equal neighbours ----------------------

INSERT INTO docs (id, kind, body) SELECT id + 5000, 'twin', upper(body) || '!' FROM docs WHERE id % 9 = 0 AND kind = 'original';
WITH f AS (SELECT id, imatch(to_shingles(show_tokens(body))) AS digest FROM docs WHERE body <> ''),
neighbours AS (SELECT lag(id) OVER w AS first, id AS second, lag(digest) OVER w = digest AS equal FROM f WINDOW w AS (ORDER BY digest, id))
SELECT count(*), bool_and(second = first + 5000) AS twins, (SELECT count(*) FROM docs WHERE kind = 'twin') AS expected FROM neighbours WHERE equal;
-- The order of words matters if the digest is made of the text
SELECT count(*) FROM (SELECT sha256(convert_to(array_to_string(show_tokens(body), ' '), 'UTF8')) AS digest FROM docs GROUP BY 1 HAVING count(*) > 1) AS v;
DELETE FROM docs WHERE kind = 'twin';

-- ---- The textbook's all pairs: (shingle, document), sorted, counted ---------------

CREATE TABLE postings AS SELECT h, id FROM docs, unnest(shingle_hashes(s)) AS h;
CREATE TABLE textbook AS
SELECT x.id AS a, y.id AS b, count(*) AS shared FROM postings AS x JOIN postings AS y ON x.h = y.h AND x.id < y.id GROUP BY x.id, y.id;
CREATE TABLE by_textbook AS
SELECT a, b, shared::float8 / (cardinality(x.s) + cardinality(y.s) - shared) AS similarity
FROM textbook JOIN docs AS x ON x.id = a JOIN docs AS y ON y.id = b
WHERE shared::float8 / (cardinality(x.s) + cardinality(y.s) - shared) >= 0.4;
-- The same pairs and numbers as when all pairs are compared
SELECT count(*), count(*) FILTER (WHERE t.similarity = similarity(x.s, y.s)) AS same
FROM by_textbook AS t FULL JOIN (docs AS x JOIN docs AS y ON x.id < y.id AND is_similar(x.s, y.s, 0.4)) ON t.a = x.id AND t.b = y.id;

-- And exactly those of neardup_pairs()
SELECT count(*), count(*) FILTER (WHERE t.similarity = p.similarity) AS same FROM by_textbook AS t FULL JOIN neardup_pairs('SELECT id, s FROM docs', 0.4) AS p USING (a, b);

-- ---- Broder 1997: ten-word shingles, 40-bit fingerprints, one in 25 ---------------

CREATE FUNCTION sketch_1997(body text) RETURNS shingles LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$SELECT shingles_mod(to_shingles(ARRAY(SELECT h & ((1::bigint << 40) - 1) FROM unnest(shingle_hashes(to_shingles(body, 'word 10'))) AS h)), 25)$$;
SELECT bool_and(h BETWEEN 0 AND (1::bigint << 40) - 1) AS forty_bits, avg(cardinality(sketch)) BETWEEN 3 AND 8 AS one_in_25
FROM (SELECT sketch_1997(body) AS sketch FROM docs) AS v, unnest(shingle_hashes(sketch)) AS h;
SELECT abs(avg(similarity(sketch_1997(x.body), sketch_1997(y.body)) - similarity(to_shingles(x.body, 'word 10'), to_shingles(y.body, 'word 10')))) < 0.1 AS unbiased,
	abs(avg(containment(sketch_1997(x.body), sketch_1997(z.body)) - containment(to_shingles(x.body, 'word 10'), to_shingles(z.body, 'word 10')))) < 0.1 AS contained
FROM docs AS x JOIN docs AS y ON y.id = x.id + 1 JOIN docs AS z ON z.id = x.id + 2 WHERE x.kind = 'original';

-- ---- Supershingles: 84 minima in six of 14; near-duplicates share two ---------------

CREATE TABLE six AS SELECT id, minhash_bands(to_minhash(s, 84, 32), 14) AS super FROM docs;
SELECT count(*) FILTER (WHERE y.id = x.id + 1 AND dx.kind = 'original') > 20 AS copies, count(*) FILTER (WHERE dx.kind = 'alone') AS strangers
FROM six AS x JOIN six AS y ON x.id < y.id AND x.super && y.super JOIN docs AS dx ON dx.id = x.id
WHERE (SELECT count(*) FROM unnest(x.super) AS h WHERE h = ANY (y.super)) >= 2;
-- As in 1997: shingles of the sorted sketch
SELECT avg((supershingles(shingles_bottom(x.s, 40), 4) && supershingles(shingles_bottom(y.s, 40), 4))::int) > 0.9 AS copies,
	count(*) FILTER (WHERE supershingles(shingles_bottom(x.s, 40), 4) && supershingles(shingles_bottom(z.s, 40), 4)) AS strangers
FROM docs AS x JOIN docs AS y ON y.id = x.id + 1 JOIN docs AS z ON z.id = x.id + 3 AND z.kind = 'original' WHERE x.kind = 'original';

-- ---- Henzinger 2006: first shingles, then SimHash -----------------------------------

WITH b_similar AS (
	SELECT x.id AS a, y.id AS b FROM six AS x JOIN six AS y ON x.id < y.id AND x.super && y.super
	WHERE (SELECT count(*) FROM unnest(x.super) AS h WHERE h = ANY (y.super)) >= 2)
SELECT count(*) > 20 AS found, bool_and(dy.id = dx.id + 1 AND dx.kind = 'original') AS copies_only FROM b_similar JOIN docs AS dx ON dx.id = a JOIN docs AS dy ON dy.id = b
WHERE similarity(to_simhash(dx.body, 512, 'word 1'), to_simhash(dy.body, 512, 'word 1')) >= 355 / 384.0;

-- ---- Bucket sketch of shingles that start at a stop word, by GIN ----------------------

CREATE TABLE news WITH (autovacuum_enabled = off) AS SELECT g * 2 + k AS id, string_agg(CASE WHEN n % 4 = 0 THEN 'the' ELSE 'n' || (g * 131 + n * n) % 9973 END, ' ' ORDER BY n) || CASE k WHEN 1 THEN ' and a footer of the page' ELSE '' END AS body
FROM generate_series(1, 30) AS g, generate_series(0, 1) AS k, generate_series(1, 100) AS n GROUP BY g, k;
ALTER TABLE news ADD COLUMN buckets bigint[] GENERATED ALWAYS AS (bucket_sketch(to_shingles(body, 'stopword 4'), 16)) STORED;
CREATE INDEX ON news USING gin (buckets);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM news WHERE buckets && bucket_sketch(to_shingles('the quick brown fox', 'stopword 4'), 16);
SELECT count(*) FILTER (WHERE y.id = x.id + 1) AS pairs, count(*) FILTER (WHERE y.id <> x.id + 1) AS others FROM news AS x JOIN news AS y ON x.buckets && y.buckets AND x.id < y.id AND x.id % 2 = 0
WHERE (SELECT count(*) FROM unnest(x.buckets) AS h WHERE h = ANY (y.buckets)) >= 8;

-- ---- Containment through an index: which documents hold this one? -----------------------

CREATE INDEX docs_sample ON docs USING gin ((shingle_hashes(shingles_mod(s, 8))));
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE shingle_hashes(shingles_mod(s, 8)) && shingle_hashes(shingles_mod(to_shingles('x y z'), 8));
WITH part AS (SELECT id, s FROM docs WHERE kind = 'original'),
found AS (SELECT p.id, d.id AS holder, containment(p.s, d.s) AS share FROM part AS p JOIN docs AS d
	ON shingle_hashes(shingles_mod(d.s, 8)) && shingle_hashes(shingles_mod(p.s, 8)) AND d.id <> p.id WHERE containment(p.s, d.s) >= 0.95)
SELECT count(*) FILTER (WHERE holder = id + 2) AS containers, count(DISTINCT id) AS parts, bool_and(share = 1) FILTER (WHERE holder = id + 2) AS whole FROM found;
-- Compared with all pairs: no document with a sample that is not empty is missed
SELECT count(*) AS missed FROM docs AS p JOIN docs AS d ON d.id <> p.id AND containment(p.s, d.s) >= 0.95
WHERE NOT shingle_hashes(shingles_mod(d.s, 8)) && shingle_hashes(shingles_mod(p.s, 8));
RESET enable_seqscan;

-- ---- I-Match, over sets, over anchored shingles, with several lexicons ---------------------

CREATE TABLE terms AS SELECT id, to_shingles(body, 'word 1') AS s FROM docs;
CREATE TABLE lexicon AS SELECT * FROM neardup_frequencies('SELECT s FROM terms');
ALTER TABLE lexicon ADD PRIMARY KEY (shingle);
-- Words of a single document are ignored, so a text and the longer one that contains it are the same.  The copy lacks a word, so it differs from both
CREATE TABLE imatched AS SELECT imatch(neardup_idf_filter(s, 'lexicon', 0.3, 0.9)) AS digest, id FROM terms;
SELECT count(*) AS groups, bool_and(ids[2] = ids[1] + 2) AS containers FROM (SELECT array_agg(id ORDER BY id) AS ids FROM imatched WHERE digest IS NOT NULL GROUP BY digest HAVING count(*) > 1) AS v;
-- The same by one join
SELECT count(*) AS by_join, count(*) FILTER (WHERE digest = joined) AS same
FROM (SELECT id, imatch(to_shingles(array_agg(h))) AS joined FROM terms, unnest(shingle_hashes(s)) AS h JOIN lexicon ON shingle = h AND idf BETWEEN 0.3 AND 0.9 GROUP BY id) AS j JOIN imatched USING (id);
SELECT count(*) AS without FROM imatched WHERE digest IS NULL;
-- A document with too few signatures is left out
SELECT count(*) AS kept FROM terms WHERE cardinality(neardup_idf_filter(s, 'lexicon', 0.3, 0.9)) >= 5;
-- Kolcz, Chowdhury, Alspector 2004: K more lexicons, each without a random third; equality in one is enough
CREATE TABLE many AS
SELECT id, k, imatch(shingle_hashes(neardup_idf_filter(s, 'lexicon', 0.3, 0.9))::shingles - dropped) AS digest
FROM terms, (SELECT k, to_shingles(array_agg(shingle)) AS dropped FROM lexicon, generate_series(0, 5) AS k WHERE k > 0 AND hashint8extended(shingle, k) % 3 = 0 GROUP BY k
	UNION ALL SELECT 0, '1/hashes/{}') AS l;
SELECT count(DISTINCT (x.id, y.id)) FILTER (WHERE x.k = 0) AS by_one, count(DISTINCT (x.id, y.id)) BETWEEN 100 AND 120 AS nearly_all, bool_and(x.id / 3 = y.id / 3) AS right_ones
FROM many AS x JOIN many AS y ON x.k = y.k AND x.digest = y.digest AND x.id < y.id;
-- I-Match-S: the same over signatures anchored at stop words; elements of a single document are left out
SELECT count(*) AS groups FROM (SELECT imatch(to_shingles(body, 'spot 1 2', '{the}')) AS digest FROM news GROUP BY 1 HAVING count(*) > 1) AS v;
CREATE TABLE spots AS SELECT * FROM neardup_frequencies('SELECT to_shingles(body, ''spot 1 2'', ''{the}'') FROM news');
SELECT count(*) AS groups, bool_and(ids[1] % 2 = 0 AND ids[2] = ids[1] + 1) AS pairs
FROM (SELECT array_agg(id ORDER BY id) AS ids FROM news GROUP BY imatch(neardup_idf_filter(to_shingles(body, 'spot 1 2', '{the}'), 'spots', 0.3, 0.9)) HAVING count(*) > 1) AS v;
WITH a AS (SELECT id, to_shingles(body, 'stopword 4') AS s FROM news), l AS (SELECT to_shingles(array_agg(h)) AS common FROM (SELECT h FROM a, unnest(shingle_hashes(s)) AS h GROUP BY h HAVING count(*) BETWEEN 2 AND 10) AS v)
SELECT count(*) AS groups FROM (SELECT imatch(shingle_hashes(s)::shingles & common) AS digest FROM a, l GROUP BY 1 HAVING count(*) = 2) AS v WHERE digest IS NOT NULL;

-- ---- TF-IDF -----------------------------------------------------------------------------

SELECT avg(neardup_tfidf_cosine(x.s, y.s, 'lexicon')) > 0.9 AS copies, avg(neardup_tfidf_cosine(x.s, z.s, 'lexicon')) < 0.1 AS strangers
FROM terms AS x JOIN docs AS d USING (id) JOIN terms AS y ON y.id = x.id + 1 JOIN terms AS z ON z.id = x.id + 21 JOIN docs AS dz ON dz.id = z.id AND dz.kind = 'original' WHERE d.kind = 'original';

-- ---- Groups added to a fingerprint (Yuan et al. 2012) ---------------------------------------

-- Ten groups of ten bits, each bit the lowest of a minimum; (group, value) finds documents
CREATE TABLE prints AS
SELECT id, g, sum((v & 1) << p % 10)::int AS value
FROM docs, unnest(shingles_minima(s, 100)) WITH ORDINALITY AS u(v, n), LATERAL (SELECT (n - 1)::int) AS o(p), LATERAL (SELECT p / 10 + 1) AS q(g) GROUP BY id, g;
-- Ten more groups improve the estimate without recomputing the first ten
INSERT INTO prints
SELECT id, g, sum((v & 1) << p % 10)::int
FROM docs, unnest((shingles_minima(s, 200))[101:200]) WITH ORDINALITY AS u(v, n), LATERAL (SELECT (n + 99)::int) AS o(p), LATERAL (SELECT p / 10 + 1) AS q(g) GROUP BY id, g;
CREATE INDEX ON prints (g, value);
WITH equal AS (SELECT x.id AS a, y.id AS b, count(*) AS groups FROM prints AS x JOIN prints AS y ON x.g = y.g AND x.value = y.value AND x.id < y.id GROUP BY x.id, y.id)
SELECT count(*) FILTER (WHERE b = a + 1 AND kind = 'original') AS copies, count(*) FILTER (WHERE kind = 'alone') AS strangers FROM equal JOIN docs ON docs.id = a WHERE groups >= 5;
-- Resemblance from bits: 2 (equal bits / bits) - 1
WITH bits AS (SELECT x.id, sum(10 - length(replace((x.value # y.value)::bit(10)::text, '0', '')))::float8 AS equal, count(*) * 10 AS all
	FROM prints AS x JOIN prints AS y ON y.id = x.id + 1 AND y.g = x.g GROUP BY x.id)
SELECT bool_and("all" = 200) AS bits, abs(avg(2 * equal / "all" - 1 - similarity(x.s, y.s))) < 0.03 AS unbiased, max(abs(2 * equal / "all" - 1 - similarity(x.s, y.s))) < 4 * 0.071 AS near
FROM bits JOIN docs AS x USING (id) JOIN docs AS y ON y.id = x.id + 1 WHERE x.kind = 'original';

-- ---- Final check: how much of one text is in the other, word by word ---------------------------

SELECT bool_and(token_edit_distance(x.body, y.body, 5) = 1) AS one_word, bool_and(length(longest_common_substring(x.body, y.body)) BETWEEN 0.45 * length(x.body) AND 0.6 * length(x.body)) AS half, bool_and(longest_common_substring(x.body, z.body) = x.body) AS whole
FROM docs AS x JOIN docs AS y ON y.id = x.id + 1 JOIN docs AS z ON z.id = x.id + 2 WHERE x.kind = 'original';
DROP FUNCTION sketch_1997;
DROP TABLE docs, postings, textbook, by_textbook, six, news, terms, lexicon, spots, imatched, many, prints;
