# accuracy.sh: the accuracy of methods on real texts.  Sourced by run.

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
		perl "$HERE/accuracy-languages.pl" "$language" "$DIR"/pages/installation-guide-* \
			"$DIR"/releases/{$OLD_RELEASE,$NEW_RELEASE}/*/ | sed "s/^/$language\t/"
	done
}

# cat_lists PATTERN: prints lists that apt fetched, and may have compressed.
cat_lists()
{
	/usr/lib/apt/apt-helper cat-file "$DIR"/releases/lists/*_dists_$1
}

# put_records: prints rows of records and titles of packages.
put_records()
{
	local release

	for release in $OLD_RELEASE $NEW_RELEASE; do
		cat_lists "${release}_main_*Packages*" >"$DIR/releases/$release.packages"
	done
	cat_lists "${NEW_RELEASE}_main_*Translation-en*" >"$DIR/releases/descriptions"
	perl "$HERE/accuracy-records.pl" "${NEARDUP_BENCH_RECORDS:-200}" \
		"$OLD_RELEASE=$DIR/releases/$OLD_RELEASE.packages" "$NEW_RELEASE=$DIR/releases/$NEW_RELEASE.packages" "$DIR/releases/descriptions"
}

measure_accuracy_of_pages()
{
	say "measuring accuracy on pages"
	perl "$HERE/accuracy.pl" "$DIR/pages" >"$DIR/pages.rows"
	echo
	sql -f "$HERE/accuracy.sql" <"$DIR/pages.rows"
}

measure_accuracy_of_languages()
{
	local language

	put_languages >"$DIR/languages.rows"
	sql -f "$HERE/accuracy-languages.sql" <"$DIR/languages.rows"
	for language in $LANGUAGES; do
		say "measuring accuracy on $language"
		sql -v collection="$language" -v texts="${NEARDUP_BENCH_TEXTS:-200}" -v characters="${NEARDUP_BENCH_CHARACTERS:-2000}" \
			-v form=3000 -f "$HERE/accuracy-language.sql"
	done
	sql -v languages="$LANGUAGES" -f "$HERE/accuracy-summary.sql"
}

measure_accuracy_of_records()
{
	say "measuring accuracy on records"
	put_records >"$DIR/records.rows"
	sql -f "$HERE/accuracy-records.sql" <"$DIR/records.rows"
}

# Writes the precision, recall and F1 of each method at its best threshold, for each collection and variant of its texts.
write_accuracy()
{
	sql >"$(results)/accuracy.csv" <<-'SQL'
		\copy (SELECT concat_ws(', ', collection, variant) AS corpus, method, round(f1::numeric, 3) AS f1, round(precision::numeric, 3) AS precision, round(recall::numeric, 3) AS recall FROM results ORDER BY collection, variant, number) TO pstdout CSV HEADER
	SQL
	say "the figures are in $(results)"
}

measure_accuracy()
{
	local part

	say "fetching texts"
	fetch_pages
	apt_of_releases
	fetch_languages
	fresh_database
	sql -f "$HERE/accuracy-functions.sql"
	for part in ${NEARDUP_BENCH_ACCURACY:-pages languages records}; do
		"measure_accuracy_of_$part"
	done
	write_accuracy
}
