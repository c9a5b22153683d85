-- Prints what was found.
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET max_parallel_workers_per_gather = 0;

-- ---- Counts ----

SELECT format(E'Found\n\n'
	'  %9s  texts\n'
	'  %9s  are byte-for-byte copies of another, which a hash would have found\n'
	'  %9s  more lie in a group with another text: only similarity finds these\n'
	'  %9s  groups, the largest of %s texts\n'
	'  %9s  texts would stay if each group kept one\n',
	to_char(texts, 'FM999,999,999'),
	to_char(texts - bodies, 'FM999,999,999'),
	to_char(greatest(0, grouped - groups - (texts - bodies)), 'FM999,999,999'),
	to_char(groups, 'FM999,999,999'), to_char(largest, 'FM999,999,999'),
	to_char(texts - grouped + groups, 'FM999,999,999'))
FROM (SELECT count(*) AS texts, count(DISTINCT md5(body)) AS bodies FROM documents) d,
	(SELECT sum(size) AS grouped, count(*) AS groups, max(size) AS largest
	 FROM (SELECT count(*) AS size FROM groups GROUP BY keeper) g) g;

-- ---- Histogram ----

\echo 'Pairs of different signatures, by similarity'
\echo

WITH bins AS (
	SELECT least(9, floor((similarity - 0.8) * 50 + 1e-9)::int) AS bin, count(*) AS n
	FROM pairs WHERE similarity < 1 GROUP BY 1
), all_bins AS (
	SELECT bin, coalesce(n, 0) AS n FROM generate_series(0, 9) bin LEFT JOIN bins USING (bin)
)
SELECT format('  %s to %s  %9s  %s', to_char(0.8 + bin * 0.02, 'FM0.00'), to_char(0.82 + bin * 0.02, 'FM0.00'),
	to_char(n, 'FM999,999,999'), repeat('#', ceil(50.0 * n / greatest(1, max(n) OVER ()))::int))
FROM all_bins ORDER BY bin;

-- ---- Quality ----

-- Compares estimates from signatures with the similarity of shingles.
CREATE TEMP TABLE sampled AS
SELECT p.similarity AS estimated, similarity(to_shingles(x.body), to_shingles(y.body)) AS exact
FROM (SELECT * FROM pairs WHERE similarity < 1 ORDER BY md5(a || ' ' || b) LIMIT 1000) p
	JOIN documents x ON x.id = p.a JOIN documents y ON y.id = p.b;

-- Compares the pairs found with a comparison of all pairs, which no index serves.
CREATE TEMP TABLE firsts AS
SELECT DISTINCT ON (sig) id, sig FROM documents
WHERE is_similar(sig, sig, 1) ORDER BY sig, length(body) DESC, id;

CREATE TEMP TABLE compared AS
SELECT * FROM firsts
WHERE id IN (SELECT a FROM pairs WHERE similarity < 1 UNION SELECT b FROM pairs WHERE similarity < 1)
ORDER BY md5(id::text) LIMIT 100;

CREATE TEMP TABLE scanned AS
SELECT EXISTS (SELECT FROM pairs WHERE (a, b) IN ((x.id, y.id), (y.id, x.id))) AS found
FROM compared x
	JOIN firsts y ON x.id <> y.id AND similarity(x.sig, y.sig) >= :threshold;

SELECT format(E'\nHow good it is\n\n'
	'  It is exact: of %s texts it found %s of the %s pairs that %s comparisons find.\n'
	'  What is estimated is the similarity, from %s bytes a text. %s of the pairs checked on their\n'
	'  shingles: the estimates are off by %s on average, and %s %% of the pairs are truly at %s or\n'
	'  above (the rest are close below).\n',
	(SELECT count(*) FROM compared), (SELECT count(*) FILTER (WHERE found) FROM scanned),
	(SELECT count(*) FROM scanned),
	(SELECT to_char((SELECT count(*) FROM compared) * (count(*) - 1), 'FM999,999,999') FROM firsts),
	512 / 8, to_char(count(*), 'FM999,999'), round(avg(abs(estimated - exact))::numeric, 3),
	round(100.0 * count(*) FILTER (WHERE exact >= :threshold) / greatest(1, count(*)), 1), :threshold)
