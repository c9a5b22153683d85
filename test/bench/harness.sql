-- Runs statements by turns (A B A B), so that a slower machine slows all of them.
CREATE EXTENSION neardup_study CASCADE;

CREATE TABLE runs (
	race text,
	label text,
	place int,
	run int,
	ms float8
);

CREATE FUNCTION race(race text, labels text[], statements text[], runs int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz;
BEGIN
	FOR run IN 0 .. runs	-- the first one warms up
	LOOP
		FOR i IN 1 .. array_length(statements, 1)
		LOOP
			start := clock_timestamp();
			EXECUTE statements[i];
			INSERT INTO runs
			SELECT race, labels[i], i, run, extract(epoch FROM clock_timestamp() - start) * 1000
			WHERE run > 0;
		END LOOP;
	END LOOP;
END
$$;

CREATE VIEW medians AS
SELECT race, label, place, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS ms,
	min(ms) AS least, max(ms) AS most, count(*) AS runs
FROM runs GROUP BY race, label, place;
