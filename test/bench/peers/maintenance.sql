-- What it costs to have a peer: functions that update, delete and vacuum its rows.

-- Adds a column that no index has, and a function that updates it.
CREATE FUNCTION prepare_updates(peer text) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format('ALTER TABLE %I ADD COLUMN seen int', peer || '_texts');
	EXECUTE format('CREATE FUNCTION %I(of int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN UPDATE %I SET seen = 1 WHERE id = of; END $$',
		peer || '_update', peer || '_texts');
END $make$;

-- Updates that column in as many rows as there are queries, each with a statement of its own, in one transaction.
CREATE FUNCTION time_updates(peer text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	call text := format('SELECT %I($1)', peer || '_update');
	ids int[] := ARRAY(SELECT id FROM docs ORDER BY hashint4(id), id LIMIT (SELECT count(*) FROM queries));
	wal pg_lsn := pg_current_wal_insert_lsn();
	start timestamptz := clock_timestamp();
	number int := 0;
	id int;
BEGIN
	FOREACH id IN ARRAY ids LOOP
		EXIT WHEN seconds_since(start) > seconds;
		EXECUTE call USING id;
		number := number + 1;
	END LOOP;
	PERFORM add_figure(peer, 'update', 'µs', seconds_since(start) * 1e6 / number),
		add_figure(peer, 'update WAL', 'bytes', wal_since(wal) / number);
END $$;

-- Deletes a third of the rows that were stored at first.
CREATE FUNCTION delete_third(tables text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY tables LOOP
		EXECUTE format('DELETE FROM %I WHERE id %% 3 = 0 AND id IN (SELECT id FROM docs)', name);
	END LOOP;
END $$;

-- The files of tables, of their indexes and of what they keep out of line.
CREATE FUNCTION files_of(tables text[]) RETURNS SETOF text LANGUAGE sql AS $$
	WITH rels AS (
		SELECT c.oid, c.reltoastrelid FROM unnest(tables) AS t JOIN pg_class c ON c.oid = t::regclass),
	heaps AS (SELECT oid FROM rels UNION ALL SELECT reltoastrelid FROM rels WHERE reltoastrelid <> 0)
	SELECT pg_relation_filepath(oid) FROM heaps UNION ALL SELECT pg_relation_filepath(indexrelid) FROM pg_index JOIN heaps ON oid = indrelid
$$;

-- The first search of a session or of a server, unless those of the peer took so many seconds before.
CREATE FUNCTION first_search(name text, of text, number int, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	text_of text := body FROM queries WHERE n = number;
	ms float8;
BEGIN
	IF (SELECT sum(f.ms) / 1000 > seconds FROM firsts f WHERE peer = name AND label = of) THEN
		RETURN;
	END IF;
	EXECUTE format('SELECT ms FROM %I($1)', name || '_search_timed') INTO ms USING text_of;
	INSERT INTO firsts VALUES (name, of, ms);
END $$;

CREATE TABLE firsts (peer text, label text, ms float8);
CREATE TABLE memory (place serial, peer text, mb float8);
