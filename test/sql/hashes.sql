-- bit(n) and bigint: hashes made elsewhere.

-- They compare like the signatures that they are cast to, at every distance.
CREATE TABLE hashes AS SELECT i AS id, hashint8extended(i, 1) AS h, hashint8extended(i / 4, 2) # (1::bigint << i % 64) AS near
FROM generate_series(1, 60) i;
SELECT count(*), bool_and(is_within(a.near, b.near, d) = is_within(a.near::simhash, b.near::simhash, d)) AS bigint,
	bool_and(is_within(a.near::bit(64), b.near::bit(64), d) = is_within(a.near::bit(64)::minhash, b.near::bit(64)::minhash, d)) AS bit,
	bool_and(is_within(a.near, b.near, d) = is_within(a.near::bit(64), b.near::bit(64), d)) AS alike,
	bool_and(is_within(a.near, b.near, d) = (hamming_distance(a.near::simhash, b.near::simhash) <= d)) AS distance,
	count(*) FILTER (WHERE is_within(a.near, b.near, d)) AS within
FROM hashes a, hashes b, unnest('{0,1,2,3,10,30,32,64}'::int[]) d;
SELECT bool_and((a.h <@ hamming_ball(b.h, d)) = is_within(a.h, b.h, d)) AS bigint,
	bool_and((a.h <@ hamming_ball(b.h, d)) = is_within(a.h, b.h, d)) AS bigint_holds,
	bool_and((a.h::bit(64) <@ hamming_ball(b.h::bit(64), d)) = is_within(a.h, b.h, d)) AS bit,
	bool_and((a.h::bit(64) <@ hamming_ball(b.h::bit(64), d)) = is_within(a.h, b.h, d)) AS bit_holds
FROM hashes a, hashes b, unnest('{0,20,28,30,32,34,64}'::int[]) d;
DROP TABLE hashes;
SELECT is_within((-1)::bigint, 0, 63), is_within((-1)::bigint, 0, 64), is_within('-9223372036854775808'::bigint, 0, 1);
SELECT is_within(B'1010101010101010', B'1010101010101011', 0), is_within(B'1010101010101010', B'1010101010101011', 1);
-- Any number of bits from 16 up, the last byte full or not.
SELECT n, is_within(x, ~x, n - 1), is_within(x, ~x, n), x <@ hamming_ball(x, 0), ~x <@ hamming_ball(x, n - 1)
FROM (VALUES (16), (17), (23), (400), (16384)) v(n), LATERAL (SELECT repeat('1', n)::varbit::bit varying AS x) b;

-- Types of the balls.
SELECT hamming_ball(5::bigint, 3), hamming_ball(B'1111000011110000', 4);
SELECT hamming_ball(5::bigint, 3)::text = hamming_ball(5::bigint::simhash, 3)::text AS bigint,
	hamming_ball(B'1111000011110000', 4)::text = hamming_ball(B'1111000011110000'::minhash, 4)::text AS bit;
SELECT 3 <@ hamming_ball(7, 3), 3::smallint <@ hamming_ball(7, 0);

-- The function that is chosen for a literal.
SELECT is_within(1, 2, 3), is_within(1, 2::smallint, 1), pg_typeof(hamming_ball(1, 2));
SELECT hamming_ball('1', 2);
SELECT is_within('1', '2', 3);
SELECT is_within('1/foreign/64/0000000000000005'::simhash, '1/foreign/64/0000000000000006', 2);
SELECT is_within('1', 2::bigint, 3), is_within(B'1010101010101010', '1010101010101011', 3);

-- NULL gives NULL.
SELECT is_within(NULL::bigint, 1, 1), is_within(1, 2, NULL), hamming_ball(NULL::bit, 1), NULL::bigint <@ hamming_ball(1, 2);

