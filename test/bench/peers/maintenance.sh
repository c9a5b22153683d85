# maintenance.sh: what it costs to have a peer, beyond searches: first searches, memory, inserts, updates and vacuum.
# Sourced by run.sh.

# with_tables: prints the peers that have tables of their own and a search.
with_tables()
{
	peers_sql -c "SELECT peer FROM peers WHERE skipped IS NULL AND to_regclass(peer || '_texts') IS NOT NULL
		AND to_regproc(peer || '_search') IS NOT NULL ORDER BY place"
}

# The first search of each of several sessions.
search_in_sessions()
{
	local peer session

	for peer in $(with_tables); do
		for session in $(seq "$PEERS_SESSIONS"); do
			peers_sql -c "SELECT first_search('$peer', 'first search', $session, $PEERS_CURVE_SECONDS)" >/dev/null
		done
	done
}

# The first search after a restart, when the system's cache has none of the files of a peer.
search_cold()
{
	local peer peers round paths

	peers=$(with_tables)
	for round in $(seq "$PEERS_RESTARTS"); do
		paths=$(for peer in $peers; do peers_sql -c "SELECT files_of('{$(tables_of "$peer")}')"; done)
		restart_cold $paths
		# No peer finds fewer of the catalogs in the buffers than those after it.
		peers_sql -c 'SELECT count(*) FROM pg_class' -c 'SELECT count(*) FROM pg_attribute' -c 'SELECT count(*) FROM pg_proc' >/dev/null
		for peer in $peers; do
			peers_sql -c "SELECT first_search('$peer', 'cold search', $round, $PEERS_CURVE_SECONDS)" >/dev/null
		done
	done
}

# What the private memory of a session grows by in searches.
note_session_memory()
{
	local peer count

	count=$(private_memory_command)
	for peer in $(with_tables); do
		peers_sql >/dev/null <<-SQL
			SELECT 1 FROM peers;
			COPY memory (mb) FROM PROGRAM \$\$$count\$\$;
			SELECT ${peer}_search(body) FROM queries WHERE n <= 2;
			COPY memory (mb) FROM PROGRAM \$\$$count\$\$;
			SELECT add_figure('$peer', 'session memory', 'MB', max(mb) FILTER (WHERE place = last) - max(mb) FILTER (WHERE place = last - 1))
			FROM memory, (SELECT max(place) AS last FROM memory) m;
		SQL
	done
}

# peak_memory: runs SQL from stdin in a session, and prints the most private memory that this has, in MB.
peak_memory()
{
	local session pid= kb peak=0

	rm -f watching
	# The session waits for this.  A background process has no other input than one that it is given by number.
	{ (echo '\! until [ -e watching ]; do sleep 0.01; done' && cat <&3) | PGAPPNAME=watched peers_sql >/dev/null & } 3<&0
	session=$!
	while [ -z "$pid" ]; do
		pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'watched'")
		kill -0 "$session" 2>/dev/null || die "a watched session ends too early"
	done
	while kill -0 "$session" 2>/dev/null; do
		kb=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$pid/status" 2>/dev/null || true)
		[ "${kb:-0}" -le "$peak" ] || peak=$kb
		[ -e watching ] || touch watching
		sleep 0.02
	done
	wait "$session" || die "a watched session failed"
	rm watching
	awk -v kb="$peak" 'BEGIN { print kb / 1024 }'
}

# Builds the indexes of each peer again.
note_build_memory()
{
	local peer tables mb

	for peer in base $(with_tables); do
		tables=$(tables_of "$peer")
		mb=$(peak_memory <<-SQL
			SELECT clock_timestamp() AS start, pg_current_wal_insert_lsn() AS wal \\gset
			$(for table in ${tables//,/ }; do echo "REINDEX TABLE $table;"; done)
			SELECT add_figure('$peer', 'index build', 's', seconds_since(:'start')), add_figure('$peer', 'index build WAL', 'MB', wal_since(:'wal') / 1e6);
		SQL
		)
		peers_sql -c "SELECT add_figure('$peer', 'index build memory', 'MB', $mb)" >/dev/null
	done
}

peers_first()
{
	say "measuring first searches"
	search_in_sessions
	search_cold
	peers_sql >/dev/null -c "INSERT INTO measured SELECT peer, label, 'ms', percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM firsts GROUP BY peer, label"
}

peers_memory()
{
	if ! has_private_memory; then
		say "skipping memory: there is no /proc/PID/smaps"
		return
	fi
	say "measuring memory"
	note_session_memory
	note_build_memory
}

# Inserts and updates come after a checkpoint: the first change to a page writes all of it to the WAL.
peers_inserts()
{
	local peer

	say "measuring inserts"
	for peer in base $PEERS_IN_SQL; do
		! has_peer "$peer" || peers_sql -c CHECKPOINT -c "SELECT time_inserts('$peer', $PEERS_SECONDS)" >/dev/null
	done
}

peers_changes()
{
	local peer

	say "measuring updates"
	for peer in base $(with_tables); do
		peers_sql -c "SELECT prepare_updates('$peer')" -c CHECKPOINT -c "SELECT time_updates('$peer', $PEERS_SECONDS)" >/dev/null
	done
	say "measuring vacuum"
	for peer in base $(with_tables); do
		peers_sql -v peer="$peer" -v tables="$(tables_of "$peer")" -v seconds="$PEERS_CURVE_SECONDS" -f "$PEERS/vacuum.sql" >/dev/null
	done
	peers_sql >/dev/null -c "SELECT add_figure(peer, kind, 'ms', percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)) FROM timed WHERE kind = 'search after vacuum' GROUP BY peer, kind"
}
