# sql.pl: calls all functions, operators and casts of the extension with hostile arguments.
#
#   perl sql.pl SECONDS SEED DIRECTORY
#
# SECONDS may be a number of statements, such as 500n.  The PG* variables name the server
# and a superuser; the server must be able to read DIRECTORY, for COPY.  Functions,
# operators and casts are taken from the catalog.
#
# Errors are expected.  Findings are a server that crashes, an internal error (XX...) on
# undamaged values, or an answer that comes seconds after statement_timeout.  Each finding
# is printed with its statement; the last line has the counts.

use strict;
use warnings;
use Fcntl;
use IPC::Open2;
use List::Util qw(max shuffle);
use Time::HiRes qw(time);

my ($limit, $seed, $directory) = @ARGV;
my $timeout_ms = 1000;
my $patience = 15;    # seconds beyond it, on a machine that has other things to do
srand($seed);
$| = 1;

sub one_of { return $_[ int rand @_ ] }
sub chance { return rand() < $_[0] }

# ---- A session ---------------------------------------------------------------

my ($out, $in, $psql, $backend, @recent);
my %count = map { $_ => 0 } qw(statements errors crashes internal slow);
my (%states, %found, %worked);

# Runs a statement.  Returns its output, or undef if the server has crashed.
sub run_statement
{
	my ($sql, $wait) = @_;
	my $end = 'end of statement ' . int rand 1e9;
	my $text = '';
	my $start = time;

	local $SIG{PIPE} = 'IGNORE';
	print $in "$sql\n;\n\\echo $end\n" or return;
	while (index($text, "$end\n") < 0)
	{
		my $ready = '';

		vec($ready, fileno($out), 1) = 1;
		if (!select($ready, undef, undef, $wait - (time - $start)))
		{
			return "no answer\n";
		}
		sysread($out, $text, 65536, length $text) or return;
		# Rows are ignored; errors are short and come last.
		$text = substr($text, -20000) if length $text > 100000;
	}
	return if $text =~ /server closed the connection|connection to server was lost/;
	$text =~ s/\Q$end\E\n//;
	return $text;
}

sub connect_session
{
	for (1 .. 240)
	{
		my $pid = open2($out, $in, 'psql -X -q -A -t -v VERBOSITY=verbose -v ON_ERROR_STOP=0 2>&1');
		my $answer;

		$in->autoflush(1);
		$answer = run_statement('SELECT pg_backend_pid()', 60);
		if (defined $answer && $answer =~ /^(\d+)$/m)
		{
			($psql, $backend) = ($pid, $1);
			run_statement("SET statement_timeout = $timeout_ms; SET client_min_messages = error;"
				  . " SET lock_timeout = 300; SET search_path = public, fuzz; SET max_parallel_workers = 1", 60);
			return;
		}
		waitpid $pid, 0;
		select(undef, undef, undef, 0.5);
	}
	die "the server does not come back\n";
}

sub report
{
	my ($kind, $sql, $what) = @_;
	my $key = $what;

	$count{$kind}++;
	$key =~ s/\d+/N/g;
	return if $found{"$kind $key"}++ > 0;
	$sql = substr($sql, 0, 3000) . ' ...' if length $sql > 3000;
	print "FINDING $kind: $what\n  statement: $sql\n";
	print "  before: $_\n" for $kind eq 'crashes' ? map { substr $_, 0, 400 } @recent : ();
}

# Stops a session that does not answer.
sub end_session
{
	kill 'INT', $psql;
	system("psql -X -q -A -t -c 'SELECT pg_terminate_backend($backend)' >/dev/null 2>&1");
	close $in;
	close $out;
	waitpid $psql, 0;
}

sub try_statement
{
	my ($sql, $damaged) = @_;
	my $start = time;
	my $answer = run_statement($sql, $timeout_ms / 1000 + $patience + 60);
	my $took = time - $start;

	$count{statements}++;
	if (!defined $answer)
	{
		report('crashes', $sql, 'the server went away');
		close $in;
		close $out;
		waitpid $psql, 0;
		connect_session();
	}
	elsif ($took > $timeout_ms / 1000 + $patience)
	{
		report('slow', $sql, sprintf('an answer after %.0f s', $took));
		if ($answer eq "no answer\n")
		{
			end_session();
			connect_session();
		}
	}
	elsif ($answer =~ /^ERROR:  (\w{5}): (.*)/m)
	{
		my ($state, $message) = ($1, $2);
		my $location = $answer =~ /^LOCATION:  (.*)/m ? $1 : '';

		$count{errors}++;
		$states{$state}++;
		# The last is PostgreSQL's message for an OID that does not exist.
		report('internal', $sql, "$state: $message ($location)")
		  if ($state eq 'XX000' || (!$damaged && $state =~ /^XX/)) && $location !~ /^relation_open, /;
	}
	elsif ($sql =~ /^SELECT (?:count\(\*\)(?:, sum\(.*?\)\))? FROM )?([\w.]+)\(/)
	{
		$worked{$1}++;
	}
	push @recent, $sql;
	shift @recent if @recent > 6;
	return $answer;
}

sub rows
{
	return map { [ split /\|/, $_, -1 ] } split /\n/, run_statement($_[0], 600);
}

# ---- Values ------------------------------------------------------------------

