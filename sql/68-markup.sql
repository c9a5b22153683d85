-- The text of HTML and XML documents, and texts without what changes by itself.

CREATE FUNCTION strip_markup(pg_catalog.text) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_strip_markup'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION strip_markup(pg_catalog.text) IS
	'the text of an HTML or XML document: without tags, comments, scripts and styles, with entities decoded';

CREATE FUNCTION mask_changing(body pg_catalog.text, what pg_catalog.text) RETURNS pg_catalog.text
	AS 'MODULE_PATHNAME', 'neardup_mask_changing'
	LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION mask_changing(pg_catalog.text, pg_catalog.text) IS
	'a text with a blank in place of what changes by itself: url, email, uuid, ip, date, hex, number, digits (words with digits), as a list with commas';
