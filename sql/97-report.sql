-- Reading what is there: the clusters of a table.

CREATE FUNCTION neardup_report(relation pg_catalog.regclass, threshold pg_catalog.float8 DEFAULT 0.8, order_by pg_catalog.text DEFAULT NULL,
		within pg_catalog.name[] DEFAULT '{}', verdicts pg_catalog.regclass DEFAULT NULL, show pg_catalog.name DEFAULT NULL, listed int DEFAULT 20,
		key pg_catalog.name[] DEFAULT NULL, signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false)
	RETURNS TABLE (cluster bigint, size bigint, id pg_catalog.text, similarity pg_catalog.float8, title pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	line record;
	total bigint;
BEGIN
	CALL @extschema@.neardup_find_rows(relation, key, signature, within, order_by, verdicts, NULL::name, show, trust, false, found);
	EXECUTE format('SELECT count(*) FROM %s AS t WHERE t.%I IS NOT NULL OR %L', relation, found.signature, verdicts IS NOT NULL) INTO total;
	FOR line IN EXECUTE format($list$
			WITH found AS MATERIALIZED (
				SELECT *, id = keeper AS kept, row_number() OVER () AS place
				FROM %5$s.neardup_clusters($1, $2, NULL::text, false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, $3, $4)
			), clusters AS (
				SELECT keeper, row_number() OVER (ORDER BY size DESC, place) AS cluster FROM found WHERE kept
			), shown AS MATERIALIZED (
				SELECT * FROM clusters JOIN found USING (keeper) WHERE cluster <= $5
			), titles AS (
				SELECT %1$s AS id, %2$s AS title FROM %3$s AS t WHERE %1$s = ANY (ARRAY(SELECT id FROM shown)) AND %4$L
			)
			SELECT cluster, size, regexp_replace(id COLLATE "C", $6, ' ', 'g') AS id, CASE WHEN NOT kept THEN similarity END AS similarity, title, counts.*
			FROM (SELECT count(*) AS rows, count(*) FILTER (WHERE kept) AS clusters FROM found) AS counts LEFT JOIN shown ON true LEFT JOIN titles USING (id)
			ORDER BY cluster, NOT kept, place$list$,
			format(found.key, 't'), CASE WHEN show IS NULL THEN 'NULL' ELSE format(found.printed, format('format(''%%s'', t.%I)', show)) END, relation, show IS NOT NULL, '@extschema@')
			USING found.query, threshold, found.verdicts, within, listed, found.unseen LOOP
		IF line.cluster = 1 AND line.similarity IS NULL OR line.cluster IS NULL THEN
			RAISE NOTICE '%: % rows; % clusters of near-duplicates (similarity % and above%), % rows in them, of which % would go', found.shown, total, line.clusters,
				threshold, CASE WHEN verdicts IS NULL THEN '' ELSE ', and by verdicts' END, line.rows, line.rows - line.clusters;
		END IF;
		IF line.cluster IS NOT NULL THEN
			SELECT line.cluster, line.size, line.id, line.similarity, line.title INTO cluster, size, id, similarity, title;
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
COMMENT ON FUNCTION neardup_report(pg_catalog.regclass, pg_catalog.float8, pg_catalog.text, pg_catalog.name[], pg_catalog.regclass, pg_catalog.name, int, pg_catalog.name[], pg_catalog.name, boolean) IS
	'the clusters of near-duplicates of a table, the largest first; the first row of each is the one to keep';
