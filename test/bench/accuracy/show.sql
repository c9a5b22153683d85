-- Prints the results of all corpora.

SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
\o /dev/null

-- The constants of src/extension/advise were chosen with a look at these corpora only.
CREATE TABLE development (corpus text);
INSERT INTO development VALUES ('en, alone'), ('en, form'), ('en, eight forms'), ('fr, alone'), ('fr, eight forms'), ('ja, form'), ('ja, eight forms'),
	('pages, text'), ('records, record'), ('records, one-sided'), ('records, persons'), ('revisions, en'), ('descriptions, source'), ('descriptions, revised');

INSERT INTO development SELECT 'planted, ' || kind FROM unnest('{copies,versions,serials,news,rare,excerpts,scans,forms,offers,twins,slopes}'::text[]) AS kind;

CREATE TABLE all_losses AS
SELECT b.corpus, b.f1 AS best, b.method, judged, wrong, stubborn, a.f1, b.f1 - a.f1 AS loss, b.corpus IN (TABLE development) AS developed,
	   b.corpus LIKE 'planted, %' AS planted, b.corpus IN ('records, products', 'planted, offers') AS products
  FROM (SELECT DISTINCT ON (corpus) * FROM results WHERE number < 40 ORDER BY corpus, f1 DESC, number) AS b
  JOIN (SELECT corpus, judged, wrong, stubborn, avg(f1) AS f1 FROM advice GROUP BY corpus, judged, wrong, stubborn) AS a USING (corpus);
CREATE VIEW losses AS SELECT * FROM all_losses WHERE wrong = 0;
CREATE TABLE sizes AS
SELECT corpus, count(*) AS texts, sum(pairs) AS pairs, avg(length(body)) AS characters
  FROM (SELECT *, row_number() OVER (PARTITION BY corpus, label) - 1 AS pairs FROM corpora) AS c GROUP BY corpus;
\o

SELECT '';
SELECT '| corpora | | loss without verdicts | 30 pairs | 60 pairs | 120 pairs | within .03: without verdicts | 60 pairs |';
SELECT '|---|---:|---:|---:|---:|---:|---:|---:|';
SELECT format('| %s | %s | %s | %s |', groups, count(*) / 4,
	concat_ws(' | ', shown(avg(loss) FILTER (WHERE judged = 0), 3), shown(avg(loss) FILTER (WHERE judged = 30), 3),
		'**' || shown(avg(loss) FILTER (WHERE judged = 60), 3) || '**', shown(avg(loss) FILTER (WHERE judged = 120), 3)),
	concat_ws(' | ', count(*) FILTER (WHERE judged = 0 AND loss <= 0.03), count(*) FILTER (WHERE judged = 60 AND loss <= 0.03)))
  FROM losses, LATERAL (VALUES (1, 'of development', developed AND NOT planted), (2, 'held out', NOT developed AND NOT planted AND NOT products), (3, 'products', products),
		(4, 'planted, of development', developed AND planted), (5, 'planted, held out', planted AND NOT developed)) AS g (place, groups, belongs)
 WHERE belongs GROUP BY place, groups ORDER BY place;

SELECT '';
SELECT '| without judged pairs | corpora | loss |';
SELECT '|---|---:|---:|';
SELECT format('| %s | %s | %s |', l.method, count(*), shown(avg(best - coalesce(f1, 0)), 3))
  FROM (SELECT DISTINCT corpus, best FROM losses) AS b CROSS JOIN (SELECT DISTINCT number, method FROM results WHERE number >= 50 AND number < 60) AS l
  LEFT JOIN results AS r USING (corpus, number) GROUP BY number, l.method ORDER BY number;

SELECT '';
SELECT '| 60 pairs, all corpora but products: loss if | the judge errs anew | errs in the same way |';
SELECT '|---|---:|---:|';
SELECT format('| %s %% of the verdicts are wrong | %s |', wrong * 100, string_agg(shown(loss, 3), ' | ' ORDER BY stubborn))
  FROM (SELECT wrong, stubborn, avg(loss) AS loss FROM all_losses WHERE judged = 60 AND wrong > 0 AND NOT products GROUP BY wrong, stubborn) AS l GROUP BY wrong ORDER BY wrong;

