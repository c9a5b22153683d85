-- neardup-watch.sql: lists the near-duplicates that have appeared since the last run.
--
--   psql -v table=proposals [-v threshold=0.8] -f neardup-watch.sql
\set ON_ERROR_STOP on
\if :{?threshold} \else \set threshold 0.8 \endif

SELECT * FROM neardup_watch(:'table', :'threshold');
