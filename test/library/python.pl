# The Python package gives what the server does, by COPY BINARY in both directions, and its own tests pass.
# SQL, the scripts, the command and the package do the same if they are told nothing.
#
# PYTHON is an interpreter, which finds the package and, as the first argument of its tests, the recipe.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils ();
use Test::More;

my $FOLDER = PostgreSQL::Test::Utils::tempdir();

is(system("$ENV{PYTHON} test/library/test_python.py doc/explanation/recipe-vectors.txt >$FOLDER/tests 2>&1"), 0, 'tests of the package')
	or diag(PostgreSQL::Test::Utils::slurp_file("$FOLDER/tests"));

my $node = Node->new('python');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;

# Texts of words of many scripts; the server's texts are what Python reads.
$node->safe_psql('postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE texts AS SELECT n::int8 AS id, (SELECT coalesce(string_agg(chr(first + (n * 31 + w * w * 7) % 40) || chr(first + (n + w * 3) % 40), CASE w % 5 WHEN 0 THEN ', ' WHEN 1 THEN E'\n' ELSE ' ' END), '') FROM generate_series(1, n % 90) AS w,
		LATERAL (SELECT (ARRAY[97, 1072, 945, 19968, 12354, 44032, 2309, 1575, 66560, 192])[1 + (n + w / 7) % 10] AS first) AS s) AS body FROM generate_series(0, 499) AS n;
	INSERT INTO texts SELECT id + 500, body || ' end' FROM texts WHERE id % 3 = 0});
$node->safe_psql('postgres', "SELECT neardup_lexicon('SELECT body FROM texts ORDER BY id', 'word 1', 300, 0.2) AS lexicon INTO lexicons; COPY texts TO '$FOLDER/texts' (FORMAT binary)");
my $lexicon = $node->safe_psql('postgres', 'SELECT lexicon FROM lexicons');
open my $file, '>', "$FOLDER/lexicon" or die $!;
print $file $lexicon;
close $file;

my @cases = (
	[ 'minhash', '', 'to_minhash(body)' ], [ 'minhash', 'k=100, b=8, scheme="char 5"', "to_minhash(body, 100, 8, 'char 5')" ],
	[ 'minhash', 'lexicon=lexicon', 'to_minhash(body, lexicon => lexicon)' ], [ 'simhash', 'k=128, scheme="anychar 4"', "to_simhash(body, 128, 'anychar 4')" ],
	[ 'shingles', 'scheme="word 2"', "to_shingles(body, 'word 2')" ]);

# Runs a program that knows the ids and texts, and returns what it prints.
my $programs = 0;
sub python
{
	my ($program) = @_;
	my $file = "$FOLDER/program" . ++$programs . '.py';

	PostgreSQL::Test::Utils::append_to_file($file, <<"END" . $program);
import neardup
with open("$FOLDER/texts", "rb") as file:
    ids, texts = zip(*((int.from_bytes(number, "big"), text.decode()) for number, text in neardup.read_binary(file)))
END
	my $out = `$ENV{PYTHON} $file`;

	is($?, 0, 'a program runs') or diag($program);
	return $out;
}

foreach my $i (0 .. $#cases)
{
	my ($type, $options, $call) = @{ $cases[$i] };

	python(<<"END");
lexicon = neardup.Lexicon(open("$FOLDER/lexicon").read())
values = neardup.$type(texts, jobs=2, @{[ $options ]})
with open("$FOLDER/signed", "wb") as file:
    file.writelines(neardup.copy_binary(ids, values))
END
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS signed; CREATE TABLE signed (id bigint, sig $type); COPY signed FROM '$FOLDER/signed' (FORMAT binary)");
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE sig IS DISTINCT FROM $call) FROM signed JOIN texts USING (id), lexicons"),
		'667|0', "the server's bits of $type($options)");
}

# ---- Defaults ------------------------------------------------------------------

# More words than a lexicon has entries, each in two texts.
$node->safe_psql('postgres', qq{INSERT INTO texts SELECT 2000 + n, string_agg('w' || n / 2 * 1000 + w, ' ') FROM generate_series(0, 29) AS n, generate_series(1, 1000) AS w GROUP BY n;
	CREATE TABLE sorted AS SELECT id, body, to_minhash(body) AS sig FROM texts ORDER BY id;
	COPY sorted (id, body) TO '$FOLDER/texts' (FORMAT binary); COPY (SELECT id, body AS text FROM sorted) TO '$FOLDER/texts.csv' (FORMAT csv, HEADER)});

