-- Precision, recall and F1 of each method at its best threshold, on pages of
-- documentation, alone and in the menus of sites.  Two pages with the same title are a
-- true pair.
--
-- Reads rows of accuracy.pl from stdin.

SET client_min_messages = warning;
\o /dev/null
DROP TABLE IF EXISTS documents, advised;
CREATE TABLE pages (site text, label text, variant text, body text);
\copy pages FROM pstdin
UPDATE pages SET body = strip_markup(body);

-- Leaves out pages of a few lines and pages that are whole books.
DELETE FROM pages
 WHERE (site, label) IN
	   (SELECT site, label FROM pages
		 WHERE variant = 'text' AND (length(body) > 100000 OR cardinality(show_tokens(body)) < 60));

CREATE TABLE documents AS
SELECT variant, row_number() OVER (PARTITION BY variant ORDER BY site, label)::int AS id, label, body FROM pages;
CREATE TABLE advised AS SELECT * FROM (VALUES (1, 'text', 0.4), (2, 'framed', 0.4)) AS a (place, variant, threshold);
\set collection pages
\ir accuracy-methods.sql

\pset format unaligned
\pset tuples_only on
SELECT format('%s pages, alone and framed; %s pairs to be found among %s.', count(*) FILTER (WHERE variant = 'text'),
	(SELECT count(*) FROM documents a JOIN documents b USING (variant, label) WHERE a.id < b.id AND variant = 'text'),
	count(*) FILTER (WHERE variant = 'text') * (count(*) FILTER (WHERE variant = 'text') - 1) / 2) FROM documents;
SELECT '';
SELECT '| method | text: threshold | P | R | F1 | framed: threshold | P | R | F1 | bytes | µs to make | µs to compare |';
SELECT '|---|---|---|---|---|---|---|---|---|---|---|---|';
SELECT format('| %s | %s | %s | %s | **%s** | %s | %s | %s | **%s** | %s | %s | %s |', t.method,
	coalesce(round(t.threshold::numeric, 2)::text, '–'), coalesce(round(t.precision::numeric, 3)::text, '–'), round(coalesce(t.recall, 0)::numeric, 3), round(t.f1::numeric, 3),
	coalesce(round(f.threshold::numeric, 2)::text, '–'), coalesce(round(f.precision::numeric, 3)::text, '–'), round(coalesce(f.recall, 0)::numeric, 3), round(f.f1::numeric, 3),
	round(t.bytes::numeric), round((t.made * 1e6)::numeric), round((t.compared * 1e6)::numeric, 1))
  FROM results t JOIN results f USING (collection, number) WHERE t.variant = 'text' AND f.variant = 'framed' ORDER BY number;
