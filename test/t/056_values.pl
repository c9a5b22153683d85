# Values of a later recipe can be dumped, values too large for a dump cannot be made,
# and functions that show a text stay within limits of memory and time.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('values');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE there');
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE TABLE later (id int PRIMARY KEY, m minhash(16, 1), s simhash, b shingles);
	INSERT INTO later VALUES (1, '2/word 3/16x1/7/abcd', '2/word 3/64/0123456789abcdef', '2/word 3/{-7,12:2}'),
		(2, '255/unknown 1f020003/16x1/?/abcd', '255/unknown 00000001/64/', '255/unknown 1f020003/{}');
	CREATE TABLE binary_copy (LIKE later);
	ANALYZE;
});

my $dir = PostgreSQL::Test::Utils::tempdir;
my $all = q{SELECT string_agg(later::text, E'\n' ORDER BY id) FROM later};
my $before = $node->safe_psql('postgres', $all);

$node->command_ok([ 'pg_dump', '-f', "$dir/later.sql", 'postgres' ], 'values of a later recipe are dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/later.sql", '-d', $node->connstr('there') ],
	'and restored');
is($node->safe_psql('there', $all), $before, 'the restored values are the same');
$node->safe_psql('postgres', "COPY later TO '$dir/later.bin' (FORMAT binary); COPY binary_copy FROM '$dir/later.bin' (FORMAT binary)");
is($node->safe_psql('postgres', 'SELECT count(*) FROM later JOIN binary_copy USING (id, m, s, b)'),
	2, 'also in the binary format');

# ---- A set too large to dump ------------------------------------------------------------

my ($result, $out, $error);
my %long = (
	'show_shingles of spots' => q{SELECT count(*) FROM show_shingles(repeat('was x ', 5000000), 'spot 1 2')},
	'show_shingles of characters' => q{SELECT count(*) FROM show_shingles(repeat('was x ', 5000000), 'char 3')},
	'show_tokens' => q{SELECT cardinality(show_tokens(repeat('was x ', 9000000)))});

# The text format of 41 million elements of 19 digits takes 820 MB.
sub test_large_set
{
	my $count = 41_000_000;
	my $header = pack('CCnNN', 1, 1, 0, 0x06000000, $count);
	open my $file, '>:raw', "$dir/large.bin" or die;
	print $file "PGCOPY\n\377\r\n\0", pack('NN', 0, 0), pack('n', 1), pack('N', length($header) + 8 * $count), $header;
	for (my $i = 0; $i < $count; $i += 10_000)
	{
		print $file pack('q>*', map { 1_000_000_000_000_000_000 + $_ } $i .. $i + 9_999);
	}
	print $file pack('n', 0xFFFF);
	close $file;
	$node->safe_psql('postgres', "CREATE TABLE large (b shingles); COPY large FROM '$dir/large.bin' (FORMAT binary)");
	unlink "$dir/large.bin";
	is($node->safe_psql('postgres', 'SELECT cardinality(b) FROM large'), $count, 'binary format has no such limit');
	($result, $out, $error) = $node->psql('postgres', q{SELECT b - '1/hashes/{}' FROM large});
	like($error, qr/set of 41000000 shingles is too large.*text format takes 819999999 bytes/s, 'a set too large for pg_dump is refused');
	is($node->safe_psql('postgres', "SELECT cardinality(shingles_mod(b, 2)) > 0 FROM large"), 't', 'half of the set is accepted');
	%long = (%long,
		'to_minhash of a large set' => q{SELECT to_minhash(b, 16384, 4) FROM large},
		'a union' => q{SELECT cardinality(b | '1/hashes/{}') FROM large},
		'shingles_minima' => 'SELECT shingles_minima(b, 16384) FROM large');
}

test_large_set() if $ENV{NEARDUP_LONG};

# ---- Long calls can be cancelled -----------------------------------------------------------

foreach my $what (sort keys %long)
{
	($result, $out, $error) = $node->psql('postgres', "SET statement_timeout = '30ms'; $long{$what}");
	like($error, qr/canceling statement due to statement timeout/, "$what can be cancelled");
}

$node->stop;
done_testing();
