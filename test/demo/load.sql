\set ON_ERROR_STOP on
\set QUIET on
CREATE EXTENSION IF NOT EXISTS neardup;
CREATE TABLE documents (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	source text NOT NULL,
	name text NOT NULL,
	body text NOT NULL
);
\copy documents (source, name, body) FROM pstdin