# What is shared: a query of the server, lines of Python, and the command's arguments, if it has the function.
my @shared = (
	[ 'minhash', 'id, to_minhash(body) FROM sorted', 'zip(ids, map(neardup.to_text, neardup.minhash(texts)))', 'sign --id id texts.csv' ],
	[ 'simhash', 'id, to_simhash(body) FROM sorted', 'zip(ids, map(neardup.to_text, neardup.simhash(texts)))' ],
	[ 'shingles', 'id, to_shingles(body) FROM sorted', 'zip(ids, map(neardup.to_text, neardup.shingles(texts)))', 'sign --id id --shingles texts.csv' ],
	[ 'lexicon', 'lexicon FROM learned', '[[neardup.Lexicon.learn(texts)]]', 'learn texts.csv' ],
	[ 'minhash by it', 'id, to_minhash(body, lexicon => lexicon) FROM sorted, learned', 'zip(ids, map(neardup.to_text, neardup.minhash(texts, lexicon=neardup.Lexicon.learn(texts))))', 'sign --id id --lexicon learned texts.csv' ],
	[ 'resemblance', q{'resemblance', text_similarity(x.body, y.body) FROM sorted x, sorted y WHERE x.id = 3 AND y.id = 503},
		'[["resemblance", neardup.similarity(*(neardup.shingles(texts[ids.index(i)]) for i in (3, 503)))]]', 'compare 3.txt 503.txt | head -n 1' ],
	[ 'pairs', "a, b, similarity FROM neardup_pairs('SELECT id, to_minhash(body) FROM sorted ORDER BY id', 0.8)", '((ids[a], ids[b], s) for a, b, s in neardup.pairs(texts, DEFAULT.threshold))', 'pairs --id id texts.csv' ],
	[ 'clusters', "id, keeper, similarity FROM neardup_clusters('SELECT id, to_minhash(body) FROM sorted ORDER BY id', 0.8) WHERE id <> keeper",
		'((i, ids[k], s) for i, k, s in zip(ids, *neardup.clusters(texts, DEFAULT.threshold)) if k != neardup.NO_KEEPER and ids[k] != i)', q{dedupe --decide signatures --id id --report report texts.csv >kept; cut -f 1-3 report} ]);

# Orders lines, whose numbers at the end have as many digits.
sub plain
{
	return join "\n", sort map { s/\t([01](?:\.\d+)?)$/sprintf "\t%.9f", $1/er } split /\n/, shift;
}

$node->safe_psql('postgres', qq{CREATE TABLE learned AS SELECT neardup_lexicon('SELECT body FROM sorted') AS lexicon; COPY learned TO '$FOLDER/learned'; COPY (SELECT body FROM sorted WHERE id = 3) TO '$FOLDER/3.txt'; COPY (SELECT body FROM sorted WHERE id = 503) TO '$FOLDER/503.txt'});
my $has_command = system('command -v neardup >/dev/null') == 0;
note('summary: the command was not compared: it was not built') if !$has_command;
foreach my $function (@shared)
{
	my ($name, $query, $lines, $command) = @$function;
	my $said = plain($node->safe_psql('postgres', "SET extra_float_digits = 1; COPY (SELECT $query) TO stdout"));

	ok(length $said, "the server has $name");
	ok(plain(python("from neardup._library import DEFAULT\nfor row in $lines:\n    print(*row, sep='\\t')\n")) eq $said, "Python has the same $name");
	ok(plain(scalar `cd $FOLDER && neardup $command`) eq $said, "and so has the command: $command") if $has_command && defined $command;
}
my ($ok, $out, $err) = $node->run_script('lexicon', [ 'table=sorted', 'function=signed_by' ]);
ok($ok, 'the script makes a lexicon') or diag $err;
is($node->safe_psql('postgres', 'SELECT count(*) FROM sorted, learned WHERE signed_by(body) IS DISTINCT FROM to_minhash(body, lexicon => lexicon)'), 0, 'the same one');
my @reports = map { ($node->run_script('report', [ 'table=sorted', @$_ ]))[1] } [], ['threshold=0.8'];
like($reports[0], qr/\d/, 'a report of the scripts');
is($reports[0], $reports[1], 'has the threshold of the command');

$node->stop;
done_testing();
