-- neardup-keep-one.sql: of each cluster of near-duplicates keep one row, and
-- delete or mark the rest, in one transaction.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v order_by='length(body) DESC'] [-v mark=duplicate_of] [-v limit=20]
--        [-v apply=yes] [-v trust=yes] -f neardup-keep-one.sql
--
-- Without apply=yes it is a dry run: everything is done, counted and rolled back.
-- With mark, the rest is not deleted: that column gets the id of the row that was
-- kept, and rows that have one already are left out.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\set AUTOCOMMIT on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?order_by} \else \set order_by '' \endif
\if :{?mark} \else \set mark '' \endif
\if :{?limit} \else \set limit 20 \endif
\if :{?apply} \else \set apply no \endif
\if :{?trust} \else \set trust no \endif

-- The table is looked up by the caller's search path, and nothing else is: others
-- may have put functions and operators there.
SELECT pg_catalog.current_setting('search_path') AS old_path, :'table'::pg_catalog.regclass::pg_catalog.oid AS table_oid
\gset
SET search_path = pg_catalog, pg_temp;

-- Nor is a function taken for the extension's that somebody has put beside it.
SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END',
	'function ' || p.oid::regprocedure || ' is not a part of the extension neardup',
	'Drop it, and let only roles that you trust create objects in the schema of the extension.'))
FROM pg_extension e JOIN pg_proc p ON pronamespace = extnamespace
WHERE extname = 'neardup' AND proname = 'neardup_clusters'
	AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
\gexec

-- The id without its domains, whose constraints would run, and equality as its type's order has it.
WITH RECURSIVE base AS (
	SELECT atttypid AS type FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'id' AND NOT attisdropped
	UNION ALL
	SELECT typbasetype FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
), id_type AS (
	SELECT type, (SELECT format('OPERATOR(%I.%s)', nspname, oprname)
		FROM pg_opclass JOIN pg_amop ON amopfamily = opcfamily JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
		WHERE opcmethod = 403 AND opcdefault AND opcintype = type AND amoplefttype = type AND amoprighttype = type AND amopstrategy = 3) AS equals
	FROM base JOIN pg_type t ON t.oid = type WHERE typtype <> 'd'
), shown AS (
	SELECT :'table_oid'::oid::regclass AS "table", :'mark' <> '' AS marking, extnamespace::regnamespace AS ext,
		coalesce((SELECT format_type(type, -1) FROM id_type), 'bigint') AS id_type,
		coalesce((SELECT equals FROM id_type), 'OPERATOR(pg_catalog.=)') AS equals
	FROM pg_extension WHERE extname = 'neardup'
)
SELECT *, format('SELECT %I::%s, %I FROM %s WHERE %I IS NOT NULL%s ORDER BY %s', :'id', id_type, :'sig', "table", :'sig',
	CASE WHEN marking THEN format(' AND %I IS NULL', :'mark') END,
	coalesce(nullif(:'order_by', ''), format('%I', :'id'))) AS query
FROM shown
\gset

\pset tuples_only on
\pset format unaligned

BEGIN;
-- Others may read meanwhile, and nobody changes what is being decided, nor adds a trigger.
LOCK TABLE :table IN SHARE ROW EXCLUSIVE MODE;

\if :trust
\else
	-- What a table runs when its rows change runs as whoever changes them: for a
	-- superuser that must not be what others have written.
	WITH RECURSIVE tree AS (
		SELECT :'table_oid'::oid AS rel
		UNION
		SELECT child FROM tree JOIN (SELECT inhparent, inhrelid AS child FROM pg_inherits
			UNION ALL SELECT confrelid, conrelid FROM pg_constraint WHERE contype = 'f') x ON inhparent = rel
	), parts AS (
		SELECT 'pg_trigger'::regclass AS class, t.oid AS part FROM tree JOIN pg_trigger t ON tgrelid = rel WHERE tgenabled <> 'D'
		UNION ALL SELECT 'pg_rewrite'::regclass, r.oid FROM tree JOIN pg_rewrite r ON ev_class = rel
		UNION ALL SELECT 'pg_constraint'::regclass, c.oid FROM tree JOIN pg_constraint c ON conrelid = rel
		UNION ALL SELECT 'pg_attrdef'::regclass, d.oid FROM tree JOIN pg_attrdef d ON adrelid = rel
		UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM tree JOIN pg_index ON indrelid = rel
		UNION ALL SELECT 'pg_type'::regclass, atttypid FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'mark'
	), code AS (
		SELECT p.oid::regprocedure::text AS name, proowner AS owner
		FROM parts JOIN pg_depend ON classid = class AND objid = part LEFT JOIN pg_operator o ON refclassid = 'pg_operator'::regclass AND o.oid = refobjid
			JOIN pg_proc p ON p.oid = CASE WHEN refclassid = 'pg_proc'::regclass THEN refobjid ELSE oprcode END
		UNION ALL SELECT 'rule ' || rulename, relowner FROM tree JOIN pg_rewrite ON ev_class = rel JOIN pg_class c ON c.oid = rel
		UNION ALL SELECT 'type ' || t.oid::regtype, typowner FROM parts JOIN pg_type t ON class = 'pg_type'::regclass AND t.oid = part
	)
	SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END',
		format('%s would run as a superuser, and belongs to role %s', name, rolname),
		'Log in as the owner of the table, or say -v trust=yes.'))
	FROM code JOIN pg_roles r ON r.oid = owner
	WHERE NOT rolsuper AND (SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname IN (current_user, session_user)) LIMIT 1
	\gexec
\endif

CREATE TEMP TABLE neardup_rest ON COMMIT DROP AS
SELECT id, keeper, similarity
FROM :ext.neardup_clusters(:'query'::text, :'threshold'::float8, NULL:::id_type,
	false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8)
WHERE NOT id :equals keeper;
ANALYZE pg_temp.neardup_rest;

SELECT format('%s: %s near-duplicates (similarity %s and above) of %s rows that stay', :'table', count(*),
	:'threshold', count(DISTINCT keeper))
FROM pg_temp.neardup_rest;
SELECT format('    %s  %s of %s', to_char(similarity, 'FM0.000'), id, keeper)
FROM pg_temp.neardup_rest ORDER BY keeper, id LIMIT :'limit'::bigint;
SELECT format('    ... and %s more', count(*) - :'limit'::bigint) FROM pg_temp.neardup_rest HAVING count(*) > :'limit'::bigint;

\if :marking
	UPDATE :table t SET :"mark" = rest.keeper FROM pg_temp.neardup_rest rest WHERE t.:"id" :equals rest.id;
\else
	DELETE FROM :table t USING pg_temp.neardup_rest rest WHERE t.:"id" :equals rest.id;
\endif
\set changed :ROW_COUNT

-- One row for each that was to go, and all that were to stay are there.
SELECT count(*) <> :changed OR EXISTS (
		SELECT FROM pg_temp.neardup_rest rest WHERE NOT EXISTS (SELECT FROM :table t WHERE t.:"id" :equals rest.keeper)) AS wrong
FROM pg_temp.neardup_rest \gset
\if :wrong
	DO 'BEGIN RAISE EXCEPTION ''the rows changed are not those that were found'' USING HINT = ''Is the id unique, and does a trigger or a policy keep rows back?''; END';
\endif

\if :apply
	COMMIT;
	\if :marking
		\echo :changed 'rows marked'
	\else
		\echo :changed 'rows deleted'
	\endif
\else
	ROLLBACK;
	\echo 'dry run: nothing was changed; -v apply=yes does it'
\endif
SELECT set_config('search_path', :'old_path', false) \g /dev/null
