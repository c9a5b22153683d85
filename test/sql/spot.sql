-- Spot signatures: the paper's example, lists of words, and the recipes of
-- doc/explanation/methods/spotsigs.md.
\set sentence 'At a rally to kick off a weeklong campaign for the South Carolina primary, Obama tried to set the record straight from an attack circulating widely on the Internet that is designed to play into prejudices against Muslims and fears of terrorism'

-- ---- The paper ---------------------------------------------------------------

-- Section 3: seven signatures.
SELECT shingle, count
  FROM show_shingles(:'sentence', 'spot 1 2', antecedents => '{a,an,the,is}');
SELECT cardinality(s), shingle_total(s)
  FROM to_shingles(:'sentence', 'spot 1 2', antecedents => '{a,an,the,is}') AS s;

-- The paper's example of deduplication: d1 and d3 of three documents are a pair at 0.8.
CREATE TEMPORARY TABLE d AS
SELECT name, to_shingles(string_to_array(words, ' ')) AS s
  FROM (VALUES ('d1', 's1 s1 s1 s1 s1 s2 s2 s2 s2 s3 s3 s3 s3'),
			   ('d2', 's1 s1 s1 s1 s1 s1 s1 s1 s2 s2 s2 s2'),
			   ('d3', 's1 s1 s1 s1 s2 s2 s2 s2 s2 s3 s3 s3 s3 s3')) AS v (name, words);
SELECT a.name, b.name, weighted_jaccard(a.s, b.s)
  FROM d a JOIN d b ON a.name < b.name ORDER BY 1, 2;

-- ---- Distance and chain ------------------------------------------------------

-- A chain of every second content word; the end of the text discards an incomplete chain.
SELECT shingle FROM show_shingles('the one of two a three four five', 'spot 2 2', '{the,a}');
SELECT shingle FROM show_shingles('the one of two a three four five', 'spot 1 3', '{the,a}');
SELECT shingle FROM show_shingles('the one two three four', 'spot 15 1', '{the}');

-- The same antecedent twice before a chain, and the same signature later on.
SELECT * FROM show_shingles('the the cat sat. The cat sat', 'spot 1 2', '{the}') AS t (shingle, count, hash);

-- A chain of one word has the hash of a word shingle of two.
SELECT a.shingle, b.shingle
  FROM show_shingles('it rains', 'spot 1 1') a JOIN show_shingles('it rains', 'word 2') b USING (hash);

-- Texts without spot signatures.
SELECT t, to_shingles(t, 'spot 1 2')
  FROM unnest('{"","is","is it you","the old market hall"}'::text[]) AS t;

-- ---- Lists -------------------------------------------------------------------

-- A list replaces that of the language, NULL keeps it. Chains skip stop words and all antecedents.
SELECT shingle FROM show_shingles('it has the red fox of the old wood', 'spot 1 2', NULL, '{red,old}');
SELECT shingle FROM show_shingles('the red fox of the old wood', 'spot 1 1', '{red,the}', '{}');
SELECT to_shingles('is the red fox', 'spot 1 2', NULL, NULL) = to_shingles('is the red fox', 'spot 1 2') AS same;

-- Several specifications, each with its own distance and chain (section 3).
SELECT shingle
  FROM show_shingles('the cat sat on a mat by the door', 'spot 1 2', '{the,"the(2,1)","a(1,1)"}')
 ORDER BY shingle;

-- Order, case and repetition do not matter; another list is another scheme.
SELECT to_shingles('the cat sat', 'spot 1 2', '{a,the}') = to_shingles('the cat sat', 'spot 1 2', '{The,a,a}') AS same;
SELECT similarity(to_shingles('the cat sat', 'spot 1 2', '{a,the}'),
						  to_shingles('the cat sat', 'spot 1 2', '{the}'));
SELECT similarity(to_shingles('it rains today', 'spot 1 2'),
						  to_shingles('it rains today', 'spot 1 2 de'));

-- Languages.
SELECT shingle FROM show_shingles('Der Hund ist über die große Straße gelaufen', 'spot 1 2 de');
SELECT shingle FROM show_shingles('Le chien a traversé la grande rue; il est vieux comme l''été', 'spot 1 2 FR');
SELECT l, count(*)
  FROM unnest('{en,de,fr,es,it,nl,pt,sv}'::text[]) AS l,
	   show_shingles('that qui ist som foi heeft può fueron wort', 'spot 1 1 ' || l) GROUP BY l ORDER BY l;

-- ---- Values ------------------------------------------------------------------

