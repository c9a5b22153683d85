-- Measures all methods on records of packages and on titles, rows of accuracy-records.pl
-- from stdin.  Copies with equal words are left out, since a digest finds them.

SET client_min_messages = warning;
\o /dev/null
DROP TABLE IF EXISTS documents, advised;
CREATE TABLE records (site text, label text, kind text, body text);
\copy records FROM pstdin
CREATE TABLE documents AS
SELECT kind AS variant, row_number() OVER (PARTITION BY kind ORDER BY label, site)::int AS id, label, body
  FROM (SELECT DISTINCT ON (kind, label, show_tokens(body)) * FROM records ORDER BY kind, label, show_tokens(body), site) AS r;
CREATE TABLE advised AS SELECT * FROM (VALUES (1, 'record', 0.5), (2, 'one-sided', 0.5), (3, 'title', 0.5)) AS a (place, variant, threshold);
\o
\set collection records
\ir accuracy-methods.sql
\ir accuracy-show.sql
