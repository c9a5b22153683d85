-- The standard error of an estimate, and the share of documents at a distance x from a
-- threshold that it puts on the wrong side, computed from
-- Var = E(1 - E) / (k (1 - 2^-b)^2) and a normal distribution.
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