FROM sampled;

-- ---- Five groups ----

-- Chooses varied groups, five to print and twenty for the page: first the one with most
-- versions, then groups of many texts, distant from each other, from different packages and
-- from each source.
CREATE TEMP TABLE candidates AS
SELECT keeper, min(source) AS source, count(*) AS texts, count(DISTINCT md5(body)) AS versions,
	left(max(body), 16) AS beginning,
	count(DISTINCT left(regexp_replace(name, '^lib(32|64|n32|x32)?', ''), 4)) *
		(1.02 - avg(similarity)) * least(1, avg(length(body)) / 400) AS score
FROM groups JOIN documents USING (id)
GROUP BY keeper HAVING count(DISTINCT md5(body)) > 1;

CREATE TABLE shown AS
SELECT row_number() OVER () AS rank, picked.*
FROM (
SELECT keeper, texts, versions
FROM (SELECT *, CASE WHEN by_versions = 1 THEN 0
			WHEN row_number() OVER (PARTITION BY source ORDER BY score DESC) <= 3 THEN 1 ELSE 2 END AS place
	  FROM (SELECT DISTINCT ON (by_versions = 1, beginning) *
			FROM (SELECT *, row_number() OVER (ORDER BY versions DESC, keeper) AS by_versions FROM candidates) ranked
			ORDER BY by_versions = 1, beginning, score DESC) one_of_a_kind) placed
ORDER BY place, row_number() OVER (PARTITION BY place, source ORDER BY score DESC) > 2, source DESC, score DESC
LIMIT 20) picked;

-- The keeper and the most distant member.
CREATE TEMP TABLE told AS
SELECT s.*, k.source, k.name AS kept_name, k.body AS kept, f.name AS far_name, f.body AS far,
	similarity(k.sig, f.sig) AS estimated, similarity(to_shingles(k.body), to_shingles(f.body)) AS exact
FROM shown s
	JOIN documents k ON k.id = keeper
	JOIN LATERAL (SELECT d.* FROM groups g JOIN documents d USING (id)
				  WHERE g.keeper = s.keeper ORDER BY g.similarity, d.id LIMIT 1) f ON true
WHERE rank <= 5;

CREATE OR REPLACE FUNCTION cut(body text, room int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN length(line) > room THEN left(line, room - 4) || ' ...' ELSE line END
	FROM (SELECT btrim(regexp_replace(left(body, 4 * room), '\s+', ' ', 'g'))) squeezed(line)
$$;

-- Tokens of one text that the other lacks, in order of occurrence.
CREATE OR REPLACE FUNCTION only_in(body text, other text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(cut(string_agg(token, ' ' ORDER BY place), 160), '(nothing)')
	FROM (SELECT token, min(place) AS place
		  FROM unnest(show_tokens(body)) WITH ORDINALITY AS t(token, place)
		  WHERE token <> ALL (show_tokens(other)) GROUP BY token) missing
$$;

\echo 'Five of the groups'

SELECT format(E'\n  %s.  %s %s in %s versions: %s\n\n'
	'      %s:  %s\n\n'
	'      %s:  %s\n\n'
	'      only in the first:   %s\n'
	'      only in the second:  %s\n'
	'      similarity of the two: %s by their signatures, %s by their shingles',
	rank, to_char(texts, 'FM999,999'), CASE source WHEN 'copyright' THEN 'copyright files' ELSE 'descriptions' END, versions,
	(SELECT cut(string_agg(name, ', '), 70) FROM (SELECT DISTINCT name FROM groups JOIN documents USING (id) WHERE groups.keeper = told.keeper ORDER BY name) n),
	kept_name, cut(kept, 190), far_name, cut(far, 190),
	only_in(kept, far), only_in(far, kept),
	to_char(estimated, 'FM0.00'), to_char(exact, 'FM0.00'))
FROM told ORDER BY rank;
