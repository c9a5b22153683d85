# The page of neardup_review_page(): what it shows, that no text of a table can become a part of
# it, and how a person judges pairs on it in a browser.
use strict;
use warnings;

use Digest::SHA qw(sha256_base64);
use Encode ();
use JSON::PP ();
use Node;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();

my $node = Node->new('review');
$node->init(allows_streaming => 1, extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\ntemp_file_limit = '50MB'\n");
$node->start;

# run_script(DATABASE, VARIABLE...) returns success, output and messages.  $crowded says whether there was
# a notice that many pairs are to be judged at once.
my $crowded;
sub run_script
{
	my ($database, @variables) = @_;
	my $server = ref $database ? $database : $node;

	my ($ok, $out, $err) = $server->run_script('review', [ map { Encode::encode('UTF-8', $_) } @variables ], '-d', $server->connstr(ref $database ? 'postgres' : $database));

	$crowded = $out =~ s/\A\d+ pairs are drawn before any is judged\nHINT:[^\n]*\n//;
	return ($ok, $out, $err);
}

# ---- Reading a page ------------------------------------------------------------

# Characters that are not seen or that change how others are shown, but for joiners and the selectors of
# variants, which scripts and symbols need.
my $UNSEEN = qr/(?![\x{200c}\x{200d}\x{fe00}-\x{fe0f}\p{Prepended_Concatenation_Mark}])[\p{Cf}\p{Default_Ignorable_Code_Point}\x{fffe}\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{2028}\x{2029}]/;

# All tags that the page has, with their attributes.
my $TAG = qr{
	</(?:html|head|title|style|body|header|div|h[1-4]|p|dl|dt|dd|figure|figcaption|svg|rect|span|details|summary|table|tr|th|td|mark|b|bdi
		|main|article|nav|section|code|button|output|kbd|label|script)>
	| <(?:head|title|style|body|header|h1|h2|dl|dt|dd|figure|summary|details|table|tr|td|b|bdi|main|section|code|kbd|strong|span|div|h4|mark|label|script)>
	| </strong> | <html\ lang="en"> | <meta\ charset="utf-8"/> | <meta\ name="[\w-]+"\ content="[\w\s=,.-]+"/>
	| <meta\ http-equiv="Content-Security-Policy"\ content="[^<>"]+"/>
	| <div\ class="(?:top|axis|sides|sides\ same)"(?:\ aria-hidden="true")?> | <div\ class="verdicts"\ role="group"\ aria-label="Verdict"> | <div\ class="text"\ lang=""\ dir="auto">
	| <p\ class="(?:soft|facts|legend)"> | <p> | <p\ class="over"\ id="cut"> | <figcaption\ id="figure"> | <th\ scope="col">
	| <svg\ viewBox="[\d\s]+"\ preserveAspectRatio="none"\ role="img"\ aria-labelledby="figure(?:\ cut)?"> | <path\ class="break"\ d="[\w.\s]+"/>
	| <rect(?:\ class="in")?(?:\ (?:x|y|width|height)="[\d.]+")+>
	| <article\ id="p\d+"\ tabindex="-1"\ aria-labelledby="h\d+"\ data-row="[0-9a-f]+"\ data-key="-?\d+"> | <h3\ id="h\d+"> | <input\ type="checkbox"/>
	| <span\ class="(?:soft|help|cut|cut\ end|cut\ brief|fold)"> | <span\ class="lost"\ hidden="hidden"> | <nav\ class="keys"\ aria-label="Pairs"\ hidden="hidden"> | <bdi\ class="title">
	| <mark\ data-passage="\d+"> | <button\ type="button"\ value="(?:t|f|\\N)"\ aria-pressed="false"> | <button\ type="button"\ class="(?:previous|next)"\ aria-label="(?:Previous|Next)\ pair">
	| <button\ type="button"\ class="save"> | <output\ aria-live="polite">
}x;

