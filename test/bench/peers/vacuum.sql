-- Deletes a third of a peer's rows, vacuums, and searches again: VACUUM runs in no function.
SELECT delete_third(string_to_array(:'tables', ','));
SELECT clock_timestamp() AS start, pg_current_wal_insert_lsn() AS wal \gset
VACUUM :tables;
SELECT add_figure(:'peer', 'vacuum', 's', seconds_since(:'start')), add_figure(:'peer', 'vacuum WAL', 'MB', wal_since(:'wal') / 1e6);
SELECT time_searches(:'peer', 'search', :seconds, 'search after vacuum', fewest => 1) WHERE to_regproc(:'peer' || '_search') IS NOT NULL;
