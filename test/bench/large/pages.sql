-- The pages of searches of the large table, for BENCH=large: 200 at each distance, by queries that no other part uses.
CREATE TEMP TABLE searched AS
SELECT distance, s.* FROM unnest('{0,20,40,60}'::int[]) WITH ORDINALITY d (distance, place), large_queries q, search_pages(distance, q.id) s
WHERE q.id > 800 + 200 * place AND q.id <= 1000 + 200 * place;
SELECT :'label' || v.what, v.value
FROM (SELECT distance, avg(visited) AS visited, avg(read_in) AS read_in,
		percentile_cont(0.95) WITHIN GROUP (ORDER BY visited) AS visited_most,
		percentile_cont(0.95) WITHIN GROUP (ORDER BY read_in) AS read_in_most FROM searched GROUP BY distance) s,
	LATERAL (VALUES (1, 'pages at ' || distance, visited), (2, format('pages at %s, 95 %% within', distance), visited_most),
		(3, 'pages read in at ' || distance, read_in), (4, format('pages read in at %s, 95 %% within', distance), read_in_most)) v (place, what, value)
ORDER BY distance, v.place;
