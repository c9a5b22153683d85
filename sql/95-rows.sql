-- What the procedures share: which rows they mean, and what stands in their way.
--
-- A body finds names in pg_catalog, and after that in pg_temp, whose tables it qualifies.  Keys of several
-- columns are told apart by their texts, so numbers are printed to the bit.

-- Locks a table, as far as it can be locked, so that nobody changes it, adds a trigger or gives it away.
-- What is read after that shows what was committed while the lock was waited for: so not under a
-- snapshot taken before, which a transaction of another isolation level keeps.
CREATE PROCEDURE neardup_lock(relation pg_catalog.regclass, trust boolean, mode pg_catalog.text DEFAULT 'SHARE ROW EXCLUSIVE')
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF current_setting('transaction_isolation') NOT LIKE 'read %' THEN
		RAISE EXCEPTION 'a table cannot be locked and then read at isolation level %', upper(current_setting('transaction_isolation')) USING ERRCODE = 'active_sql_transaction',
			HINT = 'Use SET default_transaction_isolation = ''read committed'', and call it outside a transaction of another level.';
	END IF;
	IF (SELECT relkind IN ('r', 'p', 'v') FROM pg_class WHERE oid = relation) THEN
		EXECUTE format('LOCK TABLE %s IN %s MODE', relation, mode);
	END IF;
	PERFORM @extschema@.neardup_require_trust(relation, trust, true) WHERE relation IS NOT NULL;
END $$;
COMMENT ON PROCEDURE neardup_lock(pg_catalog.regclass, boolean, pg_catalog.text) IS
	'a part of other procedures: locks a table before its rows are read and changed';

-- Returns a list of columns, each by a format.
CREATE FUNCTION neardup_list(columns pg_catalog.name[], part pg_catalog.text) RETURNS pg_catalog.text
	LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
	RETURN (SELECT string_agg(format(part, c), ', ' ORDER BY n) FROM unnest(columns) WITH ORDINALITY AS u (c, n));
END $$;
COMMENT ON FUNCTION neardup_list(pg_catalog.name[], pg_catalog.text) IS
	'a part of other procedures: columns in a statement';

CREATE FUNCTION neardup_as_id(value pg_catalog.text, id_type pg_catalog.anyelement) RETURNS pg_catalog.anyelement
	AS 'MODULE_PATHNAME', 'neardup_as_id'
	LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION neardup_as_id(pg_catalog.text, pg_catalog.anyelement) IS
	'a part of verdicts: the value of a type that has this text, or NULL';

-- Returns the condition that two rows are equal in columns of a relation: by the equality of a unique
-- index, else as texts.  "a" and "b" are formats of the column %I of either row.
CREATE FUNCTION neardup_equal(relation pg_catalog.regclass, columns pg_catalog.name[], a pg_catalog.text, b pg_catalog.text) RETURNS pg_catalog.text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
	RETURN (SELECT string_agg(coalesce(x || format(' OPERATOR(%s.', quote_ident(nspname)) || oprname || ') ' || y, format('format(''%%s'', %s) COLLATE "C" = format(''%%s'', %s) COLLATE "C"', x, y)), ' AND ' ORDER BY n)
		FROM unnest(columns) WITH ORDINALITY AS c (name, n), LATERAL format(a, name) AS x, LATERAL format(b, name) AS y LEFT JOIN LATERAL (
			SELECT nspname, oprname FROM pg_attribute JOIN pg_index ON indrelid = attrelid, unnest(indkey::int2[], indclass::oid[]) AS k (number, class) JOIN pg_opclass AS o ON o.oid = class
				JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype AND amopstrategy = 3 JOIN pg_operator AS p ON p.oid = amopopr JOIN pg_namespace AS s ON s.oid = oprnamespace
			WHERE attrelid = relation AND attname = name AND attnum = number AND indisunique LIMIT 1) AS o ON true);
END $$;
COMMENT ON FUNCTION neardup_equal(pg_catalog.regclass, pg_catalog.name[], pg_catalog.text, pg_catalog.text) IS
	'a part of other procedures: the condition that rows have the same key';

