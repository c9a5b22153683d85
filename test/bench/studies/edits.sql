-- What an edit does to the similarity: texts of 150 to 600 words, each compared with an edited copy.
--
-- Reads rows of the demo (source, name, body) from stdin.
SET client_min_messages = warning;
\o /dev/null
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;
CREATE TABLE documents (source text, name text, body text);
\copy documents from pstdin

-- A number for each place of a text, the same in every run.
CREATE FUNCTION roll(id bigint, n bigint, most int) RETURNS int LANGUAGE sql IMMUTABLE AS
	$$SELECT (abs(hashint8extended(id * 100000 + n, 5) / 2) % most)::int$$;

-- Texts of the machine, their blanks squeezed; every twelfth word is followed by a number.
CREATE TABLE originals AS
SELECT row_number() OVER (ORDER BY md5(body)) AS id, string_to_array(btrim(regexp_replace(body, '\s+', ' ', 'g')), ' ') AS words
FROM (SELECT DISTINCT body FROM documents WHERE length(body) < 10000) AS d
WHERE cardinality(show_tokens(body)) BETWEEN 150 AND 600 AND to_shingles(body, 'spot 1 2')::text !~ '\{\}$'
ORDER BY md5(body) LIMIT 500;

-- Puts numbers of a seed after every twelfth word.
CREATE FUNCTION numbered(id bigint, words text[], seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN n % 12 = 0 THEN word || ' ' || roll(id + seed, n, 9000) ELSE word END, ' ' ORDER BY n)
	FROM unnest(words) WITH ORDINALITY AS w(word, n)
$$;

