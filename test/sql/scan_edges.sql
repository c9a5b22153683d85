-- Rare kinds of scans.
CREATE TABLE edges (id serial PRIMARY KEY, print simhash) WITH (autovacuum_enabled = off);
INSERT INTO edges (print) SELECT ('1/word 3/64/' || encode(int8send((i % 70)::bigint << 58 | i % 3), 'hex'))::simhash
FROM generate_series(1, 3000) i;
CREATE INDEX by_print ON edges USING neardup (print);
VACUUM ANALYZE edges;
SELECT set_config('enable_' || scan, 'off', false) FROM unnest('{seqscan,indexscan,sort}'::text[]) scan \g /dev/null
\set zero '\'1/word 3/64/0000000000000000\'::simhash'
\set one '\'1/word 3/64/0000000000000001\'::simhash'
\set other '\'1/word 3/64/ffffffffffffff00\'::simhash'
\set empty '\'1/word 3/64/\'::simhash'

-- A condition on several balls runs a search for each.
EXPLAIN (COSTS OFF) SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, 0), hamming_ball(:one, 0)]);
SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, 0), hamming_ball(:one, 0)]);
SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, 1), NULL, hamming_ball(:one, 1)]);
SELECT count(*) FROM edges WHERE print <@ ANY ('{}'::ball[]);
SELECT count(*) FROM edges WHERE print <@ ALL (ARRAY[hamming_ball(:zero, 1), hamming_ball(:one, 1)]);
SELECT b.i, (SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, b.i), hamming_ball(:other, b.i)]))
FROM generate_series(0, 3) b(i);
SET enable_seqscan = on;
SET enable_bitmapscan = off;
SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, 0), hamming_ball(:one, 0)]);
SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, 1), NULL, hamming_ball(:one, 1)]);
SELECT b.i, (SELECT count(*) FROM edges WHERE print <@ ANY (ARRAY[hamming_ball(:zero, b.i), hamming_ball(:other, b.i)]))
FROM generate_series(0, 3) b(i);

-- Rows within a ball, ordered by distance from the empty set, which has the centre's symbols but is not the centre.
SET enable_indexscan = on;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM edges WHERE print <@ hamming_ball(:zero, 1) ORDER BY print <~> :empty LIMIT 10000;
SELECT count(*) FROM (SELECT id FROM edges WHERE print <@ hamming_ball(:zero, 1) ORDER BY print <~> :empty LIMIT 10000) q;
SET enable_seqscan = on;
SET enable_indexscan = off;
SELECT count(*) FROM edges WHERE print <@ hamming_ball(:zero, 1);

RESET ALL;
DROP TABLE edges;
