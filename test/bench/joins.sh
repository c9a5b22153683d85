# joins.sh: all pairs of random signatures.  Sourced by run.
#
# One signature in ten is a copy of another with up to 60 of its 512 bits changed.  The memory is
# the most that the processes of the call have for themselves at any time, without shared buffers.
# 300,000,000 rows are joined by the command, which reads them from a pipe, since a table of them would
# take as much disk as all its temporary files.

# Threshold, maintenance_work_mem and workers of each call, for some number of rows.
JOINS_1000000="0.9:1GB:0 0.8:1GB:0 0.7:1GB:0 0.6:1GB:0 0.5:1GB:0 0.4:1GB:0 0.8:1GB:1 0.8:64MB:0 0.8:64MB:1"
JOINS_10000000="0.8:4GB:0 0.8:4GB:1 0.8:400MB:0 0.8:400MB:1"
JOINS_100000000="0.8:4500MB:1"
JOINS_300000000="0.9:21G:1 0.8:16G:1"
BY_COMMAND=300000000

# Prints the most megabytes that the server's processes have for themselves, until it is stopped.
watch_memory()
{
	local postmaster most=0 now

	postmaster=$(head -n 1 "$DIR/data/postmaster.pid")
	trap 'echo "$most"; exit' TERM
	while sleep 1; do
		now=$(cat $(pgrep -P "$postmaster" | sed 's|.*|/proc/&/status|') 2>/dev/null |
			awk '/^RssAnon/ { kb += $2 } END { printf "%d", kb / 1024 }')
		most=$((now > most ? now : most))
	done
}

# measure_join ROWS THRESHOLD MEMORY WORKERS: prints a row of the table.
measure_join()
{
	local watch start pairs seconds

	watch_memory >"$DIR/join.memory" &
	watch=$!
	start=$(now)
	pairs=$(PGOPTIONS="-c client_min_messages=warning" sql <<-SQL
		SET maintenance_work_mem = '$3';
		SET max_parallel_maintenance_workers = $4;
		SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM joined', $2);
	SQL
	)
	seconds=$(elapsed "$start")
	kill "$watch"
	wait "$watch" || true
	echo "| $1 | $2 | $3 | $(($4 + 1)) | $seconds | $(cat "$DIR/join.memory") | $pairs |"
}

# Prints the most gigabytes of a process's memory and of its open files, until it ends.
watch_command()
{
	local memory disk most=0

	while memory=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null) && [ -n "$memory" ]; do
		disk=$(stat -Lc %b "/proc/$1/fd/"* 2>/dev/null | awk '{ n += $1 } END { printf "%d", n / 2 }')
		most=$((disk > most ? disk : most))
		echo "$memory $most"
		sleep 1
	done | tail -n 1 | awk '{ printf "%.1f | %.1f", $1 / 1e6, $2 / 1e6 }'
}

# measure_command ROWS THRESHOLD MEMORY WORKERS: prints a row of the table.
measure_command()
{
	local start most

	start=$(now)
	"$TOP/build/plain/test/bench/fingerprints" signatures 512 "$1" 10 |
		TMPDIR=$DIR "$TOP/build/library/neardup" pairs --bigint --signatures - -t "$2" -m "$3" -j $(($4 + 1)) >"$DIR/join.pairs" &
	most=$(watch_command $!)
	wait $!
	echo "| $1 | $2 | $3 | $(($4 + 1)) | $(elapsed "$start") | $most | $(wc -l <"$DIR/join.pairs") |"
}

measure_command_joins()
{
	local joins=JOINS_$BY_COMMAND call

	"$MAKE" -C "$TOP" -s lib
	program fingerprints
	echo
	echo "All pairs of such signatures by the command (one run each)."
	echo
	echo "| rows | threshold | --memory | threads | s | memory, GB | temporary files, GB | pairs |"
	echo "|---:|---:|---:|---:|---:|---:|---:|---:|"
	for call in ${!joins}; do
		say "joining $BY_COMMAND rows: $call"
		measure_command "$BY_COMMAND" ${call//:/ }
	done
}

# make_joined ROWS: makes the table.
make_joined()
{
	say "making $1 rows"
	program fingerprints
	sql -c 'CREATE UNLOGGED TABLE loaded (id int, bits bit(512))'
	"$TOP/build/plain/test/bench/fingerprints" copies 512 "$1" 10 | sql -c '\copy loaded FROM STDIN (FORMAT binary)'
	sql -c 'CREATE UNLOGGED TABLE joined AS SELECT id, bits::minhash AS sig FROM loaded' -c 'DROP TABLE loaded'
}

measure_joins()
{
	local rows joins call

	echo
	echo "All pairs of random signatures minhash(512, 1), of which one in ten is a copy of another with changes, by one call of neardup_pairs (one run each)."
	echo
	echo "| rows | threshold | maintenance_work_mem | processes | s | most memory, MB | pairs |"
	echo "|---:|---:|---:|---:|---:|---:|---:|"
	for rows in ${NEARDUP_BENCH_ROWS:-1000000 10000000}; do
		if [ "$rows" = $BY_COMMAND ]; then
			measure_command_joins
			continue
		fi
		fresh_database
		sql -c 'CREATE EXTENSION neardup'
		make_joined "$rows"
		joins=JOINS_$rows
		for call in ${!joins:-0.8:256MB:0}; do
			say "joining $rows rows: $call"
			measure_join "$rows" ${call//:/ }
		done
	done
}
