-- Edit distance, the longest common substring, and variants.

SELECT edit_distance('kitten', 'sitting'), edit_distance('intention', 'execution'), edit_distance('', 'abc'), edit_distance('abc', ''),
	edit_distance('', ''), edit_distance('same', 'same');
-- Characters, not bytes
SELECT edit_distance(U&'na\00EFve', 'naive'), edit_distance(U&'\6771\4EAC', U&'\4EAC\90FD'), edit_distance(U&'\+01F600', U&'\+01F601');
-- Tokens as show_tokens() returns them: one inserted, one replaced
SELECT token_edit_distance('The quick, brown fox', 'the QUICK red fox jumps'), token_edit_distance('a b c', 'c a b'), token_edit_distance('', 'a b'),
	token_edit_distance('?!', '...');

-- A distance above the bound is returned as the bound plus one
SELECT max, edit_distance('kitten', 'sitting', max), token_edit_distance('one two three four', 'five six seven', max) FROM generate_series(0, 5) AS max;
SELECT edit_distance('a', 'b', 2147483647), edit_distance(repeat('a', 1000), '', 10), edit_distance('a', 'b', NULL);
SELECT edit_distance('kitten', 'sitting', -1);
SELECT token_edit_distance('kitten', 'sitting', -1);

-- Costs: two substitutions and an insertion, unless something else is cheaper
SELECT i, d, s, weighted_edit_distance('kitten', 'sitting', NULL, i, d, s)
FROM (VALUES (1, 1, 1), (2, 2, 2), (5, 1, 1), (1, 1, 3), (1, 5, 1), (0, 0, 0), (0, 7, 7), (1, 1, 0), (2147483647, 2147483647, 2147483647)) AS v(i, d, s);
-- Directions: insertions make the first longer
SELECT weighted_edit_distance('abc', 'abcde', insertion => 3, deletion => 10), weighted_edit_distance('abcde', 'abc', insertion => 3, deletion => 10);
-- Without substitutions: the lengths less twice the longest common subsequence
SELECT weighted_edit_distance('kitten', 'sitting', substitution => 2) = 6 + 7 - 2 * 4 AS subsequence;
SELECT weighted_edit_distance('a', 'b', insertion => -1);
SELECT weighted_edit_distance('a', 'b', deletion => -1);
SELECT weighted_edit_distance('a', 'b', substitution => -1);

-- Nulls
SELECT edit_distance(NULL, 'b'), edit_distance('a', NULL), weighted_edit_distance('a', 'b', 1, NULL), token_edit_distance(NULL, 'b'),
	longest_common_substring('a', NULL);

-- There is no limit of length: 200,000 characters, of which every thousandth differs
WITH v(a, b) AS (
	SELECT string_agg(chr((97 + i * i % 23)::int), '' ORDER BY i), string_agg(CASE WHEN i % 1000 = 0 THEN 'Z' ELSE chr((97 + i * i % 23)::int) END, '' ORDER BY i)
	FROM generate_series(1::bigint, 200000) AS i)
SELECT edit_distance(a, b), edit_distance(a, b, 100), edit_distance(a, b, 200), edit_distance(a, b || 'x', 200), edit_distance(substr(a, 77), a),
	length(longest_common_substring(a, b)), token_edit_distance(regexp_replace(a, '(.)', '\1 ', 'g'), regexp_replace(b, '(.)', '\1 ', 'g')) AS tokens
FROM v;

-- A distance that depends on all of both texts, computed in two ways
WITH v(a, b) AS (SELECT string_agg(md5(i::text), '' ORDER BY i), string_agg(md5((-i)::text), '' ORDER BY i) FROM generate_series(1, 200) AS i)
SELECT edit_distance(a, b) = edit_distance(b, a) AS symmetric, edit_distance(a, b) = weighted_edit_distance(a, b, NULL, 2, 2, 2) / 2 AS scaled,
	edit_distance(reverse(a), reverse(b)) = edit_distance(a, b) AS reversible, edit_distance(a, b) BETWEEN 3000 AND 6400 AS plausible FROM v;

