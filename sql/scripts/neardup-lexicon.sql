-- neardup-lexicon.sql: makes a function that signs texts, weighted by a lexicon of a table's texts.
--
--   psql -v table=proposals -v function=proposals_sign [-v text=body] [-v 'scheme=word 1']
--        -f neardup-lexicon.sql
\set ON_ERROR_STOP on
\if :{?text} \else \set text body \endif
\if :{?scheme} \else \set scheme 'word 1' \endif

CALL neardup_lexicon_function(:'table', :'function', :'text', :'scheme');
