-- Signing a table while it is in use: a column, a trigger that fills it, and the old rows in batches.

CREATE PROCEDURE neardup_require_commit()
	AS 'MODULE_PATHNAME', 'neardup_require_commit'
	LANGUAGE C;
COMMENT ON PROCEDURE neardup_require_commit() IS 'a part of neardup_sign_table(): raises an error if that cannot commit';

CREATE TYPE neardup_signing AS (
	make pg_catalog.text,          -- the expression as planned: names with schemas, calls with all arguments, columns of a row called new
	type pg_catalog.text,          -- of the expression
	type_oid pg_catalog.oid,
	columns pg_catalog.name[],     -- those that it uses
	body pg_catalog.text,          -- the function of a trigger that sets the column
	todo pg_catalog.text,          -- a condition of the rows to sign
	parts pg_catalog.oid[],        -- the tables that this pass has still to read
	place pg_catalog.tid,          -- where it is in the first of them
	fresh bigint,                  -- how many rows this pass has signed
	signed bigint,                 -- how many all have
	total bigint,
	start pg_catalog.timestamptz,
	done boolean
);

-- An expression is first parsed as a view, which runs nothing.  Only if all that it calls belongs to
-- roles to be trusted, it becomes a generated column of an empty table, which shows whether it is
-- immutable, and is planned: EXPLAIN then shows it with the arguments that defaults stand for.
CREATE PROCEDURE neardup_plan_signing(relation pg_catalog.regclass, expression pg_catalog.text, signature pg_catalog.name, trust boolean, INOUT signing neardup_signing)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	table_name name := (SELECT relname FROM pg_class WHERE oid = relation);
	-- While it is set, nothing but the statement is evaluated.
	path text := format('pg_catalog, %s, pg_temp', '@extschema@');
	statement text;
	rule oid;
	plan json;
	collated boolean;
	new_row text;
	complete text;
	hint text;
	bad record;
