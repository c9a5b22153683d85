# run.sh: the accuracy of methods on real texts.  Sourced by run.

LANGUAGES=${NEARDUP_BENCH_LANGUAGES:-en fr de es ru ar ja ko zh_CN}
OLD_RELEASE=bullseye
NEW_RELEASE=bookworm

# machine_mirror: prints the mirror that this machine's apt uses.
machine_mirror()
{
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sed -n '1s,/*$,,p'
}

# apt_of_releases: makes an apt configuration of two releases, apart from the machine's.
apt_of_releases()
{
	local mirror=${NEARDUP_BENCH_MIRROR:-$(machine_mirror)} release

	mkdir -p "$DIR/releases/lists/partial" "$DIR/releases/cache/archives/partial"
	for release in $OLD_RELEASE $NEW_RELEASE; do
		echo "deb [check-valid-until=no] $mirror $release main"
	done >"$DIR/releases/sources.list"
	cat >"$DIR/releases/apt.conf" <<-CONF
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear Acquire::Languages;
		Acquire::Languages { "en"; };
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
		Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
		APT::Sandbox::User "$(id -un)";
		Dir::Etc::SourceList "$DIR/releases/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$DIR/releases/lists";
		Dir::Cache "$DIR/releases/cache";
	CONF
	ls "$DIR"/releases/lists/*Translation-en* >/dev/null 2>&1 ||
		apt-get -c "$DIR/releases/apt.conf" update -qq >"$DIR/releases/update.log" 2>&1 ||
		die "cannot fetch the lists of $OLD_RELEASE and $NEW_RELEASE; see $DIR/releases/update.log, or set NEARDUP_BENCH_MIRROR"
}

# fetch PACKAGE TARGET [OPTIONS]: unpacks a package into the folder TARGET, with options of apt-get.
fetch()
{
	local package=$1 target=$2

	shift 2
	[ -d "$target" ] && return
	rm -rf "$DIR/fetched" "$target.new"
	mkdir -p "$DIR/fetched" "$(dirname "$target")"
	(cd "$DIR/fetched" && apt-get "$@" download -qq -o APT::Sandbox::User="$(id -un)" "$package") || die "cannot fetch $package"
	dpkg -x "$DIR"/fetched/*.deb "$target.new"
	mv "$target.new" "$target"
	rm -r "$DIR/fetched"
}

# fetch_pages: unpacks documentation of several architectures and versions into DIR/pages.
fetch_pages()
{
	local package

	for package in installation-guide-{amd64,arm64,s390x} llvm-{14,16}-doc; do
		fetch "$package" "$DIR/pages/$package"
	done
}

# fetch_languages: unpacks texts in many languages of two releases into DIR/releases.
fetch_languages()
{
	local package release

	for release in $OLD_RELEASE $NEW_RELEASE; do
		for package in gnome-user-docs firefox-esr-l10n-ar thunderbird-l10n-ar; do
			fetch "$package/$release" "$DIR/releases/$release/$package" -c "$DIR/releases/apt.conf"
		done
	done
}

# put_languages: prints rows of texts in all languages.
put_languages()
{
	local language

	for language in $LANGUAGES; do
		perl "$HERE/accuracy/languages.pl" "$language" "$DIR"/pages/installation-guide-* \
			"$DIR"/releases/{$OLD_RELEASE,$NEW_RELEASE}/*/ | sed "s/^/$language\t/"
	done
}

