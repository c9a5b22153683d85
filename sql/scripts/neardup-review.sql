-- neardup-review.sql: writes a page with pairs of near-duplicates, side by side.
--
--   psql -v table=proposals [-v text=body] [-v threshold=0.8] [-v kind=clusters] [-v show=title]
--        -o review.html -f neardup-review.sql
\set ON_ERROR_STOP on
\set QUIET on
\if :{?text} \else \set text body \endif
\if :{?threshold} \else \set threshold 0.8 \endif
\if :{?kind} \else \set kind pairs \endif
\if :{?show} \else \set show '' \endif
\pset tuples_only on
\pset format unaligned

SELECT neardup_review_page(:'table', :'kind', :'threshold', :'text', show => nullif(:'show', ''));
