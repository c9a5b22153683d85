-- A function that signs texts, or makes their sets, weighted by a lexicon of a table's texts.

-- The function contains the lexicon, so it is IMMUTABLE: generated columns and indexes may call it.  A
-- new lexicon is a new function; the statements that sign again by it are printed.
CREATE PROCEDURE neardup_lexicon_function(relation pg_catalog.regclass, function pg_catalog.name, texts pg_catalog.name DEFAULT 'body', scheme pg_catalog.text DEFAULT 'word 1',
		entries int DEFAULT 10000, share pg_catalog.float8 DEFAULT 0.05, k int DEFAULT 512, b int DEFAULT 1, trust boolean DEFAULT false, sets boolean DEFAULT false)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	lexicon @extschema@.shingle_lexicon;
	made record;
	old record;
	space regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = relation);
	description text;
	lines text;
BEGIN
	CALL @extschema@.neardup_find_rows(relation, '{}'::name[], ''::name, '{}'::name[], NULL::text, NULL::regclass, NULL::name, ARRAY[texts], trust, true, found);
	IF function IS NULL OR texts IS NULL OR sets IS NULL THEN
		RAISE EXCEPTION '"function", "texts" and "sets" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Write CALL neardup_lexicon_function(''docs'', ''sign_docs'').';
	ELSIF EXISTS (SELECT FROM pg_proc WHERE proname = function AND pronamespace = space) THEN
		RAISE EXCEPTION 'function "%" exists', function USING ERRCODE = 'duplicate_function', HINT = 'Stored signatures are of its lexicon: give the new one another name.';
	END IF;
	lexicon := @extschema@.neardup_lexicon(format('SELECT format(''%%s'', t.%I) FROM %s AS t WHERE t.%1$I IS NOT NULL', texts, relation), scheme, entries, share);
	made := @extschema@.lexicon_info(lexicon);
	-- It is an error if no signature can have this shape.
	PERFORM @extschema@.to_minhash(''::text, k, b, lexicon);
	EXECUTE format('CREATE FUNCTION %s.%I(text) RETURNS %s.%s LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS %L', space, function, '@extschema@',
		CASE WHEN sets THEN 'shingles' ELSE 'minhash' END,
		CASE WHEN sets THEN format('BEGIN RETURN %s.shingles_copies(%1$s.weigh(%1$s.to_shingles($1, %L), %L::%1$s.shingle_lexicon)); END', '@extschema@', scheme, lexicon)
			ELSE format('BEGIN RETURN %s.to_minhash($1, %s, %s, %L::%1$s.shingle_lexicon); END', '@extschema@', k, b, lexicon) END);
	description := format('%s of scheme "%s": %s entries, from %s texts', CASE WHEN sets THEN 'sets' ELSE format('minhash(%s, %s)', k, b) END, made.scheme, made.entries, made.documents);
	EXECUTE format('COMMENT ON FUNCTION %s.%I(text) IS %L', space, function, description || ' of ' || relation);

	-- Columns with signatures of other lexicons.
	EXECUTE format('SELECT array_agg(name) AS names, array_agg(line) AS lines FROM (
			SELECT name, format(''column %%I: %%s rows of scheme "%%s"'', name, to_char(count(*), ''FM999,999,999,999,990''), scheme) AS line
			FROM (%s) AS s (name, scheme) WHERE scheme LIKE ''%% lexicon %%'' AND scheme <> $1 GROUP BY name, scheme) AS o', coalesce((
				SELECT string_agg(format('SELECT %1$L::name, split_part(format(''%%s'', t.%1$I), ''/'', 2) FROM %2$s AS t WHERE t.%1$I IS NOT NULL', attname, relation), ' UNION ALL ')
				FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
				WHERE attrelid = relation AND atttypid = '@extschema@.minhash'::regtype AND NOT attisdropped AND relkind IN ('r', 'p')), 'SELECT ''''::name, '''' WHERE false'))
		INTO old USING made.scheme;
	-- A stored generated column is computed when a row is inserted or updated.  So it is dropped and
	-- added again with the new function, and so are its indexes and constraints.
	WITH RECURSIVE tree AS (
		SELECT relation::oid AS rel
		UNION
		SELECT inhrelid FROM tree JOIN pg_inherits ON inhparent = rel
	), functions AS (
		SELECT p.oid, format('%I.%I(', nspname, proname) AS old, format('%s.%I(', space, function) AS new
		FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = pronamespace
		WHERE prorettype = '@extschema@.minhash'::regtype AND prosrc LIKE '%.shingle_lexicon)%' AND (n.oid <> space OR proname <> function)
	), indexes AS (
		SELECT rel, indexrelid, con.oid AS con, CASE WHEN con.oid IS NULL THEN replace(pg_get_indexdef(indexrelid), format(' ON ONLY %s USING ', rel::regclass), format(' ON %s USING ', rel::regclass))
				ELSE format('ALTER TABLE %s ADD CONSTRAINT %I %s', rel::regclass, conname, pg_get_constraintdef(con.oid)) END AS definition,
			CASE WHEN con.oid IS NULL THEN format('DROP INDEX %s', indexrelid::regclass) ELSE format('ALTER TABLE %s DROP CONSTRAINT %I', rel::regclass, conname) END AS drops
		FROM tree JOIN pg_index ON indrelid = rel LEFT JOIN pg_constraint AS con ON conindid = indexrelid AND contype IN ('p', 'u', 'x')
		WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)
	), generated AS (
		SELECT attname, old, new, format('ALTER TABLE %s DROP COLUMN %I, ADD COLUMN %2$I %s GENERATED ALWAYS AS (%s) STORED', relation, attname,
				format_type(atttypid, atttypmod), replace(pg_get_expr(adbin, adrelid), old, new)) AS statement
		FROM pg_attrdef AS d JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum AND attgenerated = 's',
			-- Before version 15 the column depends on the function, and not its default.
			LATERAL (SELECT old, new FROM pg_depend JOIN functions ON refclassid = 'pg_proc'::regclass AND refobjid = functions.oid
				WHERE classid = 'pg_attrdef'::regclass AND objid = d.oid OR classid = 'pg_class'::regclass AND objid = adrelid AND objsubid = adnum LIMIT 1) AS m
		WHERE adrelid = relation
	), old_columns AS (
		SELECT name, line FROM unnest(old.names, old.lines) AS o (name, line)
	), lost AS (
		SELECT g.attname, i.indexrelid, drops, replace(definition, old, new) AS again
		FROM generated AS g JOIN pg_attribute AS a USING (attname) JOIN indexes AS i ON rel = attrelid
		WHERE EXISTS (SELECT FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = rel AND refobjsubid = a.attnum
			AND (classid = 'pg_class'::regclass AND objid = indexrelid OR classid = 'pg_constraint'::regclass AND objid = con))
	), lines AS (
		SELECT 1 AS place, name, 0 AS step, '' AS indent, line FROM old_columns
		UNION ALL
		SELECT 1, name, step, '    ', l.line
		FROM (SELECT DISTINCT name FROM old_columns) AS c LEFT JOIN generated ON attname = name,
			LATERAL (SELECT 1 AS step, format('neardup_sign_table() signs another column, by %s.%I(%I)', space, function, texts) AS line WHERE statement IS NULL
				UNION ALL SELECT 1, 'BEGIN;' WHERE statement IS NOT NULL UNION ALL SELECT 2, drops || ';' FROM lost WHERE lost.attname = name
				UNION ALL SELECT 3, statement || ';' WHERE statement IS NOT NULL UNION ALL SELECT 4, again || ';' FROM lost WHERE lost.attname = name
				UNION ALL SELECT 5, 'COMMIT;' WHERE statement IS NOT NULL) AS l
		UNION ALL
		SELECT 2, indexrelid::regclass::text, step, indent, line
		FROM indexes, functions, LATERAL (VALUES (0, '', format('index %s: its expression calls %s', indexrelid::regclass, rtrim(old, '('))), (1, '    ', 'BEGIN;'), (2, '    ', drops || ';'),
			(3, '    ', replace(definition, old, new) || ';'), (4, '    ', 'COMMIT;')) AS v (step, indent, line)
		WHERE indexrelid NOT IN (SELECT indexrelid FROM lost)
			AND EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = indexrelid AND refclassid = 'pg_proc'::regclass AND refobjid = functions.oid)
	)
	SELECT string_agg(E'\n' || indent || btrim(regexp_replace(line COLLATE "C", replace(found.unseen, '[', '([[:space:]]|[') || ')+', ' ', 'g')), '' ORDER BY place, name COLLATE "C", step, line COLLATE "C") INTO lines FROM lines;
	RAISE NOTICE 'function %(text) makes %', regexp_replace(format('%s.%I', space, function), found.unseen, ' ', 'g'), description || coalesce(lines, '');
END $$;
COMMENT ON PROCEDURE neardup_lexicon_function(pg_catalog.regclass, pg_catalog.name, pg_catalog.name, pg_catalog.text, int, pg_catalog.float8, int, int, boolean, boolean) IS
	'makes a function that signs texts, or makes their sets, weighted by a lexicon of the texts of a table';