my @texts = (
	"''", "' '", "'a'", "repeat('word ', 1000)", "repeat(E'\\u00e9', 5000)", "repeat('x', 1000000)",
	"repeat('the quick brown fox ', 30000)", "E'\\u0301\\u0301\\u0301'", "'word 3'", "'NaN'",
	"E'\\U0001F600\\u200D\\U0001F600'", "'<p>&eacute;&#x110000;<script>'", "repeat('<', 100000)",
	"'the of and to'", "repeat('the a of said ', 2000)", "string_agg", "chr(1114111)", "'%s%n'",
	"E'\\\\\\\\'", "repeat(chr(768), 100000)", "'{1,2}'", "'the(1,2)'");
my @schemes = ("'word 3'", "'char 5'", "'stopword 3'", "'spot 1 2'", "'spot 15 15 de'", "'word 255'", "'word 256'",
	"'word 0'", "'tokens'", "'hashes'", "'foreign'", "'spot 1 2 lists'", "''", "'WORD   1'", "'spot'", "NULL", "'char 1'");
my @ints = (0, 1, -1, 2, 3, 15, 16, 17, 64, 65, 128, 512, 513, 1024, 16384, 16385, 65536, 2147483647, -2147483648, 255, 32);
my @bigints = (@ints, '9223372036854775807', "'-9223372036854775808'", '4294967296', '4294967295');
my @floats = ("'NaN'", "'Infinity'", "'-Infinity'", 0, "'-0'", 1, 0.5, 0.8, 0.9, '4.9e-324', '1.0000000000000002',
	'0.99999999999999989', -1, '1e308', '1e-308', 2, 0.1);
my @names = qw(docs docs_sig docs_sim docs_ball docs_bit docs_empty pg_class nothing docs_pkey part seq view_of_docs);

sub array_of
{
	my ($element, $type) = @_;
	my $n = one_of(0, 1, 1, 2, 3, 17, 64);

	return one_of(
		"ARRAY[" . join(',', map { $element->() } 1 .. $n) . "]::$type",
		"ARRAY[" . join(',', map { $element->() } 1 .. $n) . "]::$type",
		"'{}'::$type",
		"'{NULL}'::$type",
		"ARRAY[[" . $element->() . "," . $element->() . "],[" . $element->() . "," . $element->() . "]]::$type",
		"('[5:5]={' || 7 || '}')::$type",
		"array_fill(" . $element->() . "::" . substr($type, 0, -2) . ", ARRAY[" . one_of(1, 64, 20000) . "])",
		"array_fill(" . $element->() . "::" . substr($type, 0, -2) . ", ARRAY[3, 4])",
		"(SELECT array_agg(i::" . substr($type, 0, -2) . ") FROM generate_series(1, " . one_of(10, 1000, 50000) . ") i)");
}

# Large values are rare, as they take long.
sub a_text
{
	my $t = one_of(@texts);

	$t = one_of(@texts) if $t =~ /0000/ && chance(0.8);
	return $t eq 'string_agg' ? "(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, " . one_of(3, 50, 3000) . ") i)" : $t;
}

sub a_scheme { return one_of(@schemes) }
sub an_int { return chance(0.8) ? '(' . one_of(@ints) . ')' : '(' . int(rand(70)) . ')' }
sub a_bigint { return '(' . one_of(@bigints, int(rand 100)) . ')::bigint' }
sub a_float { return one_of(@floats, sprintf('%.4f', rand)) . '::float8' }

# Text forms of the types, valid or with a change.
sub spoilt
{
	my ($text) = @_;

	return "'$text'" if chance(0.5);
	for (1 .. 1 + int rand 3)
	{
		my $at = int rand(length($text) + 1);
		substr($text, $at, int rand 3) = one_of('', '/', '0', '9', 'x', '-', ':', '{', ',', '4294967296', ' ', 'f', '?');
	}
	return "'$text'";
}

sub signature_text
{
	my ($k, $b) = (one_of(16, 17, 64, 512), one_of(1, 2, 8, 32));
	return "1/word 3/${k}x$b/" . one_of('?', 0, 5) . '/' . one_of('', join '', map { sprintf '%02x', rand 256 } 1 .. ($k * $b + 7) / 8);
}

sub simhash_text
{
	my $f = one_of(64, 128, 256, 512);
	return "1/" . one_of('word 3', 'foreign', 'spot 1 2') . "/$f/" . one_of('', join '', map { sprintf '%02x', rand 256 } 1 .. $f / 8);
}

sub shingles_text
{
	my @element = sort { $a <=> $b } map { int(rand 200) - 100 } 1 .. int rand 8;
	return one_of(1, 1, 1, 2, 255) . "/" . one_of('word 3', 'hashes', 'word 1 lexicon 3f2a', 'weighted') . "/{" . join(',', map { $_ . one_of('', '', ':2', ':4294967295') } @element) . "}";
}

# Returns an expression, usually of the type; $depth limits nested calls.
my ($by_result, $any_call);
my %make;
my @stored = qw(minhash simhash shingles shingle_lexicon ball);    # types with tables of values

sub a_value
{
	my ($type, $depth) = @_;

	return 'NULL' if chance(0.04);
	return "NULL::$type" if chance(0.02) && $type !~ /internal|cstring|any|trigger/;
	return a_call($by_result->{$type}, $depth - 1) if $depth > 0 && $by_result->{$type} && chance(0.5);
	return "(SELECT v FROM fuzz.values_of_$type OFFSET floor(random() * 20) LIMIT 1)"
	  if grep({ $_ eq $type } @stored) && chance(0.3);
	return $make{$type}->() if $make{$type};
	return one_of('NULL', a_text(), an_int());
}

