-- smlar's indexes support the cosine of arrays, which is at least 2 t / (1 + t) where the resemblance is t; its formula, a float4, then decides.
SET client_min_messages = warning;
CREATE SCHEMA smlar;
CREATE EXTENSION smlar SCHEMA smlar;
SELECT time_build('sets, words', 'smlar, GIN', 'docs_smlar', 'CREATE INDEX docs_smlar ON docs USING gin (hashes smlar._int8_sml_ops)', 1) \g /dev/null
VACUUM ANALYZE docs;
SELECT contest('similar, words, ' || t, 'smlar, GIN', 'queries',
	format('SELECT id FROM docs WHERE hashes OPERATOR(smlar.%%) v.hashes AND smlar.smlar(hashes, v.hashes, ''N.i / (N.a + N.b - N.i)'') >= %s::float4', t), 1, 200,
	'enable_seqscan = off, smlar.threshold = ' || 2 * t / (1 + t) - 1e-6)
FROM unnest('{0.7,0.5}'::float8[]) AS t \g /dev/null
