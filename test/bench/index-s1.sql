-- S1: 300,000 fingerprints of 400 bits.
SET client_min_messages = warning;
SET maintenance_work_mem = '512MB';

CREATE FUNCTION bands(sig bit, number int, width int) RETURNS int[] LANGUAGE sql IMMUTABLE AS
	$$SELECT array_agg(i << 16 | substring(sig FROM i * width + 1 FOR width)::int ORDER BY i) FROM generate_series(0, number - 1) i$$;

CREATE TABLE s1 (id int PRIMARY KEY, sig bit(400) NOT NULL);
CREATE TABLE s1_loaded_queries (id int, sig bit(400));
\copy s1 FROM 's1.rows' (FORMAT binary)
\copy s1_loaded_queries FROM 's1.queries' (FORMAT binary)
CREATE TABLE s1_queries AS SELECT *, bands(sig, 25, 16) AS bands25, bands(sig, 33, 12) AS bands33 FROM s1_loaded_queries;
CREATE TABLE s1_bands (id int PRIMARY KEY, sig bit(400) NOT NULL, bands25 int[], bands33 int[]);
INSERT INTO s1_bands SELECT *, bands(sig, 25, 16), bands(sig, 33, 12) FROM s1;

INSERT INTO targets VALUES
	('s1', 'neardup', 'ms', '≤ 0.2'), ('s1', 'neardup', 'faster', '≥ 200'), ('s1', 'neardup', 'build', '≤ 1.5'),
	('s1', 'neardup', 'size', '≤ 3.5'), ('s1', 'neardup', 'insert', '≤ 7'),
	('s1 100', 'neardup', 'faster', '≥ 1'), ('s1 140', 'neardup', 'faster', '≥ 1');

SELECT time_build('s1', 'neardup', 's1_sig', 'CREATE INDEX s1_sig ON s1 USING neardup (sig)') \g /dev/null
SELECT time_build('s1', 'GIN, 25 bands of 16 bits', 's1_bands25', 'CREATE INDEX s1_bands25 ON s1_bands USING gin (bands25)', 1) \g /dev/null
SELECT time_build('s1', 'GIN, 33 bands of 12 bits', 's1_bands33', 'CREATE INDEX s1_bands33 ON s1_bands USING gin (bands33)', 1) \g /dev/null
VACUUM (FREEZE, ANALYZE) s1;
VACUUM (FREEZE, ANALYZE) s1_bands;
CHECKPOINT;

-- Distances 60, 100, 140: resemblance 0.7, 0.5, 0.3.
SELECT contest('s1', 'exact', 's1_queries', 'SELECT id FROM s1 WHERE bit_count(sig # v.sig) <= 60', 1),
	contest('s1 100', 'exact', 's1_queries', 'SELECT id FROM s1 WHERE bit_count(sig # v.sig) <= 100', 1, 50),
	contest('s1 140', 'exact', 's1_queries', 'SELECT id FROM s1 WHERE bit_count(sig # v.sig) <= 140', 1, 50),
	contest('s1', 'seq scan', 's1_queries', 'SELECT id FROM s1 WHERE bit_count(sig # v.sig) <= 60', 3, 50),
	contest('s1', 'GIN, 25 bands of 16 bits', 's1_queries', 'SELECT id FROM s1_bands WHERE bands25 && v.bands25 AND bit_count(sig # v.sig) <= 60', settings => 'enable_seqscan = off'),
	contest('s1', 'GIN, 33 bands of 12 bits', 's1_queries', 'SELECT id FROM s1_bands WHERE bands33 && v.bands33 AND bit_count(sig # v.sig) <= 60', settings => 'enable_seqscan = off'),
	contest('s1', 'neardup', 's1_queries', 'SELECT id FROM s1 WHERE is_within(sig, v.sig, 60)') \g /dev/null
SELECT contest('s1', 'neardup, search = ' || x, 's1_queries', 'SELECT id FROM s1 WHERE is_within(sig, v.sig, 60)', settings => 'enable_seqscan = off, neardup.search = ' || x)
FROM unnest('{probe,merge,scan}'::text[]) x \g /dev/null
SELECT contest('s1 ' || h, 'seq scan', 's1_queries', format('SELECT id FROM s1 WHERE bit_count(sig # v.sig) <= %s', h), 3, 20),
	contest('s1 ' || h, 'neardup', 's1_queries', format('SELECT id FROM s1 WHERE is_within(sig, v.sig, %s)', h), 5, 50),
	contest('s1 ' || h, 'neardup, search = scan', 's1_queries', format('SELECT id FROM s1 WHERE is_within(sig, v.sig, %s)', h), 5, 50, 'enable_seqscan = off, neardup.search = scan')
FROM unnest('{100,140}'::int[]) h \g /dev/null

CREATE TABLE s1_few AS SELECT * FROM s1 WHERE id < 50000;
CREATE TABLE s1_few_bands AS SELECT id, sig, bands25 AS bands FROM s1_bands WHERE id < 50000;
CREATE TABLE s1_plain (id int PRIMARY KEY, sig bit(400) NOT NULL);
CREATE TABLE s1_own (id int PRIMARY KEY, sig bit(400) NOT NULL);
CREATE INDEX ON s1_own USING neardup (sig);
CREATE TABLE s1_gin (id int PRIMARY KEY, sig bit(400) NOT NULL, bands int[]);
CREATE INDEX ON s1_gin USING gin (bands);
SELECT time_inserts('s1', 'primary key alone', 's1_few', 's1_plain'),
	time_inserts('s1', 'neardup', 's1_few', 's1_own'),
	CASE WHEN run <= 3 THEN time_inserts('s1', 'GIN, 25 bands of 16 bits', 's1_few_bands', 's1_gin') END
FROM generate_series(1, 7) run \g /dev/null

SELECT show('s1', 'S1: 300,000 fingerprints of 400 bits, distance 60');
SELECT show('s1 100', 'S1, distance 100 (resemblance 0.5)');
SELECT show('s1 140', 'S1, distance 140 (resemblance 0.3)');
SELECT show_builds('s1', 'S1: building', 300000 * 50);
SELECT show_inserts('s1', 'S1: single-row inserts, 50,000 of them into an empty table');
