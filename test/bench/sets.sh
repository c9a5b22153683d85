# sets.sh: sets of shingles in an index, on descriptions of packages, beside pg_trgm, RUM and smlar.  Sourced by run.

measure_sets()
{
	local peer

	say "fetching texts"
	apt_of_releases
	unpack_lists
	put_descriptions >"$DIR/descriptions.rows"
	fresh_database
	sql -f "$HERE/index-harness.sql"
	sql -v old="$OLD_RELEASE" -v new="$NEW_RELEASE" -v queries="${NEARDUP_BENCH_QUERIES:-500}" -f "$HERE/sets.sql" <"$DIR/descriptions.rows"
	for peer in pg_trgm rum smlar; do
		if [ "$(sql -c "SELECT count(*) FROM pg_available_extensions WHERE name = '$peer'")" = 1 ]; then
			say "measuring $peer"
			sql -f "$HERE/sets-$peer.sql"
		fi
	done
	sql -f "$HERE/sets-show.sql"
}
