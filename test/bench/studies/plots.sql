-- Data of plots, for BENCH=plots: writes CSV files in the present folder.
SET client_min_messages = warning;
CREATE EXTENSION neardup_study CASCADE;
\pset tuples_only off
\pset format csv
\pset footer off

-- 500 pairs of sets of 1,000 generated elements, which share so many of them that resemblances are spread evenly.
-- The elements are named by the pair and their number, so each run makes the same pairs.
CREATE FUNCTION elements(pair int, first int, last int) RETURNS text[] LANGUAGE sql IMMUTABLE AS
	$$SELECT array_agg(format('%s of %s', i, pair)) FROM generate_series(first, last) i$$;
\o error-band.csv
SELECT shared / (2000.0::float8 - shared) AS resemblance, minhash_error(512, 1, shared / (2000.0::float8 - shared)) AS error,
	similarity(to_minhash(to_shingles(elements(pair, 1, 1000))), to_minhash(to_shingles(elements(pair, 1001 - shared, 2000 - shared)))) AS estimate
FROM (SELECT pair, round(2000 * pair / (500.0 + pair))::int AS shared FROM generate_series(1, 500) pair) pairs ORDER BY 1;

-- 500 of this machine's texts beside all others: how many pairs have which similarity, and how many of so many pairs
-- would have it if no two texts shared anything.
CREATE TABLE documents (source text, name text, body text);
\o
\copy documents from pstdin
CREATE TABLE signed AS
SELECT row_number() OVER (ORDER BY md5(name), name) AS id, to_minhash(body) AS sig FROM documents WHERE source = 'description';
DELETE FROM signed WHERE cardinality(sig) = 0;
CREATE TABLE counts AS
SELECT least(floor(similarity(a.sig, b.sig) * 50), 49) AS bin, count(*) AS pairs FROM signed a JOIN signed b ON a.id <> b.id WHERE a.id <= 500 GROUP BY 1;
\o similarity-histogram.csv
SELECT bin / 50.0::float8 AS similarity, coalesce(c.pairs, 0) AS pairs,
	total * (CASE bin WHEN 0 THEN 1 ELSE minhash_probability(512, 1, 0, bin / 50.0::float8) END - minhash_probability(512, 1, 0, (bin + 1) / 50.0::float8)) AS strangers,
	texts
FROM generate_series(0, 49) bin LEFT JOIN counts c USING (bin), (SELECT sum(pairs) FROM counts) t (total), (SELECT count(*) FROM signed) s (texts)
ORDER BY bin;
\o
