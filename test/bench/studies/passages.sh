# passages.sh: the sources of a page of text among many documents, by a sample of their shingles.  Sourced by run.

measure_passages()
{
	local rows

	program studies/texts
	fresh_database 4GB
	sql -f "$HERE/studies/passages.sql"
	echo
	echo "Passages: pages with four planted runs of 15 to 60 words, among documents of ${NEARDUP_BENCH_CHARACTERS:-2750} characters and more, with an index on a quarter of their shingles. Each page is new."
	echo
	echo "| documents | characters | build s | index / texts | with places, median ms | 95th percentile | and shares, median ms | sources | found of runs of 15 | of 20 | of 30 | of 40 | of 60 words |"
	echo "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
	for rows in ${NEARDUP_BENCH_ROWS:-100000 300000 1000000}; do
		say "measuring passages among $rows documents"
		# The last 500 are for pages.
		"$TOP/build/plain/test/bench/studies/texts" rows $((rows * 5 + 10000)) |
			awk -F'\t' -v least="${NEARDUP_BENCH_CHARACTERS:-2750}" -v rows=$((rows + 500)) 'n == rows { next } { t = t (t == "" ? "" : " ") $2 }
				length(t) >= least { print ++n "\t" t; t = "" }' >"$DIR/passages.rows"
		sql -c '\copy docs FROM passages.rows' -c "CALL measure_passages($rows)" -c "SELECT line FROM lines WHERE documents = $rows"
		rm "$DIR/passages.rows"
	done
	sql -c "SELECT format('| by the formula | | | | | | | | %s |', string_agg(round(chance(words)::numeric, 3)::text, ' | ' ORDER BY words)) FROM unnest(runs()) words"
}
