-- Ends the run if what must hold does not.
CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE;

CREATE FUNCTION must(what text, holds boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF holds IS NOT TRUE THEN
		RAISE 'does not hold: %', what;
	END IF;
END $$;