BEGIN
	IF relation IS NULL OR expression IS NULL OR signature IS NULL THEN
		RAISE EXCEPTION '"relation", "expression" and "signature" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Write CALL neardup_sign_table(''docs'', ''to_minhash(body)'').';
	END IF;
	PERFORM @extschema@.neardup_require_trust(relation, trust, true);
	BEGIN
		-- The name is the same, so that the expression may contain it: docs.title.
		EXECUTE format('CREATE TEMP TABLE %I (LIKE %s)', table_name, relation);
		statement := format(E'CREATE TEMP VIEW neardup_expression AS SELECT (%s\n) AS value FROM pg_temp.%I', expression, table_name);
		BEGIN
			PERFORM set_config('search_path', path, true);
			EXECUTE statement;
			PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
		EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported THEN
			GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
			RAISE EXCEPTION '"expression" is not an expression of columns of "%"', relation USING ERRCODE = SQLSTATE, DETAIL = SQLERRM,
				HINT = coalesce(nullif(hint, ''), 'Write it as in a query: to_minhash(body).');
		END;
		SELECT oid INTO rule FROM pg_rewrite WHERE ev_class = 'pg_temp.neardup_expression'::regclass;
		FOR bad IN WITH used AS (
				SELECT refclassid AS class, refobjid AS object FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND objid = rule
			), code AS (
				SELECT 'function ' || p.oid::regprocedure AS name, proowner AS owner FROM used JOIN pg_proc AS p ON class = 'pg_proc'::regclass AND p.oid = object
				UNION ALL SELECT 'operator ' || o.oid::regoperator, x.owner
				FROM used JOIN pg_operator AS o ON class = 'pg_operator'::regclass AND o.oid = object JOIN pg_proc AS p ON p.oid = oprcode, LATERAL (VALUES (oprowner), (proowner)) AS x (owner)
				UNION ALL SELECT 'type ' || t.oid::regtype, typowner FROM used JOIN pg_type AS t ON class = 'pg_type'::regclass AND t.oid = object
			), runs AS (
				SELECT bool_or(rolsuper) AS as_superuser FROM pg_roles WHERE rolname IN (current_user, session_user)
			)
			SELECT name, rolname FROM code JOIN pg_roles AS r ON r.oid = owner, runs
			WHERE NOT rolsuper AND (as_superuser OR NOT pg_has_role(current_user, owner, 'MEMBER')) AND trust IS NOT TRUE LIMIT 1 LOOP
			RAISE EXCEPTION 'the expression uses %, which belongs to role %', bad.name, bad.rolname USING ERRCODE = 'insufficient_privilege',
				HINT = 'It would run as each role that writes to the table. If all of them trust that role, use trust => true.';
		END LOOP;
		SELECT atttypid, format_type(atttypid, atttypmod) INTO signing.type_oid, signing.type FROM pg_attribute WHERE attrelid = 'pg_temp.neardup_expression'::regclass AND attname = 'value';
		SELECT coalesce(array_agg(attname ORDER BY attnum), '{}'), string_agg(format('new.%I IS NOT NULL', attname), ' AND ' ORDER BY attnum), coalesce(bool_or(a.attcollation <> typcollation), false),
			string_agg(format('NEW.%I%s AS %1$I', attname, CASE WHEN a.attcollation <> typcollation THEN format(' COLLATE %s', a.attcollation::regcollation) END), ', ' ORDER BY attnum)
			INTO signing.columns, complete, collated, new_row
		FROM pg_depend JOIN pg_attribute AS a ON attrelid = refobjid AND attnum = refobjsubid JOIN pg_type AS t ON t.oid = atttypid
		WHERE classid = 'pg_rewrite'::regclass AND objid = rule AND refclassid = 'pg_class'::regclass AND refobjid = format('pg_temp.%I', table_name)::regclass;
		IF signing.type_oid NOT IN ('bigint'::regtype, 'bit'::regtype, '@extschema@.minhash'::regtype, '@extschema@.simhash'::regtype, '@extschema@.shingles'::regtype) THEN
			RAISE EXCEPTION 'the expression makes values of type %', signing.type USING ERRCODE = 'datatype_mismatch', HINT = 'It must make minhash, simhash, shingles, bigint or bit(n).';
		ELSIF signing.columns = '{}' THEN
			RAISE EXCEPTION 'the expression uses no column of the table' USING ERRCODE = 'invalid_parameter_value', HINT = 'Name columns as in a query: to_minhash(title || body).';
		END IF;
		FOR bad IN SELECT attname = signature AS itself, attname FROM pg_attribute WHERE attrelid = relation AND attname = ANY (signing.columns) AND (attname = signature OR attgenerated <> '') LIMIT 1 LOOP
			RAISE EXCEPTION 'the expression uses the column "%", %', bad.attname, CASE WHEN bad.itself THEN 'which it is to fill' ELSE 'which is generated after triggers have run' END
				USING ERRCODE = 'invalid_parameter_value', HINT = CASE WHEN bad.itself THEN 'Name another column: signature => ''other''.' ELSE 'Use the expression of that column instead.' END;
		END LOOP;
		statement := format(E'ALTER TABLE pg_temp.%I ADD COLUMN neardup_value %s GENERATED ALWAYS AS (%s\n) STORED', table_name, signing.type, expression);
		BEGIN
			PERFORM set_config('search_path', path, true);
			EXECUTE statement;
			PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
		EXCEPTION WHEN invalid_object_definition THEN
			RAISE EXCEPTION 'the expression is not immutable' USING ERRCODE = 'invalid_object_definition',
				HINT = 'It must always make the same signature of the same row, whatever the time, the settings and the other rows. Its functions must be IMMUTABLE.';
		END;
		-- EXPLAIN writes the name of the table before each column.
		IF table_name <> 'new' THEN
			EXECUTE format('ALTER TABLE pg_temp.%I RENAME TO new', table_name);
		END IF;
		EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) SELECT value FROM pg_temp.neardup_expression' INTO plan;
		signing.make := plan->0->'Plan'->'Output'->>0;
		RAISE EXCEPTION USING ERRCODE = 'ND000';
	EXCEPTION WHEN SQLSTATE 'ND000' THEN
	END;
	-- NEW does not have the collations of the table's columns.
	signing.body := CASE WHEN collated THEN format(E'#variable_conflict use_column\nBEGIN NEW.%I := (SELECT %s FROM (SELECT %s) new); RETURN NEW; END', signature, signing.make, new_row)
		ELSE format('BEGIN NEW.%I := %s; RETURN NEW; END', signature, signing.make) END;
	EXECUTE format('SELECT count(%s) FROM (SELECT * FROM %s LIMIT 100) AS new', signing.make, relation);
	-- Most rows need not be signed to see that they can be.
	signing.todo := format('new.%I IS NULL AND (%s OR (%s) IS NOT NULL)', signature, complete, signing.make);
END $$;
COMMENT ON PROCEDURE neardup_plan_signing(pg_catalog.regclass, pg_catalog.text, pg_catalog.name, boolean, neardup_signing) IS
	'a part of neardup_sign_table(): what an expression does';

