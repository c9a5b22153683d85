-- Arguments crafted to take very long or very much memory.  Each of these once took minutes or gigabytes.
-- What counts is how long the processor works for them, as Linux tells it in hundredths of a second.
CREATE FUNCTION seconds_of_work() RETURNS float8 LANGUAGE sql AS $$
	SELECT (split_part(stat, ' ', 14)::float8 + split_part(stat, ' ', 15)::float8) / 100 FROM pg_read_file('/proc/self/stat', 0, 1000, true) stat
$$;

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
SELECT cardinality(to_minhash(to_shingles(array_agg(h)))), cardinality(to_minhash(to_shingles(array_agg(h) || array_agg(h)), 64)) FROM crafted;
SELECT to_minhash(to_shingles(array_agg(h ORDER BY h)), 64) = to_minhash(to_shingles(array_agg(h ORDER BY h DESC)), 64) AS same FROM crafted;
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

-- Lexicons that differ, of the same digest: each weighs by its own entries, whichever comes first
CREATE TABLE twins (i int, lex shingle_lexicon);
INSERT INTO twins VALUES (1, '1/word 1/1000/{707713299:0}'), (2, '1/word 1/496262527735128892/{707713299:3}');
SELECT (lexicon_info(lex)).scheme FROM twins ORDER BY i;
SELECT i, cardinality(to_minhash('a', lex)), weigh(to_shingles('a', 'word 1'), lex) FROM twins ORDER BY i;
SELECT i, cardinality(to_minhash('a', lex)), weigh(to_shingles('a', 'word 1'), lex) FROM twins ORDER BY i DESC;
-- Lexicons that are stored out of line, and the same one in several rows
CREATE TABLE large_twins (i int, lex shingle_lexicon);
ALTER TABLE large_twins ALTER lex SET STORAGE EXTERNAL;
INSERT INTO large_twins
SELECT i, format('1/word 1/1000/{%s}', string_agg(format('%s:%s', g * 1000000::bigint + CASE g WHEN 707 THEN 713299 ELSE 0 END, CASE g WHEN 707 THEN i ELSE 14 END), ',' ORDER BY g))::shingle_lexicon
FROM generate_series(1, 3) i, generate_series(1, 4000) g GROUP BY i;
SELECT string_agg(cardinality(to_minhash('a', lex))::text, ' ' ORDER BY a, i) FROM large_twins, generate_series(1, 2) a;
SELECT string_agg(cardinality(to_minhash('a', lex))::text, ' ' ORDER BY i, a) FROM large_twins, generate_series(1, 2) a;
DROP TABLE twins, large_twins;

-- As many copies as a signature may have, of one element
SELECT cardinality(to_minhash('1/weighted/{1:67108864}'::shingles));
SELECT to_minhash('1/weighted/{1:67108864,2}'::shingles);

SELECT coalesce(seconds_of_work(), 0) < 100 AS soon;
DROP FUNCTION seconds_of_work;
