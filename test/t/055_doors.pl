# The command, the library, the Python package and the server's functions give equal pairs and clusters,
# in little memory and in plenty, alone and with help; and those that the definition gives.
#
# PYTHON is an interpreter that finds the package.  What was not built is left out, with a word.
use strict;
use warnings;

use Brute;
use Inputs qw(inputs);
use Node;
use PostgreSQL::Test::Utils ();
use Test::More;

my $FOLDER = PostgreSQL::Test::Utils::tempdir();
my @TWO_LISTS = qw(pairs_against held held_nearest);
my @QUESTIONS = (qw(pairs stars nearest), @TWO_LISTS);

# What sets beside minhashes decide: by resemblance, or by the share of a document that stays.
my @DECIDED = map { "decided_$_" } @QUESTIONS;
my @CONTAINED = map { "contained_$_" } @QUESTIONS;

# With this threshold all pairs of small inputs are looked at.
my $LOW = 0.01;

# What only the server answers, if inputs are small the latter, too.
my @MORE = qw(all_pairs all_against components);
my @OF_SMALL = map { ("within_$_", "judged_$_") } qw(pairs stars nearest components);

my @inputs = inputs(200,
	[ 'minhash(1001, 1) of word 1', 4000, 'families', 0.5 ], [ 'minhash(64, 8) of word 1', 400, 'giant', 0.8 ], [ 'simhash(512) of word 1', 4000, 'copies', 0.8 ],
	[ 'sets of word 1', 5000, 'crowded', 0.6 ], [ 'sets of word 1 (m)', 2000, 'repeats', 0.7 ], [ 'sets of word 1 (c)', 2000, 'nested', 0.8 ],
	[ 'weighted sets (m)', 2000, 'form', 0.6 ], [ 'hashes of 64 bits', 5000, 'families', 0.8 ], [ 'sketches of 32 bits', 4000, 'families', 0.4 ],
	[ 'sets of elements (mc)', 2000, 'crowded', 0.8 ], [ 'sets of elements', 400, 'giant', 0.8 ]);

# What differs today, by door.
my %KNOWN = (
);
my %known;

# The doors that have answered a question, as 17-pairs.
my %doors;

# ---- Files ---------------------------------------------------------------------

sub file
{
	my ($name, @lines) = @_;

	open my $file, '>', "$FOLDER/$name" or die "$name: $!";
	print $file @lines;
	close $file or die "$name: $!";
}

# Returns the lines of a file in order.
sub lines_of
{
	my ($name) = @_;

	open my $file, '<', "$FOLDER/$name" or return ("there is no file\n");
	return sort readline $file;
}

# Writes the documents for the command, in two files.
sub write_records
{
	my ($input) = @_;
	my @lines = map { qq({"id": $_, "text": "$input->{rows}[$_ - 1]"}\n) } 1 .. @{ $input->{rows} };

	file("$input->{number}.b.jsonl", splice @lines, $input->{split});
	file("$input->{number}.a.jsonl", @lines);
}

# ---- The server ----------------------------------------------------------------

my $node = Node->new('doors');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nautovacuum = off\nlog_statement = none\n");
$node->start;

# Runs statements, which go on after an error; returns the messages.
sub run_sql
{
	my ($sql) = @_;
	my (undef, $messages) = $node->answer('postgres', "SET extra_float_digits = 1; SET client_min_messages = debug1; SET synchronize_seqscans = off; $sql");

	return $messages;
}

