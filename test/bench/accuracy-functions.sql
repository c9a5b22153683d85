-- Functions that measure the accuracy of methods.  Each page of accuracy.sh makes a table
-- "documents" of texts in variants, whose labels say which of them are pairs, runs
-- accuracy-methods.sql, and shows "results".

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS neardup;

CREATE TABLE results (
	collection text, number int, variant text, method text, threshold float8, precision float8, recall float8,
	f1 float8, f1_of_copies float8, f1_advised float8, bytes float8, made float8, compared float8);

-- Makes the table "aids", what some methods take from all texts of a variant: the most
-- frequent words, which stand for the stop words of any language.
CREATE PROCEDURE make_aids() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS aids;
	CREATE TABLE aids AS
	SELECT variant, (array_agg(word ORDER BY texts DESC, word))[:10] AS ten_words, (array_agg(word ORDER BY texts DESC, word))[:50] AS fifty_words
	  FROM (SELECT variant, word, count(DISTINCT id) AS texts
			  FROM documents, unnest(show_tokens(body)) AS word GROUP BY variant, word) AS w
	 GROUP BY variant;
END $$;

-- The cosine of tf·idf compares two texts; all pairs are found by a join over the words.
CREATE PROCEDURE make_cosines() LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS words, norms, cosines;
	CREATE TABLE words AS
	SELECT variant, id, shingle AS word,
		   count * ln((SELECT count(DISTINCT id) FROM documents)::float8 / count(*) OVER w)::float8 AS weight
	  FROM documents, show_shingles(body, 'word 1') WINDOW w AS (PARTITION BY variant, shingle);
	CREATE TABLE norms AS SELECT variant, id, sqrt(sum(weight ^ 2)) AS norm FROM words GROUP BY variant, id;
	CREATE UNIQUE INDEX ON norms (variant, id);
	CREATE TABLE cosines AS
	SELECT variant, x.id AS a, y.id AS b, sum(x.weight * y.weight) AS product
	  FROM words x JOIN words y USING (variant, word) WHERE x.id < y.id AND x.weight > 0.1 GROUP BY variant, x.id, y.id;
	CREATE UNIQUE INDEX ON cosines (variant, a, b);
END $$;

-- The number of values that two arrays share.
CREATE FUNCTION shared(a anyarray, b anyarray) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$SELECT count(*)::float8 FROM (SELECT unnest(a) INTERSECT SELECT unnest(b)) AS s$$;

-- Returns F1 of the scores of measure() at a threshold.
CREATE FUNCTION f1_at(threshold float8) RETURNS float8 LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT 2.0 * count(*) FILTER (WHERE same AND score >= threshold)
				   / nullif(count(*) FILTER (WHERE score >= threshold) + count(*) FILTER (WHERE same), 0) FROM scores);
END $$;

-- Compares all pairs of texts of each variant by a method; a pair without a score is not found.
-- make: an expression over body and aids; compare: an expression over a.sig, b.sig and v, the variant's
-- name; counted: a scheme whose shingles are counted in the table "frequencies" first; advice: an
-- expression over advised and aids, the advised threshold.
CREATE FUNCTION measure(number int, method text, make text, compare text, counted text DEFAULT NULL,
	advice text DEFAULT 'threshold') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	v text;
	start timestamptz;
	threshold float8;
	made float8;
	compared float8;
BEGIN
	FOR v IN SELECT DISTINCT variant FROM documents ORDER BY variant LOOP
		DROP TABLE IF EXISTS frequencies, signatures, scores;
		IF counted IS NOT NULL THEN
			EXECUTE format('CREATE TABLE frequencies AS SELECT * FROM neardup_frequencies(%L)',
				format('SELECT to_shingles(body, %L) FROM documents WHERE variant = %L', counted, v));
			CREATE UNIQUE INDEX ON frequencies (shingle);
		END IF;
		EXECUTE format('SELECT %s FROM advised JOIN aids USING (variant) WHERE variant = %L', advice, v) INTO threshold;
		start := clock_timestamp();
		EXECUTE format('CREATE TABLE signatures AS SELECT id, label, %s AS sig
						  FROM documents JOIN aids USING (variant) WHERE variant = %L', make, v);
		made := extract(epoch FROM clock_timestamp() - start);
		start := clock_timestamp();
		EXECUTE format('CREATE TABLE scores AS SELECT a.label = b.label AS same, %s AS score
						  FROM signatures a JOIN signatures b ON a.id < b.id CROSS JOIN (VALUES (%L)) AS t (v)', compare, v);
		compared := extract(epoch FROM clock_timestamp() - start);
		INSERT INTO results (number, variant, method, threshold, precision, recall, f1, f1_of_copies, f1_advised, bytes, made, compared)
		WITH t AS (SELECT score, sum(count(*)) OVER w AS reported, sum(count(*) FILTER (WHERE same)) OVER w AS good
					 FROM scores WHERE score > 0 GROUP BY score WINDOW w AS (ORDER BY score DESC)),
			 r AS (SELECT score, reported, good, wanted
					 FROM (SELECT count(*) AS wanted FROM scores WHERE same) AS w LEFT JOIN t ON true)
		SELECT number, v, method, score, good / reported, good / wanted, coalesce(2 * good / (reported + wanted), 0),
			   f1_at(0.8), f1_at(threshold),
			   (SELECT avg(pg_column_size(sig)) FROM signatures),
			   made / (SELECT count(*) FROM signatures), compared / (SELECT count(*) FROM scores)
		  FROM r ORDER BY 2 * good / (reported + wanted) DESC NULLS LAST, score DESC LIMIT 1;
	END LOOP;
END $$;

-- Returns what neardup_advise says on a topic of a variant.
CREATE FUNCTION advice_on(wanted text, topic text, scheme text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT a.finding FROM neardup_advise(format('SELECT body FROM documents WHERE variant = %L', wanted), scheme) AS a
			 WHERE a.topic = advice_on.topic);
END $$;

-- Returns the number of texts, and of pairs among them, of a variant.
CREATE FUNCTION describe_documents(wanted text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT format('%s texts; %s pairs to be found among %s', count(*), sum(pairs), count(*) * (count(*) - 1) / 2)
			  FROM (SELECT row_number() OVER (PARTITION BY label) - 1 AS pairs FROM documents WHERE variant = wanted) AS d);
END $$;

-- Prints a number of a result.
CREATE FUNCTION shown(value float8, digits int) RETURNS text LANGUAGE sql IMMUTABLE AS
$$SELECT coalesce(round(value::numeric, digits)::text, '–')$$;