# Returns what is wrong with the form of a page: anything that is not one of its own tags, a
# known entity or plain text, and tags that do not close.
sub faults
{
	my ($page) = @_;
	my (@open, @faults);

	$page =~ s/\A<!DOCTYPE html>\n// or push @faults, 'no doctype';
	$page =~ s{(<(style|script)>)[^<&]*(</\2>)}{$1$3}g == 2 or push @faults, 'not one style and one script';
	push @faults, sprintf 'unseen character %x', ord $1 while $page =~ /($UNSEEN)/g;
	while ($page =~ /\G(?:($TAG)|(&(?:lt|gt|amp|quot|#39|#177|#8592|#8594);)|[^<&>]+|(.{1,40}))/gs)
	{
		my ($tag, $other) = ($1, $3);

		push @faults, "not a tag: $other" if defined $other;
		next if !defined $tag || $tag =~ m{/>$};
		if ($tag =~ m{^</(\w+)}) { push @faults, "$tag closes nothing" if (pop(@open) // '') ne $1 }
		elsif ($tag =~ /^<(\w+)/) { push @open, $1 }
	}
	push @faults, "<$_> does not end" foreach @open;
	return join "\n", @faults;
}

# Turns HTML back into the text.
sub text_of
{
	my ($html) = @_;
	my %entity = (lt => '<', gt => '>', amp => '&', quot => '"', '#39' => "'");

	$html =~ s{<span class="cut brief">[^<]*</span>}{}g;
	$html =~ s{<code>([0-9A-F]+)</code>}{chr hex $1}ge;
	$html =~ s/<[^>]*>//g;
	$html =~ s/&(lt|gt|amp|quot|#39);/$entity{$1}/g;
	return $html;
}

# Reads a page: the ids for COPY, the similarities, and of each side of each pair the id, the title, the text,
# and what of it is marked.
sub read_page
{
	my ($page) = @_;
	my @pairs;

	while ($page =~ m{<article[^>]*data-row="(\w+)".*?<h3[^>]*>Pair \d+(?:: similarity <strong>([\d.]+)</strong>)?(?: (.*?))?</h3>(.*?)</article>}gs)
	{
		my ($row, $similarity, $note, $rest) = ($1, $2, $3 // '', $4);
		my @sides;

		while ($rest =~ m{<h4><span class="soft">.*?</span> <bdi>(.*?)</bdi>(?: <bdi class="title">(.*?)</bdi>)?</h4>\n<p class="facts">(.*?)</p>\n(?:<div class="text" lang="" dir="auto">(.*?)</div>)?}gs)
		{
			my ($id, $title, $facts, $text) = ($1, $2 // '', $3, $4 // '');

			push @sides, {
				id => text_of($id), title => text_of($title), facts => $facts, html => $text, text => text_of($text),
				shared => [ map { text_of($_) } $text =~ m{<mark[^>]*>(.*?)</mark>}gs ], differs => [ map { text_of($_) } $text =~ m{<b>(.*?)</b>}gs ] };
		}
		push @pairs, { row => pack('H*', $row), similarity => $similarity, note => $note, sides => \@sides, html => $rest };
	}
	return @pairs;
}

my ($ok, $out, $err);

# ---- What a page shows ---------------------------------------------------------

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg(CASE WHEN i % 200 = 60 THEN 'v' || variant || 'i' ELSE 'f' || family || 'w' END || i, ' ' ORDER BY i)
		FROM generate_series(1, 100 + 5 * family) i $$;
	CREATE TABLE docs (id int PRIMARY KEY, body text, name text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	-- Six families of one to four rows, and a row without a text.
	INSERT INTO docs SELECT 10 * f + v, words(f, v), 'doc ' || f FROM generate_series(1, 6) f, generate_series(1, 1 + (f + 1) % 4) v;
	INSERT INTO docs VALUES (1, NULL, 'nothing'), (2, words(5, 3), 'a copy');
});

($ok, $out, $err) = run_script('postgres', 'table=docs', 'title=name', 'threshold=0.7');
ok($ok, 'the function runs') or diag $err;
is($err, '', 'without a message');
is(faults($out), '', 'the page is well-formed');
my @pairs = read_page($out);
is(scalar @pairs, $node->safe_psql('postgres', q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM docs', 0.7)}), 'it has all pairs');
is_deeply([ map { $_->{similarity} } @pairs ], [ sort { $a <=> $b } map { $_->{similarity} } @pairs ], 'the least similar first');
my ($first) = @pairs;
my ($x, $y) = @{ $first->{sides} };
is( $first->{similarity} . '|' . $first->{note},
	$node->safe_psql('postgres', qq{SELECT format('%s|&#177; %s estimated, %s exact', to_char(similarity(a.sig, b.sig), 'FM0.000'),
		to_char(minhash_error(512, 1, similarity(a.sig, b.sig)), 'FM0.000'), to_char(similarity(to_shingles(a.body), to_shingles(b.body)), 'FM0.000'))
		FROM docs a, docs b WHERE a.id = $x->{id} AND b.id = $y->{id}}),
	'similarity, standard error and exact similarity');
like($out, qr/ The exact similarity is that of all shingles \(word 3\) of the texts\./, 'the legend says what is exact');
foreach my $pair (@pairs)
{
	my ($x, $y) = @{ $pair->{sides} };

	if ($pair->{note} =~ /the texts are the same/)
	{
		is("$x->{id} $y->{id}", '2 53', 'equal texts');
		next;
	}
	is($_->{text}, $node->safe_psql('postgres', "SELECT body FROM docs WHERE id = $_->{id}"), "text of $_->{id}") foreach $x, $y;
	is_deeply([ $x->{shared}, map { scalar @{ $_->{differs} } } $x, $y ], [ $y->{shared}, 1, 1 ], 'the same passages are marked, and one word that differs');
	is("$x->{differs}[0] $y->{differs}[0]" =~ /^v(\d)i60 v(\d)i60$/ && $1 ne $2, 1, 'the one that does') or diag $x->{html};
}
is($x->{title}, 'doc ' . int($x->{id} / 10), 'the title');
like($x->{facts}, qr/^\d+ characters, 9\d % shared$/, 'facts of a text');
my @same = grep { $_->{note} =~ /the texts are the same/ } @pairs;
is(scalar @same, 1, 'copies are recognised');
is(join(' ', map { length $_->{text} ? 'text' : 'none' } @{ $same[0]{sides} }), 'none none', 'their text is not shown twice');
is(() = $same[0]{html} =~ /class="text"/g, 1, 'but once');
my ($rows) = $out =~ m{<dt>rows signed</dt><dd>(\d+)</dd>};
is($rows, $node->safe_psql('postgres', 'SELECT count(sig) FROM docs'), 'rows are counted');
my $in_bins = 0;
$in_bins += $_ foreach $out =~ m{<tr><td>[^<]*</td><td>(\d+)</td></tr>}g;
is($in_bins, scalar @pairs, 'each pair is in the histogram');
is(join(' ', $out =~ m{<div class="axis"[^>]*>(.*?)</div>} ? $1 =~ m{<span>([^<]*)</span>}g : ()), '0.70 0.775 0.85 0.925 equal', 'its axis');

# Parameters.
sub page_has
{
	my ($what, $pattern, @variables) = @_;

	($ok, $out, $err) = run_script('postgres', 'table=docs', @variables);
	is($err . faults($out), '', "$what: the page is well-formed");
	ok($out =~ $pattern, "$what: the page has $pattern");
	@pairs = read_page($out);
}

page_has('limit', qr{<dt>shown</dt><dd>2</dd>}, 'threshold=0.7', 'limit=2', 'sort=highest');
is($pairs[0]{similarity}, '1.000', 'highest first');
page_has('below', qr{below 1,}, 'threshold=0.7', 'below=1', 'sort=highest');
cmp_ok($pairs[0]{similarity}, '<', 1, 'pairs of this similarity and more are left out');
page_has('nothing found', qr/There are none/, 'threshold=0.7', 'below=0.7');
page_has('threshold 1', qr{<dt>pairs</dt><dd>1</dd>}, 'threshold=1');
page_has('min_tokens', qr/in a run of 80 words/, 'threshold=0.7', 'min_tokens=80', 'below=1', 'limit=1');
is(scalar @{ $pairs[0]{sides}[0]{shared} }, 0, 'shorter passages are not marked');
page_has('scheme', qr/<mark/, 'threshold=0.7', 'scheme=char 5', 'min_tokens=40');
page_has('clusters', qr{<h2>Cluster 1: 4 rows</h2>\n<p class="soft">2 of the 3 other rows}, 'threshold=0.7', 'kind=clusters', 'sort=largest', 'members=2', 'limit=1',
	'order_by=name = \'a copy\' DESC, id');
is(join(' ', map { $_->{sides}[0]{id} } @pairs), '2 2', 'with the row that is kept beside each');
is(() = $out =~ /<input/g, 2, 'what is shared is shortened, and a box shows all');
page_has('characters', qr{<span class="cut">\d+ characters</span>}, 'threshold=0.7', 'chars=100', 'below=1');
foreach my $side (map { @{ $_->{sides} } } @pairs)
{
	my $body = $node->safe_psql('postgres', "SELECT body FROM docs WHERE id = $side->{id}");
	my $shown = $side->{html} =~ s{<span class="cut(?: end| brief)?">.*?</span>}{}gr;
	my $hidden = 0;

	$hidden += tr/,//dr foreach $side->{html} =~ m{<span class="cut(?: end)?">([\d,]+) }g;
	is(length(text_of($shown) =~ s/ $//r) + $hidden, length $body, 'the page says how much is cut');
	cmp_ok(length(text_of($shown)), '<=', 101, 'and shows no more than this');
	is(scalar @{ $side->{differs} }, 1, 'but all that differs');
	like($side->{html}, qr{<span class="fold">.*<b>}s, 'and what is around it, first');
}
foreach my $bad ('sort=up', 'sort=largest', 'kind=all', 'limit=0', 'limit=x', 'chars=9', 'min_tokens=0', 'scheme=no', 'text=no', 'title=no', 'below=x', 'below=2', 'members=0', 'threshold=0',
	'order_by=nope', 'verdicts=nope',
	q{limit=1; DROP TABLE docs}, q{threshold=0.7); DROP TABLE docs; SELECT (1}, q{below=1); DROP TABLE docs; --}, q{title=name) FROM docs; DROP TABLE docs; --}, q{scheme=x'; DROP TABLE docs; --})
{
	($ok, $out, $err) = run_script('postgres', 'table=docs', $bad);
	ok(!$ok, "an error: $bad");
	is($out, '', 'and no page');
}
($ok, $out, $err) = run_script('postgres', 'table=docs', 'sort=up');
like($err, qr/"sort" must be lowest, highest or largest/, 'the message says what works');
foreach my $variable ('id', 'sig', 'text', 'title')
{
	($ok, $out, $err) = run_script('postgres', 'table=docs', "$variable=Gone");
	like($err, qr/column "Gone" of relation "public.docs" does not exist\nHINT:  Name/, "a column that is not there: $variable");
}
($ok, $out, $err) = run_script('postgres', 'table=docs', 'id=ctid', 'threshold=0.7');
is($err . faults($out), '', 'a table without a key');

# Long texts with a thousand differences stay in memory, once and not once for each difference.
$node->safe_psql('postgres', q{CREATE TABLE long (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO long SELECT v, string_agg(CASE WHEN i % 12 = 0 THEN 'x' || v || i ELSE 'w' || i END, ' ' ORDER BY i) FROM generate_series(1, 40000) i, generate_series(1, 3) v GROUP BY v});
($ok, $out, $err) = run_script('postgres', 'table=long', 'threshold=0.4');
is($err . faults($out), '', 'long texts');
@pairs = read_page($out);
is(scalar @pairs, 3, 'all pairs of them');
like($pairs[0]{html}, qr/ more characters \(the last [\d,]+ are not compared\)</, 'the page says what is not compared');
cmp_ok(length $out, '<', 250_000, 'the page is not as long as they are');

# Pairs to judge: without signatures, and without a similarity.
$node->safe_psql('postgres', 'CREATE TABLE plain AS SELECT id AS key, body AS words, name FROM docs');
my @judge = ('table=plain', 'id=key', 'text=words', 'title=name', 'kind=judge');
($ok, $out, $err) = run_script('postgres', @judge);
is($err . faults($out), '', 'a page to judge');
ok(!$crowded, 'ten pairs are few');
@pairs = read_page($out);
is(scalar @pairs, 10, 'has ten pairs');
unlike($out =~ s{<style>.*?</style>}{}sr, qr{imilarity|% shared|<svg|estimated|exact}, 'and says nothing about their similarity');
foreach my $pair (@pairs)
{
	my @ids = map { $_->{id} } @{ $pair->{sides} };

	is($pair->{row}, "$ids[0]\t$ids[1]\t", 'both ids');
	is(join("\n", map { $_->{text} } @{ $pair->{sides} }), $node->safe_psql('postgres', "SELECT words FROM plain WHERE key = ANY ('{$ids[0],$ids[1]}') ORDER BY array_position('{$ids[0],$ids[1]}', key)"),
		'both texts') if $pair->{note} eq '';
}
($ok, $out, $err) = run_script('postgres', @judge, 'below=0.1');
like($err, qr/"below" must be NULL if kind is judge/, 'pairs to judge have no similarity to be below');
($ok, $out, $err) = run_script('postgres', @judge, 'sort=highest');
like($err, qr/"sort" must be left out if kind is judge/, 'and none to be sorted by');
($ok, $out, $err) = run_script('postgres', @judge, 'limit=40');
cmp_ok(scalar read_page($out), '>', 10, 'or as many as are wanted');
ok($crowded, 'which a notice says');
$node->safe_psql('postgres', 'CREATE TABLE verdicts (a int, b int, same boolean)');
($ok, $out, $err) = run_script('postgres', @judge, 'verdicts=verdicts');
is($err . faults($out), '', 'with verdicts');

# Given pairs: a text beside each of its sources, without signatures.
my $sources = 'SELECT 11 AS a, key AS b, public.containment(public.to_shingles(t.words), public.to_shingles(p.words)) AS similarity FROM public.plain AS p, (SELECT words FROM public.plain WHERE key = 11) AS t WHERE key <> 11';
my @given = ('table=plain', 'id=key', 'text=words', 'threshold=0.01');
$node->safe_psql('postgres', qq{INSERT INTO plain VALUES (70, words(1, 9) || ' and more', 'x'); CREATE VIEW sources AS $sources});
($ok, $out, $err) = run_script('postgres', @given, 'pairs=sources');
is($err . faults($out), '', 'given pairs');
@pairs = read_page($out);
is(scalar @pairs, $node->safe_psql('postgres', "SELECT count(*) FROM ($sources) s WHERE similarity >= 0.01"), 'all of them');
like($pairs[-1]{sides}[0]{facts}, qr/ % shared/, 'with the share of the text');
unlike($out, qr/estimated|rows signed/, 'and nothing about signatures');
($ok, $out, $err) = run_script('postgres', @given, 'pairs=sources', 'kind=clusters');
like($err, qr/"pairs" must be NULL if kind is not pairs/, 'they are no clusters');
($ok, $out, $err) = run_script('postgres', @given, 'pairs=verdicts');
like($err, qr/"pairs" must have the columns a, b and similarity, as "public\.verdicts" does not/, 'pairs without similarity');
$node->safe_psql('postgres', 'CREATE VIEW itself AS SELECT 11 AS a, 11::bigint AS b, 1 AS similarity');
($ok, $out, $err) = run_script('postgres', @given, 'pairs=itself');
like($err, qr/"pairs" has a pair of id 11 with itself\nHINT/, 'no id is judged beside itself');

# The bar of equal pairs is cut when it is higher than all others, with a mark that says so.
my @equal = ('(21, 22, 1)', '(21, 23, 1)', '(21, 24, 1)');
foreach my $cut (1, 0)
{
	my @given_pairs = ('(11, 12, 0.75)', $cut ? @equal : $equal[0]);
	$node->safe_psql('postgres', 'CREATE OR REPLACE VIEW equal AS SELECT * FROM (VALUES ' . join(', ', @given_pairs) . ') v (a, b, similarity)');
	($ok, $out, $err) = run_script('postgres', @given[ 0 .. 2 ], 'threshold=0.5', 'pairs=equal');
	is($err . faults($out), '', 'pairs of which some are equal');
	is(() = $out =~ m{<path class="break"}g, $cut, 'the cut bar has a mark');
	is($out =~ m{<p class="over" id="cut">(.*?)</p>\n<svg[^>]* aria-labelledby="figure cut">} ? $1 : 'none', $cut ? '3 are equal: this bar is cut' : 'none', 'and its number as a text');
	my @heights = $out =~ m{<rect[^>]* height="([\d.]+)">}g;
	is("@heights[10, 20]", '100.00 100.00', 'the highest of the others has the height of the picture');
}

# The signatures of a pair may be of another text than the one that is shown.
$node->safe_psql('postgres', q{ALTER TABLE docs ADD COLUMN part minhash; UPDATE docs SET part = CASE WHEN id % 10 = 1 THEN to_minhash(left(body, -9)) ELSE to_minhash(body) END});
page_has('signatures of other texts', qr/ The exact similarity is/, 'threshold=0.7', 'sig=part');
foreach my $pair (@pairs)
{
	is($pair->{note} =~ /exact/ ? 1 : 0, (grep { $_->{id} % 10 == 1 } @{ $pair->{sides} }) ? 0 : 1, "exact is of the texts that were signed: $pair->{note}");
}
$node->safe_psql('postgres', q{UPDATE docs SET part = to_minhash('start ' || body)});
page_has('no signature of the texts', qr/estimated/, 'threshold=0.7', 'sig=part');
unlike($out, qr/exact/, 'nothing is exact');

# The script, which writes a file.
my $file = "$folder/a page.html";
is(join('|', $node->run_psql('-v', 'table=docs', '-v', 'threshold=0.7', '-v', 'show=name', '-o', $file, '-f', Node::script_path('review'))), '1||', 'the script writes a page');
is(faults(Encode::decode('UTF-8', slurp_file($file))), '', 'which is the same');

# A standby, and a role that may only read the table.
$node->backup('copy');
my $standby = Node->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
($ok, $out, $err) = run_script($standby, 'table=docs');
is($err . faults($out), '', 'it runs on a standby');
($ok, $out, $err) = run_script($standby, 'table=docs', 'kind=judge');
is($err . faults($out), '', 'for pairs to judge too');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM neardup_report('docs')}) > 0, 1, 'and so does the report');
$standby->stop;
$node->safe_psql('postgres', 'CREATE ROLE reader LOGIN; GRANT SELECT ON docs, verdicts, sources TO reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC');
foreach my $page ([ 'threshold=0.7' ], [ 'kind=clusters', 'verdicts=verdicts' ], [ 'kind=judge', 'limit=10' ], [ 'pairs=sources' ])
{
	($ok, $out, $err) = $node->run_script('review', [ 'table=docs', 'title=name', @$page ], '-U', 'reader');
	is($err . faults(Encode::decode('UTF-8', $out)), '', "SELECT is all that it needs: @$page");
}
is(($node->run_script('report', [ 'table=docs', 'threshold=0.7' ], '-U', 'reader'))[0], 1, 'and the report');
$node->safe_psql('postgres', 'REVOKE SELECT ON docs FROM reader');
like(($node->run_script('review', ['table=docs'], '-U', 'reader'))[2], qr/permission denied for table docs/, 'but that');

# ---- Hostile texts -------------------------------------------------------------

# What a text would have to do to be noticed.
my $take = q{document.documentElement.setAttribute('data-taken', 1)};
my @hostile = (
	"</script><script>$take</script>", "</style><script>$take</script>", "</title><script>$take</script>", "</div></section></article></main><script>$take</script>",
	"<img src=x onerror=\"$take\">", "<svg onload=\"$take\"/>", "\" onmouseover=\"$take\" x=\"", "' autofocus onfocus='$take' x='", "javascript:$take",
	'<!-- ', ' --><!--> --!>', ']]>', '<![CDATA[', '<?xml ?>', '<!DOCTYPE x [<!ENTITY y "z">]>', '&lt;script&gt; &amp;amp; &#60; &#x3c; &nbsp &notit;',
	'<iframe src="http://example.com/x"></iframe><link rel="stylesheet" href="//example.com/y"/><base href="http://example.com/">', '<meta http-equiv="refresh" content="0;url=http://example.com">',
	join('', map { chr } 1 .. 8, 11, 12, 14 .. 31, 127 .. 159), "\x{202e}right to left\x{2066}\x{202d}and back", "\x{61c}\x{200e}\x{200f}\x{2028}marks of direction", "\x{200b}\x{2060}\x{feff}\x{fffe}",
	# Such characters: some, and the ends of all ranges.
	join('', "\x{180e}\x{e0001}\x{e0041}", map { chr } grep { my $c = $_; chr($c) =~ $UNSEEN && grep { chr($c + $_) !~ $UNSEEN } -1, 1 } 0xa0 .. 0xd7fe, 0xf900 .. 0xfffd, 0x10000 .. 0x1fffd, 0xe0002 .. 0xe0fff),
	"e\x{301}" . "\x{301}" x 300, 'long' x 3000, q{\\o |touch /tmp/taken \\1\\2 \\! :table :'x' $1 $$ %s %I {{x}} ${x} `x`}, "line\nline\ttab");

sub literal
{
	return q{U&'} . join('', map { sprintf '\\+%06x', ord } split //, shift) . q{'};
}

my @names = ('<b>"t"</b> & \'', '</title><i>', '<s>id', '</style><b>', '\'"><');
my ($table, $id, $body, $title, $sig) = map { '"' . s/"/""/gr . '"' } @names;
$node->safe_psql('postgres', Encode::encode('UTF-8', qq{CREATE SCHEMA "<i>"; CREATE TABLE "<i>".$table ($id text PRIMARY KEY, $body text, $title text, $sig minhash);
	INSERT INTO "<i>".$table SELECT v || p, left(words(n::int, 1), 250) || ' ' || p || ' ' || substr(words(n::int, 1), 251) || ' end ' || v || p, p
	FROM unnest(ARRAY[} . join(', ', map { literal($_) } @hostile) . qq{]) WITH ORDINALITY p (p, n), generate_series(1, 2) v;
	UPDATE "<i>".$table SET $sig = to_minhash($body)}));
my @hostile_options = ("table=\"<i>\".$table", "id=$names[1]", "text=$names[2]", "title=$names[3]", "sig=$names[4]", 'threshold=0.3', 'chars=100000');

sub hostile_page
{
	($ok, $out, $err) = run_script('postgres', @hostile_options, @_);
	ok($ok, 'a table of hostile texts and names') or diag $err;
	return Encode::decode('UTF-8', $out);
}

my $page = hostile_page('kind=judge');
is(faults($page), '', 'no text breaks out of a page to judge');
cmp_ok(scalar read_page($page), '>', 0, 'it has pairs');
$page = hostile_page();
like($page, qr{<code>$_</code>}, "a code for $_") foreach qw(00AD 034F 061C 115F 1160 180E 200B 202E 2066 3164 FEFF FFFB 1D173 E0001 E0041 E0FFF);
is(faults($page), '', 'no text breaks out of the page');
@pairs = read_page($page);
is(scalar @pairs, scalar @hostile, 'all pairs are there');
foreach my $pair (@pairs)
{
	my ($x, $y) = @{ $pair->{sides} };
	my ($payload) = grep { index($x->{text}, "$_ ") >= 0 && $x->{title} eq substr($_, 0, 200) . (length > 200 ? commas(length($_) - 200) . ' characters' : '') } @hostile;

	ok(defined $payload, 'a title is shown as it is') or diag Encode::encode('UTF-8', $x->{title});
	foreach my $side ($x, $y)
	{
		my $name = substr($side->{id}, 0, 1) . $payload;

		is($side->{text}, Encode::decode('utf8', $node->safe_psql('postgres', Encode::encode('UTF-8', "SELECT $body FROM \"<i>\".$table WHERE $id = " . literal($name)))),
			'a text is shown as it is');
	}
}

sub commas
{
	return scalar reverse(reverse(shift) =~ s/(\d{3})(?=\d)/$1,/gr);
}

# Nothing is loaded, and only the page's own script may run.
my ($style, $script) = map { $page =~ m{<$_>(.*?)</$_>}s } 'style', 'script';
unlike($style . $script, qr{url\(|\@import|https?:|//\w|fetch|XMLHttp|innerHTML|eval|\.write}, 'style and script load nothing and make no HTML');
my ($policy) = $page =~ m{Content-Security-Policy" content="(.*?)"};
is(text_of($policy), sprintf(q{default-src 'none'; script-src 'sha256-%s='; style-src 'sha256-%s='; base-uri 'none'; form-action 'none'}, sha256_base64($script), sha256_base64($style)),
	'the policy allows this style and this script only');
SKIP:
{
	skip 'there is no xmllint', 1 if system('command -v xmllint >/dev/null') != 0;
	append_to_file("$folder/hostile.xml", Encode::encode('UTF-8', $page));
	is(system('xmllint', '--noout', "$folder/hostile.xml"), 0, 'the page is well-formed XML');
}

# ---- Other columns and encodings -------------------------------------------------

$node->safe_psql(
	'postgres', q{
	CREATE DOMAIN hashed AS bigint;
	ALTER TABLE docs ADD COLUMN simhash simhash GENERATED ALWAYS AS (to_simhash(body)) STORED, ADD COLUMN shingles shingles GENERATED ALWAYS AS (to_shingles(body)) STORED,
		ADD COLUMN bigint hashed GENERATED ALWAYS AS (id / 10) STORED, ADD COLUMN bit bit(64) GENERATED ALWAYS AS ((id / 10)::bigint::bit(64)) STORED;
});
foreach my $type ('simhash', 'shingles', 'bigint', 'bit')
{
	page_has("a column of $type", qr/<article/, 'threshold=0.7', "sig=$type", 'limit=5');
	unlike($pairs[0]{note}, qr/estimated/, 'has no standard error');
}
foreach my $encoding ('SQL_ASCII', 'LATIN1')
{
	$node->safe_psql('postgres', "CREATE DATABASE other TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql('other', q{CREATE EXTENSION neardup; CREATE TABLE docs (id int PRIMARY KEY, body text, sig minhash);
		INSERT INTO docs SELECT v, string_agg('w' || i, ' ') || convert_from('\x20e9b5203c623e', getdatabaseencoding()) || v FROM generate_series(1, 90) i, generate_series(1, 2) v GROUP BY v;
		UPDATE docs SET sig = to_minhash(left(body, 200))});
	($ok, $out, $err) = run_script('other', 'table=docs');
	is($err . faults(Encode::decode('UTF-8', $out)), '', "a database in $encoding");
	ok($out =~ ($encoding eq 'LATIN1' ? qr/ \xc3\xa9\xc2\xb5 &lt;/ : qr/ \xe9\xb5 &lt;/), 'the characters are right');
	($ok, $out, $err) = run_script('other', 'table=docs', 'kind=judge');
	is($err . faults(Encode::decode('UTF-8', $out)), '', "a database in $encoding, and pairs to judge");
	$node->safe_psql('postgres', 'DROP DATABASE other');
}

# ---- In a browser ----------------------------------------------------------------

my ($browser) = grep { system("command -v $_ >/dev/null") == 0 } 'chromium', 'chromium-browser', 'google-chrome';
my $BROWSER_TESTS = 49;
my ($browser_pid, $to_browser, $from_browser, $session);

# Starts a browser that is told what to do through a pipe, in messages that end with a zero byte.
sub start_browser
{
	local $ENV{HOME} = $folder;
	pipe(my $in, $to_browser) && pipe($from_browser, my $out) or die "pipe: $!";
	$to_browser->autoflush;
	$browser_pid = fork // die "fork: $!";
	if ($browser_pid == 0)
	{
		POSIX::dup2(fileno $in, 20);
		POSIX::dup2(fileno $out, 21);
		POSIX::dup2($_ + 17, $_) foreach 3, 4;
		open STDERR, '>', "$folder/browser.log";
		exec $browser, '--headless', '--no-sandbox', '--disable-gpu', "--user-data-dir=$folder/profile", '--remote-debugging-pipe', 'about:blank';
		POSIX::_exit(1);
	}
	close $in;
	close $out;
	my $target = tell_browser('Target.createTarget', url => 'about:blank')->{targetId};
	$session = tell_browser('Target.attachToTarget', targetId => $target, flatten => JSON::PP::true)->{sessionId};
	tell_browser('Page.enable');
	tell_browser('Browser.setDownloadBehavior', behavior => 'allow', downloadPath => $folder, eventsEnabled => JSON::PP::true);
}

# Calls a method of the browser, and returns its result.
my $calls = 0;
sub tell_browser
{
	my ($method, %parameters) = @_;
	my $call = { id => ++$calls, method => $method, params => \%parameters, $session && $method !~ /^Browser/ ? (sessionId => $session) : () };

	print $to_browser JSON::PP::encode_json($call), "\0";
	my $answer = listen_to_browser(sub { ($_[0]{id} // 0) == $calls });
	die "$method: $answer->{error}{message}" if $answer->{error};
	return $answer->{result};
}

# Returns the next message of the browser that is the one.  Messages that come before it are
# kept: a download may end before the click that began it is answered.
my @heard;
sub listen_to_browser
{
	my ($is_it) = @_;
	my ($place) = grep { $is_it->($heard[$_]) } 0 .. $#heard;
	return splice @heard, $place, 1 if defined $place;

	local $SIG{ALRM} = sub { kill 'KILL', $browser_pid; die 'the browser does not answer' };
	local $/ = "\0";

	alarm 120;
	while (defined(my $line = readline $from_browser))
	{
		chop $line;
		my $message = JSON::PP::decode_json($line);
		if (!$is_it->($message))
		{
			push @heard, $message;
			next;
		}
		alarm 0;
		return $message;
	}
	die 'the browser has ended: ' . slurp_file("$folder/browser.log");
}

# Returns the value of an expression on the page.
sub page_says
{
	my $result = tell_browser('Runtime.evaluate', expression => $_[0], returnByValue => JSON::PP::true, awaitPromise => JSON::PP::true)->{result};

	return $result->{value} // $result->{description};
}

# Opens a page from a file of its own, with another script if there is one, under the page's
# policy or under none.
my $opened = 0;
sub open_page
{
	my ($page, $hash, $script, $no_policy) = @_;
	my $file = "$folder/page" . ++$opened . '.html';

	$page =~ s/<meta http-equiv[^>]*>// if $no_policy;
	$page =~ s{</body>}{<script>$script</script></body>} if $script;
	append_to_file($file, Encode::encode('UTF-8', $page));
	tell_browser('Page.navigate', url => "file://$file" . ($hash // ''));
	page_says(q{new Promise(function (done) { document.readyState === 'complete' ? done() : addEventListener('load', done); })});
}

# Presses keys, and returns which pair is the current one after each.
sub press
{
	return join ' ', map {
		my $key = $_;
		tell_browser('Input.dispatchKeyEvent', type => $_, key => $key, length $key == 1 ? (text => $key) : ()) foreach 'keyDown', 'keyUp';
		page_says(q{document.querySelector('[aria-current]').id});
	} @_;
}

# Clicks where an element is seen.
sub click
{
	my ($element) = @_;
	my $where = page_says("(function () { var box = document.querySelector('$element').getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }())");

	tell_browser('Input.dispatchMouseEvent', type => $_, x => $where->[0], y => $where->[1], button => 'left', clickCount => 1) foreach 'mousePressed', 'mouseReleased';
}

# Returns the verdicts of all pairs, and the counter.
sub verdicts
{
	return page_says(q{Array.from(document.querySelectorAll('article')).map(function (pair) {
		return (pair.querySelector('[aria-pressed="true"]') || { value: '-' }).value; }).join('') + ' ' + document.querySelector('output').textContent});
}

# Saves the verdicts, and returns the file.
sub saved
{
	unlink "$folder/verdicts.tsv";
	@heard = ();
	click('.save');
	listen_to_browser(sub { ($_[0]{method} // '') eq 'Browser.downloadProgress' && $_[0]{params}{state} eq 'completed' });
	return slurp_file("$folder/verdicts.tsv");
}

# The current pair, and whether that is seen.
my $current = q{(function () {
	var pair = document.querySelector('[aria-current]');
	var text = pair.querySelector('.text').getBoundingClientRect();
	return [pair.id, getComputedStyle(pair).boxShadow.includes('1px') ? 'outlined' : '', document.querySelector('.keys').getBoundingClientRect().top > text.top ? text.bottom > 0 ? 'seen' : '' : ''].join(' '); }())};

SKIP:
{
	my $before = Test::More->builder->current_test;

	note("summary: no page was opened: there is no chromium, $BROWSER_TESTS tests did not run") if !$browser;
	skip 'there is no chromium', $BROWSER_TESTS if !$browser;
	start_browser();
	open_page($page, '#p3');
	is(page_says(q{document.querySelector('.keys').hidden + document.querySelector('output').textContent + document.querySelector('[aria-current]').id}),
		'falsePair 3: 0 of 27 judged, 0 samep3', "the page's own script runs, and a link leads to a pair");
	is(page_says(q{document.documentElement.dataset.taken || document.querySelectorAll('article').length}), scalar @hostile, 'no script of a text runs, and all pairs are found');
	open_page($page);
	is(press('j', 'j', 'ArrowRight', 'k', 'ArrowLeft', 'ArrowLeft', 'k', 'x', 'j'), 'p2 p3 p4 p3 p2 p1 p1 p1 p2', 'keys step through the pairs, to the ends');
	click($_) foreach '.next', '.next', '.previous';
	is(page_says('document.activeElement.id'), 'p3', 'and so do buttons, which move the focus');
	click('#p3 mark');
	like(page_says(q{Array.from(document.querySelectorAll('#p3 section')).map(function (side) { return side.querySelector('.twin').dataset.passage; }).join(' ')}), qr/^(\d+) \1$/,
		'a click on a passage finds it in the other text');
	# The policy is a second wall: a script that had come into the page would not run.
	open_page($page, '', $take, 1);
	is(page_says('document.documentElement.dataset.taken'), 1, 'a script that is added runs without the policy');
	open_page($page, '', $take);
	is(page_says('document.documentElement.dataset.taken'), undef, 'and not with it');

	# Verdicts by key and by button.  A verdict goes on to the next pair without one.
	($ok, $out, $err) = run_script('postgres', 'table=docs', 'threshold=0.7', 'limit=5', 'kind=clusters', 'members=1');
	@pairs = read_page($out);
	is(scalar @pairs, 5, 'five pairs') or diag $err;
	open_page($out);
	is(verdicts(), '----- Pair 1: 0 of 5 judged, 0 same', 'no verdicts');
	is(page_says($current), 'p1 outlined seen', 'pair 1 is the current one');
	is(press('s', 'd', 'd', 'u'), 'p2 p3 p4 p5', 'each key judges a pair, the first one too, and goes to the next');
	is(verdicts(), 'tff\N- Pair 5: 4 of 5 judged, 1 same', 'verdicts are shown');
	press('k', 'k', 'k');
	click('#p2 [value=f]');
	is(verdicts(), 't-f\N- Pair 2: 3 of 5 judged, 1 same', "a pair's own button takes its verdict back");
	press('j', 'j', 'j');
	click('#p5 [value=f]');
	is(verdicts(), 't-f\Nf Pair 2: 4 of 5 judged, 1 same', 'or judges it, and the next one without a verdict is before it');
	click('.keys [value=t]');
	is(verdicts(), 'ttf\Nf Pair 2: 5 of 5 judged, 2 same', 'a button of the bar judges the pair in view');
	is(page_says(q{document.querySelector('.keys [aria-pressed=true]').textContent}), 'Same', 'and shows its verdict');
	click('.keys [value=t]');
	is(press('s', 's') . ' ' . verdicts(), 'p2 p2 ttf\Nf Pair 2: 5 of 5 judged, 2 same', 'a press too many takes nothing back');
	is(press('u', 'd', 'k', 'u') . ' ' . verdicts(), 'p2 p2 p1 p1 \Nff\Nf Pair 1: 5 of 5 judged, 0 same', 'verdicts change');
	press('j');
	click('#p2 [value=f]');
	is(verdicts(), '\N-f\Nf Pair 2: 4 of 5 judged, 0 same', 'and are taken back when all are judged');
	tell_browser('Input.dispatchKeyEvent', type => 'keyDown', key => 's', text => 's', autoRepeat => JSON::PP::true);
	is(verdicts(), '\N-f\Nf Pair 2: 4 of 5 judged, 0 same', 'a key that is held does not go on judging');
	page_says(q{new Promise(function (done) { window.scrollTo(0, document.body.scrollHeight); setTimeout(done, 500); })});
	is(verdicts(), '\N-f\Nf Pair 5: 4 of 5 judged, 0 same', 'a key judges the pair that is seen');
	my $widths = q{document.querySelector('#p1 .brief').offsetWidth + ' ' + document.querySelector('#p1 .fold').offsetWidth};
	press('k', 'k', 'k', 'k');
	like(page_says($widths), qr/^[1-9]\d* 0$/, 'what is shared is shortened');
	press('a');
	like(page_says($widths), qr/^0 [1-9]/, 'until a key shows all of both texts');

	# The file, and progress.
	my $saved = saved();
	is($saved, join('', map { $pairs[$_->[0]]{row} . "$_->[1]\n" } [ 0, '\N' ], [ 2, 'f' ], [ 3, '\N' ], [ 4, 'f' ]), 'the file has what is judged');
	is(read_verdicts('int', 'saved'), join("\n", map { join '|', (map { $_->{id} } @{ $pairs[$_->[0]]{sides} }), $_->[1] } [ 0, '' ], [ 2, 'f' ], [ 3, '' ], [ 4, 'f' ]), 'COPY reads it');
	open_page($out);
	is(verdicts(), '\N-f\Nf Pair 2: 4 of 5 judged, 0 same', 'verdicts stay when the page is opened again, at the first pair without one');
	$node->safe_psql('postgres', qq{UPDATE docs SET body = upper(body) WHERE id = $pairs[2]{sides}[1]{id}});
	open_page((run_script('postgres', 'table=docs', 'threshold=0.7', 'limit=5', 'kind=clusters', 'members=1'))[1]);
	is(verdicts(), '\N--\Nf Pair 2: 3 of 5 judged, 0 same', 'but not of a text that has changed')
	  or diag page_says('JSON.stringify(localStorage)');
	my $script_id = tell_browser('Page.addScriptToEvaluateOnNewDocument', source => q{Object.defineProperty(window, 'localStorage', { get: function () { throw new Error('no'); } });})->{identifier};
	open_page($out);
	click('.keys [value=t]');
	is(verdicts(), 't---- Pair 2: 1 of 5 judged, 1 same', 'without storage, too, the first press of a button judges pair 1');
	is(saved(), "$pairs[0]{row}t\n", 'and verdicts saved');
	ok(page_says(q{document.querySelector('.lost').offsetHeight}) > 0, 'the page says that it keeps nothing');
	tell_browser('Page.removeScriptToEvaluateOnNewDocument', identifier => $script_id);

	open_page((run_script('postgres', 'table=docs', 'threshold=0.7', 'below=0.7'))[1]);
	is(page_says(q{document.querySelector('.keys').hidden + ' ' + document.querySelectorAll('[aria-current]').length}), 'true 0', 'a page without pairs has nothing to judge');

	# Pairs to judge.
	($ok, $out, $err) = run_script('postgres', @judge, 'limit=6');
	@pairs = read_page($out);
	open_page($out);
	press('s', 'd', 'u');
	like(verdicts(), qr/^tf\\N-/, 'pairs to judge are judged');
	is(saved(), join('', map { $pairs[$_->[0]]{row} . "$_->[1]\n" } [ 0, 't' ], [ 1, 'f' ], [ 2, '\N' ]), 'and verdicts saved');

	# A phone.
	tell_browser('Emulation.setDeviceMetricsOverride', width => 380, height => 700, deviceScaleFactor => 2, mobile => JSON::PP::true);
	foreach my $phone ($out, $page)
	{
		open_page($phone);
		page_says('localStorage.clear()');
		open_page($phone);
		like(page_says($current) . verdicts(), qr/^p1 outlined seen-+ Pair 1: 0 of \d+ judged, 0 same$/, 'a phone shows pair 1');
		open_page($phone, '#p2');
		is(page_says('innerWidth') . ' ' . page_says('document.documentElement.scrollWidth'), '380 380', 'nothing is wider than a phone');
		is(page_says(q{Array.from(document.querySelectorAll('button, label')).filter(function (target) { return target.getBoundingClientRect().height + 0.1 >= 44 ? 0 : 1; }).length}), 0, 'buttons are large');
		ok(page_says(q{document.querySelector('.keys').getBoundingClientRect().height}) < 180, 'the bar is not');
		click(".keys [value=$_]") foreach 't', 'f';
		like(verdicts(), qr/^-tf-/, 'and judges');
	}
	tell_browser('Emulation.clearDeviceMetricsOverride');

	# Ids of any characters come out of the file as they went in.
	$node->safe_psql('postgres', Encode::encode('UTF-8', q{CREATE TABLE odd (id text PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
		INSERT INTO odd SELECT p, words(3, 1) FROM unnest(ARRAY[} . join(', ', map { literal($_) } @hostile, "\t", "\\", "\\N", "\\.", "\r\n", "a\\tb", '', "\x{1f600}") . q{]) p}));
	($ok, $out, $err) = run_script('postgres', 'table=odd');
	is($err . faults(Encode::decode('UTF-8', $out)), '', 'ids of any characters');
	open_page(Encode::decode('UTF-8', $out));
	press(('s') x read_page($out));
	saved();
	read_verdicts('text', 'odd_verdicts');
	is($node->safe_psql('postgres', q{SELECT count(*), count(DISTINCT b), bool_and(same), bool_and(a IN (SELECT id FROM odd) AND b IN (SELECT id FROM odd)) FROM odd_verdicts}),
		join('|', (@hostile + 7) x 2, 't', 't'), 'COPY reads them');
	open_page(Encode::decode('UTF-8', $out));
	like(verdicts(), qr/^t+ Pair 1: (\d+) of \1 judged, \1 same$/, 'a page whose pairs are all judged opens at the first one');
	tell_browser('Browser.close');
	waitpid $browser_pid, 0;
	is(Test::More->builder->current_test - $before, $BROWSER_TESTS - 1, 'these are all tests in a browser');
}

# Reads the file of verdicts as the manual says, and returns the table.
sub read_verdicts
{
	my ($type, $table) = @_;

	$node->safe_psql('postgres', "CREATE TABLE $table (a $type, b $type, same boolean)");
	is(system('psql', '-Xq', '-d', $node->connstr('postgres'), '-c', "\\copy $table (a, b, same) FROM '$folder/verdicts.tsv'"), 0, '\copy reads the file');
	return $node->safe_psql('postgres', "SELECT * FROM $table");
}

$node->stop;
done_testing();