%make = (
	text => \&a_text,
	cstring => sub { spoilt(one_of(signature_text(), simhash_text(), shingles_text(), '0.9 around minhash ' . signature_text())) },
	integer => \&an_int,
	smallint => sub { '(' . int(rand 60000 - 30000) . ')::smallint' },
	oid => sub { one_of(0, 1259, 16384, 4294967295, "'fuzz.docs'::regclass") . '::oid' },
	regclass => sub { one_of("'" . one_of(@names) . "'::regclass", 0, 4294967295, one_of(map { "'fuzz.$_'::regclass" } @names)) },
	bigint => \&a_bigint,
	'double precision' => \&a_float,
	real => sub { a_float() . '::real' },
	boolean => sub { one_of(qw(true false)) },
	bytea => sub { "decode(md5('" . rand . "'), 'hex')" },
	bit => sub { one_of("B'1'", "repeat('10', 32)::bit(64)", "repeat('1', " . one_of(15, 16, 65, 512, 16384, 16385) . ")::bit varying::bit(" . one_of(1, 16, 64, 512, 16384) . ")") },
	'text[]' => sub { array_of(sub { one_of("'the'", "'of'", "'a b'", "''", "'the(1,2)'", "'the(99,2)'", 'NULL', "'the('", "E'\\u0301'") }, 'text[]') },
	'bigint[]' => sub { array_of(sub { one_of(@bigints) }, 'bigint[]') },
	'integer[]' => sub { array_of(sub { one_of(@ints, 1, 2, 3) }, 'integer[]') },
	'double precision[]' => sub { array_of(sub { one_of(@floats) }, 'double precision[]') },
	'cstring[]' => sub { one_of("'{16}'", "'{64,1}'", "'{a}'", "'{}'", "'{1,2,3}'", "'{2147483648}'", "'{NULL}'", "'{{1,2},{3,4}}'") . '::cstring[]' },
	minhash => sub { one_of(spoilt(signature_text()), 'to_minhash(' . a_text() . ', 16, ' . one_of(1, 8, 32) . ')') . '::minhash' },
	simhash => sub { one_of(spoilt(simhash_text()), 'to_simhash(' . a_text() . ')') . '::simhash' },
	shingles => sub { one_of(spoilt(shingles_text()), 'to_shingles(' . a_text() . ')') . '::shingles' },
	shingle_lexicon => sub { spoilt(one_of(1, 1, 1, 2) . '/' . one_of('word 1', 'word 3', 'tokens', 'spot 1 2') . '/' . one_of(0, 10, '9223372036854775807') . '/{' . one_of('', '7:1', '7:1,4294967295:14', '7:15', '8:1,7:1') . '}') . '::shingle_lexicon' },
	ball => sub { spoilt(one_of('0.9', '0', '0.5', '0x1p-1', '3 symbols', '65 symbols', 'nan', '1e400', '-1 symbols') . ' around '
			. one_of('minhash ' . signature_text(), 'simhash ' . simhash_text())) . '::ball' },
	anyelement => sub { one_of('1::bigint', "'x'::text", 'NULL::uuid', '1', "'{1}'::int[]", 'now()', "'" . signature_text() . "'::minhash") },
);

# ---- Queries as arguments ----------------------------------------------------

my @inner = (
	'SELECT id, sig FROM fuzz.docs', 'SELECT id, sim FROM fuzz.docs', 'SELECT id, s FROM fuzz.docs', 'SELECT id, sig, s FROM fuzz.docs',
	'SELECT body FROM fuzz.docs', 'SELECT id, body FROM fuzz.docs', 'SELECT left(body, id::int % 9) FROM fuzz.docs', 'SELECT id, bits FROM fuzz.docs', 'SELECT id, number FROM fuzz.docs', 'SELECT id, NULL::minhash FROM fuzz.docs',
	'SELECT NULL::bigint, sig FROM fuzz.docs', 'SELECT id::text, sig FROM fuzz.docs', 'SELECT id::int, sig FROM fuzz.docs;',
	'SELECT id FROM fuzz.docs', 'SELECT id, sig, s, 1 FROM fuzz.docs', 'SELECT sig, id FROM fuzz.docs', 'SELECT', '', ' ', ';', 'SELECT 1; SELECT 2',
	'DELETE FROM fuzz.docs RETURNING id, sig', 'VALUES (1::bigint, NULL::minhash)', 'TABLE fuzz.docs', 'SELECT id, sig FROM nothing',
	'SELECT id / (id - 5), sig FROM fuzz.docs', 'SELECT id, sig FROM fuzz.docs ORDER BY random()', 'SELECT 1::bigint, sig FROM fuzz.docs',
	"SELECT id, to_minhash(body, 64) FROM fuzz.docs", 'SELECT id, CASE WHEN id % 2 = 0 THEN sig ELSE to_minhash(s, 32) END FROM fuzz.docs',
	'SELECT fuzz.drops(id), sig FROM fuzz.docs', 'SELECT fuzz.nested(id), sig FROM fuzz.docs', 'SELECT fuzz.raises(id), sig FROM fuzz.docs',
	'SELECT id, sig FROM fuzz.docs WHERE pg_sleep(0.02) IS NOT NULL', 'SELECT id, sig FROM fuzz.docs, generate_series(1, 50)',
	'SELECT id, s FROM fuzz.docs, generate_series(1, 20)', 'EXPLAIN SELECT id, sig FROM fuzz.docs', 'SHOW ALL', 'COPY fuzz.docs TO STDOUT', 'SELECT $1, $2',
	'WITH RECURSIVE r(i) AS (SELECT 1::bigint UNION ALL SELECT i + 1 FROM r) SELECT i, to_minhash(i::text) FROM r',
	'SELECT id, sig FROM fuzz.docs -- comment', 'SELECT id, sig FROM fuzz.docs /* comment', "SELECT id, sig FROM fuzz.docs\\",
	'SELECT id, to_shingles(body) FROM fuzz.docs', 'SELECT id, near(sig, 0.9) FROM fuzz.docs', 'SELECT to_shingles(body) FROM fuzz.docs', 'SELECT s FROM fuzz.docs',
	'SELECT s, s FROM fuzz.docs', 'SELECT NULL::shingles', 'SELECT neardup_clusters(\'SELECT id, sig FROM fuzz.docs\', 0.5)', 'BEGIN', 'ROLLBACK', 'LISTEN x',
	'SELECT id, sig FROM fuzz.temporary', 'SELECT id, sig FROM fuzz.view_of_docs', 'SELECT id, sig FROM fuzz.docs FOR UPDATE', 'SELECT a.id, b.sig FROM fuzz.docs a, fuzz.docs b');

