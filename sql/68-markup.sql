-- The text of HTML and XML documents.

CREATE FUNCTION strip_markup(pg_catalog.text) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_strip_markup'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION strip_markup(pg_catalog.text) IS
	'the text of an HTML or XML document: without tags, comments, scripts and styles, with entities decoded';
