# Writers, readers, vacuum and the background worker run together.  Then the server
# stops during maintenance, and the database is dumped and restored.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('load');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
deadlock_timeout = '100ms'
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE SEQUENCE ids;
	CREATE TABLE hashes (id int PRIMARY KEY DEFAULT nextval('ids'), kept boolean NOT NULL, h bigint);
	CREATE INDEX hashes_h ON hashes USING neardup (h);
	CREATE FUNCTION near_centre(i bigint) RETURNS bigint LANGUAGE sql AS
		'SELECT hashint8extended(i % 1000, 7) # (1::bigint << (i % 61)::int)';
	INSERT INTO hashes SELECT nextval('ids'), true, near_centre(i) FROM generate_series(1, 3000) i;
});

my %script = (
	# Inserts rows one at a time and in bulk, and deletes some.
	writer => [ 4, 400, q{INSERT INTO hashes SELECT nextval('ids'), i % 3 > 0, near_centre(random(1, 100000)) FROM generate_series(1, 20) i;
INSERT INTO hashes SELECT nextval('ids'), true, near_centre(7);
BEGIN;
INSERT INTO hashes SELECT nextval('ids'), true, near_centre(i) FROM generate_series(1, 5) i;
ROLLBACK;
}],
	# Rows that are never deleted are found, and a session's own inserts at once.
	reader => [ 2, 500, q{\set c random(0, 999)
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 1 / (count(*) > 2)::int FROM hashes WHERE is_within(h, hashint8extended(:c, 7), 2) AND id <= 3000;
BEGIN;
INSERT INTO hashes SELECT nextval('ids'), true, near_centre(:c);
SELECT 1 / (count(*) > 0)::int FROM hashes WHERE id = lastval() AND is_within(h, near_centre(:c), 0);
COMMIT;
}],
	deleter => [ 1, 150, q{DELETE FROM hashes WHERE NOT kept AND id IN (SELECT id FROM hashes WHERE NOT kept ORDER BY id LIMIT 60);
UPDATE hashes SET h = h WHERE id = (random() * 3000)::int;
}],
	vacuumer => [ 1, 40, "VACUUM hashes;\n\\sleep 20 ms\n"],
);

sub start_load
{
	my ($transactions) = @_;
	my @loads;

	foreach my $name (sort keys %script)
	{
		my ($clients, $count, $sql) = @{ $script{$name} };
		my $file = $node->basedir . "/$name.sql";
		my %load = (name => $name, out => '', err => '');

		$sql =~ s/random\(1, 100000\)/(random() * 100000)::int/;
		append_to_file($file, $sql) unless -e $file;
		$load{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-t', $transactions || $count, '-h', $node->host, '-p', $node->port, '-f', $file, 'postgres' ],
			'<', \undef, '>', \$load{out}, '2>', \$load{err});
		push @loads, \%load;
	}
	return @loads;
}

sub found
{
	my ($way) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on;
		SELECT count(*), sum(t.id) FROM generate_series(0, 999, 20) c,
			LATERAL (SELECT id FROM hashes WHERE is_within(h, hashint8extended(c, 7), 1)) t});
}

foreach my $load (start_load(0))
{
	$load->{run}->finish;
	is($load->{run}->result(0), 0, "$load->{name}: all done") or diag($load->{err});
	unlike($load->{err}, qr/ERROR|deadlock/, "$load->{name}: no error");
}
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/segments/, 'the index is consistent');
is(found('indexscan'), found('seqscan'), 'and finds what a sequential scan finds');
is($node->safe_psql('postgres', 'SELECT count(*) FROM hashes WHERE kept'), 3000 + 1600 * 15 + 1000, 'no row is lost');
note($node->safe_psql('postgres', q{SELECT neardup_index_status('hashes_h')}));

# A fast shutdown ends a worker at once and leaves the index consistent.
my $rows = $node->safe_psql('postgres', 'SELECT last_value FROM ids');
my @loads = start_load(100000);
$node->poll_query_until('postgres', "SELECT last_value > $rows + 15000 FROM ids") or die 'no load';
$node->stop('fast');
$_->{run}->finish foreach @loads;
$node->start;
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/segments/, 'the index is consistent after a fast shutdown');
is(found('indexscan'), found('seqscan'), 'and finds what a sequential scan finds');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|is corrupt/, 'the log has no sign of corruption');

# Dump and restore.
my $dump = $node->basedir . '/dump';
my $before = found('indexscan');
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-h', $node->host, '-p', $node->port, 'postgres' ], 'dump');
$node->safe_psql('postgres', 'DROP TABLE hashes; DROP FUNCTION near_centre; DROP SEQUENCE ids; DROP EXTENSION neardup');
$node->command_ok([ 'pg_restore', '-e', '-d', 'postgres', '-h', $node->host, '-p', $node->port, $dump ], 'restore');
is(found('indexscan'), $before, 'the restored index finds the same rows');
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/segments/, 'and is consistent');

$node->stop;
done_testing();
