# plots.sh: the figures of the documents that are not timings.  Sourced by run.

measure_plots()
{
	say "gathering texts"
	"$TOP/test/demo/gather" "$DIR"
	fresh_database
	say "computing plots"
	(cd "$(results)" && sql -f "$HERE/studies/plots.sql" <"$DIR/documents.copy")
	say "the figures are in $(results)"
}
