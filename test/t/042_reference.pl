# The reference describes what the installed extension has, all of it and nothing else.
#
# Signatures are lines with an arrow in ```text blocks, as \df shows them:
#   name(argument type DEFAULT value, ...) → type        a function; TABLE (...) if it returns a set,
#                                                        (...) one row, and … for columns in a table below
#                                                        A last argument … stands for those of the form above it,
#                                                        minhash|simhash for one of both, the same in all places
#   type operator type → type                            an operator
# Casts are in tables "| from | to | when |".  README.md there has the types, the operator
# classes, and the rule for functions that only PostgreSQL calls.
#
# errors.md quotes what PostgreSQL prints of calls that fit no function or operator, and says what to write instead.
use strict;
use warnings;
use utf8;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

chdir $ENV{TESTDIR};

my $FOLDER = 'doc/reference';
my $node = Node->new('reference');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup_study CASCADE');

# The rows of a query, without their line ends; the library is loaded, so its settings are there.
sub rows
{
	my $printed = $node->safe_psql('postgres', "LOAD 'neardup';\nSET client_encoding = 'UTF8';\n" . shift);

	utf8::decode($printed);
	return split /\n/, $printed;
}

# The objects of the extension in a catalog: a condition on its oid column.
sub ours
{
	my ($catalog, $oid) = @_;

	return "$oid IN (SELECT objid FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid
		WHERE extname LIKE 'neardup%' AND deptype = 'e' AND classid = '$catalog'::regclass)";
}

# ---- What the pages say ----

my %page = map { /(\w[\w-]*)\.md$/ ? ($1 => read_text($_)) : () } glob("$FOLDER/*.md");
my $mistakes = section('errors', 'If PostgreSQL knows no such function or operator');
delete $page{errors};

sub read_text
{
	open my $file, '<:encoding(UTF-8)', shift or die $!;
	local $/;
	return <$file>;
}

