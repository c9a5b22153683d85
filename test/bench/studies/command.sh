# command.sh: the command neardup on a file of records, and its signatures in the server.  Sourced by run.
#
# The texts have about 2 kB; every fifth repeats the text of the record four before it, with one more word.

COMMAND_ROWS=${NEARDUP_BENCH_ROWS:-1000000}

# Writes records in JSON.
make_records()
{
	program studies/texts
	"$TOP/build/plain/test/bench/studies/texts" rows "$((3 * COMMAND_ROWS))" | cut -f 2 | paste -d ' ' - - - |
		awk '{ text = NR % 5 == 0 ? before " again" : $0; if (NR % 5 == 1) before = text; printf "{\"id\": %d, \"text\": \"%s\"}\n", NR, text }'
}

# put_row NAME SECONDS BYTES [KB]: prints a row of the table; BYTES of text, and the most memory, may be empty.
put_row()
{
	awk -v name="$1" -v s="$2" -v bytes="$3" -v kb="${4:-}" -v rows="$COMMAND_ROWS" 'BEGIN {
		printf "| %s | %.1f | %s | %.0f | %s |\n", name, s, bytes == "" ? "" : sprintf("%.0f", bytes / 1e6 / s), rows / s,
			kb == "" ? "" : sprintf("%.0f", kb / 1024) }'
}

# run_command NAME ARGUMENT...: prints a row with the time and the most memory of the command.
run_command()
{
	local name=$1 start pid most=0 now

	shift
	start=$(now)
	"$TOP/build/library/neardup" "$@" "$DIR/records.jsonl" >"$DIR/command.out" &
	pid=$!
	while now=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null) && [ -n "$now" ]; do
		most=$now
		sleep 0.1
	done
	wait "$pid"
	put_row "$name" "$(elapsed "$start")" "$BYTES" "$most"
}

# Prints a row with the time of COPY of the signatures that were written last, in binary format.
time_load()
{
	local start

	sql -c 'CREATE UNLOGGED TABLE loaded (id int8, sig minhash(512))'
	start=$(now)
	sql -c "COPY loaded FROM '$DIR/command.out' (FORMAT binary)"
	put_row 'COPY, binary, in one session of the server' "$(elapsed "$start")" ''
}

# Signs the same texts in the server; prints how long that takes, and how many rows differ.
sign_in_server()
{
	local start

	say "signing in the server"
	sed 's/^{"id": \([0-9]*\), "text": "\(.*\)"}$/\1\t\2/' "$DIR/records.jsonl" >"$DIR/records.copy"
	sql -c 'CREATE UNLOGGED TABLE texts (id int8, body text)' -c "COPY texts FROM '$DIR/records.copy'"
	start=$(now)
	sql -c 'CREATE UNLOGGED TABLE signed AS SELECT id, to_minhash(body) AS sig FROM texts'
	put_row 'CREATE TABLE AS SELECT to_minhash(body), in one process' "$(elapsed "$start")" "$BYTES"
	echo
	echo "Signatures of the command and of the server that differ: $(
		sql -c 'SELECT count(*) FROM loaded FULL JOIN signed USING (id) WHERE loaded.sig IS DISTINCT FROM signed.sig')"
}

measure_command()
{
	say "building the command"
	"$MAKE" -C "$TOP" -s lib
	say "making $COMMAND_ROWS records"
	make_records >"$DIR/records.jsonl"
	BYTES=$(stat -c %s "$DIR/records.jsonl")
	echo
	echo "The command neardup: $COMMAND_ROWS records, $((BYTES / 1000000)) MB of JSON, $(nproc) processors (one run each)."
	echo
	echo "| call | s | MB/s | records/s | most memory, MB |"
	echo "|---|---:|---:|---:|---:|"
	say "running the command"
	run_command "neardup sign --jobs 1" sign --jobs 1 --id id
	run_command "neardup sign" sign --id id
	run_command "neardup dedupe" dedupe
	run_command "neardup sign --format copy-binary --bigint" sign --id id --bigint --format copy-binary
	fresh_database
	sql -c 'CREATE EXTENSION neardup'
	time_load
	sign_in_server
	rm -f "$DIR"/records.* "$DIR/command.out"
}
