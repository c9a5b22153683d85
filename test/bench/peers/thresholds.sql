-- The time of a search at several thresholds.

-- Some peers have a setting for the threshold; in the functions of the others it is written as 0.8.
CREATE TABLE threshold_settings (peer text PRIMARY KEY, name text);
INSERT INTO threshold_settings VALUES ('trgm_gin', 'pg_trgm.similarity_threshold'), ('trgm_gist', 'pg_trgm.similarity_threshold'),
	('rum_array', 'rum.array_similarity_threshold'), ('smlar_gin', 'smlar.threshold'), ('smlar_gist', 'smlar.threshold'),
	('similarity', 'pg_similarity.jaccard_threshold'), ('rdkit', 'rdkit.tanimoto_threshold');

-- smlar's setting is one of the cosine, which is at least this where the resemblance is at least the threshold.
CREATE FUNCTION setting_for(name text, threshold float8) RETURNS text LANGUAGE sql AS
	$$SELECT CASE name WHEN 'smlar.threshold' THEN trunc((2 * threshold / (1 + threshold))::numeric, 4) ELSE threshold END::text$$;

-- Makes a peer's search at a threshold from that at 0.8.  Returns whether it has a threshold.
CREATE FUNCTION make_search_at(peer text, threshold text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	source text := pg_get_functiondef(to_regproc(format('%I', peer || '_search')));
	other text := regexp_replace(source, '\m0\.8\M', threshold, 'g');
BEGIN
	EXECUTE replace(other, peer || '_search', peer || '_at');
	EXECUTE replace(pg_get_functiondef(to_regproc(format('%I', peer || '_search_timed'))), peer || '_search', peer || '_at');
	RETURN source ~ '\m0\.8\M' OR peer IN (SELECT s.peer FROM threshold_settings s);
END $$;

CREATE FUNCTION try_thresholds(name text, thresholds text[], seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	threshold text;
	setting text := s.name FROM threshold_settings s WHERE s.peer = $1;
BEGIN
	FOREACH threshold IN ARRAY thresholds LOOP
		EXIT WHEN NOT make_search_at(name, threshold);
		IF setting IS NOT NULL THEN
			PERFORM set_config(setting, setting_for(setting, threshold::float8), false);
		END IF;
		PERFORM try_search('thresholds', name, threshold, 'at', seconds);
	END LOOP;
END $$;
SELECT try_thresholds(peer, string_to_array(:'thresholds', ' '), :seconds) FROM (SELECT * FROM peers WHERE skipped IS NULL AND to_regproc(format('%I', peer || '_search')) IS NOT NULL ORDER BY place) p;

-- The median time of each peer's searches, and of what a scan of the signatures finds, the share that each other search of
-- signatures finds.
CREATE VIEW threshold_points AS
WITH queries AS (
	SELECT setting, peer, query FROM tried_timed JOIN (SELECT setting, query FROM tried_timed WHERE curve = 'thresholds' AND peer = 'scan') s USING (setting, query)
	WHERE curve = 'thresholds' AND peer IN ('neardup', 'bands', 'bands_gin', 'hnsw', 'ivfflat'))
SELECT 'ms' AS measure, setting::float8 AS threshold, peer, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 4) AS value
FROM tried_timed WHERE curve = 'thresholds' GROUP BY setting, peer
UNION ALL
SELECT 'found', q.setting::float8, q.peer, round(count(f.id)::numeric / nullif(count(s.id), 0), 4)
FROM queries q JOIN tried_found s ON s.curve = 'thresholds' AND s.peer = 'scan' AND (s.setting, s.query) = (q.setting, q.query)
LEFT JOIN tried_found f ON f.curve = 'thresholds' AND (f.peer, f.setting, f.query, f.id) = (q.peer, q.setting, q.query, s.id)
GROUP BY q.setting, q.peer;

-- Lines of CSV: a row for each threshold, and a column for each peer.
CREATE FUNCTION wide_thresholds(measure text) RETURNS SETOF text LANGUAGE sql AS $$
	WITH points AS (SELECT threshold, peer, value FROM threshold_points p WHERE p.measure = $1),
	columns AS (SELECT place, peer FROM peers WHERE peer IN (SELECT peer FROM points)),
	thresholds AS (SELECT DISTINCT threshold FROM points)
	SELECT 'threshold,' || string_agg(peer, ',' ORDER BY place) FROM columns
	UNION ALL (
		SELECT threshold || ',' || string_agg(coalesce(value::text, ''), ',' ORDER BY place)
		FROM thresholds CROSS JOIN columns LEFT JOIN points USING (threshold, peer) GROUP BY threshold ORDER BY threshold)
$$;