# A part of a page: from a heading to the next one of the same level or above.
sub section
{
	my ($name, $heading) = @_;
	my ($level, $rest) = $page{$name} =~ /^(#+) \Q$heading\E\n(.*)/ms or die "no \"$heading\" in $name.md";
	my $depth = length $level;

	$rest =~ s/^#{1,$depth} .*//ms;
	return $rest;
}

sub spans
{
	return map { s/\\\|/|/gr } shift =~ /`([^`\n]+)`/g;
}

# The cells of the rows of all tables, without heads and rules; or only of tables with a head.
sub table_rows
{
	my ($text, $head) = @_;
	my (@rows, $inside);

	foreach (split /\n/, $text)
	{
		if (!/^\|/) { undef $inside }
		elsif (!defined $inside) { $inside = !defined $head || /^\Q$head\E/ ? 1 : 0 }
		elsif ($inside && !/^\|-/) { push @rows, [ map { s/^\s+|\s+$//gr } (split /(?<!\\)\|/)[ 1 .. 4 ] ] }
	}
	return @rows;
}

# Arguments, and behind them those of another signature that are not among them.
sub with_arguments
{
	my ($arguments, $other) = @_;
	my %there = map { $_ => 1 } split /, /, $arguments;

	return join ', ', $arguments, grep { !$there{$_} } split /, /, $other =~ s/^\w+\((.*)\) → .*/$1/r;
}

# The signatures that one with alternatives stands for.
sub forms_of
{
	my ($signature) = @_;
	my ($types) = $signature =~ /\b(\w+(?:\|\w+)+)/;

	return $signature if !defined $types;
	return map { forms_of($signature =~ s/\Q$types\E/$_/gr) } split /\|/, $types;
}

# All signatures, each in one line.
sub signatures
{
	my @found;

	foreach my $block (map { /^```text\n(.*?)^```/msg } values %page)
	{
		$block =~ s/\n(?=[ )])/ /g;
		foreach (split /\n/, $block)
		{
			s/\s+/ /g;
			s/\( /(/g;
			s/ \)/)/g;
			s/^(\w+)\((.*), …\)/$1(@{[ with_arguments($2, $found[-1]) ]})/;
			push @found, grep { / → / && /^\w+(\(|(\[\])? \S+ \w)/ } forms_of($_);
		}
	}
	return @found;
}

# ---- Comparing ----

# Is a list empty?  Prints what it has.
sub none
{
	my ($list, $what) = @_;

	is(join("\n", map { utf8::encode(my $line = $_); $line } sort @$list), '', $what);
}

# Are both lists the same?
sub same
{
	my ($documented, $there, $what) = @_;
	my (%documented, %there);

	$documented{$_}++ foreach @$documented;
	$there{$_}++ foreach @$there;
	none([ grep { !$documented{$_} } keys %there ], "$what: all are documented");
	none([ grep { !$there{$_} } keys %documented ], "$what: none is documented that is not there");
	none([ grep { $documented{$_} > 1 } keys %documented ], "$what: each is documented once");
}

# ---- Types ----

my @types = rows("SELECT oid::regtype FROM pg_type WHERE typelem = 0 AND typtype <> 'c' AND " . ours('pg_type', 'oid'));
my %full_name = map { split /\|/ } rows("SELECT n, n::regtype FROM unnest('{int,bigint,float8,text,regclass,timestamptz,boolean}'::text[]) AS n");

same([ map { s/\(.*//r } map { spans($_->[0]) } table_rows(section('README', 'Types')) ], \@types, 'types');

# ---- Functions ----

# The rule of README.md: names, and names of types with endings.
my ($rule) = $page{README} =~ /^(Only PostgreSQL calls.*?)\n\n/ms;
my @only_postgresql = grep { /^\w+$/ } spans($rule);
my @endings = grep { /^_/ } @only_postgresql;
my %internal = map { $_ => 1 } grep { !/^_/ } @only_postgresql;
foreach my $type (@types) { $internal{"$type$_"} = 1 foreach @endings }

my $FUNCTIONS = "
WITH f AS (
	SELECT * FROM pg_proc WHERE " . ours('pg_proc', 'oid') . "
), a AS (
	SELECT f.oid, place, coalesce(proargmodes[place], 'i') AS mode,
		concat_ws(' ', nullif(proargnames[place], ''), type::regtype,
			'DEFAULT ' || regexp_replace(pg_get_function_arg_default(f.oid, place::int), '::[a-z ]+(\\[\\])?\$', '')) AS argument
	FROM f, unnest(coalesce(proallargtypes, proargtypes::oid[])) WITH ORDINALITY AS u (type, place)
)
SELECT format('%s(%s) → %s', proname,
	(SELECT string_agg(argument, ', ' ORDER BY place) FROM a WHERE a.oid = f.oid AND mode = 'i'),
	coalesce(CASE WHEN proretset THEN 'TABLE ' ELSE '' END ||
		(SELECT '(' || string_agg(split_part(argument, ' DEFAULT ', 1), ', ' ORDER BY place) || ')' FROM a WHERE a.oid = f.oid AND mode IN ('o', 't', 'b') HAVING count(*) > 0),
		pg_get_function_result(oid), 'void'))
FROM f";
my @functions = rows($FUNCTIONS);
my @signatures = signatures();
my (%columns_below, @documented);

foreach my $signature (grep { /^\w+\(/ } @signatures)
{
	# Columns in a table below: compared there.
	if ($signature =~ /^(.*) → (TABLE )?\(…\)$/)
	{
		my ($there) = grep { index($_, "$1 → ") == 0 } @functions;

		$columns_below{ $signature =~ s/\(.*//r } = $there if $there;
		push @documented, $there // $signature;
	}
	else { push @documented, $signature }
}
same(\@documented, [ grep { !$internal{ s/\(.*//r } } @functions ], 'functions');

my %names = map { (s/\(.*//r) => 1 } @functions;
none([ grep { my $part = $_; !grep { $internal{$_} && ($part =~ /^_/ ? /$part$/ : $_ eq $part) } keys %names } @only_postgresql ],
	'functions: each part of the rule is for some function');

my %implements = map { $_ => 1 }
	rows('SELECT proname FROM pg_proc WHERE oid IN (SELECT oprcode FROM pg_operator UNION SELECT castfunc FROM pg_cast)');
my %in_readme = map { $_ => 1 } map { /(\w+)/g } spans(section('README', 'Functions'));
none([ grep { !$internal{$_} && !$implements{$_} && !$in_readme{$_} } keys %names ], 'functions: README.md lists all');

# Whatever looks like the call of a function is one, but for functions of C and of Python.
my %callable = map { $_ => 1 } rows('SELECT proname FROM pg_proc UNION SELECT typname FROM pg_type'), qw(char bit coalesce greatest least unnest);
my %unknown;
foreach my $name (grep { !/^(library|python)$/ } sort keys %page)
{
	$unknown{"$name.md: $_"} = 1 foreach grep { !$callable{$_} } map { s/'[^']*'//gr =~ /\b([a-z]\w+)\(/g } spans($page{$name});
	$unknown{"$name.md: heading $_"} = 1
		foreach grep { !$callable{$_} } map { split /, /, s/ (of|by|and|with|without) .*//r } $page{$name} =~ /^##+ ([a-z]\w+.*)$/gm;
}
none([ keys %unknown ], 'functions: those that pages name exist');

# ---- Columns ----

# Columns of a table in a section: "name type".
sub documented_columns
{
	return map { my ($name, $type) = split / /, $_, 2; "$name " . ($full_name{$type} // $type) } grep { / / } map { spans($_->[0]) } table_rows(shift);
}

sub section_of
{
	my ($name) = @_;
	my ($page) = grep { $page{$_} =~ /^#+ .*\b$name\b/m } sort keys %page;
	my ($heading) = $page{$page} =~ /^#+ (.*\b$name\b.*)$/m;

	return section($page, $heading);
}

foreach my $name (sort keys %columns_below)
{
	my ($columns) = $columns_below{$name} =~ /\((?!.*→)(.*)\)$/;

	same([ documented_columns(section_of($name)) ], [ split /, /, $columns ], "columns of $name");
}
my @views = rows('SELECT relname FROM pg_class WHERE ' . ours('pg_class', 'oid'));
foreach my $view (@views)
{
	my @columns = rows("SELECT attname || ' ' || atttypid::regtype FROM pg_attribute WHERE attrelid = '$view'::regclass AND attnum > 0");

	same([ documented_columns(section_of($view)) ], \@columns, "columns of view $view");
}
same([ map { /view `(\w+)`/ } split /\n/, $page{README} ], \@views, 'views');

# ---- Operators, casts, operator classes ----

my @operators = rows('SELECT oprleft::regtype, oprname, oprright::regtype, oprresult::regtype FROM pg_operator WHERE ' . ours('pg_operator', 'oid'));
my $COMPARISON = qr/^(=|<>|<|<=|>|>=)$/;
my (@others, @comparisons);

foreach (@operators)
{
	# The operator may contain the separator.
	my ($left, $operator, $right, $result) = /^(.+?)\|(.+)\|(.+)\|(.+)$/;

	if ($operator =~ $COMPARISON && $left eq $right) { push @comparisons, "$left $operator" }
	else { push @others, "$left $operator $right → $result" }
}
same([ grep { !/^\w+\(/ } @signatures ], \@others, 'operators');

my @compared = map {
	my ($operators, $types) = @$_;
	map { my $operator = $_; map { "$_ $operator" } spans($types) } spans($operators)
} grep { $_->[1] =~ /^(?:equality|order)/ } table_rows(section('README', 'Operators'));
same(\@compared, \@comparisons, 'operators that compare');

sub plain_type
{
	return shift =~ s/`|\([^)]*\)//gr;
}

