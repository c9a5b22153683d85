-- Functions for test/fuzz/pages: an index with pages of all kinds, its right answers,
-- and operations on it.  :library is the library that damages pages.
\set ON_ERROR_STOP 1
\set QUIET 1
CREATE EXTENSION neardup;
CREATE FUNCTION fuzz_save(regclass) RETURNS int AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION fuzz_damage(regclass, bigint, boolean) RETURNS text AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION fuzz_restore(regclass, "all" boolean) RETURNS void AS :'library' LANGUAGE C STRICT;
CREATE FUNCTION fuzz_vacuum(regclass, tid[]) RETURNS void AS :'library' LANGUAGE C STRICT;

-- Families of similar documents, some empty, some NULL; keys; a segment and a tail.
CREATE TABLE base AS
SELECT n AS id, nullif(n % 97, 5) AS tenant, CASE n % 3 WHEN 0 THEN 'en' ELSE 'de' END AS lang, CASE WHEN n % 100 = 1 THEN NULL WHEN n % 100 = 2 THEN to_minhash('') ELSE
	to_minhash((SELECT string_agg('w' || hashint4(n / 5 * 1000 + i), ' ') || ' v' || n FROM generate_series(1, 60) i)) END AS sig
FROM generate_series(1, 2500) n;
ALTER TABLE base ADD PRIMARY KEY (id);
CREATE TABLE t AS SELECT * FROM base WHERE id <= 600;
SET neardup.background = off;
CREATE INDEX t_sig ON t USING neardup (tenant, sig, lang);
INSERT INTO t SELECT * FROM base WHERE id > 600 AND id <= 2200;
VACUUM (INDEX_CLEANUP OFF) t;
-- A segment that a search reads, whose place in a session's cache another then loses.
CREATE TABLE seal AS SELECT id, sig FROM base LIMIT 600;
CREATE INDEX seal_sig ON seal USING neardup (sig);
CREATE TABLE dead AS SELECT array_agg(ctid) AS tids FROM t WHERE id % 50 = 7;
DELETE FROM t WHERE id % 50 = 7;

-- Counts of outcomes so far.
CREATE TABLE tally (what text NOT NULL);
CREATE TABLE bad (what text, damage text, operation text, detail text);
CREATE TABLE expected (operation text, query int, answer text, PRIMARY KEY (operation, query));

-- Prepared statements, so that their plans are kept.
CREATE FUNCTION near_ids(query int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(id::text, ',' ORDER BY id) FROM t
		WHERE is_similar(sig, (SELECT sig FROM base WHERE base.id = query), 0.7));
END $$;

CREATE FUNCTION near_ids_by_bitmap(query int) RETURNS text LANGUAGE plpgsql
	SET enable_indexscan = off SET enable_bitmapscan = on AS $$
BEGIN
	RETURN (SELECT string_agg(id::text, ',' ORDER BY id) FROM t
		WHERE is_similar(sig, (SELECT sig FROM base WHERE base.id = query), 0.7));
END $$;

-- A list of keys is read for a tenant, and one for each of several.
CREATE FUNCTION tenants_ids(query int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT string_agg(id::text, ',' ORDER BY id) FROM t
		WHERE tenant = ANY (ARRAY[query / 97, 7, 8]) AND is_similar(sig, (SELECT sig FROM base WHERE base.id = query), 0.1));
END $$;

CREATE FUNCTION tenants_nearest(query int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT md5(string_agg(id || ' ' || d, ',')) FROM (
		SELECT id, coalesce(sig <~> (SELECT sig FROM base WHERE base.id = query), -1) AS d FROM t
		WHERE tenant = query / 97 AND lang = 'de'
		ORDER BY sig <~> (SELECT sig FROM base WHERE base.id = query) LIMIT 20) nearest);
END $$;

CREATE FUNCTION nearest(query int, many int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT md5(string_agg(id || ' ' || d, ',')) FROM (
		SELECT id, coalesce(sig <~> (SELECT sig FROM base WHERE base.id = query), -1) AS d FROM t
		ORDER BY sig <~> (SELECT sig FROM base WHERE base.id = query) LIMIT many) nearest);
END $$;

