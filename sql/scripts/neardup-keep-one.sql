-- neardup-keep-one.sql: keeps one row of each cluster, and deletes or marks the others.
--
--   psql -v table=proposals -v threshold=0.8 [-v mark=duplicate_of] [-v record=merged]
--        [-v apply=yes] -f neardup-keep-one.sql
--
-- Without apply=yes it is a dry run.
\set ON_ERROR_STOP on
\if :{?mark} \else \set mark '' \endif
\if :{?record} \else \set record '' \endif
\if :{?apply} \else \set apply no \endif

CALL neardup_keep_one(:'table', :'threshold', mark => nullif(:'mark', ''), record => nullif(:'record', ''), apply => :'apply');
