-- neardup-begin.sql: what the other scripts begin with.  They include it from the folder
-- that they are in; it does nothing useful alone.
--
-- Reads the variables table, id, sig, threshold, title, within and trust, and
--   functions          names of the extension's functions that the script calls, as name[]
--   changes            yes if the script does more than read rows of the table
-- Sets the search path to pg_catalog and these variables:
--   table_oid, ext     the table, and the schema of the extension
--   shown_table        the name of the table, to be printed
--   least              the threshold, or its default
--   id_type            the type of the id
--   within_names       the columns in which rows must be equal, as name[]
--   within_list        these columns, each behind a comma
--   id_key, t_key      expressions: the id of a row, also of the table t; that of several
--                      columns is the array of their texts
--   key_of             a format of the id of a row of the table %1$s
--   id_order           the columns of the id, to sort by
--   array_of           for id = ANY (:array_of (SELECT ...)): ARRAY, so that an index is used
--   equals, above      the operators "=" and ">" of that type
--   old_path           the search path before
--   raise              an expression: the statement that raises an error (message, hint)
--   unfit              what follows FROM (VALUES ...) v (name, value, allowed) to select the
--                      message and the hint for each value that is not allowed
--   attempt            an expression: the statement that runs the PL/pgSQL statements "code",
--                      and names the variable (name, value, hint) if they fail; they may use
--                      the cursor rows
--   unseen             a regular expression of the characters that must not reach a terminal
--                      or a page, because they are not seen or change how others are shown
--   printed            an expression: the text "raw", on one line without such characters
--   check_order        a query of the statement that fails if the query "query", which ends
--                      with order_by or the id, is not valid
--   titles             a query of (id, title) for the relation shown(id): the column title,
--                      printed, cut to 60 characters; without rows if title is not set
--   kinds              a query of the tables below the table and of what they are, if they are
--                      not plain tables
--   check_trust        a query that fails if a superuser would run code of the table, which a
--                      role without superuser owns, in the transaction that reads or changes it

\set QUIET on
\set AUTOCOMMIT on
\if :{?table} \else \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \set least :threshold \else \set least 0.8 \endif
\if :{?title} \else \set title '' \endif
\if :{?within} \else \set within '' \endif
\if :{?trust} \else \set trust no \endif

-- ---- The table ----

-- Only the table is looked up by the caller's search path: other roles may have put
-- functions and operators into the schemas there.
SELECT pg_catalog.format('DO %L', pg_catalog.format($table$BEGIN PERFORM %1$L::pg_catalog.regclass; EXCEPTION WHEN OTHERS THEN
	RAISE EXCEPTION USING MESSAGE = pg_catalog.format(CASE WHEN %1$L::pg_catalog.text OPERATOR(pg_catalog.=) '' THEN 'no table is named' ELSE '"%%s" is not a value of table: %%s' END, %1$L, SQLERRM),
		HINT = 'Name it as in SQL, with its schema if that is not in the search path: -v table=NAME.'; END$table$, :'table'))
\gexec
SELECT pg_catalog.current_setting('search_path') AS old_path, :'table'::pg_catalog.regclass::pg_catalog.oid AS table_oid
\gset
SET search_path = pg_catalog, pg_temp;

-- ---- Messages ----

SELECT CASE getdatabaseencoding() WHEN 'UTF8' THEN '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]'
	ELSE '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]' END AS unseen
