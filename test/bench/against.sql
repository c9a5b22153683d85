-- Data and functions for comparing two builds of the library (BENCH=against).
CREATE EXTENSION neardup;

CREATE FUNCTION words(first int, number int) RETURNS text[] LANGUAGE sql AS
	$$SELECT array_agg('w' || hashint4(i) ORDER BY i) FROM generate_series(first, first + number - 1) i$$;

CREATE TABLE m AS
SELECT i AS id, to_minhash(to_shingles(words(i / 3 * 100, 50) || words(-10 * i, 1 + i % 9))) AS sig FROM generate_series(1, 100000) i;
CREATE TABLE form AS SELECT i AS id, to_minhash(to_shingles(words(1, 70) || words(-10 * i, 30))) AS sig FROM generate_series(1, 20000) i;
CREATE TABLE family AS SELECT i AS id, to_minhash(s) AS sig, s FROM generate_series(1, 3000) i, to_shingles(words(1, 83) || words(-20 * i, 17)) s;
CREATE TABLE h AS SELECT i AS id, hashint8extended(i / 3, 7) # (1::bigint << i % 60) AS hash FROM generate_series(1, 300000) i;
CREATE TABLE sets AS SELECT i AS id, to_shingles(words(i / 3 * 100, 50) || words(-10 * i, 1 + i % 9)) AS sig FROM generate_series(1, 5000) i;
CREATE TABLE long_texts AS SELECT array_to_string(words(i * 1000, 600), ' ') AS body FROM generate_series(1, 300) i;
CREATE TABLE short_texts AS SELECT array_to_string(words(i * 10, 6), ' ') AS body FROM generate_series(1, 20000) i;
CREATE TABLE filled (id int PRIMARY KEY, sig minhash);
CREATE INDEX ON m USING neardup (sig);
CREATE INDEX ON h USING neardup (hash);
CREATE INDEX ON filled USING neardup (sig);
VACUUM (FREEZE, ANALYZE);

-- Makes a function name(argument) that runs a statement, which returns one bigint, for each query q.
CREATE FUNCTION make_searches(name text, argument text, queries text, statement text) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format($function$
		CREATE FUNCTION %I(argument %s) RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE
			q record;
			found bigint := 0;
		BEGIN
			FOR q IN %s LOOP
				found := found + (%s);
			END LOOP;
			RETURN found;
		END $$ SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_sort = off
		$function$, name, argument, queries, statement);
END
$make$;
SELECT make_searches('similar_to', 'float8', 'SELECT sig FROM m WHERE id % 500 = 1',
		'SELECT count(*) FROM m WHERE is_similar(m.sig, q.sig, argument)'),
	make_searches('nearest', 'int', 'SELECT sig FROM m WHERE id % 2500 = 1',
		'SELECT sum(id) FROM (SELECT id FROM m ORDER BY m.sig <-> q.sig LIMIT argument) t'),
	make_searches('within_distance', 'int', 'SELECT hash FROM h WHERE id % 1500 = 1',
		'SELECT count(*) FROM h WHERE is_within(h.hash, q.hash, argument)') \g /dev/null

CREATE FUNCTION insert_rows() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	q record;
BEGIN
	TRUNCATE filled;
	FOR q IN SELECT * FROM m WHERE id <= 20000 LOOP
		INSERT INTO filled VALUES (q.id, q.sig);
	END LOOP;
	RETURN (SELECT count(*) FROM filled);
END $$;

CREATE FUNCTION build() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	DROP INDEX IF EXISTS built;
	CREATE INDEX built ON h USING neardup (hash);
	RETURN pg_relation_size('built');
END $$;

CREATE TABLE tasks (place serial, what text, query text);
INSERT INTO tasks (what, query) VALUES
	('200 searches of 100,000 minhash(512, 1) at 0.9', 'SELECT similar_to(0.9)'),
	('... at 0.8', 'SELECT similar_to(0.8)'),
	('... at 0.7', 'SELECT similar_to(0.7)'),
	('... at 0.3', 'SELECT similar_to(0.3)'),
	('40 searches for the ten nearest of them', 'SELECT nearest(10)'),
	('200 searches of 300,000 bigint within distance 3', 'SELECT within_distance(3)'),
	('... within distance 10', 'SELECT within_distance(10)'),
	('build an index of 300,000 bigint', 'SELECT build()'),
	('insert 20,000 rows, one statement each', 'SELECT insert_rows()'),
	('to_minhash of 300 texts of 6 kB', 'SELECT count(to_minhash(body)) FROM long_texts'),
	('to_minhash of 20,000 texts of 70 bytes', 'SELECT count(to_minhash(body)) FROM short_texts'),
	('to_simhash of 20,000 texts of 70 bytes', 'SELECT count(to_simhash(body)) FROM short_texts'),
	('to_shingles of 20,000 texts of 70 bytes', 'SELECT count(to_shingles(body)) FROM short_texts'),
	('similarity of 100,000 rows without an index', $$SELECT count(*) FROM m WHERE similarity(sig, (SELECT sig FROM m LIMIT 1)) > 0.5$$),
	('text format of 20,000 minhash, out and in', 'SELECT count(sig::text::minhash) FROM m WHERE id <= 20000'),
	('neardup_pairs of 100,000 minhash at 0.8', $$SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM m', 0.8)$$),
	('neardup_pairs of 20,000 minhash of one form at 0.8', $$SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM form', 0.8)$$),
	('... of 3,000 minhash of one family just below 0.8, decided by shingles', $$SELECT count(*) FROM neardup_pairs('SELECT id, sig, s FROM family', 0.8)$$),
	('neardup_clusters of 100,000 minhash at 0.8', $$SELECT count(*) FROM neardup_clusters('SELECT id, sig FROM m', 0.8)$$),
	('neardup_pairs of 5,000 shingles at 0.7', $$SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM sets', 0.7)$$);

CREATE TABLE timed (library text, round int, place int, ms float8, answer bigint);

-- Runs each task several times, and records the shortest time.
CREATE PROCEDURE time_tasks(library text, round int, repeats int DEFAULT 3) LANGUAGE plpgsql AS $$
DECLARE
	task tasks%ROWTYPE;
	start timestamptz;
	ms float8;
	answer bigint;
BEGIN
	FOR task IN SELECT * FROM tasks ORDER BY place LOOP
		ms := 'infinity';
		FOR repeat IN 1 .. repeats LOOP
			start := clock_timestamp();
			EXECUTE task.query INTO answer;
			ms := least(ms, extract(epoch FROM clock_timestamp() - start) * 1000);
			COMMIT;
		END LOOP;
		INSERT INTO timed VALUES (library, round, task.place, ms, answer);
	END LOOP;
END $$;

-- The ratio is the median over the rounds, in each of which both libraries had their turn.
CREATE VIEW comparison AS
SELECT place, what,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY old.ms) AS old_ms, percentile_cont(0.5) WITHIN GROUP (ORDER BY new.ms) AS new_ms,
	percentile_cont(0.5) WITHIN GROUP (ORDER BY new.ms / old.ms) AS ratio, min(new.ms / old.ms) AS least, max(new.ms / old.ms) AS most,
	min(new.ms) / min(old.ms) AS ratio_of_best, count(*) AS rounds, bool_and(old.answer = new.answer) AS equal
FROM timed old JOIN timed new USING (round, place) JOIN tasks USING (place)
WHERE old.library = 'old' AND new.library = 'new'
GROUP BY place, what;