-- A sentence about money.
CREATE FUNCTION budget(id bigint, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$SELECT format(' We ask for %s euros, which will be spent in %s months.', 1000 * roll(id + seed, 1, 900), roll(id + seed, 2, 90))$$;

-- One character in a hundred is another letter.
CREATE FUNCTION scanned(id bigint, body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN roll(id, n, 100) = 0 THEN chr(97 + roll(id, -n, 26)) ELSE c END, '' ORDER BY n)
	FROM regexp_split_to_table(body, '') WITH ORDINALITY AS t(c, n)
$$;

-- Lines of 72 characters.  Every third breaks a word with a hyphen, if it ends in one.
CREATE FUNCTION hyphenated(body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(substr(body, 72 * n + 1, 72) ||
		CASE WHEN n % 3 = 0 AND substr(body, 72 * n + 72, 2) ~ '^[[:alpha:]]{2}$' THEN E'-\n' ELSE '' END, '' ORDER BY n)
	FROM generate_series(0, length(body) / 72) AS n
$$;

CREATE TABLE subjects AS
SELECT o.id, words, numbered(id, words, 0) AS body, cardinality(words) AS size,
	(SELECT x.words FROM originals AS x WHERE x.id = o.id % (SELECT count(*) FROM originals) + 1) AS other
FROM originals AS o;

CREATE TABLE edits (place int, what text, id bigint, before text, after text);
INSERT INTO edits
SELECT place, what, id, before, after FROM subjects,
LATERAL (SELECT array_to_string(words, ' ') AS plain) AS p,
(SELECT array_to_string(words[1:300], ' ') AS form FROM originals WHERE cardinality(words) >= 300 ORDER BY id LIMIT 1) AS f,
LATERAL (VALUES
	(1, 'capitals, dashes, line breaks', body, replace(replace(upper(body), ',', ' --'), ' ', E'\n')),
	(2, 'new title of ten words', plain, array_to_string(other[1:10] || words[11:], ' ')),
	(3, 'new budget and duration', body || budget(id, 0), body || budget(id, 1000)),
	(4, 'one word in fifty changed', plain, (SELECT string_agg(CASE WHEN n % 50 = 25 THEN 'changed' ELSE w END, ' ' ORDER BY n) FROM unnest(words) WITH ORDINALITY AS t(w, n))),
	(5, 'every third line hyphenated (PDF)', plain, hyphenated(plain)),
	(6, 'one character in a hundred wrong (OCR)', plain, scanned(id, plain)),
	(7, 'all numbers changed, one in twelve words', body, numbered(id, words, 1000)),
	(8, 'every eighth word dropped', plain, (SELECT string_agg(w, ' ' ORDER BY n) FROM unnest(words) WITH ORDINALITY AS t(w, n) WHERE n % 8 > 0)),
	(9, 'halves exchanged', plain, array_to_string(words[size / 2 + 1:] || words[:size / 2], ' ')),
	(10, 'half copied, as much new', plain, array_to_string(words[:size / 2] || other[greatest(cardinality(other) - size / 2, 0) + 1:], ' ')),
	(11, 'a third copied, twice as much new', plain, array_to_string(words[:size / 3] || other[greatest(cardinality(other) - size * 2 / 3, 0) + 1:], ' ')),
	(12, 'another text', plain, array_to_string(other, ' ')),
	(13, 'another text, both in one form of 300 words',
		form || ' ' || plain, form || ' ' || array_to_string(other, ' '))
) AS e(place, what, before, after);

CREATE TABLE schemes (place int, scheme text);
INSERT INTO schemes VALUES (1, 'word 3'), (2, 'word 1'), (3, 'char 5'), (4, 'char 3'), (5, 'spot 1 2');
CREATE TABLE measured AS
SELECT e.place, what, s.place AS scheme, text_similarity(before, after, scheme) AS similarity,
	similarity(to_minhash(before, scheme => s.scheme), to_minhash(after, scheme => s.scheme)) AS estimate
FROM edits AS e, schemes AS s;
\o
\qecho
SELECT format('%s texts of %s words on average.  Means of the exact resemblance, and the share that a minhash of `word 3` finds at 0.8, 0.6 and 0.4:',
	count(*), round(avg(size))) FROM subjects;
\qecho
\qecho '| what was changed | `word 3` | `word 1` | `char 5` | `char 3` | `spot 1 2` | found at 0.8 | at 0.6 | at 0.4 |'
\qecho '|---|---:|---:|---:|---:|---:|---:|---:|---:|'
SELECT format('| %s | %s | %s | %s | %s |', what, string_agg(shown, ' | ' ORDER BY scheme), max(at_08), max(at_06), max(at_04))
FROM (SELECT place, what, scheme, to_char(avg(similarity), 'FM0.00') AS shown,
		CASE WHEN scheme = 1 THEN round(100 * avg((estimate >= 0.8)::int)) || ' %' END AS at_08,
		CASE WHEN scheme = 1 THEN round(100 * avg((estimate >= 0.6)::int)) || ' %' END AS at_06,
		CASE WHEN scheme = 1 THEN round(100 * avg((estimate >= 0.4)::int)) || ' %' END AS at_04
	FROM measured GROUP BY place, what, scheme) AS m
GROUP BY place, what ORDER BY place;

-- Passages: 100 words of a text, of which each may be replaced, left out, or followed by another word,
-- between two parts of a text that no source has.
\o /dev/null
CREATE TABLE sources AS SELECT id, array_to_string(words, ' ') AS body FROM originals WHERE id <= 300;
CREATE FUNCTION reworded(id bigint, words text[], others text[], percent int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(CASE WHEN roll(id, n, 100) >= percent THEN word WHEN roll(id, -n, 4) < 2 THEN other WHEN roll(id, -n, 4) = 2 THEN '' ELSE word || ' ' || other END, ' ' ORDER BY n)
	FROM unnest(words) WITH ORDINALITY AS w(word, n), LATERAL (SELECT others[1 + roll(id, n * 7, cardinality(others))] AS other) AS o
$$;
CREATE TABLE passages AS
SELECT id, percent, before, passage, after, m.start, m.length
FROM (SELECT s.id, percent, array_to_string(h.words[:70], ' ') || ' ' AS before, reworded(s.id, s.words[10:109], h.words, percent) AS passage, ' ' || array_to_string(h.words[71:140], ' ') AS after
	FROM originals AS s JOIN originals AS h ON h.id = s.id + 300, unnest('{0,5,10,20,30}'::int[]) AS percent WHERE s.id <= 60) AS c
LEFT JOIN LATERAL (SELECT start, length FROM neardup_passages(before || passage || after, 'SELECT id, body FROM sources') AS n WHERE n.id = c.id::text) AS m ON true;
CREATE TABLE marked AS
SELECT percent, id, at BETWEEN length(before) + 1 AND length(before || passage) AS inside, bool_or(coalesce(at BETWEEN start AND start + p.length - 1, false)) AS marked
FROM passages AS p, generate_series(1, length(before || passage || after)) AS at GROUP BY percent, id, at, before, passage;
\o
\qecho
\qecho 'Passages of 100 words of a text, some of them changed: the share of their characters that neardup_passages finds in that text, and the share of the characters around them.'
\qecho
\qecho '| words changed | marked | around |'
\qecho '|---:|---:|---:|'
SELECT format('| %s %% | %s | %s |', percent, to_char(avg(marked::int) FILTER (WHERE inside), 'FM0.000'), to_char(avg(marked::int) FILTER (WHERE NOT inside), 'FM0.000'))
FROM marked GROUP BY percent ORDER BY percent;
