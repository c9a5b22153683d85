# run.sh: neardup beside its alternatives, on the same texts in one run.  Sourced by run.
#
# What sessions of psql add to the tables of harness.sql is written as CSV at the end, and
# report/report prints tables of it.  A peer that the machine lacks is skipped.
#
# NEARDUP_BENCH_PARTS has parts beside searches and inserts:
#
#   first        the first search of a session, and of a server with cold files
#   memory       the memory of sessions, and of builds of the indexes, with their time and WAL
#   thresholds   thresholds.csv: lookups by threshold
#   recall       recall.csv: recall by time, for several settings
#   nearest      nearest.csv: the ten nearest if a copy, only unlike rows, or nothing is near
#   changes      updates of another column, and vacuum after a third of the rows is deleted
#   clients      clients.csv: rows that 1 to 16 clients insert a second

PEERS=$HERE/peers
PEERS_ROWS=${NEARDUP_BENCH_ROWS:-}
PEERS_QUERIES=1000
PEERS_NEAREST=200
PEERS_SECONDS=${NEARDUP_BENCH_SECONDS:-30}
PEERS_PARTS=${NEARDUP_BENCH_PARTS-first memory thresholds recall nearest changes clients}
PEERS_SESSIONS=7
PEERS_RESTARTS=5
PEERS_THRESHOLDS="0.5 0.6 0.7 0.8 0.9 0.95 1"
PEERS_CLIENTS="base neardup guarded bands_gin hnsw"
PEERS_CLIENT_COUNTS="1 2 4 8 16"
PEERS_CLIENT_SECONDS=5
PEERS_IN_SQL="neardup neardup_sets scan digest trgm_gin trgm_gist bands bands_gin hnsw ivfflat rum rum_array smlar_gin smlar_gist
	similarity rdkit print_neardup print_scan print_blocks print_masks"
# Extensions: file, name, least version, schema, package, title of what is skipped.
PEERS_EXTENSIONS="
vector vector 0.7 public pgvector pgvector on bits
rum rum 1.3 public Debian:_postgresql-MAJOR-rum RUM
smlar smlar 1.0 smlar Debian_has_none smlar
similarity pg_similarity 1.0 public Debian:_postgresql-MAJOR-similarity pg_similarity
rdkit rdkit 4.0 public Debian:_postgresql-MAJOR-rdkit RDKit"
if [ -n "${NEARDUP_BENCH_QUICK:-}" ]; then
	PEERS_ROWS=${PEERS_ROWS:-3000} PEERS_QUERIES=100 PEERS_NEAREST=20 PEERS_SECONDS=1 PEERS_SESSIONS=2 PEERS_RESTARTS=1
	PEERS_THRESHOLDS="0.5 0.8 1" PEERS_CLIENT_COUNTS=2 PEERS_CLIENT_SECONDS=1
fi
# For each point of a curve.
PEERS_CURVE_SECONDS=$(awk -v s="$PEERS_SECONDS" 'BEGIN { print s / 15 }')

peers_sql()
{
	PGOPTIONS='-c client_min_messages=warning' sql "$@"
}

has_peer()
{
	[ "$(peers_sql -c "SELECT count(*) FROM peers WHERE peer = '$1' AND skipped IS NULL")" = 1 ]
}

# Makes the tables of all peers from the texts in docs.
set_up_peers()
{
	local what

	for what in neardup postgres bands simhash; do
		peers_sql -f "$PEERS/$what.sql" >/dev/null
	done
	set_up_extensions
}

set_up_extensions()
{
	local file name least schema package title reason major

	major=$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
	while read -r file name least schema package title; do
		package=$(echo "$package" | tr _ ' ' | sed "s/MAJOR/$major/")
		reason=$(peers_sql -c "SELECT use_extension('$name', '$least', '$package', '$schema')")
		if [ -z "$reason" ]; then
			peers_sql -f "$PEERS/$file.sql" >/dev/null
		else
			peers_sql -c "SELECT skip_peer('$file', '$title', \$\$$reason\$\$)" >/dev/null
		fi
	done <<<"${PEERS_EXTENSIONS#?}"
}

# tables_of PEER: prints the tables of a peer.
tables_of()
{
	case $1 in
		bands | print_masks) echo "$1_texts,$1_keys" ;;
		exact) echo neardup_texts ;;
		*) echo "$1_texts" ;;
	esac
}

peers_database()
{
	fresh_database
	"$PGBIN/psql" -X -q -d neardup_bench -c 'ALTER DATABASE neardup_bench SET enable_seqscan = off' \
		-c 'ALTER DATABASE neardup_bench SET max_parallel_maintenance_workers = 0'
	peers_sql -f "$PEERS/harness.sql"
}

# ---- Two sessions insert the same text at the same time --------------------------

RACE_TEXT="We propose to study how coral reefs recover from bleaching, with divers, drones and three years of measurements"

