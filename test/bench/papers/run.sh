# run.sh: the experiments of three papers again, beside the figures that they published.  Sourced by run.
#
# What is published is of another machine and other documents: compare ratios between the
# methods of one source.  Each part checks that exact methods find the same.

PAPERS=$HERE/papers
PAPERS_PARTS=${NEARDUP_BENCH_PARTS:-curves yuan spotsigs}
PAPERS_FINGERPRINTS=100000
PAPERS_SEARCHES=50
PAPERS_DOCUMENTS=${NEARDUP_BENCH_ROWS:-1200000}
PAPERS_PAIRS=1000
[ -z "${NEARDUP_BENCH_QUICK:-}" ] ||
	{ PAPERS_FINGERPRINTS=5000 PAPERS_SEARCHES=5 PAPERS_DOCUMENTS=${NEARDUP_BENCH_ROWS:-20000} PAPERS_PAIRS=100; }

papers_sql()
{
	PGOPTIONS='-c client_min_messages=warning' sql "$@"
}

# papers_csv NAME...: moves files from the present folder to that of the results.
papers_csv()
{
	local name

	for name in "$@"; do
		mv "$DIR/$name.csv" "$(results)/"
	done
}

papers_curves()
{
	say "measuring S-curves"
	papers_sql -v pairs="$PAPERS_PAIRS" -f "$PAPERS/curves.sql"
	papers_csv s-curves
}

papers_yuan()
{
	make_fingerprints paper 64 "$PAPERS_FINGERPRINTS"
	make_fingerprints paper1000 1000 "$PAPERS_FINGERPRINTS"
	papers_sql -f "$HERE/index-harness.sql"
	say "measuring choosing and merging"
	papers_sql -v searches="$PAPERS_SEARCHES" -f "$PAPERS/yuan.sql"
	say "measuring them by resemblance and bits"
	papers_sql -v searches="$PAPERS_SEARCHES" -f "$PAPERS/yuan-curves.sql"
	papers_csv yuan-groups yuan-resemblance yuan-bits
}

papers_spotsigs()
{
	local threshold

	program papers/spotsigs
	say "joining $PAPERS_DOCUMENTS documents in memory"
	"$TOP/build/plain/test/bench/papers/spotsigs" time "$PAPERS_DOCUMENTS" 0.9 >"$DIR/ways.tsv"
	say "joining $((PAPERS_DOCUMENTS / 12)) of them at thresholds from 1 to 0.1"
	for threshold in 1 0.9 0.8 0.7 0.6 0.5 0.4 0.3 0.2 0.1; do
		"$TOP/build/plain/test/bench/papers/spotsigs" time $((PAPERS_DOCUMENTS / 12)) $threshold
	done >"$DIR/sweep.tsv"
	"$TOP/build/plain/test/bench/papers/spotsigs" rows "$PAPERS_DOCUMENTS" >"$DIR/spots.rows"
	say "joining them in the database"
	papers_sql -v documents="$PAPERS_DOCUMENTS" -v threshold=0.9 -f "$PAPERS/spotsigs.sql"
	rm "$DIR/spots.rows"
	papers_csv spotsigs spotsigs-sweep
}

measure_papers()
{
	local part

	for part in $PAPERS_PARTS; do
		fresh_database
		papers_sql -f "$PAPERS/must.sql"
		case $part in
			curves | yuan | spotsigs) "papers_$part" ;;
			*) die "NEARDUP_BENCH_PARTS for papers is any of curves yuan spotsigs" ;;
		esac
	done
	say "answers agree; the figures are in $(results)"
}
