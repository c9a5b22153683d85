-- Title and body have a signature and an index each: conditions on both use both indexes, and find what a
-- scan of the table finds (doc/how-to/search.md).

CREATE TABLE papers (id int PRIMARY KEY, title text, body text,
	title_sig minhash GENERATED ALWAYS AS (to_minhash(title, 'char 4')) STORED, body_sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) WITH (autovacuum_enabled = off);
-- Families of 20 in the body and of 33 in the title; those of both have 6 or 7 papers.
INSERT INTO papers SELECT i, CASE WHEN i % 50 > 0 THEN 'The study of subject ' || md5((i % 60)::text) || ', part ' || i END,
	(SELECT string_agg(CASE WHEN j % 29 = i % 10 THEN 'own' || i ELSE 'w' || hashint4(i % 100 * 100 + j) END, ' ' ORDER BY j) FROM generate_series(1, 60) j)
FROM generate_series(1, 2000) i;
CREATE INDEX ON papers USING neardup (title_sig);
CREATE INDEX ON papers USING neardup (body_sig);
ANALYZE papers;

PREPARE title_and_body(int) AS SELECT p.id FROM papers p, papers q
	WHERE q.id = $1 AND is_similar(p.title_sig, q.title_sig, 0.5) AND is_similar(p.body_sig, q.body_sig, 0.5);
PREPARE title_or_body(int) AS SELECT p.id FROM papers p, papers q
	WHERE q.id = $1 AND (is_similar(p.title_sig, q.title_sig, 0.5) OR is_similar(p.body_sig, q.body_sig, 0.5));
PREPARE weighted(int) AS SELECT p.id FROM papers q JOIN papers p ON is_similar(p.body_sig, q.body_sig, 0.571),
	LATERAL (SELECT 0.3 * coalesce(similarity(p.title_sig, q.title_sig), 0) + 0.7 * similarity(p.body_sig, q.body_sig)) s(score)
	WHERE q.id = $1 AND s.score >= 0.7;

-- Returns the indexes that the plan of a query uses.
CREATE FUNCTION used(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	names text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		names := names || (regexp_match(line, 'BitmapOr|BitmapAnd|papers_(?:title|body)_sig_idx'))[1];
	END LOOP;
	RETURN array_to_string(ARRAY(SELECT DISTINCT n FROM unnest(names) n WHERE n IS NOT NULL ORDER BY 1), ', ');
END $$;
SELECT used('EXECUTE title_and_body(4)') <> '' AS title_and_body, used('EXECUTE title_or_body(4)') AS title_or_body, used('EXECUTE weighted(4)') AS weighted;

-- Compares what a statement finds by the indexes with what it finds without, for some papers; 100 has no title.
CREATE FUNCTION found(query text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
	ids int[] := '{}';
	id int;
BEGIN
	FOR id IN EXECUTE query LOOP
		ids := ids || id;
	END LOOP;
	RETURN ARRAY(SELECT i FROM unnest(ids) i ORDER BY i);
END $$;
CREATE TABLE by_index AS SELECT name, i, found(format('EXECUTE %s(%s)', name, i)) AS ids
	FROM unnest('{title_and_body,title_or_body,weighted}'::text[]) name, generate_series(2, 100, 7) i;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT name, sum(cardinality(ids)) > count(*) AS some, bool_and(ids = found(format('EXECUTE %s(%s)', name, i))) AS same FROM by_index GROUP BY name ORDER BY name;
-- The filter loses nothing that the sum would find.
SELECT count(*) AS lost FROM papers q, papers p
WHERE q.id IN (4, 50, 77) AND 0.3 * coalesce(similarity(p.title_sig, q.title_sig), 0) + 0.7 * similarity(p.body_sig, q.body_sig) >= 0.7
	AND NOT is_similar(p.body_sig, q.body_sig, 0.571);

DEALLOCATE ALL;
DROP FUNCTION used, found;
DROP TABLE by_index, papers;