# Makes the values of an input; writes them, the texts and the lexicon.
sub load_sql
{
	my ($input) = @_;
	my $number = $input->{number};
	my $texts = "SELECT id, body, key FROM texts WHERE input = $number";
	my $lexicon = !$input->{lexicon} ? '' : qq{
		CREATE TABLE lexicon$number AS SELECT neardup_lexicon('SELECT body FROM ($texts ORDER BY id) t', 'word 1', 500, 0.5) AS lexicon;
		COPY lexicon$number TO '$FOLDER/$number.lexicon';};

	return $lexicon . qq{
		CREATE TABLE docs$number AS SELECT id, key, body, $input->{sql} AS sig, @{[ $input->{sets} // 'NULL::shingles' ]} AS sets FROM ($texts) t } . ($input->{lexicon} ? ", lexicon$number" : '') . qq{ ORDER BY id;
		} . ($input->{sets} ? "COPY (SELECT sets FROM docs$number ORDER BY id) TO '$FOLDER/$number.sets' (FORMAT binary);" : '') . qq{
		COPY (SELECT sig FROM docs$number ORDER BY id) TO '$FOLDER/$number.values' (FORMAT binary);
		COPY (SELECT body FROM docs$number ORDER BY id) TO '$FOLDER/$number.texts' (FORMAT binary);};
}

sub load
{
	file('rows', map { my $input = $_; map { join("\t", $input->{number}, $_, $input->{rows}[ $_ - 1 ], $input->{key}[ $_ - 1 ] // '\N') . "\n" } 1 .. @{ $input->{rows} } } @inputs);
	file('verdicts', map { my $input = $_; map { join("\t", $input->{number}, @$_) . "\n" } @{ $input->{judged} // [] } } @inputs);
	return run_sql(qq{
		CREATE EXTENSION neardup;
		CREATE TABLE texts (input int, id int, body text, key int);
		CREATE TABLE verdicts (input int, a int, b int, same boolean);
		COPY texts FROM '$FOLDER/rows'; COPY verdicts FROM '$FOLDER/verdicts';
		CREATE FUNCTION contained(x shingles, y shingles) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT greatest(containment(x, y), containment(y, x))';
		CREATE FUNCTION contained_multiset(x shingles, y shingles) RETURNS float8 LANGUAGE sql IMMUTABLE AS
			'SELECT coalesce(shingle_total(x & y)::float8 / nullif(least(shingle_total(x), shingle_total(y)), 0), 0)';
		CREATE FUNCTION share_in(x shingles, y shingles) RETURNS float8 LANGUAGE sql IMMUTABLE AS
			'SELECT coalesce(shingle_total(x & y)::float8 / nullif(shingle_total(x), 0), 0)';
		} . join '', map { load_sql($_) } @inputs);
}

# Returns a call for a question.
sub call
{
	my ($input, $question) = @_;
	my ($number, $split) = @{$input}{qw(number split)};
	my $rows = sub { return "'SELECT id, sig" . ($question =~ /decided|contained/ ? ', sets' : '') . ($question =~ /within/ ? ', key' : '') . " FROM docs$number $_[0] ORDER BY id'" };
	my $two = $question =~ /against|held/;
	my $arguments = join ', ', $rows->($two ? "WHERE id <= $split" : ''), $question =~ /contained/ ? ($LOW, "contained => $input->{threshold}") : $input->{threshold}, ($two ? 'against => ' . $rows->("WHERE id > $split") : ()),
		($input->{measure} =~ /m/ ? 'multiset => true' : ()), ($input->{measure} =~ /c/ ? "measure => 'containment'" : ()),
		($question =~ /nearest/ ? 'nearest => true' : ()), ($question =~ /components/ ? "method => 'components'" : ()), ($question =~ /all_/ ? "equal => 'all'" : ()),
		($question =~ /within/ ? "within => '{key}'" : ()), ($question =~ /judged/ ? "verdicts => 'SELECT a, b, same FROM verdicts WHERE input = $number'" : ());

	return "SELECT * FROM neardup_pairs($arguments)" if $question =~ /pairs|against/;
	return "SELECT id, keeper, similarity FROM neardup_clusters($arguments) WHERE id <= $split" if $question =~ /held/;
	return "SELECT * FROM neardup_clusters($arguments)";
}

# Returns what sets decide of an input.
sub decided
{
	my ($input) = @_;

	return $input->{sets} ? (@DECIDED, $input->{small} ? @CONTAINED : ()) : ();
}

# Returns the questions for the server.  A measure that depends on an order has no components.
sub questions_of
{
	my ($input) = @_;
	my @more = (@MORE, $input->{small} ? @OF_SMALL : ());

	push @more, map { my $more = $_; map { "${_}_$more" } qw(decided contained) } @more if $input->{sets} && $input->{small};
	return @QUESTIONS, decided($input), grep { !/components/ || !/contained/ && $input->{measure} !~ /c/ } @more;
}

# Has the server answer the questions in some memory, with up to a number of workers; returns the messages.
sub ask_server
{
	my ($input, $door, $memory, $workers) = @_;

	return run_sql("SET maintenance_work_mem = '$memory'; SET max_parallel_maintenance_workers = $workers;\n" . join '',
		map { "COPY (" . call($input, $_) . ") TO '$FOLDER/$input->{number}-$_-$door';\n" } questions_of($input));
}

# ---- The other doors -----------------------------------------------------------

# Returns lines of a shell that answer the questions, with options of memory and threads.
sub lines_of_command
{
	my ($input, $door, $memory, $jobs) = @_;
	my ($number, $measure) = @{$input}{qw(number measure)};
	my $threshold = $input->{threshold};
	my $how = "$input->{command} --id id -j $jobs" . ($memory && " -m $memory") . ($measure =~ /m/ ? ' --multiset' : '') . ($measure =~ /c/ ? ' --containment' : '');
	my $lines = '';

	$how =~ s/LEXICON/$number.lexicon/;
	foreach my $question (@QUESTIONS, decided($input))
	{
		my $out = "$number-$question-$door";
		my $by = $question =~ /contained/ ? "-t $LOW --contained $threshold" : "-t $threshold";
		my $nearest = $question =~ /nearest/ ? '--nearest' : '';

		# Texts decide in dedupe, if nothing else is said, and nowhere else.
		$by .= ' --decide texts' if $question =~ /decided/ && $question !~ /held/;
		$by .= ' --decide signatures' if $question =~ /^held/ && $input->{kind} == 1;
		$lines .= $question =~ /pairs$/ ? "neardup pairs $how $by $number.a.jsonl $number.b.jsonl >$out 2>$out.told || cat $out.told >>$out\n"
			: $question =~ /against/ ? "neardup pairs $how $by --against $number.b.jsonl $number.a.jsonl >$out 2>$out.told || cat $out.told >>$out\n"
			: $question =~ /held/ ? "neardup dedupe $how $by $nearest --report report --against $number.b.jsonl $number.a.jsonl 2>$out >kept; sed -n 's/.against.*//p' report >>$out\n"
			: "neardup clusters $how $by $nearest $number.a.jsonl $number.b.jsonl >$out 2>$out.told || cat $out.told >>$out\n";
	}
	return $lines;
}

# Returns lines of a shell that answer the questions by signatures, in parts, and keepers by the pairs of all parts.
sub lines_of_parts
{
	my ($input, $door, $memory) = @_;
	my ($number, $measure, $blocks) = (@{$input}{qw(number measure)}, 1 + $input->{number} % 4);
	my $how = "-t $input->{threshold} -m $memory" . ($measure =~ /m/ ? ' --multiset' : '') . ($measure =~ /c/ ? ' --containment' : '');
	my ($all, $a, $against) = ("--signatures '$number.[ab].sig'", "--signatures $number.a.sig", "--against $number.b.sig");
	my $lines = join '', map { "neardup sign $input->{command} --id id --format copy-binary $number.$_.jsonl >$number.$_.sig\n" } 'a', 'b';
	my $parts = sub { my ($sides, $count) = @_; return "for i in `seq $count`; do neardup pairs $how $sides --part \$i/$count; done" };

	foreach my $question (@QUESTIONS)
	{
		my $nearest = $question =~ /nearest/ ? '--nearest' : '';
		my $out = "$number-$question-$door";

		$lines .= ($question eq 'pairs' ? $parts->($all, $blocks * ($blocks + 1) / 2) . " | sort -r >$out\n"
			: $question eq 'pairs_against' ? $parts->("$a $against", $blocks) . " >$out\n"
			: $question =~ /held/ ? "neardup dedupe $how $nearest --report report $a $against >kept; sed -n 's/.against.*//p' report >$out\n"
			: $measure =~ /c/ ? "neardup clusters $how $nearest $all >$out\n"
			: "neardup keepers -m $memory $nearest $all $number-pairs-$door >$out\n");
	}
	return $lines =~ s/LEXICON/$number.lexicon/gr;
}

# Tests that the command spills: 60,000 signatures take a third of its memory.
sub test_spill_of_command
{
	my ($input) = inputs(0, [ 'minhash(512, 1) of word 1', 60_000, 'families', 0.8 ]);

	$input->{split} = 60_000;
	write_records($input);
	my ($plenty, $little) = map { scalar `cd $FOLDER && neardup pairs -s 'word 1' $_ 1.a.jsonl 2>&1` } '', '-m 12M';
	ok($little eq $plenty, 'pairs of 60,000 records in 12 MB') or note(substr $little, 0, 200);
}

# Returns the questions, as doors.py and doors.c read them.  Pairs are found in parts if the door's name says so.
sub requests
{
	my ($input, $door, $memory, $jobs) = @_;
	my $number = $input->{number};
	my $parts = $door =~ /parts/ ? 'p' : '';

	return map { join("\t", "$number-$_-$door", $_, $input->{threshold}, $input->{split}, "-$input->{measure}$parts", $jobs, $memory, $input->{kind}, "$number.values", $input->{sets} ? "$number.sets" : "$number.values",
			$input->{python} // '', "$number.texts", $input->{lexicon} ? "$number.lexicon" : '') . "\n" } grep { /pairs/ || !$parts } @QUESTIONS, decided($input);
}

my %programs = (
	command => [ 'sh', `command -v neardup 2>/dev/null` ],
	library => [ 'doors', `command -v doors 2>/dev/null` ],
	python => [ ($ENV{PYTHON} // '') . " $ENV{TESTDIR}/test/library/doors.py", $ENV{PYTHON} ],
);

# Lets a program answer the questions of all inputs for a door.
sub ask_program
{
	my ($name, @lines) = @_;
	my ($program, $is_there) = @{ $programs{$name} };

	if (!$is_there)
	{
		note("summary: without the $name, which was not built");
		return;
	}
	file("$name.questions", @lines);
	is(system("cd $FOLDER && $program <$name.questions >$name.errors 2>&1"), 0, "the $name answers") or diag(PostgreSQL::Test::Utils::slurp_file("$FOLDER/$name.errors"));
}

# ---- The definition ------------------------------------------------------------

# Writes the similarity of every pair.  In clusters by containment the keeper is as large or larger.
sub similarities_sql
{
	my ($input) = @_;
	my ($number, $measure, $signature) = (@{$input}{qw(number measure)}, $input->{kind} != 3);
	my $similarity = { '' => 'similarity', m => 'weighted_jaccard', c => 'contained', mc => 'contained_multiset' }->{$measure};
	my $equal = $signature ? 'a.sig <~> b.sig = 0' : ($measure =~ /m/ ? 'weighted_jaccard' : 'similarity') . '(a.sig, b.sig) = 1';
	my $size = { c => 'cardinality', mc => 'shingle_total' }->{$measure};
	my ($joins, $back) = map { $size ? "CASE WHEN $size($_->[0].sig) <= $size($_->[1].sig) THEN 1 ELSE -1 END * $similarity(a.sig, b.sig)" : "$similarity(a.sig, b.sig)" } [qw(b a)], [qw(a b)];
	my $all = "FROM docs$number a JOIN docs$number b ON a.id <= b.id ORDER BY 1, 2";
	my $share = $input->{lexicon} ? 'share_in' : 'containment';
	my $same = 'similarity(a.sets, b.sets) = 1';
	my %columns = (similarities => "$similarity(a.sig, b.sig), $equal", joins => "$joins, $equal, $back",
		$input->{sets} ? (resemblances => ($input->{lexicon} ? 'weighted_jaccard' : 'similarity') . "(a.sets, b.sets), $same",
			shares => "$share(b.sets, a.sets), $same, $share(a.sets, b.sets)", either => "greatest($share(a.sets, b.sets), $share(b.sets, a.sets)), $same") : ());

	return join '', map { "COPY (SELECT a.id, b.id, $columns{$_} $all) TO '$FOLDER/$number.$_';\n" } sort keys %columns;
}

# Returns the pairs and clusters of the similarities in a file.
sub brute
{
	my ($name, $input) = @_;

	return Brute->new($input->{threshold}, [ map { chomp; [ split /\t/ ] } lines_of("$input->{number}.$name") ]);
}

# Returns the answers to all questions by the similarities of pairs, of rows and keepers, and of two lists.
sub answers
{
	my ($how, $input, @names) = @_;
	my ($split, $judged) = @{$input}{qw(split judged)};
	my ($pairs, $stars, $two) = map { brute($_, $input) } @names;
	my ($within, $stars_within) = map { $_->within($input->{key}) } $pairs, $stars;
	my %answers = (pairs => [ $pairs->pairs ], all_pairs => [ $pairs->all_pairs ], within_pairs => [ $within->pairs ], judged_pairs => [ $pairs->judged_pairs($judged) ],
		pairs_against => [ $two->pairs($split) ], all_against => [ $two->all_pairs($split) ], held => [ $two->held(0, $split) ], held_nearest => [ $two->held(1, $split) ],
		stars => [ $stars->stars(0) ], within_stars => [ $stars_within->stars(0) ], judged_stars => [ $stars->judged_stars(0, $judged) ],
		nearest => [ $stars->stars(1) ], within_nearest => [ $stars_within->stars(1) ], judged_nearest => [ $stars->judged_stars(1, $judged) ],
		components => [ $pairs->components ], within_components => [ $within->components ], judged_components => [ $pairs->components($judged) ]);

	return map { ($how . $_ => $answers{$_}) } keys %answers;
}

# Writes what the definition gives.
sub define
{
	my ($input) = @_;
	my %lines = answers('', $input, qw(similarities joins similarities));

	%lines = (%lines, answers('decided_', $input, ('resemblances') x 3), answers('contained_', $input, qw(shares shares either))) if $input->{sets};
	file("$input->{number}-$_-definition", @{ $lines{$_} }) foreach keys %lines;
}

# ---- Comparing -----------------------------------------------------------------

# Returns what differs in the answers to a question from the definition, or else from the server's.
sub differences
{
	my ($input, $question) = @_;
	my $first = $input->{small} ? 'definition' : 'server';
	my @others = grep { $_ ne $first } sort @{ $doors{"$input->{number}-$question"} };
	my @expected = lines_of("$input->{number}-$question-$first");
	my @said;

	foreach my $door (@others)
	{
		my @got = lines_of("$input->{number}-$question-$door");
		my ($at) = grep { ($got[$_] // '') ne ($expected[$_] // '') } 0 .. ($#got > $#expected ? $#got : $#expected);

		next if !defined $at;
		push @{ $KNOWN{$door} ? $known{$door} //= [] : \@said },
			"$input->{name}\n$question: $door has " . @got . " lines and $first " . @expected . ", such as\n" . join '', map { $_ // "nothing\n" } $got[$at], $expected[$at];
	}
	return @said;
}

# ---- The test ------------------------------------------------------------------

is((load() =~ /^.*ERROR.*$/m)[0], undef, 'the inputs are loaded');
my @small = grep { $_->{small} } @inputs;
my @texts = grep { $_->{command} } @inputs;
my $messages = '';
foreach my $input (@inputs)
{
	my @ways = ([ 'server', '64MB', 0 ], [ 'server_little', '1MB', 2 ], $input->{small} ? () : ([ 'server_workers', '128MB', 2 ], [ 'server_alone', '1MB', 0 ]));

	$messages .= ask_server($input, @$_) foreach @ways;
}
is(($messages =~ /^.*ERROR.*$/m)[0], undef, 'the server answers');
like($messages, qr/workers=[1-9]/, 'workers helped');
cmp_ok(scalar(() = $messages =~ /maintenance_work_mem does not hold/g), '>', 10, 'memory did not suffice');

write_records($_) foreach @texts;
ask_program('command', map { (lines_of_command($_, 'command', '', 1), lines_of_command($_, $_->{small} ? 'command_jobs' : 'command_little', '4M', 3)) } @texts);
ask_program('command', map { lines_of_parts($_, 'command_parts', '4M') } grep { $_->{number} % 3 == 0 || !$_->{small} } @texts);
test_spill_of_command() if $programs{command}[1];
ask_program('library', map { (requests($_, 'library', 0, 1), requests($_, 'library_little', 2**22, 3)) } @inputs);
ask_program('python', map { (requests($_, 'python', 0, 1), requests($_, 'python_little', 2**22, 3), requests($_, 'python_parts', 0, 2)) } @inputs);

run_sql(join '', map { similarities_sql($_) } @small);
define($_) foreach @small;
opendir my $folder, $FOLDER or die "$FOLDER: $!";
/^(\d+-\w+)-(\w+)$/ and push @{ $doors{$1} }, $2 foreach readdir $folder;
foreach my $input (@inputs)
{
	my @said = map { differences($input, $_) } questions_of($input);

	is(scalar @said, 0, $input->{name}) or diag(@said);
}
foreach my $door (sort keys %KNOWN)
{
	local $TODO = $KNOWN{$door};
	my @said = @{ $known{$door} // [] };

	is(scalar @said, 0, "answers of $door") or note($said[0]);
}

$node->stop;
done_testing();
