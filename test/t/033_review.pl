# The page of neardup-review.sql: what it shows, that no text of a table can become a part of
# it, and what its keys do in a browser.
use strict;
use warnings;

use Digest::SHA qw(sha256_base64);
use Encode ();
use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();

my $node = Node->new('review');
$node->init(allows_streaming => 1, extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\ntemp_file_limit = '50MB'\n");
$node->start;

# run_script(DATABASE, VARIABLE...) returns success, output and messages.
sub run_script
{
	my ($database, @variables) = @_;
	my $server = ref $database ? $database : $node;

	return $server->run_script('review', [ map { Encode::encode('UTF-8', $_) } @variables ], '-d', $server->connstr(ref $database ? 'postgres' : $database));
}

# ---- Reading a page ------------------------------------------------------------

# All tags that the page has, with their attributes.
my $LINK = qr/href="#p\d+"/;
my $TAG = qr{
	</(?:html|head|title|style|body|header|div|h[1-4]|p|dl|dt|dd|figure|figcaption|svg|rect|span|details|summary|table|tr|th|td|mark|b|bdi
		|main|article|nav|a|section|code|button|output|kbd|script)>
	| <(?:head|title|style|body|header|h1|h2|dl|dt|dd|figure|summary|details|table|tr|td|b|bdi|main|section|code|kbd|strong|span|div|h4|mark|script)>
	| </strong> | <html\ lang="en"> | <meta\ charset="utf-8"/> | <meta\ name="[\w-]+"\ content="[\w\s=,.-]+"/>
	| <meta\ http-equiv="Content-Security-Policy"\ content="[^<>"]+"/>
	| <div\ class="(?:top|axis|sides|sides\ same)"(?:\ aria-hidden="true")?> | <div\ class="text"\ lang=""\ dir="auto">
	| <p\ class="(?:soft|facts|legend)"> | <p> | <figcaption\ id="figure"> | <th\ scope="col">
	| <svg\ viewBox="[\d\s]+"\ preserveAspectRatio="none"\ role="img"\ aria-labelledby="figure">
	| <rect(?:\ class="in")?(?:\ (?:x|y|width|height)="[\d.]+")+>
	| <article\ id="p\d+"\ tabindex="-1"\ aria-labelledby="h\d+"> | <h3\ id="h\d+"> | <span\ class="(?:hidden|soft|help|cut|cut\ end)">
	| <nav\ aria-label="From\ pair\ \d+"> | <nav\ class="keys"\ aria-label="Pairs"\ hidden="hidden"> | <a\ $LINK> | <bdi\ class="title">
	| <mark\ data-passage="\d+"> | <button\ type="button"\ class="(?:previous|next)"> | <output\ aria-live="polite">
}x;

# Returns what is wrong with the form of a page: anything that is not one of its own tags, a
# known entity or plain text, and tags that do not close.
sub faults
{
	my ($page) = @_;
	my (@open, @faults);

	$page =~ s/\A<!DOCTYPE html>\n// or push @faults, 'no doctype';
	$page =~ s{(<(style|script)>)[^<&]*(</\2>)}{$1$3}g == 2 or push @faults, 'not one style and one script';
	push @faults, sprintf 'control character %x', ord $1 while $page =~ /([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2060}-\x{2069}\x{feff}\x{fffe}])/g;
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

	$html =~ s{<code>([0-9A-F]+)</code>}{chr hex $1}ge;
	$html =~ s/<[^>]*>//g;
	$html =~ s/&(lt|gt|amp|quot|#39);/$entity{$1}/g;
	return $html;
}

