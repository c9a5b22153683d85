-- What a comparison of neardup with its alternatives (BENCH=peers) is made of.
--
-- A peer p has a table p_texts, and functions
--   p_search(q text) → int[]             ids of the rows like a text, at 0.8
--   p_nearest(q text) → int[]            ids of the ten rows that are most like a text
--   p_insert(id int, body text) → void   adds a row
-- of which it may lack the second.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION neardup_study CASCADE;

-- The texts that are stored, and texts like these that are not.
CREATE TABLE docs (id int PRIMARY KEY, body text NOT NULL);
CREATE TABLE queries (n int PRIMARY KEY, id int NOT NULL, body text NOT NULL);

CREATE TABLE peers (
	place serial,
	peer text PRIMARY KEY,
	title text NOT NULL,
	exact text NOT NULL,		-- exact with regard to what?
	threshold text NOT NULL,	-- what serves the threshold?
	family text NOT NULL DEFAULT 'texts',	-- whose truth its answers are compared with: that of texts or of simhash
	skipped text				-- why the peer is not measured
);
CREATE TABLE measured (peer text, measure text, unit text, value float8, PRIMARY KEY (peer, measure));
CREATE TABLE timed (peer text, kind text, query int, ms float8);
CREATE TABLE found (peer text, kind text, query int, id int);
CREATE TABLE races (peer text, how text, accepted boolean);
CREATE TABLE pairs (peer text, a int, b int);

-- Adds to a figure, which is 0 at first.
CREATE FUNCTION add_figure(peer text, measure text, unit text, value float8) RETURNS void LANGUAGE sql AS $$
	INSERT INTO measured VALUES (peer, measure, unit, value)
	ON CONFLICT ON CONSTRAINT measured_pkey DO UPDATE SET value = measured.value + excluded.value
$$;

CREATE FUNCTION seconds_since(start timestamptz) RETURNS float8 LANGUAGE sql AS
	$$SELECT extract(epoch FROM clock_timestamp() - start)$$;

-- The bytes of WAL that the server wrote since.
CREATE FUNCTION wal_since(start pg_lsn) RETURNS float8 LANGUAGE sql AS
	$$SELECT pg_current_wal_insert_lsn() - start$$;

-- Runs a statement and adds its seconds to a measure, and the WAL of a build.
CREATE FUNCTION time_statement(peer text, measure text, statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	wal pg_lsn := pg_current_wal_insert_lsn();
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE statement;
	PERFORM add_figure(peer, measure, 's', seconds_since(start));
	IF measure = 'build' THEN
		PERFORM add_figure(peer, 'build WAL', 'MB', wal_since(wal) / 1e6);
	END IF;
END $$;

-- Makes a peer and its table, whose column body is that of docs.
CREATE FUNCTION make_peer(peer text, title text, exact text, threshold text, own_table boolean DEFAULT true, family text DEFAULT 'texts') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO peers (peer, title, exact, threshold, family) VALUES ($1, $2, $3, $4, $6);
	IF own_table THEN
		EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, body text NOT NULL)', peer || '_texts');
		EXECUTE format('INSERT INTO %I SELECT * FROM docs', peer || '_texts');
	END IF;
END $$;

CREATE FUNCTION skip_peer(peer text, title text, reason text) RETURNS void LANGUAGE sql AS
	$$INSERT INTO peers (peer, title, exact, threshold, skipped) VALUES (peer, title, '', '', reason)$$;

