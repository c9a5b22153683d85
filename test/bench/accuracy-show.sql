-- Prints the results of a collection.

\pset format unaligned
\pset tuples_only on
SELECT '';
SELECT format('**%s** (%s).', :'collection', string_agg(variant || ': ' || describe_documents(variant), '; ' ORDER BY place)) FROM advised;
SELECT '';
SELECT format('| method | %s | bytes | µs to make | µs to compare |',
	string_agg(format('%s: best F1 | at | F1 at 0.8 | F1 at %s', variant, threshold), ' | ' ORDER BY place)) FROM advised;
SELECT '|---|' || repeat('---:|', 4 * count(*)::int + 3) FROM advised;
SELECT format('| %s | %s | %s | %s | %s |', method,
	string_agg(concat_ws(' | ', '**' || shown(f1, 3) || '**', shown(r.threshold, 2), shown(f1_of_copies, 3),
		CASE WHEN number < 30 THEN shown(f1_advised, 3) ELSE '–' END), ' | ' ORDER BY place),
	(array_agg(shown(bytes, 0) ORDER BY place))[1], (array_agg(shown(made * 1e6, 0) ORDER BY place))[1],
	(array_agg(shown(compared * 1e6, 1) ORDER BY place))[1])
  FROM results r JOIN advised USING (variant) WHERE collection = :'collection' GROUP BY number, method ORDER BY number;

\if :has_advice
SELECT '';
SELECT format('`neardup_advise` says: %s.', string_agg(format('%s: `%s`%s at %s', variant, scheme,
	CASE WHEN form_found THEN ' minus common shingles' ELSE '' END, coalesce(shown(threshold_found, 2), 'no threshold')), '; ' ORDER BY place))
  FROM aids JOIN advised USING (variant);
\endif
