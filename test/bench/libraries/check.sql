-- Answers that must agree, or be of a known quality, whatever the machine.
ANALYZE;

-- What a peer found that another one did not, of the queries that both ran.
CREATE FUNCTION only_found(one text, other text) RETURNS bigint LANGUAGE sql AS $$
	WITH both_ran AS (SELECT query FROM timed WHERE peer = one INTERSECT SELECT query FROM timed WHERE peer = other),
	more AS (
		SELECT query, id FROM found JOIN both_ran USING (query) WHERE peer = one AND kind = 'search'
		EXCEPT SELECT query, id FROM found WHERE peer = other AND kind = 'search')
	SELECT CASE WHEN EXISTS (TABLE both_ran) THEN (SELECT count(*) FROM more) END
$$;

CREATE FUNCTION same_found(one text, other text) RETURNS boolean LANGUAGE sql AS
	$$SELECT only_found(one, other) = 0 AND only_found(other, one) = 0$$;

CREATE FUNCTION only_paired(one text, other text) RETURNS bigint LANGUAGE sql AS
	$$SELECT count(*) FROM (SELECT a, b FROM pairs WHERE peer = one EXCEPT SELECT a, b FROM pairs WHERE peer = other) more$$;

SELECT must('there is something to find', (SELECT count(*) > 20 FROM truth) AND (SELECT count(*) > 20 FROM true_pairs)),
	must('the index and a scan find the same', same_found('neardup', 'scan')),
	must('signature and texts are exact', figure('exact', 'precision') = 1 AND figure('exact', 'recall') > 0.99),
	must('pairs of signatures and texts are exact', figure('exact', 'pairs precision') = 1 AND figure('exact', 'pairs recall') > 0.99),
	must('signatures find most', figure('neardup', 'recall') > 0.8 AND figure('neardup', 'pairs recall') > 0.8);

-- Libraries that were skipped have no figures.
SELECT must('Python finds most', figure('python_checked', 'recall') > 0.7 AND figure('python_checked', 'pairs recall') > 0.7) FROM peers WHERE peer = 'python_checked' AND skipped IS NULL;
SELECT must('DuckDB finds nearly all, and nothing else', figure('duckdb', 'recall') > 0.95 AND figure('duckdb', 'precision') = 1
	AND figure('duckdb', 'pairs recall') > 0.95 AND figure('duckdb', 'pairs precision') = 1) FROM peers WHERE peer = 'duckdb' AND skipped IS NULL;
SELECT must('FAISS, the index and a scan find the same in the same bits', same_found('faiss_flat', 'neardup_bits') AND same_found('scan_bits', 'neardup_bits')),
	must('FAISS finds most', figure('faiss_flat', 'recall') > 0.8) FROM peers WHERE peer = 'faiss_flat' AND skipped IS NULL;
SELECT must(peer || ' finds a part of what the index finds', only_found(peer, 'neardup_bits') = 0),
	must(peer || ' finds some', figure(peer, 'recall') > 0.3) FROM peers p WHERE peer LIKE 'faiss%' AND EXISTS (SELECT FROM timed t WHERE t.peer = p.peer);
SELECT must(peer || ' pairs a part of what neardup_pairs pairs', only_paired(peer, 'neardup_bits') = 0)
FROM (SELECT DISTINCT peer FROM pairs WHERE peer LIKE 'faiss%') p;
SELECT must('FAISS pairs what neardup_pairs pairs', only_paired('neardup_bits', 'faiss_flat') = 0)
WHERE EXISTS (SELECT FROM pairs WHERE peer = 'faiss_flat');

-- The truth once more by the textbook, of one family in some.
CREATE TEMP TABLE sample AS SELECT id FROM families WHERE hashint8(family) % greatest(1, (SELECT count(*) FROM families) / 500) = 0;
CREATE TEMP TABLE sample_docs AS SELECT id, body FROM docs JOIN sample USING (id);
CREATE TEMP TABLE sample_truth AS
SELECT a AS query, b AS id FROM true_pairs WHERE a IN (TABLE sample) AND b IN (TABLE sample)
UNION ALL SELECT b, a FROM true_pairs WHERE a IN (TABLE sample) AND b IN (TABLE sample)
UNION ALL SELECT id, id FROM sample;
SELECT must('the sample has pairs', (SELECT count(*) > 20 FROM sample_truth WHERE query <> id));
ANALYZE sample_docs;
ANALYZE sample_truth;
ALTER TABLE sample_docs RENAME TO docs;
ALTER TABLE sample_truth RENAME TO truth;
CREATE TEMP TABLE queries AS SELECT id AS n, body FROM docs;
