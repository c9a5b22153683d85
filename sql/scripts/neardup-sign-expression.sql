-- neardup-sign-expression.sql: what neardup-sign.sql has to know of the expression that signs.
-- It includes this file from its own folder; the file does nothing useful alone.
--
-- Reads the variables signs (the expression), signed_by (the parameter that it comes from),
-- table, table_oid, sig, ext and trust.  Sets
--   make        the expression as planned: names with schemas, calls with all arguments,
--               columns of a row that is called new
--   sig_type    its type, and type_oid without a modifier
--   columns     the columns that it uses, as name[]
--   complete    a condition: all of these columns have a value
--   body        the function of a trigger that sets the column sig
--
-- An expression is first parsed as a view, which runs nothing.  Only if all that it calls
-- belongs to roles to be trusted, it becomes a generated column of an empty table, which
-- shows whether it is immutable, and is planned: EXPLAIN then shows it with the arguments
-- that are left to defaults.  A call without them could later mean another function of
-- that name.

SELECT relname AS name FROM pg_class WHERE oid = :'table_oid'::oid
\gset

BEGIN;
-- The name is the same, so that the expression may contain it: docs.title.
CREATE TEMP TABLE :"name" (LIKE :table);

-- ---- A view ----

SELECT :attempt
FROM (SELECT :'signed_by' AS name, :'signs' AS value, format('SET LOCAL search_path = pg_catalog, %s, pg_temp; EXECUTE %L; SET LOCAL search_path = pg_catalog, pg_temp;',
		:'ext', format(E'CREATE TEMP VIEW neardup_expression AS SELECT (%s\n) AS value FROM pg_temp.%I', :'signs', :'name')) AS code, NULL AS hint) e
\gexec

SELECT oid AS rule FROM pg_rewrite WHERE ev_class = 'pg_temp.neardup_expression'::regclass
\gset
-- No function, operator or type of a role that the roles that write to the table, or the
-- one who runs this script, need not trust.
WITH used AS (
	SELECT refclassid AS class, refobjid AS object FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND objid = :rule
), code AS (
	SELECT class, object, 'function ' || p.oid::regprocedure AS name, proowner AS owner FROM used JOIN pg_proc p ON class = 'pg_proc'::regclass AND p.oid = object
	UNION ALL SELECT class, object, 'operator ' || o.oid::regoperator, x.owner
	FROM used JOIN pg_operator o ON class = 'pg_operator'::regclass AND o.oid = object JOIN pg_proc p ON p.oid = oprcode, LATERAL (VALUES (oprowner), (proowner)) x (owner)
	UNION ALL SELECT class, object, 'type ' || t.oid::regtype, typowner FROM used JOIN pg_type t ON class = 'pg_type'::regclass AND t.oid = object
), runs AS (
	SELECT bool_or(rolsuper) AS as_superuser FROM pg_roles WHERE rolname IN (current_user, session_user)
)
SELECT :raise
FROM (SELECT format('the expression uses %s, which belongs to role %s', name, rolname) AS message,
		'It would run as each role that writes to the table. If all of them trust that role, use -v trust=yes.' AS hint
	FROM code JOIN pg_roles r ON r.oid = owner, runs
	WHERE NOT rolsuper AND (as_superuser OR NOT pg_has_role(current_user, owner, 'MEMBER')) AND NOT :'trust'::boolean
	LIMIT 1) e
\gexec

