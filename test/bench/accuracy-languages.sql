-- Reads texts in several languages, the rows of accuracy-languages.pl with a language,
-- from stdin.

SET client_min_messages = warning;
\o /dev/null
CREATE TABLE texts (language text, site text, label text, body text);
\copy texts FROM pstdin
UPDATE texts SET body = trim(regexp_replace(strip_markup(body), '\s+', ' ', 'g'));
CREATE INDEX ON texts (language, label);

-- Leaves out pages that nobody translated.
DELETE FROM texts t USING texts e
 WHERE t.language <> 'en' AND e.language = 'en' AND (e.site, e.label) = (t.site, t.label)
   AND similarity(to_shingles(t.body), to_shingles(e.body)) > 0.3;
\o
