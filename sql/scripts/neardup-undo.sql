-- neardup-undo.sql: takes back what neardup-keep-one.sql did with mark and record.
--
--   psql -v table=proposals -v mark=duplicate_of -v record=merged [-v apply=yes]
--        -f neardup-undo.sql
\set ON_ERROR_STOP on
\if :{?apply} \else \set apply no \endif

CALL neardup_undo(:'table', :'mark', :'record', apply => :'apply');
