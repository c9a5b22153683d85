# plots.sh: the plots of the pages that are not timings.  Sourced by run.

measure_plots()
{
	say "gathering texts"
	"$TOP/test/demo/gather" "$DIR"
	fresh_database
	mkdir -p "$DIR/results"
	say "computing plots"
	(cd "$DIR/results" && sql -F $'\t' -f "$HERE/plots.sql" <"$DIR/documents.copy")
	perl "$HERE/plot" "$DIR/results" "$DIR/results"
	echo
	echo "The plots are in $DIR/results. Each number in them is in the .tsv file of the same name."
}
