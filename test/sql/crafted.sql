-- Arguments crafted to take very long or very much memory.  Each of these once took minutes or gigabytes.
SET statement_timeout = '120s';

-- Numbers that mix64 maps to one slot, made by the inverse of mix64 in numeric arithmetic
CREATE FUNCTION times(a numeric, b numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT a * b % 18446744073709551616::numeric$$;
CREATE FUNCTION fold(a numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS
$$SELECT div(a, 4294967296) * 4294967296 + (div(a, 4294967296)::bigint # (a % 4294967296)::bigint)$$;
CREATE FUNCTION inverse() RETURNS numeric LANGUAGE sql IMMUTABLE AS
$$WITH RECURSIVE newton(i, x) AS (SELECT 0, 15485907867441888659::numeric UNION ALL
	SELECT i + 1, times(x, (2 + 18446744073709551616::numeric - times(15485907867441888659, x)) % 18446744073709551616::numeric) FROM newton WHERE i < 6)
SELECT x FROM newton WHERE i = 6$$;
SELECT times(inverse(), 15485907867441888659) AS one;
CREATE TABLE crafted AS
SELECT CASE WHEN v >= 9223372036854775808::numeric THEN v - 18446744073709551616::numeric ELSE v END::bigint AS h
FROM (SELECT inverse() AS back OFFSET 0) AS b, generate_series(1, 60000) AS i, LATERAL (SELECT fold(times(fold(times(fold(i::numeric * 4294967296 + 5), back)), back)) AS v) AS f;
SELECT count(DISTINCT h) FROM crafted;
SELECT cardinality(to_minhash(array_agg(h))), cardinality(to_minhash(array_agg(h) || array_agg(h), 64)) FROM crafted;
SELECT to_minhash(array_agg(h ORDER BY h), 64) = to_minhash(array_agg(h ORDER BY h DESC), 64) AS same FROM crafted;
-- The same elements in sets that are joined
SELECT count(*) FROM neardup_pairs('SELECT 1 AS id, to_shingles(array_agg(h)) FROM crafted UNION ALL SELECT 2, to_shingles(array_agg(h)) FROM crafted WHERE h % 1000 <> 0', 0.9);
DROP TABLE crafted;
DROP FUNCTION times, fold, inverse;

-- A spot signature that occurs 28,000 times, and is 56,000 bytes long: shown once, with its count
SELECT length(shingle), count FROM show_shingles(repeat('was ', 28000) || repeat('x', 28000) || ' ' || repeat('y', 28000), 'spot 1 2');
SELECT length(shingle), count_a, count_b FROM shared_shingles(repeat('was ', 28000) || repeat('x', 28000) || ' ' || repeat('y', 28000), repeat('was ', 7) || repeat('x', 28000) || ' ' || repeat('y', 28000), 'spot 1 2');

-- Every antecedent of a long list, with no other word between
SELECT cardinality(to_shingles(string_agg('a' || i, ' ') || ' end', 'spot 1 1', array_agg('a' || i))) FROM generate_series(1, 100000) AS i;

-- More shingles than can be shown
SELECT count(*) FROM show_shingles((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 135000) AS i), 'char 30');
SELECT count(*) FROM shared_shingles('x', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 135000) AS i), 'char 30');
