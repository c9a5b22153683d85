-- neardup-report.sql: lists the clusters of near-duplicates of a table.
--
--   psql -v table=proposals [-v threshold=0.8] [-v show=title] -f neardup-report.sql
\set ON_ERROR_STOP on
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?show} \else \set show '' \endif

SELECT * FROM neardup_report(:'table', :'threshold', show => nullif(:'show', ''));
