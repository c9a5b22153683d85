-- Prints the results of a collection, which has two variants, "first" and "second".

\pset format unaligned
\pset tuples_only on
SELECT '';
SELECT format('**%s**, %s: %s; %s: %s.', :'collection', :'first', describe_documents(:'first'), :'second', describe_documents(:'second'));
SELECT '';
SELECT format('| method | %1$s: best F1 | at | F1 at 0.8 | F1 at %3$s | %2$s: best F1 | at | F1 at 0.8 | F1 at %4$s | bytes | µs to make | µs to compare |',
	:'first', :'second', a.threshold, b.threshold) FROM advised a, advised b WHERE (a.variant, b.variant) = (:'first', :'second');
SELECT '|---|' || repeat('---:|', 11);
SELECT format('| %s | **%s** | %s | %s | %s | **%s** | %s | %s | %s | %s | %s | %s |', a.method,
	shown(a.f1, 3), shown(a.threshold, 2), shown(a.f1_of_copies, 3), CASE WHEN number < 20 THEN shown(a.f1_advised, 3) ELSE '–' END,
	shown(b.f1, 3), shown(b.threshold, 2), shown(b.f1_of_copies, 3), CASE WHEN number < 20 THEN shown(b.f1_advised, 3) ELSE '–' END,
	shown(a.bytes, 0), shown(a.made * 1e6, 0), shown(a.compared * 1e6, 1))
  FROM results a JOIN results b USING (collection, number)
 WHERE (collection, a.variant, b.variant) = (:'collection', :'first', :'second') ORDER BY number;