\gset
SELECT format('btrim(regexp_replace(raw COLLATE "C", %L, '' '', ''g''))', replace(:'unseen', '[', '([[:space:]]|[') || ')+') AS printed
\gset
\set raise 'format(''DO %L'', format(''BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END'', (SELECT :printed FROM (SELECT message) m (raw)), hint))'
SELECT $attempt$
	format('DO %L', format('DECLARE rows refcursor; detail text; advice text; BEGIN %s EXCEPTION WHEN insufficient_privilege THEN RAISE; WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, advice = PG_EXCEPTION_HINT;
		RAISE EXCEPTION USING MESSAGE = format(''"%%s" is not a value of %%s: %%s'', %L, %L, SQLERRM), HINT = coalesce(nullif(concat_ws('' '', nullif(detail, ''''), nullif(advice, ''''), %L), ''''), ''Try it in a query of the table.''); END',
		code, (SELECT :printed FROM left(value, 200) raw), name, hint))
	$attempt$ AS attempt,
$unfit$
	, LATERAL unnest(CASE allowed WHEN 'columns' THEN regexp_split_to_array(value, ' *, *') ELSE ARRAY[value] END) p (part),
		LATERAL (SELECT regexp_match(allowed, '^a (whole )?number (from|above) (\S+) up to (\S+)$')) a (range),
		LATERAL (SELECT substring(value, CASE WHEN range[1] IS NULL THEN '^\d{0,20}\.?\d{1,20}(?:e-?\d{1,2})?$' ELSE '^\d{1,20}$' END)::numeric) n (number),
		LATERAL (SELECT CASE
			WHEN allowed IN ('a column', 'columns') THEN NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = part AND NOT attisdropped)
			WHEN range IS NULL THEN value <> ALL (regexp_split_to_array(allowed, ', | or '))
			ELSE coalesce(number NOT BETWEEN range[3]::numeric AND range[4]::numeric OR number = range[3]::numeric AND range[2] = 'above', true) END) b (bad),
		LATERAL (SELECT CASE WHEN allowed IN ('a column', 'columns') THEN format('column "%s" of table "%s" does not exist', part, :'table_oid'::oid::regclass)
				ELSE format('"%s" is not a value of %s', left(value, 200), name) END AS message,
			CASE WHEN allowed IN ('a column', 'columns') THEN format('Name the column with -v %s=NAME.', name) || CASE name WHEN 'sig' THEN ' If there is none, neardup_sign_table() adds it.' ELSE '' END ELSE format('%s must be %s.', name, allowed) END AS hint) m
	WHERE bad AND value IS NOT NULL$unfit$ AS unfit,
	format('%s', :'table_oid'::oid::regclass) AS shown_table
\gset
SELECT :printed AS shown_table FROM (SELECT :'shown_table') t (raw)
\gset

SELECT $check$
	SELECT :attempt
	FROM (SELECT CASE :'order_by' WHEN '' THEN 'id' ELSE 'order_by' END AS name, coalesce(nullif(:'order_by', ''), :'id') AS value,
		format('OPEN rows FOR EXECUTE %L;', :'query') AS code, CASE :'order_by' WHEN '' THEN 'Name a column whose type has a sort order.'
			ELSE 'Write it as after ORDER BY in a query: -v "order_by=length(body) DESC".' END AS hint) e$check$ AS check_order
\gset

-- ---- Variables ----

SELECT :raise FROM (SELECT format('"%s" is not a value of table: there is no such table', :'table') AS message, 'Name it as in SQL: -v table=NAME.' AS hint) e
WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = :'table_oid'::oid)
\gexec
-- psql cannot list its variables in a query.  But Linux shows the command that a process was
-- started with, so there a mistyped name is an error, and not ignored.
SELECT :'VERSION' LIKE '%linux%' AS linux \gset
\if :linux
	\set names `{ tr '\0' '\n' </proc/$PPID/cmdline | LC_ALL=C sed -nE '/^(-[a-zA-Z]*v|--set|--variable)$/{n;s/=.*//p;};s/^(-[a-zA-Z]*v|--set=|--variable=)([a-zA-Z0-9_]+)=.*/\2/p'; } 2>/dev/null`
	SELECT :raise
	FROM (SELECT format('there is no variable "%s"', name) AS message, 'The scripts read ' || array_to_string(known, ', ') || '.' AS hint
		FROM string_to_array('apply,b,batch,below,chars,entries,expression,function,id,judged,k,limit,mark,members,min_tokens,order_by,output,pairs,pause,record,references,sample,schema,scheme,share,show,sig,sort,table,text,threshold,title,trust,type,verdicts,within', ',') known,
			regexp_split_to_table(:'names', '\s+') name
		WHERE name ~ '[a-z]' AND name <> ALL (known)) e
	\gexec
\endif
SELECT btrim(:'within') AS within
\gset
SELECT :raise
FROM (VALUES ('threshold', :'least', 'a number above 0 up to 1'), ('trust', :'trust', 'yes, no, 1 or 0'), ('title', nullif(:'title', ''), 'a column'), ('within', nullif(:'within', ''), 'columns')) v (name, value, allowed)
	:unfit
\gexec
SELECT coalesce(array_agg(part::name), '{}') AS within_names, coalesce(string_agg(format(', %I', part), ''), '') AS within_list
FROM regexp_split_to_table(nullif(:'within', ''), ' *, *') part
\gset

-- ---- The extension ----

SELECT :raise FROM (VALUES ('the extension neardup is not installed in this database', 'Install it with CREATE EXTENSION neardup.')) v (message, hint)
WHERE NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'neardup')
\gexec

-- A function that another role has put into the schema of the extension is an error, also if
-- the owner of the database has added it to the extension.
SELECT :raise
FROM (SELECT 'function ' || p.oid::regprocedure || ' is not a part of the extension neardup' AS message,
		'Drop it, and let only roles that you trust create objects in the schema of the extension.' AS hint
	FROM pg_extension e JOIN pg_proc p ON pronamespace = extnamespace
	WHERE extname = 'neardup' AND proname = ANY (:'functions'::name[])
		AND NOT EXISTS (SELECT FROM pg_depend JOIN pg_roles r ON r.oid = proowner
			WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND refobjid = e.oid AND deptype = 'e' AND rolsuper)) f
\gexec

-- The type below any domains, whose constraints would run, and the operators of its default
-- B-tree operator class.
WITH RECURSIVE base AS (
	SELECT atttypid AS type FROM pg_attribute WHERE attrelid = :'table_oid'::oid AND attname = :'id' AND NOT attisdropped
	UNION ALL
	SELECT typbasetype FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
), id_type AS (
	SELECT type FROM base JOIN pg_type t ON t.oid = type WHERE typtype <> 'd'
), operators AS (
	SELECT amopstrategy AS strategy, format('OPERATOR(%I.%s)', nspname, oprname) AS name
	FROM id_type JOIN pg_opclass ON opcintype = type JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = type AND amoprighttype = type
		JOIN pg_operator o ON o.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace
	WHERE opcmethod = 403 AND opcdefault
)
SELECT extnamespace::regnamespace AS ext,
	coalesce((SELECT format_type(type, -1) FROM id_type), CASE WHEN :'id' LIKE '%,%' THEN 'text[]' ELSE 'bigint' END) AS id_type,
	coalesce((SELECT name FROM operators WHERE strategy = 3), 'OPERATOR(pg_catalog.=)') AS equals,
	coalesce((SELECT name FROM operators WHERE strategy = 5), 'OPERATOR(pg_catalog.>)') AS above
FROM pg_extension WHERE extname = 'neardup'
\gset
-- The table may have got another name since, and another table its name: that is looked up when
-- the first is locked.
SELECT format('SELECT %s.neardup_require_trust(rel, %L::boolean, %L::boolean) FROM (VALUES (%L::oid::regclass), (to_regclass(%L))) v (rel)',
	:'ext', :'trust', :'changes', :'table_oid', :'table_oid'::oid::regclass) AS check_trust
\gset
SELECT id_order, array_of, key_of, format(key_of, 't') AS t_key, replace(replace(key_of, '%1$s.', ''), '%%', '%') AS id_key
FROM (SELECT string_agg(format('%I', part), ', ' ORDER BY n) AS id_order, CASE count(*) WHEN 1 THEN 'ARRAY' ELSE '' END AS array_of,
	CASE count(*) WHEN 1 THEN min(shown) ELSE format('ARRAY[%s]', string_agg(format('format(''%%%%s'', %s)', shown), ', ' ORDER BY n)) END AS key_of
	FROM regexp_split_to_table(:'id', ' *, *') WITH ORDINALITY p (part, n), LATERAL (SELECT format('%%1$s.%s', replace(quote_ident(part), '%', '%%')) AS shown) s) k
\gset

-- Only the ids that are shown are looked up, also on other servers.  format() calls the
-- output function of the type, where a cast could be the table owner's.
SELECT CASE :'title' WHEN '' THEN format('SELECT NULL::%s AS id, NULL AS title WHERE false', :'id_type')
	ELSE format($titles$SELECT id, CASE WHEN length(line) > 60 THEN left(line, 57) || '...' ELSE nullif(line, '') END AS title
		FROM (SELECT %1$s::%2$s AS id, (SELECT %6$s FROM left(format('%%s', %4$I), 1000) raw) AS line
			FROM %3$s WHERE %1$s %5$s ANY (%7$s (SELECT id FROM shown))) t$titles$,
		:'id_key', :'id_type', :'table_oid'::oid::regclass, :'title', :'equals', :'printed', :'array_of') END AS titles
\gset

\set views 'SELECT ev_class AS view, refobjid AS base FROM pg_rewrite r JOIN pg_depend ON classid = ''pg_rewrite''::regclass AND objid = r.oid AND refclassid = ''pg_class''::regclass'
SELECT format($kinds$
	WITH RECURSIVE tree AS (
		SELECT %1$s::oid AS rel
		UNION
		SELECT child FROM tree JOIN (SELECT inhparent AS parent, inhrelid AS child FROM pg_inherits UNION ALL SELECT view, base FROM (%3$s) v) x ON parent = rel
	)
	SELECT rel, relkind, (SELECT proname FROM pg_proc p WHERE p.oid = fdwhandler) AS handler, %4$s AS replicated, CASE
			WHEN relkind = 'f' THEN format('on another server, "%%s"', srvname) WHEN relkind = 'v' THEN 'a view' WHEN relkind = 'm' THEN 'a materialized view'
			WHEN relkind NOT IN ('r', 'p') THEN 'not a table' WHEN amname = 'columnar' THEN 'a columnar table, whose rows cannot be updated'
			WHEN %2$s THEN 'distributed by Citus, whose tables have no triggers'
			WHEN relpersistence = 't' THEN 'a temporary table'
			WHEN relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = rel) THEN 'a table with children' END AS what
	FROM tree JOIN pg_class c ON c.oid = rel LEFT JOIN pg_am a ON a.oid = relam LEFT JOIN pg_foreign_table ON ftrelid = rel
		LEFT JOIN pg_foreign_server s ON s.oid = ftserver LEFT JOIN pg_foreign_data_wrapper w ON w.oid = srvfdw
	$kinds$, :'table_oid', CASE WHEN citus THEN 'EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = rel)' ELSE 'false' END, :'views',
	CASE WHEN citus THEN 'EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = rel AND repmodel = ''t'')' ELSE 'false' END) AS kinds
FROM (SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL) c (citus)
\gset
