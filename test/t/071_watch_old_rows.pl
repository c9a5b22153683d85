# neardup_watch() after a wraparound of transaction IDs: rows older than 2^31
# transactions are not reported as new, and new rows are not missed.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('old_rows');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	ALTER DATABASE template0 ALLOW_CONNECTIONS true;
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
		FROM generate_series(1, 100) i $$;
	CREATE TABLE t (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	CREATE INDEX ON t USING neardup (sig);
	INSERT INTO t SELECT i, words(i / 2, i % 2) FROM generate_series(1, 9) i});

sub watch
{
	my (undef, $out, $err) = $node->run_script('watch', ['table=t']);

	return ($out, $err);
}

# Advances to so many times 2^20 transactions, after a freeze of all rows.
my $now = 0;

sub later
{
	my ($segments) = @_;
	my $segment = ($now += $segments) % 4096;

	$node->safe_psql($_, 'VACUUM (FREEZE)') foreach ('template0', 'template1', 'postgres');
	$node->stop;
	my $file = sprintf('%s/pg_xact/%04X', $node->data_dir, $segment);
	open my $zeros, '>', $file or die "$file: $!";
	print $zeros "\0" x (256 * 1024);
	close $zeros;
	command_ok(['pg_resetwal', '-x', $segment * 1048576, '-e', int($now / 4096), $node->data_dir], "at $now times 2^20 transactions");
	$node->start;
}

my ($out, $err) = watch();
like($out, qr/is watched from now on/, 'watch') or diag $err;
later(1430);
($out, $err) = watch();
like($out, qr/\(0 rows\)/, 'no row is new after 1.5 billion transactions') or diag $err;
later(1430);
cmp_ok($node->safe_psql('postgres', 'SELECT min(age(xmin)) FROM t'), '<', 0, 'the age of the rows has overflowed');
($out, $err) = watch();
like($out, qr/\(0 rows\)/, 'old rows are still not new') or diag $err;
$node->safe_psql('postgres', 'INSERT INTO t SELECT 10, words(1, 7)');
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
($out, $err) = watch();
like($out, qr/^ 10 \| 2 .*\n 10 \| 3 .*\n\(2 rows\)/m, 'a row that was frozen at once is') or diag $err;
is($err, '', 'no message');

# More transactions than a row's xmin can tell.
$node->safe_psql('postgres', 'INSERT INTO t SELECT 11, words(2, 7)');
later(1430);
later(1430);
($out, $err) = watch();
like($out, qr/^ 11 \| 4 .*\n 11 \| 5 /m, 'rows inserted before a long pause are not missed');
unlike($out, qr/^ 10 /m, 'rows listed before are not listed again');
like($err, qr/more than 2\^31 transactions since the last run: all rows are compared/, 'a message says that all rows are compared');
($out, $err) = watch();
like($out, qr/\(0 rows\)/, 'the next run continues from there');

$node->stop;
done_testing();
