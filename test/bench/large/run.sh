# run.sh: indexes of many rows, beside those of another revision.  Sourced by run.
#
# Each part prints lines of the form "what <tab> value".  They are collected in
# DIR/large.tsv with the library, old or new, and the number of rows.  show.sql makes
# large.csv, growth.csv, shares.csv and memory.csv of them, in the folder of results.
#
# The large table is UNLOGGED, so that neither it nor builds of its index write WAL.  The
# libraries take turns: each has its own index, which the other could not read.

LARGE_ROWS=${NEARDUP_BENCH_ROWS:-100000 300000 1000000 10000000}
LARGE_PARTS=${NEARDUP_BENCH_PARTS:-size times pages memory sessions cold shares nearest lookup inserts clients far form bits pairs}

large()
{
	DATABASE=neardup_large corpus "$@"
}

corpus()
{
	PGOPTIONS='-c client_min_messages=warning' sql -F $'\t' "$@"
}

# note LIBRARY ROWS: adds what it reads to the results.
note()
{
	sed "s/^/$1\t$2\t/" >>"$RESULTS"
}

has_part()
{
	[[ " $LARGE_PARTS " = *" $1 "* ]]
}

restart()
{
	set_buffers "$1"
	stop
	start
}

# use_library old|new: installs a library, and its SQL files.
use_library()
{
	if [ "$1" = old ]; then
		TOP=$DIR/old build_and_install >/dev/null
	else
		build_and_install >/dev/null
	fi
}

large_database()
{
	start
	if [ -z "${NEARDUP_BENCH_KEEP:-}" ]; then
		"$PGBIN/psql" -X -q -d postgres -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS neardup_large WITH (FORCE)'
	fi
	if ! "$PGBIN/psql" -X -q -d neardup_large -c '' 2>/dev/null; then
		"$PGBIN/psql" -X -q -d postgres -c 'CREATE DATABASE neardup_large'
		large -f "$HERE/large/large.sql"
	fi
}

# grow_table ROWS: the table never shrinks, so numbers of rows ascend.
grow_table()
{
	[ "$(large -c 'SELECT coalesce(max(id), 0) FROM large')" -le "$1" ] || die "the table has more than $1 rows; unset NEARDUP_BENCH_KEEP"
	large -c 'DROP INDEX IF EXISTS large_sig' -c "CALL grow($1)" -c "SELECT make_queries($1)" -c 'VACUUM (FREEZE, ANALYZE) large' >/dev/null
}

part_size()
{
	large <<-SQL
		TRUNCATE builds;
		SET maintenance_work_mem = '2GB';
		SELECT time_build('large', 'now', 'large_sig', 'CREATE INDEX large_sig ON large USING neardup (sig)', 1) \\g /dev/null
		SELECT 'build s', seconds FROM builds;
		SELECT 'index MB', bytes / 1e6 FROM builds;
		SELECT 'index / raw', bytes / 50.0 / $1 FROM builds;
		SELECT 'segments', segments FROM neardup_index_status('large_sig');
		CREATE EXTENSION IF NOT EXISTS pg_prewarm;
		SELECT pg_prewarm('large') \\g /dev/null
		SELECT pg_prewarm('large_sig') \\g /dev/null
	SQL
}

# Queries that are new to a session, which begins with them; then the same again.
part_times()
{
	local distance

	for distance in 0 20 40 60; do
		large <<-SQL
			TRUNCATE answers;
			SELECT id FROM little WHERE is_within(sig, 1::bit(400), $distance) \\g /dev/null
			SELECT contest('at $distance', 'now', 'large_queries', 'SELECT id FROM large WHERE is_within(sig, v.sig, $distance)',
				1, CASE WHEN $distance <= 20 THEN 1000 ELSE 200 END, 'enable_seqscan = off') \\g /dev/null
			SELECT 'ms at $distance', median_ms('at $distance', 'now');
			SELECT 'ms at $distance, 95 % within', percentile_cont(0.95) WITHIN GROUP (ORDER BY us) / 1000 FROM answers;
		SQL
	done
	large -f "$HERE/large/times.sql"
}

part_pages()
{
	large -v label= -f "$HERE/large/pages.sql"
}

# Prints what a backend's private memory is before and after searches, without shared memory.
part_memory()
{
	local count

	count=$(private_memory_command)
	if ! has_private_memory; then
		say "skipping private memory: there is no /proc/PID/smaps"
		return
	fi
	large <<-SQL
		CREATE TEMP TABLE memory (place serial, mb float8);
		SELECT id FROM little WHERE is_within(sig, 1::bit(400), 20) \\g /dev/null
		COPY memory (mb) FROM PROGRAM \$\$$count\$\$;
		SELECT search_all(100) \\g /dev/null
		COPY memory (mb) FROM PROGRAM \$\$$count\$\$;
		SELECT format('private MB %s searches', CASE place WHEN 1 THEN 'before' ELSE 'after' END), mb FROM memory ORDER BY place;
	SQL
}

