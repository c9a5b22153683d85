-- The standard error of an estimate, and the share of documents at a distance x from a
-- threshold that it puts on the wrong side, computed from
-- Var = E(1 - E) / (k (1 - 2^-b)^2) and a normal distribution.  Then the noise floor: how
-- many unrelated pairs reach a threshold, by the binomial distribution.
CREATE FUNCTION standard_error(r float8, k int, b int) RETURNS float8 LANGUAGE sql AS
	$$SELECT sqrt(e * (1 - e) / k) / (1 - 2 ^ -b) FROM (SELECT r + (1 - r) * 2 ^ -b AS e) p$$;

-- The tail of the normal distribution beyond z (Abramowitz and Stegun, 7.1.26).
CREATE FUNCTION beyond(z float8) RETURNS float8 LANGUAGE sql AS $$
	SELECT t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * exp(-z * z / 2) / 2
	FROM (SELECT 1 / (1 + 0.3275911 * z / sqrt(2)) AS t) p
$$;

CREATE FUNCTION percent(z float8) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN beyond(z) < 0.00005 THEN '0' ELSE round((100 * beyond(z))::numeric, CASE WHEN beyond(z) < 0.01 THEN 2 ELSE 1 END) || ' %' END
$$;

\echo
\echo '| k | b | bytes | standard error at 0.5 | at 0.8 | at 0.9 | t = 0.8: reported at 0.75 | missed at 0.85 | reported at 0.7 | missed at 0.9 |'
\echo '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', k, b, k * b / 8,
	round(standard_error(0.5, k, b)::numeric, 4), round(standard_error(0.8, k, b)::numeric, 4), round(standard_error(0.9, k, b)::numeric, 4),
	percent(0.05 / standard_error(0.75, k, b)), percent(0.05 / standard_error(0.85, k, b)),
	percent(0.1 / standard_error(0.7, k, b)), percent(0.1 / standard_error(0.9, k, b)))
FROM unnest('{64,128,256,512,1024,4096}'::int[]) k, unnest('{1,2,4,8}'::int[]) b
ORDER BY k, b;

-- An unrelated pair agrees in a symbol of one bit with probability r + (1 - r) / 2, so the number that
-- agree has a binomial distribution; its tail is summed here term by term, and by minhash_probability().
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;
CREATE FUNCTION tail(k int, r float8, t float8) RETURNS float8 LANGUAGE sql AS $$
	WITH RECURSIVE term(m, p) AS (
		SELECT 0, (1 - (1 + r) / 2) ^ k
		UNION ALL SELECT m + 1, p * (k - m) / (m + 1) * (1 + r) / (1 - r) FROM term WHERE m < k)
	SELECT sum(p ORDER BY p) FROM term WHERE 2.0 * m / k - 1 >= t
$$;
CREATE FUNCTION one_in(k int, r float8, t float8) RETURNS text LANGUAGE sql AS
	$$SELECT btrim(to_char(1 / minhash_probability(k, 1, r, t), '9.9EEEE'))$$;
CREATE FUNCTION pairs(k int, n float8, t float8) RETURNS text LANGUAGE sql AS
	$$SELECT CASE WHEN p < 0.001 THEN '0' WHEN p < 100 THEN round(p::numeric, 3)::text ELSE btrim(to_char(p, '9.9EEEE')) END FROM (SELECT n * (n - 1) / 2 * minhash_probability(k, 1, 0, t)) AS x(p)$$;
\echo
\echo '| threshold | k | one pair in, at resemblance 0 | at 0.05 | at 0.1 | pairs of 10,000 documents | of 300,000 | of 10,000,000 | tail of the binomial distribution / minhash_probability() |'
\echo '|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s |', t, k, one_in(k, 0, t), one_in(k, 0.05, t), one_in(k, 0.1, t),
	pairs(k, 1e4, t), pairs(k, 3e5, t), pairs(k, 1e7, t), round((tail(k, 0, t) / minhash_probability(k, 1, 0, t))::numeric, 6))
FROM unnest('{512,1024}'::int[]) k, unnest('{0.15,0.2,0.25,0.3,0.35,0.4}'::float8[]) t
ORDER BY k, t;