CREATE TYPE neardup_rows AS (
	shown pg_catalog.text,         -- the name of the relation, to be printed
	columns pg_catalog.name[],     -- of the key
	value pg_catalog.text,         -- a format of the id of a row of %1$s: a column, or the array of the texts of several
	type pg_catalog.text,          -- of the id, below domains
	key pg_catalog.text,           -- a format of the text of the id
	signature pg_catalog.name,     -- a column
	signed pg_catalog.text,        -- a format of the signature of a row of %1$s
	query pg_catalog.text,         -- the id, the signature and the columns of "within" of all rows that count, in order
	verdicts pg_catalog.text,      -- a query, or NULL
	tree pg_catalog.oid[],         -- the relation, and all tables below it
	judged pg_catalog.oid[],       -- the verdicts, and all tables below them
	distributed pg_catalog.oid[],  -- the tables of Citus
	replicated pg_catalog.oid[],   -- its reference tables
	unseen pg_catalog.text,        -- a regular expression of what must not reach a terminal or a page
	printed pg_catalog.text        -- a format of the text %1$s on one line without these, cut to 60 characters
);

-- Returns the query of verdicts, with the ids that they name.  An id of another type, or of several
-- columns, is read from its text; what is no value of the key's type names no row.
CREATE FUNCTION neardup_verdicts_query(relation pg_catalog.regclass, verdicts pg_catalog.regclass, key pg_catalog.name[], value pg_catalog.text) RETURNS pg_catalog.text
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	bare text[];
	parsed text;
BEGIN
	IF (SELECT count(*) FROM pg_attribute WHERE attrelid = verdicts AND attname IN ('a', 'b', 'same') AND NOT attisdropped) < 3 THEN
		RAISE EXCEPTION '"verdicts" must have the columns a, b and same, as "%" does not', verdicts USING ERRCODE = 'undefined_column', HINT = 'Use CREATE TABLE verdicts (a bigint, b bigint, same boolean), with the type of the key.';
	END IF;
	-- What can be taken as it is, and what must be read.
	WITH RECURSIVE base AS (
		SELECT attrelid, attname, atttypid AS type FROM pg_attribute WHERE attrelid = verdicts AND attname IN ('a', 'b') OR attrelid = relation AND ARRAY[attname] = key
		UNION ALL
		SELECT attrelid, attname, typbasetype FROM base JOIN pg_type AS t ON t.oid = type WHERE typtype = 'd'
	), types AS (
		SELECT attrelid, attname, type FROM base JOIN pg_type AS t ON t.oid = type WHERE typtype <> 'd'
	)
	SELECT array_agg(CASE WHEN v.type = k.type OR EXISTS (SELECT FROM pg_cast WHERE castsource = v.type AND casttarget = k.type AND castmethod = 'b' AND castcontext = 'i') THEN format('v.%I', v.attname)
			ELSE format('%s.neardup_as_id(v.%I::text, NULL::%s)', '@extschema@', v.attname, format_type(coalesce(k.type, 'text[]'::regtype), -1)) END ORDER BY v.attname)
		INTO bare
	FROM types AS v LEFT JOIN types AS k ON k.attrelid = relation WHERE v.attrelid = verdicts;
	IF cardinality(key) = 1 THEN
		RETURN format('SELECT %s, %s, v.same FROM %s AS v', bare[1], bare[2], verdicts);
	END IF;
	SELECT string_agg(format('%s.neardup_as_id(%%1$s[%s], NULL::%s)%s AS %s', '@extschema@', n, replace(format_type(atttypid, -1), '%', '%%'),
			CASE WHEN attcollation <> 0 THEN ' COLLATE ' || replace(attcollation::regcollation::text, '%', '%%') END, replace(quote_ident(name), '%', '%%')), ', ' ORDER BY n) INTO parsed
	FROM unnest(key) WITH ORDINALITY AS k (name, n) JOIN pg_attribute ON attrelid = relation AND attname = name;
	RETURN format('SELECT coalesce(%s, p.a), coalesce(%s, p.b), p.same FROM (SELECT %s AS a, %s AS b, v.same FROM %s AS v) AS p CROSS JOIN LATERAL (SELECT %s) AS a CROSS JOIN LATERAL (SELECT %s) AS b
			LEFT JOIN %s AS x ON %s LEFT JOIN %s AS y ON %s', format(value, 'x'), format(value, 'y'), bare[1], bare[2], verdicts, format(parsed, '(p.a)'), format(parsed, '(p.b)'),
		relation, @extschema@.neardup_equal(relation, key, 'x.%I', 'a.%I'), relation, @extschema@.neardup_equal(relation, key, 'y.%I', 'b.%I'));
