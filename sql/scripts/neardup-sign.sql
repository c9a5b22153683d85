-- neardup-sign.sql: give a big table signatures and an index, while it is in use.
--
--   psql -v table=proposals [-v id=id] [-v text=body] [-v sig=sig] [-v type=minhash]
--        [-v batch=5000] [-v pause=0] -f neardup-sign.sql
--
-- A generated column is simpler, and rewrites the table under a lock that nobody
-- gets past.  Here a trigger signs new rows and new texts, and the old ones are
-- signed in batches with a commit after each.  Stop it whenever you like, and
-- start it again: it goes on with what has no signature.  See doc/scripts.md.

\set ON_ERROR_STOP on
\set QUIET on
\if :{?table} \else \warn 'which table?  psql -v table=NAME' \set table '' \endif
\if :{?id} \else \set id id \endif
\if :{?text} \else \set text body \endif
\if :{?sig} \else \set sig sig \endif
\if :{?type} \else \set type minhash \endif
\if :{?batch} \else \set batch 5000 \endif
\if :{?pause} \else \set pause 0 \endif

-- Wherever the extension lives, its functions are found.
SELECT set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), extnamespace::regnamespace), false)
FROM pg_extension WHERE extname = 'neardup' \g /dev/null

SELECT :'table'::regclass AS "table",
	(SELECT format('%s.%I', extnamespace::regnamespace, 'to_' || :'type') FROM pg_extension WHERE extname = 'neardup') AS make,
	format('%s_%s_sign', relname, :'sig')::name AS signer,
	format('%s_%s_neardup', relname, :'sig')::name AS index,
	relnamespace::regnamespace AS schema
FROM pg_class WHERE oid = :'table'::regclass
\gset

-- ---- The column, and who signs new rows ----

SET client_min_messages = warning;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS :"sig" :"type";
SELECT format('CREATE OR REPLACE FUNCTION %s.%I() RETURNS trigger LANGUAGE plpgsql AS %L', :'schema', :'signer',
	format('BEGIN NEW.%I := %s(NEW.%I); RETURN NEW; END', :'sig', :'make', :'text'))
\gexec
SELECT format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF %I, %I ON %s FOR EACH ROW EXECUTE FUNCTION %s.%I()',
	:'signer', :'text', :'sig', :'table', :'schema', :'signer')
WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = :'table'::regclass AND tgname = :'signer')
\gexec
RESET client_min_messages;

-- ---- The old rows ----

SELECT set_config('neardup_sign.table', :'table', false), set_config('neardup_sign.id', :'id', false),
	set_config('neardup_sign.text', :'text', false), set_config('neardup_sign.sig', :'sig', false),
	set_config('neardup_sign.batch', :'batch', false), set_config('neardup_sign.pause', :'pause', false)
\g /dev/null

-- By id, so that each batch goes on where the last one ended.
DO $$
DECLARE
	id_name text := quote_ident(current_setting('neardup_sign.id'));
	todo text := format('%I IS NULL AND %I IS NOT NULL', current_setting('neardup_sign.sig'), current_setting('neardup_sign.text'));
	batch text := format('WITH batch AS (SELECT %s AS id FROM %s WHERE %s', id_name, current_setting('neardup_sign.table'), todo);
	-- The trigger signs what is set to NULL.
	sign text := format(' ORDER BY 1 LIMIT %s FOR UPDATE),
		signed AS (UPDATE %s t SET %I = NULL FROM batch WHERE t.%s = batch.id RETURNING 1)
		SELECT (SELECT count(*) FROM signed), (SELECT id::text FROM batch ORDER BY batch.id DESC LIMIT 1)',
		current_setting('neardup_sign.batch')::int, current_setting('neardup_sign.table'),
		current_setting('neardup_sign.sig'), id_name);
	beyond text := '';
	start timestamptz := clock_timestamp();
	last text;
	rows bigint;
	signed bigint := 0;
	total bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s WHERE %s', current_setting('neardup_sign.table'), todo) INTO total;
	RAISE NOTICE '% rows to sign', total;
	COMMIT;
	LOOP
		EXECUTE batch || beyond || sign INTO rows, last;
		COMMIT;
		EXIT WHEN last IS NULL;
		signed := signed + rows;
		beyond := format(' AND %s > %L', id_name, last);
		RAISE NOTICE '% of % signed, % a second', signed, total,
			round(signed / greatest(0.001, extract(epoch FROM clock_timestamp() - start))::numeric);
		PERFORM pg_sleep(current_setting('neardup_sign.pause')::float8);
	END LOOP;
END
$$;

-- ---- The index ----

-- What an interrupted CREATE INDEX CONCURRENTLY has left.
SELECT format('DROP INDEX CONCURRENTLY %s', indexrelid::regclass)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE indrelid = :'table'::regclass AND c.relname = :'index' AND NOT indisvalid
\gexec
SELECT format('CREATE INDEX CONCURRENTLY %I ON %s USING neardup (%I)', :'index', :'table', :'sig')
WHERE NOT EXISTS (SELECT FROM pg_index JOIN pg_class c ON c.oid = indexrelid
	WHERE indrelid = :'table'::regclass AND c.relname = :'index')
\gexec
ANALYZE :table;
\echo :table 'is signed and indexed'
