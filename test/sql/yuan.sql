-- The algorithms of Yuan et al. (2012), compared with SQL on B-trees.

-- 3,000 fingerprints of 64 bits; two in three are copies of an earlier one, with up
-- to 11 bits flipped.
CREATE FUNCTION flipped(sig bit, seed text, bits int) RETURNS bit LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	FOR i IN 1 .. bits
	LOOP
		sig := set_bit(sig, place, 1 - get_bit(sig, place))
		FROM (SELECT ('x' || substr(md5(seed || ' ' || i), 1, 4))::bit(16)::int % length(sig) AS place) p;
	END LOOP;
	RETURN sig;
END
$$;
CREATE TABLE fingerprints AS
SELECT id, flipped(('x' || md5(CASE WHEN id % 3 = 0 THEN id ELSE id % 60 END::text))::bit(64), id::text,
	CASE WHEN id % 3 = 0 THEN 0 ELSE id % 12 END)::bit(64) AS sig
FROM generate_series(1, 3000) id;
ALTER TABLE fingerprints ADD PRIMARY KEY (id);
CREATE INDEX fingerprints_sig ON fingerprints USING neardup (sig) WITH (groups = 8);

-- The groups as rows: number, value, document.
CREATE TABLE fingerprint_groups AS
SELECT number, substring(sig FROM number * 8 + 1 FOR 8)::int AS value, id AS doc
FROM fingerprints, generate_series(0, 7) number;
CREATE INDEX ON fingerprint_groups (number, value);
ANALYZE fingerprints;
ANALYZE fingerprint_groups;

CREATE FUNCTION differing(a bit, b bit) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT length(replace((a # b)::text, '0', ''))$$;
CREATE TABLE questions AS SELECT id, flipped(sig, 'q' || id, (id % 5)::int) AS sig FROM fingerprints WHERE id % 197 = 0;

-- Alg.H merges the groups' lists; documents in m - h of them are candidates.
CREATE FUNCTION merged(q bit, h int) RETURNS TABLE (id int) LANGUAGE sql STABLE AS $$
	SELECT f.id FROM (
		SELECT doc FROM (
			SELECT doc FROM fingerprint_groups WHERE number = 0 AND value = substring(q FROM 1 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 1 AND value = substring(q FROM 9 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 2 AND value = substring(q FROM 17 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 3 AND value = substring(q FROM 25 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 4 AND value = substring(q FROM 33 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 5 AND value = substring(q FROM 41 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 6 AND value = substring(q FROM 49 FOR 8)::int
			UNION ALL
			SELECT doc FROM fingerprint_groups WHERE number = 7 AND value = substring(q FROM 57 FOR 8)::int
		) hits GROUP BY doc HAVING count(*) >= 8 - h
	) candidates JOIN fingerprints f ON f.id = candidates.doc
	WHERE differing(f.sig, q) <= h
$$;

-- Alg.G with 2 of 8 groups (h = 6): documents equal in both groups of any pair are candidates.
CREATE FUNCTION chosen(q bit) RETURNS TABLE (id int) LANGUAGE sql STABLE AS $$
	SELECT DISTINCT f.id
	FROM generate_series(0, 7) one JOIN generate_series(0, 7) two ON one < two
	JOIN fingerprint_groups a ON a.number = one AND a.value = substring(q FROM one * 8 + 1 FOR 8)::int
	JOIN fingerprint_groups b ON b.number = two AND b.value = substring(q FROM two * 8 + 1 FOR 8)::int AND b.doc = a.doc
	JOIN fingerprints f ON f.id = a.doc
	WHERE differing(f.sig, q) <= 6
$$;

-- The index's rows by one method.
CREATE FUNCTION indexed(method text, q bit, h int) RETURNS TABLE (id int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('neardup.search', method, true), set_config('enable_seqscan', 'off', true);
	RETURN QUERY SELECT f.id FROM fingerprints f WHERE is_within(f.sig, q, h);
END
$$;

CREATE TABLE distances AS
SELECT q.id AS question, f.id, differing(f.sig, q.sig) AS d FROM questions q, fingerprints f;

-- For each distance, all methods and SQL return the same rows.
SELECT h, sum(cardinality(e.ids)) AS rows, method, bool_and(r.ids = e.ids) AS same
FROM generate_series(0, 7) h, questions q,
	LATERAL (SELECT array_agg(d.id ORDER BY d.id) AS ids FROM distances d WHERE d.question = q.id AND d.d <= h) e,
	unnest('{auto,merge,choose,probe,scan,sql}'::text[]) method,
	LATERAL (SELECT array_agg(x ORDER BY x) AS ids
		FROM (SELECT merged(q.sig, h) AS x WHERE method = 'sql'
			UNION ALL SELECT indexed(method, q.sig, h) WHERE method <> 'sql') u) r
WHERE e.ids IS NOT NULL
GROUP BY h, method ORDER BY h, method;

SELECT sum(cardinality(e.ids)) AS rows, bool_and(r.ids = e.ids) AS same
FROM questions q,
	LATERAL (SELECT array_agg(d.id ORDER BY d.id) AS ids FROM distances d WHERE d.question = q.id AND d.d <= 6) e,
	LATERAL (SELECT array_agg(x ORDER BY x) AS ids FROM chosen(q.sig) x) r
WHERE e.ids IS NOT NULL;

-- Limits of each method: choosing needs h < m and at most 100,000 choices.
CREATE FUNCTION way(method text, index regclass, h int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('neardup.search', method, true);
	RETURN QUERY SELECT format('%s: %s groups, %s hits', e.method, e.groups, e.hits)
		FROM neardup_explain(index, hamming_ball((SELECT sig FROM fingerprints WHERE id = 1), h)) e WHERE segment IS NOT NULL;
END
$$;
SELECT h, way('choose', 'fingerprints_sig', h), way('merge', 'fingerprints_sig', h) FROM unnest('{0,6,7,8}'::int[]) h;
ALTER INDEX fingerprints_sig SET (groups = 32);
REINDEX INDEX fingerprints_sig;
SELECT h, way('choose', 'fingerprints_sig', h), way('merge', 'fingerprints_sig', h) FROM unnest('{3,8,16,31}'::int[]) h;
SELECT neardup_check('fingerprints_sig');
SELECT indexed('choose', sig, 3) FROM fingerprints WHERE id = 300;

-- The option's bounds.
ALTER INDEX fingerprints_sig SET (groups = -1);
ALTER INDEX fingerprints_sig SET (groups = 4097);
ALTER INDEX fingerprints_sig SET (bands = 3);
ALTER INDEX fingerprints_sig RESET (groups);
REINDEX INDEX fingerprints_sig;
SELECT way('merge', 'fingerprints_sig', 3);

DROP TABLE fingerprints, fingerprint_groups, questions, distances;
DROP FUNCTION flipped, differing, merged, chosen, indexed, way;
