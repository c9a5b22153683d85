-- Precision, recall and F1 of each method at its best threshold, on pages of
-- documentation.  Two pages with the same title are a true pair.
--
-- Reads rows of accuracy.pl from stdin.

SET client_min_messages = warning;
SET work_mem = '64MB';
\o /dev/null
CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE pages (site text, label text, variant text, body text);
\copy pages FROM pstdin
UPDATE pages SET body = strip_markup(body);

-- Leaves out pages of a few lines and pages that are whole books.
DELETE FROM pages
 WHERE (site, label) IN
	   (SELECT site, label FROM pages
		 WHERE variant = 'text' AND (length(body) > 100000 OR cardinality(show_tokens(body)) < 60));

CREATE TABLE documents AS
SELECT variant, row_number() OVER (PARTITION BY variant ORDER BY site, label)::int AS id, label, body FROM pages;
CREATE TABLE results (
	number int, variant text, method text, threshold float8,
	precision float8, recall float8, f1 float8, bytes float8, made float8, compared float8);

-- Compares all pairs of pages of a variant by a method; a pair without a score is not found.
-- make: an expression over body; compare: an expression over a.sig, b.sig and v, the variant's name. A
-- scheme, if there is one, makes a lexicon of all shingles first.
CREATE FUNCTION measure(number int, method text, make text, compare text, lexicon text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	v text;
	start timestamptz;
	made float8;
	compared float8;
BEGIN
	FOREACH v IN ARRAY '{text,framed}'::text[] LOOP
		DROP TABLE IF EXISTS lexicon, signatures, scores;
		IF lexicon IS NOT NULL THEN
			EXECUTE format('CREATE TABLE lexicon AS SELECT * FROM shingle_frequencies(%L)',
				format('SELECT to_shingles(body, %L) FROM documents WHERE variant = %L', lexicon, v));
			CREATE UNIQUE INDEX ON lexicon (shingle);
		END IF;
		start := clock_timestamp();
		EXECUTE format('CREATE TABLE signatures AS SELECT id, label, %s AS sig FROM documents WHERE variant = %L', make, v);
		made := extract(epoch FROM clock_timestamp() - start);
		start := clock_timestamp();
		EXECUTE format('CREATE TABLE scores AS SELECT a.label = b.label AS same, %s AS score
						  FROM signatures a JOIN signatures b ON a.id < b.id CROSS JOIN (VALUES (%L)) AS t (v)', compare, v);
		compared := extract(epoch FROM clock_timestamp() - start);
		INSERT INTO results
		WITH t AS (SELECT score, sum(count(*)) OVER w AS reported, sum(count(*) FILTER (WHERE same)) OVER w AS good
					 FROM scores WHERE score > 0 GROUP BY score WINDOW w AS (ORDER BY score DESC)),
			 r AS (SELECT score, reported, good, wanted
					 FROM (SELECT count(*) AS wanted FROM scores WHERE same) AS w LEFT JOIN t ON true)
		SELECT number, v, method, score, good / reported, good / wanted, coalesce(2 * good / (reported + wanted), 0),
			   (SELECT avg(pg_column_size(sig)) FROM signatures),
			   made / (SELECT count(*) FROM signatures), compared / (SELECT count(*) FROM scores)
		  FROM r ORDER BY 2 * good / (reported + wanted) DESC NULLS LAST, score DESC LIMIT 1;
	END LOOP;
END $$;

-- The number of values that two arrays share, as a share of the longer one.
CREATE FUNCTION shared(a anyarray, b anyarray) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$SELECT count(*)::float8 FROM (SELECT unnest(a) INTERSECT SELECT unnest(b)) AS s$$;

SELECT measure(1, 'same text (digest of the tokens)', $$sha256(convert_to(array_to_string(show_tokens(body), ' '), 'UTF8'))$$, '(a.sig = b.sig)::int');
SELECT measure(2, '`word 3`, Jaccard', $$to_shingles(body)$$, 'jaccard_similarity(a.sig, b.sig)');
SELECT measure(3, '`char 5`, Jaccard', $$to_shingles(body, 'char 5')$$, 'jaccard_similarity(a.sig, b.sig)');
SELECT measure(4, '`stopword 3`, Jaccard', $$to_shingles(body, 'stopword 3')$$, 'jaccard_similarity(a.sig, b.sig)');
SELECT measure(5, '`spot 1 2`, weighted Jaccard', $$to_shingles(body, 'spot 1 2')$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(6, '`spot 1 2`, antecedents of the paper''s example', $$to_shingles(body, 'spot 1 2', '{a,an,the,is}')$$, 'weighted_jaccard(a.sig, b.sig)');
SELECT measure(7, 'minhash(512, 1) of `word 3`', $$to_minhash(body)$$, 'similarity(a.sig, b.sig)');
SELECT measure(8, 'minhash(512, 1) of `spot 1 2`', $$to_minhash(body, scheme => 'spot 1 2')$$, 'similarity(a.sig, b.sig)');
SELECT measure(9, 'simhash(64) of `word 1`', $$to_simhash(body, scheme => 'word 1')$$, 'similarity(a.sig, b.sig)');
SELECT measure(10, 'simhash(256) of `word 3`', $$to_simhash(body, 256)$$, 'similarity(a.sig, b.sig)');
SELECT measure(11, 'bottom 128 of `word 3`', $$shingles_bottom(to_shingles(body), 128)$$, 'bottom_resemblance(a.sig, b.sig, 128)');
SELECT measure(12, '6 supershingles of 14 minima', $$minhash_bands(to_minhash(body, 84, 32), 14)$$, 'shared(a.sig, b.sig)');
SELECT measure(13, 'I-Match, idf 0.3 to 0.6', $$imatch(idf_filter(to_shingles(body, 'word 1'), 'lexicon', 0.3, 0.6))$$, '(a.sig = b.sig)::int', 'word 1');
SELECT measure(14, 'I-Match-S, idf 0.6 to 0.82', $$imatch(idf_filter(to_shingles(body, 'spot 1 2'), 'lexicon', 0.6, 0.82))$$, '(a.sig = b.sig)::int', 'spot 1 2');

-- tfidf_cosine() compares two texts; all pairs are found by a join over the words.
CREATE TABLE words AS
SELECT variant, id, shingle AS word, count * ln((SELECT count(DISTINCT id) FROM documents)::float8 / count(*) OVER w)::float8 AS weight
  FROM documents, show_shingles(body, 'word 1') WINDOW w AS (PARTITION BY variant, shingle);
CREATE TABLE norms AS SELECT variant, id, sqrt(sum(weight ^ 2)) AS norm FROM words GROUP BY variant, id;
CREATE UNIQUE INDEX ON norms (variant, id);
CREATE TABLE cosines AS
SELECT variant, x.id AS a, y.id AS b, sum(x.weight * y.weight) AS product
  FROM words x JOIN words y USING (variant, word) WHERE x.id < y.id AND x.weight > 0.1 GROUP BY variant, x.id, y.id;
CREATE UNIQUE INDEX ON cosines (variant, a, b);
SELECT measure(15, 'tf·idf cosine of `word 1`', $$to_shingles(body, 'word 1')$$,
	$$(SELECT product / x.norm / y.norm FROM cosines c, norms x, norms y WHERE (c.variant, c.a, c.b) = (v, a.id, b.id)
		  AND (x.variant, x.id) = (v, a.id) AND (y.variant, y.id) = (v, b.id))$$);

\o
\pset format unaligned
\pset tuples_only on
SELECT format('%s pages, alone and framed; %s pairs to be found among %s.', count(*) FILTER (WHERE variant = 'text'),
	(SELECT count(*) FROM documents a JOIN documents b USING (variant, label) WHERE a.id < b.id AND variant = 'text'),
	count(*) FILTER (WHERE variant = 'text') * (count(*) FILTER (WHERE variant = 'text') - 1) / 2) FROM documents;
SELECT '';
SELECT '| method | text: threshold | P | R | F1 | framed: threshold | P | R | F1 | bytes | µs to make | µs to compare |';
SELECT '|---|---|---|---|---|---|---|---|---|---|---|---|';
SELECT format('| %s | %s | %s | %s | **%s** | %s | %s | %s | **%s** | %s | %s | %s |', t.method,
	coalesce(round(t.threshold::numeric, 2)::text, '–'), coalesce(round(t.precision::numeric, 3)::text, '–'), round(coalesce(t.recall, 0)::numeric, 3), round(t.f1::numeric, 3),
	coalesce(round(f.threshold::numeric, 2)::text, '–'), coalesce(round(f.precision::numeric, 3)::text, '–'), round(coalesce(f.recall, 0)::numeric, 3), round(f.f1::numeric, 3),
	round(t.bytes::numeric), round((t.made * 1e6)::numeric), round((t.compared * 1e6)::numeric, 1))
  FROM results t JOIN results f USING (number) WHERE t.variant = 'text' AND f.variant = 'framed' ORDER BY number;
