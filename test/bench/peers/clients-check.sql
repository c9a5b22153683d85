-- A constraint holds whatever clients do at the same time.
SELECT must('clients insert nothing that the constraint rejects', NOT EXISTS (
	SELECT FROM neardup_pairs('SELECT id, sig FROM guarded_texts', 0.8, equal => 'all')));
SELECT must('clients insert', (SELECT count(*) > 0 FROM guarded_texts WHERE id >= 100000000));
