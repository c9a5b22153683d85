-- neardup-status.sql: shows the signatures of a table, its indexes and its guards, with advice.
--
--   psql -v table=proposals -f neardup-status.sql
\set ON_ERROR_STOP on
\pset tuples_only on
\pset format unaligned
\pset fieldsep '\t'

SELECT * FROM neardup_status(:'table');
