-- The collection of spotsigs.c in the database: the exact join, signatures and the index.
-- :documents and :threshold are those of spotsigs.c; its lines are in ways.tsv, and those of a
-- twelfth of the documents at ten thresholds in sweep.tsv.
SET maintenance_work_mem = '1GB';
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;

CREATE TABLE ways (
	place serial,
	what text,
	threads int,
	seconds float8,
	source text DEFAULT 'measured',
	preparation float8,
	documents bigint DEFAULT :documents,
	compared bigint,
	pairs bigint,
	recall float8,
	megabytes float8,
	note text
);

-- ---- Published --------------------------------------------------------------------
-- How many threads the others had, and how many pairs there were, is not known here.
INSERT INTO ways (what, threads, seconds, source, documents, note) VALUES
	('SpotSigs', 8, 17.1, 'published', 1200000, 'Theobald et al. 2008, at 0.9, on their machine and collection'),
	('no partitions', NULL, 196.7, 'published', 1200000, 'the same'),
	('LSH', NULL, 44.5, 'published', 1200000, 'the same');

-- ---- Measured by spotsigs.c ---------------------------------------------------------
CREATE TABLE timed (place serial, what text, seconds float8, preparation float8, done bigint, compared bigint, pairs bigint, sum numeric, megabytes float8, threshold float8);
\copy timed (what, seconds, preparation, done, compared, pairs, sum, megabytes, threshold) FROM 'ways.tsv'

-- Preparation does not depend on how many documents are compared.
INSERT INTO ways (what, threads, seconds, preparation, compared, pairs, megabytes, note)
SELECT CASE what WHEN 'neardup' THEN 'neardup, join of sets' ELSE what END, 1,
	preparation + (seconds - preparation) * :documents / done, nullif(preparation, 0), CASE WHEN done = :documents THEN compared END, CASE WHEN done = :documents THEN pairs END, megabytes,
	CASE WHEN done < :documents THEN format('estimated from %s documents', done) ELSE 'in memory, without a server' END
FROM timed ORDER BY place;

-- The same at other thresholds.
CREATE TABLE sweep (LIKE timed);
ALTER TABLE sweep DROP place;
\copy sweep FROM 'sweep.tsv'
CREATE VIEW estimated AS
SELECT *, preparation + (seconds - preparation) * max(done) OVER () / done AS estimate, done < max(done) OVER () AS given_up FROM sweep;

-- ---- In the database --------------------------------------------------------------
CREATE UNLOGGED TABLE loaded (id int, spots bigint[]);
\copy loaded FROM 'spots.rows' (FORMAT binary)
CREATE UNLOGGED TABLE spots AS SELECT id, to_shingles(spots) AS s FROM loaded;
DROP TABLE loaded;
VACUUM (FREEZE, ANALYZE) spots;

CREATE FUNCTION seconds_since(start timestamptz) RETURNS float8 LANGUAGE sql VOLATILE AS
	$$SELECT extract(epoch FROM clock_timestamp() - start)::float8$$;

