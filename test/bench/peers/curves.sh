# curves.sh: searches at several thresholds and with several settings, and inserts by several clients.
# Sourced by run.sh.

# curve_file NAME: prints the path of a file.  Those of a chosen number of texts have it in their name.
curve_file()
{
	echo "$(results)/$1${NEARDUP_BENCH_ROWS:+-$NEARDUP_BENCH_ROWS}.csv"
}

# write_csv NAME QUERY: writes the rows of a query, with a header.
write_csv()
{
	peers_sql -c "\\copy ($2) TO pstdout CSV HEADER" >"$(curve_file "$1")"
}

# The bands of Python with other shapes.  It reads the texts that it read before.
try_python()
{
	has_peer python || return 0
	"$PYTHON" "$PEERS/python.py" 32x4 21x6 18x7 16x8 12x10 9x13 <"$DIR/peers.json" >"$DIR/peers.out"
	sed -n 's/^timed\tpython \([^\t]*\)\t/recall\tpython_checked\t\1\t/p' "$DIR/peers.out" | peers_sql -c '\copy tried_timed from pstdin'
	sed -n 's/^found\tpython \([^\t]*\)\t/recall\tpython_checked\t\1\t/p' "$DIR/peers.out" | peers_sql -c '\copy tried_found from pstdin'
}

peers_thresholds()
{
	say "measuring thresholds"
	peers_sql -v seconds="$PEERS_CURVE_SECONDS" -v thresholds="$PEERS_THRESHOLDS" -f "$PEERS/thresholds.sql" >/dev/null
	peers_sql -c "SELECT wide_thresholds('ms')" >"$(curve_file thresholds)"
	peers_sql -c "SELECT wide_thresholds('found')" >"$(curve_file thresholds-found)"
}

# All settings run the same queries, unless they take very long: otherwise their recall could not be compared.
peers_recall()
{
	say "measuring recall"
	peers_sql -v seconds="$PEERS_SECONDS" -f "$PEERS/recall.sql" >/dev/null
	try_python
	peers_sql -f "$PEERS/recall-summary.sql"
	write_csv recall 'SELECT peer, title, setting, ms, recall, precision FROM recall_curve ORDER BY place, ms'
}

peers_nearest()
{
	say "measuring the nearest ten"
	program fingerprints
	"$TOP/build/plain/test/bench/fingerprints" families 1024 "$(peers_sql -c 'SELECT count(*) FROM docs')" 29 >"$DIR/prints.rows"
	peers_sql -v nearest="$PEERS_NEAREST" -v seconds="$PEERS_CURVE_SECONDS" -f "$PEERS/nearest.sql" >/dev/null
	rm "$DIR/prints.rows"
	write_csv nearest 'SELECT data, kind, peer, title, setting, ms, recall FROM nearest_curve ORDER BY data, kind, place, ms'
}

# ---- Several clients insert ----------------------------------------------------

# insert_with PEER CLIENTS: prints how many rows so many clients insert a second, with texts unlike nearly all others.
insert_with()
{
	local SECONDS_EACH=$PEERS_CLIENT_SECONDS

	cat >insert.sql <<-SQL
		\\set r random($(peers_sql -F ', ' -c 'SELECT min(id), max(id) FROM docs'))
		SELECT $1_insert(n::int, replace(translate(' ' || body, E'\\n\\t', '  '), ' ', n || ' ')) FROM docs, nextval('client_ids') n WHERE id = :r;
	SQL
	clients insert insert.sql "$2"
	tail -n 1 insert.tps
	rm insert.*
}

# Inserts by more and more clients.  The rows stay, so tables grow.
peers_clients()
{
	local peer count peers line

	peers_sql -f "$PEERS/clients.sql" >/dev/null
	peers=$(for peer in $PEERS_CLIENTS; do
		! has_peer "$peer" && [ "$peer" != guarded ] || echo "$peer"
	done)
	(
		echo clients $peers
		for count in $PEERS_CLIENT_COUNTS; do
			say "measuring inserts by $count clients"
			line=$count
			for peer in $peers; do
				peers_sql -c CHECKPOINT
				line="$line $(insert_with "$peer" "$count")"
			done
			echo $line
		done
	) | tr ' ' , >"$(curve_file clients)"
}
