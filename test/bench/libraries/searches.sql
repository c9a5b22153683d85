-- Times the searches of a peer.
SELECT time_searches(:'peer', 'search', :seconds);
SELECT time_searches(:'peer', 'nearest', :seconds) WHERE to_regproc(:'peer' || '_nearest') IS NOT NULL;
SELECT note_memory(:'peer');