CREATE PROCEDURE neardup_make_signer(relation pg_catalog.regclass, signature pg_catalog.name, trust boolean, signing neardup_signing)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	bare text := '("([^"]|"")+"|[[:alnum:]_$]+)[.]';
	signer record;
	bad record;
	distributed oid[];
	others bigint;
	name text;
BEGIN
	IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
		EXECUTE 'SELECT array_agg(logicalrelid::oid) FROM pg_catalog.pg_dist_partition' INTO distributed;
	END IF;
	FOR bad IN WITH RECURSIVE tree AS (SELECT relation::oid AS rel UNION SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = rel)
		SELECT rel::regclass AS rel, what, hint FROM tree JOIN pg_class AS c ON c.oid = rel LEFT JOIN pg_am AS a ON a.oid = relam, LATERAL (
			VALUES (relkind = 'v', 'a view', 'Sign the table that its rows come from, and add the column to the query of the view.'),
				(relkind = 'm', 'a materialized view', 'Write the expression into its query, as a column.'),
				(relkind = 'f', 'on another server', 'Other writers would not be seen here. Sign it where the table is, and then add the column here: ALTER FOREIGN TABLE ... ADD COLUMN.'),
				(relkind NOT IN ('r', 'p'), 'not a table', 'Name a table or a partitioned table.'),
				(amname = 'columnar', 'a columnar table, whose rows cannot be updated', 'Make a table that has the column from the start, and copy the rows.'),
				(rel = ANY (distributed), 'distributed by Citus, whose tables have no triggers', NULL),
				(relpersistence = 't', 'a temporary table', NULL),
				(relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = rel), 'a table with children', NULL)) AS w (is_so, what, hint)
		WHERE is_so ORDER BY rel <> relation::oid LIMIT 1 LOOP
		RAISE EXCEPTION '"%" is %', bad.rel, bad.what USING ERRCODE = 'wrong_object_type', HINT = coalesce(bad.hint, 'Add a generated column: ALTER TABLE ... ADD COLUMN ... GENERATED ALWAYS AS (...) STORED.');
	END LOOP;
	-- The column is added without waiting twice.
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = signature AND NOT attisdropped) THEN
		EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS %I %s', relation, signature, signing.type);
	END IF;
	CALL @extschema@.neardup_lock(relation, trust);
	IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = signature AND (attgenerated <> '' OR atttypid <> signing.type_oid)) THEN
		RAISE EXCEPTION 'column "%" of "%" is not of type %, or is generated', signature, relation, signing.type USING ERRCODE = 'datatype_mismatch', HINT = 'Name another column: signature => ''other''.';
	END IF;
	-- The trigger of an earlier run stays if it does the same and belongs to a role that the roles that
	-- write to the table have to trust anyway.  If its function is the same but for names of schemas,
	-- what it calls has moved, and the function is made anew.
	SELECT p.oid::regprocedure AS function, prosrc = signing.body AS same INTO signer
	FROM pg_class AS c JOIN pg_trigger ON tgrelid = c.oid JOIN pg_proc AS p ON p.oid = tgfoid JOIN pg_language AS l ON l.oid = prolang JOIN pg_roles AS r ON r.oid = proowner
	WHERE c.oid = relation AND (proowner = relowner OR rolsuper OR rolname = current_user)
		AND lanname = 'plpgsql' AND regexp_replace(prosrc, bare, '', 'g') = regexp_replace(signing.body, bare, '', 'g') AND NOT prosecdef AND proconfig = ARRAY['search_path=pg_catalog, pg_temp']
		AND tgenabled IN ('O', 'A') AND tgtype = 1 + 2 + 4 + 16 AND tgqual IS NULL
		AND tgattr::int2[] @> ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = c.oid AND attname = ANY (signing.columns || signature)) ORDER BY 2 DESC LIMIT 1;
	IF signer.same THEN
		RETURN;
	END IF;
	FOR bad IN SELECT tgname FROM pg_trigger JOIN pg_proc AS p ON p.oid = tgfoid WHERE signer.same IS NULL AND tgrelid = relation AND tgtype & 2 <> 0
			AND strpos(lower(translate(prosrc, E' \t\n"', '')), lower(translate(format('NEW.%s:=', signature), E' \t\n"', ''))) > 0 LOOP
		RAISE EXCEPTION 'trigger "%" of "%" signs "%" already, and is not what neardup_sign_table() would make', bad.tgname, relation, signature USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = format('Name another column: signature => ''other''. Or drop the trigger and the signatures that it has made, with DROP TRIGGER %I ON %s and ALTER TABLE %2$s DROP COLUMN %3$I, and start again.', bad.tgname, relation, signature);
	END LOOP;
	-- Signatures that something else has made must be the same.
	EXECUTE format('SELECT count(*) FROM (SELECT new.%I AS sig, %s AS made FROM %s AS new WHERE new.%1$I IS NOT NULL LIMIT 100) AS s WHERE format(''%%s'', sig) <> format(''%%s'', made)', signature, signing.make, relation) INTO others;
	IF others > 0 THEN
		RAISE EXCEPTION 'column "%" has signatures that the expression does not make', signature USING ERRCODE = 'object_not_in_prerequisite_state',
			HINT = 'Set them to NULL to have them made again, or name another column: signature => ''other''.';
	END IF;
	IF signer.function IS NOT NULL THEN
		EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS %L', signer.function, signing.body);
		RETURN;
	END IF;
	-- A name that is free, if necessary with a number behind it.
	SELECT relname || '_' || signature INTO name FROM pg_class WHERE oid = relation;
	WHILE octet_length(name) > 54 LOOP
		name := left(name, -1);
	END LOOP;
	SELECT free INTO name FROM generate_series(0, 9999) AS n, format('%s_sign%s', name, nullif(n, 0)) AS free, pg_class AS c
	WHERE c.oid = relation AND NOT EXISTS (SELECT FROM pg_proc WHERE pronamespace = relnamespace AND proname = free) AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND tgname = free) ORDER BY n LIMIT 1;
	FOR bad IN SELECT format('%I.%I', nspname, name) AS function FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = relnamespace WHERE c.oid = relation LOOP
		EXECUTE format('CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS %L', bad.function, signing.body);
		EXECUTE format('CREATE TRIGGER %I BEFORE INSERT OR UPDATE OF %s ON %s FOR EACH ROW EXECUTE FUNCTION %s()', name,
			(SELECT string_agg(quote_ident(c), ', ') FROM unnest(signing.columns || signature) AS c), relation, bad.function);
	END LOOP;
