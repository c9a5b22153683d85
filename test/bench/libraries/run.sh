# run.sh: neardup beside libraries outside PostgreSQL, on the same generated texts.  Sourced by run.
#
# It shares its tables, its truth and its summary with BENCH=peers.  A library that the machine
# lacks is skipped.  Each library starts from a file of texts.

LIBRARIES=$HERE/libraries
LIBRARIES_ROWS=${NEARDUP_BENCH_ROWS:-1000000}
LIBRARIES_QUERIES=1000
LIBRARIES_SECONDS=${NEARDUP_BENCH_SECONDS:-30}
LIBRARIES_PARTS=${NEARDUP_BENCH_PARTS-python duckdb faiss}
[ -z "${NEARDUP_BENCH_QUICK:-}" ] || { LIBRARIES_ROWS=${NEARDUP_BENCH_ROWS:-5000} LIBRARIES_QUERIES=200 LIBRARIES_SECONDS=1; }

# sql_with_memory MEMORY ARGUMENT...: runs psql with maintenance_work_mem.
sql_with_memory()
{
	local memory=$1

	shift
	PGOPTIONS="-c client_min_messages=warning -c maintenance_work_mem=$memory" sql "$@" >/dev/null
}

# ---- Texts and truth -------------------------------------------------------------------

write_texts()
{
	local texts=$TOP/build/plain/test/bench/studies/texts

	say "generating $LIBRARIES_ROWS texts"
	program studies/texts
	"$texts" rows "$LIBRARIES_ROWS" >"$DIR/libraries.docs"
	"$texts" queries "$LIBRARIES_ROWS" "$LIBRARIES_QUERIES" >"$DIR/libraries.queries"
	"$texts" families "$LIBRARIES_ROWS" >"$DIR/libraries.families"
}

load_libraries()
{
	fresh_database
	peers_sql -f "$PEERS/harness.sql"
	peers_sql -f "$LIBRARIES/harness.sql"
	peers_sql -c "SELECT time_statement('neardup', 'load', 'COPY docs FROM ''$DIR/libraries.docs''')" \
		-c '\copy queries (n, body) FROM libraries.queries' -c '\copy families FROM libraries.families' >/dev/null
	say "finding the truth"
	sql_with_memory 1GB -v nearest="$LIBRARIES_QUERIES" -f "$PEERS/truth.sql"
}

# ---- neardup ----------------------------------------------------------------------------

# all_pairs MEMORY PEER MEASURE ARGUMENTS: times neardup_pairs with the arguments.
all_pairs()
{
	sql_with_memory "$1" -v peer="$2" -v measure="$3" -v arguments="$4" -f "$LIBRARIES/pairs.sql"
}

# Each part has a session of its own, whose greatest memory it notes.
time_neardup()
{
	local peer signatures="'SELECT id, sig FROM neardup_texts', 0.8"

	say "measuring neardup"
	sql_with_memory 1GB -v docs="$DIR/libraries.docs" -f "$LIBRARIES/neardup.sql"
	peers_sql -c 'VACUUM ANALYZE neardup_texts' -c 'CHECKPOINT'
	for peer in neardup exact scan; do
		peers_sql -v peer="$peer" -v seconds="$LIBRARIES_SECONDS" -f "$LIBRARIES/searches.sql" >/dev/null
	done
	client_program
	"$TOP/build/limit" dbname=neardup_bench "$LIBRARIES_QUERIES" <"$LIBRARIES/client.tsv" >"$DIR/libraries.client"
	peers_sql -c '\copy client_times FROM libraries.client'
	say "measuring all pairs"
	all_pairs 64MB neardup 'pairs in 64 MB' "$signatures"
	all_pairs 1GB neardup pairs "$signatures"
	all_pairs 1GB exact pairs "'SELECT id, sig, to_shingles(body) FROM neardup_texts', 0.8"
}

# ---- Libraries --------------------------------------------------------------------------

# skip_library PEER TITLE REASON
skip_library()
{
	say "skipped: $2: $3"
	peers_sql -c "SELECT skip_peer('$1', '$2', '$3')" >/dev/null
}

time_python()
{
	measure_in_python
}

time_duckdb()
{
	local title="DuckDB: 8 × 3, checked"

	if ! node -e 'require("@duckdb/node-api")' 2>/dev/null; then
		skip_library duckdb "$title" 'node does not find @duckdb/node-api (npm; NODE_PATH names its folder)'
		return
	fi
	say "measuring DuckDB"
	rm -f "$DIR"/libraries.duckdb*
	peers_sql -c "SELECT make_peer('duckdb', '$title', 'no', 'candidates', false)" >/dev/null
	node "$LIBRARIES/duckdb.js" "$LIBRARIES_SECONDS" >"$DIR/libraries.out"
	read_results "$DIR/libraries.out"
	note_fact DuckDB "$(sed -n 's/^version\t//p' "$DIR/libraries.out")"
	rm -f "$DIR"/libraries.duckdb*
}

time_faiss()
{
	local peer title

	if ! "$PYTHON" -c 'import faiss, numpy' 2>/dev/null; then
		skip_library faiss_flat FAISS 'there is no faiss (Debian: python3-faiss)'
		return
	fi
	say "signing in Python"
	"$PYTHON" "$LIBRARIES/signatures.py"
	for peer in flat ivf hash multihash hnsw; do
		title=$("$PYTHON" "$LIBRARIES/faiss_binary.py" "$peer" title)
		say "measuring $title"
		peers_sql -c "SELECT make_peer('faiss_$peer', '$title', '$([ "$peer" = flat ] && echo 'yes, of signatures' || echo no)',
			'$([ "$peer" = hnsw ] && echo filter || echo index)', false)" >/dev/null
		"$PYTHON" "$LIBRARIES/faiss_binary.py" "$peer" "$LIBRARIES_SECONDS" >"$DIR/libraries.out"
		read_results "$DIR/libraries.out"
	done
	note_fact FAISS "$("$PYTHON" -c 'import faiss; print(faiss.__version__)')"
	say "measuring neardup on the bits of FAISS"
	sql_with_memory 1GB -v seconds="$LIBRARIES_SECONDS" -f "$LIBRARIES/bits.sql"
	all_pairs 1GB neardup_bits pairs "'SELECT id, sig::minhash FROM bits', 0.8"
}

measure_libraries()
{
	local part csv

	csv=$(results)/libraries$([ "$LIBRARIES_ROWS" = 1000000 ] || echo "-$LIBRARIES_ROWS").csv
	write_texts
	load_libraries
	time_neardup
	for part in $LIBRARIES_PARTS; do
		"time_$part"
	done
	peers_sql -f "$LIBRARIES/summary.sql" -f "$PEERS/summary.sql"
	write_peers texts "$csv"
	note_fact numpy "$("$PYTHON" -c 'import numpy; print(numpy.__version__)' 2>/dev/null || true)"
	"$HERE/report/report" --print libraries,library-lookups "$csv"
	say "checking"
	peers_sql -F $'\n' -f "$LIBRARIES/check.sql" -f "$PEERS/truth-check.sql" >"$DIR/checks"
	show_checks
	say "answers agree; the figures are in $(results)"
}
