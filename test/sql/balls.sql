-- Balls: thresholds as values, and their operators.

SELECT near(to_minhash('a b c', 16), 0.9), hamming_ball(to_minhash('a b c', 16), 3);
SELECT near(to_simhash('a b c'), 0.9), hamming_ball(to_simhash('a b c'), 3), near(to_simhash(''), 1);
SELECT pg_typeof(near(to_minhash('x'), 0.5)), pg_typeof(hamming_ball(to_simhash('x'), 5));

-- A ball holds what is_similar and is_within accept.
CREATE TABLE words (id int, sig minhash, fp simhash);
INSERT INTO words SELECT i, to_minhash(t, 64), to_simhash(t)
FROM (SELECT i, 'some common words of text ' || repeat('more ', i) || i / 3 AS t FROM generate_series(1, 30) AS i) AS s;
INSERT INTO words VALUES (31, to_minhash('', 64), to_simhash('')), (32, NULL, NULL);
SELECT count(*) FILTER (WHERE a.sig <@ near(b.sig, t)) AS held, bool_and((a.sig <@ near(b.sig, t)) = is_similar(a.sig, b.sig, t)) AS near,
	bool_and((a.fp <@ near(b.fp, t)) = is_similar(a.fp, b.fp, t)) AS near_simhash,
	bool_and((near(a.sig, t) && near(b.sig, t)) = is_similar(a.sig, b.sig, t)) AS meet
FROM words AS a, words AS b, unnest(ARRAY[0.3, 0.5, 0.8, 1]) AS t;
SELECT bool_and((a.sig <@ hamming_ball(b.sig, d)) = is_within(a.sig, b.sig, d)) AS within,
	bool_and((a.fp <@ hamming_ball(b.fp, d)) = is_within(a.fp, b.fp, d)) AS within_simhash,
	bool_and((hamming_ball(a.fp, d) && hamming_ball(b.fp, 64)) = is_within(a.fp, b.fp, d)) AS meet
FROM words AS a, words AS b, unnest(ARRAY[0, 5, 20, 64]) AS d;
-- Different thresholds: both must hold.
SELECT near(x, t) && near(y, u) AS meet, near(y, u) && near(x, t) AS commuted
FROM (VALUES ('1/word 3/16x1/1/0000'::minhash, '1/word 3/16x1/1/000f'::minhash)) AS v(x, y),
	(VALUES (0.5, 0.5), (0.5, 0.6), (0.6, 0.5), (0.6, 0.6)) AS s(t, u);
-- The empty set lies in no ball, and its balls hold nothing.
SELECT e <@ hamming_ball(e, 64) AS itself, e <@ hamming_ball(x, 64) AS in_other, x <@ hamming_ball(e, 64) AS other, near(e, 0.1) && near(e, 0.1) AS meet
FROM to_minhash('', 64) AS e, to_minhash('x', 64) AS x;

-- Nor do signatures of other shapes and schemes lie in a ball.
SELECT to_minhash('x', 64) <@ near(to_minhash('x', 128), 0.5) AS shape, to_minhash('x', 64, 1, 'word 2') <@ near(to_minhash('x', 64), 0.5) AS scheme;

-- Refusals
SELECT near(to_minhash('x'), 0);
SELECT near(to_minhash('x'), 1.5);
SELECT near(to_simhash('x'), 'NaN');
SELECT near(NULL::minhash, 2) IS NULL AS strict;
SELECT hamming_ball(to_minhash('x'), -1);
SELECT hamming_ball(to_simhash('x'), 65);
SELECT near(to_minhash('x', 64), 0.5) && near(to_minhash('x', 64, 1, 'word 2'), 0.5);
SELECT to_minhash('x') <@ near(to_simhash('x'), 0.5);

-- Text form, whatever the settings
SET extra_float_digits = -5;
SELECT t, t::ball::text = t AS round_trip FROM unnest(ARRAY['0.9 around minhash 1/word 3/16x1/7/abcd',
	'0.30000000000000004 around minhash 1/word 3/16x1/7/abcd', '1e-300 around minhash 1/word 3/16x1/7/abcd', '1 around minhash 1/word 3/16x1/0/',
	'0 symbols around minhash 1/word 3/16x1/7/abcd', '16 symbols around minhash 1/foreign/16x1/?/abcd']) AS t;
