-- The truth once more by the textbook: generated texts have lower-case words and blanks only.
\pset fieldsep '\n'
WITH places AS (
	SELECT of, id, word, lead(word) OVER w AS second, lead(word, 2) OVER w AS third
	FROM (SELECT 'doc' AS of, id, body FROM docs UNION ALL SELECT 'query', n, body FROM queries) t, unnest(string_to_array(body, ' ')) WITH ORDINALITY AS x(word, place)
	WINDOW w AS (PARTITION BY of, id ORDER BY place)),
shingles AS (SELECT DISTINCT of, id, word, second, third FROM places WHERE third IS NOT NULL),
sizes AS (SELECT of, id, count(*) AS number FROM shingles GROUP BY of, id),
shared AS (
	SELECT q.id AS query, d.id, count(*) AS number FROM shingles q JOIN shingles d USING (word, second, third)
	WHERE q.of = 'query' AND d.of = 'doc' GROUP BY q.id, d.id),
counted AS (
	SELECT query, shared.id FROM shared JOIN sizes q ON q.of = 'query' AND q.id = query JOIN sizes d ON d.of = 'doc' AND d.id = shared.id
	WHERE shared.number >= 0.8 * (q.number + d.number - shared.number))
SELECT must('the truth is the textbook''s', (SELECT count(*) FROM counted) = (SELECT count(*) FROM truth)
	AND NOT EXISTS (SELECT query, id FROM counted EXCEPT SELECT query, id FROM truth));

-- Hashes whose different bits are counted as text; and pairs of some of them.
CREATE FUNCTION different_bits(a bigint, b bigint) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT length(replace((a # b)::bit(64)::text, '0', ''))$$;
WITH prints AS MATERIALIZED (SELECT id, to_simhash(body)::bigint AS print FROM docs),
query_prints AS MATERIALIZED (SELECT n, to_simhash(body)::bigint AS print FROM queries),
counted AS (
	SELECT n AS query, d.id FROM query_prints q JOIN prints d ON different_bits(q.print, d.print) <= 3),
some_pairs AS (
	SELECT least(x.id, y.id) AS a, greatest(x.id, y.id) AS b
	FROM prints x JOIN prints y ON x.id <> y.id AND different_bits(x.print, y.print) <= 3 WHERE x.id % 50 = 0)
SELECT must('the truth of hashes is counted', (SELECT count(*) FROM counted) = (SELECT count(*) FROM simhash_truth)
		AND NOT EXISTS (SELECT query, id FROM counted EXCEPT SELECT query, id FROM simhash_truth)),
	must('pairs of hashes are counted', (SELECT count(*) > 0 FROM some_pairs) AND NOT EXISTS (TABLE some_pairs EXCEPT SELECT a, b FROM pairs WHERE peer = 'print_neardup'));

-- Of texts of like lengths, full-text search ranks the copies first.
SELECT must('full-text search ranks copies first', figure(peer, 'recall') > 0.9) FROM peers WHERE peer = 'rum' AND skipped IS NULL;