-- Errors.
SELECT is_within(B'1010101010101010', B'10101010101010101', 3);
SELECT is_within(B'1010', B'1010', 3);
SELECT hamming_ball(B'1010', 3);
SELECT hamming_ball(repeat('1', 16385)::varbit, 3);
SELECT is_within(1, 2, -1);
SELECT is_within(1, 2, 65);
SELECT is_within(B'1010101010101010', B'1010101010101010', 17);
SELECT is_within(B'1010101010101010', B'1010101010101010', -1);
SELECT hamming_ball(1, 65);
SELECT hamming_ball(B'1010101010101010', -1);
-- In no ball: values of another shape or scheme, and bits that are no signature.
SELECT B'1010101010101010' <@ hamming_ball(B'10101010101010101', 2);
SELECT B'101' <@ hamming_ball(B'10101010101010101', 17);
SELECT B'1010101010101010' <@ near(to_minhash('made of a text', 16), 0.9);
SELECT 1::bigint <@ near(to_simhash('made of a text'), 0.9);
SELECT 1::bigint <@ near(to_simhash('made of a text', 128), 0.9);
-- No operator between two values of PostgreSQL's own types.
SELECT oprname, oprleft::regtype, oprright::regtype FROM pg_operator o JOIN pg_depend d
ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname LIKE 'neardup%' AND oprleft::regtype::oid < 16384 AND oprright::regtype::oid < 16384;

-- Ways in: hexadecimal digits, as Python's imagehash prints them, and unsigned decimals, as its simhash does.
SELECT hex_to_bigint('c7078f1e70e0f8f8'), to_hex(hex_to_bigint('c7078f1e70e0f8f8')), hex_to_bigint('0xAB'), hex_to_bigint('0'), hex_to_bigint('ffffffffffffffff');
SELECT hex_to_bit('c707'), hex_to_bit('0x0F0'), hex_to_bit(repeat('0f', 32))::bit(256) = repeat('00001111', 32)::bit(256) AS pdq;
SELECT hex_to_bit('c7078f1e70e0f8f8') = hex_to_bigint('c7078f1e70e0f8f8')::bit(64) AS same;
SELECT unsigned_to_bigint(14341588899290216696), to_hex(unsigned_to_bigint(14341588899290216696)), unsigned_to_bigint(0), unsigned_to_bigint(5.00),
	unsigned_to_bigint(9223372036854775807), unsigned_to_bigint(9223372036854775808), unsigned_to_bigint('18446744073709551615');
-- And back.
SELECT h, lpad(to_hex(h), 16, '0'), (h + 18446744073709551616::numeric) % 18446744073709551616::numeric AS unsigned,
	hex_to_bigint(lpad(to_hex(h), 16, '0')) = h AND unsigned_to_bigint((h + 18446744073709551616::numeric) % 18446744073709551616::numeric) = h AS same
FROM unnest('{0,5,-1,9223372036854775807,-9223372036854775808,-4105155174419334920}'::bigint[]) h;
SELECT hex_to_bigint(NULL), hex_to_bit(NULL), unsigned_to_bigint(NULL);
-- Into columns, one made of the other.
CREATE TABLE images (hex text, phash bigint GENERATED ALWAYS AS (hex_to_bigint(hex)) STORED, long_hash bit(64));
INSERT INTO images (hex, long_hash) VALUES ('c7078f1e70e0f8f8', hex_to_bit('c7078f1e70e0f8f8'));
INSERT INTO images (hex, long_hash) VALUES ('0', hex_to_bit('7078f1e70e0f8f8'));
SELECT * FROM images;
DROP TABLE images;
SELECT hex_to_bigint('c7078f1e70e0f8f80');
SELECT hex_to_bigint('');
SELECT hex_to_bigint(' c7');
SELECT hex_to_bigint('0xc7x8');
SELECT hex_to_bit('0x');
SELECT hex_to_bit('c7-7');
SELECT unsigned_to_bigint(-1);
SELECT unsigned_to_bigint(18446744073709551616);
SELECT unsigned_to_bigint(0.5);
SELECT unsigned_to_bigint('NaN');

-- Distances are measured from a value of a type of this extension, which the casts make too.
SELECT 5::bigint <~> 7::bigint::simhash, B'1111000011110000' <~> B'1111000011111111'::minhash;
SELECT count(*), bool_and((a <~> b::simhash) = hamming_distance(a::simhash, b::simhash)
	AND (a::bit(64) <~> b::bit(64)::minhash) = (a <~> b::simhash)) AS same
FROM (SELECT hashint8extended(i, 1) AS a, hashint8extended(i, 2) AS b FROM generate_series(1, 1000) i) h;
SELECT B'1010' <~> B'1010'::minhash;
SELECT B'1010101010101010' <~> B'10101010101010101'::minhash;
SELECT 1::bigint <~> to_simhash('made of a text');
\set VERBOSITY terse
SELECT 1::bigint <~> 1::bigint;
\set VERBOSITY default
-- A cast that is refused says what works.
SELECT repeat('1', 400)::bit(400)::simhash;
