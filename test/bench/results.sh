# results.sh: the folder of a machine's and a day's figures, as CSV files.  Sourced by run.

# Returns the name of this machine's processor.
processor()
{
	sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1
}

# Makes the folder, and prints its path.  A quick run writes to DIR/results, as its figures are for no page.
results()
{
	local folder name

	name=$(processor | tr 'A-Z' 'a-z' | sed -E 's/\([a-z]*\)|@.*|processor|cpu//g; s/[^a-z0-9]+/-/g; s/^-|-$//g')
	folder=$HERE/results/${name:-$(uname -m)}-$(date -u +%Y-%m-%d)
	[ -z "${NEARDUP_BENCH_QUICK:-}" ] || folder=$DIR/results
	folder=${NEARDUP_BENCH_RESULTS:-$folder}
	[ -e "$folder/machine.csv" ] || describe_machine "$folder"
	echo "$folder"
}

# describe_machine FOLDER: notes what all figures depend on.
describe_machine()
{
	mkdir -p "$1"
	cat >"$1/machine.csv" <<-CSV
		what,value
		processor,"$(processor)"
		cores,$NPROC
		memory MB,$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
		PostgreSQL,$("$PG_CONFIG" --version | cut -d ' ' -f 2)
		neardup,$(git -C "$TOP" describe --always 2>/dev/null || sed -n "s/^default_version = '\(.*\)'/\1/p" "$TOP/neardup.control")
	CSV
}

# note_fact WHAT VALUE: notes the version or setting of something that the figures depend on; nothing for an empty value.
note_fact()
{
	local machine

	[ -n "$2" ] || return 0
	machine=$(results)/machine.csv
	grep -v "^$1," "$machine" >"$machine.new" || true
	echo "$1,$2" >>"$machine.new"
	mv "$machine.new" "$machine"
}
