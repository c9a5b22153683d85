# Upkeep gives way: who waits for a lock that only a worker's merge, or vacuum's
# gathering, keeps from him gets it, and what was under way leaves no trace.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = PostgreSQL::Test::Cluster->new('gives_way');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
autovacuum = off
fsync = off
max_worker_processes = 8
max_parallel_maintenance_workers = 0
log_min_messages = debug1
});
$node->start;
$node->safe_psql('postgres', q{CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE nobody NOLOGIN; GRANT nobody TO owner; CREATE DATABASE owned OWNER nobody});

# Small segments, which only a worker that has more memory can merge: for a while.
sub prepare
{
	my ($database) = @_;

	$node->safe_psql($database, q{
		SET client_min_messages = warning;
		CREATE EXTENSION IF NOT EXISTS neardup;
		DROP TABLE IF EXISTS hashes;
		CREATE TABLE hashes AS SELECT i AS id, hashint8extended(i, 7) AS h FROM generate_series(1, 360000) i;
		SET maintenance_work_mem = '1MB';
		CREATE INDEX hashes_h ON hashes USING neardup (h) WITH (groups = 32)});
	return $node->safe_psql($database, q{SELECT pg_relation_size('hashes_h')});
}

# Let a worker begin.
sub start_merge
{
	my ($database) = @_;

	$node->safe_psql($database, 'INSERT INTO hashes SELECT i, hashint8extended(i, 8) FROM generate_series(1, 4200) i');
	foreach (1 .. 2000)
	{
		return if $node->safe_psql($database, q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'hashes_h'::regclass AND locktype = 'page'}) eq 't';
		usleep(5_000);
	}
	die 'no worker has begun';
}

sub wait_for_end
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'neardup upkeep'});
}

sub times_given_way
{
	return scalar(() = slurp_file($node->logfile) =~ /upkeep of index "hashes_h" gives way/g);
}

# ---- Of a table and its index ---------------------------------------------------

my $before = prepare('postgres');

foreach my $n (1 .. 3)
{
	start_merge('postgres');
	# The lock is of the index alone, and the one that dropping or truncating takes.
	cmp_ok($node->safe_psql('postgres', q{BEGIN; ALTER INDEX hashes_h SET TABLESPACE pg_default;
		SELECT segments FROM neardup_index_info('hashes_h'); COMMIT}), '>=', 4, "a command on the index comes before the merge ends ($n)");
	wait_for_end();
	is(times_given_way(), $n, 'which has given way');
}
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/ 372600 rows/, 'nothing is lost');
# Each of the merges may have written as much again as there was.
cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size('hashes_h')}), '<', 2.5 * $before, 'what was begun is used again');

start_merge('postgres');
$node->safe_psql('postgres', 'TRUNCATE hashes');
wait_for_end();
is(times_given_way(), 4, 'TRUNCATE does not wait for a merge');

# ---- Of a database ----------------------------------------------------------------

prepare('owned');
start_merge('owned');
my ($status, $out, $err) = $node->psql('postgres', 'CREATE DATABASE copy TEMPLATE owned');
is($err, '', 'a database is copied while a worker is in it');
wait_for_end();
# A worker that does not see the lock waited for is ended by who owns the database.
start_merge('owned');
my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'neardup upkeep'});
($status, $out, $err) = $node->psql('postgres', "SELECT pg_terminate_backend($pid)", extra_params => [ '-U', 'owner' ]);
is("$out$err", 't', 'who owns a database may end its workers');
wait_for_end();
prepare('owned');
start_merge('owned');
($status, $out, $err) = $node->psql('postgres', 'DROP DATABASE owned WITH (FORCE)', extra_params => [ '-U', 'owner' ]);
is($err, '', 'who owns a database may drop it with force');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database WHERE datname = 'owned'}), 0, 'and it is gone');

# ---- Vacuum ------------------------------------------------------------------------

prepare('postgres');
$node->safe_psql('postgres', 'DELETE FROM hashes WHERE id % 2 = 0; VACUUM (INDEX_CLEANUP OFF) hashes');
my ($in, $output) = ('', '');
my $vacuum = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$output, '2>&1');
# Slow: so slow that it would not end, if it were not for the cost delay that gathering keeps to.
$in .= "SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1; SET vacuum_cost_page_hit = 0; SET vacuum_cost_page_miss = 0; SET vacuum_cost_page_dirty = 0;\n";
$in .= "SET vacuum_cost_page_dirty = 1; VACUUM hashes; SELECT 'vacuumed';\n\\q\n";
$vacuum->pump_nb;
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE phase = 'cleaning up indexes'});
$node->safe_psql('postgres', 'BEGIN; LOCK TABLE hashes; COMMIT');
is(times_given_way() > 4 ? 'yes' : 'no', 'yes', 'gathering gives way to who waits for the table');
$vacuum->finish;
like($output, qr/^vacuumed$/m, 'and the vacuum ends');
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/ 180000 rows/, 'the index is whole');

# ---- The end of the file -------------------------------------------------------------

sub size
{
	return $node->safe_psql('postgres', q{SELECT pg_relation_size('hashes_h')});
}

$node->safe_psql('postgres', 'SET neardup.background = off; TRUNCATE hashes; INSERT INTO hashes SELECT i, hashint8extended(i, 7) FROM generate_series(1, 40000) i; DELETE FROM hashes');
my $full = size();
$node->safe_psql('postgres', 'ALTER TABLE hashes SET (vacuum_truncate = off)');
$node->safe_psql('postgres', 'VACUUM hashes');
cmp_ok(size(), '>=', $full, 'vacuum_truncate = off of the table keeps the file');
$node->safe_psql('postgres', 'ALTER TABLE hashes RESET (vacuum_truncate)');
$node->safe_psql('postgres', 'VACUUM hashes');
is(size(), 8192, 'without it the end of the file is given back');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|you don't own a lock/, 'nothing in the log');
done_testing();
