-- Pairs by bands.  The keys and the signatures are in one table, which is distributed by the key.
SELECT bands, rows, round(probability::numeric, 4) AS recall FROM lsh_parameters(0.7, 512, 0.999, b => 1);
CREATE TABLE bands (key bigint NOT NULL, id bigint NOT NULL, sig minhash(512) NOT NULL);
SELECT create_distributed_table('bands', 'key', shard_count => 4);
INSERT INTO bands SELECT key, id, sig FROM docs, lsh_parameters(0.7, 512, 0.999, b => 1) p, unnest(minhash_bands(sig, p.rows)) key;
SELECT count(*) FROM (
	SELECT DISTINCT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.id < b.id WHERE is_similar(a.sig, b.sig, 0.7)) pairs;
-- Without the signature, the join needs rows of other shards.
SELECT count(*) FROM (
	SELECT DISTINCT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.id < b.id
	JOIN docs x ON x.id = a.id JOIN docs y ON y.id = b.id WHERE is_similar(x.sig, y.sig, 0.7)) pairs;
SET citus.enable_repartition_joins = on;
SELECT count(*) FROM (
	SELECT DISTINCT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.id < b.id
	JOIN docs x ON x.id = a.id JOIN docs y ON y.id = b.id WHERE is_similar(x.sig, y.sig, 0.7)) pairs;
RESET citus.enable_repartition_joins;
