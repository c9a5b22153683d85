-- Reading what is there: the clusters of a table, and what is new.

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
	IF listed < 0 THEN
		RAISE EXCEPTION '"listed" must not be negative' USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Write 0 to list none.';
	END IF;
	CALL @extschema@.neardup_find_rows(relation, key, signature, within, order_by, verdicts, NULL::name, ARRAY[show], trust, false, found);
	EXECUTE format('SELECT count(*) FROM %s AS t WHERE t.%I IS NOT NULL OR %L', relation, found.signature, verdicts IS NOT NULL) INTO total;
	FOR line IN EXECUTE format($list$
			WITH found AS MATERIALIZED (
				SELECT *, id = keeper AS kept, row_number() OVER () AS place
				FROM %5$s.neardup_clusters($1, $2, NULL::text, false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, $3, $4)
			), clusters AS (
				SELECT keeper, row_number() OVER (ORDER BY size DESC, place) AS cluster FROM found WHERE kept
			), shown AS MATERIALIZED (
				SELECT * FROM clusters JOIN found USING (keeper) WHERE (cluster > $5) IS NOT TRUE
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

-- The near-duplicates that have appeared since the last call, by the numbers of the transactions that
-- wrote the rows, xmin.  The age of a row in transactions is right up to 2^31, and negative beyond.
CREATE FUNCTION neardup_watch(relation pg_catalog.regclass, threshold pg_catalog.float8 DEFAULT 0.8, schema pg_catalog.regnamespace DEFAULT NULL,
		key pg_catalog.name[] DEFAULT NULL, signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false)
	RETURNS TABLE (id pg_catalog.text, resembles pg_catalog.text, similarity pg_catalog.float8)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	watched text;
	noticed text;
	me numeric;
	horizon numeric;
	since numeric;
	bad record;
BEGIN
	IF threshold IS NULL THEN
		RAISE EXCEPTION '"threshold" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Leave it out, or write a similarity such as 0.8.';
	END IF;
	CALL @extschema@.neardup_find_rows(relation, key, signature, '{}'::name[], NULL::text, NULL::regclass, NULL::name, NULL::name[], trust, false, found);
	FOR bad IN SELECT c.oid::regclass AS rel, CASE WHEN c.oid = ANY (found.distributed) THEN 'Citus keeps its rows in shards, which have transaction numbers of their own. Watch the shards on their workers, or use a trigger.'
				ELSE 'Its rows are not in heap tables of this server. Watch the table where its rows are, or use a trigger.' END AS hint
			FROM unnest(found.tree) AS rel JOIN pg_class AS c ON c.oid = rel LEFT JOIN pg_am AS a ON a.oid = relam
			WHERE relkind NOT IN ('r', 'p', 'm') OR relkind <> 'p' AND amname <> 'heap' OR c.oid = ANY (found.distributed) ORDER BY c.oid <> relation LIMIT 1 LOOP
		RAISE EXCEPTION 'cannot tell which rows of "%" are new', bad.rel USING ERRCODE = 'wrong_object_type', HINT = bad.hint;
	END LOOP;
	-- It is an error if no similarity can have this threshold, or the caller may not read what is watched.
	PERFORM @extschema@.near(0::bigint::@extschema@.simhash, threshold);
	EXECUTE format('SELECT %s, t.%I FROM %s AS t LIMIT 0', format(found.key, 't'), found.signature, relation);
	SELECT format('%s.neardup_watched', s), format('%s.neardup_noticed', s) INTO watched, noticed
	FROM pg_class AS c, coalesce(schema, relnamespace::regnamespace) AS s WHERE c.oid = relation;
	IF to_regclass(watched) IS NULL THEN
		EXECUTE format('CREATE TABLE %s ("table" regclass, sig name, threshold float8, seen numeric NOT NULL, PRIMARY KEY ("table", sig, threshold))', watched);
	END IF;
	IF to_regclass(noticed) IS NULL THEN
		EXECUTE format('CREATE TABLE %s ("table" regclass, sig name, threshold float8, id text, resembles text, similarity float8 NOT NULL, noticed_at timestamptz NOT NULL DEFAULT now(),
			PRIMARY KEY ("table", sig, threshold, id, resembles))', noticed);
	END IF;
	-- One call at a time.
	CALL @extschema@.neardup_lock(watched::regclass, trust);
	CALL @extschema@.neardup_lock(noticed::regclass, trust);
	-- Tables of these names that belong to another role would run its code as this role.
	FOR bad IN SELECT c.oid::regclass AS rel, rolname FROM pg_class AS c JOIN pg_roles AS r ON r.oid = relowner WHERE c.oid IN (watched::regclass, noticed::regclass) LOOP
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = bad.rolname AND (rolsuper OR pg_has_role(current_user, rolname, 'MEMBER'))) THEN
			RAISE EXCEPTION '"%" is not a table that neardup_watch() has made for this role', bad.rel USING ERRCODE = 'insufficient_privilege', DETAIL = format('It belongs to role %s.', bad.rolname),
				HINT = 'Drop it, call the function as its owner, or name another schema: schema => ''monitoring''.';
		END IF;
	END LOOP;
	-- All transactions below the horizon had ended before the search begins.  A noted number that is
	-- greater than the current one comes from another server, before a restore.
	me := pg_current_xact_id()::text::numeric;
	horizon := pg_snapshot_xmin(pg_current_snapshot())::text::numeric;
	EXECUTE format('SELECT seen FROM %s WHERE "table" = $1 AND sig = $2 AND threshold = $3 AND seen <= $4', watched) INTO since USING relation, found.signature, threshold, me;
	IF since IS NULL THEN
		RAISE NOTICE '% is watched from now on', found.shown;
	ELSE
		IF me - since >= 2147483648 THEN
			RAISE WARNING 'more than 2^31 transactions since the last run: all rows are compared';
		END IF;
		RETURN QUERY EXECUTE format($search$
			WITH fresh AS MATERIALIZED (
				SELECT (%6$s)::%7$s AS value, t.%2$I AS sig FROM %3$s AS t WHERE t.%2$I IS NOT NULL AND ($1 >= 2147483648 OR age(t.xmin) BETWEEN 0 AND $1)
			), pairs AS (
				SELECT format('%%s', greatest(value, (%6$s)::%7$s)) AS id, format('%%s', least(value, (%6$s)::%7$s)) AS resembles, %4$s.similarity(fresh.sig, t.%2$I) AS similarity
				FROM fresh JOIN %3$s AS t ON %4$s.is_similar(t.%2$I, fresh.sig, $2) AND %1$s <> format('%%s', value)
			), noticed AS (
				INSERT INTO %5$s ("table", sig, threshold, id, resembles, similarity)
				SELECT DISTINCT $3, $4, $2, id, resembles, similarity FROM pairs
				ON CONFLICT DO NOTHING
				RETURNING id, resembles, similarity
			)
			SELECT regexp_replace(id COLLATE "C", $5, ' ', 'g'), regexp_replace(resembles COLLATE "C", $5, ' ', 'g'), similarity FROM noticed ORDER BY similarity DESC, noticed.id, noticed.resembles$search$,
			format(found.key, 't'), found.signature, relation, '@extschema@', noticed, format(found.value, 't'), found.type) USING me - since, threshold, relation, found.signature, found.unseen;
	END IF;
	EXECUTE format('INSERT INTO %s VALUES ($1, $2, $3, $4) ON CONFLICT ("table", sig, threshold) DO UPDATE SET seen = EXCLUDED.seen', watched) USING relation, found.signature, threshold, horizon;
END $$;
COMMENT ON FUNCTION neardup_watch(pg_catalog.regclass, pg_catalog.float8, pg_catalog.regnamespace, pg_catalog.name[], pg_catalog.name, boolean) IS
	'the near-duplicates of rows inserted or changed since the last call; each pair once';
