-- Keeping one row of each cluster of near-duplicates, and taking that back.
--
-- A record has an entry for each row that a run has changed: of the columns that name the row and of those
-- that were changed, their values before and after, as texts of rows.  Step 0 is of the rows that went; the
-- others are of references, in the order in which they moved, and name the row that they were of.

-- The one place where values become texts of a record, and texts values, whatever the settings of a session are.
CREATE PROCEDURE neardup_in_record(statement pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET DateStyle = ISO SET IntervalStyle = postgres SET TimeZone = UTC SET bytea_output = hex SET extra_float_digits = 1 SET lc_monetary = 'C' AS $$
BEGIN
	EXECUTE statement;
END $$;
COMMENT ON PROCEDURE neardup_in_record(pg_catalog.text) IS
	'a part of other procedures: runs a statement that reads or writes values as texts';

-- Columns are named by their numbers, which no renaming changes, and by their names, which a restored
-- table has, whose oid is another.
CREATE FUNCTION neardup_number_columns(changed pg_catalog.regclass, key pg_catalog.name[], columns pg_catalog.name[]) RETURNS pg_catalog.jsonb
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN (SELECT jsonb_build_object('oid', changed::oid::text) || jsonb_object_agg(part, numbers) FROM (
		SELECT part, jsonb_agg(jsonb_build_array(attnum, attname) ORDER BY n) AS numbers
		FROM (VALUES ('key', key), ('set', columns)) AS p (part, list), unnest(list) WITH ORDINALITY AS c (name, n) JOIN pg_attribute ON attrelid = changed AND attname = name GROUP BY part) AS c);
END $$;
COMMENT ON FUNCTION neardup_number_columns(pg_catalog.regclass, pg_catalog.name[], pg_catalog.name[]) IS
	'a part of neardup_keep_one(): columns as a record names them';

CREATE FUNCTION neardup_name_columns(changed pg_catalog.regclass, columns pg_catalog.jsonb, part pg_catalog.text) RETURNS pg_catalog.name[]
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
	RETURN (SELECT array_agg((SELECT attname FROM pg_attribute WHERE attrelid = changed AND NOT attisdropped AND (attnum = (c->>0)::int OR attname = c->>1 AND columns->>'oid' <> changed::oid::text)
			ORDER BY attname <> c->>1 LIMIT 1) ORDER BY n)
		FROM jsonb_array_elements(columns->part) WITH ORDINALITY AS e (c, n));
END $$;
COMMENT ON FUNCTION neardup_name_columns(pg_catalog.regclass, pg_catalog.jsonb, pg_catalog.text) IS
	'a part of neardup_undo(): the names that the columns of a record have now';

-- Makes the temporary table of the rows that a step changes, and of its types.
CREATE PROCEDURE neardup_begin_step(changed pg_catalog.regclass, key pg_catalog.name[], columns pg_catalog.name[])
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE neardup_key AS SELECT %s FROM %s AS t LIMIT 0', @extschema@.neardup_list(key, 't.%I'), changed);
	EXECUTE format('CREATE TEMP TABLE neardup_value AS SELECT %s FROM %s AS t LIMIT 0', @extschema@.neardup_list(columns, 't.%I'), changed);
	CREATE TEMP TABLE neardup_step (n bigint, "row" pg_temp.neardup_key, was pg_temp.neardup_value, "is" pg_temp.neardup_value, fault text);
END $$;
COMMENT ON PROCEDURE neardup_begin_step(pg_catalog.regclass, pg_catalog.name[], pg_catalog.name[]) IS
	'a part of neardup_keep_one() and neardup_undo(): what they hold of rows that they change';

-- Writes a step into the record, if there is one, and ends it.
CREATE PROCEDURE neardup_end_step(record pg_catalog.text, relation pg_catalog.regclass, id pg_catalog.text, step int, changed pg_catalog.regclass, columns pg_catalog.jsonb)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF record IS NOT NULL THEN
		CALL @extschema@.neardup_in_record(format('INSERT INTO %s SELECT %s::oid::regclass, %s, %s, CASE %s WHEN 0 THEN similarity END, CASE %5$s WHEN 0 THEN threshold END, %L::oid::regclass, %L::jsonb,
				s."row"::text, s.was::text, s."is"::text, %5$s, at, current_user, NULL FROM pg_temp.neardup_rest AS g LEFT JOIN pg_temp.neardup_step AS s ON s.n = place WHERE s.n IS NOT NULL OR %5$s = 0',
			record, relation::oid, format(id, '(g.gone)'), format(id, '(g.kept)'), step, changed::oid, columns));
	END IF;
	DROP TABLE pg_temp.neardup_step, pg_temp.neardup_key, pg_temp.neardup_value;
END $$;
COMMENT ON PROCEDURE neardup_end_step(pg_catalog.text, pg_catalog.regclass, pg_catalog.text, int, pg_catalog.regclass, pg_catalog.jsonb) IS
	'a part of neardup_keep_one(): writes what a step has changed';

-- Locks the record, whose name it returns in full, and which it makes if asked.
CREATE PROCEDURE neardup_lock_record(relation pg_catalog.regclass, trust boolean, makes boolean, INOUT record pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	columns text := '"table" regclass, id text, keeper text, similarity double precision, threshold double precision, changed regclass, columns jsonb, "row" text, was text, "is" text, '
		'step integer, at timestamp with time zone, by text, undone timestamp with time zone';
	has text;
BEGIN
	SELECT string_agg(quote_ident(part), '.' ORDER BY n) INTO record FROM unnest(CASE WHEN cardinality(parse_ident(record)) > 1 THEN '{}'
		ELSE (SELECT ARRAY[nspname::text] FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = relnamespace WHERE c.oid = relation) END || parse_ident(record)) WITH ORDINALITY AS p (part, n);
	IF to_regclass(record) IS NULL AND makes THEN
		EXECUTE format('CREATE TABLE %s (%s)', record, columns);
	END IF;
	CALL @extschema@.neardup_lock(record::regclass, trust);
	SELECT string_agg(format('%I %s', attname, format_type(atttypid, -1)), ', ' ORDER BY attnum) INTO has FROM pg_attribute WHERE attrelid = record::regclass AND attnum > 0 AND NOT attisdropped;
	IF has = '"table" text, id text, keeper text, similarity double precision, threshold double precision, mark text, moved jsonb, at timestamp with time zone, by text, undone timestamp with time zone' THEN
		RAISE EXCEPTION '"%" is a record of an earlier version', record USING ERRCODE = 'wrong_object_type', HINT = 'Name a new table. The old one says which rows went: set its "mark" to NULL where it is "keeper" to take that back.';
	ELSIF has IS DISTINCT FROM columns OR NOT EXISTS (SELECT FROM pg_class AS c JOIN pg_roles AS r ON r.oid = relowner WHERE c.oid = record::regclass AND relkind = 'r' AND (rolsuper OR pg_has_role(current_user, relowner, 'MEMBER'))) THEN
		RAISE EXCEPTION '"%" is not a table for a record', record USING ERRCODE = 'wrong_object_type', HINT = 'Name a new table, or one that neardup_keep_one() has made for you.';
	END IF;
END $$;
COMMENT ON PROCEDURE neardup_lock_record(pg_catalog.regclass, boolean, boolean, pg_catalog.text) IS
	'a part of neardup_keep_one() and neardup_undo(): finds and locks the record';

-- Makes the temporary table neardup_references of the foreign keys that point to a table, and locks the tables
-- that have them.  Beside each foreign key: the columns of a referencing row r, its primary key, the columns
-- referred to, and what makes r refer to a row called gone.
CREATE PROCEDURE neardup_lock_references(tree pg_catalog.oid[], spared pg_catalog.oid[], distributed pg_catalog.oid[], trust boolean)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	reference record;
BEGIN
	CREATE TEMP TABLE neardup_references AS
	SELECT conrelid::regclass AS referencing, conrelid::regclass::text AS "table", f.*, @extschema@.neardup_list(columns, '%I') AS own,
		(SELECT array_agg(attname ORDER BY n) FROM pg_index, unnest(indkey::int2[]) WITH ORDINALITY AS k (number, n) JOIN pg_attribute ON attrelid = conrelid AND attnum = number WHERE indrelid = conrelid AND indisprimary) AS key,
		row_number() OVER (ORDER BY conrelid::regclass::text, conname) AS step
	FROM pg_constraint AS c, LATERAL (SELECT array_agg(own.attname ORDER BY n) AS columns, array_agg(other.attname ORDER BY n) AS referenced, string_agg(format('gone.%I OPERATOR(%I.%s) r.%I', other.attname, nspname, oprname, own.attname), ' AND ') AS equal
		FROM unnest(conkey, confkey, conpfeqop) WITH ORDINALITY AS k (own, other, operator, n) JOIN pg_attribute AS own ON own.attrelid = conrelid AND own.attnum = k.own
			JOIN pg_attribute AS other ON other.attrelid = confrelid AND other.attnum = k.other JOIN pg_operator AS p ON p.oid = operator JOIN pg_namespace AS s ON s.oid = oprnamespace) AS f
	WHERE contype = 'f' AND confrelid = ANY (tree) AND conrelid <> ALL (coalesce(spared, '{}')) AND NOT EXISTS (SELECT FROM pg_constraint AS p WHERE p.oid = c.conparentid AND p.confrelid = ANY (tree));
	FOR reference IN SELECT DISTINCT "table", referencing::regclass AS rel FROM pg_temp.neardup_references ORDER BY "table" LOOP
		CALL @extschema@.neardup_lock(reference.rel, trust);
	END LOOP;
	FOR reference IN SELECT "table", why, hint FROM pg_temp.neardup_references, LATERAL (
			SELECT 'row-level security may hide some of them' AS why, 'Call the procedure as the owner of that table, or use move_references => false.' AS hint WHERE row_security_active(referencing)
			UNION ALL SELECT format('rule "%s" is run instead of an update', rulename), 'Change them by hand, and use move_references => false.'
				FROM (SELECT referencing AS relid UNION SELECT relid FROM pg_partition_tree(referencing)) AS t JOIN pg_rewrite ON ev_class = t.relid WHERE ev_type = '2'
			UNION ALL SELECT format('column "%s" is generated', attname), 'Change what it is made of, and use move_references => false.'
				FROM pg_attribute WHERE attrelid = referencing AND attname = ANY (columns) AND attgenerated <> ''
			UNION ALL SELECT format('"%s" is not a table of this server', rel::regclass), 'Name the table itself, or use move_references => false.'
				FROM unnest(tree) AS rel JOIN pg_class AS k ON k.oid = rel WHERE relkind = 'v' OR rel = ANY (distributed)) AS w ORDER BY 1, 2 LIMIT 1 LOOP
		RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", reference.why USING ERRCODE = 'object_not_in_prerequisite_state', HINT = reference.hint;
	END LOOP;
END $$;
COMMENT ON PROCEDURE neardup_lock_references(pg_catalog.oid[], pg_catalog.oid[], pg_catalog.oid[], boolean) IS
	'a part of neardup_keep_one(): finds and locks the tables that refer to a table';

CREATE PROCEDURE neardup_keep_one(relation pg_catalog.regclass, threshold pg_catalog.float8, mark pg_catalog.name DEFAULT NULL, order_by pg_catalog.text DEFAULT NULL,
		within pg_catalog.name[] DEFAULT '{}', unknown pg_catalog.name[] DEFAULT '{}', verdicts pg_catalog.regclass DEFAULT NULL, show pg_catalog.name DEFAULT NULL, listed int DEFAULT 20,
		record pg_catalog.text DEFAULT NULL, move_references boolean DEFAULT NULL, apply boolean DEFAULT false, key pg_catalog.name[] DEFAULT NULL,
		signature pg_catalog.name DEFAULT NULL, trust boolean DEFAULT false, INOUT changed bigint DEFAULT NULL)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	run timestamptz := clock_timestamp();
	reference record;
	rest text;
	rows text;
	same text;
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
		-- People's verdicts stay what they are.
		CALL @extschema@.neardup_lock_references(CASE WHEN move_references IS NOT FALSE THEN found.tree ELSE '{}' END, found.judged, found.distributed, trust);
		IF record IS NOT NULL THEN
			CALL @extschema@.neardup_lock_record(relation, trust, true, record);
		END IF;
		EXECUTE format('CREATE TEMP TABLE neardup_id AS SELECT %s FROM %s AS t LIMIT 0', @extschema@.neardup_list(found.columns, 't.%I'), relation);
		CREATE TEMP TABLE neardup_rest (gone pg_temp.neardup_id, kept pg_temp.neardup_id, similarity float8, threshold float8, place bigint, at timestamptz);
		SELECT format('ROW(%s)::pg_temp.neardup_id', string_agg(CASE cardinality(found.columns) WHEN 1 THEN '%1$s' ELSE format('%%1$s[%s]::%s', n, replace(format_type(atttypid, atttypmod), '%', '%%')) END, ', ' ORDER BY n)) INTO rows
		FROM unnest(found.columns) WITH ORDINALITY AS c (name, n) JOIN pg_attribute ON attrelid = relation AND attname = name;
		EXECUTE format('INSERT INTO pg_temp.neardup_rest SELECT %s, %s, similarity, $2, place, $5
			FROM (SELECT c.id, c.keeper, similarity, row_number() OVER () AS place
				FROM %s.neardup_clusters($1, $2, NULL::%s, false, NULL::text, ''star''::text, false, NULL::float8, 1.0::float8, ''resemblance''::text, $3, $4, $6) AS c) AS c
			WHERE (ROW(c.id)::record) *<> (ROW(c.keeper)::record)', format(rows, '(c.id)'), format(rows, '(c.keeper)'), '@extschema@', found.type) USING found.query, threshold, found.verdicts, within, run, unknown;
		ANALYZE pg_temp.neardup_rest;
		SELECT count(*), count(DISTINCT r.kept) INTO changed, keepers FROM pg_temp.neardup_rest AS r;
		EXECUTE format($list$
			WITH listed AS MATERIALIZED (
				SELECT %1$s AS gone, %2$s AS kept, similarity, place, min(place) OVER (PARTITION BY kept) AS first FROM pg_temp.neardup_rest AS g ORDER BY first, place LIMIT $1
			), shown AS MATERIALIZED (
				SELECT %3$s AS id, %4$s AS title FROM %5$s AS t WHERE %3$s COLLATE "C" = ANY (ARRAY(SELECT gone FROM listed UNION ALL SELECT kept FROM listed)) AND %6$L
			)
			SELECT string_agg(format(E'\n    %%s  %%s of %%s', coalesce(to_char(similarity, 'FM0.000'), 'same '), %7$s, %8$s)
				|| coalesce(E'\n         - ' || gone.title, '') || coalesce(E'\n         + ' || kept.title, ''), '' ORDER BY first, place)
			FROM listed AS l LEFT JOIN shown AS gone ON gone.id COLLATE "C" = l.gone LEFT JOIN shown AS kept ON kept.id COLLATE "C" = l.kept$list$,
			format(found.key, '(g.gone)'), format(found.key, '(g.kept)'), format(found.key, 't'), CASE WHEN show IS NULL THEN 'NULL' ELSE format(found.printed, format('format(''%%s'', t.%I)', show)) END,
			relation, show IS NOT NULL, format(found.printed, 'l.gone'), format(found.printed, 'l.kept')) INTO lines USING listed;
		RAISE NOTICE '%: % near-duplicates (similarity % and above%) of % rows that stay%', found.shown, changed, threshold, CASE WHEN verdicts IS NULL THEN '' ELSE ', and by verdicts' END, keepers,
			concat(lines, CASE WHEN changed > listed THEN format(E'\n    ... and %s more', changed - listed) END);

		-- References follow.
		FOR reference IN SELECT *, referencing = relation AS itself FROM pg_temp.neardup_references ORDER BY step LOOP
			-- Without a key, what is marked could not be taken back.
			IF mark IS NOT NULL AND reference.key IS NULL AND move_references IS NULL THEN
				RAISE NOTICE 'references of % (%) stay: the table has no primary key, by which they could be taken back; move_references => true moves them', reference."table", reference.own;
				CONTINUE;
			END IF;
			CALL @extschema@.neardup_begin_step(reference.referencing, reference.key, reference.columns);
			BEGIN
				EXECUTE format($move$
					WITH found AS MATERIALIZED (
						SELECT r.tableoid AS part, r.ctid AS at, g.place, ROW(%1$s)::pg_temp.neardup_value AS was, ROW(%2$s)::pg_temp.neardup_value AS "is", CASE WHEN %3$s THEN 'a row that is kept has a NULL in their columns' WHEN %4$s THEN 'a row would refer to itself' END AS fault
						FROM %5$s AS r JOIN %6$s AS gone ON %7$s JOIN pg_temp.neardup_rest AS g ON %8$s JOIN %6$s AS kept ON %9$s WHERE NOT (%10$s)
					), moved AS (
						UPDATE %5$s AS r SET (%11$s) = ROW(%12$s) FROM found AS f WHERE r.tableoid = f.part AND r.ctid = f.at
						RETURNING f.place, %13$s, f.was, ROW(%1$s)::pg_temp.neardup_value, f.fault
					)
					INSERT INTO pg_temp.neardup_step SELECT * FROM moved$move$,
					@extschema@.neardup_list(reference.columns, 'r.%I'), @extschema@.neardup_list(reference.referenced, 'kept.%I'),
					(SELECT string_agg(format('kept.%I IS NULL', c), ' OR ') FROM unnest(reference.referenced) AS c), CASE WHEN reference.itself THEN @extschema@.neardup_equal(relation, found.columns, 'r.%I', '(g.kept).%I') ELSE 'false' END,
					reference."table", relation, reference.equal, @extschema@.neardup_equal(relation, found.columns, 'gone.%I', '(g.gone).%I'), @extschema@.neardup_equal(relation, found.columns, 'kept.%I', '(g.kept).%I'),
					CASE WHEN reference.itself AND mark IS NULL THEN format('EXISTS (SELECT FROM pg_temp.neardup_rest AS x WHERE %s)', @extschema@.neardup_equal(relation, found.columns, 'r.%I', '(x.gone).%I')) ELSE 'false' END,
					reference.own, @extschema@.neardup_list(reference.columns, '(f."is").%I'),
					CASE WHEN reference.key IS NULL THEN 'NULL::pg_temp.neardup_key' ELSE format('ROW(%s)::pg_temp.neardup_key', @extschema@.neardup_list(reference.key, 'r.%I')) END);
			EXCEPTION WHEN unique_violation OR exclusion_violation THEN
				RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", SQLERRM USING ERRCODE = SQLSTATE,
					HINT = 'Rows of that table that refer to near-duplicates are duplicates too: delete one of them first, or use move_references => false.';
			END;
			SELECT count(*), min(fault) INTO kept, lines FROM pg_temp.neardup_step;
			IF lines IS NOT NULL THEN
				RAISE EXCEPTION 'references of table "%" cannot follow: %', reference."table", lines USING ERRCODE = 'integrity_constraint_violation', HINT = 'Look at the rows that the dry run lists, change them first, or use move_references => false.';
			END IF;
			RAISE NOTICE 'references of % (%) that follow: %', reference."table", reference.own, concat(kept,
				(SELECT string_agg(format(E'\n    trigger %s of %s fires when they do', regexp_replace(quote_ident(tgname), found.unseen, ' ', 'g'), t.relid::regclass), '' ORDER BY tgname) FROM (SELECT reference.referencing AS relid UNION SELECT relid FROM pg_partition_tree(reference.referencing)) AS t
					JOIN pg_trigger ON tgrelid = t.relid WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgtype & 16 > 0));
			CALL @extschema@.neardup_end_step(record, relation, found.key, reference.step::int, reference.referencing, @extschema@.neardup_number_columns(reference.referencing, reference.key, reference.columns));
		END LOOP;

		-- Citus does not join its tables with a temporary table: the distributed ones with a CTE,
		-- the reference tables, of which each server has a copy, with a constant.
		rest := format('SELECT %s, %s AS neardup_kept, place AS neardup_place FROM pg_temp.neardup_rest AS g', @extschema@.neardup_list(found.columns, '(g.gone).%I'), format(found.value, '(g.kept)'));
		IF found.tree && found.replicated THEN
			SELECT format('(%s, %%L::%s, %%L::bigint)', string_agg(format('%%L::%s', format_type(atttypid, atttypmod)), ', ' ORDER BY n), found.type) INTO rows
			FROM unnest(found.columns) WITH ORDINALITY AS c (name, n) JOIN pg_attribute ON attrelid = relation AND attname = name;
			EXECUTE format('SELECT format(''SELECT * FROM (VALUES %%s) AS g (%s, neardup_kept, neardup_place)'', coalesce(string_agg(format(%L, %1$s, neardup_kept, neardup_place), '', ''), %3$L)) FROM (%4$s) AS g',
				@extschema@.neardup_list(found.columns, '%I'), rows, replace(rows, '%L', 'NULL'), rest) INTO rest;
		END IF;
		CALL @extschema@.neardup_begin_step(relation, found.columns, array_remove(ARRAY[mark], NULL));
		same := @extschema@.neardup_equal(relation, found.columns, 't.%I', 'rest.%I');
		BEGIN
			EXECUTE CASE WHEN mark IS NULL THEN format('WITH rest AS MATERIALIZED (%s) DELETE FROM %s AS t USING rest WHERE %s', rest, relation, same)
				ELSE format('WITH rest AS MATERIALIZED (%s) UPDATE %s AS t SET %I = neardup_kept FROM rest WHERE %s', rest, relation, mark, same) END;
			GET DIAGNOSTICS kept = ROW_COUNT;
		EXCEPTION WHEN datatype_mismatch THEN
			RAISE EXCEPTION '%', SQLERRM USING ERRCODE = SQLSTATE, HINT = 'Name a column of the type of the id, in which rows are marked.';
		END;
		IF mark IS NOT NULL THEN
			EXECUTE format('WITH rest AS MATERIALIZED (%s) INSERT INTO pg_temp.neardup_step SELECT neardup_place, ROW(%s)::pg_temp.neardup_key, ROW(NULL)::pg_temp.neardup_value, ROW(t.%I)::pg_temp.neardup_value, CASE WHEN (%s) IS NOT TRUE THEN ''lost'' END
				FROM %s AS t JOIN rest ON %s', rest, @extschema@.neardup_list(found.columns, 't.%I'), mark,
				CASE cardinality(found.columns) WHEN 1 THEN @extschema@.neardup_equal(relation, found.columns, format('t.%s::%s', replace(quote_ident(mark), '%', '%%'), found.type), 'neardup_kept')
					ELSE format('t.%I::text[] COLLATE "C" = neardup_kept', mark) END, relation, same);
			IF EXISTS (SELECT FROM pg_temp.neardup_step WHERE fault IS NOT NULL) THEN
				RAISE EXCEPTION '"mark" must hold the id of the row that stays, but "%" holds something else', mark USING ERRCODE = 'invalid_parameter_value', HINT = 'Name a column of the type of the id, which no trigger changes.';
			END IF;
		END IF;
		-- On other servers the rows to keep are not locked yet.  A transaction of postgres_fdw sees one
		-- state of them, so it is an error if one has changed since.
		IF EXISTS (SELECT FROM pg_class WHERE oid = ANY (found.tree) AND relkind = 'f') THEN
			EXECUTE format('SELECT FROM %s AS t WHERE %s COLLATE "C" = ANY (ARRAY(SELECT %s FROM pg_temp.neardup_rest AS g)) FOR UPDATE', relation, format(found.key, 't'), format(found.key, '(g.kept)'));
		END IF;
		-- Exactly the rows that were found must have changed, and all that are kept must be there.
		IF kept = changed THEN
			EXECUTE format('WITH rest AS MATERIALIZED (%s) SELECT count(DISTINCT neardup_kept) FROM %s AS t JOIN rest ON %s', rest, relation,
				CASE cardinality(found.columns) WHEN 1 THEN @extschema@.neardup_equal(relation, found.columns, 't.%I', 'neardup_kept') ELSE format('%s COLLATE "C" = neardup_kept', format(found.value, 't')) END) INTO kept;
			IF kept = keepers THEN
				kept := NULL;
			END IF;
		END IF;
		IF kept IS NOT NULL THEN
			RAISE EXCEPTION 'the rows changed are not those that were found' USING ERRCODE = 'cardinality_violation', HINT = 'Check whether the key is unique, and whether a trigger or a policy keeps rows back.';
		END IF;
		CALL @extschema@.neardup_end_step(record, relation, found.key, 0, CASE WHEN mark IS NOT NULL THEN relation END, @extschema@.neardup_number_columns(relation, found.columns, ARRAY[mark]));
		DROP TABLE pg_temp.neardup_rest, pg_temp.neardup_id, pg_temp.neardup_references;
		IF apply IS NOT TRUE THEN
			RAISE EXCEPTION USING ERRCODE = 'ND000';
		END IF;
	EXCEPTION WHEN SQLSTATE 'ND000' THEN
	END;
	RAISE NOTICE '% rows %', concat(CASE WHEN apply IS NOT TRUE THEN 'dry run: nothing was changed; with apply => true, ' END, changed), CASE WHEN mark IS NULL THEN 'deleted' ELSE 'marked' END;
END $$;
COMMENT ON PROCEDURE neardup_keep_one(pg_catalog.regclass, pg_catalog.float8, pg_catalog.name, pg_catalog.text, pg_catalog.name[], pg_catalog.name[], pg_catalog.regclass, pg_catalog.name, int, pg_catalog.text, boolean, boolean, pg_catalog.name[], pg_catalog.name, boolean, bigint) IS
	'keeps one row of each cluster of near-duplicates, and deletes or marks the others; by default a dry run';

CREATE PROCEDURE neardup_undo(relation pg_catalog.regclass, mark pg_catalog.name, record pg_catalog.text, apply boolean DEFAULT false,
		skip_changed boolean DEFAULT false, trust boolean DEFAULT false, INOUT changed bigint DEFAULT 0)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	step record;
	key name[];
	columns name[];
	parts text[];
	missed bigint;
	lines text;
BEGIN
	CALL @extschema@.neardup_lock(relation, trust);
	IF mark IS NULL OR record IS NULL THEN
		RAISE EXCEPTION '"mark" and "record" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Name those of neardup_keep_one().';
	END IF;
	CALL @extschema@.neardup_find_rows(relation, ARRAY[mark], ''::name, '{}'::name[], NULL::text, NULL::regclass, mark, NULL::name[], trust, true, found);
	BEGIN
		CALL @extschema@.neardup_lock_record(relation, trust, false, record);
		CREATE TEMP TABLE neardup_entries (n bigint, place bigint, entry tid, at timestamptz, step int, changed regclass, columns jsonb, id text, "row" text, was text, "is" text, open boolean, back boolean);
		-- The latest run first, and its steps in reverse: each row is then as the step has left it.
		EXECUTE format('INSERT INTO pg_temp.neardup_entries SELECT row_number() OVER (), dense_rank() OVER (ORDER BY at DESC, step <> 0, step DESC), r.ctid, at, step, changed, columns, id, "row", was, "is", undone IS NULL, undone IS NOT NULL
			FROM %1$s AS r WHERE "table" = $1 AND changed IS NOT NULL AND at IN (SELECT at FROM (SELECT DISTINCT at, changed, columns FROM %1$s WHERE "table" = $1 AND step = 0) AS m WHERE %2$s.neardup_name_columns(changed, columns, ''set'') = ARRAY[$2])', record, '@extschema@') USING relation, mark;
		ANALYZE pg_temp.neardup_entries;
		FOR step IN SELECT DISTINCT place, e.step, e.changed, e.columns FROM pg_temp.neardup_entries AS e WHERE open ORDER BY place LOOP
			key := @extschema@.neardup_name_columns(step.changed, step.columns, 'key');
			columns := @extschema@.neardup_name_columns(step.changed, step.columns, 'set');
			CONTINUE WHEN key IS NULL OR array_position(key || columns, NULL) IS NOT NULL;
			CALL @extschema@.neardup_lock(step.changed, trust);
			CALL @extschema@.neardup_begin_step(step.changed, key, columns);
			-- A reference goes back to a row that is back.
			CALL @extschema@.neardup_in_record(format('INSERT INTO pg_temp.neardup_step SELECT n, "row"::pg_temp.neardup_key, was::pg_temp.neardup_value, "is"::pg_temp.neardup_value FROM pg_temp.neardup_entries AS e
				WHERE open AND place = %s AND (step = 0 OR EXISTS (SELECT FROM pg_temp.neardup_entries AS m WHERE m.at = e.at AND m.id = e.id AND m.step = 0 AND m.back))', step.place));
			SELECT array_agg(@extschema@.neardup_list(columns, part) ORDER BY place) INTO parts FROM unnest('{%I,r.%I,(s.was).%I,(s.is).%I}'::text[]) WITH ORDINALITY AS p (part, place);
			BEGIN
				EXECUTE format('WITH undone AS (UPDATE %s AS r SET (%s) = ROW(%s) FROM pg_temp.neardup_step AS s WHERE %s AND (ROW(%s)::record) *= (ROW(%s)::record) RETURNING s.n, (ROW(%5$s)::record) *= (ROW(%3$s)::record) AS so),
					entered AS (UPDATE pg_temp.neardup_entries AS e SET back = true FROM undone AS u WHERE u.n = e.n) SELECT count(*) FILTER (WHERE NOT so) FROM undone',
					step.changed, parts[1], parts[3], @extschema@.neardup_equal(step.changed, key, 'r.%I', '(s."row").%I'), parts[2], parts[4]) INTO missed;
			EXCEPTION WHEN integrity_constraint_violation THEN
				RAISE EXCEPTION 'rows of table "%" cannot be as they were: %', step.changed, SQLERRM USING ERRCODE = SQLSTATE, HINT = 'Others have made rows that are in the way. Change these first.';
			END;
			IF missed > 0 THEN
				RAISE EXCEPTION 'rows of table "%" cannot be as they were: a trigger changes them', step.changed USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Disable the trigger while neardup_undo() runs.';
			END IF;
			DROP TABLE pg_temp.neardup_step, pg_temp.neardup_key, pg_temp.neardup_value;
		END LOOP;
		SELECT count(*) FILTER (WHERE back AND e.step = 0), count(*) FILTER (WHERE NOT back) INTO changed, missed FROM pg_temp.neardup_entries AS e WHERE open;
		IF NOT EXISTS (SELECT FROM pg_temp.neardup_entries WHERE open) THEN
			EXECUTE format('SELECT string_agg(format(E''\n    %%s of %%s (%%s)'', count, "table", names), '''' ORDER BY "table", names) FROM (SELECT "table", array_to_string(%s.neardup_name_columns(changed, columns, ''set''), '', '') AS names, count(*) FROM %s
				WHERE undone IS NULL AND step = 0 AND changed IS NOT NULL GROUP BY 1, 2) AS m', '@extschema@', record) INTO lines;
			RAISE NOTICE '%: the record has no marks in column "%" that are not taken back%', found.shown, mark, coalesce(', but these:' || regexp_replace(lines, found.unseen, ' ', 'g'), '');
		ELSE
			RAISE NOTICE '%: % marks are taken back, % have changed since', found.shown, changed, (SELECT count(*) FROM pg_temp.neardup_entries AS e WHERE open AND e.step = 0 AND NOT back);
		END IF;
		FOR step IN SELECT e.changed, coalesce(@extschema@.neardup_list(@extschema@.neardup_name_columns(e.changed, e.columns, 'set'), '%I'), '?') AS names, count(*) AS went, count(*) FILTER (WHERE back) AS back
				FROM pg_temp.neardup_entries AS e WHERE open AND e.step > 0 GROUP BY 1, 2 ORDER BY e.changed::text, 2 LOOP
			RAISE NOTICE 'references of % (%) that go back: % of %', step.changed, step.names, step.back, step.went;
		END LOOP;
		IF missed > 0 THEN
			EXECUTE format('SELECT string_agg(format(E''\n    %%s of %%s'', %s, e.changed), '''' ORDER BY n) FROM (SELECT * FROM pg_temp.neardup_entries WHERE open AND NOT back ORDER BY n LIMIT 20) AS e', format(found.printed, 'coalesce(e."row", ''a row without a key'')')) INTO lines;
			IF apply AND skip_changed IS NOT TRUE THEN
				RAISE EXCEPTION 'others have changed % of the rows since', missed USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'These stay as they are:' || lines, HINT = 'Use skip_changed => true to take the others back.';
			END IF;
			RAISE NOTICE '% rows stay as others have changed them:%', missed, lines || CASE WHEN missed > 20 THEN E'\n    ...' ELSE '' END;
		END IF;
		EXECUTE format('UPDATE %s AS r SET undone = now() FROM pg_temp.neardup_entries AS e WHERE r.ctid = entry AND open AND back', record);
		DROP TABLE pg_temp.neardup_entries;
		IF apply IS NOT TRUE THEN
			RAISE EXCEPTION USING ERRCODE = 'ND000';
		END IF;
	EXCEPTION WHEN SQLSTATE 'ND000' THEN
		RAISE NOTICE 'dry run: nothing was changed; use apply => true';
	END;
END $$;
COMMENT ON PROCEDURE neardup_undo(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, boolean, boolean, boolean, bigint) IS
	'takes back the marks and references of neardup_keep_one(); by default a dry run';
