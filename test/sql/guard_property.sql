-- What a guard refuses equals what brute force says: random rows with signatures of each type are
-- inserted and updated under random thresholds, measures, conditions and columns of within.
SELECT setseed(0.5);

-- Elements of a document: some of its family's, others at random.
CREATE FUNCTION elements(family int, change float8) RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
	SELECT array_agg(CASE WHEN random() < change THEN (random() * 1e15)::bigint ELSE family * 1000 + j END)
	FROM generate_series(1, 30 + (random() * random() * 20)::int) j
$$;
-- The similarity of two values, by a function that no index knows.  Bits are taken for a minhash, and numbers for a simhash.
CREATE FUNCTION alike(a bit, b bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT 1 - 2 * length(replace((a # b)::text, '0', '')) / length(a)::float8 $$;
CREATE FUNCTION alike(a bigint, b bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT (1 + alike(a::bit(64), b::bit(64))) / 2 $$;
CREATE FUNCTION alike(a minhash, b minhash) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT similarity(a, b) $$;
CREATE FUNCTION alike(a simhash, b simhash) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT similarity(a, b) $$;
CREATE FUNCTION alike(a shingles, b shingles) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT similarity(a, b) $$;

CREATE TABLE types (type text, make text);
INSERT INTO types VALUES ('minhash(512)', 'to_minhash(to_shingles(e))'), ('minhash(64, 8)', 'to_minhash(to_shingles(e), 64, 8)'), ('simhash(256)', 'to_simhash(to_shingles(e), 256)'),
	('bit(65)', 'to_minhash(to_shingles(e), 65)::bit(65)'), ('bigint', 'to_simhash(to_shingles(e))::bigint'), ('shingles', 'to_shingles(e)');

-- Writes rows under one guard; returns how many were refused, and how many other than brute force says.
CREATE FUNCTION outcomes(type text, make text, rows int, OUT guard text, OUT refused int, OUT accepted int, OUT wrong int, OUT kept text) LANGUAGE plpgsql AS $$
DECLARE
	threshold float8 := (ARRAY[0.3, 0.5, 0.7, 0.9, 1, random()])[1 + (random() * 5)::int];
	measure text := CASE WHEN type = 'shingles' THEN (ARRAY['similarity', 'contained', 'contains', 'containment'])[1 + (random() * 3)::int] END;
	within text := (ARRAY[NULL, 'tenant', 'at 2 days', 'tenant, at 36 hours'])[1 + (random() * 3)::int];
	condition text := (ARRAY[NULL, 'status <> ''draft''', 'id % 3 <> 0'])[1 + (random() * 2)::int];
	unless text := (ARRAY[NULL, 'confirmed'])[1 + (random())::int];
	against text := (ARRAY[NULL, 'archive'])[1 + (random())::int];
	index_kind int := random() * 2;
	alike text := CASE measure WHEN 'contained' THEN 'containment(n.sig, o.sig)' WHEN 'contains' THEN 'containment(o.sig, n.sig)'
		WHEN 'containment' THEN 'greatest(containment(n.sig, o.sig), containment(o.sig, n.sig))' ELSE 'alike(n.sig, o.sig)' END;
	near text;
	expected boolean;
	row int;
BEGIN
	CREATE TABLE docs (id int, tenant int, at timestamptz, status text, confirmed boolean, sig text);
	EXECUTE format('ALTER TABLE docs ALTER sig TYPE %s USING NULL', type);
	CREATE TABLE archive (LIKE docs);
	CREATE TABLE new (LIKE docs);
	IF index_kind = 1 THEN
		CREATE INDEX ON docs USING neardup (sig);
	ELSIF index_kind = 2 AND type <> 'bigint' THEN
		CREATE INDEX ON docs USING neardup (sig, tenant);
	END IF;
	CREATE INDEX ON archive USING neardup (sig);
	PERFORM neardup_guard('docs', 'sig', threshold, within => within, condition => condition, measure => measure, unless => unless, against => against, name => 'checked');
	guard := format('%s %s %s %s', threshold, measure, within, condition);
	-- Rows that are equal in the columns of within, satisfy the condition and are near.
	near := format('%s AND n.sig IS NOT NULL AND o.sig IS NOT NULL AND %s >= %s - 1e-12', concat_ws(' AND ', 'true',
		CASE WHEN within LIKE 'tenant%' THEN 'n.tenant = o.tenant' END, CASE WHEN within ~ 'at ' THEN format('n.at IS NOT NULL AND o.at IS NOT NULL AND greatest(n.at, o.at) <= least(n.at, o.at) + %L::interval', substring(within FROM 'at (.*)')) END,
		CASE condition WHEN 'id % 3 <> 0' THEN 'n.id % 3 <> 0 AND o.id % 3 <> 0' WHEN 'status <> ''draft''' THEN 'n.status <> ''draft'' AND o.status <> ''draft''' END,
		CASE WHEN unless IS NOT NULL THEN 'n.confirmed IS NOT TRUE' END), alike, threshold);
	refused := 0;
	accepted := 0;
	wrong := 0;
	FOR i IN 1 .. rows LOOP
		TRUNCATE new;
		EXECUTE format('INSERT INTO new SELECT %s, nullif((random() * 3)::int, 0), CASE WHEN random() < 0.95 THEN timestamptz ''2026-03-01'' + random() * interval ''9 days'' END,
			(ARRAY[''draft'', ''sent'', NULL])[1 + (random() * 2)::int], (ARRAY[true, false, NULL])[1 + (random() * 2)::int],
			CASE WHEN random() < 0.95 THEN %s END FROM (SELECT CASE WHEN random() < 0.05 AND %L THEN ''{}'' ELSE elements((random() * 3)::int, random() * random() * random()) END AS e OFFSET 0) d', i, make, type ~ 'minhash|shingles');
		IF random() < 0.2 THEN
			INSERT INTO archive TABLE new;
			CONTINUE;
		END IF;
		row := CASE WHEN random() < 0.3 THEN (SELECT id FROM docs ORDER BY random() LIMIT 1) END;
		UPDATE new SET id = coalesce(row, id);
		EXECUTE format('SELECT EXISTS (SELECT FROM new n, docs o WHERE o.id <> n.id AND %s) OR EXISTS (SELECT FROM new n, archive o WHERE %L AND %1$s)', near, against IS NOT NULL) INTO expected;
		BEGIN
			IF row IS NULL THEN
				INSERT INTO docs TABLE new;
			ELSE
				UPDATE docs SET (tenant, at, status, confirmed, sig) = (SELECT tenant, at, status, confirmed, sig FROM new) WHERE id = row;
			END IF;
			accepted := accepted + 1;
			wrong := wrong + expected::int;
		EXCEPTION WHEN exclusion_violation THEN
			refused := refused + 1;
			wrong := wrong + (NOT expected)::int;
		END;
	END LOOP;
	DROP TABLE docs, archive, new;
END $$;

SET client_min_messages = warning;
CREATE TABLE results AS
SELECT t.type, o.* FROM types t CROSS JOIN generate_series(1, 10) n, outcomes(type, make, 50 + 0 * n) o;
SELECT type, sum(refused) > 3 AS refused, sum(accepted) > 10 AS accepted, sum(wrong) AS wrong, string_agg(guard, '; ') FILTER (WHERE wrong > 0) AS guards FROM results GROUP BY type ORDER BY type COLLATE "C";

DROP TABLE types, results;
DROP FUNCTION elements, outcomes, alike(bit, bit), alike(bigint, bigint), alike(minhash, minhash), alike(simhash, simhash), alike(shingles, shingles);
