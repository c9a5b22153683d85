-- neardup-watch.sql: lists the near-duplicates that have appeared since the last run.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        [-v schema=monitoring] [-v trust=yes] -f neardup-watch.sql
--
-- The first run notes the current transaction.  Each later run searches the index for rows
-- similar to those that were inserted or changed since, and lists each pair once.  What it has
-- seen does not move with ALTER TABLE ... SET SCHEMA.  See doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?schema} \else \set schema '' \endif
\set changes no
\set functions '{is_similar,similarity}'
\ir neardup-begin.sql

SELECT :raise
FROM (VALUES ('id', :'id', 'columns'), ('sig', :'sig', 'a column')) v (name, value, allowed)
	:unfit
\gexec
SELECT :attempt
FROM (VALUES ('schema', :'schema', format('PERFORM %L::regnamespace;', :'schema'), 'Name it as in SQL: -v schema=NAME.')) v (name, value, code, hint)
WHERE value <> ''
\gexec
SELECT c.oid::regclass AS "table", coalesce(nullif(:'schema', ''), relnamespace::regnamespace::text)::regnamespace AS schema,
	to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS citus
FROM pg_class c WHERE c.oid = :'table_oid'::oid
\gset

-- The number of the transaction that wrote a row, xmin, says whether the row is new.
WITH RECURSIVE tree AS (
	SELECT :'table_oid'::oid AS rel UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = rel
)
SELECT :raise
FROM (SELECT format('cannot tell which rows of "%s" are new', c.oid::regclass) AS message,
		'Its rows are not in heap tables of this server. Watch the table where its rows are, or use a trigger.' AS hint
	FROM tree JOIN pg_class c ON c.oid = rel LEFT JOIN pg_am a ON a.oid = relam
	WHERE relkind NOT IN ('r', 'p', 'm') OR relkind <> 'p' AND amname <> 'heap'
	LIMIT 1) e
\gexec
\if :citus
	SELECT :raise
	FROM (SELECT format('cannot tell which rows of "%s" are new', logicalrelid) AS message,
			'Citus keeps its rows in shards, which have transaction numbers of their own. Watch the shards on their workers, or use a trigger.' AS hint
		FROM pg_catalog.pg_dist_partition WHERE logicalrelid = :'table_oid'::oid) e
	\gexec
\endif

BEGIN ISOLATION LEVEL REPEATABLE READ;
SET LOCAL client_min_messages = warning;

-- ---- What earlier runs noted ----

SELECT to_regclass(:'schema' || '.neardup_watched') IS NULL AS unmade \gset
\if :unmade
	CREATE TABLE :schema.neardup_watched (
		"table" regclass,
		sig name,
		threshold float8,
		seen numeric NOT NULL, -- all transactions below had ended
		PRIMARY KEY ("table", sig, threshold)
	);
\endif
SELECT to_regclass(:'schema' || '.neardup_noticed') IS NULL AS unmade \gset
\if :unmade
	CREATE TABLE :schema.neardup_noticed (
		"table" regclass,
		sig name,
		threshold float8,
		id text,
		resembles text,
		similarity float8 NOT NULL,
		noticed_at timestamptz NOT NULL DEFAULT now(),
		PRIMARY KEY ("table", sig, threshold, id, resembles)
	);
\endif
COMMIT;

BEGIN ISOLATION LEVEL REPEATABLE READ;
-- One run at a time; no trigger can be added, and no table given away.
LOCK TABLE :schema.neardup_watched, :schema.neardup_noticed IN SHARE ROW EXCLUSIVE MODE;
:check_trust \g /dev/null

-- Tables of these names that belong to another role would run its code as this role.
SELECT format('DO %L', format('BEGIN RAISE EXCEPTION USING MESSAGE = %L, DETAIL = %L, HINT = %L; END',
	format('"%s" is not a table that this script has made for this role', c.oid::regclass), format('it belongs to role %s', rolname),
	'Drop it, run the script as its owner, or name another schema with -v schema=NAME.'))
FROM pg_class c JOIN pg_roles r ON r.oid = relowner
WHERE c.oid IN ((:'schema' || '.neardup_watched')::regclass, (:'schema' || '.neardup_noticed')::regclass)
	AND NOT rolsuper AND NOT pg_has_role(current_user, relowner, 'MEMBER')
LIMIT 1
\gexec
SELECT :ext.neardup_require_trust((:'schema' || name)::regclass, :'trust'::boolean, true) FROM (VALUES ('.neardup_watched'), ('.neardup_noticed')) v (name) \g /dev/null

-- xmin is a transaction number modulo 2^32.  The age of a row in transactions is right up
-- to 2^31, and negative beyond.  A noted number that is greater than the current one comes
-- from another server, before a restore.
SELECT pg_current_xact_id()::text AS me,
	pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
	coalesce((SELECT seen FROM :schema.neardup_watched
		WHERE "table" = :'table_oid'::oid AND sig = :'sig' AND threshold = :'least'::float8
			AND seen <= pg_current_xact_id()::text::numeric), -1) AS seen
\gset
SELECT :seen < 0 AS first, :me - :seen >= 2147483648 AS long_ago \gset

\if :first
	\echo :shown_table 'is watched from now on'
\else
	\if :long_ago
		\warn 'more than 2^31 transactions since the last run: all rows are compared'
	\endif
	WITH fresh AS MATERIALIZED (
		SELECT :id_key:::id_type AS id, :"sig" AS sig FROM :table
		WHERE :"sig" IS NOT NULL AND (:'long_ago' OR age(xmin) BETWEEN 0 AND :me - :seen)
	), pairs AS (
		SELECT fresh.id, :t_key:::id_type AS resembles, :ext.similarity(fresh.sig, t.:"sig") AS similarity
		FROM fresh JOIN :table t ON :ext.is_similar(t.:"sig", fresh.sig, :'least'::float8) AND NOT :t_key :equals fresh.id
	), noticed AS (
		INSERT INTO :schema.neardup_noticed ("table", sig, threshold, id, resembles, similarity)
		SELECT DISTINCT :'table_oid'::oid::regclass, :'sig'::name, :'least'::float8, format('%s', greatest(id, resembles)),
			format('%s', least(id, resembles)), similarity
		FROM pairs
		ON CONFLICT DO NOTHING
		RETURNING id, resembles, similarity
	)
	SELECT (SELECT :printed FROM (SELECT id) r (raw)) AS id, (SELECT :printed FROM (SELECT resembles) r (raw)) AS resembles, similarity
	FROM noticed ORDER BY similarity DESC, noticed.id, noticed.resembles;
\endif

INSERT INTO :schema.neardup_watched VALUES (:'table_oid'::oid, :'sig', :'least'::float8, :horizon)
ON CONFLICT ("table", sig, threshold) DO UPDATE SET seen = EXCLUDED.seen;
COMMIT;
SELECT set_config('search_path', :'old_path', false) \g /dev/null