END $$;
COMMENT ON PROCEDURE neardup_make_signer(pg_catalog.regclass, pg_catalog.name, boolean, neardup_signing) IS
	'a part of neardup_sign_table(): makes the column and the trigger';

-- Signs the next rows, in the order in which they are stored.  Rows that are changed meanwhile are found
-- by another pass.
CREATE PROCEDURE neardup_sign_batch(relation pg_catalog.regclass, signature pg_catalog.name, batch int, trust boolean, INOUT signing neardup_signing)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET synchronize_seqscans = off SET max_parallel_workers_per_gather = 0 AS $$
#variable_conflict use_column
DECLARE
	ids tid[];
	rows bigint;
	lines text;
BEGIN
	CALL @extschema@.neardup_lock(relation, trust, 'ROW EXCLUSIVE');
	IF signing.total IS NULL THEN
		EXECUTE format('SELECT count(*) FROM %s AS new WHERE %s', relation, signing.todo) INTO signing.total;
		RAISE NOTICE '% rows to sign', signing.total;
		signing.signed := 0;
		signing.start := clock_timestamp();
	END IF;
	IF signing.parts IS NULL THEN
		SELECT array_agg(t.relid::oid) INTO signing.parts FROM (SELECT relation AS relid UNION SELECT relid FROM pg_partition_tree(relation)) AS t JOIN pg_class AS c ON c.oid = t.relid WHERE relkind = 'r';
		signing.place := '(0,0)';
		signing.fresh := 0;
	END IF;
	EXECUTE format('SELECT array_agg(b.ctid) FROM (SELECT new.ctid FROM ONLY %s AS new WHERE %s AND new.ctid > $1 LIMIT $2) AS b', signing.parts[1]::regclass, signing.todo) INTO ids USING signing.place, nullif(batch, 0);
	IF ids IS NOT NULL THEN
		-- The trigger signs a row whose signature is set to NULL.
		EXECUTE format('WITH signed AS (UPDATE ONLY %s AS t SET %I = NULL WHERE t.ctid = ANY ($1) RETURNING t.%2$I IS NOT NULL AS so) SELECT count(*) FILTER (WHERE so) FROM signed', signing.parts[1]::regclass, signature) INTO rows USING ids;
		signing.fresh := signing.fresh + rows;
		signing.signed := signing.signed + rows;
		SELECT i INTO signing.place FROM unnest(ids) AS i ORDER BY i DESC LIMIT 1;
		-- Twenty lines at most, however large the table.
		IF signing.signed >= signing.total OR 20 * signing.signed / greatest(1, signing.total) > 20 * (signing.signed - rows) / greatest(1, signing.total) THEN
			RAISE NOTICE '% of % signed, % a second', signing.signed, greatest(signing.total, signing.signed), round(signing.signed / greatest(0.001, extract(epoch FROM clock_timestamp() - signing.start))::numeric);
		END IF;
		RETURN;
	END IF;
	signing.place := '(0,0)';
	signing.parts := signing.parts[2:];
	IF cardinality(signing.parts) > 0 THEN
		RETURN;
	ELSIF signing.fresh > 0 THEN
		signing.parts := NULL;
		RETURN;
	END IF;
	signing.done := true;
	EXECUTE format('SELECT count(*) FROM %s AS new WHERE new.%I IS NULL AND (%s) IS NOT NULL', relation, signature, signing.make) INTO rows;
	IF rows > 0 THEN
		RAISE WARNING '% rows have no signature', rows USING HINT = 'Check whether a trigger or a policy keeps rows back.';
	END IF;
	-- PostgreSQL does not create an index of a partitioned table concurrently, but takes the indexes
	-- that the partitions have.
	SELECT string_agg(format(E'\n    CREATE INDEX%s ON %s USING neardup (%I);', CASE WHEN relkind = 'r' THEN ' CONCURRENTLY' END, rel, signature), '' ORDER BY relkind <> 'r', rel::text) INTO lines
	FROM (SELECT relation AS rel UNION SELECT relid FROM pg_partition_tree(relation)) AS t JOIN pg_class AS c ON c.oid = t.rel
	WHERE (relkind = 'r' OR rel = relation) AND NOT EXISTS (SELECT FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS a ON a.oid = i.relam JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
		WHERE indrelid = rel AND amname = 'neardup' AND indnatts = 1 AND indpred IS NULL AND indisvalid AND attname = signature);
	RAISE NOTICE '% is signed%', relation, coalesce(', and needs an index:' || lines || format(E'\n    ANALYZE %s;', relation), '');