# race PEER HOW STATEMENT: prepares an empty table with the statement, and notes whether both sessions succeed.
race()
{
	local insert="SELECT $1_insert" line first second accepted

	has_peer "$1" || return 0
	peers_sql -c "TRUNCATE $(tables_of "$1")" -c "$3" >/dev/null
	peers_sql -c "$insert(1, '$RACE_TEXT')" >/dev/null
	! peers_sql -c "$insert(2, upper('$RACE_TEXT!'))" >/dev/null 2>&1 || die "$1 accepts a copy of a committed row"
	peers_sql -c "TRUNCATE $(tables_of "$1")" >/dev/null

	coproc FIRST { peers_sql; }
	first=$FIRST_PID
	echo "BEGIN; $insert(1, '$RACE_TEXT'); SELECT 'inserted';" >&"${FIRST[1]}"
	while read -r -t 20 line <&"${FIRST[0]}" && [ "$line" != inserted ]; do :; done
	peers_sql -c 'SET application_name = second' -c "$insert(2, upper('$RACE_TEXT!'))" >/dev/null 2>&1 &
	second=$!
	# The second session ends, or waits for the first one.
	while kill -0 "$second" 2>/dev/null &&
		[ "$(peers_sql -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'second' AND wait_event_type = 'Lock'")" = 0 ]; do
		sleep 0.05
	done
	echo "COMMIT; \\q" >&"${FIRST[1]}"
	wait "$second" || true
	wait "$first" 2>/dev/null || true
	accepted=$(peers_sql -c "SELECT count(*) = 2 FROM $1_texts")
	printf '%s\t%s\t%s\n' "$1" "$2" "$accepted" >>"$DIR/races.tsv"
}

race_peers()
{
	local peer

	say "two sessions insert the same text"
	peers_database
	set_up_peers
	peers_sql -f "$PEERS/guards.sql"
	rm -f "$DIR/races.tsv"
	race neardup "exclusion constraint" 'ALTER TABLE neardup_texts ADD EXCLUDE USING neardup (near(sig, 0.8) WITH &&)'
	race digest "unique index" 'CREATE UNIQUE INDEX ON digest_texts (digest)'
	race trgm_gist "exclusion constraint" 'ALTER TABLE trgm_gist_texts ADD EXCLUDE USING gist (body gist_trgm_ops WITH %)'
	race rum_array "exclusion constraint" 'ALTER TABLE rum_array_texts ADD EXCLUDE USING rum (hashes rum_anyarray_ops WITH %)'
	race smlar_gist "exclusion constraint" 'ALTER TABLE smlar_gist_texts ADD EXCLUDE USING gist (hashes smlar._int8_sml_ops WITH OPERATOR(smlar.%))'
	race rdkit "exclusion constraint" 'ALTER TABLE rdkit_texts ADD EXCLUDE USING gist (bits WITH %)'
	race print_neardup "exclusion constraint" 'ALTER TABLE print_neardup_texts ADD EXCLUDE USING neardup (hamming_ball(print, 3) WITH &&)'
	for peer in scan trgm_gin bands bands_gin hnsw ivfflat rum smlar_gin similarity print_scan print_blocks print_masks; do
		race "$peer" trigger "CREATE TRIGGER guard BEFORE INSERT ON ${peer}_texts FOR EACH ROW EXECUTE FUNCTION refuse('$peer')"
	done
	race bands "unique keys" 'DROP TRIGGER guard ON bands_texts; CREATE UNIQUE INDEX ON bands_keys (key)'
}

# ---- Measurements ------------------------------------------------------------------

load_peers()
{
	if [ -n "$PEERS_ROWS" ]; then
		say "generating $PEERS_ROWS texts"
		peers_sql -v rows="$PEERS_ROWS" -v queries="$PEERS_QUERIES" -f "$PEERS/generate.sql"
	else
		say "gathering texts"
		"$TOP/test/demo/gather" "$DIR"
		peers_sql -v rows=10000000 -v queries="$PEERS_QUERIES" -f "$PEERS/load.sql" <"$DIR/documents.copy"
	fi
	say "finding the truth"
	peers_sql -v nearest="$PEERS_NEAREST" -f "$PEERS/truth.sql" -f "$PEERS/simhash-truth.sql"
}

measure_in_sql()
{
	local peer

	say "building"
	set_up_peers
	peers_sql -c 'VACUUM ANALYZE' -c 'CHECKPOINT'
	for peer in exact $PEERS_IN_SQL; do
		has_peer "$peer" || continue
		say "measuring $peer"
		peers_sql -c "SELECT measure_peer('$peer', '{$(tables_of "$peer")}', $PEERS_SECONDS)" >/dev/null
	done
	say "measuring all pairs"
	peers_sql -f "$PEERS/pairs.sql" >/dev/null
}

