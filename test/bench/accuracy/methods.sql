-- Measures all methods on the texts of "corpus", and neardup_advise without verdicts and
-- with 30, 60 and 120 judged pairs, as many times as "draws" says; 60 also with wrong verdicts.  Unless "all" is
-- set, no methods but the candidates of neardup_advise.

SET client_min_messages = error;
SET work_mem = '64MB';
\o /dev/null
TRUNCATE documents;
INSERT INTO documents SELECT id, label, body FROM corpora WHERE corpus = :'corpus' ORDER BY id;
ANALYZE documents;
ALTER TABLE results ALTER corpus SET DEFAULT :'corpus';
ALTER TABLE advice ALTER corpus SET DEFAULT :'corpus';
CALL make_aids();
CALL make_cosines();

-- The candidates of neardup_advise.  The lexicons weigh nothing what a twentieth of the texts share.
SELECT measure(1, '`word 1`, resemblance', $$to_shingles(body, 'word 1')$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(2, '`word 3`, resemblance', $$to_shingles(body)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(3, '`char 3`, resemblance', $$to_shingles(body, 'char 3')$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(4, '`char 5`, resemblance', $$to_shingles(body, 'char 5')$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(5, '`word 1` with a lexicon, resemblance', $$weigh(to_shingles(body, 'word 1'), word_1)$$, by_join('resemblance'));
SELECT measure(6, '`word 3` with a lexicon, resemblance', $$weigh(to_shingles(body), word_3)$$, by_join('resemblance'));
SELECT measure(7, '`char 3` with a lexicon, resemblance', $$weigh(to_shingles(body, 'char 3'), char_3)$$, by_join('resemblance'));
SELECT measure(8, '`char 5` with a lexicon, resemblance', $$weigh(to_shingles(body, 'char 5'), char_5)$$, by_join('resemblance'));
SELECT measure(9, '`word 1` with a lexicon, containment', $$weigh(to_shingles(body, 'word 1'), word_1)$$, by_join('containment'));
SELECT measure(10, '`word 3` with a lexicon, containment', $$weigh(to_shingles(body), word_3)$$, by_join('containment'));
SELECT measure(11, '`char 3` with a lexicon, containment', $$weigh(to_shingles(body, 'char 3'), char_3)$$, by_join('containment'));
SELECT measure(12, '`char 5` with a lexicon, containment', $$weigh(to_shingles(body, 'char 5'), char_5)$$, by_join('containment'));

-- The lines that README begins with.
SELECT measure(50, 'minhash(512, 1) of `word 3` at 0.8', 'to_minhash(body)', by_score('similarity(a.sig, b.sig)'), given => 0.8);
SELECT measure(51, 'minhash(512, 1) of `char 5` with a lexicon at 0.36', 'to_minhash(body, lexicon => char_5)', by_score('similarity(a.sig, b.sig)'), given => 0.36);
SELECT measure(52, '`char 5` with a lexicon, containment 0.6', $$weigh(to_shingles(body, 'char 5'), char_5)$$, by_join('containment'), given => 0.6);

\if :all
SELECT measure(20, 'minhash(512, 1) of `word 3`', $$to_minhash(body)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(21, 'minhash(512, 1) of `word 3` minus common shingles', $$to_minhash(to_shingles(body) - common)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(22, 'minhash(512, 1) of `word 3` with a lexicon', $$to_minhash(body, lexicon => word_3)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(23, 'minhash(512, 1) of `word 1` with a lexicon', $$to_minhash(body, lexicon => word_1)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(24, 'minhash(512, 1) of `char 5` with a lexicon', $$to_minhash(body, lexicon => char_5)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(25, '`spot 1 2`, weighted Jaccard', $$to_shingles(body, 'spot 1 2')$$, by_score('weighted_jaccard(a.sig, b.sig)'));
SELECT measure(26, '`spot 1 2`, frequent words of the texts', $$to_shingles(body, 'spot 1 2', ten_words, fifty_words)$$, by_score('weighted_jaccard(a.sig, b.sig)'));
SELECT measure(27, 'simhash(64) of `word 1`', $$to_simhash(body, scheme => 'word 1')$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(28, 'simhash(256) of `word 3`', $$to_simhash(body, 256)$$, by_score('similarity(a.sig, b.sig)'));
SELECT measure(29, '6 supershingles of 14 minima', $$minhash_bands(to_minhash(body, 84, 32), 14)$$,
	'SELECT a.id AS a, b.id AS b, count(*)::float8 AS score FROM (SELECT id, unnest(sig) AS band FROM signatures) AS a
	   JOIN (SELECT id, unnest(sig) AS band FROM signatures) AS b USING (band) WHERE a.id < b.id GROUP BY a.id, b.id');
SELECT measure(30, 'I-Match, idf 0.3 to 0.6', $$imatch(neardup_idf_filter(to_shingles(body, 'word 1'), 'frequencies', 0.3, 0.6))$$, by_score('(a.sig = b.sig)::int'), $$to_shingles(body, 'word 1')$$);
SELECT measure(31, 'tf·idf cosine of `word 1`', $$to_shingles(body, 'word 1')$$, 'SELECT a, b, score FROM cosines');
SELECT measure(32, '`word 3`, idf 0.2 to 0.85, resemblance', $$neardup_idf_filter(to_shingles(body), 'frequencies', 0.2, 0.85)$$, by_score('similarity(a.sig, b.sig)'), 'to_shingles(body)');
SELECT measure(33, '`spot 2 3`, weighted Jaccard', $$to_shingles(body, 'spot 2 3')$$, by_score('weighted_jaccard(a.sig, b.sig)'));
SELECT measure(34, '`spot 2 3`, idf 0.2 to 0.85', $$neardup_idf_filter(to_shingles(body, 'spot 2 3'), 'frequencies', 0.2, 0.85)$$, by_score('weighted_jaccard(a.sig, b.sig)'), $$to_shingles(body, 'spot 2 3')$$);
SELECT measure(35, '`spot 2 3`, frequent words of the texts, idf 0.2 to 0.85', $$neardup_idf_filter(to_shingles(body, 'spot 2 3', ten_words, fifty_words), 'frequencies', 0.2, 0.85)$$, by_score('weighted_jaccard(a.sig, b.sig)'), $$to_shingles(body, 'spot 2 3', ten_words, fifty_words)$$);
\endif

SELECT take_advice(0, 1);
SELECT take_advice(pairs, draw) FROM (VALUES (30), (60), (120)) AS p (pairs), generate_series(1, :draws) AS draw;
SELECT take_advice(60, draw, wrong, stubborn) FROM (VALUES (0.05), (0.1)) AS w (wrong), (VALUES (false), (true)) AS s (stubborn), generate_series(1, :draws) AS draw;

INSERT INTO results (number, method, threshold, precision, recall, f1)
SELECT 40 + judged, CASE judged WHEN 0 THEN 'as `neardup_advise` says, without verdicts' ELSE format('as `neardup_advise` says, %s judged pairs', judged) END,
	   avg(threshold), avg(precision), avg(recall), avg(f1)
  FROM advice WHERE corpus = :'corpus' AND wrong = 0 GROUP BY judged;
\o