# The first search of a session and a later one: medians of nine sessions.
part_sessions()
{
	local distance session

	for distance in 0 20 60; do
		for session in 0 1 2 3 4 5 6 7 8; do
			large -c "SELECT * FROM first_and_later($distance, $session)"
		done >sessions
		echo "first search ms at $distance"$'\t'"$(cut -f 1 sessions | median)"
		echo "later search ms at $distance"$'\t'"$(cut -f 2 sessions | median)"
		echo "first beyond later ms at $distance"$'\t'"$(awk '{ print $1 - $2 }' sessions | median)"
		echo "first search of an index of one row ms at $distance"$'\t'"$(cut -f 3 sessions | median)"
	done
	rm sessions
}

# Searches with cold files, each after a restart: medians of three.
part_cold()
{
	local distance round paths

	paths=$(large -c "SELECT pg_relation_filepath('large_sig')" -c "SELECT pg_relation_filepath('large')")
	for distance in 20 60; do
		for round in 1 2 3; do
			restart_cold $paths
			large -c "SELECT ms, read_in FROM search_pages($distance, 61 * $round)"
		done >cold
		echo "cold files: ms at $distance"$'\t'"$(cut -f 1 cold | median)"
		echo "cold files: blocks read at $distance"$'\t'"$(cut -f 2 cold | median)"
	done
	rm cold
}

# Searches when only a share of the index fits in shared_buffers.
part_shares()
{
	local share bytes

	bytes=$(large -c "SELECT pg_relation_size('large_sig')")
	for share in ${NEARDUP_BENCH_SHARES:-1 0.5}; do
		if [ "$share" != 1 ]; then
			restart "$(awk -v b="$bytes" -v s="$share" 'BEGIN { printf "%dkB", b * s / 1024 + 2048 }')"
		fi
		large -v share="$share" -f "$HERE/large/shares.sql"
	done
	restart "$LARGE_BUFFERS"
}

# The row nearest to one that is there.  Older revisions order signatures only, so this needs an index of its own.
part_nearest()
{
	large <<-SQL
		DROP INDEX large_sig;
		SET maintenance_work_mem = '2GB';
		CREATE INDEX large_sig ON large USING neardup ((sig::minhash(400, 1)));
		SELECT contest('nearest', 'now', 'large_queries', 'SELECT id FROM large ORDER BY sig::minhash(400, 1) <~> v.there::minhash(400, 1) LIMIT 1',
			2, 200, 'enable_seqscan = off, enable_sort = off') \\g /dev/null
		SELECT 'LIMIT 1 for a row that is there: ms', median_ms('nearest', 'now');
		SELECT 'LIMIT 1: answers', digest('nearest', 'now');
		DROP INDEX large_sig;
	SQL
}

# measure_rows LIBRARY ROWS LAST: the parts that run for each number of rows.
measure_rows()
{
	local part

	use_library "$1"
	restart "$LARGE_BUFFERS"
	large -c 'SELECT change_library()' >/dev/null
	for part in size times pages memory sessions cold shares nearest; do
		if has_part "$part" && { [ "$part" != shares ] || [ "$3" = 1 ]; }; then
			say "measuring $part of $2 rows, $1 library"
			"part_$part" "$2" | note "$1" "$2"
		fi
	done
	large -c 'DROP INDEX IF EXISTS large_sig'
}

# A search beside a lookup by primary key, in loops.
part_lookup()
{
	corpus <<-'SQL'
		WITH medians AS (
			SELECT label, percentile_cont(0.5) WITHIN GROUP (ORDER BY us) / 1000 AS ms
			FROM (SELECT label, query, min(us) AS us FROM answers WHERE contest = 'loop' GROUP BY label, query) best GROUP BY label
		)
		SELECT v.what FROM medians s, medians p, LATERAL (VALUES (1, E'1M at 0.9: ms\t' || s.ms), (2, E'1M at 0.9 / primary key\t' || s.ms / p.ms)) v (place, what)
		WHERE s.label = 'resemblance 0.9' AND p.label = 'primary key' ORDER BY place;
	SQL
}

part_inserts()
{
	corpus -v rows=300000 -f "$HERE/large/inserts.sql"
}

