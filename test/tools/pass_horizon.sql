-- Waits until no other session has a snapshot that is older than this statement: VACUUM then removes all dead rows.
DO $$
BEGIN
	PERFORM txid_current();
	WHILE EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid()
			AND (age(backend_xid) > 0 OR age(backend_xmin) > 0 AND coalesce(datname, current_database()) = current_database())) LOOP
		PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
	END LOOP;
END $$;
