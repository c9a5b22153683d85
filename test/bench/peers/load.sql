-- The demo's texts, without exact copies, which a unique index finds.
CREATE TEMP TABLE gathered (source text, name text, body text);
\copy gathered from pstdin
CREATE TEMP TABLE numbered AS
SELECT row_number() OVER (ORDER BY md5(body), body)::int AS id, body FROM (SELECT DISTINCT body FROM gathered) d
ORDER BY md5(body) LIMIT :rows + :queries;
INSERT INTO queries SELECT id, id, body FROM numbered WHERE id <= :queries;
INSERT INTO docs SELECT * FROM numbered WHERE id > :queries;
