# batch.sh: pairs and clusters of whole tables.  Sourced by run.

measure_batch()
{
	program many
	make_fingerprints s1 400 300000
	"$TOP/build/plain/test/bench/fingerprints" copies 64 1000000 30 >"$DIR/copies64.rows"
	"$TOP/build/plain/test/bench/fingerprints" copies 512 1000000 30 >"$DIR/copies.rows"
	say "gathering texts"
	"$TOP/test/demo/gather" "$DIR"
	fresh_database
	echo
	echo "Whole tables in one call. One process and a maintenance_work_mem of 256 MB unless noted; CPU seconds and peak memory are the session's, with the shared buffers that it touched."
	say "measuring whole tables"
	sql -v skewed="${NEARDUP_BENCH_SKEWED:-100000}" -f "$HERE/batch.sql"
	say "measuring kernels"
	"$TOP/build/plain/test/bench/many"
}
