-- Functions that measure the accuracy of methods on the table "documents", the texts of one
-- corpus, whose labels say which of them are pairs; and what neardup_advise makes of them.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;

CREATE TABLE corpora (corpus text, id int, label text, body text);
CREATE TABLE documents (id int PRIMARY KEY, label text, body text);
CREATE TABLE results (
	corpus text, number int, method text, threshold float8, precision float8, recall float8, f1 float8,
	bytes float8, made float8, compared float8);
CREATE TABLE advice (
	corpus text, judged int, draw int, wrong float8, stubborn boolean, scheme text, lexicon boolean, measure text, threshold float8,
	precision float8, recall float8, f1 float8, expected float8, precision_low float8, precision_high float8);
CREATE TABLE verdicts (place int GENERATED ALWAYS AS IDENTITY, a text, b text, same boolean);

-- Makes the table "aids", what some methods take from all texts: the lexicons of the
-- candidates of neardup_advise, common shingles, and the most frequent words, which stand for
-- the stop words of any language.
CREATE PROCEDURE make_aids() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS aids;
	CREATE TABLE aids AS
	SELECT (array_agg(word ORDER BY texts DESC, word))[:10] AS ten_words, (array_agg(word ORDER BY texts DESC, word))[:50] AS fifty_words,
		   neardup_common_shingles('SELECT body FROM documents') AS common,
		   neardup_lexicon('SELECT body FROM documents', 'word 1') AS word_1, neardup_lexicon('SELECT body FROM documents', 'word 3') AS word_3,
		   neardup_lexicon('SELECT body FROM documents', 'char 3') AS char_3, neardup_lexicon('SELECT body FROM documents', 'char 5') AS char_5
	  FROM (SELECT word, count(DISTINCT id) AS texts FROM documents, unnest(show_tokens(body)) AS word GROUP BY word) AS w;
END $$;

-- The cosine of tf·idf compares two texts; all pairs are found by a join over the words.
CREATE PROCEDURE make_cosines() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS words, cosines;
	CREATE TABLE words AS
	SELECT id, shingle AS word, count * ln((SELECT count(*) FROM documents)::float8 / count(*) OVER (PARTITION BY shingle))::float8 AS weight
	  FROM documents, show_shingles(body, 'word 1');
	CREATE TABLE cosines AS
	WITH norms AS (SELECT id, sqrt(sum(weight ^ 2)) AS norm FROM words GROUP BY id)
	SELECT a, b, product / x.norm / y.norm AS score
	  FROM (SELECT x.id AS a, y.id AS b, sum(x.weight * y.weight) AS product
			  FROM words x JOIN words y USING (word) WHERE x.id < y.id AND x.weight > 0.1 GROUP BY x.id, y.id) AS p
	  JOIN norms x ON a = x.id JOIN norms y ON b = y.id;
END $$;

-- Returns a query that scores pairs of the table "signatures" by an expression over a.sig and b.sig.
CREATE FUNCTION by_score(compare text) RETURNS text LANGUAGE sql AS
$$SELECT format('SELECT a.id AS a, b.id AS b, %s AS score FROM signatures a JOIN signatures b ON a.id < b.id', compare)$$;

-- Returns a query that scores pairs by the exact join of weighted sets.
CREATE FUNCTION by_join(measure text) RETURNS text LANGUAGE sql AS
$$SELECT format('SELECT a, b, similarity AS score FROM neardup_pairs(''SELECT id, sig FROM signatures'', 0.02, multiset => true, equal => ''all'', measure => %L)', measure)$$;

