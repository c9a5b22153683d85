-- shared_passages(): where two texts have the same passages.

CREATE TEMP TABLE pair (name text, a text, b text);
INSERT INTO pair VALUES
	('edited',
	 'We propose to study how coral reefs recover from bleaching, with divers, drones and three years of measurements.',
	 'In brief: we PROPOSE to study how coral reefs recover after bleaching; with divers, drones, and three years of measurements!'),
	('moved',
	 'The quick brown fox jumps over the lazy dog. A dictionary of the words that sailors borrowed from each other.',
	 'A dictionary of the words that sailors borrowed from each other: the quick brown fox jumps over the lazy dog'),
	('repeated in b', 'one two three four five six seven eight',
	 'one two three four five six seven eight, one two three four five six seven eight'),
	('folded', 'Ｆｕｌｌ　Ｗｉｄｔｈ ﬁne Straße 東京タワー ½ cup İ', 'full width FINE STRASSE 東京ﾀﾜｰ 1⁄2 cup i̇');

CREATE FUNCTION pg_temp.passages(name text, scheme text DEFAULT 'word 3', min_tokens int DEFAULT 8)
RETURNS TABLE (a_start int, b_start int, tokens int, in_a text, in_b text) LANGUAGE sql AS $$
	SELECT s.a_start, s.b_start, s.tokens, substr(a, s.a_start, s.a_length), substr(b, s.b_start, s.b_length)
		FROM pair, shared_passages(a, b, scheme, min_tokens) s WHERE pair.name = passages.name
$$;
SELECT s.* FROM pair, shared_passages(a, b) s WHERE name = 'edited';
SELECT * FROM pg_temp.passages('edited');
SELECT * FROM pg_temp.passages('moved');
SELECT * FROM pg_temp.passages('repeated in b');
SELECT * FROM pg_temp.passages('folded', min_tokens => 2);
SELECT * FROM pg_temp.passages('folded', 'char 5', 12);
SELECT * FROM pg_temp.passages('moved', 'anychar 5', 20);
