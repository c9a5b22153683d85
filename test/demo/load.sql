\set ON_ERROR_STOP on
\set QUIET on
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;
CREATE TABLE documents (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	source text NOT NULL,
	name text NOT NULL,
	body text NOT NULL
);
-- What people say of pairs of texts: are they the same?
CREATE TABLE verdicts (a bigint, b bigint, same boolean);
\copy documents (source, name, body) FROM pstdin