-- Finds the threshold with the greatest F1 of a method, or takes a given one.
-- make: an expression over body and aids; find: a query that scores pairs, and a pair without a score is not found;
-- counted: an expression over body and aids, whose shingles are counted in the table "frequencies" first.
CREATE FUNCTION measure(number int, method text, make text, find text, counted text DEFAULT NULL, given float8 DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
	made float8;
	compared float8;
BEGIN
	DROP TABLE IF EXISTS frequencies, signatures, scores;
	IF counted IS NOT NULL THEN
		EXECUTE format('CREATE TABLE frequencies AS SELECT * FROM neardup_frequencies(%L)', format('SELECT %s FROM documents, aids', counted));
		CREATE UNIQUE INDEX ON frequencies (shingle);
	END IF;
	start := clock_timestamp();
	EXECUTE format('CREATE TABLE signatures AS SELECT id, %s AS sig FROM documents, aids', make);
	made := extract(epoch FROM clock_timestamp() - start);
	start := clock_timestamp();
	EXECUTE 'CREATE TABLE scores AS ' || find;
	compared := extract(epoch FROM clock_timestamp() - start);
	INSERT INTO results (number, method, threshold, precision, recall, f1, bytes, made, compared)
	WITH s AS (SELECT x.label = y.label AS same, score FROM scores JOIN documents x ON x.id = a JOIN documents y ON y.id = b WHERE score > 0),
		 t AS (SELECT score, sum(count(*)) OVER w AS reported, sum(count(*) FILTER (WHERE same)) OVER w AS good
				 FROM s GROUP BY score WINDOW w AS (ORDER BY score DESC)),
		 r AS (SELECT score, reported, good, wanted
				 FROM (SELECT count(*) AS wanted FROM documents a JOIN documents b USING (label) WHERE a.id < b.id) AS w LEFT JOIN t ON true)
	SELECT number, method, score, good / reported, coalesce(good / wanted, 0), coalesce(2 * good / (reported + wanted), 0),
		   (SELECT avg(pg_column_size(sig)) FROM signatures),
		   made / (SELECT count(*) FROM documents), compared / (SELECT count(*) * (count(*) - 1) / 2 FROM documents)
	  FROM r WHERE given IS NULL OR score >= given
	 ORDER BY CASE WHEN given IS NULL THEN 2 * good / (reported + wanted) ELSE -score END DESC NULLS LAST, score DESC LIMIT 1;
END $$;

-- Judges a pair by the labels.  A share of the verdicts is wrong: which ones depends on nothing but the pair and,
-- unless the judge is stubborn, how often it was judged before.
CREATE FUNCTION verdict(first text, second text, wrong float8, stubborn boolean) RETURNS boolean LANGUAGE sql AS $$
	SELECT (x.label = y.label) <> (('x' || left(md5(concat_ws(' ', least(first, second), greatest(first, second), times)), 7))::bit(28)::int < wrong * 2 ^ 28)
	  FROM documents x, documents y, (SELECT count(*) FILTER (WHERE NOT stubborn) AS times FROM verdicts WHERE (a, b) IN ((first, second), (second, first))) AS t
	 WHERE x.id = split_part(first, '.', 1)::int AND y.id = split_part(second, '.', 1)::int $$;

-- Judges pairs in rounds of ten, takes the first advice, and runs its statement.  Verdicts that are asked again
-- count among the pairs.
--
-- The number of the draw becomes a part of the ids, so each draw has other pairs.
CREATE FUNCTION take_advice(pairs int, draw int, wrong float8 DEFAULT 0, stubborn boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id || ''.%s'', body FROM documents', draw);
	first record;
BEGIN
	TRUNCATE verdicts;
	FOR round IN 1..pairs / 10 LOOP
		INSERT INTO verdicts (a, b, same)
		SELECT p.a, p.b, verdict(p.a, p.b, wrong, stubborn)
		  FROM neardup_pairs_to_judge(query, judged => CASE WHEN round > 1 THEN 'SELECT a, b, same FROM verdicts' END) AS p;
	END LOOP;
	SELECT * INTO first FROM neardup_advise(query, judged => CASE WHEN pairs > 0 THEN 'SELECT a, b, same FROM verdicts' END) LIMIT 1;
	EXECUTE format('INSERT INTO advice (judged, draw, wrong, stubborn, scheme, lexicon, measure, threshold, precision, recall, f1, expected, precision_low, precision_high)
		SELECT $1, $2, $10, $11, $3, $4, $5, $6, good / nullif(reported, 0), good / wanted, 2 * good / (reported + wanted), $7, $8, $9
		  FROM (SELECT count(*)::float8 AS reported, count(*) FILTER (WHERE x.label = y.label)::float8 AS good
				  FROM (%s) AS p JOIN documents x ON x.id = split_part(p.a, ''.'', 1)::int JOIN documents y ON y.id = split_part(p.b, ''.'', 1)::int) AS r,
			   (SELECT count(*) AS wanted FROM documents a JOIN documents b USING (label) WHERE a.id < b.id) AS w',
		coalesce(first.statement, 'SELECT NULL::text AS a, NULL::text AS b WHERE false'))
	USING pairs, draw, first.scheme, first.lexicon, first.measure, first.threshold, first.f1, first.precision_low, first.precision_high, wrong, stubborn;
END $$;

-- Prints a number of a result.
CREATE FUNCTION shown(value float8, digits int) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT coalesce(round(value::numeric, digits)::text, '–')$$;
