# run.sh: what was studied once, in a function or two each.  Sourced by run.

measure_tenants()
{
	make_fingerprints tenants 512 "${NEARDUP_BENCH_ROWS:-1000000}"
	fresh_database 2GB
	sql -f "$HERE/index-harness.sql"
	say "measuring tenants"
	sql -f "$HERE/studies/tenants.sql"
}

measure_growth()
{
	make_fingerprints large 400 10000000
	fresh_database 4GB
	sql -f "$HERE/index-harness.sql"
	say "measuring 10 million rows"
	sql -f "$HERE/studies/growth.sql"
	rm "$DIR/large.rows"
}

measure_planning()
{
	make_fingerprints planning64 64 1000000
	make_fingerprints planning512 512 100000
	fresh_database
	say "measuring planning"
	sql -f "$HERE/studies/planning.sql"
}

client_program()
{
	pkg-config --exists libpq || die "a client of the server needs libpq: install libpq-dev"
	mkdir -p "$TOP/build"
	gcc -O2 $(pkg-config --cflags libpq) "$HERE/studies/limit.c" -o "$TOP/build/limit" $(pkg-config --libs libpq)
}

# time_client STATEMENTS ROUNDS: adds a row of a client's medians.
time_client()
{
	"$TOP/build/limit" "dbname=neardup_bench" "$2" <"$HERE/studies/$1" | sql -c '\copy client_times FROM pstdin'
}

measure_limit()
{
	make_fingerprints limit 512 1000000 1000
	client_program
	fresh_database
	sql -f "$HERE/index-harness.sql"
	say "measuring searches beside lookups"
	sql -f "$HERE/studies/limit.sql"
	for i in 1 2 3 4 5; do
		time_client limit.tsv 2000
		time_client limit-inserts.tsv 20000
	done
	sql -f "$HERE/studies/limit-show.sql"
}

measure_errors()
{
	fresh_database
	sql -f "$HERE/studies/errors.sql"
}

measure_edits()
{
	say "gathering texts"
	"$TOP/test/demo/gather" "$DIR"
	fresh_database
	say "measuring edits"
	sql -f "$HERE/studies/edits.sql" <"$DIR/documents.copy"
}

measure_forms()
{
	fresh_database 1GB
	sql -f "$HERE/harness.sql"
	say "measuring texts of one form"
	sql -f "$HERE/studies/forms.sql"
}

measure_times()
{
	fresh_database
	sql -f "$HERE/index-harness.sql"
	say "measuring searches for some k, b and thresholds"
	sql -f "$HERE/studies/times.sql"
}

measure_interrupts()
{
	fresh_database
	say "measuring timeouts"
	PATH=$PGBIN:$PATH "$HERE/studies/interrupts" -d neardup_bench
}

measure_methods()
{
	load_texts
	say "measuring methods"
	sql -f "$HERE/studies/methods.sql"
}
