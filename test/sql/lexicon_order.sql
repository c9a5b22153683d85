-- Equality, order, btree and hash on shingle_lexicon.

CREATE TABLE ordered (id int, lex shingle_lexicon);
INSERT INTO ordered VALUES
	(1, '1/word 1/7/{}'),
	(2, '1/word 1/7/{1:3}'),
	(3, '1/word 1/7/{1:3,4:0}'),
	(4, '1/word 1/7/{1:4}'),
	(5, '1/word 1/7/{2:3}'),
	(6, '1/word 1/7/{4000000000:3}'),
	(7, '1/word 1/8/{}'),
	(8, '1/word 3/7/{1:3}'),
	(9, '1/char 3/7/{1:3}'),
	(10, '2/word 1/7/{1:3}');
-- Sorted by recipe, scheme, documents and entries, which is the order of insertion.
SELECT id, lex FROM ordered ORDER BY lex;
SELECT count(*) AS pairs,
	bool_and((a.lex = b.lex) = (a.id = b.id)) AS eq, bool_and((a.lex <> b.lex) = (a.id <> b.id)) AS ne,
	bool_and((a.lex < b.lex) = (a.id < b.id)) AS lt, bool_and((a.lex <= b.lex) = (a.id <= b.id)) AS le,
	bool_and((a.lex > b.lex) = (a.id > b.id)) AS gt, bool_and((a.lex >= b.lex) = (a.id >= b.id)) AS ge,
	bool_and(shingle_lexicon_cmp(a.lex, b.lex) = sign(a.id - b.id)) AS cmp,
	bool_and((shingle_lexicon_hash(a.lex) = shingle_lexicon_hash(b.lex)) = (a.id = b.id)) AS hash,
	bool_and((shingle_lexicon_hash_extended(a.lex, 7) = shingle_lexicon_hash_extended(b.lex, 7)) = (a.id = b.id)) AS extended
FROM ordered a, ordered b;

-- DISTINCT, GROUP BY, joins and sets, by sorting and by hashing.
INSERT INTO ordered SELECT id + 100, lex FROM ordered WHERE id > 4;
ANALYZE ordered;
SELECT count(DISTINCT lex) FROM ordered;
SELECT count(*) FROM (SELECT lex FROM ordered GROUP BY lex) g;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT lex FROM ordered GROUP BY lex) g;
RESET enable_hashagg;
SELECT count(*) FROM (SELECT lex FROM ordered EXCEPT SELECT lex FROM ordered WHERE id > 100) e;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM ordered a JOIN ordered b ON a.lex = b.lex;
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT count(*) FROM ordered a JOIN ordered b ON a.lex = b.lex;
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_hashjoin;

-- Rows are compared as logical replication compares them where the replica identity is FULL.
SELECT a = b AS same, a = ROW(1, '1/word 1/7/{1:3}')::ordered AS other FROM ordered a JOIN ordered b USING (id) WHERE id = 1;

-- Indexes: a btree has room for small values only.
CREATE UNIQUE INDEX ON ordered (lex) WHERE id < 100;
CREATE INDEX by_hash ON ordered USING hash (lex);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM ordered WHERE lex = '1/word 1/7/{4000000000:3}';
SELECT id FROM ordered WHERE lex = '1/word 1/7/{4000000000:3}' ORDER BY id;
SELECT id FROM ordered WHERE lex < '1/word 1/7/{1:4}' AND id < 100 ORDER BY id;
INSERT INTO ordered VALUES (11, '1/word 1/7/{1:3}');
DROP TABLE ordered;