# Two clients that insert as fast as they can, with and without an index, by turns: many short
# ones, since the rates of one table differ by a third from turn to turn.
part_clients()
{
	local round name SECONDS_EACH=2

	make_writers
	for round in $(seq 25); do
		for name in plain indexed; do
			clients "$name" "write-$name.sql" 2
		done
	done
	echo "two inserters: share of the primary key's rate"$'\t'"$(paste indexed.tps plain.tps | awk '{ print $1 / $2 }' | median)"
	rm ./*.tps ./*.quantiles ./*.latencies ./*.out
}

part_far()
{
	corpus -v rows=300000 -f "$HERE/large/far.sql"
}

part_form()
{
	corpus <<-'SQL'
		SELECT force('form', format('is_similar(sig, v.sig, %s)', t), groups)
		FROM unnest('{0,20,34,48}'::int[]) groups, unnest('{0.9,0.8,0.7}'::float8[]) t \g /dev/null
		SELECT what, value FROM beside_forced WHERE contest ~ 'similar';
	SQL
}

part_bits()
{
	corpus <<-'SQL'
		SELECT force('bits', 'is_within(sig, v.sig, 6)', groups) FROM unnest('{0,3,4,5,6}'::int[]) groups \g /dev/null
		SELECT what, value FROM beside_forced WHERE contest ~ 'hamming';
	SQL
}

# All pairs of the corpus of one form, in one process.
part_pairs()
{
	corpus <<-'SQL'
		SET max_parallel_maintenance_workers = 0;
		SELECT clock_timestamp() AS start \gset
		SELECT count(*) AS pairs FROM neardup_pairs('SELECT id, sig FROM form', 0.8) \gset
		SELECT extract(epoch FROM clock_timestamp() - :'start') AS s \gset
		SELECT 'one form, pairs at 0.8: s', :s;
		SELECT 'one form, pairs at 0.8: ns a pair', :s * 1e9 / (count(*) * (count(*) - 1) / 2) FROM form;
		SELECT 'one form, pairs at 0.8: answers', :pairs;
	SQL
}

# has_any PART...: whether any of the parts is wanted.
has_any()
{
	local part

	for part in "$@"; do
		! has_part "$part" || return 0
	done
	return 1
}

# measure_corpora LIBRARY: the parts with data of their own.
measure_corpora()
{
	local part

	say "making corpora, $1 library"
	use_library "$1"
	fresh_database
	corpus -f "$HERE/index-harness.sql"
	if has_any lookup inserts clients far; then
		corpus -f "$HERE/studies/limit.sql"
	fi
	if has_any form bits pairs; then
		corpus -f "$HERE/large/form.sql"
	fi
	for part in lookup:1000000 inserts:300000 clients:200000 far:300000 form:300000 bits:1000000 pairs:300000; do
		if has_part "${part%:*}"; then
			say "measuring ${part%:*}, $1 library"
			"part_${part%:*}" | note "$1" "${part#*:}"
		fi
	done
}

measure_large()
{
	local rows library libraries=new last=${LARGE_ROWS##* }

	LARGE_BUFFERS=${NEARDUP_BENCH_BUFFERS:-4GB}
	RESULTS=$DIR/large.tsv
	[ -n "${NEARDUP_BENCH_KEEP:-}" ] || rm -f "$RESULTS"
	if [ -n "${NEARDUP_BENCH_REVISION:-}" ]; then
		build_old "$NEARDUP_BENCH_REVISION"
		libraries="old new"
	fi
	if has_any lookup inserts clients far form bits pairs; then
		make_fingerprints limit 512 1000000 1000
		for library in $libraries; do
			measure_corpora "$library"
		done
	fi
	large_database
	for rows in $LARGE_ROWS; do
		say "making $rows rows"
		grow_table "$rows"
		for library in $libraries; do
			measure_rows "$library" "$rows" "$([ "$rows" = "$last" ] && echo 1)"
		done
	done
	show_large
}

show_large()
{
	local old=

	[ -z "${NEARDUP_BENCH_REVISION:-}" ] || old=$(git -C "$TOP" log -1 --format=%h "$NEARDUP_BENCH_REVISION")
	echo
	echo "Indexes of many rows: bit(400) in an unlogged table, shared_buffers = $LARGE_BUFFERS. Cold files: dropped from the system's cache with"
	echo "posix_fadvise (dd oflag=nocache), each search after a restart."
	(cd "$(results)" && large -v old="${old:-old}" -f "$HERE/large/show.sql" <"$RESULTS")
	note_fact "shared_buffers of BENCH=large" "$LARGE_BUFFERS"
	say "the figures are in $(results)"
	[ -n "${NEARDUP_BENCH_KEEP:-}" ] || "$PGBIN/psql" -X -q -d postgres -c 'DROP DATABASE neardup_large'
}
