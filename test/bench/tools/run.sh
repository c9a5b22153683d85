# run.sh: neardup beside tools of Python that deduplicate texts, on the same texts, generated and of this machine.  Sourced by run.
#
# pip installs them into environments of their own.  One that the machine lacks is not run.  Tools that take minutes
# for 100,000 texts have a tenth of the texts, as have the settings and thresholds.

TOOLS_ROWS=${NEARDUP_BENCH_ROWS:-1000000}

# run_tools ENVIRONMENT TEXTS THRESHOLD TOOL...: prints a row for each tool.
run_tools()
{
	local python=$DIR/$1/bin/python texts=$2 threshold=$3

	shift 3
	say "running $* at $threshold"
	nice -n 5 "$python" "$HERE/tools/tools.py" "$texts" "$TOP/build/library/neardup" "$threshold" "$@"
}

generated_texts()
{
	printf 'id\ttext\n'
	"$TOP/build/plain/test/bench/studies/texts" rows "$1"
}

# Texts of this machine as lower-case words, so that all tools cut the same ones.
machine_texts()
{
	"$TOP/test/demo/gather" "$DIR"
	perl -F'\t' -ne 'BEGIN { print "id\ttext\n" } $F[2] =~ s/\\n/ /g; @words = lc($F[2]) =~ /[a-z]+/g; printf "%d\t@words\n", ++$id if @words' "$DIR/documents.copy"
}

# Each tool with bands as for its default and with more, which find more, at three thresholds; writes tools.csv of those at .8.
race_tools()
{
	local threshold

	for threshold in 0.7 0.8 0.9; do
		run_tools tools-packages "$1" "$threshold" neardup neardup_signatures {daft,rensa,gaoya,fastsketch}:{9x13,16x8,32x8,64x4}
	done
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
	generated_texts "$TOOLS_ROWS" >"$DIR/many.tsv"
	generated_texts "$((TOOLS_ROWS / 10))" >"$DIR/tools.tsv"
	machine_texts >"$DIR/machine.tsv"
	echo
	echo "| tool | threshold | settings | texts | s | MB | found | wrong | far | F1 |"
	echo "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
	run_tools tools-packages "$DIR/many.tsv" 0.8 neardup neardup_signatures neardup_wide daft:9x13 rensa gaoya fastsketch
	run_tools tools-packages "$DIR/tools.tsv" 0.8 neardup neardup_signatures datasketch datasketch_checked datatrove:14x8
	run_tools tools-text-dedup "$DIR/tools.tsv" 0.8 text_dedup
	race_tools "$DIR/tools.tsv"
	race_tools "$DIR/machine.tsv" | tee "$DIR/tools.rows"
	awk -F' *[|] *' 'BEGIN { OFS = ","; print "peer,title,setting,s,f1" }
		$3 == 0.8 && $6 ~ /^[0-9.]+$/ { split($2, tool, ":"); title = tool[1]; sub(/_/, " by ", title); print tool[1], title, tool[2], $6, $11 / 100 }' \
		"$DIR/tools.rows" >"$(results)/tools.csv"
	rm -f "$DIR"/{many,tools,machine}.tsv "$DIR/tools.rows"
}

# What near-copies and passages take from texts of this machine, and a suffix array, which takes 45 bytes of memory for each; and passages of altered copies.
measure_suffixes()
{
	"$MAKE" -C "$TOP" -s lib >/dev/null
	python_packages "$DIR/suffixes" "$HERE/tools/suffixes.txt" || die "pip did not install suffixes.txt"
	nice -n 5 "$DIR/suffixes/bin/python" "$HERE/tools/suffixes.py" "$TOP/build/library/neardup" "${NEARDUP_BENCH_MEGABYTES:-30}" ${NEARDUP_BENCH_COPIES:-}
	rm -f machine.jsonl near.jsonl passages.jsonl copies.jsonl rows
}
