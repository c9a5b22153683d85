-- Equality and hash on shingles raise no error for any two values.

CREATE TABLE listed (id int, s shingles) WITH (autovacuum_enabled = off);
INSERT INTO listed VALUES
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
SELECT count(*) AS pairs,
	bool_and((a.s = b.s) = (a.id = b.id)) AS eq, bool_and((a.s <> b.s) = (a.id <> b.id)) AS ne,
	bool_and((shingles_hash(a.s) = shingles_hash(b.s)) = (a.id = b.id)) AS hash,
	bool_and((shingles_hash_extended(a.s, 7) = shingles_hash_extended(b.s, 7)) = (a.id = b.id)) AS extended,
	bool_and(shingles_hash_extended(a.s, 0) & 4294967295 = shingles_hash(a.s)::bigint & 4294967295) AS low_half
FROM listed a, listed b;

-- Every plan returns the same count.
INSERT INTO listed SELECT id + 100, s FROM listed WHERE id > 4;
ANALYZE listed;
SET enable_seqscan = off;
CREATE INDEX by_hash ON listed USING hash (s);
EXPLAIN (COSTS OFF) SELECT id FROM listed WHERE s = '1/word 3/{1,3}';
SELECT id FROM listed WHERE s = '1/word 3/{1,3}' ORDER BY id;
SET enable_nestloop = off;
SELECT count(*) FROM listed a JOIN listed b USING (s);
SET enable_hashjoin = off;
SELECT count(*) FROM listed a JOIN listed b USING (s);
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_seqscan;
SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM listed GROUP BY s) g;
CREATE TABLE parted (s shingles) PARTITION BY HASH (s);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT s FROM listed;
SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM parted GROUP BY s) g;
DROP TABLE listed, parted;
SELECT opcname, amname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod
WHERE opcintype = 'shingles'::regtype ORDER BY amname;
