-- Reading what is there: the clusters of a table, and what is new.

CREATE FUNCTION neardup_report(relation pg_catalog.regclass, threshold pg_catalog.float8 DEFAULT 0.8, order_by pg_catalog.text DEFAULT NULL,
		within pg_catalog.name[] DEFAULT '{}', verdicts pg_catalog.regclass DEFAULT NULL, show pg_catalog.name DEFAULT NULL, listed int DEFAULT 20,
		key pg_catalog.name[] DEFAULT NULL, signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false)
	RETURNS TABLE (cluster bigint, size bigint, id pg_catalog.text, similarity pg_catalog.float8, title pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
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
				SELECT *, (ROW(id)::record) *= (ROW(keeper)::record) AS kept, row_number() OVER () AS place
				FROM %5$s.neardup_clusters($1, $2, NULL::%6$s, false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, $3, $4)
			), placed AS (
				SELECT *, min(place) FILTER (WHERE kept) OVER (PARTITION BY keeper) AS first FROM found
			), shown AS MATERIALIZED (
				SELECT *, format('%%s', id) AS text FROM (SELECT *, dense_rank() OVER (ORDER BY size DESC, first) AS cluster FROM placed) AS p WHERE (cluster > $5) IS NOT TRUE
			), titles AS (
				SELECT %1$s AS text, %2$s AS title FROM %3$s AS t WHERE %1$s COLLATE "C" = ANY (ARRAY(SELECT text FROM shown)) AND %4$L
			)
			SELECT cluster, size, regexp_replace(shown.text COLLATE "C", $6, ' ', 'g') AS id, CASE WHEN NOT kept THEN similarity END AS similarity, title, counts.*
			FROM (SELECT count(*) AS rows, count(*) FILTER (WHERE kept) AS clusters FROM found) AS counts LEFT JOIN shown ON true LEFT JOIN titles ON titles.text COLLATE "C" = shown.text
			ORDER BY cluster, NOT kept, place$list$,
			format(found.key, 't'), CASE WHEN show IS NULL THEN 'NULL' ELSE format(found.printed, format('format(''%%s'', t.%I)', show)) END, relation, show IS NOT NULL, '@extschema@', found.type)
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
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	watched text;
	noticed text;
	server text := (SELECT format('%s/%s', system_identifier, d.oid) FROM pg_control_system(), pg_database AS d WHERE datname = current_database());
	me numeric;
	horizon numeric;
	since numeric;
	here boolean;
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
	EXECUTE format('SELECT %s, %s FROM %s AS t LIMIT 0', format(found.key, 't'), format(found.signed, 't'), relation);
	SELECT format('%s.neardup_watched', s), format('%s.neardup_noticed', s) INTO watched, noticed
	FROM pg_class AS c, coalesce(schema, relnamespace::regnamespace) AS s WHERE c.oid = relation;
	IF to_regclass(watched) IS NULL THEN
		EXECUTE format('CREATE TABLE %s ("table" regclass, sig name, threshold float8, seen numeric NOT NULL, server text, PRIMARY KEY ("table", sig, threshold))', watched);
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
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = watched::regclass AND attname = 'server' AND NOT attisdropped) THEN
		EXECUTE format('ALTER TABLE %s ADD COLUMN server text', watched);
	END IF;
	-- All transactions below the horizon had ended before the search begins.  After a restore, numbers are
	-- those of another server.
	me := pg_current_xact_id()::text::numeric;
	horizon := pg_snapshot_xmin(pg_current_snapshot())::text::numeric;
	EXECUTE format('SELECT seen, server IS NOT DISTINCT FROM $4 AND seen <= $5 FROM %s WHERE "table" = $1 AND sig = $2 AND threshold = $3', watched) INTO since, here USING relation, found.signature, threshold, server, me;
	IF since IS NULL THEN
		RAISE NOTICE '% is watched from now on; what was written since the oldest open transaction began counts as new', found.shown;
	ELSE
		IF NOT here THEN
			RAISE WARNING 'the table was restored since the last run: all rows are compared';
		ELSIF me - since >= 2147483648 THEN
			RAISE WARNING 'more than 2^31 transactions since the last run: all rows are compared';
		END IF;
		EXECUTE format($search$
			CREATE TEMP TABLE neardup_pairs_met AS
			WITH fresh AS MATERIALIZED (
				SELECT %1$s AS value, %2$s AS sig FROM %3$s AS t WHERE t.%4$I IS NOT NULL AND ($1 OR age(t.xmin) BETWEEN 0 AND $2)
			)
			SELECT greatest(value, %1$s) AS id, least(value, %1$s) AS resembles, %5$s.similarity(fresh.sig, %2$s) AS similarity
			FROM fresh JOIN %3$s AS t ON %5$s.is_similar(%2$s, fresh.sig, $3) AND (ROW(%1$s)::record) *<> (ROW(value)::record)$search$,
			format('(%s)::%s', format(found.value, 't'), found.type), format(found.signed, 't'), relation, found.signature, '@extschema@') USING NOT here OR me - since >= 2147483648, me - since, threshold;
		CALL @extschema@.neardup_in_record('CREATE TEMP TABLE neardup_pairs_told AS SELECT DISTINCT format(''%s'', id) AS id, format(''%s'', resembles) AS resembles, similarity FROM pg_temp.neardup_pairs_met');
		RETURN QUERY EXECUTE format($told$
			WITH noticed AS (
				INSERT INTO %s ("table", sig, threshold, id, resembles, similarity) SELECT $1, $2, $3, id, resembles, similarity FROM pg_temp.neardup_pairs_told ON CONFLICT DO NOTHING
				RETURNING id, resembles, similarity
			)
			SELECT regexp_replace(id COLLATE "C", $4, ' ', 'g'), regexp_replace(resembles COLLATE "C", $4, ' ', 'g'), similarity FROM noticed ORDER BY similarity DESC, noticed.id, noticed.resembles$told$, noticed)
			USING relation, found.signature, threshold, found.unseen;
		DROP TABLE pg_temp.neardup_pairs_met, pg_temp.neardup_pairs_told;
	END IF;
	EXECUTE format('INSERT INTO %s VALUES ($1, $2, $3, $4, $5) ON CONFLICT ("table", sig, threshold) DO UPDATE SET seen = EXCLUDED.seen, server = EXCLUDED.server', watched) USING relation, found.signature, threshold, horizon, server;
END $$;
COMMENT ON FUNCTION neardup_watch(pg_catalog.regclass, pg_catalog.float8, pg_catalog.regnamespace, pg_catalog.name[], pg_catalog.name, boolean) IS
	'the near-duplicates of rows inserted or changed since the last call; each pair once';
