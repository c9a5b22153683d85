-- Answers that must agree, or be of a known quality, whatever the machine.
-- Whether two peers gave the same answers to the queries that both ran.  GiST has no longer texts.
CREATE FUNCTION same_answers(one text, other text, of_kind text) RETURNS boolean LANGUAGE sql AS $$
	WITH both_ran AS (
		SELECT query FROM timed WHERE peer = one AND kind = of_kind INTERSECT SELECT query FROM timed WHERE peer = other AND kind = of_kind),
	short_ones AS (SELECT id FROM docs WHERE length(body) <= 12000),
	a AS (SELECT query, id FROM found JOIN both_ran USING (query) JOIN short_ones USING (id) WHERE peer = one AND kind = of_kind),
	b AS (SELECT query, id FROM found JOIN both_ran USING (query) JOIN short_ones USING (id) WHERE peer = other AND kind = of_kind)
	SELECT count(*) > 0 AND NOT EXISTS (TABLE a EXCEPT TABLE b) AND NOT EXISTS (TABLE b EXCEPT TABLE a) FROM both_ran
$$;

-- The distances of the nearest ten, as rows may tie for the tenth place.
CREATE FUNCTION nearest_distances(name text) RETURNS TABLE (query int, distances float8[]) LANGUAGE sql AS $$
	SELECT query, array_agg(r.sig <-> to_minhash(q.body) ORDER BY r.sig <-> to_minhash(q.body))
	FROM found JOIN neardup_rows r USING (id) JOIN queries q ON q.n = query WHERE peer = name AND kind = 'nearest' GROUP BY query
$$;

SELECT must('there is something to find', (SELECT count(*) > 20 FROM truth)),
	must('the index and a scan find the same', same_answers('neardup', 'scan', 'search')),
	must('the index and a scan find the same nearest distances', NOT EXISTS (
		SELECT FROM nearest_distances('neardup') a JOIN nearest_distances('scan') b USING (query) WHERE a.distances <> b.distances)),
	must('signature and texts are exact', figure('exact', 'precision') = 1 AND figure('exact', 'recall') > 0.99),
	must('pairs of sets are the truth', figure('exact', 'pairs recall') = 1 AND figure('exact', 'pairs precision') = 1),
	must('signatures find most', figure('neardup', 'recall') > 0.8 AND figure('neardup', 'pairs recall') > 0.8),
	must('bands in a B-tree and in GIN are the same', same_answers('bands', 'bands_gin', 'search')),
	must('bands find most', figure('bands', 'recall') > 0.7),
	must('trigrams in GIN and in GiST are the same', same_answers('trgm_gin', 'trgm_gist', 'search')),
	must('texts of equal words have resemblance 1', figure('digest', 'precision') >= 0.99 OR figure('digest', 'precision') IS NULL),
	must('Python finds most', figure('python_checked', 'recall') > 0.7 OR figure('python_checked', 'build') IS NULL);

-- pgvector finds what neardup finds or less, as both have the same bits.
SELECT must(peer || ' finds a part of what neardup finds', NOT EXISTS (
		SELECT query, id FROM found f WHERE f.peer = p.peer AND kind = 'search' AND query IN (SELECT query FROM timed t WHERE t.peer = 'neardup' AND kind = 'search')
		EXCEPT SELECT query, id FROM found WHERE peer = 'neardup' AND kind = 'search'))
FROM peers p WHERE peer IN ('hnsw', 'ivfflat');

SELECT must(format('%s, %s: expected result of two sessions', peer, how), accepted = (how = 'trigger')) FROM races;
SELECT must('two sessions were tried', (SELECT count(*) >= 8 FROM races));
