# The Python package gives what the server does, by COPY BINARY in both directions, and its own tests pass.
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

foreach my $i (0 .. $#cases)
{
	my ($type, $options, $call) = @{ $cases[$i] };
	my $program = <<"END";
import neardup
with open("$FOLDER/texts", "rb") as file:
    ids, texts = zip(*neardup.read_binary(file))
lexicon = neardup.Lexicon(open("$FOLDER/lexicon").read())
values = neardup.$type([text.decode() for text in texts], jobs=2, @{[ $options ]})
with open("$FOLDER/signed", "wb") as file:
    file.writelines(neardup.copy_binary((int.from_bytes(number, "big") for number in ids), values))
END
	open my $out, '>', "$FOLDER/sign.py" or die $!;
	print $out $program;
	close $out;
	is(system("$ENV{PYTHON} $FOLDER/sign.py"), 0, "signs with $type($options)");
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS signed; CREATE TABLE signed (id bigint, sig $type); COPY signed FROM '$FOLDER/signed' (FORMAT binary)");
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE sig IS DISTINCT FROM $call) FROM signed JOIN texts USING (id), lexicons"),
		'667|0', "the server's bits");
}
$node->stop;
done_testing();
