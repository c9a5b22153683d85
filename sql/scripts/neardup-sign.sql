-- neardup-sign.sql: gives a big table signatures and an index while it is in use.
--
--   psql -v table=proposals [-v id=id] [-v text=body] [-v sig=sig] [-v type=minhash]
--        [-v expression='to_minhash(title || body, 256)'] [-v batch=5000] [-v pause=0]
--        [-v trust=yes] -f neardup-sign.sql
--
-- A generated column is simpler, but rewrites the table under an ACCESS EXCLUSIVE lock.
-- This script makes a trigger that signs new rows and new texts, and signs the old rows in
-- batches with a commit after each.  It can be stopped at any time: the next run goes on
-- with the rows that have no signature.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
-- A second run in the same session must not take what this one sets for given.
\set given :{?expression}:{?text}:{?type}
\if :{?expression} \set signs :expression \set signed_by expression \else \set signs '' \set signed_by text \endif
\if :{?text} \set sign_text :text \else \set sign_text body \endif
\if :{?type} \set sign_type :type \else \set sign_type minhash \endif
\if :{?batch} \else \set batch 5000 \endif
\if :{?pause} \else \set pause 0 \endif
\set functions '{}'
\set changes yes
\ir neardup-begin.sql

SELECT :raise
FROM (VALUES ('id', :'id', 'a column'), ('text', CASE :'signs' WHEN '' THEN :'sign_text' END, 'a column'), ('batch', :'batch', 'a whole number from 1 up to 1000000'),
	('pause', :'pause', 'a number from 0 up to 86400')) v (name, value, allowed)
	:unfit
\gexec

-- Two runs would make two triggers and indexes.  A session that waited for the other's lock
-- would keep CREATE INDEX CONCURRENTLY waiting, so it does not wait.
SELECT :raise FROM (
	SELECT format('another session signs "%s"', :'shown_table') AS message, format('Start again when process %s has ended.', (
			SELECT string_agg(pid::text, ', ') FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND classid = 1852137842 AND objid = :'table_oid'::oid AND objsubid = 2)) AS hint
	WHERE NOT pg_try_advisory_lock(1852137842, :'table_oid'::bigint::bit(32)::int)) e
\gexec

:check_trust \g /dev/null

-- ---- What cannot be signed ----

SELECT :raise FROM (
	SELECT format('"%s" is %s', rel::regclass, what) AS message, CASE what
		WHEN 'a view' THEN 'Sign the table that its rows come from, and add the column to the query of the view.'
		WHEN 'a materialized view' THEN 'Write the expression into its query, as a column.'
		WHEN 'not a table' THEN 'Name a table or a partitioned table.'
		WHEN 'a temporary table' THEN 'Add a generated column: ALTER TABLE ... ADD COLUMN ... GENERATED ALWAYS AS (...) STORED.'
		WHEN 'a table with children' THEN 'Its trigger would not sign their rows. Add a generated column: ALTER TABLE ... ADD COLUMN ... GENERATED ALWAYS AS (...) STORED.'
		WHEN 'distributed by Citus, whose tables have no triggers' THEN 'Add a generated column: ALTER TABLE ... ADD COLUMN ... GENERATED ALWAYS AS (...) STORED.'
		WHEN 'a columnar table, whose rows cannot be updated' THEN 'Make a table that has the column from the start, and copy the rows.'
		ELSE 'Other writers would not be seen here. Run this script where the table is, and then add the column here: ALTER FOREIGN TABLE ... ADD COLUMN.' END AS hint
	FROM (:kinds) k WHERE what IS NOT NULL ORDER BY rel <> :'table_oid'::oid LIMIT 1) e
\gexec

-- ---- The expression ----

-- The extension's function that signs, with all its arguments: a call without them could
-- mean another function of that name.
SELECT :'table_oid'::oid::regclass AS "table", relnamespace::regnamespace AS schema, relkind = 'p' AS partitioned,
	coalesce(nullif(:'signs', ''), (SELECT format('%s.%I(%I::text', e.extnamespace::regnamespace, proname, :'sign_text') || (
			SELECT string_agg(', ' || pg_get_function_arg_default(p.oid, n), '' ORDER BY n) FROM generate_series(2, pronargs) n) || ')'
	 FROM pg_extension e JOIN pg_depend d ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND deptype = 'e'
		JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE extname = 'neardup' AND proname = 'to_' || :'sign_type' AND proargtypes[0] = 'text'::regtype
		AND pronargdefaults = pronargs - 1)) AS signs,
	:'given' LIKE 'TRUE%TRUE%' AS twice
