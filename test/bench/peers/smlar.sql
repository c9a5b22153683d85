-- smlar on arrays of the shingles' hashes.  Its indexes support the cosine, which is at least
-- 8/9 where the resemblance is at least 0.8; its formula for the resemblance then decides.
-- It has a schema of its own because RUM has the same operator.
ALTER DATABASE :"DBNAME" SET smlar.threshold = 0.8888;
SET smlar.threshold = 0.8888;
SELECT make_peer('smlar_gin', 'smlar, GIN, arrays of shingles', 'yes, of texts', 'index'),
	make_peer('smlar_gist', 'smlar, GiST, arrays of shingles', 'yes, of texts', 'index');
SELECT time_statement(peer, 'build', format('ALTER TABLE %I ADD COLUMN hashes bigint[] GENERATED ALWAYS AS (shingle_hashes(to_shingles(body))) STORED', peer || '_texts')),
	time_statement(peer, 'build', format('CREATE INDEX ON %I USING %s (hashes smlar._int8_sml_ops)', peer || '_texts', method)),
	make_function(peer, 'search', 'h bigint[] := shingle_hashes(to_shingles(q));',
		format($$SELECT id FROM %I WHERE hashes OPERATOR(smlar.%%) h AND smlar.smlar(hashes, h, 'N.i / (N.a + N.b - N.i)') >= 0.8$$, peer || '_texts')),
	make_insert(peer, format('INSERT INTO %I VALUES (id, body)', peer || '_texts'))
FROM (VALUES ('smlar_gin', 'gin'), ('smlar_gist', 'gist')) v(peer, method);
