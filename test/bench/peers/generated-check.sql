-- What must hold of generated texts only.

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