-- A value shows its scheme as text and in the binary format, and so do its signatures.
SELECT to_shingles('it rains today', 'spot 1 2 en'), to_shingles('il pleut aujourd''hui souvent', 'spot 1 2 fr');
SELECT to_shingles('the cat sat', 'spot 1 2', '{the}');
SELECT s::text::shingles = s AS same FROM to_shingles('the cat sat', 'spot 1 2', '{the}') AS s;
SELECT left(to_minhash(:'sentence', scheme => 'spot 1 2')::text, 34) AS minhash,
	   left(to_simhash(:'sentence', scheme => 'spot 1 2')::text, 20) AS simhash;
SELECT similarity(to_minhash(to_shingles(:'sentence', 'spot 1 2', '{a}')),
				  to_minhash(to_shingles(:'sentence', 'spot 1 2', '{a}')));
SELECT to_shingles(NULL, 'spot 1 2', '{a}') IS NULL AS no_text,
	   to_shingles('a b c', NULL, '{a}') IS NULL AS no_scheme,
	   (SELECT count(*) FROM show_shingles(NULL, 'spot 1 2', '{a}')) AS no_rows;

-- ---- Errors ------------------------------------------------------------------

SELECT to_shingles('x', 'spot 0 2');
SELECT to_shingles('x', 'spot 1 2 xx');
SELECT to_shingles('x', 'spot 1 2 lists 00ff');
SELECT to_shingles('x', 'spot 1 2 lists 00ff', '{the}');
SELECT to_shingles('x', 'word 3', '{the}');
SELECT to_shingles('x', 'spot 1 2', '{"of the"}');
SELECT to_shingles('x', 'spot 1 2', '{"the(1,99)"}');
SELECT to_shingles('x', 'spot 1 2', '{the,NULL}');
SELECT to_shingles('x', 'spot 1 2', '{the}', '{don''t}');
SELECT '1/spot 1 2 lists 8000/{}'::shingles;

-- ---- The recipes of doc/explanation/methods/spotsigs.md ----------------------------------

-- An article that two sites print, each within its own frame.
CREATE TEMPORARY TABLE news (id int, site text, body text);
INSERT INTO news VALUES
(1, 'north', 'home sport weather markets contact login The mayor of the town said that a new bridge over the river will be opened by the end of the summer, and that the old ferry is to be kept for visitors. subscribe newsletter follow twitter facebook'),
(2, 'south', 'news politics culture jobs cars property search The mayor of the town said that a new bridge over the river will be opened by the end of the summer, and that the old ferry is to be kept for visitors. related stories most read comments 12 share'),
(3, 'north', 'home sport weather markets contact login A fire in the old market hall has destroyed the roof, but the walls are safe and the traders were allowed to return to the stalls. subscribe newsletter follow twitter facebook'),
(4, 'south', 'news politics culture jobs cars property search related stories most read comments 0 share');

-- Near-duplicates by spot signatures and by plain shingles: only the latter count the frame.
SELECT a.id, b.id, round(weighted_jaccard(to_shingles(a.body, 'spot 1 2'), to_shingles(b.body, 'spot 1 2'))::numeric, 2) AS spot,
	   round(similarity(to_shingles(a.body), to_shingles(b.body))::numeric, 2) AS word_3
  FROM news a JOIN news b ON a.id < b.id ORDER BY 3 DESC, 1, 2 LIMIT 2;

-- With a least number of signatures, a page of navigation is left out, as it has none.
SELECT id, shingle_total(to_shingles(body, 'spot 1 2')) AS signatures FROM news ORDER BY id;
SELECT id FROM news WHERE shingle_total(to_shingles(body, 'spot 1 2')) >= 3 ORDER BY id;

-- LSH-S: minhash over spot signatures, l bands of k rows, then the exact check.
CREATE TEMPORARY TABLE spots AS
SELECT id, s, to_minhash(s, 128, 32) AS sig
  FROM (SELECT id, to_shingles(body, 'spot 1 2') AS s FROM news) AS n
 WHERE shingle_total(s) >= 3;
CREATE TEMPORARY TABLE bands AS
SELECT id, key FROM spots, unnest(minhash_bands(sig, 4)) AS key;
CREATE INDEX ON bands (key);
SELECT a.id, b.id, round(weighted_jaccard(a.s, b.s)::numeric, 2) AS similarity
  FROM (SELECT DISTINCT x.id AS x, y.id AS y
		  FROM bands x JOIN bands y ON x.key = y.key AND x.id < y.id) AS candidates
  JOIN spots a ON a.id = x JOIN spots b ON b.id = y
 WHERE weighted_jaccard(a.s, b.s) >= 0.44;
