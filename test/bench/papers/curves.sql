-- S-curves (Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4): the probability that a
-- pair becomes a candidate, or that a search at 0.8 reports it, computed and measured.  :pairs pairs of
-- generated sets of 1,000 elements are measured for each of 17 resemblances.

CREATE TABLE curves (place int, curve text, k int, b int, rows int);	-- rows: of a band; NULL: a search at 0.8
INSERT INTO curves VALUES (1, '128 x 1', 128, 1, NULL), (2, '512 x 1', 512, 1, NULL), (3, '1024 x 1', 1024, 1, NULL),
	(4, '20 bands of 5', 100, 32, 5), (5, '13 bands of 7', 91, 32, 7), (6, '50 bands of 2', 100, 32, 2), (7, '5 bands of 20', 100, 32, 20);

CREATE FUNCTION computed(c curves, resemblance float8) RETURNS float8 LANGUAGE sql AS
	$$SELECT CASE WHEN c.rows IS NULL THEN minhash_probability(c.k, c.b, resemblance, 0.8) ELSE lsh_probability(resemblance, c.k / c.rows, c.rows) END$$;

-- Two sets of 1,000 elements that share so many that their resemblance is the nearest possible.
CREATE FUNCTION shared(resemblance float8) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT round(2000 * resemblance / (1 + resemblance))::int$$;
CREATE FUNCTION elements(pair bigint, first int, last int) RETURNS shingles LANGUAGE sql IMMUTABLE AS
	$$SELECT to_shingles(array_agg(hashint8extended(pair * 10000 + i, 1))) FROM generate_series(first, last) i$$;
CREATE TABLE pairs AS
SELECT step, elements(step * 1000000 + n, 1, 1000) AS one, elements(step * 1000000 + n, 1001 - shared(step / 20.0), 2000 - shared(step / 20.0)) AS other
FROM generate_series(4, 20) step, generate_series(1, :pairs) n;

CREATE FUNCTION is_found(c curves, one minhash, other minhash) RETURNS boolean LANGUAGE sql AS
	$$SELECT CASE WHEN c.rows IS NULL THEN is_similar(one, other, 0.8) ELSE minhash_bands(one, c.rows) && minhash_bands(other, c.rows) END$$;
CREATE TABLE measured AS
SELECT c.curve, step, avg(is_found(c, to_minhash(one, c.k, c.b), to_minhash(other, c.k, c.b))::int)::float8 AS share
FROM pairs, curves c GROUP BY c.curve, step;

-- The true resemblance of the sets differs from step / 20 by at most 0.0005.
SELECT must(format('measured curve %s at %s: %s, computed %s', curve, step / 20.0, share, p), abs(share - p) <= 0.01 + 4 * sqrt(p * (1 - p) / :pairs))
FROM measured JOIN curves c USING (curve), LATERAL (SELECT shared(step / 20.0)::float8 AS both_have) s, LATERAL (SELECT computed(c, both_have / (2000 - both_have)) AS p) p \g /dev/null

-- As columns: the computed curves, then the measured shares.
SELECT format('COPY (SELECT x / 200.0::float8 AS resemblance, %s, %s FROM generate_series(40, 200) x ORDER BY x) TO STDOUT CSV HEADER',
	string_agg(format('(SELECT round(computed(c, x / 200.0)::numeric, 6) FROM curves c WHERE curve = %L) AS %I', curve, curve), ', ' ORDER BY place),
	string_agg(format('(SELECT share FROM measured WHERE curve = %L AND step * 10 = x) AS %I', curve, 'measured ' || curve), ', ' ORDER BY place)) AS copy
FROM curves \gset
:copy \g s-curves.csv
