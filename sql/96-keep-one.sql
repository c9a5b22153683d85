-- Keeping one row of each cluster of near-duplicates, and taking that back.

-- Makes the temporary table neardup_references of the foreign keys that point to a table, and locks
-- what it names and the record, whose name it returns in full, and which it makes if asked.  Beside each foreign key: what makes a referencing row r refer to a row of the table, the columns of either, and
-- whether the latter are NULL.  These are formats: %1$s stands for the row of the table.
CREATE PROCEDURE neardup_lock_references(relation pg_catalog.regclass, tree pg_catalog.oid[], distributed pg_catalog.oid[], trust boolean, makes boolean, INOUT record pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	reference record;
BEGIN
	CREATE TEMP TABLE neardup_references AS
	WITH found AS (
		SELECT c.oid AS reference, conname AS name, conrelid AS referencing, conrelid::regclass::text AS "table", f.*,
			coalesce((SELECT format('jsonb_build_array(%s)', string_agg(format('format(''%%s'', r.%I)', attname), ', ' ORDER BY attnum)) FROM pg_index JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (indkey)
				WHERE indrelid = conrelid AND indisprimary), 'NULL::jsonb') AS row_key
		FROM pg_constraint AS c, LATERAL (SELECT array_agg(format('%I', own.attname) ORDER BY n) AS columns, array_agg(format('%%1$s.%s', replace(quote_ident(other.attname), '%', '%%')) ORDER BY n) AS referenced,
				string_agg(format('%%1$s.%s OPERATOR(%I.%s) r.%s', replace(quote_ident(other.attname), '%', '%%'), nspname, oprname, replace(quote_ident(own.attname), '%', '%%')), ' AND ') AS equal
			FROM unnest(conkey, confkey, conpfeqop) WITH ORDINALITY AS k (own, other, operator, n) JOIN pg_attribute AS own ON own.attrelid = conrelid AND own.attnum = k.own
				JOIN pg_attribute AS other ON other.attrelid = confrelid AND other.attnum = k.other JOIN pg_operator AS p ON p.oid = operator JOIN pg_namespace AS s ON s.oid = oprnamespace) AS f
		WHERE contype = 'f' AND confrelid = ANY (tree)
			AND NOT EXISTS (SELECT FROM pg_constraint AS p WHERE p.oid = c.conparentid AND p.confrelid = ANY (tree))
	)
	SELECT *, array_to_string(columns, ', ') AS own, array_to_string(referenced, ', ') AS others, array_to_string(referenced, ' IS NULL OR ') || ' IS NULL' AS empty FROM found;
	FOR reference IN SELECT "table", min(referencing)::regclass AS referencing FROM pg_temp.neardup_references GROUP BY "table" ORDER BY "table" LOOP
		CALL @extschema@.neardup_lock(reference.referencing, trust);
	END LOOP;
	FOR reference IN SELECT "table", why, hint FROM pg_temp.neardup_references, LATERAL (
			SELECT 'row-level security may hide some of them' AS why, 'Call the procedure as the owner of that table, or use move_references => false.' AS hint WHERE row_security_active(referencing)
			UNION ALL SELECT format('rule "%s" is run instead of an update', rulename), 'Change them by hand, and use move_references => false.'
				FROM (SELECT referencing AS relid UNION SELECT relid FROM pg_partition_tree(referencing)) AS t JOIN pg_rewrite ON ev_class = t.relid WHERE ev_type = '2'
			UNION ALL SELECT format('column "%s" is generated', attname), 'Change what it is made of, and use move_references => false.'
				FROM pg_attribute WHERE attrelid = referencing AND quote_ident(attname) = ANY (columns) AND attgenerated <> ''
			UNION ALL SELECT format('"%s" is not a table of this server', rel::regclass), 'Name the table itself, or use move_references => false.'
				FROM unnest(tree) AS rel JOIN pg_class AS k ON k.oid = rel WHERE relkind = 'v' OR rel = ANY (distributed)) AS w ORDER BY 1, 2 LIMIT 1 LOOP
		RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", reference.why USING ERRCODE = 'object_not_in_prerequisite_state', HINT = reference.hint;
	END LOOP;
	IF record IS NULL THEN
		RETURN;
	END IF;
	SELECT string_agg(quote_ident(part), '.' ORDER BY n) INTO record FROM unnest(CASE WHEN cardinality(parse_ident(record)) > 1 THEN '{}'
		ELSE (SELECT ARRAY[nspname::text] FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = relnamespace WHERE c.oid = relation) END || parse_ident(record)) WITH ORDINALITY AS p (part, n);
	IF to_regclass(record) IS NULL AND makes THEN
		EXECUTE format('CREATE TABLE %s ("table" text, id text, keeper text, similarity float8, threshold float8, mark text, moved jsonb, at timestamptz, by text, undone timestamptz)', record);
	END IF;
	CALL @extschema@.neardup_lock(record::regclass, trust);
	IF NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_roles AS r ON r.oid = relowner WHERE c.oid = record::regclass AND relkind = 'r' AND (rolsuper OR pg_has_role(current_user, relowner, 'MEMBER')))
		OR (SELECT string_agg(attname || ' ' || format_type(atttypid, -1), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = record::regclass AND attnum > 0 AND NOT attisdropped)
			IS DISTINCT FROM 'table text, id text, keeper text, similarity double precision, threshold double precision, mark text, moved jsonb, at timestamp with time zone, by text, undone timestamp with time zone' THEN
		RAISE EXCEPTION '"%" is not a table for a record', record USING ERRCODE = 'wrong_object_type', HINT = 'Name a new table, or one that neardup_keep_one() has made for you.';
	END IF;
END $$;
COMMENT ON PROCEDURE neardup_lock_references(pg_catalog.regclass, pg_catalog.oid[], pg_catalog.oid[], boolean, boolean, pg_catalog.text) IS
	'a part of neardup_keep_one() and neardup_undo(): finds and locks the tables that refer to a table';

CREATE PROCEDURE neardup_keep_one(relation pg_catalog.regclass, threshold pg_catalog.float8, mark pg_catalog.name DEFAULT NULL, order_by pg_catalog.text DEFAULT NULL,
		within pg_catalog.name[] DEFAULT '{}', verdicts pg_catalog.regclass DEFAULT NULL, show pg_catalog.name DEFAULT NULL, listed int DEFAULT 20,
		record pg_catalog.text DEFAULT NULL, move_references boolean DEFAULT true, apply boolean DEFAULT false, key pg_catalog.name[] DEFAULT NULL,
		signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false, INOUT changed bigint DEFAULT NULL)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	run timestamptz := clock_timestamp();
	reference record;
	rest text := 'pg_temp.neardup_rest';
	lines text;
	kept bigint;
	keepers bigint;
	full_marks boolean;
BEGIN
	IF listed < 0 THEN
		RAISE EXCEPTION '"listed" must not be negative' USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Write 0 to list none.';
	END IF;
	CALL @extschema@.neardup_lock(relation, trust);
	CALL @extschema@.neardup_find_rows(relation, key, signature, within, order_by, verdicts, mark, ARRAY[show], trust, true, found);
	IF mark = ANY (found.columns) THEN
		RAISE EXCEPTION '"mark" must be a column of its own, not "%"', mark USING ERRCODE = 'invalid_parameter_value', HINT = 'Rows that have a value there count as gone.';
	END IF;
	IF mark IS NOT NULL THEN
		EXECUTE format('SELECT EXISTS (SELECT FROM %1$s) AND NOT EXISTS (SELECT FROM %1$s AS t WHERE t.%2$I IS NULL)', relation, mark) INTO full_marks;
		IF full_marks THEN
			RAISE EXCEPTION '"mark" must be NULL in some rows, but "%" marks them all', mark USING ERRCODE = 'invalid_parameter_value', HINT = 'Rows that have a value there count as gone. Set it to NULL in rows that are to be compared, or name another column.';
		END IF;
	END IF;
	FOR reference IN SELECT rel::regclass AS "table", what, hint FROM unnest(found.tree) AS rel JOIN pg_class AS c ON c.oid = rel LEFT JOIN pg_am AS a ON a.oid = relam, LATERAL (
			SELECT 'a materialized view' AS what, 'Change the table that its rows come from, and refresh it.' AS hint WHERE relkind = 'm'
			UNION ALL SELECT 'a columnar table, whose rows cannot be updated', 'Copy the rows to keep, by a query with neardup_clusters(), into another table.' WHERE amname = 'columnar'
			UNION ALL SELECT 'not a table', 'Name a table, a partitioned table, a foreign table or a view of one table.' WHERE relkind NOT IN ('r', 'p', 'f', 'v', 'm')
			UNION ALL SELECT format('on another server, "%s"', srvname), 'Its wrapper is not postgres_fdw, so the rows may change while they are compared. Keep one where the table is.'
				FROM pg_foreign_table JOIN pg_foreign_server AS s ON s.oid = ftserver JOIN pg_foreign_data_wrapper AS w ON w.oid = srvfdw LEFT JOIN pg_proc AS p ON p.oid = fdwhandler
				WHERE ftrelid = rel AND proname IS DISTINCT FROM 'postgres_fdw_handler') AS w LIMIT 1 LOOP
		RAISE EXCEPTION '"%" is %', reference."table", reference.what USING ERRCODE = 'wrong_object_type', HINT = reference.hint;
	END LOOP;

	-- All of it is rolled back if it is a dry run.
	BEGIN
		CALL @extschema@.neardup_lock_references(relation, CASE WHEN move_references THEN found.tree ELSE '{}' END, found.distributed, trust, true, record);
		CREATE TEMP TABLE neardup_rest AS
		SELECT c.id, keeper, similarity, row_number() OVER () AS place
		FROM @extschema@.neardup_clusters(found.query, threshold, NULL::text, false, NULL::text, 'star'::text, false, NULL::float8, 1.0::float8, 'resemblance'::text, found.verdicts, within) AS c
		WHERE c.id <> keeper;
		ANALYZE pg_temp.neardup_rest;
		SELECT count(*), count(DISTINCT keeper) INTO changed, keepers FROM pg_temp.neardup_rest;
		EXECUTE format($list$
			WITH listed AS MATERIALIZED (
				SELECT *, min(place) OVER (PARTITION BY keeper) AS first FROM pg_temp.neardup_rest ORDER BY first, place LIMIT $1
			), shown AS MATERIALIZED (
				SELECT %1$s AS id, %2$s AS title FROM %3$s AS t WHERE %1$s = ANY (ARRAY(SELECT id FROM listed UNION ALL SELECT keeper FROM listed)) AND %4$L
			)
			SELECT string_agg(format(E'\n    %%s  %%s of %%s', coalesce(to_char(similarity, 'FM0.000'), 'same '), %5$s, %6$s)
				|| coalesce(E'\n         - ' || gone.title, '') || coalesce(E'\n         + ' || kept.title, ''), '' ORDER BY first, place)
			FROM listed AS l LEFT JOIN shown AS gone ON gone.id = l.id LEFT JOIN shown AS kept ON kept.id = keeper$list$,
			format(found.key, 't'), CASE WHEN show IS NULL THEN 'NULL' ELSE format(found.printed, format('format(''%%s'', t.%I)', show)) END, relation, show IS NOT NULL,
			format(found.printed, 'l.id'), format(found.printed, 'keeper')) INTO lines USING listed;
		RAISE NOTICE '%: % near-duplicates (similarity % and above%) of % rows that stay%', found.shown, changed, threshold, CASE WHEN verdicts IS NULL THEN '' ELSE ', and by verdicts' END, keepers,
			concat(lines, CASE WHEN changed > listed THEN format(E'\n    ... and %s more', changed - listed) END);

		-- References follow.
		CREATE TEMP TABLE neardup_moved (reference oid, id text, row_key jsonb, lost boolean, circular boolean);
		FOR reference IN SELECT *, referencing = relation AS itself FROM pg_temp.neardup_references ORDER BY "table", name LOOP
			BEGIN
				EXECUTE format('WITH moved AS (UPDATE %s AS r SET (%s) = ROW(%s) FROM pg_temp.neardup_rest AS g, %s AS gone, %4$s AS kept
						WHERE %s = g.id AND %s = g.keeper AND %s%s RETURNING g.id, %s AS row_key, %s AS lost, %s AS circular)
					INSERT INTO pg_temp.neardup_moved SELECT %L, m.* FROM moved AS m', reference."table", reference.own, format(reference.others, 'kept'), relation,
					format(found.key, 'gone'), format(found.key, 'kept'), format(reference.equal, 'gone'),
					CASE WHEN reference.itself AND mark IS NULL THEN format(' AND NOT EXISTS (SELECT FROM pg_temp.neardup_rest AS x WHERE x.id = %s)', format(found.key, 'r')) END,
					reference.row_key, format(reference.empty, 'kept'), CASE WHEN reference.itself THEN format('%s = g.keeper', format(found.key, 'r')) ELSE 'false' END, reference.reference);
			EXCEPTION WHEN unique_violation OR exclusion_violation THEN
				RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", SQLERRM USING ERRCODE = SQLSTATE,
					HINT = 'Rows of that table that refer to near-duplicates are duplicates too: delete one of them first, or use move_references => false.';
			END;
			IF EXISTS (SELECT FROM pg_temp.neardup_moved WHERE lost OR circular) THEN
				RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", CASE WHEN EXISTS (SELECT FROM pg_temp.neardup_moved WHERE lost) THEN 'a row that is kept has a NULL in their columns' ELSE 'a row would refer to itself' END
					USING ERRCODE = 'integrity_constraint_violation', HINT = 'Look at the rows that the dry run lists, change them first, or use move_references => false.';
			END IF;
			RAISE NOTICE 'references of % (%) that follow: %', reference."table", reference.own, concat((SELECT count(*) FROM pg_temp.neardup_moved AS m WHERE m.reference = reference.reference),
				(SELECT string_agg(format(E'\n    trigger %s of %s fires when they do', regexp_replace(quote_ident(tgname), found.unseen, ' ', 'g'), t.relid::regclass), '' ORDER BY tgname) FROM (SELECT reference.referencing AS relid UNION SELECT relid FROM pg_partition_tree(reference.referencing)) AS t
					JOIN pg_trigger ON tgrelid = t.relid WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 16 > 0));
		END LOOP;

		-- Citus does not join its tables with a temporary table: the distributed ones with a CTE,
		-- the reference tables, of which each server has a copy, with a constant.
		IF found.tree && found.replicated THEN
			SELECT format('unnest(%L::text[], %L::text[])', coalesce(array_agg(id), '{}'), coalesce(array_agg(keeper), '{}')) INTO rest FROM pg_temp.neardup_rest;
		END IF;
		EXECUTE CASE WHEN mark IS NULL THEN format('WITH rest AS MATERIALIZED (SELECT id FROM %s AS r (id, keeper)) DELETE FROM %s AS t USING rest WHERE %s = rest.id', rest, relation, format(found.key, 't'))
			ELSE format('WITH rest AS MATERIALIZED (SELECT id, keeper FROM %s AS r (id, keeper)) UPDATE %s AS t SET %I = rest.keeper::%s FROM rest WHERE %s = rest.id', rest, relation, mark, found.type, format(found.key, 't')) END;
		GET DIAGNOSTICS kept = ROW_COUNT;
		-- On other servers the rows to keep are not locked yet.  A transaction of postgres_fdw sees one
		-- state of them, so it is an error if one has changed since.
		IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (found.tree) AND relkind = 'f') THEN
			EXECUTE format('SELECT FROM %s AS t WHERE %s = ANY (ARRAY(SELECT keeper FROM pg_temp.neardup_rest)) FOR UPDATE', relation, format(found.key, 't'));
		END IF;
		-- Exactly the rows that were found must have changed, and all that are kept must be there.
		IF kept = changed THEN
			EXECUTE format('WITH keeper AS MATERIALIZED (SELECT DISTINCT keeper AS id FROM pg_temp.neardup_rest) SELECT count(DISTINCT keeper.id) FROM %s AS t JOIN keeper ON %s = keeper.id', relation, format(found.key, 't')) INTO kept;
			IF kept = keepers THEN
				kept := NULL;
			END IF;
		END IF;
		IF kept IS NOT NULL THEN
			RAISE EXCEPTION 'the rows changed are not those that were found' USING ERRCODE = 'cardinality_violation', HINT = 'Check whether the key is unique, and whether a trigger or a policy keeps rows back.';
		END IF;
		IF record IS NOT NULL THEN
			EXECUTE format('INSERT INTO %s SELECT $1, g.id, g.keeper, similarity, $2, $3, moved, $4, current_user, NULL
				FROM pg_temp.neardup_rest AS g LEFT JOIN (SELECT m.id, jsonb_agg(jsonb_build_object(''table'', "table", ''reference'', name, ''row'', m.row_key)) AS moved
					FROM pg_temp.neardup_moved AS m JOIN pg_temp.neardup_references USING (reference) GROUP BY m.id) AS m ON m.id = g.id', record) USING relation::text, threshold, mark, run;
		END IF;
		DROP TABLE pg_temp.neardup_rest, pg_temp.neardup_moved, pg_temp.neardup_references;
		IF apply IS NOT TRUE THEN
			RAISE EXCEPTION USING ERRCODE = 'ND000';
		END IF;
	EXCEPTION WHEN SQLSTATE 'ND000' THEN
	END;
	RAISE NOTICE '% rows %', concat(CASE WHEN apply IS NOT TRUE THEN 'dry run: nothing was changed; with apply => true, ' END, changed), CASE WHEN mark IS NULL THEN 'deleted' ELSE 'marked' END;
END $$;
COMMENT ON PROCEDURE neardup_keep_one(pg_catalog.regclass, pg_catalog.float8, pg_catalog.name, pg_catalog.text, pg_catalog.name[], pg_catalog.regclass, pg_catalog.name, int, pg_catalog.text, boolean, boolean, pg_catalog.name[], pg_catalog.name, boolean, bigint) IS
	'keeps one row of each cluster of near-duplicates, and deletes or marks the others; by default a dry run';

CREATE PROCEDURE neardup_undo(relation pg_catalog.regclass, mark pg_catalog.name, record pg_catalog.text, apply boolean DEFAULT false,
		key pg_catalog.name[] DEFAULT NULL, trust boolean DEFAULT false, INOUT changed bigint DEFAULT 0)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	reference record;
	total bigint;
	run timestamptz;
BEGIN
	CALL @extschema@.neardup_lock(relation, trust);
	IF mark IS NULL OR record IS NULL THEN
		RAISE EXCEPTION '"mark" and "record" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Name those of neardup_keep_one().';
	END IF;
	CALL @extschema@.neardup_find_rows(relation, key, mark, '{}'::name[], NULL::text, NULL::regclass, mark, NULL::name[], trust, true, found);
	changed := 0;
	BEGIN
		CALL @extschema@.neardup_lock_references(relation, found.tree, found.distributed, trust, false, record);
		CREATE TEMP TABLE neardup_moved (reference oid);
		CREATE TEMP TABLE neardup_done (entry tid, id text, keeper text, moved jsonb, at timestamptz);
		EXECUTE format('INSERT INTO pg_temp.neardup_done SELECT r.ctid, r.id, r.keeper, r.moved, r.at FROM %s AS r WHERE "table" = $1 AND mark = $2 AND undone IS NULL', record) USING relation::text, mark;
		CREATE TEMP TABLE neardup_undone AS SELECT * FROM pg_temp.neardup_done LIMIT 0;
		-- The latest run first: what an earlier one moved may have moved again.
		FOR run IN SELECT DISTINCT at FROM pg_temp.neardup_done ORDER BY at DESC LOOP
			TRUNCATE pg_temp.neardup_undone;
			EXECUTE format('WITH undone AS (UPDATE %s AS t SET %I = NULL FROM pg_temp.neardup_done AS d WHERE d.at = $1 AND %s = d.id AND format(''%%s'', t.%2$I) = d.keeper RETURNING d.*)
				INSERT INTO pg_temp.neardup_undone TABLE undone', relation, mark, format(found.key, 't')) USING run;
			-- References go back if they are still those of the row that was kept.
			FOR reference IN SELECT * FROM pg_temp.neardup_references ORDER BY "table", name LOOP
				EXECUTE format('WITH moved AS (UPDATE %1$s AS r SET (%2$s) = ROW(%3$s)
						FROM pg_temp.neardup_undone AS d, jsonb_to_recordset(d.moved) AS m ("table" text, reference text, "row" jsonb), %4$s AS gone, %4$s AS kept
						WHERE m."table" = %5$L AND m.reference = %6$L AND m."row" = %7$s AND %8$s = d.id AND %9$s = d.keeper AND %10$s RETURNING 1)
					INSERT INTO pg_temp.neardup_moved SELECT %11$L FROM moved', reference."table", reference.own, format(reference.others, 'gone'), relation, reference."table", reference.name,
					reference.row_key, format(found.key, 'gone'), format(found.key, 'kept'), format(reference.equal, 'kept'), reference.reference);
			END LOOP;
			EXECUTE format('UPDATE %s AS r SET undone = now() FROM pg_temp.neardup_undone AS u WHERE r.ctid = u.entry', record);
			changed := changed + (SELECT count(*) FROM pg_temp.neardup_undone);
		END LOOP;
		SELECT count(*) INTO total FROM pg_temp.neardup_done;
		RAISE NOTICE '%: % marks are taken back, % have changed since', found.shown, changed, total - changed;
		FOR reference IN SELECT r.*, (SELECT count(*) FROM pg_temp.neardup_moved AS m WHERE m.reference = r.reference) AS back,
				(SELECT count(*) FROM pg_temp.neardup_done, jsonb_to_recordset(moved) AS m ("table" text, reference text) WHERE m."table" = r."table" AND m.reference = name) AS went
				FROM pg_temp.neardup_references AS r ORDER BY "table", name LOOP
			RAISE NOTICE 'references of % (%) that go back: % of %', reference."table", reference.own, reference.back, reference.went;
		END LOOP;
		DROP TABLE pg_temp.neardup_done, pg_temp.neardup_undone, pg_temp.neardup_moved, pg_temp.neardup_references;
		IF apply IS NOT TRUE THEN
			RAISE EXCEPTION USING ERRCODE = 'ND000';
		END IF;
	EXCEPTION WHEN SQLSTATE 'ND000' THEN
		RAISE NOTICE 'dry run: nothing was changed; use apply => true';
	END;
END $$;
COMMENT ON PROCEDURE neardup_undo(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, boolean, pg_catalog.name[], boolean, bigint) IS
	'takes back the marks and references of neardup_keep_one(); by default a dry run';