# Writes the texts as python.py reads them.
write_json()
{
	peers_sql -v FETCH_COUNT=1000 -c "SELECT json_build_array('doc', id, body) FROM docs ORDER BY id" \
		-c "SELECT json_build_array('query', n, body) FROM queries ORDER BY n" >"$DIR/peers.json"
}

# Adds the lines of a file as python.py writes them.  Searches of another kind have "KIND timed" and "KIND found".
read_results()
{
	sed -n 's/^measure\t//p' "$1" | peers_sql -c '\copy measured from pstdin'
	sed -n 's/^timed\t\([^\t]*\)\t/\1\tsearch\t/p; s/^\([a-z ]*\) timed\t\([^\t]*\)\t/\2\t\1\t/p' "$1" | peers_sql -c '\copy timed from pstdin'
	sed -n 's/^found\t\([^\t]*\)\t/\1\tsearch\t/p; s/^\([a-z ]*\) found\t\([^\t]*\)\t/\2\t\1\t/p' "$1" | peers_sql -c '\copy found from pstdin'
	sed -n 's/^pair\t//p' "$1" | peers_sql -c '\copy pairs from pstdin'
}

measure_in_python()
{
	local title="datasketch's method, Python"

	if ! "$PYTHON" -c 'import numpy' 2>/dev/null; then
		peers_sql -c "SELECT skip_peer('python', \$\$$title\$\$, 'there is no numpy (Debian: python3-numpy)')" >/dev/null
		return
	fi
	say "measuring Python"
	peers_sql -c "SELECT make_peer('python', \$\$$title: 9 × 13, unchecked\$\$, 'no', 'candidates', false),
		make_peer('python_checked', \$\$$title: 13 × 7, checked\$\$, 'no', 'candidates', false)" >/dev/null
	write_json
	"$PYTHON" "$PEERS/python.py" <"$DIR/peers.json" >"$DIR/peers.out"
	read_results "$DIR/peers.out"
}

# write_peers FAMILY FILE: writes the lines of the peers of a family.  In each family neardup's name is "neardup".
write_peers()
{
	peers_sql -c "COPY (SELECT place, rows, regexp_replace(peer, '^print_', '') AS peer, l.title, measure, unit, value
		FROM lines l JOIN peers USING (place, peer) WHERE family = '$1' ORDER BY place, measure) TO STDOUT CSV HEADER" >"$2"
}

# peers_file NAME: prints the path of a file.
peers_file()
{
	echo "$(results)/$1${PEERS_ROWS:+-$PEERS_ROWS}.csv"
}

# Writes the figures that are there.
write_figures()
{
	write_peers texts "$(peers_file peers)"
	write_peers simhash "$(peers_file simhash)"
}

# note_checks FILE...: notes what must hold.
note_checks()
{
	local file

	for file in "$@"; do
		peers_sql -F $'\n' -f "$file" >>"$DIR/checks"
	done
}

# Prints what must hold, and fails if something does not.
show_checks()
{
	echo
	cat "$DIR/checks"
	! grep -q '^not ok' "$DIR/checks" || die "answers do not agree"
}

note_extensions()
{
	local name version

	while IFS='|' read -r name version; do
		note_fact "$name" "$version"
	done < <(peers_sql -c "SELECT CASE extname WHEN 'vector' THEN 'pgvector' ELSE extname END, extversion
		FROM pg_extension WHERE extname NOT IN ('plpgsql', 'neardup', 'neardup_study')")
}

# wants PART: whether a part is to run.
wants()
{
	[[ " $PEERS_PARTS " = *" $1 "* ]]
}

measure_peers()
{
	local part

	race_peers
	peers_database
	peers_sql -c '\copy races from pstdin' <"$DIR/races.tsv"
	load_peers
	measure_in_sql
	measure_in_python
	peers_sql -f "$PEERS/maintenance.sql" -f "$PEERS/curves.sql" >/dev/null
	for part in first memory thresholds recall nearest; do
		! wants "$part" || "peers_$part"
	done
	peers_sql -f "$PEERS/trigrams.sql" -f "$PEERS/summary.sql"
	rm -f "$DIR/checks"
	note_checks "$PEERS/check.sql" ${NEARDUP_BENCH_QUICK:+"$PEERS/truth-check.sql" "$PEERS/generated-check.sql"}
	for part in first memory thresholds recall nearest; do
		! wants "$part" || note_checks "$PEERS/$part-check.sql"
	done
	write_figures
	# These change the rows.
	peers_inserts
	for part in changes clients; do
		if wants "$part"; then
			"peers_$part"
			note_checks "$PEERS/$part-check.sql"
		fi
	done
	write_figures
	note_extensions
	note_fact numpy "$("$PYTHON" -c 'import numpy; print(numpy.__version__)' 2>/dev/null || true)"
	note_fact "seconds for searches" "$PEERS_SECONDS"
	"$HERE/report/report" --print texts,search,nearest,build,changes,sessions,pairs,simhash,notes "$(peers_file peers)"
	show_checks
	say "answers agree; the figures are in $(results)"
}