END $$;
COMMENT ON PROCEDURE neardup_sign_batch(pg_catalog.regclass, pg_catalog.name, int, boolean, neardup_signing) IS
	'a part of neardup_sign_table(): signs the next rows';

-- A procedure that sets a setting cannot commit, so this one sees all of the caller's search path.
CREATE PROCEDURE neardup_sign_table(relation pg_catalog.regclass, expression pg_catalog.text DEFAULT 'to_minhash(body)', signature pg_catalog.name DEFAULT 'sig',
		batch int DEFAULT 5000, pause pg_catalog.float8 DEFAULT 0, trust boolean DEFAULT false, INOUT signed bigint DEFAULT NULL)
	LANGUAGE plpgsql AS $$
DECLARE
	signing @extschema@.neardup_signing;
BEGIN
	IF batch OPERATOR(pg_catalog.<) 0 THEN
		RAISE EXCEPTION '"batch" must not be negative' USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Write 0 to sign all rows in the transaction of the call.';
	ELSIF pause OPERATOR(pg_catalog.<) 0::pg_catalog.float8 THEN
		RAISE EXCEPTION '"pause" must not be negative' USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Write a number of seconds.';
	ELSIF batch IS NULL THEN
		RAISE EXCEPTION '"batch" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Write 0 to sign all rows in the transaction of the call.';
	END IF;
	IF batch OPERATOR(pg_catalog.<>) 0 THEN
		CALL @extschema@.neardup_require_commit();
	END IF;
	CALL @extschema@.neardup_plan_signing(relation, expression, signature, trust, signing);
	IF batch OPERATOR(pg_catalog.<>) 0 THEN
		COMMIT;
	END IF;
	CALL @extschema@.neardup_make_signer(relation, signature, trust, signing);
	LOOP
		IF batch OPERATOR(pg_catalog.<>) 0 THEN
			COMMIT;
		END IF;
		EXIT WHEN signing.done;
		CALL @extschema@.neardup_sign_batch(relation, signature, batch, trust, signing);
		IF pause OPERATOR(pg_catalog.>) 0::pg_catalog.float8 AND signing.place OPERATOR(pg_catalog.>) '(0,0)'::pg_catalog.tid THEN
			PERFORM pg_catalog.pg_sleep(pause);
		END IF;
	END LOOP;
	signed := signing.signed;
END $$;
COMMENT ON PROCEDURE neardup_sign_table(pg_catalog.regclass, pg_catalog.text, pg_catalog.name, int, pg_catalog.float8, boolean, bigint) IS
	'gives a table in use signatures: a column, a trigger that fills it, and the old rows in batches, with a commit after each';