-- Creates the extension of peers.  Returns NULL, or the reason why there is none.
CREATE FUNCTION use_extension(name text, at_least text, package text, of_schema text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	version text := (SELECT default_version FROM pg_available_extensions a WHERE a.name = $1);
BEGIN
	IF version IS NULL THEN
		RETURN format('the extension %s is not installed (%s)', name, package);
	ELSIF string_to_array(version, '.')::int[] < string_to_array(at_least, '.')::int[] THEN
		RETURN format('%s %s is older than %s', name, version, at_least);
	END IF;
	EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', of_schema);
	EXECUTE format('CREATE EXTENSION %I SCHEMA %I', name, of_schema);
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN format('CREATE EXTENSION %s fails here: %s', name, SQLERRM);
END $$;

-- Makes a function of a peer that returns an array of ids.  The declarations are evaluated
-- once for a search, which a query with a cached plan may not do.
CREATE FUNCTION make_function(peer text, kind text, declarations text, query text) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format('CREATE FUNCTION %I(q text) RETURNS int[] LANGUAGE plpgsql AS $$ DECLARE %s BEGIN RETURN ARRAY(%s); END $$',
		peer || '_' || kind, declarations, query);
	-- The timer is static SQL too: it costs no planning.
	EXECUTE format('CREATE FUNCTION %I(q text, OUT ms float8, OUT ids int[]) LANGUAGE plpgsql AS $$
		DECLARE
			start timestamptz := clock_timestamp();
		BEGIN
			ids := %I(q);
			ms := extract(epoch FROM clock_timestamp() - start) * 1000;
		END $$', peer || '_' || kind || '_timed', peer || '_' || kind);
END
$make$;

CREATE FUNCTION make_insert(peer text, statements text) RETURNS void LANGUAGE plpgsql AS $make$
BEGIN
	EXECUTE format('CREATE FUNCTION %I(id int, body text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN %s; END $$',
		peer || '_insert', statements);
END
$make$;

-- Searches for each of the queries until the seconds are over, but for at least so many.  The answers have a label.
CREATE FUNCTION time_searches(peer text, kind text, seconds float8, label text DEFAULT NULL, of regclass DEFAULT 'queries', fewest int DEFAULT 5)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	call text := format('SELECT * FROM %I($1)', peer || '_' || kind || '_timed');
	start timestamptz := clock_timestamp();
	q record;
	ms float8;
	ids int[];
	number int := 0;
BEGIN
	FOR q IN EXECUTE format('SELECT * FROM %s ORDER BY n DESC LIMIT 6', of) LOOP	-- warms up
		EXIT WHEN seconds_since(start) > seconds / 10;
		EXECUTE call USING q.body;
	END LOOP;
	start := clock_timestamp();
	FOR q IN EXECUTE format('SELECT * FROM %s ORDER BY n', of) LOOP
		EXIT WHEN number >= fewest AND seconds_since(start) > seconds;
		EXECUTE call INTO ms, ids USING q.body;
		INSERT INTO timed VALUES (peer, coalesce(label, kind), q.n, ms);
		INSERT INTO found SELECT $1, coalesce(label, kind), q.n, unnest(ids);
		number := number + 1;
	END LOOP;
END $$;

-- Inserts the texts of the queries, each with a statement of its own, in one transaction.
CREATE FUNCTION time_inserts(peer text, seconds float8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	call text := format('SELECT %I($1, $2)', peer || '_insert');
	wal pg_lsn := pg_current_wal_insert_lsn();
	start timestamptz := clock_timestamp();
	q record;
	number int := 0;
BEGIN
	FOR q IN SELECT * FROM queries ORDER BY n LOOP
		EXIT WHEN seconds_since(start) > seconds;
		EXECUTE call USING q.id, q.body;
		number := number + 1;
	END LOOP;
	PERFORM add_figure(peer, 'insert', 'µs', seconds_since(start) * 1e6 / number),
		add_figure(peer, 'insert WAL', 'bytes', wal_since(wal) / number);
END $$;

-- The bytes of tables and their indexes beyond those of docs.
CREATE FUNCTION note_size(peer text, tables text[]) RETURNS void LANGUAGE sql AS
	$$INSERT INTO measured SELECT peer, 'size', 'MB', (sum(pg_total_relation_size(t::regclass)) - pg_total_relation_size('docs')) / 1e6
	FROM unnest(tables) AS t$$;

-- Measures a peer whose index is built.
CREATE FUNCTION measure_peer(peer text, tables text[], seconds float8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM note_size(peer, tables);
	PERFORM time_searches(peer, 'search', seconds);
	IF to_regproc(peer || '_nearest') IS NOT NULL THEN
		PERFORM time_searches(peer, 'nearest', seconds);
	END IF;
END $$;

-- A line for something that must hold.
CREATE FUNCTION must(what text, holds boolean) RETURNS text LANGUAGE sql AS
	$$SELECT CASE WHEN holds THEN 'ok     ' ELSE 'not ok ' END || what$$;

CREATE FUNCTION figure(peer text, measure text) RETURNS float8 LANGUAGE sql AS
	$$SELECT value FROM measured m WHERE m.peer = $1 AND m.measure = $2$$;

-- What is near each query, by the family of the peer.
CREATE TABLE truth (query int, id int, similarity float8);
CREATE TABLE simhash_truth (query int, id int);
CREATE VIEW truths AS
SELECT 'texts' AS family, query, id FROM truth UNION ALL SELECT 'simhash', query, id FROM simhash_truth;