SELECT '';
SELECT '| corpus | texts | pairs | best F1 | of | without verdicts | 30 pairs | 60 pairs | 120 pairs | loss at 60 |';
SELECT '|---|---:|---:|---:|---|---:|---:|---:|---:|---:|';
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', corpus || CASE WHEN developed THEN '' ELSE ' \*' END, texts, pairs, '**' || shown(best, 3) || '**', method,
	string_agg(shown(f1, 3), ' | ' ORDER BY judged), shown(max(loss) FILTER (WHERE judged = 60), 3))
  FROM losses JOIN sizes USING (corpus) GROUP BY corpus, developed, texts, pairs, best, method ORDER BY corpus;
SELECT '';
SELECT '\*: held out.';

SELECT '';
SELECT '| corpora | judged | expected F1 less F1 | precision inside its interval of 95 % | median width | draws |';
SELECT '|---|---:|---:|---:|---:|---:|';
SELECT format('| %s | %s | %s | %s %% | %s | %s |', groups, judged, shown(avg(expected - f1), 3),
	shown(100 * avg((precision BETWEEN precision_low - 1e-9 AND precision_high + 1e-9)::int), 0), shown(percentile_cont(0.5) WITHIN GROUP (ORDER BY precision_high - precision_low), 2), count(*))
  FROM advice, LATERAL (SELECT CASE WHEN corpus IN (TABLE development) THEN 'of development' ELSE 'held out' END) AS g (groups)
 WHERE judged > 0 AND wrong = 0 GROUP BY groups, judged ORDER BY groups, judged;

\if :all
SELECT '';
SELECT '| F1, mean of nine languages | alone | one form | eight forms |';
SELECT '|---|---:|---:|---:|';
SELECT format('| %s | %s |', method, string_agg(shown(f1, 3), ' | ' ORDER BY place))
  FROM (SELECT number, method, place, avg(f1) AS f1
		  FROM results JOIN (VALUES (1, 'alone'), (2, 'form'), (3, 'eight forms')) AS v (place, variant)
			ON corpus LIKE '%, ' || variant AND split_part(corpus, ',', 1) = ANY (string_to_array(:'languages', ' ')) GROUP BY number, method, place) AS r
 GROUP BY number, method ORDER BY number;

SELECT '';
SELECT 'Best F1, alone / one form / eight forms:';
SELECT '';
SELECT '| method | ' || string_agg(language, ' | ' ORDER BY place) || ' |' FROM unnest(string_to_array(:'languages', ' ')) WITH ORDINALITY AS l (language, place);
SELECT '|---|' || repeat('---|', cardinality(string_to_array(:'languages', ' ')));
SELECT format('| %s | %s |', method, string_agg(shown(a.f1, 2) || ' / ' || shown(b.f1, 2) || ' / ' || shown(c.f1, 2), ' | ' ORDER BY place))
  FROM unnest(string_to_array(:'languages', ' ')) WITH ORDINALITY AS l (language, place)
  JOIN results a ON a.corpus = language || ', alone' JOIN results b USING (number, method) JOIN results c USING (number, method)
 WHERE b.corpus = language || ', form' AND c.corpus = language || ', eight forms' GROUP BY number, method ORDER BY number;

SELECT '';
SELECT 'Best F1, at its threshold:';
SELECT '';
SELECT '| method | ' || string_agg(corpus, ' | ' ORDER BY corpus) || ' | bytes | µs to make | µs to compare |' FROM (SELECT DISTINCT corpus FROM results WHERE corpus ~ '^[a-z]{5,},') AS c;
SELECT '|---|' || repeat('---:|', 3 + (SELECT count(DISTINCT corpus)::int FROM results WHERE corpus ~ '^[a-z]{5,},'));
SELECT format('| %s | %s | %s | %s | %s |', method, string_agg('**' || shown(f1, 2) || '** ' || CASE WHEN number < 40 THEN shown(threshold, 2) ELSE '' END, ' | ' ORDER BY corpus),
	shown(max(bytes) FILTER (WHERE corpus = 'pages, text'), 0), shown(max(made) FILTER (WHERE corpus = 'pages, text') * 1e6, 0),
	shown(max(compared) FILTER (WHERE corpus = 'pages, text') * 1e6, 1))
  FROM results WHERE corpus ~ '^[a-z]{5,},' GROUP BY number, method ORDER BY number;
\endif
