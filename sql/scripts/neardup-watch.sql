-- neardup-watch.sql: near-duplicates that have come since the last run.
--
--   psql -v table=proposals [-v id=id] [-v sig=sig] [-v threshold=0.8]
--        -f neardup-watch.sql
--
-- The first run remembers where it stands; each later one looks at the rows that
-- were inserted or changed since, against all rows, through the index, and lists
-- each pair once.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?sig} \else \set sig sig \endif
\if :{?threshold} \else \set threshold 0.8 \endif

-- Wherever the extension lives, its functions are found.
SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), extnamespace::regnamespace), false)
FROM pg_extension WHERE extname = 'neardup' \g /dev/null

SET client_min_messages = warning;
CREATE TABLE IF NOT EXISTS neardup_watched (
	"table" regclass,
	sig name,
	threshold float8,
	seen numeric NOT NULL, -- all transactions below were over
	PRIMARY KEY ("table", sig, threshold)
);
CREATE TABLE IF NOT EXISTS neardup_noticed (
	"table" regclass,
	sig name,
	threshold float8,
	id text,
	resembles text,
	similarity float8 NOT NULL,
	noticed_at timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY ("table", sig, threshold, id, resembles)
);
RESET client_min_messages;

BEGIN;
-- One run at a time.
LOCK TABLE neardup_watched IN SHARE ROW EXCLUSIVE MODE;

-- A row's xmin counts modulo 2^32; its age from this transaction's number does not.
-- A number yet to come is of another server, from before a restore.
SELECT :'table'::regclass AS "table", pg_current_xact_id()::text AS me,
	pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
	coalesce((SELECT seen FROM neardup_watched
		WHERE "table" = :'table'::regclass AND sig = :'sig' AND threshold = :'threshold'
			AND seen <= pg_current_xact_id()::text::numeric), -1) AS seen
\gset
SELECT :seen < 0 AS first \gset

\if :first
	\echo :table 'is watched from now on'
\else
	WITH fresh AS MATERIALIZED (
		SELECT :"id" AS id, :"sig" AS sig FROM :table
		WHERE :"sig" IS NOT NULL AND :me - age(xmin) >= :seen
	), pairs AS (
		SELECT fresh.id, t.:"id" AS resembles, similarity(fresh.sig, t.:"sig") AS similarity
		FROM fresh JOIN :table t ON is_similar(t.:"sig", fresh.sig, :'threshold') AND t.:"id" <> fresh.id
	), noticed AS (
		INSERT INTO neardup_noticed ("table", sig, threshold, id, resembles, similarity)
		SELECT DISTINCT :'table'::regclass, :'sig'::name, :'threshold'::float8, greatest(id, resembles)::text,
			least(id, resembles)::text, similarity
		FROM pairs
		ON CONFLICT DO NOTHING
		RETURNING id, resembles, similarity
	)
	SELECT * FROM noticed ORDER BY similarity DESC, id, resembles;
\endif

INSERT INTO neardup_watched VALUES (:'table', :'sig', :'threshold', :horizon)
ON CONFLICT ("table", sig, threshold) DO UPDATE SET seen = EXCLUDED.seen;
COMMIT;
