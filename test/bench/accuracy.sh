# accuracy.sh: the accuracy of methods on real texts.  Sourced by run.

# fetch_pages: unpacks documentation of several architectures and versions into DIR/pages.
fetch_pages()
{
	local package

	mkdir -p "$DIR/pages"
	for package in installation-guide-{amd64,arm64,s390x} llvm-{14,16}-doc; do
		[ -d "$DIR/pages/$package" ] && continue
		(cd "$DIR" && apt-get download -qq -o APT::Sandbox::User="$(id -un)" "$package") || die "cannot fetch $package"
		dpkg -x "$DIR/${package}"_*.deb "$DIR/pages/$package.new"
		mv "$DIR/pages/$package.new" "$DIR/pages/$package"
		rm "$DIR/${package}"_*.deb
	done
}

measure_accuracy()
{
	say "fetching pages"
	fetch_pages
	fresh_database
	say "measuring accuracy"
	perl "$HERE/accuracy.pl" "$DIR/pages" >"$DIR/pages.rows"
	echo
	sql -f "$HERE/accuracy.sql" <"$DIR/pages.rows"
}
