# What doc/pictures/readme.svg shows is what a server prints: the texts, the similarity, the
# messages of the guard, and the words that are marked as shared.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $picture = slurp_file("$ENV{TESTDIR}/doc/pictures/readme.svg");
my $node = Node->new('pictures');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;

# Returns the texts of a class, each with what follows it in another style.
sub shown
{
	my ($class) = @_;
	my @texts = $picture =~ m{<text [^>]*class="[^"]*\b$class\b[^"]*"[^>]*>(.*?)</text>}g;

	my %character = (lt => '<', gt => '>', quot => '"', amp => '&');
	return map { s/<[^>]*>//gr =~ s/&(\w+);/$character{$1}/gr } @texts;
}

# Inserts a text, and returns what psql prints.
sub insert
{
	my ($id, @lines) = @_;
	my ($status, $stdout, $stderr) = $node->psql('postgres', sprintf(q{INSERT INTO proposals VALUES (%d, '%s')}, $id, join(' ', @lines)));

	return $stderr || "INSERT 0 1";
}

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE proposals (id bigint PRIMARY KEY, body text NOT NULL, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	SELECT neardup_guard('proposals', 'sig', 0.8, name => 'no_copies')});

my @stored = shown('stored');
my @refused = shown('refused');
my ($error, $detail) = map { join(' ', shown($_)) } 'error', 'detail';
is(scalar(@stored) + scalar(@refused), 6, 'the texts are found');
is(insert(1, @stored), 'INSERT 0 1', 'the first text is accepted');
my $message = insert(2, @refused);
like($message, qr/\Q$error\E$/m, 'the second text is refused');
like($message, qr/\Q$detail\E/, 'for the reason that is shown');
is(insert(3, shown('accepted')), 'INSERT 0 1', 'the third text is accepted');
like($detail, qr/similarity \Q@{[(shown('number'))[0]]}\E /, 'the similarity is that of the message');

my ($rest) = $picture =~ m{<tspan class="rest">(.*?)</tspan>};
my $first = join(' ', @stored);
is( $node->safe_psql('postgres', sprintf(q{SELECT to_shingles('%s', 'word 2') = to_shingles('%s', 'word 2')}, $first =~ s/\Q$rest\E$//r, join(' ', @refused))),
	't', 'what is marked as shared are the words of both');

$node->stop;
done_testing();
