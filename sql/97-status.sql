-- What signs a table, and what finds its near-duplicates.

CREATE FUNCTION neardup_status(relation pg_catalog.regclass, sample bigint DEFAULT NULL, trust boolean DEFAULT false)
	RETURNS TABLE (item pg_catalog.text, property pg_catalog.text, value pg_catalog.text)
	LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
	found @extschema@.neardup_rows;
	guess numeric;
	signatures text;
	columns jsonb;
	signed jsonb;
	line record;
BEGIN
	IF sample < 0 THEN
		RAISE EXCEPTION '"sample" must not be negative' USING ERRCODE = 'numeric_value_out_of_range', HINT = 'Write 0 to read all rows.';
	END IF;
	CALL @extschema@.neardup_find_rows(relation, '{}'::name[], ''::name, '{}'::name[], NULL::text, NULL::regclass, NULL::name, NULL::name[], trust, false, found);
	FOR line IN SELECT CASE WHEN relation = ANY (found.distributed) THEN 'distributed by Citus' ELSE 'not a table' END AS what,
			CASE WHEN relation = ANY (found.distributed) THEN 'Call it for its shards, on their workers. The view citus_shards lists them.' ELSE 'Name a table, a partitioned table or a materialized view.' END AS hint
			FROM pg_class AS c WHERE c.oid = relation AND (relkind NOT IN ('r', 'p', 'm') OR relation = ANY (found.distributed) AND NOT coalesce(relation = ANY (found.replicated), false)) LOOP
		RAISE EXCEPTION '"%" is %', relation, line.what USING ERRCODE = 'wrong_object_type', HINT = line.hint;
	END LOOP;
	-- A query of the signatures, or of some of them: the number of the column, what it begins with in text
	-- format, the number of shingles.
	WITH RECURSIVE heap AS (
		SELECT c.*, CASE WHEN relkind = 'f' THEN 0 ELSE pg_relation_size(c.oid) END / current_setting('block_size')::int AS pages
		FROM unnest(found.tree) AS tree (rel) JOIN pg_class c ON c.oid = rel WHERE relkind <> 'p'
	), guess AS (
		SELECT coalesce(sum(CASE WHEN reltuples >= 0 AND relpages > 0 THEN reltuples * pages / relpages ELSE pages * 50 END), 0) AS rows,
			coalesce(bool_and(relkind <> 'f'), true) AS sampled
		FROM heap
	), base AS (
		SELECT attnum, attname, atttypid AS type, atttypmod AS typmod FROM pg_attribute
		WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
		UNION ALL
		SELECT attnum, attname, typbasetype, typtypmod FROM base JOIN pg_type t ON t.oid = type WHERE typtype = 'd'
	), signature AS (
		SELECT attnum, attname, typname, t.oid AS type, typmod FROM base JOIN pg_type t ON t.oid = type
		WHERE EXISTS (SELECT FROM pg_depend JOIN pg_extension e ON e.oid = refobjid WHERE refclassid = 'pg_extension'::regclass AND extname = 'neardup'
				AND classid = 'pg_type'::regclass AND objid = t.oid AND deptype = 'e' AND typname IN ('minhash', 'simhash', 'shingles'))
			-- Hashes made elsewhere are signatures if an index says so.
			OR typname IN ('int8', 'bit') AND typnamespace = 'pg_catalog'::regnamespace AND EXISTS (
				SELECT FROM unnest(found.tree) AS tree (rel) JOIN pg_index i ON indrelid = rel JOIN pg_attribute k ON k.attrelid = indrelid AND k.attname = base.attname,
					unnest(indclass::oid[], indkey::int2[]) x (class, key) JOIN pg_opclass o ON o.oid = class
				WHERE key = k.attnum AND opcname IN ('bigint_hamming_ops', 'bit_hamming_ops'))
	), sample AS (
		-- A set may be as long as its text, so fewer of them are read.
		SELECT signature.*, most, 1.2 * most >= rows OR most = 0 AS complete,
			CASE WHEN most = 0 OR 1.2 * most >= rows THEN '' WHEN sampled THEN format(' TABLESAMPLE SYSTEM (%s) REPEATABLE (1)', 100 * most / rows)
				ELSE format(' LIMIT %s', most) END AS clause
		FROM signature, guess, LATERAL (SELECT ceil(coalesce(sample, 100000) / CASE typname WHEN 'shingles' THEN 50.0 ELSE 1 END)) m (most)
		WHERE has_column_privilege(relation, attnum, 'SELECT')
	)
	SELECT (SELECT round(rows) FROM guess),
		coalesce((SELECT string_agg(format('(SELECT %s::int2 AS attnum, %L AS type, %s AS shown, %s AS shingles, %L::boolean AS complete FROM %s%s)', attnum, typname,
				CASE typname WHEN 'shingles' THEN format('split_part(%I::text, ''{'', 1)', attname)
					WHEN 'int8' THEN format('CASE WHEN %I IS NOT NULL THEN ''1/foreign/64/?'' END', attname)
					WHEN 'bit' THEN format('CASE WHEN %I IS NOT NULL THEN ''1/foreign/%s/?'' END', attname, typmod)
					ELSE format('%I::text', attname) END,
				CASE WHEN typname IN ('minhash', 'shingles') THEN format('%s.cardinality(%I)', '@extschema@', attname) ELSE 'NULL::bigint' END,
				complete, relation, clause), ' UNION ALL ')
			FROM sample), 'SELECT 0::int2 AS attnum, '''' AS type, '''' AS shown, 0 AS shingles, true AS complete WHERE false'),
		coalesce((SELECT jsonb_agg(jsonb_build_object('attnum', attnum, 'attname', attname, 'typname', typname)) FROM signature), '[]') INTO guess, signatures, columns;
	EXECUTE format($counts$SELECT coalesce(jsonb_agg(g), '[]') FROM (
		SELECT attnum, complete, split_part(shown, '/', 1) || '/' || split_part(shown, '/', 2) || '/' || split_part(shown, '/', 3) AS head, count(*) AS rows,
			count(*) FILTER (WHERE shingles = 0 OR shown LIKE '%%/' AND type = 'simhash') AS empty, count(*) FILTER (WHERE shingles BETWEEN 1 AND 11) AS few
		FROM (%s) AS s GROUP BY 1, 2, 3) AS g$counts$, signatures) INTO signed;
	RETURN QUERY
	WITH RECURSIVE signed AS MATERIALIZED (
			SELECT * FROM jsonb_to_recordset(signed) AS s (attnum int2, complete boolean, head text, rows bigint, empty bigint, few bigint)
		), "column" AS (
			SELECT c.*, format_type(atttypid, atttypmod) AS type, attgenerated, pg_get_expr(adbin, adrelid) AS value
			FROM jsonb_to_recordset(columns) AS c (attnum int2, attname name, typname name) JOIN pg_attribute AS a USING (attnum, attname) LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
			WHERE attrelid = relation
		), shape AS (
			SELECT attnum, sum(rows) AS rows, CASE WHEN typname = 'shingles' THEN 'shingles' WHEN typname IN ('bit', 'int8') THEN 'hashes' ELSE format('%s(%s)', typname, replace(split_part(head, '/', 3), 'x', ', ')) END
				|| CASE split_part(head, '/', 2) WHEN 'foreign' THEN format(' of %s bits, made elsewhere', split_part(head, '/', 3))
					ELSE format(' of scheme "%s" (recipe %s)', split_part(head, '/', 2), split_part(head, '/', 1)) END AS shape
			FROM signed JOIN "column" USING (attnum) WHERE head IS NOT NULL GROUP BY 1, 3
		), counts AS (
			SELECT attnum, coalesce(sum(rows), 0) AS rows, bool_and(complete) AS complete, coalesce(sum(rows) FILTER (WHERE head IS NULL), 0) AS nulls, coalesce(sum(signed.empty), 0) AS empty, coalesce(sum(signed.few), 0) AS few
			FROM "column" LEFT JOIN signed USING (attnum) GROUP BY 1
	), signer AS (
		-- A BEFORE trigger for rows whose function sets the column.
		SELECT attnum, string_agg(format('trigger %I, function %s%s', tgname, tgfoid::regprocedure, CASE tgenabled WHEN 'D' THEN ', disabled' END), '; ' ORDER BY tgname) AS name
		FROM "column" JOIN pg_trigger ON tgrelid = relation AND tgtype & 7 = 7 JOIN pg_proc p ON p.oid = tgfoid
		WHERE strpos(prosrc, format('NEW.%I', attname)) > 0 OR strpos(prosrc, format('NEW."%s"', attname)) > 0 GROUP BY 1
	), top AS (
		SELECT indexrelid AS leaf, indexrelid AS top
		FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE indrelid = ANY (found.tree) AND amname = 'neardup' AND relkind = 'i'
		UNION ALL
		SELECT leaf, inhparent FROM top JOIN pg_inherits ON inhrelid = top
	), leaf AS (
		SELECT leaf, top, indrelid, indisvalid, s.*, CASE WHEN top = leaf AND indrelid <> relation THEN definition ELSE top::text END AS key,
			definition, k.conname, n.names
		FROM top JOIN pg_index i ON indexrelid = leaf LEFT JOIN pg_constraint k ON conindid = leaf
			LEFT JOIN LATERAL @extschema@.neardup_index_status(leaf::regclass) s ON true,
			LATERAL (SELECT regexp_replace(coalesce(pg_get_constraintdef(k.oid, true), pg_get_indexdef(leaf, 0, true)), '^.*? USING neardup ', '')) d (definition),
			-- The columns that are signatures themselves, not arguments of near().
			LATERAL (SELECT array_agg(attname) FROM unnest(indkey::int2[]) key JOIN pg_attribute ON attrelid = indrelid AND attnum = key) n (names)
		WHERE NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = top)
	), made AS (
		-- The call that makes a signature of the shape of an index from a text; q for one of a scheme that takes more than a text.
		SELECT leaf, CASE WHEN m[4] ~ '^((word|char|anychar|stopword) \d+|spot \d+ \d+( [a-z]+)?)$'
				THEN format('%s.to_%s(''a text''%s%s%s)', '@extschema@', m[1], CASE WHEN (m[1], m[2]) NOT IN (('minhash', '512'), ('simhash', '64')) THEN format(', %s => %s', CASE m[1] WHEN 'minhash' THEN 'k' ELSE 'f' END, m[2]) END,
					', b => ' || nullif(m[3], '1'), CASE WHEN (m[1], m[4]) NOT IN (('minhash', 'word 3'), ('simhash', 'word 1')) THEN format(', scheme => %L', m[4]) END)
				ELSE 'q' END AS q
		FROM leaf, LATERAL regexp_match(shape, '^(minhash|simhash)\((\d+)(?:, (\d+))?\) of scheme "([^"]*)"') m
	), search AS (
		-- A condition that each index supports, with the schema of the extension: any search_path may be
		-- that of the reader.  A bigint beside a signature is a key.
		SELECT DISTINCT ON (leaf) leaf, CASE WHEN opcname IN ('bigint_hamming_ops', 'bit_hamming_ops') THEN format('%s.is_within(%s, %s, 3)', '@extschema@', expression, q)
				WHEN opcname IN ('minhash_ops', 'simhash_ops') THEN format('%s.is_similar(%s, %s, 0.8)', '@extschema@', expression, q)
				ELSE format('%s OPERATOR(%s.&&) %2$s.%s(%s, %s)', expression, '@extschema@', ball[1], q, ball[2]) END
				|| coalesce(' AND (' || pg_get_expr(indpred, indrelid, true) || ')', '') AS condition
		FROM made JOIN pg_index ON indexrelid = leaf, unnest(indclass::oid[]) WITH ORDINALITY x (class, n) JOIN pg_opclass o ON o.oid = class,
			LATERAL replace(pg_get_indexdef(leaf, n::int, true), '::double precision', '') e (expression),
			LATERAL regexp_match(replace(expression, '@extschema@' || '.', ''), '^(near|hamming_ball)\(.*, ([^,]*)\)$') b (ball)
		WHERE opcname IN ('bigint_hamming_ops', 'bit_hamming_ops', 'minhash_ops', 'simhash_ops')
			OR opcname = 'ball_ops' AND ball IS NOT NULL
		ORDER BY leaf, opcname = 'bigint_hamming_ops'
	), index AS (
		SELECT key, min(CASE WHEN conname IS NOT NULL THEN format('Constraint %I, ', conname) ELSE '' END)
				|| CASE WHEN count(*) = 1 AND min(top) = min(leaf) THEN format('index %s', min(leaf)::regclass)
					WHEN min(top) <> min(leaf) THEN format('index %s of %s partitions', min(top)::regclass, count(*))
					ELSE format('index %s and those of other partitions, %s in all', min(leaf)::regclass, count(*)) END AS title,
			min(definition) AS definition, string_agg(DISTINCT shape, '; ') AS shape, sum(bytes) AS bytes, sum(segments) AS segments, sum(documents) AS documents,
			sum(dead) AS dead, sum(tail) AS tail, min(last_maintenance) AS last_maintenance, count(bytes) = count(*) AS known, bool_and(indisvalid) AS valid,
			min(condition) AS condition
		FROM leaf LEFT JOIN search USING (leaf) GROUP BY key
	), guard AS (
		-- Of the triggers of a guard, the one for rows that fires on updates but not on deletions.
		SELECT t.oid, tgname, tgenabled, tgrelid, rule, replace(substring(rule FROM '''signature=((?:[^'']|'''')*)'''), '''''', '''') AS signature
		FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid JOIN pg_depend d ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e',
			LATERAL regexp_replace(pg_get_triggerdef(t.oid, true), '^.*? EXECUTE (FUNCTION|PROCEDURE) ', '') rule
		WHERE tgrelid = ANY (found.tree) AND tgparentid = 0 AND proname = 'neardup_guard_row' AND tgtype & 9 = 1 AND tgtype & 18 <> 2
	), advice AS (
		SELECT 1 AS rank, format('There is no column of signatures. neardup_sign_table() adds one in small steps; a generated column is simpler, but rewrites the table (%s) while nobody can use it.',
			(SELECT pg_size_pretty(sum(pg_table_size(rel))) FROM unnest(found.tree) rel)) AS advice
		WHERE NOT EXISTS (SELECT FROM "column") AND NOT EXISTS (SELECT FROM leaf)
		UNION ALL
		SELECT 2, format('Column %I has no index%s, so each search reads %s. CREATE INDEX%s ON %s USING neardup (%1$I) makes one.', attname,
			CASE WHEN n < of THEN format(' in %s of %s partitions', n, of) END, CASE WHEN n < of THEN 'those' ELSE 'the whole table' END,
			CASE WHEN cardinality(found.tree) = 1 THEN ' CONCURRENTLY' END, relation)
		FROM "column", LATERAL (SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT FROM leaf WHERE indrelid = oid AND attname = ANY (names)))
			FROM pg_class WHERE oid = ANY (found.tree) AND relkind IN ('r', 'm')) c (of, n)
		WHERE n > 0 AND typname <> 'shingles'
		UNION ALL
		SELECT 2, format('Index %s is a %s, which finds equal signatures only. A search for similar ones needs an index USING neardup.', indexrelid::regclass, amname)
		FROM pg_index i JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
		WHERE indrelid = ANY (found.tree) AND amname IN ('btree', 'hash') AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)
			AND EXISTS (SELECT FROM unnest(indclass::oid[], indkey::int2[]) x (class, number) JOIN pg_opclass o ON o.oid = class
				WHERE opcintype IN ('@extschema@.minhash'::regtype, '@extschema@.simhash'::regtype)
					AND NOT EXISTS (SELECT FROM leaf JOIN pg_attribute ON attrelid = leaf.indrelid AND attname = ANY (names)
						WHERE leaf.indrelid = i.indrelid AND attnum = number))
		UNION ALL
		SELECT 3, format('Index %s: %s', min(leaf)::regclass, advice) || CASE WHEN count(*) > 1 THEN format(' (So do %s others.)', count(*) - 1) ELSE '' END
		FROM leaf WHERE advice IS NOT NULL GROUP BY advice
		UNION ALL
		SELECT 4, format('%s of the documents of %s are dead. VACUUM removes them.', round(100 * dead / documents) || ' %', title)
		FROM index WHERE dead > 0.2 * documents AND dead > 1000
		UNION ALL
		SELECT 5, format('PostgreSQL has no statistics of column %s, so it cannot know how many rows are similar. ANALYZE %s gathers them%s.', string_agg(quote_ident(attname), ', ' ORDER BY attname), max(c.oid)::regclass,
			CASE WHEN cardinality(found.tree) > 1 THEN '; autovacuum does not do this for a partitioned table' END)
		FROM "column" JOIN counts USING (attnum) JOIN pg_class c ON c.oid = relation
		WHERE rows > 0 AND typname <> 'shingles' AND NOT row_security_active(c.oid) AND has_column_privilege(c.oid, attnum, 'SELECT')
			AND NOT EXISTS (SELECT FROM pg_stats s WHERE schemaname = relnamespace::regnamespace::name AND tablename = relname AND s.attname = "column".attname)
		HAVING count(*) > 0
		UNION ALL
		SELECT 6, format('%s of %s rows have no signature in %I, so no search finds them%s', nulls, rows, attname,
			CASE WHEN signer.name IS NULL THEN ', and no trigger signs new ones' ELSE '' END || '. neardup_sign_table() signs those that have a text.')
		FROM "column" JOIN counts USING (attnum) LEFT JOIN signer USING (attnum)
		WHERE nulls > CASE WHEN signer.name IS NULL THEN 0 ELSE 0.01 * rows END AND attgenerated = '' AND typname IN ('minhash', 'simhash')
		UNION ALL
		SELECT 7, format('Column %I has signatures of %s shapes. Only those of one shape can be compared: sign the others again.', attname, count(*))
		FROM shape JOIN "column" USING (attnum) GROUP BY attname HAVING count(*) > 1
		UNION ALL
		SELECT 8, format('%s of the signatures in %I are of the empty set, which is similar to nothing. Where texts of emoji or punctuation matter, use the scheme anychar 3.',
			round(100.0 * empty / (rows - nulls), 1)::float8 || ' %', attname)
		FROM "column" JOIN counts USING (attnum) WHERE empty > 0.01 * (rows - nulls)
		UNION ALL
		SELECT 9, format('%s of the signatures in %I are of fewer than 12 shingles: of such short texts one changed word leaves a similarity below 0.6. Use a low threshold or a scheme such as char 4.',
			round(100.0 * few / (rows - nulls), 1)::float8 || ' %', attname)
		FROM "column" JOIN counts USING (attnum) WHERE few > 0.1 * (rows - nulls)
		UNION ALL
		SELECT 10, format('Guard %I is disabled.', tgname) FROM guard WHERE tgenabled = 'D'
		UNION ALL
		SELECT 11, format('Guard %I has no index on %s to ask. While it is enabled, nobody can write rows; the error says which index to create.', tgname, signature)
		FROM guard WHERE signature !~ '\(' AND NOT EXISTS (SELECT FROM leaf, unnest(names) name WHERE signature IN (name, quote_ident(name)) AND indisvalid)
	), lines AS (
		SELECT 0 AS section, '' AS item, 0 AS place, '' AS label, format('%s: %s%s rows, %s%s', relation,
			CASE WHEN total IS NULL THEN 'about ' END, to_char(coalesce(total, guess), 'FM999,999,999,999,990'),
			pg_size_pretty((SELECT sum(pg_table_size(rel)) FROM unnest(found.tree) rel)),
			CASE WHEN cardinality(found.tree) > 1 THEN format(' in %s partitions', (SELECT count(*) FROM pg_class WHERE oid = ANY (found.tree) AND relkind <> 'p')) END) AS text
		FROM (SELECT max(rows) AS total FROM counts WHERE complete) c
		UNION ALL
		SELECT 1, attname, 0, '', format('Column %I: %s', attname, replace(type, '@extschema@' || '.', '')) FROM "column"
		UNION ALL
		SELECT 1, attname, 1, 'filled by', CASE WHEN attgenerated <> '' THEN 'generated: ' || replace(value, '@extschema@' || '.', '') ELSE coalesce(name, 'default: ' || value, 'whoever writes the row') END
		FROM "column" LEFT JOIN signer USING (attnum)
		UNION ALL
		SELECT 1, attname, 2, 'shape', string_agg(shape || CASE WHEN n > 1 THEN format(' (%s rows)', to_char(rows, 'FM999,999,999,990')) ELSE '' END, '; ' ORDER BY rows DESC, shape)
		FROM (SELECT *, count(*) OVER (PARTITION BY attnum) AS n FROM shape) s JOIN "column" USING (attnum) GROUP BY attname
		UNION ALL
		SELECT 1, attname, 3, 'rows read', to_char(rows, 'FM999,999,999,990') || CASE WHEN complete THEN ', all' ELSE ', a sample' END
		FROM "column" JOIN counts USING (attnum) WHERE rows > 0
		UNION ALL
		SELECT 1, attname, 3, 'contents', 'not shown: this role may not read them' FROM "column" WHERE NOT has_column_privilege(relation, attnum, 'SELECT')
		UNION ALL
		SELECT 1, attname, place, label, CASE WHEN n = 0 THEN '0' WHEN n < 0.001 * rows THEN 'below 0.1 %' ELSE round(100.0 * n / rows, 1)::float8 || ' %' END || note
		FROM "column" JOIN counts USING (attnum), LATERAL (VALUES (4, 'NULL', nulls, true, ''), (5, 'empty set', empty, typname IN ('minhash', 'simhash', 'shingles'), ''),
				(6, 'few shingles', few, typname IN ('minhash', 'shingles'), ' (1 to 11)')) v (place, label, n, applies, note)
		WHERE rows > 0 AND applies
		UNION ALL
		SELECT 2, key, place, label, text
		FROM index, LATERAL (VALUES (0, '', upper(left(title, 1)) || substr(title, 2) || CASE WHEN valid THEN '' ELSE ', not valid' END),
			(1, 'columns', replace(replace(definition, format('OPERATOR(%s.&&)', '@extschema@'), '&&'), '@extschema@' || '.', '')),
			(2, 'shape', coalesce(shape, CASE WHEN known THEN 'none: it has no signature yet' END)),
			(3, 'searched by', condition),
			(4, 'documents', format('%s, %s dead, %s in the tail', to_char(documents - dead, 'FM999,999,999,990'), to_char(dead, 'FM999,999,999,990'), to_char(tail, 'FM999,999,999,990'))),
			(5, 'size', format('%s, %s segment%s', pg_size_pretty(bytes), segments, CASE segments WHEN 1 THEN '' ELSE 's' END)),
			(6, 'last maintenance', coalesce(to_char(last_maintenance, 'YYYY-MM-DD HH24:MI'), 'none'))) v (place, label, text)
		WHERE place < 2 OR known
		UNION ALL
		SELECT 2, key, 7, 'contents', 'not shown: this role may not see them, or another session has locked it' FROM index WHERE NOT known
		UNION ALL
		SELECT 3, tgname || oid, place, label, text
		FROM guard, LATERAL (VALUES (0, '', format('Guard %I', tgname) || CASE WHEN tgrelid <> relation THEN format(' of %s', tgrelid::regclass) ELSE '' END || CASE tgenabled WHEN 'D' THEN ', disabled' ELSE '' END),
			(1, 'rule', replace(rule, '@extschema@' || '.', ''))) v (place, label, text)
		UNION ALL
		SELECT 4, '', 0, '', CASE WHEN EXISTS (SELECT FROM advice) THEN 'Advice' ELSE 'Advice: none' END
		UNION ALL
		SELECT 4, '', row_number() OVER (ORDER BY rank, advice)::int, '*', advice FROM advice
	)
	SELECT title, label, text FROM (
		SELECT section, l.item, place, first_value(shown) OVER one AS title, nullif(label, '*') AS label, CASE WHEN place > 0 THEN shown END AS text, count(*) OVER (PARTITION BY section, l.item) AS parts
		FROM lines AS l, LATERAL (SELECT btrim(regexp_replace(text COLLATE "C", replace(found.unseen, '[', '([[:space:]]|[') || ')+', ' ', 'g')) AS shown) AS p WINDOW one AS (PARTITION BY section, l.item ORDER BY place)) AS s
	WHERE place > 0 OR parts = 1 ORDER BY section, s.item, place;
END $$;
COMMENT ON FUNCTION neardup_status(pg_catalog.regclass, bigint, boolean) IS
	'the signatures of a table, its neardup indexes, its guards and constraints, and advice';
