-- Prints the best F1 of each method in all languages, alone and framed.

\pset format unaligned
\pset tuples_only on
SELECT '';
SELECT 'Best F1, alone / framed:';
SELECT '';
SELECT '| method | ' || string_agg(collection, ' | ' ORDER BY place) || ' |' FROM unnest(string_to_array(:'languages', ' ')) WITH ORDINALITY AS l (collection, place);
SELECT '|---|' || repeat('---|', cardinality(string_to_array(:'languages', ' ')));
SELECT format('| %s | %s |', a.method, string_agg(shown(a.f1, 2) || ' / ' || shown(b.f1, 2), ' | ' ORDER BY place))
  FROM unnest(string_to_array(:'languages', ' ')) WITH ORDINALITY AS l (collection, place)
  JOIN results a USING (collection) JOIN results b USING (collection, number)
 WHERE (a.variant, b.variant) = ('alone', 'framed') GROUP BY number, a.method ORDER BY number;
