-- Advice about schemes and thresholds.
-- PostgreSQL 13 gives less context.
\set SHOW_CONTEXT never

-- Words of a made language: word n of text t
CREATE FUNCTION word(t int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT translate(left(md5(abs(hashint4(t * 1000 + n)) % 3000 || ''), 5), '0123456789', 'ghijklmnop')$$;
CREATE FUNCTION words(t int, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT string_agg(word(t, n), ' ' ORDER BY n) FROM generate_series(first, last) AS n$$;

-- Copies: every tenth text is the one before it with two words changed
CREATE TABLE copies AS SELECT id, CASE WHEN id % 10 = 0 THEN words(id - 1, 1, 50) || ' one ' || words(id - 1, 52, 80) || ' two ' || words(id - 1, 82, 100) ELSE words(id, 1, 100) END AS body
FROM generate_series(1, 200) AS id;
SELECT * FROM neardup_advise('SELECT id, body FROM copies');
-- One scheme; rows are numbered where there is no id
SELECT * FROM neardup_advise('SELECT body FROM copies', 'char 5') WHERE topic ~ 'scheme|pair 0.9';
-- The answer does not depend on the order of rows, also where texts are left out
CREATE TABLE answers AS
SELECT 1 AS run, topic, finding FROM neardup_advise('SELECT id, body FROM copies ORDER BY id', sample => 100) WHERE topic !~ 'pair'
UNION ALL SELECT 2, topic, finding FROM neardup_advise('SELECT id, body FROM copies ORDER BY id DESC', sample => 100) WHERE topic !~ 'pair';
SELECT count(*) > 15 AS rows, count(*) FILTER (WHERE other.topic IS NULL) AS other
FROM answers LEFT JOIN answers AS other ON other.run = 2 AND (other.topic, other.finding) = (answers.topic, answers.finding) WHERE answers.run = 1;
SELECT finding FROM answers WHERE run = 1 AND topic = 'texts';
-- Pairs of a sample stay together: of 60 rows of 3,000, more than chance would leave (one pair in 2,500)
SELECT substring(finding FROM '(\d+) pairs')::int > 2 AS together
FROM neardup_advise('SELECT words(id / 2, 1, 40) FROM generate_series(1, 3000) AS id', 'word 3', 60) WHERE topic = 'at 0.8';

-- A form of 120 words around 40 of their own
CREATE TABLE forms AS SELECT id, words(0, 1, 60) || ' ' || words(CASE WHEN id % 10 = 0 THEN id - 1 ELSE id END, 1, 40) || ' ' || words(0, 61, 120) AS body
FROM generate_series(1, 100) AS id;
SELECT * FROM neardup_advise('SELECT id, body FROM forms', 'word 3') WHERE topic ~ 'form|scheme|at|ADV';

-- Titles
SELECT topic, finding FROM neardup_advise('SELECT words(CASE WHEN id % 10 = 0 THEN id - 1 ELSE id END, 1, 6) || CASE WHEN id % 10 = 0 THEN ''s'' ELSE '''' END FROM generate_series(1, 200) AS id') WHERE topic ~ 'length|scheme';

-- Scripts without spaces, of several languages, without words and without text
SELECT topic, finding FROM neardup_advise($$VALUES ('那时，天下人的口音、言语都是一样'), ('太初，言葉があった'), ('В начале было слово, и слово было у бога'), ('the word was with them, and the word was what it was'),
	('und das Wort war bei ihnen, und es war nicht ihr Wort'), (''), ('!!!'), (NULL), ('12 34')$$) WHERE topic ~ 'texts|length|scripts|languages|scheme';
SELECT * FROM neardup_advise('SELECT body FROM copies WHERE false');
SELECT * FROM neardup_advise('SELECT ''''::text');
SELECT * FROM neardup_advise('SELECT ''one text''');
SELECT * FROM neardup_advise('SELECT ''equal texts'' FROM generate_series(1, 3)', 'word 3');
-- As few texts as there may be, two of them near
SELECT topic, finding FROM neardup_advise($$VALUES (1, 'how coral reefs recover from bleaching'), (2, 'how coral reefs recover after bleaching'), (3, 'the words that sailors borrowed')$$) WHERE topic ~ 'scheme char|pair';
SELECT finding FROM neardup_advise('SELECT repeat(''long '', 60000) FROM generate_series(1, 3)') WHERE topic = 'texts';

-- Texts that differ in punctuation only: chance reaches every threshold but 1
SELECT finding FROM neardup_advise('SELECT ''one two three four five'' || repeat(''.'', id) FROM generate_series(1, 100) AS id') WHERE topic ~ '^at|ADVICE: thr|pair';
-- Of a long id the beginning is kept
SELECT max(length(finding)) < 1000 AS short FROM neardup_advise('SELECT repeat(id::text, 100000), body FROM copies', 'word 3') WHERE topic ~ 'pair';

-- Records: the same fields in another order
SELECT topic, finding FROM neardup_advise($$SELECT id, CASE WHEN id % 10 = 0 THEN words(id - 1, 8, 14) || ' ' || words(id - 1, 1, 7) ELSE words(id, 1, 14) END FROM generate_series(1, 300) AS id$$) WHERE topic ~ 'scheme';

-- What it reads
SELECT count(*) > 0 AS varchar FROM neardup_advise('SELECT body::varchar(40) FROM copies');
CREATE DOMAIN prose AS text;
SELECT count(*) > 0 AS domain FROM neardup_advise('SELECT id::text, body::prose FROM copies');
SELECT neardup_advise(NULL);
SELECT neardup_advise('SELECT body FROM copies', 'word');
SELECT neardup_advise('SELECT body FROM copies', sample => 1);
SELECT neardup_advise('SELECT body FROM copies', sample => NULL);
SELECT neardup_advise('SELECT id, body, 1 FROM copies');
SELECT neardup_advise('SELECT body, id FROM copies');
SELECT neardup_advise('SELECT id, to_minhash(body) FROM copies');
SELECT neardup_advise('DELETE FROM copies RETURNING body');
SELECT neardup_advise('SELECT body FROM copies FOR UPDATE');

-- The chance that signatures reach a threshold
SELECT abs(minhash_probability(16, 1, 0, 1) * 2 ^ 16 - 1) < 1e-9 AS all_agree, minhash_probability(512, 1, 1, 1) AS equal, minhash_probability(64, 1, 0, 0.0001)::numeric(5, 4) AS half;
-- With half of the elements in common, a symbol of one bit agrees three times of four
SELECT abs(minhash_probability(16, 1, 0.5, 0.87) - (0.75 ^ 16 + 16 * 0.75 ^ 15 * 0.25)) < 1e-12 AS binomial;
-- Unrelated pairs reach 0.2 once in 400,000, and 300,000 documents have less than one such pair from 0.3 on
SELECT round(1 / minhash_probability(512, 1, 0, 0.2)::numeric, -3) AS once_in, round((300000 * 299999.0 / 2 * minhash_probability(512, 1, 0, 0.3))::numeric, 2) AS pairs;
-- The measured share: signatures of 200 sets without common elements, 19,900 pairs
CREATE TABLE measured AS SELECT id, to_minhash(to_shingles(ARRAY(SELECT id * 1000 + n FROM generate_series(1::bigint, 600) AS n))) AS sig FROM generate_series(1::bigint, 200) AS id;
SELECT count(*) FILTER (WHERE similarity(a.sig, b.sig) >= 0.08) / 19900.0 / minhash_probability(512, 1, 0, 0.08) BETWEEN 0.75 AND 1.25 AS as_computed FROM measured a JOIN measured b ON a.id < b.id;
SELECT minhash_probability(512, 3, 0, 0.5);
SELECT minhash_probability(512, 1, 1.5, 0.5);
SELECT minhash_probability(512, 1, 0.5, 0);

DROP TABLE copies, forms, answers, measured;
DROP DOMAIN prose;
DROP FUNCTION words, word;