# unpack_lists: writes the lists that apt fetched, and may have compressed, into DIR/releases.
unpack_lists()
{
	local release

	for release in $OLD_RELEASE $NEW_RELEASE; do
		/usr/lib/apt/apt-helper cat-file "$DIR"/releases/lists/*_dists_"${release}"_main_*Packages* >"$DIR/releases/$release.packages"
		/usr/lib/apt/apt-helper cat-file "$DIR"/releases/lists/*_dists_"${release}"_main_*Translation-en* >"$DIR/releases/$release.descriptions"
	done
}

# put_records: prints rows of records and titles of packages.
put_records()
{
	perl "$HERE/accuracy/records.pl" "${NEARDUP_BENCH_RECORDS:-200}" \
		"$OLD_RELEASE=$DIR/releases/$OLD_RELEASE.packages" "$NEW_RELEASE=$DIR/releases/$NEW_RELEASE.packages" \
		"$DIR/releases/$NEW_RELEASE.descriptions"
}

# put_descriptions: prints rows of descriptions of packages.
put_descriptions()
{
	perl "$HERE/accuracy/descriptions.pl" "$DIR/releases/$NEW_RELEASE.packages" \
		"$OLD_RELEASE=$DIR/releases/$OLD_RELEASE.descriptions" "$NEW_RELEASE=$DIR/releases/$NEW_RELEASE.descriptions"
}

# put_generated: prints rows of made-up texts, and of revisions of texts that corpora.sql wrote.
put_generated()
{
	local language

	perl "$HERE/accuracy/generate.pl" persons
	perl "$HERE/accuracy/generate.pl" products
	for language in en es; do
		perl "$HERE/accuracy/generate.pl" revisions "$language" <"$DIR/revisions.$language"
	done
}

make_accuracy_corpora()
{
	say "reading texts"
	unpack_lists
	perl "$HERE/accuracy/pages.pl" "$DIR/pages" >"$DIR/pages.rows"
	put_languages >"$DIR/languages.rows"
	put_records >"$DIR/records.rows"
	put_descriptions >"$DIR/descriptions.rows"
	sql -v texts="${NEARDUP_BENCH_TEXTS:-200}" -v characters="${NEARDUP_BENCH_CHARACTERS:-2000}" -v form=3000 \
		-v release="$NEW_RELEASE" -f "$HERE/accuracy/corpora.sql"
	put_generated | sql -c '\copy corpora (corpus, label, body) FROM pstdin'
	number_texts
}

number_texts()
{
	sql -c 'UPDATE corpora SET id = n FROM (SELECT ctid, row_number() OVER (PARTITION BY corpus ORDER BY label, md5(body)) AS n FROM corpora WHERE id IS NULL) AS c
			 WHERE corpora.ctid = c.ctid'
}

# measure_all_corpora ALL: measures all methods on each corpus, or only advice and its candidates.
measure_all_corpora()
{
	local corpus

	sql -c "SELECT DISTINCT corpus FROM corpora WHERE corpus ~ '${NEARDUP_BENCH_ACCURACY:-.}' ORDER BY corpus" >"$DIR/corpora.names"
	while read -r corpus; do
		say "measuring accuracy on $corpus"
		sql -v corpus="$corpus" -v all="$1" -v draws="${NEARDUP_BENCH_DRAWS:-3}" -f "$HERE/accuracy/methods.sql" </dev/null
	done <"$DIR/corpora.names"
}

# Writes the precision, recall and F1 of each method at its best threshold, and of advice at its own, for each corpus.
write_accuracy()
{
	sql >"$(results)/accuracy.csv" <<-'SQL'
		\copy (SELECT corpus, method, round(f1::numeric, 3) AS f1, round(precision::numeric, 3) AS precision, round(recall::numeric, 3) AS recall FROM results ORDER BY corpus, number) TO pstdout CSV HEADER
	SQL
	say "the figures are in $(results)"
}

measure_accuracy()
{
	say "fetching texts"
	fetch_pages
	apt_of_releases
	fetch_languages
	fresh_database
	sql -f "$HERE/accuracy/functions.sql"
	make_accuracy_corpora
	measure_all_corpora true
	sql -v languages="$LANGUAGES" -v all=true -f "$HERE/accuracy/show.sql"
	write_accuracy
}

measure_advice()
{
	fresh_database
	sql -f "$HERE/accuracy/functions.sql"
	perl "$HERE/accuracy/planted.pl" | sql -c '\copy corpora (corpus, label, body) FROM pstdin'
	number_texts
	measure_all_corpora false
	sql -v languages= -v all=false -f "$HERE/accuracy/show.sql"
}
