-- The nearest ten of all kinds.
SELECT must('the index finds the nearest ten of all kinds', (SELECT bool_and(recall = 1) FROM nearest_curve WHERE peer = 'neardup')),
	must('there are nearest ten of each data', (SELECT count(*) >= 5 FROM nearest_curve WHERE peer = 'neardup'));
