# REINDEX INDEX CONCURRENTLY, and from PostgreSQL 19 on REPACK (CONCURRENTLY), run again and again
# while other sessions insert, update, delete, read and vacuum with parallel workers.  No session gets an error, and the index stays consistent.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{NEARDUP_LONG} ? 12 : 4;

my $node = Node->new('reindex');
$node->init(allows_streaming => 'logical');
$node->append_conf(
	'postgresql.conf', q{
fsync = off
deadlock_timeout = '100ms'
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
max_connections = 30
maintenance_work_mem = '128MB'
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE SEQUENCE ids;
	CREATE TABLE hashes (id int PRIMARY KEY DEFAULT nextval('ids'), kept boolean NOT NULL, h bigint) WITH (parallel_workers = 2);
	CREATE FUNCTION near_centre(i bigint) RETURNS bigint LANGUAGE sql AS
		'SELECT hashint8extended(i % 1000, 7) # (1::bigint << (i % 61)::int)';
	INSERT INTO hashes SELECT nextval('ids'), true, near_centre(i) FROM generate_series(1, 3000) i;
	INSERT INTO hashes SELECT nextval('ids'), false, near_centre(i) FROM generate_series(1, 20000) i;
	CREATE INDEX hashes_h ON hashes USING neardup (h);
});

my %script = (
	writer => [ 4, q{\set r random(1, 100000)
INSERT INTO hashes SELECT nextval('ids'), i % 3 > 0, near_centre(:r + i) FROM generate_series(1, 3) i;
INSERT INTO hashes VALUES (nextval('ids'), true, near_centre(:r));
}],
	changer => [ 1, q{DELETE FROM hashes WHERE NOT kept AND id IN (SELECT id FROM hashes WHERE NOT kept ORDER BY id LIMIT 20);
UPDATE hashes SET h = h WHERE id = (random() * 3000)::int;
BEGIN;
INSERT INTO hashes SELECT nextval('ids'), true, near_centre(i) FROM generate_series(1, 5) i;
ROLLBACK;
}],
	# The first 3,000 rows are never deleted, and a session finds what it inserts.
	reader => [ 2, q{\set c random(0, 999)
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT 1 / (count(*) > 2)::int FROM hashes WHERE is_within(h, hashint8extended(:c, 7), 2) AND id <= 3000;
BEGIN;
INSERT INTO hashes VALUES (nextval('ids'), true, near_centre(:c));
SELECT 1 / (count(*) > 0)::int FROM hashes WHERE id = lastval() AND is_within(h, near_centre(:c), 0);
COMMIT;
}],
	vacuumer => [ 1, "VACUUM (PARALLEL 2) hashes;\n\\sleep 50 ms\n" ],
);

sub found
{
	my ($way) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on;
		SELECT count(*), sum(t.id) FROM generate_series(0, 999, 20) c,
			LATERAL (SELECT id FROM hashes WHERE is_within(h, hashint8extended(c, 7), 1)) t});
}

my @loads;
foreach my $name (sort keys %script)
{
	my ($clients, $sql) = @{ $script{$name} };
	my $file = $node->basedir . "/$name.sql";
	my %load = (name => $name, out => '', err => '');

	append_to_file($file, $sql);
	# Runs until the test ends it, by a signal that jobs in the background do not ignore.
	$load{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-T', 100000, '-h', $node->host, '-p', $node->port, '-f', $file, 'postgres' ],
		'<', \undef, '>', \$load{out}, '2>', \$load{err});
	push @loads, \%load;
}

$node->poll_query_until('postgres', 'SELECT count(*) > 23100 FROM hashes') or die 'no load';
my $errors = 0;
my @commands = 'REINDEX INDEX CONCURRENTLY hashes_h';
push @commands, 'REPACK (CONCURRENTLY) hashes' if $node->safe_psql('postgres', 'SHOW server_version_num') >= 190000;
foreach my $round (1 .. $rounds)
{
	foreach my $command (@commands)
	{
		my $status = $node->psql('postgres', $command, stderr => \my $err);

		$errors++, diag($err) if $status != 0;
	}
}
is($errors, 0, "$rounds times " . join ', ', @commands);
foreach my $load (@loads)
{
	$load->{run}->signal('TERM');
	$load->{run}->finish;
	unlike($load->{err}, qr/ERROR|deadlock|aborted/, "$load->{name}: no error");
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_index i WHERE indrelid = 'hashes'::regclass AND NOT (indisvalid AND indisready)}), 0, 'no invalid index is left');
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/segments/, 'the index is consistent');
is(found('indexscan'), found('seqscan'), 'and finds what a sequential scan finds');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM hashes'), '>', 23100, 'rows were inserted meanwhile');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|is corrupt|ERROR(?!:  canceling autovacuum task)/, 'the log has no error');

$node->stop;
done_testing();