END $$;
COMMENT ON FUNCTION neardup_verdicts_query(pg_catalog.regclass, pg_catalog.regclass, pg_catalog.name[], pg_catalog.text) IS
	'a part of neardup_find_rows(): how verdicts are read';

CREATE PROCEDURE neardup_find_rows(relation pg_catalog.regclass, key pg_catalog.name[], signature pg_catalog.name, within pg_catalog.name[],
		order_by pg_catalog.text, verdicts pg_catalog.regclass, mark pg_catalog.name, shown pg_catalog.name[], trust boolean, changes boolean,
		INOUT found neardup_rows)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
	missing name;
	hash text;
	query refcursor;
BEGIN
	IF relation IS NULL THEN
		RAISE EXCEPTION '"relation" must not be null' USING ERRCODE = 'null_value_not_allowed', HINT = 'Name a table.';
	END IF;
	PERFORM @extschema@.neardup_require_trust(rel, trust, rel = relation AND changes) FROM unnest(ARRAY[relation, verdicts]) AS t (rel) WHERE rel IS NOT NULL;
	key := coalesce(nullif(key, '{}'), (SELECT array_agg(attname ORDER BY n) FROM pg_index, unnest(indkey::int2[]) WITH ORDINALITY AS k (number, n)
			JOIN pg_attribute ON attrelid = relation AND attnum = number WHERE indrelid = relation AND indisprimary), '{id}');
	-- The only column of signatures, or the one of that name.
	signature := coalesce(signature, (SELECT min(attname::text) FROM pg_attribute WHERE attrelid = relation AND NOT attisdropped
			AND atttypid IN ('@extschema@.minhash'::regtype, '@extschema@.simhash'::regtype, '@extschema@.shingles'::regtype) HAVING count(*) = 1), 'sig');
	SELECT name INTO missing FROM unnest(key || within || shown || ARRAY[mark, nullif(signature, '')]) AS c (name)
	WHERE name IS NOT NULL AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = name AND NOT attisdropped);
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION 'column "%" of relation "%" does not exist', missing, relation USING ERRCODE = 'undefined_column',
			HINT = coalesce((SELECT format('There is a column "%s".', min(attname::text)) FROM pg_attribute WHERE attrelid = relation AND NOT attisdropped AND lower(attname) = lower(missing) HAVING count(*) > 0),
				CASE WHEN missing = ANY (key) AND missing IS DISTINCT FROM mark THEN 'Name the columns of a key: key => ''{tenant,number}''.'
				WHEN missing = signature THEN 'Name the column of signatures: signature => ''sig''. If there is none, neardup_sign_table() adds it.'
				ELSE 'Name a column of the table.' END);
	END IF;
	found.columns := key;
	found.signature := signature;
	found.unseen := CASE WHEN getdatabaseencoding() = 'UTF8' THEN '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f'
			'\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]'
		WHEN getdatabaseencoding() LIKE 'LATIN%' THEN '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad]'
		ELSE '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f]' END;
	found.printed := format('(SELECT CASE WHEN length(line) > 60 THEN left(line, 57) || ''...'' ELSE line END FROM btrim(regexp_replace(left(%%1$s, 1000) COLLATE "C", %L, '' '', ''g'')) AS line)',
		replace(found.unseen, '[', '([[:space:]]|[') || ')+');
	found.shown := regexp_replace(relation::text, found.unseen, ' ', 'g');
	SELECT CASE count(*) WHEN 1 THEN min(part) ELSE format('ARRAY[%s]', string_agg(format('format(''%%%%s'', %s)', part), ', ' ORDER BY n)) END INTO found.value
	FROM unnest(key) WITH ORDINALITY AS k (name, n), format('%%1$s.%s', replace(quote_ident(name), '%', '%%')) AS part;
	found.key := format('format(''%%%%s'', %s)', found.value);
	-- Hashes made elsewhere are compared as signatures.
	WITH RECURSIVE base AS (
		SELECT attname, atttypid AS type FROM pg_attribute WHERE attrelid = relation AND (ARRAY[attname] = key OR attname = signature)
		UNION ALL
		SELECT attname, typbasetype FROM base JOIN pg_type AS t ON t.oid = type WHERE typtype = 'd'
	)
	SELECT coalesce(min(format_type(type, -1)) FILTER (WHERE ARRAY[attname] = key), 'text[]'), min(CASE WHEN type = 'bigint'::regtype THEN format('::%s.simhash', '@extschema@') WHEN type = 'bit'::regtype THEN format('::%s.minhash', '@extschema@')
			WHEN type IN ('@extschema@.minhash'::regtype, '@extschema@.simhash'::regtype, '@extschema@.shingles'::regtype) THEN '' END) FILTER (WHERE attname = signature) INTO found.type, hash
	FROM base JOIN pg_type AS t ON t.oid = type WHERE typtype <> 'd';
	IF signature = ANY (key) AND hash LIKE '%.simhash' THEN
		RAISE EXCEPTION '"signature" must be a column of hashes, not the key "%"', signature USING ERRCODE = 'invalid_parameter_value', HINT = 'Name the column of signatures: signature => ''sig''.';
	ELSIF signature <> '' AND array_position(shown, signature) IS NULL AND hash IS NULL THEN
		RAISE EXCEPTION '"signature" must be a column of signatures, not "%"', signature USING ERRCODE = 'datatype_mismatch', HINT = 'Name a column of type minhash, simhash, shingles, bigint or bit(n).';
	END IF;
	found.signed := format('%%1$s.%s%s', replace(quote_ident(signature), '%', '%%'), hash);
	-- The key comes last, so that a dry run and what follows find the same rows.
	-- A row needs no signature if it is judged the same as another.
	found.query := format('SELECT %s, %s%s FROM %s AS t WHERE %s%s ORDER BY %s', format(found.value, 't'), format(found.signed, 't'),
		(SELECT string_agg(format(', t.%I', name), '' ORDER BY n) FROM unnest(within) WITH ORDINALITY AS w (name, n)), relation,
		CASE WHEN verdicts IS NULL THEN format('t.%I IS NOT NULL', signature) ELSE 'true' END, ' AND t.' || quote_ident(mark) || ' IS NULL',
		concat_ws(', ', nullif(order_by, ''), @extschema@.neardup_list(key, 't.%I')));
	IF verdicts IS NOT NULL THEN
		found.verdicts := @extschema@.neardup_verdicts_query(relation, verdicts, key, found.value);
	END IF;
	WITH RECURSIVE tree AS (
		SELECT rel AS top, rel::oid AS rel FROM unnest(ARRAY[relation, verdicts]) AS t (rel)
		UNION
		SELECT top, child FROM tree JOIN (SELECT inhparent, inhrelid FROM pg_inherits
			UNION ALL SELECT ev_class, refobjid FROM pg_rewrite AS r JOIN pg_depend ON classid = 'pg_rewrite'::regclass AND objid = r.oid AND refclassid = 'pg_class'::regclass) AS x (parent, child) ON parent = rel
	)
	SELECT array_agg(rel) FILTER (WHERE top = relation), array_agg(rel) FILTER (WHERE top = verdicts) INTO found.tree, found.judged FROM tree;
	BEGIN
		IF signature <> '' AND (order_by <> '' OR NOT EXISTS (SELECT FROM pg_class WHERE oid = ANY (found.tree) AND relkind = 'f')) THEN
			OPEN query FOR EXECUTE found.query;
			CLOSE query;
		END IF;
	EXCEPTION WHEN insufficient_privilege THEN
		RAISE;
	WHEN syntax_error_or_access_rule_violation OR feature_not_supported OR invalid_cursor_definition THEN
		RAISE EXCEPTION '"%" is not an order of rows of "%"', CASE WHEN order_by <> '' THEN 'order_by' ELSE 'key' END, relation USING ERRCODE = SQLSTATE, DETAIL = SQLERRM,
			HINT = CASE WHEN order_by <> '' THEN 'Write it as in ORDER BY: order_by => ''length(body) DESC''. Name the schemas of your own functions.' ELSE 'Name columns that can be ordered.' END;
	END;
	IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
		EXECUTE 'SELECT array_agg(logicalrelid::oid), array_agg(logicalrelid::oid) FILTER (WHERE repmodel = ''t'') FROM pg_catalog.pg_dist_partition'
			INTO found.distributed, found.replicated;
	END IF;
END $$;
COMMENT ON PROCEDURE neardup_find_rows(pg_catalog.regclass, pg_catalog.name[], pg_catalog.name, pg_catalog.name[], pg_catalog.text, pg_catalog.regclass, pg_catalog.name, pg_catalog.name[], boolean, boolean, neardup_rows) IS
	'a part of other procedures: checks a table and its columns, and tells how to read its rows';