RESET extra_float_digits;
SELECT t::ball FROM unnest(ARRAY['0.9 around simhash 1/word 3/64/0123456789abcdef', '3 symbols around simhash 1/word 3/64/']) AS t;
CREATE FUNCTION message_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN sqlstate || ' ' || sqlerrm || coalesce(' (' || nullif(detail, '') || ')', '');
END $$;
SELECT message_of(format('SELECT %L::ball', t)) FROM unnest(ARRAY[
	'', '0.9', '0.9 around', '0.9 around ', ' around minhash 1/word 3/16x1/7/abcd', '0.9  around minhash 1/word 3/16x1/7/abcd',
	'0.9 around minhash 1/word 3/16x1/7/abc', '0 around minhash 1/word 3/16x1/7/abcd', '1.1 around minhash 1/word 3/16x1/7/abcd',
	'nan around minhash 1/word 3/16x1/7/abcd', 'x around minhash 1/word 3/16x1/7/abcd', '17 symbols around minhash 1/word 3/16x1/7/abcd',
	'-1 symbols around minhash 1/word 3/16x1/7/abcd', '1.5 symbols around minhash 1/word 3/16x1/7/abcd', '1e30 symbols around minhash 1/word 3/16x1/7/abcd',
	'nan symbols around minhash 1/word 3/16x1/7/abcd', 'symbols around minhash 1/word 3/16x1/7/abcd', ' symbols around minhash 1/word 3/16x1/7/abcd',
	'0.9 around 1/word 3/16x1/7/abcd', '0.9 around sketch 1/word 3/16x1/7/abcd', '0.9 around minhash 1/word 3/64/0123456789abcdef',
	'3 symbols symbols around minhash 1/word 3/16x1/7/abcd', '0.9 around simhash 1/word 3/64/0123456789abcdef',
	'0.9 around minhash 2/word 3/16x1/7/abcd']) AS t;

-- Binary form
CREATE TABLE balls (a ball, b ball);
INSERT INTO balls SELECT near(sig, 0.7), hamming_ball(fp, 9) FROM words;
CREATE TABLE copied (LIKE balls);
COPY balls TO PROGRAM 'cat > neardup_test_balls.bin' (FORMAT binary);
COPY copied FROM PROGRAM 'cat neardup_test_balls.bin; rm neardup_test_balls.bin' (FORMAT binary);
SELECT count(*) AS rows, (SELECT count(*) FROM (SELECT a::text, b::text FROM balls EXCEPT ALL SELECT a::text, b::text FROM copied) AS x) AS lost FROM copied;
CREATE TABLE bytes (b bytea);
CREATE TABLE parsed (ball ball);
CREATE FUNCTION received(hex text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	TRUNCATE bytes, parsed;
	INSERT INTO bytes VALUES (decode(hex, 'hex'));
	COPY bytes TO PROGRAM 'cat > neardup_test_balls.bin' (FORMAT binary);
	result := message_of(format('COPY parsed FROM PROGRAM %L (FORMAT binary)',
		'cat neardup_test_balls.bin; rm neardup_test_balls.bin'));
	RETURN coalesce((SELECT ball::text FROM parsed), result);
END $$;
SELECT what, received(threshold || radius || signature) FROM
	(SELECT encode(minhash_send('1/word 3/16x1/7/abcd'), 'hex')) AS s(signature),
	(VALUES ('threshold', '3fe0000000000000', '00000004'), ('radius', '0000000000000000', '00000005'),
		('both, unlike', '3fe0000000000000', '00000005'), ('negative', '0000000000000000', 'ffffffff'),
		('too far', '0000000000000000', '00000011'), ('too high', '3ff0000000000001', '00000000'),
		('below 0', 'bfe0000000000000', '00000004'), ('NaN', '7ff8000000000000', '00000000'),
		('short', '3fe0000000', '')) AS v(what, threshold, radius);

-- No operator has two types of PostgreSQL's own.
SELECT oprname, oprleft::regtype, oprright::regtype FROM pg_operator, pg_depend, pg_extension AS e
WHERE classid = 'pg_operator'::regclass AND objid = pg_operator.oid AND refobjid = e.oid AND extname LIKE 'neardup%'
	AND oprleft < 16384 AND oprright < 16384;
-- Every object has its comment.
SELECT pg_describe_object(classid, objid, 0) AS uncommented FROM pg_depend AS d JOIN pg_extension AS e ON refobjid = e.oid
WHERE extname LIKE 'neardup%' AND deptype = 'e' AND classid <> 'pg_amop'::regclass AND obj_description(objid, classid::regclass::name) IS NULL
	AND NOT (classid = 'pg_type'::regclass AND objid IN (SELECT typarray FROM pg_type UNION SELECT reltype FROM pg_class))
ORDER BY 1;

DROP TABLE words, balls, copied, bytes, parsed;
DROP FUNCTION message_of, received;