-- Runs half of an ordered scan before the damage and the other half after it.
CREATE FUNCTION interrupted(query int, seed bigint, forged boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c CURSOR FOR SELECT id FROM t ORDER BY sig <~> (SELECT sig FROM base WHERE base.id = query);
	r record;
	ids text = '';
BEGIN
	OPEN c;
	FOR i IN 1 .. 300 LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		ids = ids || ' ' || r.id;
		IF i = 3 AND seed IS NOT NULL THEN
			PERFORM fuzz_damage('t_sig', seed, forged);
		END IF;
	END LOOP;
	CLOSE c;
	RETURN md5(ids);
END $$;

CREATE FUNCTION answer(operation text, query int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	why text;
BEGIN
	CASE operation
		WHEN 'search' THEN
			RETURN near_ids(query);
		WHEN 'bitmap' THEN
			RETURN near_ids_by_bitmap(query);
		WHEN 'tenants' THEN
			RETURN tenants_ids(query);
		WHEN 'tenant order' THEN
			RETURN tenants_nearest(query);
		WHEN 'order' THEN
			RETURN nearest(query, 20);
		WHEN 'order all' THEN
			RETURN nearest(query, 100000);
		WHEN 'insert' THEN
			INSERT INTO t SELECT -id, tenant, lang, sig FROM base WHERE id = query;
			RETURN near_ids(query);
		WHEN 'insert many' THEN
			INSERT INTO t SELECT 10000 + id, tenant, lang, sig FROM base WHERE id > 2200;
			RETURN near_ids(query);
		WHEN 'vacuum' THEN
			PERFORM fuzz_vacuum('t_sig', tids) FROM dead;
			RETURN near_ids(query);
		WHEN 'check' THEN
			RETURN neardup_check('t_sig');
		WHEN 'info' THEN
			SELECT segments || ' ' || documents || ' ' || tail, advice INTO STRICT said, why FROM neardup_index_status('t_sig');
			IF said IS NULL THEN
				RAISE data_corrupted USING MESSAGE = why;
			END IF;
			RETURN said;
	END CASE;
END $$;

-- Runs an operation and undoes it.  Returns the answer.
CREATE FUNCTION ask(operation text, query int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	BEGIN
		said = answer(operation, query);
		RAISE EXCEPTION USING ERRCODE = 'ZZ001';
	EXCEPTION WHEN SQLSTATE 'ZZ001' THEN
		NULL;
	END;
	RETURN coalesce(said, '-');
END $$;

-- Discards what the session has cached of the index.
CREATE FUNCTION forget() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('neardup.cache_size', '0', true);
	PERFORM count(*) FROM seal WHERE is_similar(sig, (SELECT sig FROM base WHERE base.id = 3), 0.9);
	PERFORM set_config('neardup.cache_size', '65536', true);
END $$;

CREATE FUNCTION count_as(what text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO tally VALUES (what);
$$;

-- Tests one damaged page, in a session that has used the index or in one that has not.
CREATE FUNCTION fuzz_one(seed bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	operations text[] = '{search,search,search,search,bitmap,bitmap,order,order,tenants,tenants,tenant order,interrupted,insert,info}';
	slow text[] = '{order all,insert many,vacuum,check}';
	wish text = CASE WHEN hashint8extended(seed, 1) % 16 = 0 THEN slow[1 + abs(hashint8extended(seed, 7) % 4)]
		ELSE operations[1 + abs(hashint8extended(seed, 7) % 14)] END;
	writes boolean = wish ~ 'insert|vacuum';
	asked int = 3 + 97 * abs(hashint8extended(seed, 2) % 20);
	forged boolean = abs(hashint8extended(seed, 3) % 100) < current_setting('fuzz.forged')::int;
	damage text;
	said text;
	wanted text;
	state text;
	message text;
BEGIN
	PERFORM set_config('neardup.cache_size', CASE WHEN hashint8extended(seed, 4) % 4 = 0 THEN '0' ELSE '65536' END, true);
	IF hashint8extended(seed, 5) % 3 = 0 THEN
		PERFORM forget();
	END IF;
	SELECT e.answer INTO STRICT wanted FROM expected e WHERE e.operation = wish AND e.query = asked;
	BEGIN
		IF wish = 'interrupted' THEN
			damage = 'seed ' || seed;
			said = interrupted(asked, seed, forged);
		ELSE
			damage = fuzz_damage('t_sig', seed, forged);
			said = ask(wish, asked);
		END IF;
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
	END;
	PERFORM fuzz_restore('t_sig', writes);
	-- The session may have cached what was forged.
	IF forged THEN
		PERFORM forget();
	END IF;
	PERFORM count_as(coalesce((regexp_match(damage, '^(\w+) \w+ block'))[1], 'while in order'));
	IF forged THEN
		PERFORM count_as(CASE WHEN state IS NOT NULL THEN 'forged, errors'
			WHEN said IS DISTINCT FROM wanted THEN 'forged, wrong answers' ELSE 'forged, right answers' END);
	ELSIF state IS NULL AND said = wanted THEN
		PERFORM count_as('right answers');
	ELSIF state IS NULL THEN
		INSERT INTO bad VALUES ('wrong answer', damage, wish, format('%s: %s, not %s', asked, left(said, 60), left(wanted, 60)));
	ELSIF state IN ('XX001', 'XX002') OR message LIKE '%has layout%' THEN
		PERFORM count_as('errors');
	ELSE
		INSERT INTO bad VALUES ('strange error', damage, wish, state || ' ' || message);
	END IF;
	-- The page is restored.
	IF hashint8extended(seed, 6) % 8 = 0 THEN
		BEGIN
			said = ask(wish, asked);
		EXCEPTION WHEN OTHERS THEN
			said = SQLERRM;
		END;
		PERFORM fuzz_restore('t_sig', writes);
		IF said IS DISTINCT FROM wanted AND wish <> 'interrupted' THEN
			INSERT INTO bad VALUES ('not well again', damage, wish, format('%s: %s, not %s', asked, left(said, 200), left(wanted, 60)));
		END IF;
	END IF;
EXCEPTION WHEN OTHERS THEN
	INSERT INTO bad VALUES ('strange error', damage, wish, SQLSTATE || ' ' || SQLERRM);
END $$;
