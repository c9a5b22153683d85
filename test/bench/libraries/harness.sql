-- What BENCH=libraries adds to the tables of BENCH=peers.
ALTER TABLE queries ALTER COLUMN id SET DEFAULT 0;
CREATE TABLE families (id int PRIMARY KEY, family bigint NOT NULL);
CREATE TABLE client_times (peer text, median float8, mean float8);	-- in microseconds

-- Notes the greatest memory of the sessions that work for a peer: this session's, with the shared buffers that it
-- touched, but without parallel workers.
CREATE FUNCTION note_memory(peer text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO measured
	SELECT peer, 'memory', 'MB', kb::float8 * 1024 / 1e6 FROM substring(pg_read_file('/proc/self/status', 0, 10000, true) FROM 'VmHWM:\s*(\d+)') AS kb WHERE kb IS NOT NULL
	ON CONFLICT ON CONSTRAINT measured_pkey DO UPDATE SET value = greatest(measured.value, excluded.value)
$$;
