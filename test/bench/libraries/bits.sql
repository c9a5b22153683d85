-- neardup on the bits that FAISS searches: the index and a scan, for the same queries, and all pairs.
CREATE TABLE hex (id int, bits text);
CREATE TABLE query_hex (n int, bits text);
\copy hex FROM 'libraries.bits.hex'
\copy query_hex FROM 'libraries.query_bits.hex'
CREATE TABLE bits AS SELECT id, hex_to_bit(bits)::bit(512) AS sig FROM hex;
CREATE TABLE query_bits AS SELECT n, hex_to_bit(bits)::bit(512) AS sig FROM query_hex;
DROP TABLE hex, query_hex;
SELECT make_peer('neardup_bits', 'neardup on the bits of FAISS', 'yes, of signatures', 'index', false),
	make_peer('scan_bits', 'sequential scan over the bits of FAISS', 'yes, of signatures', 'none', false);
SELECT time_statement('neardup_bits', 'index', 'CREATE INDEX ON bits USING neardup (sig)');
VACUUM ANALYZE bits;

CREATE FUNCTION time_bits(peer text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	first timestamptz := clock_timestamp();
	start timestamptz;
	q record;
	ids int[];
BEGIN
	FOR q IN SELECT * FROM query_bits ORDER BY n LOOP
		EXIT WHEN q.n > 10 AND clock_timestamp() > first + make_interval(secs => seconds);
		start := clock_timestamp();
		ids := ARRAY(SELECT id FROM bits WHERE is_within(sig, q.sig, 51));
		INSERT INTO timed VALUES (peer, 'signed search', q.n, extract(epoch FROM clock_timestamp() - start) * 1000);
		INSERT INTO found SELECT $1, 'search', q.n, unnest(ids);
	END LOOP;
END $$;
SELECT time_bits('neardup_bits', :seconds);
SET enable_indexscan = off;
SET enable_bitmapscan = off;
DISCARD PLANS;
SELECT time_bits('scan_bits', least(:seconds, 10));
