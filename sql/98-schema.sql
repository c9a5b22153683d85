-- Warns if others may create objects in the schema.

CREATE PROCEDURE neardup_schema()
	AS 'MODULE_PATHNAME', 'neardup_schema'
	LANGUAGE C;
CALL @extschema@.neardup_schema();
DROP PROCEDURE @extschema@.neardup_schema();