sub a_query { my $q = one_of(@inner); $q =~ s/'/''/g; return chance(0.03) ? 'NULL' : "'$q'" }

# Returns an argument, chosen by its name if possible.
sub an_argument
{
	my ($type, $name, $depth) = @_;

	if ($type eq 'text' && chance(0.95))
	{
		# Columns that can be joined come first.
		return "'$inner[rand 7]'" if $name =~ /^(query|against)$/ && chance(0.4);
		return 'NULL' if $name eq 'against' && chance(0.6);
		return one_of("'first'", "'all'") if $name eq 'equal' && chance(0.7);
		return one_of("'star'", "'components'") if $name eq 'method' && chance(0.7);
		return one_of("'resemblance'", "'containment'") if $name eq 'measure' && chance(0.9);
		return a_query() if $name =~ /^(query|against)$/;
		return a_scheme() if $name eq 'scheme';
		return one_of("'first'", "'first'", "'all'", "'star'", "'components'", "'x'", 'NULL', "''") if $name =~ /^(equal|method|measure)$/;
	}
	return one_of(qw(true false false)) if $name =~ /^(multiset|nearest)$/ && chance(0.8);
	return '1::bigint' if $name eq 'id_type' && chance(0.6);
	return $name eq 'contained' ? 'NULL' : '1' if $name =~ /^(contained|recall)$/ && chance(0.6);
	return sprintf('%.3f', 0.2 + 0.8 * rand) if $type eq 'double precision' && $name =~ /threshold|contained|recall/ && chance(0.7);
	return one_of(16, 64, 512, 128) if $type eq 'integer' && $name =~ /^[kf]$/ && chance(0.6);
	return one_of(1, 2, 8, 32) if $type eq 'integer' && $name eq 'b' && chance(0.7);
	return "'fuzz." . one_of(@names) . "'" if $type eq 'regclass' && $name =~ /^(index|lexicon)$/ && chance(0.7);
	return a_value($type, $depth);
}

# ---- Objects of the extension ------------------------------------------------

my (@functions, @operators, @casts);

sub read_catalog
{
	my $member = "FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid"
	  . " AND e.extname LIKE 'neardup%' AND d.deptype = 'e'";

	for my $row (rows("SELECT p.oid::regproc, p.prokind, p.proretset, format_type(p.prorettype, NULL), "
			  . "(SELECT coalesce(string_agg(format_type(t, NULL), ';' ORDER BY i), '') FROM unnest(p.proargtypes) WITH ORDINALITY u(t, i)), "
			  . "coalesce(array_to_string(p.proargnames, ';', '-'), ''), p.pronargdefaults "
			  . "$member JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid ORDER BY p.oid"))
	{
		my ($name, $kind, $set, $result, $types, $names, $defaults) = @$row;
		my @types = split /;/, $types;
		my @names = split /;/, $names;

		push @functions, { name => $name, kind => $kind, set => $set eq 't', result => $result, types => \@types,
			names => [ map { defined $names[$_] ? $names[$_] : '' } 0 .. $#types ], defaults => $defaults };
	}
	push @operators, $_ for rows("SELECT o.oprname, format_type(o.oprleft, NULL), format_type(o.oprright, NULL) "
		  . "$member JOIN pg_operator o ON d.classid = 'pg_operator'::regclass AND d.objid = o.oid ORDER BY o.oid");
	push @casts, $_ for rows("SELECT format_type(c.castsource, NULL), format_type(c.casttarget, NULL) "
		  . "$member JOIN pg_cast c ON d.classid = 'pg_cast'::regclass AND d.objid = c.oid ORDER BY c.oid");
	for my $f (@functions)
	{
		push @{ $by_result->{ $f->{result} } }, $f
		  if $f->{kind} eq 'f' && !$f->{set} && !grep { /internal|cstring|trigger|any/ } $f->{result}, @{ $f->{types} };
	}
}

sub a_call
{
	my ($among, $depth) = @_;
	my $f = one_of(@$among);
	my $arguments = @{ $f->{types} };

	$arguments -= int rand($f->{defaults} + 1) if chance(0.4);
	return "$f->{name}(" . join(', ', map { an_argument($f->{types}[$_], $f->{names}[$_], $depth) } 0 .. $arguments - 1) . ')';
}

# ---- Statements --------------------------------------------------------------

sub call_statement
{
	my $f = one_of(@functions);
	my $call = a_call([$f], 2);

	return "SELECT count(*) FROM $call AS t" if $f->{set} || chance(0.2);
	return "SELECT $call FROM fuzz.docs" if $f->{kind} eq 'a' || chance(0.2);
	return "SELECT $call";
}

sub batch_statement
{
	my @batch = grep { $_->{name} =~ /neardup_(pairs|clusters|advise)|neardup_common_shingles|neardup_frequencies|idf|lexicon/ } @functions;

	return "SELECT count(*), sum(length(t::text)) FROM " . a_call(\@batch, 1) . " AS t";
}

sub operator_statement
{
	my ($name, $left, $right) = @{ one_of(@operators) };

	return "SELECT " . a_value($left, 2) . " OPERATOR(public.$name) " . a_value($right, 2);
}

sub cast_statement
{
	my ($from, $to) = @{ one_of(@casts) };
	my $typmod = $to =~ /^(minhash|simhash|bit)$/ ? one_of('', '', '(64)', '(16)', '(512,1)', '(16,32)', '(0)', '(-1)', '(65,3)', '(2147483647)', '(1,2,3)') : '';

	return "SELECT CAST(" . a_value($from, 2) . " AS $to$typmod)";
}

# Values that an input function accepted, in binary format, with bits flipped.
sub copy_statement
{
	my $type = one_of(@stored);
	my $file = "$directory/rows";
	my $sql = one_of($make{$type}->(), "(SELECT v FROM fuzz.values_of_$type OFFSET floor(random() * 20) LIMIT 1)");
	my $answer = run_statement("SELECT ${type}_send($sql)", 60);
	my $bytes = defined $answer && $answer =~ /^\\x([0-9a-f]*)$/m ? pack('H*', $1) : join '', map { chr rand 256 } 1 .. int rand 60;

	for (1 .. int rand 4)
	{
		my $at = int rand(length($bytes) + 1);
		substr($bytes, $at, one_of(0, 1, 1, 1)) = chr rand 256 if $at < 24 || chance(0.3);
	}
	$bytes = substr($bytes, 0, int rand length $bytes) if chance(0.1);
	open my $fh, '>:raw', $file or die "$file: $!";
	print $fh "PGCOPY\n\xff\r\n\0", pack('NN', 0, 0), pack('n', 1), pack('N', length $bytes), $bytes, pack('n', 0xFFFF);
	close $fh;
	chmod 0644, $file;
	return "TRUNCATE fuzz.sink_$type; COPY fuzz.sink_$type FROM '$file' (FORMAT binary); SELECT v::text::${type}::text = v::text, "
	  . a_use($type, 'v') . " FROM fuzz.sink_$type";
}

# Returns a call with a value of the type for some of its arguments.
sub a_use
{
	my ($type, $value) = @_;
	my @with = grep { !$_->{set} && $_->{kind} eq 'f' && grep({ $_ eq $type } @{ $_->{types} }) && !grep { /internal/ } @{ $_->{types} } } @functions;
	my $f = one_of(@with);

	return "$f->{name}(" . join(', ', map { $_ eq $type ? $value : a_value($_, 0) } @{ $f->{types} }) . ')';
}

# Random bytes as a stored value may cause any error but an internal one.
sub damaged_statement
{
	my $type = one_of(@stored);
	my $value = "fuzz.taken_for_$type(fuzz.damaged(fuzz.bytes_of_$type((SELECT v FROM fuzz.values_of_$type OFFSET floor(random() * 20) LIMIT 1)), "
	  . one_of(0, 0, 1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 28) . ', ' . int(rand 256) . ", " . one_of(0, 0, 0, 1, -1, 7) . "))";

	return 'SELECT ' . a_use($type, $value);
}

sub index_statement
{
	my $sig = one_of('sig', 'sim', 'near(sig, 0.9) ball_ops', 'bits bit_hamming_ops', 'number bigint_hamming_ops', "(to_minhash(body, 64))", 'id', 's',
		'sig, sim', '(near(sig, 0.9))', "(hamming_ball(sim, 3))", '(fuzz.raises(id))');
	my $with = one_of('', '', '', ' WITH (groups = ' . one_of(0, 1, 16, 4096, 4097, -1, 'x') . ')', ' WITH (x = 1)', ' WHERE id % 2 = 0', ' WHERE sig IS NOT NULL');

	return one_of(
		"CREATE INDEX " . one_of('CONCURRENTLY ', '', '', '') . "fuzzed ON fuzz.docs USING neardup ($sig)$with; DROP INDEX IF EXISTS fuzz.fuzzed",
		"REINDEX INDEX " . one_of('CONCURRENTLY ', '') . "fuzz.docs_sig",
		"BEGIN; ALTER TABLE fuzz.docs ADD EXCLUDE USING neardup (near(sig, " . one_of('1', '0.99', "'NaN'", 0) . ") WITH &&); ROLLBACK",
		"INSERT INTO fuzz.docs (id, body, sig) VALUES (" . a_bigint() . ", NULL, " . a_value('minhash', 1) . ")",
		"INSERT INTO fuzz.docs (id, body, sim) VALUES (" . a_bigint() . ", NULL, " . a_value('simhash', 1) . ")",
		"INSERT INTO fuzz.docs SELECT * FROM fuzz.docs LIMIT 200",
		"UPDATE fuzz.docs SET sig = " . a_value('minhash', 1) . " WHERE id % 7 = " . int(rand 7),
		"DELETE FROM fuzz.docs WHERE id > 1000 OR random() < 0.01",
		"VACUUM fuzz.docs", "ANALYZE fuzz.docs", "VACUUM FULL fuzz.docs",
		"SELECT neardup_check('fuzz." . one_of(@names) . "')",
		"BEGIN; TRUNCATE fuzz.docs; INSERT INTO fuzz.docs (id, sig) SELECT i, to_minhash(i::text) FROM generate_series(1, 700) i; SELECT neardup_check('fuzz.docs_sig'); ROLLBACK");
}

sub search_statement
{
	my $sig = a_value('minhash', 1);
	my $sim = a_value('simhash', 1);

	return one_of('', 'SET LOCAL enable_seqscan = off; ', 'SET LOCAL enable_indexscan = off; SET LOCAL enable_seqscan = off; ') . one_of(
		"SELECT count(*) FROM fuzz.docs WHERE is_similar(sig, $sig, " . a_float() . ")",
		"SELECT count(*) FROM fuzz.docs WHERE sig <@ near(to_minhash(" . a_text() . "), " . sprintf('%.3f', rand) . ")",
		"SELECT id FROM fuzz.docs ORDER BY sig <-> $sig LIMIT " . one_of(0, 1, 5, 10000),
		"SELECT id FROM fuzz.docs ORDER BY sim <~> $sim LIMIT " . one_of(1, 5),
		"SELECT id FROM fuzz.docs WHERE is_within(sig, $sig, " . an_int() . ") ORDER BY sig <~> $sig LIMIT 3",
		"SELECT count(*) FROM fuzz.docs a JOIN fuzz.docs b ON is_similar(a.sig, b.sig, " . a_float() . ")",
		"SELECT count(*) FROM fuzz.docs WHERE is_within(bits, " . a_value('bit', 0) . ", " . an_int() . ")",
		"SELECT count(*) FROM fuzz.docs WHERE sig = ANY (ARRAY[$sig, $sig]) OR sig <@ " . a_value('ball', 1),
		"SELECT neardup_explain('fuzz.docs_sig', " . a_value('ball', 1) . ")",
		"SELECT minhash_union_agg(sig) FROM fuzz.docs", "SELECT sig, count(*) FROM fuzz.docs GROUP BY sig ORDER BY sig LIMIT 3");
}

sub trigger_statement
{
	my %value = (
		signature => [ 'sig', 'sig', 'sim', 'bits', 'number', 's', 'nothing', '', 'to_minhash(body)', '"sig"', 'sig, sim', 'to_minhash(' ],
		threshold => [ '0.8', '0.9', '1', '0', 'NaN', 'x', '1e-300' ],
		action => [ 'reject', 'warn', 'log', 'skip', 'group', 'none', 'x' ],
		within => [ 'id', 'body, id', 's', '', 'id 1 day', 'id,', '"' ],
		condition => [ 'id > 5', 'body IS NULL OR id < 9', 'true', 'NULL', 'x', '1 = 1 --', "body <> \'\'" ],
		against => [ 'fuzz.docs', 'fuzz.docs_empty', 'fuzz.part', 'fuzz.docs_sig', 'pg_class', 'nothing' ],
		measure => [ 'similarity', 'contained', 'contains', 'containment', 'x' ],
		log_table => [ 'fuzz.refused', 'fuzz.nothing', 'pg_class' ],
		group_column => [ 'id', 'body', 'g', 'g' ],
		unless => [ 'id', ',', 'body' ],
		verdicts => [ 'fuzz.refused', ',', 'pg_class', '"a"."b"' ],
		show => [ 'id', 'body, sig', 'nothing', '*' ]);
	my @names = ('signature', 'threshold', map { one_of(sort keys %value) } 1 .. one_of(0, 0, 1, 2, 3));
	my @arguments = map { my $text = "$_=" . one_of(@{$value{$_} // ['y']}); $text =~ s/\'/\'\'/g; "'$text'" } @names, chance(0.05) ? 'x' : ();

	splice @arguments, int rand @arguments, 1 if chance(0.1);
	return "BEGIN; CREATE " . one_of('CONSTRAINT TRIGGER fuzzed AFTER', 'CONSTRAINT TRIGGER fuzzed AFTER', 'TRIGGER fuzzed BEFORE', 'TRIGGER fuzzed AFTER') . ' '
	  . one_of('INSERT', 'INSERT OR UPDATE', 'INSERT OR UPDATE', 'DELETE') . " ON fuzz." . one_of('docs', 'docs', 'docs', 'docs_empty', 'part', 'grouped', 'grouped') . ' '
	  . one_of('', '', 'DEFERRABLE INITIALLY DEFERRED ') . "FOR EACH ROW EXECUTE FUNCTION neardup_guard_row(" . join(', ', @arguments) . "); "
	  . one_of("INSERT INTO fuzz.docs SELECT * FROM fuzz.docs LIMIT 3", "UPDATE fuzz.docs SET sig = sig, sim = sim WHERE id < 4", "DELETE FROM fuzz.docs WHERE id < 3",
		"INSERT INTO fuzz.docs (id, sig) VALUES (1, " . a_value('minhash', 1) . ")", "INSERT INTO fuzz.docs (id, sim) VALUES (1, " . a_value('simhash', 1) . ")",
		"INSERT INTO fuzz.docs (id, bits, number) SELECT id, bits, number FROM fuzz.docs LIMIT 2",
		"INSERT INTO fuzz.grouped SELECT id + 10, g, sig FROM fuzz.grouped", "UPDATE fuzz.grouped SET g = NULL, id = id + 20", "DELETE FROM fuzz.grouped WHERE id < 5")
	  . "; " . one_of('', 'SET CONSTRAINTS ALL IMMEDIATE; ', 'DROP INDEX fuzz.docs_sig; SET CONSTRAINTS ALL IMMEDIATE; ', 'COMMIT; ') . "ROLLBACK; DROP TRIGGER IF EXISTS fuzzed ON fuzz.docs; DROP TRIGGER IF EXISTS fuzzed ON fuzz.grouped";
}

sub setting_statement
{
	return one_of(
		"SET statement_timeout = " . one_of(1, 5, 20, 100), "SET statement_timeout = $timeout_ms", "SET statement_timeout = $timeout_ms",
		"SET work_mem = " . one_of("'64kB'", "'4MB'"), "SET maintenance_work_mem = " . one_of("'1MB'", "'64MB'"), "SET neardup.cache_size = " . one_of(0, 1, 65536),
		"SET neardup.search = " . one_of(qw(auto merge choose probe scan nonsense)), "SET neardup.background = " . one_of(qw(on off)),
		"SET search_path = " . one_of("public, fuzz", "fuzz", "''", "pg_catalog"), "SET enable_seqscan = " . one_of(qw(on off)),
		"SET default_transaction_isolation = " . one_of("'serializable'", "'read committed'"), "SET extra_float_digits = " . one_of(-15, 3),
		"RESET search_path", "DISCARD ALL; SET statement_timeout = $timeout_ms; SET search_path = public, fuzz; SET client_min_messages = error",
		"SET max_parallel_workers_per_gather = " . one_of(0, 2), "SET force_parallel_mode = " . one_of(qw(on off)), "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0");
}

sub cursor_statement
{
	my $query = batch_statement();

	return "BEGIN; DECLARE c " . one_of('', 'SCROLL ') . "CURSOR FOR $query; FETCH 1 FROM c; " . one_of('', 'DROP TABLE IF EXISTS fuzz.temporary; ', 'SAVEPOINT s; SELECT 1 / 0; ROLLBACK TO s; ')
	  . "FETCH " . one_of('ALL', 'PRIOR', 'LAST', '5') . " FROM c; " . one_of('COMMIT', 'ROLLBACK');
}

my @kinds = ((\&call_statement) x 8, (\&operator_statement) x 2, (\&cast_statement) x 2, (\&copy_statement) x 2, (\&damaged_statement) x 2,
	(\&batch_statement) x 3, \&index_statement, (\&search_statement) x 2, \&trigger_statement, \&setting_statement, \&cursor_statement);

# ---- Tables ------------------------------------------------------------------

sub make_ground
{
	my @statements = (
		"SET statement_timeout = 0", "SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS neardup_study CASCADE", "DROP SCHEMA IF EXISTS fuzz CASCADE", "CREATE SCHEMA fuzz",
		"CREATE TABLE fuzz.docs (id bigint, body text, sig minhash, sim simhash, s shingles, bits bit(64), number bigint)",
		"INSERT INTO fuzz.docs SELECT i, t, to_minhash(t), to_simhash(t), to_shingles(t), to_simhash(t)::bigint::bit(64), to_simhash(t)::bigint "
		  . "FROM generate_series(1, 900) i, LATERAL (SELECT string_agg('w' || (i / 3 * 7 + j * (1 + (i % 3 = 0)::int)) % 400, ' ') FROM generate_series(1, 30) j) x(t)",
		"INSERT INTO fuzz.docs (id) SELECT i FROM generate_series(901, 905) i", "CREATE TABLE fuzz.docs_empty (LIKE fuzz.docs)",
		"CREATE INDEX docs_pkey ON fuzz.docs (id)", "CREATE INDEX docs_sig ON fuzz.docs USING neardup (sig)", "CREATE INDEX docs_sim ON fuzz.docs USING neardup (sim)",
		"CREATE INDEX docs_bit ON fuzz.docs USING neardup (bits)", "CREATE INDEX docs_ball ON fuzz.docs USING neardup (near(sig, 0.9))",
		"CREATE INDEX docs_part ON fuzz.docs USING neardup (sig) WHERE body > 'w2'", "CREATE VIEW fuzz.view_of_docs AS SELECT * FROM fuzz.docs", "CREATE SEQUENCE fuzz.seq", "CREATE TABLE fuzz.part (id bigint, sig minhash) PARTITION BY RANGE (id)",
		"CREATE INDEX part_sig ON fuzz.part USING neardup (sig)", "CREATE TABLE fuzz.refused (id bigint, of bigint)",
		"CREATE TABLE fuzz.grouped AS SELECT i AS id, NULL::bigint AS g, to_minhash('text ' || i / 3) AS sig FROM generate_series(1::bigint, 9) i", "ALTER TABLE fuzz.grouped ADD PRIMARY KEY (id)",
		"CREATE INDEX ON fuzz.grouped USING neardup (sig)", "CREATE INDEX ON fuzz.grouped (g)",
		"CREATE TABLE fuzz.lexicon AS SELECT * FROM neardup_frequencies('SELECT s FROM fuzz.docs')",
		"CREATE FUNCTION fuzz.drops(bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN DROP TABLE IF EXISTS fuzz.temporary; "
		  . "CREATE TABLE fuzz.temporary AS SELECT id, sig FROM fuzz.docs LIMIT 3; RETURN \$1; END \$\$",
		"CREATE FUNCTION fuzz.raises(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN IF \$1 = 100 THEN RAISE 'no'; END IF; RETURN \$1; END \$\$",
		"CREATE FUNCTION fuzz.nested(bigint) RETURNS bigint LANGUAGE sql AS \$\$ SELECT count(*) + \$1 FROM neardup_pairs('SELECT id, sig FROM fuzz.docs LIMIT 20', 0.5) \$\$",
		"CREATE FUNCTION fuzz.damaged(value bytea, place int, byte int, more int) RETURNS bytea LANGUAGE sql AS \$\$ "
		  . "SELECT CASE WHEN more > 0 THEN changed || repeat('x', more)::bytea WHEN more < 0 THEN substr(changed, 1, length(changed) - 1) ELSE changed END "
		  . "FROM (SELECT CASE WHEN place < length(value) THEN set_byte(value, place, byte) ELSE value END) c(changed) \$\$");

	for my $type (@stored)
	{
		my $values = {
			minhash => "SELECT to_minhash(t, k, b) FROM (VALUES (16, 1), (64, 1), (512, 1), (17, 32), (128, 8)) s(k, b), (VALUES ('a b c d e'), (''), ('a b c d f'), ('x')) v(t)",
			simhash => "SELECT to_simhash(t, f) FROM (VALUES (64), (128), (512)) s(f), (VALUES ('a b c d e'), (''), ('a b c d f'), ('x')) v(t)",
			shingles => "SELECT to_shingles(t, s) FROM (VALUES ('word 3'), ('char 2'), ('word 1')) s(s), (VALUES ('a b c d e'), (''), (repeat('a b ', 9)), ('x'), (repeat('some words and more ', 200))) v(t)",
			shingle_lexicon => "SELECT neardup_lexicon('SELECT ' || c || ' FROM fuzz.docs', s, e) FROM (VALUES ('body', 'word 1', 100), ('body', 'char 2', 10000), ('s', 'word 3', 1)) q(c, s, e)",
			ball => "SELECT near(to_minhash(t, k, b), r) FROM (VALUES (16, 1), (64, 1), (17, 32)) s(k, b), (VALUES ('a b c d e'), (''), ('a b c d f')) v(t), (VALUES (0.5), (1)) r(r)
				UNION ALL SELECT hamming_ball(to_simhash(t, f), r) FROM (VALUES (64), (256)) s(f), (VALUES ('a b c d e'), (''), ('a b c d f')) v(t), (VALUES (0), (9), (64)) r(r)",
		}->{$type};
		push @statements, "CREATE TABLE fuzz.values_of_$type AS SELECT v FROM ($values) q(v)", "CREATE TABLE fuzz.sink_$type (v $type)",
		  # Copies of the bytes, valid or not.
		  "CREATE FUNCTION fuzz.taken_for_$type(bytea) RETURNS $type LANGUAGE internal STRICT IMMUTABLE AS 'byteasend'",
		  "CREATE FUNCTION fuzz.bytes_of_$type($type) RETURNS bytea LANGUAGE internal STRICT IMMUTABLE AS 'byteasend'";
	}
	for my $sql (@statements)
	{
		my $answer = run_statement($sql, 600);

		die "$sql\n$answer" if !defined $answer || $answer =~ /ERROR/ && $answer !~ /already exists/;
	}
	run_statement("SET statement_timeout = $timeout_ms", 60);
}

# ---- Main --------------------------------------------------------------------

print "seed $seed, ", $limit =~ /n$/ ? $limit =~ s/n$//r . ' statements' : "$limit s", "\n";
connect_session();
make_ground();
read_catalog();
printf "%d functions and aggregates, %d operators, %d casts\n", scalar @functions, scalar @operators, scalar @casts;

my $until = $limit =~ /n$/ ? 0 : time + $limit;
while ($until ? time < $until : $count{statements} < $limit =~ s/n$//r)
{
	my $kind = one_of(@kinds);
	my $sql = $kind->();
	my $answer = try_statement($sql, $kind == \&damaged_statement);

	run_statement('ROLLBACK', 60) if $sql =~ /BEGIN/;
	# Undo changes of other statements.
	try_statement("SET statement_timeout = $timeout_ms; SET search_path = public, fuzz") if chance(0.05);
	try_statement("DELETE FROM fuzz.docs WHERE id > 2000; INSERT INTO fuzz.docs (id, sig) SELECT 3000, to_minhash('x')") if chance(0.002);
}
run_statement("SET statement_timeout = 0; SET search_path = public, fuzz", 600);
for my $index (qw(docs_sig docs_sim docs_bit))
{
	my $answer = run_statement("SELECT neardup_check('fuzz.$index')", 600) // 'the server went away';
	report('internal', "SELECT neardup_check('fuzz.$index')", $answer) if $answer =~ /ERROR|went/;
}
printf "never without an error: %s\n", join ' ', grep { !$worked{$_} && !/_(in|recv|typanalyze|support|handler|joinsel|sel|signature)$/ } sort keys %{ { map { $_->{name} => 1 } @functions } };
printf "errors by state: %s\n", join ' ', map { "$_ $states{$_}" } sort keys %states;
printf "sql: %d statements, %d of them errors, %d crashes, %d internal errors, %d late answers\n", @count{qw(statements errors crashes internal slow)};
exit($count{crashes} + $count{internal} + $count{slow} > 0);
