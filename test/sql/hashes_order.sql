-- ORDER BY on bigint and bit(n) columns: the nearest hashes, by the index that thresholds use.
SET neardup.background = off;
SET jit = off;
-- Families of eight hashes that differ in a few bits, and strangers; some NULL.
CREATE TABLE images WITH (autovacuum_enabled = off) AS
SELECT id, phash, pdq, pdq || B'10101' AS long
FROM (SELECT i AS id, CASE WHEN i % 97 = 0 THEN NULL ELSE hashint8extended(i / 8, 1) # (1::bigint << i * 7 % 64) # (1::bigint << i * 3 % 64) END AS phash
FROM generate_series(1, 6000) i) i,
	LATERAL (SELECT CASE WHEN phash IS NOT NULL THEN (phash::bit(64) || hashint8extended(id / 8, 2)::bit(64) || hashint8extended(id / 8, 3)::bit(64)
		|| (phash # id)::bit(64))::bit(256) END AS pdq) p;
CREATE INDEX ON images USING neardup (phash);
CREATE INDEX ON images USING neardup (pdq);
CREATE INDEX ON images USING neardup (long);
-- A tail beside the segment, and dead rows.
DELETE FROM images WHERE id % 17 = 0;
VACUUM ANALYZE images;
INSERT INTO images SELECT id + 10000, phash, pdq, long FROM images WHERE id % 29 = 0;

CREATE FUNCTION distances(query text, by_index boolean, OUT distances int[], OUT different bigint)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('enable_sort', (NOT by_index)::text, true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_indexscan', by_index::text, true);
	EXECUTE format('SELECT array_agg(d ORDER BY n), count(DISTINCT id) FROM (SELECT *, row_number() OVER () AS n FROM (%s) AS q) AS r', query)
	INTO distances, different;
END $$;
-- The index returns the distances that a sort returns, and each row once.
SELECT hash, amount, cond, i.different AS rows, i IS NOT DISTINCT FROM s AS same
FROM (VALUES ('phash', 'simhash'), ('pdq', 'minhash'), ('long', 'minhash')) h (hash, type), unnest('{1,20,20000}'::int[]) amount,
	unnest('{"", "WHERE is_within(i.#, q.#, 9)", "WHERE i.id % 2 = 0"}'::text[]) cond,
	LATERAL (SELECT format('SELECT i.id, i.# <~> q.#::%1$s AS d FROM images q, LATERAL (SELECT * FROM images i %2$s ORDER BY i.# <~> q.#::%1$s LIMIT %3$s) i
		WHERE q.id = 1234', type, cond, amount)) f (query),
	distances(replace(query, '#', hash), true) i, distances(replace(query, '#', hash), false) s
ORDER BY hash COLLATE "C", cond COLLATE "C", amount;
DROP FUNCTION distances;

-- PostgreSQL 18 also shows which nodes are disabled.
CREATE FUNCTION plan_of(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		IF line !~ 'Disabled: true' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
-- One index serves the threshold, the order, and both.
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM images ORDER BY phash <~> 5::bigint::simhash LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM images ORDER BY phash <~> 5::bigint::simhash LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM images WHERE is_within(phash, 5, 10);
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM images WHERE is_within(phash, 5, 10) ORDER BY phash <~> 5::bigint::simhash LIMIT 10;
RESET enable_sort;
SELECT plan_of('SELECT i.id FROM images q, LATERAL (SELECT id FROM images i ORDER BY i.pdq <~> q.pdq::minhash LIMIT 2) i WHERE q.id = 1234');
SELECT plan_of('SELECT i.id FROM images q, LATERAL (SELECT id FROM images i ORDER BY i.long <~> q.long::minhash LIMIT 2) i WHERE q.id = 1234');

-- A query of another shape or scheme, and NULL.
SELECT id FROM images ORDER BY pdq <~> B'1010101010101010'::minhash LIMIT 1;
SELECT id FROM images ORDER BY phash <~> to_simhash('a text') LIMIT 1;
SELECT id FROM images ORDER BY phash <~> to_simhash('a text', 128) LIMIT 1;
SELECT phash <~> NULL::bigint::simhash AS distance FROM images ORDER BY 1 LIMIT 1;
DROP FUNCTION plan_of;
DROP TABLE images;
