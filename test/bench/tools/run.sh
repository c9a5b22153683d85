# run.sh: neardup beside tools of Python that deduplicate texts, on the same generated texts.  Sourced by run.
#
# pip installs them into environments of their own.  One that the machine lacks is not run.  Tools that take minutes
# for 100,000 texts have a tenth of the texts.

TOOLS_ROWS=${NEARDUP_BENCH_ROWS:-1000000}

# run_tools ENVIRONMENT ROWS TOOL...: prints a row for each tool.
run_tools()
{
	local python=$DIR/$1/bin/python rows=$2

	shift 2
	say "running $* on $rows texts"
	{ printf 'id\ttext\n'; "$TOP/build/plain/test/bench/studies/texts" rows "$rows"; } >"$DIR/tools.tsv"
	nice -n 5 "$python" "$HERE/tools/tools.py" "$DIR/tools.tsv" "$TOP/build/library/neardup" "$@"
}

measure_tools()
{
	local name

	say "installing tools"
	program studies/texts
	"$MAKE" -C "$TOP" -s lib >/dev/null
	for name in packages text-dedup; do
		python_packages "$DIR/tools-$name" "$HERE/tools/$name.txt" || say "pip did not install all of $name.txt"
	done
	echo
	echo "| tool | settings | texts | s | MB | found | wrong | far | F1 |"
	echo "|---|---|---:|---:|---:|---:|---:|---:|---:|"
	run_tools tools-packages "$TOOLS_ROWS" neardup neardup_signatures neardup_wide daft rensa gaoya fastsketch
	run_tools tools-packages "$((TOOLS_ROWS / 10))" neardup neardup_signatures datasketch datasketch_checked datatrove
	run_tools tools-text-dedup "$((TOOLS_ROWS / 10))" text_dedup
	rm -f "$DIR/tools.tsv"
}

# What near-copies and passages take from texts of this machine, and a suffix array, which takes 45 bytes of memory for each.
measure_suffixes()
{
	"$MAKE" -C "$TOP" -s lib >/dev/null
	python_packages "$DIR/suffixes" "$HERE/tools/suffixes.txt" || die "pip did not install suffixes.txt"
	nice -n 5 "$DIR/suffixes/bin/python" "$HERE/tools/suffixes.py" "$TOP/build/library/neardup" "${NEARDUP_BENCH_MEGABYTES:-30}"
	rm -f machine.jsonl near.jsonl passages.jsonl rows
}