WITH used AS (
	SELECT attnum, attname, a.attcollation, typcollation FROM pg_depend JOIN pg_attribute a ON attrelid = refobjid AND attnum = refobjsubid JOIN pg_type t ON t.oid = atttypid
	WHERE classid = 'pg_rewrite'::regclass AND objid = :rule AND refclassid = 'pg_class'::regclass AND refobjid = format('pg_temp.%I', :'name')::regclass
)
SELECT atttypid AS type_oid, format_type(atttypid, atttypmod) AS sig_type,
	(SELECT coalesce(array_agg(attname ORDER BY attnum), '{}') FROM used) AS columns,
	(SELECT string_agg(format('%I IS NOT NULL', attname), ' AND ' ORDER BY attnum) FROM used) AS complete,
	(SELECT coalesce(bool_or(attcollation <> typcollation), false) FROM used) AS collated,
	(SELECT coalesce(string_agg(format('NEW.%I', attname) || CASE WHEN attcollation <> typcollation THEN format(' COLLATE %s', attcollation::regcollation) ELSE '' END
		|| format(' AS %I', attname), ', ' ORDER BY attnum), '') FROM used) AS new_row
FROM pg_attribute WHERE attrelid = 'pg_temp.neardup_expression'::regclass AND attname = 'value'
\gset

SELECT :raise FROM (
	SELECT format('the expression makes values of type %s', :'sig_type') AS message, 'It must make minhash, simhash, shingles, bigint or bit(n).' AS hint
	FROM pg_type t WHERE oid = :'type_oid'::oid AND NOT (typnamespace = 'pg_catalog'::regnamespace AND typname IN ('int8', 'bit'))
		AND NOT EXISTS (SELECT FROM pg_depend d JOIN pg_extension e ON e.oid = refobjid
			WHERE refclassid = 'pg_extension'::regclass AND extname = 'neardup' AND classid = 'pg_type'::regclass AND objid = t.oid AND typname IN ('minhash', 'simhash', 'shingles'))
	UNION ALL
	SELECT 'the expression uses no column of the table', 'Name columns as in a query: to_minhash(title || body).' WHERE :'columns' = '{}'
	UNION ALL
	SELECT format('the expression uses the column "%s", %s', attname, CASE WHEN attname = :'sig' THEN 'which it is to fill' ELSE 'which is generated after triggers have run' END),
		CASE WHEN attname = :'sig' THEN 'Name another column with -v sig=NAME.' ELSE 'Use the expression of that column instead.' END
	FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = ANY (:'columns'::name[]) AND (attname = :'sig' OR attgenerated <> '')
	LIMIT 1) e
\gexec

-- ---- A generated column ----

SELECT format('DO %L', format(E'BEGIN SET LOCAL search_path = pg_catalog, %s, pg_temp; EXECUTE %L; SET LOCAL search_path = pg_catalog, pg_temp;
	EXCEPTION WHEN invalid_object_definition THEN %s END',
	:'ext', format(E'ALTER TABLE pg_temp.%I ADD COLUMN neardup_value %s GENERATED ALWAYS AS (%s\n) STORED', :'name', :'sig_type', :'signs'), $$RAISE EXCEPTION 'the expression is not immutable' USING
		HINT = 'It must always make the same signature of the same row, whatever the time, the settings and the other rows. Its functions must be IMMUTABLE.';$$))
\gexec
SET LOCAL search_path = pg_catalog, pg_temp;

-- ---- A plan ----

-- EXPLAIN writes the name of the table before each column.
SELECT format('ALTER TABLE pg_temp.%I RENAME TO new', :'name') WHERE :'name' <> 'new'
\gexec
SELECT $explain$DO 'DECLARE plan json;
	BEGIN
		EXECUTE ''EXPLAIN (VERBOSE, FORMAT JSON) SELECT value FROM pg_temp.neardup_expression'' INTO plan;
		PERFORM set_config(''neardup_sign.make'', plan->0->''Plan''->''Output''->>0, true);
	END'$explain$
\gexec
-- NEW does not have the collations of the table's columns.
SELECT make, CASE WHEN :'collated' THEN format(E'#variable_conflict use_column\nBEGIN NEW.%I := (SELECT %s FROM (SELECT %s) new); RETURN NEW; END', :'sig', make, :'new_row')
		ELSE format('BEGIN NEW.%I := %s; RETURN NEW; END', :'sig', make) END AS body
FROM current_setting('neardup_sign.make') make
\gset
ROLLBACK;