FROM pg_class WHERE oid = :'table_oid'::oid
\gset
SELECT :raise FROM (
	SELECT 'the expression already says what is signed' AS message, 'Use -v expression without -v text and -v type.' AS hint WHERE :'twice'
	UNION ALL
	SELECT format('the extension neardup has no signatures of type "%s" to make of texts', :'sign_type'),
		'Use -v type=minhash, -v type=simhash or -v type=shingles, or -v expression.'
	WHERE :{?signs}::boolean IS NOT TRUE
	) e
\gexec
\ir neardup-sign-expression.sql

SELECT :raise FROM (
	SELECT format('column "%s" of "%s" is not of type %s, or is generated', attname, attrelid::regclass, :'sig_type') AS message,
		'Name another column with -v sig=NAME.' AS hint
	FROM pg_attribute
	WHERE attrelid = :'table_oid'::oid AND attname = :'sig' AND (attgenerated <> '' OR atttypid <> :'type_oid'::oid)
	) e
\gexec

-- ---- All else that would stop it later ----

SELECT :attempt
FROM (VALUES ('id', :'id', format('OPEN rows FOR EXECUTE %L;', format('SELECT FROM %s WHERE %I %s %2$I AND %2$I %s %2$I ORDER BY %2$I', :'table', :'id', :'equals', :'above')),
	'Name a column whose type has a sort order.')) v (name, value, code, hint)
\gexec
SELECT :attempt
FROM (SELECT :'signed_by' AS name, :'signs' AS value, format('EXECUTE %L;', format('SELECT count(value) FROM (SELECT (%s) AS value FROM (SELECT * FROM %s LIMIT 100) new) s', :'make', :'table')) AS code,
	NULL AS hint) e
\gexec
SELECT format('ALTER TABLE %s ADD COLUMN %I %s', :'table', :'sig', :'sig_type') AS add_column,
	NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'sig') AS unmade
\gset
-- The trigger of an earlier run stays if it does the same and belongs to a role that the
-- roles that write to the table have to trust anyway.  If its function is the same but for
-- names of schemas, what it calls has moved, and the function is made anew.
\set schemas '("([^"]|"")+"|[[:alnum:]_$]+)[.]'
SELECT count(*) FILTER (WHERE prosrc = :'body') = 0 AS unsigned, count(*) > 0 AS moved, max(pg_proc.oid::regprocedure::text) AS signer
FROM pg_class c JOIN pg_trigger ON tgrelid = c.oid JOIN pg_proc ON pg_proc.oid = tgfoid
	JOIN pg_language l ON l.oid = prolang JOIN pg_roles r ON r.oid = proowner
WHERE c.oid = :'table_oid'::oid AND (proowner = relowner OR rolsuper OR rolname = current_user)
	AND lanname = 'plpgsql' AND regexp_replace(prosrc, :'schemas', '', 'g') = regexp_replace(:'body', :'schemas', '', 'g') AND NOT prosecdef AND proconfig = ARRAY['search_path=pg_catalog, pg_temp']
	AND tgenabled IN ('O', 'A') AND tgtype = 1 + 2 + 4 + 16 AND tgqual IS NULL
	AND tgattr::int2[] @> ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = c.oid AND attname = ANY (:'columns'::name[] || :'sig'::name))
\gset
\if :unsigned
	SELECT :raise
	FROM (SELECT format('trigger "%s" of "%s" signs "%s" already, and is not what this script would make', tgname, :'table', :'sig') AS message,
			format('Name another column with -v sig=NAME. Or drop the trigger and the signatures that it has made, with DROP TRIGGER %I ON %s and ALTER TABLE %2$s DROP COLUMN %3$I, and start again.',
				tgname, :'table', :'sig') AS hint
		FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid
		WHERE NOT :'moved' AND tgrelid = :'table_oid'::oid AND tgtype & 2 <> 0
			AND strpos(lower(translate(prosrc, E' \t\n"', '')), lower(translate(format('NEW.%s:=', :'sig'), E' \t\n"', ''))) > 0) e
	\gexec
	-- Signatures that something else has made must be the same.
	SELECT CASE WHEN :'unmade' THEN 'SELECT WHERE false' ELSE format('SELECT %s FROM (SELECT format(''column "%%s" has signatures that the expression does not make'', %L) AS message,
			''Set them to NULL to have them made again, or name another column with -v sig=NAME.'' AS hint
		FROM (SELECT %I AS sig, %s AS made FROM %s new WHERE %3$I IS NOT NULL LIMIT 100) s WHERE format(''%%s'', sig) <> format(''%%s'', made) LIMIT 1) e',
		:'raise', :'sig', :'sig', :'make', :'table') END AS query
	\gset
	:query \gexec
