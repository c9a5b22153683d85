-- EXTERNAL: long texts are stored out of line but not compressed, so that the times
-- are those of the functions and not of pglz.
CREATE TABLE documents (
	source text,
	name text,
	body text
);
\copy documents from pstdin

CREATE TABLE texts (
	class text,
	body text
);
ALTER TABLE texts ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO texts
SELECT CASE WHEN bytes < 4096 THEN '2 to 4 kB' WHEN bytes < 16384 THEN '4 to 16 kB' ELSE 'over 16 kB' END, body
FROM (SELECT body, octet_length(body) AS bytes FROM documents) sized
WHERE bytes >= 2048
ORDER BY 1;

CREATE TABLE short_texts AS
SELECT split_part(body, E'\n', 1) AS body FROM documents
WHERE source = 'description' AND octet_length(split_part(body, E'\n', 1)) < 100;

CREATE TABLE bits AS
SELECT ('x' || encode(sha512(i::text::bytea), 'hex'))::bit(512) AS sig FROM generate_series(1, 1000000) i;
CREATE TABLE minhashes AS SELECT sig::minhash(512, 1) AS sig FROM bits;

VACUUM (FREEZE, ANALYZE) texts;
VACUUM (FREEZE, ANALYZE) short_texts;
VACUUM (FREEZE, ANALYZE) bits;
VACUUM (FREEZE, ANALYZE) minhashes;
CHECKPOINT;
