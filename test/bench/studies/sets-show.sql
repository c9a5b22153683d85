SELECT format(E'\n%s descriptions of packages; shingles of words on average: %s, of letters of a title: %s. Each query runs once.', count(*),
	round(avg(cardinality(words))), round(avg(cardinality(letters)))) FROM docs;
SELECT show(what, what) FROM searches ORDER BY place;
SELECT show_builds('sets, ' || kind, format('Build, %s (raw: %s shingles; 8 bytes each)', kind, shingles), 8 * shingles)
FROM (SELECT sum(cardinality(words)) AS words, sum(cardinality(letters)) AS letters FROM docs) AS s,
	LATERAL (VALUES ('words', words), ('letters', letters)) AS v(kind, shingles);
SELECT show_inserts('sets', 'Inserts of 50,000 rows, words');
