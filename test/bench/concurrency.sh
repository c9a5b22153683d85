# concurrency.sh: parallel builds, and many concurrent sessions.  Sourced by run.

# Seconds of each pgbench run, and the number of rounds of all runs.
SECONDS_EACH=${NEARDUP_BENCH_SECONDS:-5}
ROUNDS=3

# build_seconds TABLE WORKERS: builds the index and prints the seconds that it took.
build_seconds()
{
	sql -F ' ' <<-SQL
		SET maintenance_work_mem = '256MB';
		SET max_parallel_maintenance_workers = $2;
		ALTER TABLE $1 SET (parallel_workers = $2);
		DROP INDEX IF EXISTS $1_sig;
		SELECT clock_timestamp() AS start \\gset
		CREATE INDEX $1_sig ON $1 USING neardup (sig);
		SELECT round(extract(epoch FROM clock_timestamp() - :'start')::numeric, 3);
	SQL
}

median()
{
	sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

measure_builds()
{
	local table round workers

	for round in $(seq "$ROUNDS"); do
		for table in documents s1; do
			for workers in 0 1 2; do
				build_seconds "$table" "$workers" >>"build-$table-$workers"
			done
		done
	done
	echo
	echo "Builds: seconds, medians of $ROUNDS, maintenance_work_mem = 256MB, $(nproc) cores."
	echo
	echo "| table | alone | one worker | two workers |"
	echo "|---|---|---|---|"
	for table in documents s1; do
		echo "| $table | $(median <build-$table-0) | $(median <build-$table-1) | $(median <build-$table-2) |"
	done
	rm build-*
}

# clients NAME SCRIPT CLIENTS: runs pgbench; latencies in microseconds go to NAME.latencies.
clients()
{
	rm -f "$1".log.*
	"$PGBIN/pgbench" -n -M prepared -c "$3" -j 2 -T "$SECONDS_EACH" -f "$2" -l --log-prefix="$1.log" neardup_bench >"$1.out" 2>&1 ||
		{ cat "$1.out" >&2; die "pgbench failed"; }
	cat "$1".log.* | awk '{ print $3 }' | sort -n >"$1.latencies"
	rm -f "$1".log.*
	sed -n 's/^tps = \([0-9]*\).*/\1/p' "$1.out" >>"$1.tps"
	awk '{ a[NR] = $1 } END { print a[int(NR * 0.5) + 1], a[int(NR * 0.99) + 1], a[NR] / 1000 }' "$1.latencies" >>"$1.quantiles"
}

# row LABEL NAME BASE: prints a line of the table, with the rate also as a share of BASE's.
row()
{
	local tps base

	tps=$(median <"$2.tps")
	base=$(median <"$3.tps")
	echo "| $1 | $tps | $(awk -v a="$tps" -v b="$base" 'BEGIN { printf "%.2f", a / b }') | $(awk '{ print $1 }' "$2.quantiles" | median) | $(awk '{ print $2 }' "$2.quantiles" | median) | $(awk '{ print $3 }' "$2.quantiles" | sort -n | tail -n 1) |"
}

# make_writers: makes tables with and without an index, and the scripts of clients that write to them and read.
make_writers()
{
	local name

	for name in plain indexed; do
		echo "\\set r random(1, 1000000)
INSERT INTO writes_$name (sig) SELECT sig FROM documents WHERE id = :r;" >"write-$name.sql"
		echo "\\set r random(1, 1000000)
SELECT id FROM writes_$name WHERE id = :r;" >"read-$name.sql"
	done
	echo "\\set r random(1, 1000000)
SELECT count(*) FROM writes_indexed WHERE is_similar(sig, (SELECT sig FROM documents WHERE id = :r), 0.9);" >"read-indexed.sql"
	sql <<-SQL
		CREATE TABLE writes_plain (id bigserial PRIMARY KEY, sig minhash NOT NULL);
		CREATE TABLE writes_indexed (id bigserial PRIMARY KEY, sig minhash NOT NULL);
		INSERT INTO writes_plain (sig) SELECT sig FROM documents WHERE id <= 200000;
		INSERT INTO writes_indexed (sig) SELECT sig FROM documents WHERE id <= 200000;
		CREATE INDEX ON writes_indexed USING neardup (sig);
		ANALYZE;
	SQL
}

measure_clients()
{
	local round count name

	make_writers
	for round in $(seq "$ROUNDS"); do
		for count in 1 2 8; do
			for name in plain indexed; do
				clients "$name-$count" "write-$name.sql" "$count"
			done
		done
		for name in plain indexed; do
			clients "reader-$name" "read-$name.sql" 8 &
			clients "beside-$name" "write-$name.sql" 8
			wait $!
		done
	done
	echo
	echo "Concurrent sessions: pgbench with prepared statements of one row each; medians of $ROUNDS interleaved runs of $SECONDS_EACH s. The worst latency is that of all runs."
	echo "The index seals and merges during the runs; at the end it has $(sql -c "SELECT segments || ' segments, ' || documents || ' documents' FROM neardup_index_status('writes_indexed_sig_idx')")."
	echo
	echo "| | a second | of the first | median µs | p99 µs | worst ms |"
	echo "|---|---|---|---|---|---|"
	for count in 1 2 8; do
		row "$count writing, primary key only" "plain-$count" "plain-$count"
		row "$count writing, with neardup" "indexed-$count" "plain-$count"
	done
	row "8 writing beside 8 reading, primary key only" beside-plain beside-plain
	row "8 writing beside 8 reading, with neardup" beside-indexed beside-plain
	row "8 reading by primary key beside those" reader-plain reader-plain
	row "8 reading by similarity beside those" reader-indexed reader-plain
	rm ./*.tps ./*.quantiles ./*.latencies ./*.out
}

# make_guarded: makes tables with guards, and a script that inserts into each.
make_guarded()
{
	local table

	sql <<-SQL
		CREATE TABLE refused (id bigserial PRIMARY KEY, tenant int, same_as bigint, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
		CREATE TABLE skipped (LIKE refused INCLUDING ALL);
		CREATE TABLE warned (LIKE refused INCLUDING ALL);
		CREATE TABLE tenants (LIKE refused INCLUDING ALL);
		CREATE TABLE grouped (LIKE refused INCLUDING ALL);
		CREATE TABLE excluded (LIKE refused INCLUDING ALL, EXCLUDE USING neardup (near(sig, 0.9) WITH &&));
		CREATE TABLE judged (id int PRIMARY KEY, sig minhash);
		CREATE TABLE verdicts (a int, b int, same boolean, PRIMARY KEY (a, b));
		INSERT INTO verdicts SELECT 2 * n, 2 * n + 1, false FROM generate_series(1, 200000) n;
		ANALYZE verdicts;
		CREATE SEQUENCE pairs;
		SELECT neardup_guard('refused', 'sig', 0.9), neardup_guard('skipped', 'sig', 0.9, 'skip'), neardup_guard('warned', 'sig', 0.9, 'warn', within => 'tenant'),
			neardup_guard('judged', 'sig', 0.9, verdicts => 'verdicts'),
			neardup_guard('tenants', 'sig', 0.9, 'group', within => 'tenant', group_column => 'same_as'), neardup_guard('grouped', 'sig', 0.9, 'group', group_column => 'same_as') \\g /dev/null
	SQL
	for table in refused skipped warned tenants grouped excluded; do
		echo "\\set r random(1, 1000000000000)
INSERT INTO $table (tenant, body) SELECT :r::bigint % 1000000, string_agg(md5(:r || '/' || i), ' ') FROM generate_series(1, 60) i;" >"$table.sql"
		printf 'BEGIN;\n%s\n\\sleep 20 ms\nCOMMIT;\n' "$(<"$table.sql")" >"$table-slow.sql"
	done
	echo "\\set r random(1, 1000000000000)
INSERT INTO judged SELECT 2 * n + i, sig FROM nextval('pairs') n, (SELECT to_minhash(string_agg(md5(:r || '/' || i), ' ')) AS sig FROM generate_series(1, 60) i) t, generate_series(0, 1) i;" >judged.sql
}

# measure_leader: prints the seconds that it takes to delete the leader of 200,000 rows, and those of a plain UPDATE of them.
measure_leader()
{
	sql -F ' ' <<-SQL
		CREATE TABLE led AS SELECT id, 1 AS same_as, to_minhash('text ' || id % 1000 || repeat(' of the one group that all are in', 9), 'word 1') AS sig FROM generate_series(1, 200000) id;
		ALTER TABLE led ADD PRIMARY KEY (id);
		SELECT neardup_guard('led', 'sig', 0.5, 'group', group_column => 'same_as') \\g /dev/null
		VACUUM ANALYZE led;
		ALTER TABLE led DISABLE TRIGGER USER;
		BEGIN;
		SELECT clock_timestamp() AS start \gset
		UPDATE led SET same_as = 2 WHERE same_as = 1;
		SELECT extract(epoch FROM clock_timestamp() - :'start') AS plain \gset
		ROLLBACK;
		ALTER TABLE led ENABLE TRIGGER USER;
		VACUUM led;
		SELECT clock_timestamp() AS start \gset
		DELETE FROM led WHERE id = 1;
		SELECT 'A leader of 200,000 members is deleted in ' || round(seconds, 1) || ' s, ' || round(seconds / :plain, 1) || ' times an UPDATE of all without a guard.'
		FROM (SELECT extract(epoch FROM clock_timestamp() - :'start')::numeric) AS s (seconds);
		DROP TABLE led;
	SQL
}

# measure_beside_constraint: refusing beside an exclusion constraint, by the number of sessions.
measure_beside_constraint()
{
	local round count table kind

	for round in $(seq "$ROUNDS"); do
		for count in 1 2 4 8; do
			for table in excluded refused excluded-slow refused-slow; do
				clients "$table-$count" "$table.sql" "$count"
			done
		done
	done
	echo "| | a second | of the constraint's | median µs | p99 µs | worst ms |"
	echo "|---|---|---|---|---|---|"
	for kind in "" -slow; do
		for count in 1 2 4 8; do
			row "$count sessions${kind:+, transactions of 20 ms}: an exclusion constraint" "excluded$kind-$count" "excluded$kind-$count"
			row "$count sessions${kind:+, transactions of 20 ms}: refusing" "refused$kind-$count" "excluded$kind-$count"
		done
	done
	echo
}

measure_guards()
{
	local round table

	fresh_database
	sql -c "CREATE EXTENSION neardup"
	make_guarded
	for round in $(seq "$ROUNDS"); do
		for table in refused skipped warned tenants grouped excluded judged; do
			clients "$table" "$table.sql" 4
		done
	done
	echo
	echo "Guards: 4 sessions insert different texts of 60 words and 2 kB, one a transaction; medians of $ROUNDS interleaved runs of $SECONDS_EACH s."
	echo
	echo "| | a second | of those warned of | median µs | p99 µs | worst ms |"
	echo "|---|---|---|---|---|---|"
	row "an exclusion constraint" excluded warned
	row "refusing" refused warned
	row "skipping" skipped warned
	row "warning, of one tenant each" warned warned
	row "grouping, of one tenant each" tenants warned
	row "grouping" grouped warned
	row "refusing, two equal rows by one of 200,000 verdicts" judged warned
	echo
	measure_beside_constraint
	measure_leader
	rm ./*.tps ./*.quantiles ./*.latencies ./*.out
}

measure_concurrency()
{
	make_fingerprints documents 512 1000000
	make_fingerprints s1 400 300000
	fresh_database
	sql <<-SQL
		CREATE EXTENSION neardup;
		CREATE TABLE loaded (id int, sig bit(512));
		\\copy loaded FROM 'documents.rows' (FORMAT binary)
		CREATE TABLE documents AS SELECT id, sig::minhash AS sig FROM loaded;
		ALTER TABLE documents ADD PRIMARY KEY (id);
		DROP TABLE loaded;
		CREATE TABLE s1 (id int PRIMARY KEY, sig bit(400) NOT NULL);
		\\copy s1 FROM 's1.rows' (FORMAT binary)
		VACUUM (FREEZE, ANALYZE);
	SQL
	say "measuring builds"
	measure_builds
	say "measuring sessions at once"
	measure_clients
}
