-- Equality, order, btree and hash on shingles raise no error for any two values.

CREATE TABLE ordered (id int, s shingles) WITH (autovacuum_enabled = off);
INSERT INTO ordered VALUES
	(1, '1/word 2/{9}'),
	(2, '1/word 3/{}'),
	(3, '1/word 3/{-5,7}'),
	(4, '1/word 3/{1}'),
	(5, '1/word 3/{1:2}'),
	(6, '1/word 3/{1,2}'),
	(7, '1/word 3/{1,2:2}'),
	(8, '1/word 3/{1:2,2}'),
	(9, '1/word 3/{1,3}'),
	(10, '1/word 3/{2}'),
	(11, '1/char 3/{1}'),
	(12, '1/hashes/{1}'),
	(13, '2/word 3/{1}');
-- Sorted by recipe, scheme, elements and frequencies, which is the order of insertion.
SELECT id, s FROM ordered ORDER BY s;
SELECT count(*) AS pairs,
	bool_and((a.s = b.s) = (a.id = b.id)) AS eq, bool_and((a.s <> b.s) = (a.id <> b.id)) AS ne,
	bool_and((a.s < b.s) = (a.id < b.id)) AS lt, bool_and((a.s <= b.s) = (a.id <= b.id)) AS le,
	bool_and((a.s > b.s) = (a.id > b.id)) AS gt, bool_and((a.s >= b.s) = (a.id >= b.id)) AS ge,
	bool_and(shingles_cmp(a.s, b.s) = sign(a.id - b.id)) AS cmp,
	bool_and((shingles_hash(a.s) = shingles_hash(b.s)) = (a.id = b.id)) AS hash,
	bool_and((shingles_hash_extended(a.s, 7) = shingles_hash_extended(b.s, 7)) = (a.id = b.id)) AS extended,
	bool_and(shingles_hash_extended(a.s, 0) & 4294967295 = shingles_hash(a.s)::bigint & 4294967295) AS low_half
FROM ordered a, ordered b;

-- Every plan returns the same count.
INSERT INTO ordered SELECT id + 100, s FROM ordered WHERE id > 4;
ANALYZE ordered;
SET enable_seqscan = off;
CREATE UNIQUE INDEX ON ordered (s) WHERE id < 100;
CREATE INDEX by_hash ON ordered USING hash (s);
EXPLAIN (COSTS OFF) SELECT id FROM ordered WHERE s = '1/word 3/{1,3}';
SELECT id FROM ordered WHERE s = '1/word 3/{1,3}' ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id FROM ordered WHERE s < '1/word 3/{1}' AND id < 100;
SELECT id FROM ordered WHERE s < '1/word 3/{1}' AND id < 100 ORDER BY id;
INSERT INTO ordered VALUES (14, '1/word 3/{1,3}');
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM ordered a JOIN ordered b USING (s);
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT count(*) FROM ordered a JOIN ordered b USING (s);
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_seqscan;
SET enable_hashagg = off;
SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM ordered GROUP BY s) g;
SET enable_hashagg = on;
SET enable_sort = off;
SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM ordered GROUP BY s) g;
RESET enable_sort;
RESET enable_hashagg;
CREATE TABLE parted (s shingles) PARTITION BY HASH (s);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT s FROM ordered;
SELECT count(*), count(DISTINCT s) FROM parted;
DROP TABLE ordered, parted;
SELECT opcname, amname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod
WHERE opcintype = 'shingles'::regtype ORDER BY amname;
