-- Measures all methods on texts of the language "collection", alone and framed.
--
-- A text is the first characters of a page, as many as an abstract has.  "Framed" is each
-- text between the halves of one form.  The form is the start of one page of the same
-- language, which is not among the texts.  Pages are drawn by label as if by chance.  Copies
-- with equal words are left out, since a digest finds them.

SET client_min_messages = warning;
\o /dev/null
DROP TABLE IF EXISTS documents, advised, form, drawn;
CREATE TABLE form AS
SELECT label, left(body, :form) AS body FROM texts WHERE language = :'collection'
 ORDER BY length(body) < :form, md5(label), site LIMIT 1;
CREATE TABLE drawn AS
SELECT DISTINCT ON (t.label, show_tokens(left(t.body, :characters))) t.site, t.label, left(t.body, :characters) AS body
  FROM texts t, form
 WHERE t.language = :'collection' AND t.label <> form.label AND cardinality(show_tokens(left(t.body, :characters))) >= 40
 ORDER BY t.label, show_tokens(left(t.body, :characters)), t.site;
DELETE FROM drawn
 WHERE label IN (SELECT label FROM (SELECT label, sum(count(*)) OVER (ORDER BY md5(label)) FROM drawn GROUP BY label) AS d WHERE sum > :texts);
CREATE TABLE documents AS
SELECT variant, row_number() OVER (PARTITION BY variant ORDER BY d.site, d.label)::int AS id, d.label,
	   CASE variant WHEN 'alone' THEN d.body ELSE concat_ws(' ', left(form.body, :form / 2), d.body, right(form.body, - :form / 2)) END AS body
  FROM drawn d, form, (VALUES ('alone'), ('framed')) AS v (variant);
CREATE TABLE advised AS SELECT * FROM (VALUES (1, 'alone', 0.4), (2, 'framed', 0.4)) AS a (place, variant, threshold);
\o
\ir accuracy-methods.sql
\ir accuracy-show.sql