-- Cancelled in the middle
BEGIN;
SET LOCAL statement_timeout = '200ms';
SELECT edit_distance(a, b) FROM (SELECT string_agg(md5(i::text), ''), string_agg(md5((-i)::text), '') FROM generate_series(1, 100000) AS i) AS v(a, b);
ROLLBACK;
BEGIN;
SET LOCAL statement_timeout = '200ms';
SELECT weighted_edit_distance(a, b, NULL, 1, 2, 3) FROM (SELECT string_agg(md5(i::text), ''), string_agg(md5((-i)::text), '') FROM generate_series(1, 10000) AS i) AS v(a, b);
ROLLBACK;

-- The longest common substring
SELECT longest_common_substring('the cat sat on the mat', 'a cat sat at the mat'), longest_common_substring('abc', 'xyz') = '' AS nothing,
	longest_common_substring('', 'abc') = '' AS nothing, longest_common_substring('abcabc', 'abc'), longest_common_substring('same', 'same');
-- Of several longest ones, the first in the first text
SELECT longest_common_substring('xxyy', 'yyxx'), longest_common_substring('yyxx', 'xxyy');
-- Whole characters: these two share their last bytes only
SELECT longest_common_substring(U&'\00E9', U&'\0129') = '' AS nothing, longest_common_substring(U&'\6771\4EAC\90FD', U&'\4EAC\90FD\5E02') = U&'\4EAC\90FD' AS kyoto;
-- Against all substrings
WITH v(a, b) AS (SELECT md5(i::text) || md5((i + 1)::text), md5((i + 7)::text) || substr(md5(i::text), 5, i % 20) || md5((i + 9)::text) FROM generate_series(1, 50) AS i)
SELECT bool_and(length(longest_common_substring(a, b)) = longest AND position(longest_common_substring(a, b) IN b) > 0) AS same
FROM v, LATERAL (SELECT max(n) AS longest FROM generate_series(1, 64) AS p, generate_series(1, 30) AS n
	WHERE p + n <= 65 AND position(substr(a, p, n) IN b) > 0) AS s;

-- Variants: each text has a code that the other has not, however that is written, or another number of a unit
SELECT a, b, is_variant(a, b), is_variant(b, a) AS turned, is_variant(a, b, version => 1) AS first_version FROM (VALUES
	('Sony Bravia KDL-52XBR5', 'Sony Bravia KDL-46XBR5'), ('Sony Bravia KDL-52XBR5', 'sony bravia kdl52xbr5 black'), ('Canon SD890IS', 'Canon SD890IS, case PSC85'),
	('Canon SD890IS', 'Canon camera'), ('iPod 80 GB', 'iPod 160 GB'), ('lamp E27', 'lamp E14'), (U&'\041A123', U&'\041A124'), ('', 'W120'),
	('Deskjet DJ-3050 printer', 'Deskjet DJ-4050 printer'), ('Deskjet DJ3050 printer', 'Deskjet DJ4050 printer'), ('RC-330-KKR1', 'RC-360-KKR1'), ('HX-100', 'HX-200'),
	('P568-003-FL', 'P568-006-FL'), ('200 ml', '400 ml'), ('200 ml', '0.2 l or 200ml'), ('EOS 5D', 'EOS 6D'), ('EOS 5D', 'camera 5D of Canon')) AS v (a, b);
SELECT is_variant(NULL, 'W120') IS NULL AND is_variant('W120', NULL) IS NULL AND is_variant('W120', 'W130', NULL) IS NULL AS null;
SELECT is_variant('W120', 'W130', 3);
SELECT is_variant('W120', 'W130', 0);
-- Linear time: two megabytes of codes, each of which is in the other text
SELECT is_variant(string_agg('a' || n, ' '), string_agg('a' || n, '-' ORDER BY n DESC)) FROM generate_series(100000, 399999) AS n;
SELECT is_variant(string_agg(n || ' mm', ' '), string_agg(n || '-mm', ' ' ORDER BY n DESC) || ' 5 mm') FROM generate_series(100000, 299999) AS n;
