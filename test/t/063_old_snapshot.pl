# A snapshot that is too old for an index gets an error instead of incomplete results
# (PostgreSQL 14 to 16 with old_snapshot_threshold).
#
# A snapshot takes a minute or two to become too old, so the test runs only if
# NEARDUP_SLOW_TESTS is set.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('old_snapshot');
my ($version) = `postgres --version` =~ / (\d+)/;
$node->init;
plan skip_all => 'no snapshot becomes too old from PostgreSQL 17 on' if $version >= 17;
plan skip_all => 'takes two minutes; set NEARDUP_SLOW_TESTS to run it'
  if !$ENV{NEARDUP_SLOW_TESTS};
my $seconds = 125;
$node->append_conf('postgresql.conf',
	"old_snapshot_threshold = 1min\nneardup.background = off\nfsync = off\nmax_worker_processes = 0\n");
$node->start;

my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;';
my %query = (
	search => 'SELECT count(*) FROM %s WHERE is_within(h, 0::bigint::simhash, 8)',
	bitmap => 'SET enable_indexscan = off; SET enable_bitmapscan = on; SELECT count(*) FROM %s WHERE is_within(h, 0::bigint::simhash, 8)',
	order => 'SELECT count(*) FROM (SELECT * FROM %s ORDER BY h <~> 0::bigint::simhash LIMIT 1000) t',
);

$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION hashes() RETURNS TABLE (id int, h simhash) LANGUAGE sql AS
		'SELECT i, ((1::bigint << (i % 60)) | (1::bigint << (i / 60 % 60)))::simhash FROM generate_series(1, 1000) i'});
$node->safe_psql('postgres', 'CREATE TABLE segment WITH (autovacuum_enabled = off) AS SELECT * FROM hashes(); CREATE INDEX ON segment USING neardup (h)');
$node->safe_psql('postgres', 'CREATE TABLE tail (id int, h simhash) WITH (autovacuum_enabled = off); CREATE INDEX ON tail USING neardup (h); INSERT INTO tail SELECT * FROM hashes()');

# These sessions have snapshots that see all rows.
my @sessions;
for my $how (qw(tail segment))
{
	for my $way (sort keys %query)
	{
		my $session = { name => "$how, $way", in => '', out => '' };

		$session->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
			'<', \$session->{in}, '>', \$session->{out}, '2>&1');
		$session->{in} .= "$settings BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'rows ' || count(*) FROM $how WHERE id > 0;\n";
		$session->{run}->pump until $session->{out} =~ /rows|ERROR/;
		$session->{query} = sprintf($query{$way}, $how);
		push @sessions, $session;
	}
}
for my $how (qw(tail segment))
{
	$node->safe_psql('postgres', "DELETE FROM $how WHERE id > 10");
}
# PostgreSQL maps times to transactions only while snapshots are taken.
for (1 .. $seconds)
{
	sleep(1);
	$node->safe_psql('postgres', 'SELECT txid_current()');
}
$node->safe_psql('postgres', "VACUUM $_") for qw(tail segment);
for my $session (@sessions)
{
	$session->{in} .= "$session->{query};\n\\q\n";
	$session->{run}->finish;
	like($session->{out}, qr/snapshot too old/, $session->{name}) or diag($session->{out});
}
for my $how (qw(tail segment))
{
	my $session = "$settings " . sprintf($query{search}, $how);

	is($node->safe_psql('postgres', $session), '10', "$how: a new snapshot finds the remaining rows");
}

$node->stop;
done_testing();
