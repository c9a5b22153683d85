-- neardup-undo.sql: takes back what neardup-keep-one.sql did with mark and record.
--
--   psql -v table=proposals -v mark=duplicate_of -v record=merged [-v id=id] [-v apply=yes]
--        [-v trust=yes] -f neardup-undo.sql
--
-- Without apply=yes it is a dry run: everything is done, counted and rolled back.  A mark or a
-- reference that has changed since is left.  Rows that were deleted do not come back.  See
-- doc/reference/scripts.md.

\set ON_ERROR_STOP on
\if :{?mark} \else \set mark '' \endif
\if :{?record} \else \set record '' \endif
\if :{?apply} \else \set apply no \endif
\set references move
\set functions '{}'
\set changes yes
\ir neardup-begin.sql

SELECT :raise
FROM (VALUES ('apply', :'apply', 'yes or no'), ('id', :'id', 'columns'), ('mark', :'mark', 'a column')) v (name, value, allowed)
	:unfit
\gexec
SELECT :raise FROM (VALUES ('no record is named', 'Name the table that neardup-keep-one.sql has written: -v record=NAME.')) v (message, hint)
WHERE :'record' = ''
\gexec
SELECT :'table_oid'::oid::regclass AS "table" \gset

\pset tuples_only on
\pset format unaligned

BEGIN;
LOCK TABLE :table IN SHARE ROW EXCLUSIVE MODE;
:check_trust \g /dev/null
\ir neardup-references.sql
LOCK TABLE :record_table IN SHARE ROW EXCLUSIVE MODE;

-- What can be taken back.
CREATE TEMP TABLE neardup_done ON COMMIT DROP AS
SELECT r.ctid AS entry, r.id, r.keeper, r.moved FROM :record_table r WHERE "table" = :'shown_table' AND mark = :'mark' AND undone IS NULL;
CREATE TEMP TABLE neardup_undone (entry tid) ON COMMIT DROP;
WITH undone AS (
	UPDATE :table t SET :"mark" = NULL FROM pg_temp.neardup_done d
	WHERE format('%s', :t_key) = d.id AND format('%s', t.:"mark") = d.keeper RETURNING entry
)
INSERT INTO pg_temp.neardup_undone TABLE undone;
-- References go back if they are still those of the row that was kept.
CREATE TEMP TABLE neardup_moved (reference oid) ON COMMIT DROP;
SELECT format('WITH moved AS (UPDATE %1$s r SET (%2$s) = ROW(%3$s)
		FROM pg_temp.neardup_done d, jsonb_to_recordset(d.moved) m ("table" text, reference text, "row" jsonb), %4$s gone, %4$s kept
		WHERE d.entry IN (SELECT entry FROM pg_temp.neardup_undone) AND m."table" = %5$L AND m.reference = %6$L AND m."row" = %7$s
			AND format(''%%s'', %8$s) = d.id AND format(''%%s'', %11$s) = d.keeper AND %9$s RETURNING 1)
	INSERT INTO pg_temp.neardup_moved SELECT %10$L FROM moved', "table", own, format(others, 'gone'), :'table_oid'::oid::regclass, "table", name, row_key, format(:'key_of', 'gone'), format(equal, 'kept'), reference, format(:'key_of', 'kept'))
FROM pg_temp.neardup_references ORDER BY "table", name
\gexec
UPDATE :record_table r SET undone = now() FROM pg_temp.neardup_undone u WHERE r.ctid = u.entry;

SELECT format('%s: %s marks are taken back, %s have changed since', :'shown_table', (SELECT count(*) FROM pg_temp.neardup_undone), (SELECT count(*) FROM pg_temp.neardup_done) - (SELECT count(*) FROM pg_temp.neardup_undone));
SELECT (SELECT :printed FROM format('references of %s (%s) that go back: %s of %s', "table", array_to_string(columns, ', '), (SELECT count(*) FROM pg_temp.neardup_moved m WHERE m.reference = r.reference),
	(SELECT count(*) FROM pg_temp.neardup_done, jsonb_to_recordset(moved) m ("table" text, reference text) WHERE m."table" = r."table" AND m.reference = name)) raw)
FROM pg_temp.neardup_references r ORDER BY "table", name;

\if :apply
	COMMIT;
\else
	ROLLBACK;
	\echo 'dry run: nothing was changed; use -v apply=yes'
\endif
SELECT set_config('search_path', :'old_path', false) \g /dev/null
