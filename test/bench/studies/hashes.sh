# hashes.sh: hashes made elsewhere: pHash (64 bits) and PDQ (256 bits).  Sourced by run.

# measure_hash WHAT TYPE BITS DISTANCE ROWS
measure_hash()
{
	make_fingerprints hash "$3" "$5"
	say "measuring $5 rows of $1"
	sql -v what="$1" -v type="$2" -v distance="$4" -v rows="$5" -f "$HERE/studies/hashes.sql"
	rm "$DIR/hash.rows"
}

measure_hashes()
{
	local rows

	fresh_database 4GB
	sql -f "$HERE/index-harness.sql"
	echo
	echo "Hashes made elsewhere: a query's time is the best of three runs in a server-side loop (one without the index)."
	echo
	echo "| rows | hash | search | median ms | 95th percentile | rows found | queries |"
	echo "|---:|---|---|---:|---:|---:|---:|"
	for rows in ${NEARDUP_BENCH_ROWS:-1000000 10000000}; do
		measure_hash pHash bigint 64 10 "$rows"
		measure_hash PDQ 'bit(256)' 256 31 "$rows"
	done
}