# Reads a page: the similarities, and of each side of each pair the id, the title, the text,
# and what of it is marked.
sub read_page
{
	my ($page) = @_;
	my @pairs;

	while ($page =~ m{<article.*?<strong>([\d.]+)</strong> (.*?)</h3>(.*?)</article>}gs)
	{
		my ($similarity, $note, $rest) = ($1, $2, $3);
		my @sides;

		while ($rest =~ m{<h4><span class="soft">.*?</span> <bdi>(.*?)</bdi>(?: <bdi class="title">(.*?)</bdi>)?</h4>\n<p class="facts">(.*?)</p>\n(?:<div class="text" lang="" dir="auto">(.*?)</div>)?}gs)
		{
			my ($id, $title, $facts, $text) = ($1, $2 // '', $3, $4 // '');

			push @sides, {
				id => text_of($id), title => text_of($title), facts => $facts, html => $text, text => text_of($text),
				shared => [ map { text_of($_) } $text =~ m{<mark[^>]*>(.*?)</mark>}gs ], differs => [ map { text_of($_) } $text =~ m{<b>(.*?)</b>}gs ] };
		}
		push @pairs, { similarity => $similarity, note => $note, sides => \@sides, html => $rest };
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
ok($ok, 'the script runs') or diag $err;
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
page_has('clusters', qr{<h2>Cluster 1: 4 rows</h2>\n<p class="soft">2 of the 3 other rows}, 'threshold=0.7', 'show=clusters', 'sort=largest', 'members=2', 'limit=1',
	'order_by=name = \'a copy\' DESC, id');
is(join(' ', map { $_->{sides}[0]{id} } @pairs), '2 2', 'with the row that is kept beside each');
page_has('characters', qr{<span class="cut">\d+ characters</span>}, 'threshold=0.7', 'chars=100', 'below=1');
foreach my $side (map { @{ $_->{sides} } } @pairs)
{
	my $body = $node->safe_psql('postgres', "SELECT body FROM docs WHERE id = $side->{id}");
	my $shown = $side->{html} =~ s{<span class="cut( end)?">.*?</span>}{}gr;
	my $hidden = 0;

	$hidden += tr/,//dr foreach $side->{html} =~ m{<span class="cut(?: end)?">([\d,]+) }g;
	is(length(text_of($shown) =~ s/ $//r) + $hidden, length $body, 'the page says how much is cut');
	cmp_ok(length(text_of($shown)), '<=', 101, 'and shows no more than this');
	is(scalar @{ $side->{differs} }, 1, 'but all that differs');
}
foreach my $bad ('sort=up', 'sort=largest', 'show=all', 'limit=0', 'limit=x', 'chars=9', 'min_tokens=0', 'scheme=no', 'text=no', 'title=no', 'below=x',
	q{limit=1; DROP TABLE docs}, q{threshold=0.7); DROP TABLE docs; SELECT (1}, q{below=1); DROP TABLE docs; --}, q{title=name) FROM docs; DROP TABLE docs; --}, q{scheme=x'; DROP TABLE docs; --})
{
	($ok, $out, $err) = run_script('postgres', 'table=docs', $bad);
	ok(!$ok, "an error: $bad");
	is($out, '', 'and no page');
}
($ok, $out, $err) = run_script('postgres', 'table=docs', 'sort=up');
like($err, qr/"up" is not a value of sort.*HINT:  sort must be lowest, highest or largest\./s, 'the message says what works');
foreach my $variable ('id', 'sig', 'text', 'title')
{
	($ok, $out, $err) = run_script('postgres', 'table=docs', "$variable=Gone");
	like($err, qr/column "Gone" of table "public.docs" does not exist\nHINT:.*-v $variable=NAME/, "a column that is not there: $variable");
}
foreach my $bad ("|touch $folder/taken", '(format=wrapped) x.html')
{
	($ok, $out, $err) = run_script('postgres', 'table=docs', "output=$bad");
	like($err, qr/is not a value of output\nHINT:  Name a file, which must not begin with/, 'a name of a file is neither a command nor an option');
}
ok(!-e "$folder/taken", 'no command runs');
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
cmp_ok(length $out, '<', 200_000, 'the page is not as long as they are');

# A file, and a standby.
($ok, $out, $err) = run_script('postgres', 'table=docs', "output=$folder/a page.html");
is($out, "page written to $folder/a page.html\n", 'a page goes to a file');
is(faults(Encode::decode('UTF-8', slurp_file("$folder/a page.html"))), '', 'and is the same');
($ok, $out, $err) = run_script('postgres', 'table=docs', "output=$folder/none.html", 'text=no');
ok(!-e "$folder/none.html", 'an error leaves no file');
$node->backup('copy');
my $standby = Node->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->start;
($ok, $out, $err) = run_script($standby, 'table=docs');
is($err . faults($out), '', 'it runs on a standby');
$standby->stop;

# ---- Hostile texts -------------------------------------------------------------

# What a text would have to do to be noticed.
my $take = q{document.documentElement.setAttribute('data-taken', 1)};
my @hostile = (
	"</script><script>$take</script>", "</style><script>$take</script>", "</title><script>$take</script>", "</div></section></article></main><script>$take</script>",
	"<img src=x onerror=\"$take\">", "<svg onload=\"$take\"/>", "\" onmouseover=\"$take\" x=\"", "' autofocus onfocus='$take' x='", "javascript:$take",
	'<!-- ', ' --><!--> --!>', ']]>', '<![CDATA[', '<?xml ?>', '<!DOCTYPE x [<!ENTITY y "z">]>', '&lt;script&gt; &amp;amp; &#60; &#x3c; &nbsp &notit;',
	'<iframe src="http://example.com/x"></iframe><link rel="stylesheet" href="//example.com/y"/><base href="http://example.com/">', '<meta http-equiv="refresh" content="0;url=http://example.com">',
	join('', map { chr } 1 .. 8, 11, 12, 14 .. 31, 127 .. 159), "\x{202e}right to left\x{2066}\x{202d}and back", "\x{61c}\x{200e}\x{200f}\x{2028}marks of direction", "\x{200b}\x{2060}\x{feff}\x{fffe}",
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

my $page = hostile_page();
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
	$node->safe_psql('postgres', 'DROP DATABASE other');
}

# ---- In a browser ----------------------------------------------------------------

my ($browser) = grep { system("command -v $_ >/dev/null") == 0 } 'chromium', 'chromium-browser', 'google-chrome';

# Returns the page as it is after its scripts ran.  More script is added under a policy that
# allows it, or under the page's own.
sub open_page
{
	my ($page, $hash, $script, $keep_policy) = @_;
	my ($dom, $messages);

	$page =~ s/<meta http-equiv[^>]*>// if !$keep_policy;
	$page =~ s{</body>}{<script>$script</script></body>} if $script;
	unlink "$folder/page.html";
	append_to_file("$folder/page.html", Encode::encode('UTF-8', $page));
	local $ENV{HOME} = $folder;
	IPC::Run::run([ $browser, '--headless', '--no-sandbox', '--disable-gpu', "--user-data-dir=$folder/profile", '--virtual-time-budget=2000', '--dump-dom', "file://$folder/page.html$hash" ],
		'>', \$dom, '2>', \$messages, IPC::Run::timeout(120)) or diag $messages;
	return Encode::decode('UTF-8', $dom);
}

# Returns the script that presses keys, and notes after each which pair is the current one.
sub press
{
	return 'var seen = [];' . join('', map { "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '$_', bubbles: true })); seen.push(document.activeElement.id);" } @_)
	  . q{document.documentElement.setAttribute('data-seen', seen.join(' '));};
}

SKIP:
{
	skip 'there is no chromium', 9 if !$browser;
	my $dom = open_page($page, '#p3', '', 1);
	ok($dom =~ m{<nav class="keys" aria-label="Pairs">.*<output aria-live="polite">3 of 26</output>}s, "the page's own script runs");
	ok($dom =~ m{<article id="p3"[^>]*aria-current="true"}, 'a link leads to a pair');
	ok($dom !~ /data-taken="1"/, 'no script of a text runs');
	is(() = $dom =~ /<article/g, scalar @hostile, 'the browser finds all pairs');
	$dom = open_page($page, '', press('j', 'j', 'ArrowRight', 'k', 'ArrowLeft', 'ArrowLeft', 'k', 'x', 'j')
		. q{document.querySelector('.next').click(); document.querySelector('.next').click(); document.querySelector('.previous').click();
			document.documentElement.setAttribute('data-buttons', document.activeElement.id); document.querySelector('article mark').click()});
	is(join(' ', $dom =~ /data-seen="(.*?)"/), 'p1 p2 p3 p2 p1 p1 p1 p1 p2', 'keys step through the pairs, to the ends');
	is(join(' ', $dom =~ /data-buttons="(.*?)"/), 'p3', 'and so do buttons');
	ok($dom =~ m/<mark data-passage="(\d+)" class="twin">.*<mark data-passage="\1" class="twin">/s, 'a click on a passage finds it in the other text');
	# The policy is a second wall: a script that had come into the page would not run.
	ok(open_page($page, '', $take) =~ m/data-taken="1"/, 'a script that is added runs without the policy');
	ok(open_page($page, '', $take, 1) !~ m/data-taken="1"/, 'and not with it');
}

$node->stop;
done_testing();
