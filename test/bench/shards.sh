# shards.sh: pairs of documents on four servers, beside the same documents on one.  Sourced by run.
#
# Servers 1 to 4 are in DIR/shard1 and so on.  Document i is on server i % 4 + 1.

SHARDS=4
SHARD_PORT=54400

# shard N ARGUMENT...: psql on a server.
shard()
{
	local n=$1

	shift
	PGHOST=$DIR/shard$n/sock PGPORT=$((SHARD_PORT + n)) DATABASE=postgres sql "$@"
}

stop_shards()
{
	local n

	for n in $(seq $SHARDS); do
		stop_server "$DIR/shard$n"
		rm -rf "$DIR/shard$n/data"
	done
}

start_shards()
{
	local n

	stop_shards
	for n in $(seq $SHARDS); do
		mkdir -p "$DIR/shard$n"
		(start_server "$DIR/shard$n" $((SHARD_PORT + n)) "shared_buffers = '256MB'" "jit = off" "autovacuum = off" \
			"max_parallel_workers_per_gather = 0" "max_parallel_maintenance_workers = 0" "maintenance_work_mem = '256MB'")
		shard "$n" -c 'CREATE EXTENSION neardup' -c 'CREATE EXTENSION postgres_fdw' \
			-c 'CREATE TABLE docs (id int PRIMARY KEY, sig minhash(512) NOT NULL)'
		sql -c "COPY (SELECT * FROM m WHERE id % $SHARDS + 1 = $n) TO STDOUT (FORMAT binary)" |
			shard "$n" -c 'COPY docs FROM STDIN (FORMAT binary)'
	done
}

# foreign_table N: prints what makes docs_N, the documents of a server, on another one.
foreign_table()
{
	cat <<-SQL
		CREATE SERVER shard$1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$DIR/shard$1/sock', port '$((SHARD_PORT + $1))',
			dbname 'postgres', extensions 'neardup', fetch_size '10000');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard$1;
		CREATE FOREIGN TABLE docs_$1 (id int, sig minhash(512)) SERVER shard$1 OPTIONS (table_name 'docs');
	SQL
}

# pairs_of WHO [AGAINST]: prints the pairs of a query's documents, smaller id first, as for COPY.
pairs_of()
{
	echo "COPY (SELECT least(a, b), greatest(a, b) FROM neardup_pairs('SELECT id, sig FROM $1', 0.8,
		${2:+against => 'SELECT id, sig FROM $2',} equal => 'all')) TO STDOUT"
}

# record WHAT START: adds the seconds since START, and what pairs were found since the last record.
record()
{
	sql -c "INSERT INTO calls (what, seconds) VALUES ('$1', $(elapsed "$2"))" -c "\\copy pairs (a, b) FROM '$DIR/found'" \
		-c "UPDATE pairs SET what = '$1' WHERE what IS NULL"
}

# share_of N: the pairs on a server, and those with the servers that it has to compare with.
share_of()
{
	local n=$1 other

	shift
	shard "$n" -c "$(pairs_of docs)"
	for other in "$@"; do
		shard "$n" -c "$(pairs_of docs "docs_$other")"
	done
}

measure_shards()
{
	local n start
	# Each two servers are compared by one of them.
	local -A others=([1]="2 3" [2]="3 4" [3]="4" [4]="1")

	program fingerprints
	"$TOP/build/plain/test/bench/fingerprints" copies 512 "${NEARDUP_BENCH_ROWS:-1000000}" 30 >"$DIR/copies.rows"
	fresh_database
	trap 'stop_shards; stop_server "$DIR"' EXIT
	say "loading"
	sql -f "$HERE/shards.sql"
	start_shards
	for n in $(seq $SHARDS); do
		foreign_table "$n" | sql
		for other in ${others[$n]}; do
			foreign_table "$other" | shard "$n"
		done
		sql -c "ALTER FOREIGN TABLE docs_$n INHERIT docs"
	done

	say "measuring one server"
	start=$(now)
	sql -c "$(pairs_of m)" >"$DIR/found"
	record 'one server' "$start"
	say "measuring a server in front of four"
	start=$(now)
	sql -c "$(pairs_of docs)" >"$DIR/found"
	record 'a server reads four others' "$start"
	for n in $(seq $SHARDS); do
		say "measuring the share of server $n"
		start=$(now)
		share_of "$n" ${others[$n]} >"$DIR/found"
		record "share of server $n" "$start"
	done
	say "measuring rates"
	sql -f "$HERE/shards-rates.sql"
	sql -f "$HERE/shards-show.sql"
	rm "$DIR/found" "$DIR/copies.rows"
	stop_shards
}
