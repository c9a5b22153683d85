-- Parameters without a type, as drivers send them: which calls PostgreSQL resolves.

-- Every call of a function with several forms, with as many parameters as each form takes.
CREATE TEMP TABLE calls (call text, types text);
DO $$
DECLARE
	form record;
	call text;
BEGIN
	FOR form IN
		SELECT proname, n FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid, generate_series(pronargs - pronargdefaults::int, pronargs::int) n
		WHERE extname LIKE 'neardup%' AND NOT proargtypes::oid[] && '{internal,cstring,anyelement,anynonarray}'::regtype[]::oid[]
		GROUP BY proname, n HAVING count(*) > 1
	LOOP
		call := format('%s(%s)', form.proname, (SELECT string_agg('$' || i, ', ') FROM generate_series(1, form.n) i));
		BEGIN
			EXECUTE 'PREPARE call AS SELECT ' || call;
			INSERT INTO calls SELECT call, parameter_types::text FROM pg_prepared_statements WHERE name = 'call';
			DEALLOCATE call;
		EXCEPTION WHEN ambiguous_function THEN
			INSERT INTO calls VALUES (call, '-');
		END;
	END LOOP;
END $$;
SELECT * FROM calls ORDER BY call COLLATE "C";

-- Among user-defined types, which are category U, minhash is preferred.  Some clients know no other categories than PostgreSQL's.
SELECT typname, typcategory, typispreferred FROM pg_type t JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
WHERE typcategory NOT IN ('A', 'C') ORDER BY typname COLLATE "C";

-- Execution.
SELECT set_config('test.a', to_minhash('the quick brown fox jumps over the lazy dog')::text, false) AS a,
	set_config('test.b', to_minhash('the quick brown fox jumps over the lazy cat')::text, false) AS b,
	set_config('test.fp', to_simhash('the quick brown fox')::text, false) AS fp \gset
PREPARE similarity AS SELECT similarity($1, $2) = similarity(current_setting('test.a')::minhash, current_setting('test.b')::minhash) AS similarity;
EXECUTE similarity(:'a', :'b');
PREPARE is_similar AS SELECT is_similar($1, $2, 0.5), is_similar($1, $2, $3);
EXECUTE is_similar(:'a', :'b', 0.95);
PREPARE near (unknown, unknown) AS SELECT current_setting('test.b')::minhash <@ near($1, $2);
EXECUTE near(:'a', '0.5');
-- A simhash needs one cast.
EXECUTE similarity(:'fp', :'fp');
PREPARE fingerprints AS SELECT similarity($1::simhash, $2), is_similar($1, $2::simhash, 0.9);
EXECUTE fingerprints(:'fp', :'fp');

-- Beside a column no cast is needed, nor an argument of a function with one form.
CREATE TEMP TABLE documents (id int, sig minhash, fp simhash, phash bigint, pdq bit(256));
PREPARE columns AS SELECT FROM documents WHERE is_similar(sig, $1, $2) OR is_similar(fp, $3, $4) OR is_within(phash, $5, $6) OR is_within(pdq, $7, $8)
	OR similarity(sig, $9) > $10 OR is_within(phash, hex_to_bigint($11), 3) OR phash <~> unsigned_to_bigint($12)::simhash < 3 OR sig <@ near($13, $14)
	OR sig <-> to_minhash($15) < 0.5;
SELECT unnest(parameter_types) AS type FROM pg_prepared_statements WHERE name = 'columns';
-- What to write for the others.
PREPARE others AS SELECT is_within($1::bigint, $2, $3), hamming_ball($4::bit, $5), ($6::bigint)::simhash, similarity($7::simhash, $8),
	to_simhash($9, f => $10), neardup_explain($11, $12::ball), (neardup_pairs($13, $14, multiset => $15)).a, containment($16::shingles, $17),
	cardinality($18::minhash), $19::minhash <-> $20, to_shingles($21::text[]), to_simhash($22, f => $23, scheme => $24);
SELECT unnest(parameter_types) AS type FROM pg_prepared_statements WHERE name = 'others';
-- A type of the first does not make the others ambiguous.
PREPARE first AS SELECT to_minhash($1::text, $2, $3), to_minhash($4::text, $5, $6, $7), to_simhash($8::text, $9, $10), to_minhash($11::shingles, $12, $13), to_minhash($14, $15);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'first';
\set VERBOSITY terse
PREPARE distance AS SELECT $1 <~> $2;
\set VERBOSITY default
-- A function of two texts, such as pg_trgm's, goes before.
CREATE FUNCTION similarity(text, text) RETURNS real LANGUAGE sql AS 'SELECT 1::real';
PREPARE texts AS SELECT similarity($1, $2);
PREPARE one_cast AS SELECT similarity($1::minhash, $2);
SELECT name, parameter_types FROM pg_prepared_statements WHERE name IN ('texts', 'one_cast') ORDER BY name;
DROP FUNCTION similarity(text, text);
DEALLOCATE ALL;