my %WHEN = (a => 'on assignment', i => 'implicitly', e => 'explicitly');
same(
	[ map { my ($from, $to, $when) = (plain_type($_->[0]), plain_type($_->[1]), $_->[2]); $when =~ s/, and back$// ? ("$from to $to $when", "$to to $from $when") : "$from to $to $when" } map { table_rows($_, '| from | to | when |') } values %page ],
	[ map { my ($from, $to, $when) = split /\|/; "$from to $to $WHEN{$when}" }
		rows('SELECT castsource::regtype, casttarget::regtype, castcontext FROM pg_cast WHERE ' . ours('pg_cast', 'oid')) ],
	'casts');

same(
	[ map { my ($method) = spans($_->[1]); map { "$method $_" } spans($_->[0]) } table_rows($page{README}, '| operator classes | access method |') ],
	[ rows("SELECT amname || ' ' || opcname FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE " . ours('pg_opclass', 'c.oid')) ],
	'operator classes');

my @not_default = rows('SELECT opcname FROM pg_opclass WHERE NOT opcdefault AND ' . ours('pg_opclass', 'oid'));
like($page{README}, qr/Each is the default of its type, except `@not_default`\./, 'operator classes: which are no default');

# ---- Settings, the storage parameter, arguments of guards ----

same(
	[ map { join ' ', map { s/`|,//gr } @$_[ 0 .. 2 ] } table_rows(section('index', 'Settings')) ],
	[ rows("SELECT concat_ws(' ', name, current_setting(name),
			coalesce(array_to_string(enumvals, ' '), min_val || ' to ' || max_val || ' ' || unit, '')) FROM pg_settings WHERE name LIKE 'neardup.%'") ],
	'settings');

foreach (table_rows(section('index', 'Storage parameter')))
{
	my ($parameter, $default, $least, $most) = ($_->[0] =~ /(\w+)/, $_->[1], $_->[2] =~ /(\d+) to (\d+)/);
	my $create = "CREATE TABLE t (sig minhash); CREATE INDEX ON t USING neardup (sig) WITH ($parameter = %d)";
	my $refused = sprintf $create, $most + 1;

	$node->safe_psql('postgres', sprintf("BEGIN; $create; ROLLBACK", $_)) foreach $default, $least, $most;
	my (undef, undef, $error) = $node->psql('postgres', $refused);
	like($error, qr/Valid values are between "$least" and "$most"/, "storage parameter $parameter: its range");
}

my $guard = section('guard', 'neardup_guard');
my ($signature) = map { /^neardup_guard\((.*)\) →/ } @functions;
same([ map { spans($_->[0]) } table_rows($guard, '| argument |') ], [ map { /^(\w+)/ } split /, /, $signature ], 'arguments of neardup_guard()');
$node->safe_psql('postgres', 'CREATE TABLE guarded (sig minhash)');
foreach my $argument (qw(action measure))
{
	my (undef, undef, $hint) = $node->psql('postgres', "SELECT neardup_guard('guarded', 'sig', 0.9, $argument => 'none such')");
	my @values = $hint =~ /HINT:.*?('.*')/ ? $1 =~ /('\w+')/g : ();

	cmp_ok(scalar @values, '>=', 4, "the hint has the values of $argument");
	none([ grep { index($guard, "`$_`") < 0 } @values ], "values of $argument");
}

my (undef, undef, $unknown_scheme) = $node->psql('postgres', "SELECT to_shingles('', 'none such')");
my @schemes = $unknown_scheme =~ /DETAIL:/ ? $unknown_scheme =~ /"(\w+ [A-Z](?: [A-Z])?)"/g : ();
cmp_ok(scalar @schemes, '>=', 5, 'the message has the schemes');
foreach my $page ($page{shingles}, read_text('doc/explanation/recipe.md'))
{
	none([ grep { $page !~ /^\| `\Q$_\E[` ]/m } @schemes ], 'its page has them');
}

# ---- Mistakes that PostgreSQL answers ----

# What people write, and what errors.md tells them to write.
my $WRONG = <<'END';
SELECT show_tokens('a');
SELECT is_similar(body, 'a text', 0.8) FROM docs;
SELECT is_similar(title, body, 0.8) FROM docs;
SELECT is_similar(sig, body, 0.8) FROM docs;
SELECT is_similar(sig, 'a text', 0.8) FROM docs;
SELECT is_similar(sig, sig) FROM docs;
SELECT is_similar(s, body, 0.8) FROM docs;
SELECT is_contained(body, 'a passage', 0.8) FROM docs;
SELECT is_contained(sig, sig, 0.8) FROM docs;
SELECT similarity(body, 'a text') FROM docs;
SELECT similarity(title, body) FROM docs;
SELECT similarity(sig, body) FROM docs;
SELECT sig <-> body FROM docs;
SELECT title <-> body FROM docs;
SELECT body <-> 'a text' FROM docs;
SELECT sig % sig FROM docs;
SELECT sig <=> sig FROM docs;
SELECT sig = body FROM docs;
SELECT similarity(sig, small) FROM docs;
SELECT text_similarity(title, body, 0.8) FROM docs;
SELECT text_similarity(sig, sig) FROM docs;
SELECT shared_passages(sig, sig) FROM docs;
SELECT shared_passages('a b c');
SELECT to_minhash(words) FROM docs;
SELECT to_minhash(document) FROM docs;
SELECT to_minhash(bytes) FROM docs;
SELECT to_minhash(title, body, 'word 3') FROM docs;
SELECT to_minhash('a text', scheme => 3);
SELECT to_shingles(body, 3) FROM docs;
SELECT to_simhash(phash) FROM docs;
SELECT hamming_distance(phash, 5) FROM docs;
SELECT phash <~> 5 FROM docs;
SELECT pdq <~> pdq FROM docs;
SELECT is_similar(phash, 5, 0.8) FROM docs;
SELECT near(phash, 0.8) FROM docs;
SELECT is_within(sig, sig, 0.1) FROM docs;
SELECT near(body, 0.9) FROM docs;
SELECT body <@ near(sig, 0.9) FROM docs;
SELECT sig && sig FROM docs;
SELECT * FROM neardup_pairs('docs', 'sig', 0.8);
SELECT neardup_pairs('SELECT id, sig FROM docs');
SELECT neardup_pairs('SELECT id, sig FROM docs', 0.8, NULL);
SELECT neardup_clusters('SELECT id, sig FROM docs', 0.8, 'components');
SELECT * FROM neardup_pairs((SELECT id, sig FROM docs), 0.8);
CALL neardup_report('docs');
SELECT neardup_guard('docs', 0.8);
CALL neardup_guard('docs', 'sig', 0.9);
SELECT neardup_sign_table('docs');
SELECT neardup_explain('docs_sig_idx', sig, 0.8) FROM docs;
CREATE INDEX ON docs USING gin (sig);
SELECT s::minhash FROM docs;
ALTER TABLE docs ADD COLUMN both_of minhash GENERATED ALWAYS AS (to_minhash(concat_ws(' ', title, body))) STORED;
END
my $RIGHT = <<'END';
SELECT is_similar(to_minhash(body), to_minhash('a text'), 0.8), text_similarity(body, 'a text') >= 0.8 FROM docs;
SELECT is_similar(sig, to_minhash(body), 0.8), is_similar(sig, q, 0.8), is_similar(s, to_shingles(body), 0.8) FROM docs;
SELECT is_contained(to_shingles('a passage'), to_shingles(body), 0.8) FROM docs;
SELECT similarity(sig, to_minhash(body)), sig <-> to_minhash(body), sig <-> q, sig = to_minhash(body) FROM docs;
SELECT 1 - text_similarity(a, b), text_similarity(a, b) >= 0.8 FROM (VALUES ('a text', 'a text')) AS v (a, b);
SELECT shared_passages(a.body, b.body) FROM docs a, docs b;
SELECT to_minhash(to_shingles(words)), to_minhash(document ->> 'body'), to_minhash(convert_from(bytes, 'UTF8')) FROM docs;
SELECT to_minhash(title || ' ' || body, 'word 3'), to_minhash(body, 'word 3') FROM docs;
SELECT phash <~> 5::bigint::simhash, is_within(phash, 5, 12), hamming_ball(phash, 12), is_within(sig, q, 51) FROM docs;
SELECT pdq <~> q::minhash FROM (SELECT pdq, pdq AS q FROM docs) AS hashes;
SELECT sig <@ near(to_minhash(body), 0.9) FROM docs;
CREATE TABLE refuses (sig minhash, EXCLUDE USING neardup (near(sig, 0.9) WITH &&));
SELECT * FROM neardup_pairs('SELECT id, sig FROM docs', 0.8);
SELECT pairs.* FROM (SELECT 'SELECT md5(body)::uuid, sig FROM docs' AS query) AS v, neardup_pairs(query, 0.8, NULL::uuid) AS pairs;
SELECT * FROM neardup_clusters('SELECT id, sig FROM docs', 0.8, method => 'components');
SELECT * FROM neardup_report('docs');
SELECT neardup_guard('docs', 'sig', 0.9);
CALL neardup_sign_table('docs');
CREATE INDEX ON docs USING neardup (sig);
SELECT neardup_explain('docs_sig_idx', near(q, 0.8)) FROM docs;
SELECT to_minhash(set) FROM docs;
ALTER TABLE docs ADD COLUMN both_of minhash GENERATED ALWAYS AS (to_minhash(coalesce(title, '') || ' ' || body)) STORED;
END

# Runs statements in a database of their own; returns the errors, with their SQLSTATEs.
sub errors_of
{
	my ($extension, $statements) = @_;

	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS mistakes');
	$node->safe_psql('postgres', 'CREATE DATABASE mistakes');
	my (undef, undef, $printed) = $node->psql('mistakes', "CREATE EXTENSION $extension CASCADE;
		CREATE TABLE docs (id int PRIMARY KEY, title text, body text NOT NULL, words text[], document jsonb, bytes bytea, sig minhash, q minhash, small simhash,
			s shingles, set shingles, phash bigint, pdq bit(256));
		INSERT INTO docs SELECT 1, t, t, '{a,text}', '{\"body\": \"a text\"}', t::bytea, to_minhash(t), to_minhash(t), to_simhash(t), to_shingles(t), to_shingles(t), 5, 5::bit(256)
		FROM (SELECT 'a text'::text) AS v (t);
		\\set VERBOSITY verbose
		$statements", on_error_stop => 0);
	return $printed =~ /ERROR:  (\w{5}: .*)/g;
}

# "SQLSTATE message" of each that the section quotes, in its first paragraph and in the table, and what it says to write.
my @quoted = map { "42883: $_" } grep { /does not exist$/ } spans($mistakes =~ s/^\|.*//msr);
my @to_write;
foreach (table_rows($mistakes, '| message | write |'))
{
	my ($messages, $write) = @$_;

	push @quoted, map { /^`(.*)`(?: \(`(\w{5})`\))?$/ or die "no message: $_"; ($2 // '42883') . ": $1" } split /<br>/, $messages;
	push @to_write, grep { /\W/ } spans($write);
}

my @printed = errors_of('neardup', $WRONG);
foreach my $quoted (grep { /…/ } @quoted)
{
	my $pattern = join '.*', map { quotemeta } split /…/, $quoted;

	s/^$pattern$/$quoted/ foreach @printed;
}
is(scalar @printed, scalar(() = $WRONG =~ /;$/mg), 'mistakes: each raises an error');
same(\@quoted, \@printed, 'messages of mistakes');
none([ errors_of('neardup_study', $RIGHT) ], 'mistakes: what errors.md says to write works');
none([ grep { index($RIGHT, $_) < 0 } @to_write ], 'mistakes: all that errors.md says to write is tried');

$node->stop;
done_testing();
