-- The sources of pages of text, by windows that are searched for in an index on a sample of shingles.
CREATE EXTENSION neardup;
SET client_min_messages = warning;

CREATE TABLE docs (id int, body text);
CREATE TABLE pages (id int, body text, sources int[]);
CREATE TABLE lines (documents int, line text);
CREATE TABLE timed (id int, ms float8, with_shares float8, found int[]);

-- As in doc/how-to/find-passages.md.
CREATE FUNCTION passages_of(text) RETURNS TABLE (id int, start int, length int) LANGUAGE sql STABLE AS $$
	SELECT id::int, start, length
	FROM neardup_passages($1, 'SELECT id, body FROM unnest($1) AS part, shingles_mod(part, 4) AS s JOIN docs ON is_contained(s, shingles_mod(to_shingles(body), 4), least(1, 4.0 / greatest(cardinality(s), 1)))')
$$;

-- The words of the runs that are planted, and the probability that a run is found, by the number of its words.
CREATE FUNCTION runs() RETURNS int[] LANGUAGE sql IMMUTABLE AS $$ SELECT '{15,20,30,40,60}'::int[] $$;
CREATE FUNCTION chance(words int) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
	SELECT 1 - sum(c * 0.25 ^ x * 0.75 ^ (words - 2 - x))
	FROM (VALUES (0, 1.0), (1, words - 2.0), (2, (words - 2.0) * (words - 3) / 2), (3, (words - 2.0) * (words - 3) * (words - 4) / 6)) v (x, c)
$$;

-- Takes the last documents for pages, and puts four runs of other documents into each.
CREATE PROCEDURE make_pages(documents int) LANGUAGE sql AS $$
	TRUNCATE pages;
	INSERT INTO pages
	SELECT p.id, left(p.body, 600) || ' ' || string_agg(run || ' ' || substr(p.body, 600 + 400 * n, 400), ' ' ORDER BY n), array_agg(source ORDER BY n)
	FROM docs p, generate_series(1, 4) n,
		LATERAL (SELECT 1 + ((hashint8(p.id * 4 + n)::bigint + 2147483648) * documents >> 32)::int AS source, (runs())[1 + (p.id + n) % 5] AS words) r,
		LATERAL (SELECT string_to_array(body, ' ') AS w FROM docs d WHERE d.id = source) s,
		LATERAL (SELECT 1 + (hashint4(p.id * 8 + n) & 65535) * (cardinality(w) - words) / 65536 AS first) f,
		LATERAL (SELECT array_to_string(w[first : first + words - 1], ' ') AS run) t
	WHERE p.id > documents GROUP BY p.id, p.body;
	DELETE FROM docs WHERE id > documents;
$$;

CREATE PROCEDURE time_pages() LANGUAGE plpgsql AS $$
DECLARE
	page pages%ROWTYPE;
	start timestamptz;
	found int[];
	took float8;
BEGIN
	TRUNCATE timed;
	FOR page IN SELECT * FROM pages ORDER BY id LOOP
		start := clock_timestamp();
		SELECT array_agg(DISTINCT p.id) INTO found FROM passages_of(page.body) p;
		took := extract(epoch FROM clock_timestamp() - start) * 1e3;
		INSERT INTO timed VALUES (page.id, took, NULL, found);
	END LOOP;
	FOR page IN SELECT * FROM pages ORDER BY id LOOP
		start := clock_timestamp();
		PERFORM p.id, count(DISTINCT c) FROM passages_of(page.body) p, generate_series(p.start, p.start + p.length - 1) c GROUP BY ROLLUP (p.id);
		took := extract(epoch FROM clock_timestamp() - start) * 1e3;
		UPDATE timed SET with_shares = took WHERE id = page.id;
	END LOOP;
END $$;

-- Adds a row to the printed table, and empties docs for the next one.
CREATE PROCEDURE measure_passages(documents int) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	start timestamptz;
	seconds float8;
BEGIN
	CREATE UNIQUE INDEX docs_id ON docs (id);
	CALL make_pages(documents);
	start := clock_timestamp();
	CREATE INDEX docs_passages ON docs USING neardup (shingles_mod(to_shingles(body), 4));
	seconds := extract(epoch FROM clock_timestamp() - start);
	ANALYZE docs;
	CALL time_pages();
	INSERT INTO lines
	SELECT documents, format('| %s | %s | %s | %s | %s | %s | %s |', documents, round(avg(length(body))), round(seconds::numeric),
			round((1.0 * pg_relation_size('docs_passages') / sum(length(body)))::numeric, 2),
			(SELECT concat_ws(' | ', round((percentile_cont(0.5) WITHIN GROUP (ORDER BY ms))::numeric, 1), round((percentile_cont(0.95) WITHIN GROUP (ORDER BY ms))::numeric, 1),
				round((percentile_cont(0.5) WITHIN GROUP (ORDER BY with_shares))::numeric, 1)) FROM timed),
			(SELECT round(avg(cardinality(found)), 1) FROM timed),
			(SELECT concat_ws(' | ', VARIADIC array_agg(found ORDER BY words)) FROM (
				SELECT (runs())[1 + (id + n) % 5] AS words, round(avg((sources[n] = ANY (found))::int), 3)::text AS found
				FROM timed JOIN pages USING (id), generate_series(1, 4) n GROUP BY 1) f))
	FROM docs;
	DROP INDEX docs_id, docs_passages;
	TRUNCATE docs;
END $$;
