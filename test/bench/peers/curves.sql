-- Searches at several thresholds and with several settings: what the curves of thresholds.csv, recall.csv and
-- nearest.csv are made of.
CREATE TABLE tried_timed (curve text, peer text, setting text, query int, ms float8);
CREATE TABLE tried_found (curve text, peer text, setting text, query int, id int);

-- Searches with a function of a peer, if it has one, and keeps times and answers for a curve.
CREATE FUNCTION try_search(curve text, peer text, setting text, kind text, seconds float8, of regclass DEFAULT 'queries') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	IF to_regproc(format('%I', peer || '_' || kind || '_timed')) IS NULL THEN
		RETURN;
	END IF;
	PERFORM time_searches(peer, kind, seconds, 'tried', of, 1);
	WITH gone AS (DELETE FROM timed t WHERE t.kind = 'tried' RETURNING *)
	INSERT INTO tried_timed SELECT $1, $2, $3, query, ms FROM gone;
	WITH gone AS (DELETE FROM found f WHERE f.kind = 'tried' RETURNING *)
	INSERT INTO tried_found SELECT $1, $2, $3, query, id FROM gone;
END $$;

-- The same with a setting of a peer, which has its old value afterwards.
CREATE FUNCTION try_setting(curve text, peer text, name text, value int, kind text, seconds float8, of regclass DEFAULT 'queries') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	old text := current_setting(name, true);
BEGIN
	PERFORM set_config(name, value::text, false);
	PERFORM try_search(curve, peer, format('%s = %s', split_part(name, '.', 2), value), kind, seconds, of);
	PERFORM set_config(name, old, false);
END $$;

-- The settings of pgvector that trade recall for time.
CREATE TABLE vector_settings AS
SELECT 'hnsw' AS peer, 'hnsw.ef_search' AS name, unnest('{10,20,40,100,200,400,800}'::int[]) AS value
UNION ALL
SELECT 'ivfflat', 'ivfflat.probes', probes
FROM unnest('{1,2,4,8,16,32,64}'::int[]) probes WHERE probes <= greatest(1, (SELECT count(*) / 1000 FROM docs));