-- Runs a statement that returns pairs, keeps these, and notes how long it took.
CREATE FUNCTION time_pairs(what text, workers int, preparation float8, name text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
BEGIN
	PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
	start := clock_timestamp();
	EXECUTE format('CREATE TABLE %I AS SELECT least(a, b) AS a, greatest(a, b) AS b FROM (%s) p', name, statement);
	INSERT INTO ways (what, threads, seconds, preparation, note)
	SELECT what, 1 + workers, coalesce(preparation, 0) + seconds_since(start), preparation, 'in the database';
	EXECUTE format('UPDATE ways w SET pairs = (SELECT count(*) FROM %I) WHERE place = (SELECT max(place) FROM ways)', name);
END
$$;

SELECT time_pairs('neardup_pairs on spot signatures', 0, NULL, 'exact_pairs',
	format('SELECT * FROM neardup_pairs(''SELECT id, s FROM spots'', %s, multiset => true, equal => ''all'')', :'threshold')) \g /dev/null

-- Signatures of 64 bytes, made once, as a stored column is; then the pairs, verified by the spot signatures, as sets of
-- numbered copies.
SELECT clock_timestamp() AS start \gset
CREATE UNLOGGED TABLE signed AS SELECT id, to_minhash(c, 512, 1) AS sig, c AS s FROM spots, shingles_copies(s) AS c;
SELECT seconds_since(:'start') AS signing \gset
VACUUM (FREEZE, ANALYZE) signed;
SELECT time_pairs('neardup_pairs on minhash(512, 1), verified', workers, :signing, 'verified_pairs_' || workers,
	format('SELECT * FROM neardup_pairs(''SELECT id, sig, s FROM signed'', %s, equal => ''all'')', :'threshold'))
FROM unnest('{0,1}'::int[]) workers \g /dev/null

-- The index: its build, and a search for each of some documents.
SELECT clock_timestamp() AS start \gset
SET max_parallel_maintenance_workers = 0;
CREATE INDEX signed_sig ON signed USING neardup (sig);
SELECT seconds_since(:'start') AS build \gset
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION search_all(most int, threshold float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	query record;
	found bigint := 0;
BEGIN
	FOR query IN SELECT id, sig, s FROM signed ORDER BY hashint4(id) LIMIT most
	LOOP
		found := found + (SELECT count(*) FROM signed d
			WHERE is_similar(d.sig, query.sig, threshold - 3 * minhash_error(512, 1, threshold)) AND d.id > query.id AND similarity(d.s, query.s) >= threshold);
	END LOOP;
	RETURN found;
END
$$;
SELECT search_all(1000, :threshold) \g /dev/null
SELECT clock_timestamp() AS start, least(:documents, 20000) AS searched \gset
SELECT search_all(:searched, :threshold) \g /dev/null
INSERT INTO ways (what, threads, seconds, preparation, note)
SELECT 'neardup index, a search for each document', 1, :signing + :build + seconds_since(:'start') * :documents / :searched, :signing + :build,
	CASE WHEN :searched < :documents THEN 'estimated from ' || :searched || ' searches' ELSE 'in the database' END;

-- ---- Answers agree ------------------------------------------------------------------
UPDATE ways SET recall = pairs::float8 / (SELECT count(*) FROM exact_pairs) WHERE source = 'measured' AND note NOT LIKE 'estimated%';

SELECT must('pairs are found', (SELECT count(*) > :documents / 100 FROM exact_pairs)),
	must('neardup_pairs and spotsigs.c find the same pairs', (
		SELECT count(*) = 5 FROM timed t, (SELECT count(*) AS pairs, sum(((a * 2654435761) # (b * 40503)) & 4294967295) AS sum FROM exact_pairs) e
		WHERE t.what = 'LSH' OR t.done < :documents OR (t.pairs = e.pairs AND t.sum = e.sum))),
	must('the exact ways find the same at all thresholds', NOT EXISTS (
		SELECT FROM estimated WHERE what <> 'LSH' AND NOT given_up GROUP BY threshold HAVING count(DISTINCT (pairs, sum)) <> 1)),
	must('LSH finds most pairs at all thresholds, and no others', (
		SELECT count(*) = 0 FROM estimated l JOIN estimated n USING (threshold) WHERE l.what = 'LSH' AND n.what = 'neardup' AND NOT l.given_up AND l.pairs NOT BETWEEN .98 * n.pairs AND n.pairs)),
	must('LSH finds most pairs, and no others', (SELECT t.pairs BETWEEN .99 * count(*) AND count(*) FROM timed t, exact_pairs WHERE what = 'LSH' GROUP BY t.pairs)),
	must('signatures find most pairs', (SELECT min(recall) > .99 FROM ways WHERE what LIKE '%verified')),
	must('signatures find no others', NOT EXISTS (TABLE verified_pairs_0 EXCEPT TABLE exact_pairs)),
	must('a worker changes nothing', NOT EXISTS (TABLE verified_pairs_0 EXCEPT TABLE verified_pairs_1)) \g /dev/null

\copy (SELECT what, threads, round(seconds::numeric, 2) AS seconds, source, round(preparation::numeric, 2) AS preparation, documents, compared, pairs, round(recall::numeric, 4) AS recall, megabytes AS "MB", note FROM ways ORDER BY place) TO 'spotsigs.csv' CSV HEADER
\copy (SELECT threshold, round((max(estimate) FILTER (WHERE what = 'SpotSigs'))::numeric, 2) AS "SpotSigs", round((max(estimate) FILTER (WHERE what = 'neardup'))::numeric, 2) AS "neardup", round((max(estimate) FILTER (WHERE what = 'no partitions'))::numeric, 2) AS "no partitions", round((max(estimate) FILTER (WHERE what = 'LSH'))::numeric, 2) AS "LSH", round((max(estimate) FILTER (WHERE what = 'no pruning'))::numeric, 2) AS "no pruning" FROM estimated GROUP BY threshold ORDER BY threshold) TO 'spotsigs-sweep.csv' CSV HEADER
