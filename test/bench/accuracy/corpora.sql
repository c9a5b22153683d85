-- Fills the table "corpora" from rows in files of the current folder.
--
-- Copies with equal words are left out, but for pages, since a digest finds them.

SET client_min_messages = warning;
\o /dev/null

-- ---- Pages ----
-- Leaves out pages of a few lines and pages that are whole books.
CREATE TABLE pages (site text, label text, variant text, body text);
\copy pages FROM pages.rows
UPDATE pages SET body = strip_markup(body);
INSERT INTO corpora
SELECT 'pages, ' || variant, row_number() OVER (PARTITION BY variant ORDER BY site, label), label, body FROM pages
 WHERE (site, label) NOT IN
	   (SELECT site, label FROM pages
		 WHERE variant = 'text' AND (length(body) > 100000 OR cardinality(show_tokens(body)) < 60));

-- ---- Languages ----
-- A text is the first characters of a page, as many as an abstract has.  In a form, it stands
-- between the halves of the form.  A form is the start of a page of the same language,
-- which is not among the texts.  Of eight forms, each has an eighth of the texts.  Pages are
-- drawn by label as if by chance.  Pages that nobody
-- translated are left out.
CREATE TABLE texts (language text, site text, label text, body text);
\copy texts FROM languages.rows
UPDATE texts SET body = trim(regexp_replace(strip_markup(body), '\s+', ' ', 'g'));
CREATE INDEX ON texts (language, label);
DELETE FROM texts t USING texts e
 WHERE t.language <> 'en' AND e.language = 'en' AND (e.site, e.label) = (t.site, t.label)
   AND similarity(to_shingles(t.body), to_shingles(e.body)) > 0.3;

CREATE TABLE forms AS
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY language ORDER BY length(body) < :form, md5(label)) AS number
				 FROM (SELECT DISTINCT ON (language, label) language, label, left(body, :form) AS body FROM texts ORDER BY language, label, site) AS t) AS f
 WHERE number <= 8;
CREATE TABLE drawn AS
SELECT DISTINCT ON (language, label, show_tokens(body)) *
  FROM (SELECT language, site, label, left(body, :characters) AS body FROM texts) AS t
 WHERE (language, label) NOT IN (SELECT language, label FROM forms) AND cardinality(show_tokens(body)) >= 40
 ORDER BY language, label, show_tokens(body), site;
-- Revisions take the sentences that they replace from texts beyond those of the other corpora.
\copy (SELECT body FROM (SELECT DISTINCT ON (label) label, body FROM drawn WHERE language = 'en' ORDER BY label, site) AS d ORDER BY md5(label || 'x')) TO revisions.en
\copy (SELECT body FROM (SELECT DISTINCT ON (label) label, body FROM drawn WHERE language = 'es' ORDER BY label, site) AS d ORDER BY md5(label || 'x')) TO revisions.es
DELETE FROM drawn
 WHERE (language, label) IN
	   (SELECT language, label FROM (SELECT language, label, sum(count(*)) OVER (PARTITION BY language ORDER BY md5(label)) FROM drawn GROUP BY language, label) AS d
		 WHERE sum > :texts);
INSERT INTO corpora
SELECT language || ', ' || variant, row_number() OVER (PARTITION BY language, variant ORDER BY site, d.label), d.label,
	   CASE forms WHEN 0 THEN d.body ELSE concat_ws(' ', left(f.body, :form / 2), d.body, right(f.body, - :form / 2)) END
  FROM (SELECT *, row_number() OVER (PARTITION BY language ORDER BY md5(site || label)) AS place FROM drawn) AS d
 CROSS JOIN (VALUES ('alone', 0), ('form', 1), ('eight forms', 8)) AS v (variant, forms)
  JOIN forms f USING (language) WHERE number = 1 + place % greatest(forms, 1);

-- ---- Records ----
CREATE TABLE records (site text, label text, kind text, body text);
\copy records FROM records.rows
INSERT INTO corpora
SELECT 'records, ' || kind, row_number() OVER (PARTITION BY kind ORDER BY label, site), label, body
  FROM (SELECT DISTINCT ON (kind, label, show_tokens(body)) * FROM records ORDER BY kind, label, show_tokens(body), site) AS r;

-- ---- Descriptions ----
-- Revised ones, among others that stayed; and one release's, where those of one source are pairs.
CREATE TABLE descriptions (site text, label text, source text, body text);
\copy descriptions FROM descriptions.rows
CREATE TABLE described AS
SELECT label, count(DISTINCT body) AS bodies FROM descriptions
 WHERE length(body) BETWEEN 150 AND 3000 GROUP BY label HAVING cardinality(show_tokens(min(body))) > 0;
INSERT INTO corpora
SELECT 'descriptions, revised', row_number() OVER (ORDER BY md5(label || body)), label, body
  FROM (SELECT DISTINCT ON (label, show_tokens(body)) label, body FROM descriptions
		 WHERE label IN ((SELECT label FROM described WHERE bodies = 2 ORDER BY md5(label) LIMIT 150)
						 UNION ALL (SELECT label FROM described WHERE bodies = 1 ORDER BY md5(label) LIMIT 700))
		 ORDER BY label, show_tokens(body), site) AS d;
INSERT INTO corpora
SELECT 'descriptions, source', row_number() OVER (ORDER BY md5(body)), source, body
  FROM (SELECT DISTINCT ON (body) source, body FROM descriptions
		 WHERE site = :'release' AND length(body) > 150
		   AND source IN (SELECT source FROM descriptions WHERE site = :'release' GROUP BY source HAVING count(*) <= 4 ORDER BY md5(source) LIMIT 500)
		 ORDER BY body, source) AS d;
\o
