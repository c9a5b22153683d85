-- Finally, a guard refuses further near-duplicates.
\set QUIET on
\set VERBOSITY default
\set SHOW_CONTEXT never
\set ON_ERROR_STOP off

\echo
\echo 'From now on a guard refuses near-duplicates, and its message names the similar row'
\echo
\echo '      SELECT neardup_guard(''documents'', ''sig'', 0.9, name => ''no_copies'');'
SELECT neardup_guard('documents', 'sig', 0.9, name => 'no_copies') \g /dev/null

-- The longest description without its first words, in capitals.
SELECT upper(regexp_replace(body, '^(\S+\s+){3}', '')) AS body
FROM documents WHERE source = 'description' ORDER BY length(body) DESC, id LIMIT 1
\gset
\echo
SELECT format('      INSERT INTO documents (source, name, body) VALUES (''mail'', ''resubmitted'', ''%s'');', cut(:'body', 60));
INSERT INTO documents (source, name, body) VALUES ('mail', 'resubmitted', :'body');