\endif
\if :moved
\else
	-- A name that is free, if necessary with a number behind it.
	WITH clipped AS (
		SELECT left(name, size) AS name, relnamespace
		FROM pg_class, LATERAL (SELECT format('%s_%s', relname, :'sig')) n (name), LATERAL generate_series(length(name), 0, -1) size
		WHERE oid = :'table_oid'::oid AND octet_length(left(name, size)) <= 54
		ORDER BY size DESC LIMIT 1
	)
	SELECT format('%s_sign%s', name, nullif(n, 0)) AS signer
	FROM clipped, generate_series(0, 9999) n
	WHERE NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = relnamespace AND proname = format('%s_sign%s', name, nullif(n, 0)))
		AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = :'table_oid'::oid AND tgname = format('%s_sign%s', name, nullif(n, 0)))
	ORDER BY n LIMIT 1
	\gset
	SELECT string_agg(quote_ident(name), ', ') AS watched FROM unnest(:'columns'::name[]) name
	\gset
\endif

-- ---- The column and the trigger ----

BEGIN;
\if :unmade
	:add_column;
\endif
\if :moved
	SELECT format('CREATE OR REPLACE FUNCTION %s RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS %L', :'signer', :'body') WHERE :'unsigned'
	\gexec
\elif :unsigned
	CREATE FUNCTION :schema.:"signer"() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS :'body';
	CREATE TRIGGER :"signer" BEFORE INSERT OR UPDATE OF :watched, :"sig" ON :table FOR EACH ROW EXECUTE FUNCTION :schema.:"signer"();
\endif
COMMIT;

-- ---- The old rows ----

SELECT set_config('neardup_sign.table', :'table', false), set_config('neardup_sign.table_oid', :'table_oid', false),
	set_config('neardup_sign.id', :'id', false), set_config('neardup_sign.complete', :'complete', false), set_config('neardup_sign.make', :'make', false), set_config('neardup_sign.sig', :'sig', false),
	set_config('neardup_sign.equals', :'equals', false), set_config('neardup_sign.above', :'above', false),
	set_config('neardup_sign.batch', :'batch', false), set_config('neardup_sign.pause', :'pause', false), set_config('neardup_sign.check_trust', :'check_trust', false)
\g /dev/null

-- Goes by the id, so that each batch begins where the last one ended.
DO $$
DECLARE
	id_name text := quote_ident(current_setting('neardup_sign.id'));
	table_name text := current_setting('neardup_sign.table');
	unsigned text := format('%I IS NULL AND (%s) IS NOT NULL', current_setting('neardup_sign.sig'), current_setting('neardup_sign.make'));
	-- Most rows need not be signed to see that they can be.
	todo text := format('%I IS NULL AND (%s OR (%s) IS NOT NULL)', current_setting('neardup_sign.sig'), current_setting('neardup_sign.complete'), current_setting('neardup_sign.make'));
	batch text := format('WITH batch AS (SELECT %s AS id FROM %s new WHERE %s AND %1$s IS NOT NULL', id_name, table_name, todo);
	-- The trigger signs a row whose signature is set to NULL.
	sign text := format(' ORDER BY 1 LIMIT %s FOR UPDATE),
		signed AS (UPDATE %s t SET %I = NULL FROM batch WHERE t.%s %s batch.id RETURNING 1)
		SELECT (SELECT count(*) FROM signed), (SELECT format(''%%s'', id) FROM batch ORDER BY batch.id DESC LIMIT 1)',
		current_setting('neardup_sign.batch')::int, table_name,
		current_setting('neardup_sign.sig'), id_name, current_setting('neardup_sign.equals'));
	beyond text := '';
	start timestamptz := clock_timestamp();
	last text;
	rows bigint;
	signed bigint := 0;
	total bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s new WHERE %s', table_name, todo) INTO total;
	RAISE NOTICE '% rows to sign', total;
	COMMIT;
	LOOP
		-- Under this lock no trigger can be added, and the table cannot be given away.
		EXECUTE format('LOCK TABLE %s IN ROW EXCLUSIVE MODE', table_name);
		EXECUTE current_setting('neardup_sign.check_trust');
		EXECUTE batch || beyond || sign INTO rows, last;
		COMMIT;
		EXIT WHEN last IS NULL;
		signed := signed + rows;
		beyond := format(' AND %s %s %L', id_name, current_setting('neardup_sign.above'), last);
		RAISE NOTICE '% of % signed, % a second', signed, total,
			round(signed / greatest(0.001, extract(epoch FROM clock_timestamp() - start))::numeric);
		PERFORM pg_sleep(current_setting('neardup_sign.pause')::float8);
	END LOOP;
	EXECUTE format('SELECT count(*) FROM %s new WHERE %s', table_name, unsigned) INTO total;
	IF total > 0 THEN
		RAISE WARNING '% rows have no signature', total USING HINT = 'Check whether their id is null, and whether a trigger or a policy keeps rows back.';
	END IF;
