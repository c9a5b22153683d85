# sets.sh: sets of shingles in an index, on descriptions of packages, beside pg_trgm, RUM and smlar.  Sourced by run.

# first_words: reads lines of a number and a text, and prints them with the first 30 words.
first_words()
{
	cut -d ' ' -f 1-30
}

measure_set_growth()
{
	local rows

	program studies/texts
	echo
	echo "Growth: texts of 30 words, and 500 new ones, most of which derive from one of them. Each query runs once."
	echo
	echo "| rows | build s | bytes a shingle | similar, 0.7: median ms | p95 | similar, 0.5: median ms | p95 | half of it in a row: median ms | p95 |"
	echo "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
	for rows in ${NEARDUP_BENCH_ROWS:-100000 1000000 10000000}; do
		say "measuring sets of $rows texts"
		fresh_database 8GB
		sql -f "$HERE/index-harness.sql"
		"$TOP/build/plain/test/bench/studies/texts" rows "$rows" | first_words >"$DIR/growth.rows"
		"$TOP/build/plain/test/bench/studies/texts" queries "$rows" 500 | first_words >"$DIR/growth.queries"
		sql -v rows="$rows" -f "$HERE/studies/sets-growth.sql"
		rm "$DIR"/growth.*
	done
}

# load_sets: loads the descriptions and builds their indexes.
load_sets()
{
	say "fetching texts"
	apt_of_releases
	unpack_lists
	put_descriptions >"$DIR/descriptions.rows"
	fresh_database
	sql -f "$HERE/index-harness.sql"
	sql -v old="$OLD_RELEASE" -v new="$NEW_RELEASE" -v queries="${NEARDUP_BENCH_QUERIES:-500}" -f "$HERE/studies/sets-load.sql" <"$DIR/descriptions.rows"
}

measure_nearest()
{
	load_sets
	say "measuring the nearest sets"
	sql -f "$HERE/studies/sets-nearest.sql"
}

measure_sets()
{
	local peer

	load_sets
	say "measuring sets"
	sql -f "$HERE/studies/sets.sql"
	for peer in pg_trgm rum smlar; do
		if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = '$peer'")" = 1 ]; then
			say "measuring $peer"
			sql -f "$HERE/studies/sets-$peer.sql"
		fi
	done
	sql -f "$HERE/studies/sets-show.sql"
}
