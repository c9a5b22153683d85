-- A trigger that refuses a text if the peer's search finds one like it.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	ids int[];
BEGIN
	EXECUTE format('SELECT %I($1)', TG_ARGV[0] || '_search') INTO ids USING NEW.body;
	IF cardinality(ids) > 0 THEN
		RAISE unique_violation USING MESSAGE = 'there is a text like this';
	END IF;
	RETURN NEW;
END $$;
