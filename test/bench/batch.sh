# batch.sh: whole tables in one call.  Sourced by run.

measure_batch()
{
	make_fingerprints s1 400 300000
	"$TOP/build/plain/test/bench/fingerprints" copies 64 1000000 30 >"$DIR/copies64.rows"
	"$TOP/build/plain/test/bench/fingerprints" copies 512 1000000 30 >"$DIR/copies.rows"
	say "gathering texts"
	"$TOP/test/demo/gather" "$DIR"
	fresh_database
	echo
	echo "Whole tables in one call. maintenance_work_mem is 256 MB unless told; the peak is the session's, shared buffers that it touched included."
	say "measuring whole tables"
	sql -f "$HERE/batch.sql"
}
