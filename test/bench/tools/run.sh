# run.sh: neardup beside tools of Python that deduplicate texts, on the same generated texts.  Sourced by run.
#
# pip installs them into an environment of their own.  One that the machine lacks is not run.

TOOLS_ROWS=${NEARDUP_BENCH_ROWS:-1000000}

measure_tools()
{
	local texts=$TOP/build/plain/test/bench/texts

	say "installing tools"
	program texts
	"$MAKE" -C "$TOP" -s lib >/dev/null
	python_packages "$DIR/tools" "$HERE/tools/packages.txt" || say "pip did not install all tools"
	{ printf 'id\ttext\n'; "$texts" rows "$TOOLS_ROWS"; } >"$DIR/tools.tsv"
	"$DIR/tools/bin/python" "$HERE/tools/tools.py" "$DIR/tools.tsv" "$TOP/build/library/neardup"
}
