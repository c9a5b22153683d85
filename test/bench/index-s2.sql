-- S2: 1,000,000 fingerprints of 64 bits.
SET client_min_messages = warning;
SET maintenance_work_mem = '512MB';

CREATE FUNCTION block(sig bigint, i int) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT (sig >> (i * 16) & 65535)::int$$;

-- All values of 16 bits within a radius of a block's value.
CREATE FUNCTION around(sig bigint, i int, radius int) RETURNS int[] LANGUAGE sql IMMUTABLE AS
	$$SELECT array_agg(x # block(sig, i)) FROM generate_series(0, 65535) x WHERE bit_count(x::bit(16)) <= radius$$;

CREATE TABLE s2 (id int PRIMARY KEY, sig bigint NOT NULL);
CREATE TABLE s2_loaded_queries (id int, sig bigint);
\copy s2 FROM 's2.rows' (FORMAT binary)
\copy s2_loaded_queries FROM 's2.queries' (FORMAT binary)
CREATE TABLE s2_blocks (id int PRIMARY KEY, sig bigint NOT NULL, b0 int, b1 int, b2 int, b3 int);
INSERT INTO s2_blocks SELECT *, block(sig, 0), block(sig, 1), block(sig, 2), block(sig, 3) FROM s2;
CREATE TABLE s2_queries_3 AS
SELECT *, block(sig, 0) AS p0, block(sig, 1) AS p1, block(sig, 2) AS p2, block(sig, 3) AS p3 FROM s2_loaded_queries;
CREATE TABLE s2_queries_6 AS
SELECT *, around(sig, 0, 1) AS p0, around(sig, 1, 1) AS p1, around(sig, 2, 1) AS p2, around(sig, 3, 1) AS p3 FROM s2_loaded_queries;
CREATE TABLE s2_queries_10 AS
SELECT *, around(sig, 0, 2) AS p0, around(sig, 1, 2) AS p1, around(sig, 2, 2) AS p2, around(sig, 3, 2) AS p3 FROM s2_loaded_queries;

INSERT INTO targets VALUES
	('s2 3', 'neardup', 'ms', '≤ 0.03'), ('s2 3', 'neardup', 'faster', '≥ 2000'), ('s2 6', 'neardup', 'ms', '≤ 0.15'),
	('s2 10', 'neardup', 'ms', '≤ 0.5'), ('s2', 'neardup', 'build', '≤ 1.5'), ('s2', 'neardup', 'size', '≤ 3.5'),
	('s2', 'neardup', 'insert', '≤ 7');

SELECT time_build('s2', 'neardup', 's2_sig', 'CREATE INDEX s2_sig ON s2 USING neardup (sig)') \g /dev/null
SELECT time_build('s2', 'one of four B-trees', 's2_blocks_' || i, format('CREATE INDEX s2_blocks_%s ON s2_blocks (b%s)', i, i), 1)
FROM generate_series(0, 3) i \g /dev/null
UPDATE builds SET label = 'four B-trees on blocks of 16 bits', seconds = four.seconds, bytes = four.bytes
FROM (SELECT sum(seconds) AS seconds, sum(bytes) AS bytes FROM builds WHERE label = 'one of four B-trees') four
WHERE label = 'one of four B-trees';
DELETE FROM builds a USING builds b WHERE a.contest = 's2' AND b.contest = 's2' AND a.label = b.label AND a.ctid > b.ctid;
VACUUM (FREEZE, ANALYZE) s2;
VACUUM (FREEZE, ANALYZE) s2_blocks;
CHECKPOINT;

SELECT contest('s2 ' || h, 'exact', ('s2_queries_' || h)::regclass, format('SELECT id FROM s2 WHERE bit_count((sig # v.sig)::bit(64)) <= %s', h), 1),
	contest('s2 ' || h, 'seq scan', ('s2_queries_' || h)::regclass, format('SELECT id FROM s2 WHERE bit_count((sig # v.sig)::bit(64)) <= %s', h), 3, 20),
	contest('s2 ' || h, 'neardup', ('s2_queries_' || h)::regclass, format('SELECT id FROM s2 WHERE is_within(sig, v.sig, %s)', h)),
	contest('s2 ' || h, 'neardup, search = scan', ('s2_queries_' || h)::regclass, format('SELECT id FROM s2 WHERE is_within(sig, v.sig, %s)', h), 5, 50, 'enable_seqscan = off, neardup.search = scan'),
	contest('s2 ' || h, 'four B-trees on blocks of 16 bits', ('s2_queries_' || h)::regclass,
		replace(format('SELECT id FROM s2_blocks WHERE (b0 = any(v.p0) OR b1 = any(v.p1) OR b2 = any(v.p2) OR b3 = any(v.p3)) AND bit_count((sig # v.sig)::bit(64)) <= %s', h),
			'any', CASE WHEN h = 3 THEN '' ELSE 'any' END), settings => 'enable_seqscan = off')
FROM unnest('{3,6,10}'::int[]) h \g /dev/null

CREATE TABLE s2_few AS SELECT * FROM s2 WHERE id < 50000;
CREATE TABLE s2_few_blocks AS SELECT * FROM s2_blocks WHERE id < 50000;
CREATE TABLE s2_plain (id int PRIMARY KEY, sig bigint NOT NULL);
CREATE TABLE s2_own (id int PRIMARY KEY, sig bigint NOT NULL);
CREATE INDEX ON s2_own USING neardup (sig);
CREATE TABLE s2_trees (id int PRIMARY KEY, sig bigint NOT NULL, b0 int, b1 int, b2 int, b3 int);
CREATE INDEX ON s2_trees (b0);
CREATE INDEX ON s2_trees (b1);
CREATE INDEX ON s2_trees (b2);
CREATE INDEX ON s2_trees (b3);
SELECT time_inserts('s2', 'primary key alone', 's2_few', 's2_plain'),
	time_inserts('s2', 'neardup', 's2_few', 's2_own'),
	time_inserts('s2', 'four B-trees on blocks of 16 bits', 's2_few_blocks', 's2_trees')
FROM generate_series(1, 7) \g /dev/null

SELECT show('s2 ' || h, 'S2: 1,000,000 fingerprints of 64 bits, distance ' || h) FROM unnest('{3,6,10}'::int[]) h;
SELECT show_builds('s2', 'S2: building', 1000000 * 8);
SELECT show_inserts('s2', 'S2: single-row inserts, 50,000 of them into an empty table');
