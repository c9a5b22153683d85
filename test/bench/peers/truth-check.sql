-- The truth once more by the textbook: generated texts have lower-case words and blanks only.
-- The planner knows nothing of sets that a query makes, and would join them by comparing all rows.
SET enable_nestloop = off;
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
