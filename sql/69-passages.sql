-- The passages of a text that stored texts have, too.

-- Runs of three tokens join those near them, so a word changed here and there does not break a passage.
CREATE FUNCTION neardup_passages(body pg_catalog.text, query pg_catalog.text, scheme pg_catalog.text DEFAULT 'word 3', min_tokens int DEFAULT 5,
		OUT id pg_catalog.text, OUT start int, OUT length int) RETURNS SETOF pg_catalog.record
	LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE COST 100000 ROWS 10 AS $$
DECLARE
	sets @extschema@.shingles[] := ARRAY(SELECT @extschema@.to_shingles(pg_catalog.substr(body, place, 1500), scheme)
		FROM pg_catalog.generate_series(1, pg_catalog.length(body), 1000) AS p (place));
	read pg_catalog.refcursor;
BEGIN
	query := pg_catalog.rtrim(query, E' \t\n;');
	BEGIN
		OPEN read FOR EXECUTE pg_catalog.format(E'SELECT id::pg_catalog.text, body::pg_catalog.text FROM (%s\n) AS q (id, body)', query) USING sets, body, scheme, min_tokens;
		CLOSE read;
	EXCEPTION WHEN insufficient_privilege THEN
		RAISE;
	WHEN syntax_error_or_access_rule_violation THEN
		RAISE EXCEPTION '"query" is not a query of an id and a text' USING ERRCODE := SQLSTATE, DETAIL := SQLERRM, HINT := 'Pass a query such as ''SELECT id, body FROM docs''.';
	END;
	RETURN QUERY EXECUTE pg_catalog.format('WITH sources AS (
			SELECT DISTINCT ON (q.id::pg_catalog.text) q.id::pg_catalog.text AS id, q.body::pg_catalog.text AS body FROM (%s
			) AS q (id, body)
		), runs AS (
			SELECT s.id, a_start AS start, a_start OPERATOR(pg_catalog.+) a_length AS stop, tokens
			FROM sources AS s, @extschema@.shared_passages($2, s.body, $3, LEAST($4, 3))
		), gaps AS (
			SELECT *, pg_catalog.max(stop) OVER (PARTITION BY id ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM runs
		), firsts AS (
			SELECT *, CASE WHEN start OPERATOR(pg_catalog.<=) before THEN 0
				WHEN @extschema@.cardinality(@extschema@.to_shingles(pg_catalog.substr($2, before, start OPERATOR(pg_catalog.-) before), ''word 1''::pg_catalog.text)) OPERATOR(pg_catalog.<=) 3 THEN 0
				ELSE 1 END AS first FROM gaps
		), numbered AS (
			SELECT *, pg_catalog.sum(first) OVER (PARTITION BY id ORDER BY start, stop) AS number FROM firsts
		)
		SELECT id, pg_catalog.min(start), pg_catalog.max(stop) OPERATOR(pg_catalog.-) pg_catalog.min(start) FROM numbered
		GROUP BY id, number HAVING pg_catalog.max(tokens) OPERATOR(pg_catalog.>=) $4 ORDER BY 2, 3, 1', query)
	USING sets, body, scheme, min_tokens;
END $$;
COMMENT ON FUNCTION neardup_passages(pg_catalog.text, pg_catalog.text, pg_catalog.text, int) IS
	'the passages of a text that the texts of a query (id, text) have, too; in the query, $1 is an array of the sets of shingles of parts of the text';
