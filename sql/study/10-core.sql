-- The types are those of the core, whose schema is in the search path of this script.

DO $$
DECLARE
	found pg_catalog.text;
BEGIN
	SELECT name INTO found
	FROM pg_catalog.unnest('{shingles,minhash,simhash,shingle_lexicon,ball}'::pg_catalog.text[]) AS name
	WHERE NOT EXISTS (
		SELECT FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS e
			ON d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass AND d.refobjid OPERATOR(pg_catalog.=) e.oid
		WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
			AND d.objid OPERATOR(pg_catalog.=) pg_catalog.to_regtype(name)::pg_catalog.oid
			AND d.deptype OPERATOR(pg_catalog.=) 'e' AND e.extname OPERATOR(pg_catalog.=) 'neardup');
	IF found IS NOT NULL THEN
		RAISE EXCEPTION 'schema "%" has another type "%"', '@extschema@', found
			USING ERRCODE = 'duplicate_object',
			HINT = 'Create neardup_study in another schema, such as the schema of neardup.';
	END IF;
END
$$;