END
$$;

-- ---- The index ----

-- The table, or its partitions that have rows.
SELECT format($heaps$
	WITH RECURSIVE tree AS (
		SELECT %s::oid AS rel UNION SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = rel
	)
	SELECT rel FROM tree JOIN pg_class c ON c.oid = rel WHERE relkind <> 'p'$heaps$, :'table_oid') AS heaps
\gset
-- An index of the column alone.
\set indexes 'pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam JOIN pg_attribute k ON attrelid = indrelid AND attnum = indkey[0] WHERE amname = ''neardup'' AND indnatts = 1 AND indpred IS NULL AND attname = '

-- An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index.  Under this lock, which
-- that command holds too, no session builds it any more.
\set left ':indexes :''sig'' AND NOT indisvalid AND indrelid IN (:heaps) AND relname ~ CASE WHEN :''partitioned'' THEN ''_idx\\d*$'' ELSE ''_neardup\\d*$'' END'
SELECT coalesce(string_agg(DISTINCT indrelid::regclass::text, ', '), :'table') AS unfinished, count(*) > 0 AS "any" FROM :left
\gset
\if :any
	BEGIN ISOLATION LEVEL READ COMMITTED;
	LOCK TABLE ONLY :unfinished IN SHARE UPDATE EXCLUSIVE MODE;
	SELECT coalesce(array_agg(indexrelid), '{}') AS dead FROM :left
	\gset
	COMMIT;
	SELECT format('DROP INDEX CONCURRENTLY %s', indexrelid::regclass) FROM pg_index WHERE indexrelid = ANY (:'dead'::oid[]) AND NOT indisvalid
	\gexec
\endif
WITH clipped AS (
	SELECT left(name, size) AS name, relnamespace
	FROM pg_class, LATERAL (SELECT format('%s_%s', relname, :'sig')) n (name), LATERAL generate_series(length(name), 0, -1) size
	WHERE oid = :'table_oid'::oid AND octet_length(left(name, size)) <= 51
	ORDER BY size DESC LIMIT 1
)
SELECT format('%s_neardup%s', name, nullif(n, 0)) AS index
FROM clipped, generate_series(0, 9999) n
WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = clipped.relnamespace AND relname = format('%s_neardup%s', name, nullif(n, 0)))
ORDER BY n LIMIT 1
\gset
-- PostgreSQL does not create an index of a partitioned table concurrently, but takes the
-- indexes that the partitions have.
SELECT format('CREATE INDEX CONCURRENTLY %s ON %s USING neardup (%I)', CASE WHEN NOT :'partitioned' THEN quote_ident(:'index') END, rel::regclass, :'sig')
FROM (:heaps) h WHERE NOT EXISTS (SELECT FROM :indexes :'sig' AND indisvalid AND indrelid = rel)
UNION ALL
SELECT format('CREATE INDEX %I ON %s USING neardup (%I)', :'index', :'table', :'sig')
WHERE :'partitioned' AND NOT EXISTS (SELECT FROM :indexes :'sig' AND indisvalid AND indrelid = :'table_oid'::oid)
\gexec
ANALYZE :table;
\echo :shown_table 'is signed and indexed'
SELECT pg_advisory_unlock(1852137842, :'table_oid'::bigint::bit(32)::int), set_config('search_path', :'old_path', false) \g /dev/null
