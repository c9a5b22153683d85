# The disk is full after n writes, for every n.  The statement that fails says so, loses
# nothing, and works once there is room.  'make faults' does the same with real file
# systems.
#
# Autovacuum is off for the server, since the writes of its workers would be counted too.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $source = -e 'test/faults/full.c' ? 'test/faults/full.c' : "$ENV{TESTDIR}/test/faults/full.c";
my $scratch = PostgreSQL::Test::Utils::tempdir;
my ($library, $room) = ("$scratch/full.so", "$scratch/room");

plan skip_all => 'files are identified by Linux\'s /proc' unless -d '/proc/self/fd';
plan skip_all => 'there is no C compiler' if system("cc -shared -fPIC -o $library $source -ldl >$scratch/cc.log 2>&1") != 0;

# The number of times that files of a database may grow.
sub leave
{
	my ($times) = @_;

	open my $file, '+<', $room or die "$room: $!";
	syswrite $file, pack('q', $times);
	close $file;
}
open my $new, '>', $room or die "$room: $!";
close $new;
my $enough = 1 << 40;
truncate $room, 4096;
leave($enough);
chmod 0666, $room;

my $node = Node->new('full_disk');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = off
autovacuum = off
jit = off
shared_buffers = 64MB
checkpoint_timeout = 1h
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
neardup.background = off
});
{
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{NEARDUP_ROOM} = $room;
	$node->start;
}
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE spare AS SELECT i AS id, CASE WHEN i % 20 > 0 THEN hashint8extended(i % 500, 7) # (1::bigint << (i % 63)) END AS h
		FROM generate_series(1, 12000) i;
	CREATE TABLE t (id int, h bigint) WITH (parallel_workers = 2);
	CREATE TABLE sigs AS SELECT id, to_minhash(to_shingles(ARRAY[id / 2, -id, id + 5, id + 9]::bigint[]), 256, 32) AS sig, to_shingles(ARRAY[id / 2, -id, id + 5, id + 9]::bigint[]) AS s FROM spare WHERE h IS NOT NULL AND id <= 2500;
});

my $found = 'SELECT count(*), sum(t.id) FROM generate_series(0, 499, 50) c, LATERAL (SELECT id FROM t WHERE is_within(h, hashint8extended(c, 7), 2)) t';
my $renew = q{DROP INDEX IF EXISTS t_h; TRUNCATE t; INSERT INTO t SELECT * FROM spare;};
my $indexed = $renew . q{ CREATE INDEX t_h ON t USING neardup (h); INSERT INTO t SELECT id + 20000, h FROM spare WHERE id <= 3900;};

sub state_of
{
	return $node->state_of(@_);
}

sub found
{
	my ($way) = @_;
	return $node->safe_psql('postgres', "SET client_min_messages = error; SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on; $found");
}

sub sound
{
	my ($what) = @_;
	my $truth = found('seqscan');

	is(join(' ', found('indexscan'), $node->safe_psql('postgres', "SELECT neardup_check('t_h') LIKE '% rows: %'")), "$truth t", "$what: the index is consistent and finds all rows");
}

# How much more room there is at each try.
my $growth = $ENV{NEARDUP_LONG} ? 3 : 6;

# Allows more and more writes until the statement works.
sub sweep
{
	my ($what, $prepare, $statement, $index_stays) = @_;
	my ($failures, $state) = (0, '');

	for (my $times = 0;; $times = $times * $growth + 1)
	{
		$node->safe_psql('postgres', "SET client_min_messages = error; $prepare") if $prepare ne '';
		my $before = $node->safe_psql('postgres', 'SELECT count(*), sum(id) FROM t');
		leave($times);
		$state = state_of($statement);
		last if $state eq 'no error';
		$failures++;
		my $rows = $node->safe_psql('postgres', 'SELECT count(*), sum(id) FROM t');
		leave($enough);
		is("$state, rows $rows", "53100, rows $before", "$what after $times writes: the error is disk_full, and no row is lost");
		sound("$what after $times writes") if $index_stays;
		last if $state eq 'crash' || $times > 100000;
		is(state_of($statement), 'no error', "$what after $times writes: works with more room");
		sound("$what after $times writes, and then enough");
	}
	leave($enough);
	is($state, 'no error', "$what: works in the end");
	sound($what);
	cmp_ok($failures, '>', 0, "$what: failed at first");
}

my $serial = "SET max_parallel_maintenance_workers = 0;\n";
my $parallel = "SET max_parallel_maintenance_workers = 2;\n";
my $spill = "SET maintenance_work_mem = '1MB'; SET work_mem = '64kB';\n";

sweep('a build', $renew, $serial . 'CREATE INDEX t_h ON t USING neardup (h)', 0);
sweep('a parallel build', $renew, $parallel . 'CREATE INDEX t_h ON t USING neardup (h)', 0);
sweep('REINDEX', $indexed, $serial . 'REINDEX INDEX t_h', 1);
sweep('an insert that seals', $indexed, 'INSERT INTO t SELECT id + 40000, h FROM spare', 1);

# VACUUM says in the log that it does not merge, and goes on.
my $logged = 0;

sub gives_up
{
	my ($what, $dead, $statement) = @_;

	for (my ($times, $done) = (0, 0); !$done; $times = $times * $growth + 1)
	{
		# The table's maps exist before.
		$node->safe_psql('postgres', "SET client_min_messages = error; $indexed VACUUM t; INSERT INTO t SELECT id + 30000, h FROM spare WHERE id <= 3900; DELETE FROM t WHERE $dead; $Node::PASS_HORIZON");
		leave($times);
		is(state_of($statement), 'no error', "$what after $times writes");
		leave($enough);
		my $log = slurp_file($node->logfile, $logged);
		$logged += length $log;
		like($log, qr/vacuum of index "\w+" goes on without merging its segments\n.*could not extend file/, "$what: the log says what it leaves") if $times == 0;
		$done = $log !~ /goes on without merging/;
		sound("$what after $times writes");
	}
}

gives_up('a vacuum that merges', 'id % 2 = 0', 'VACUUM t');
$node->safe_psql('postgres', 'CREATE INDEX t_other ON t USING neardup (h)');
gives_up('a parallel vacuum', 'id % 2 = 0', 'VACUUM (PARALLEL 2) t');
$node->safe_psql('postgres', 'DROP INDEX t_other');
sweep('pairs that spill', $indexed, $serial . $spill . q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM sigs', 0.9)}, 1);
sweep('pairs that spill, in parallel', '', $parallel . $spill . q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM sigs', 0.9)}, 1);
sweep('pairs with evidence', '', $serial . $spill . q{SELECT count(*) FROM neardup_pairs('SELECT id, sig, s FROM sigs', 0.5)}, 1);

# A crash right after a failure loses nothing.
$node->safe_psql('postgres', $indexed);
leave(3);
is(state_of('INSERT INTO t SELECT id + 40000, h FROM spare'), '53100', 'a full disk');
leave($enough);
$node->stop('immediate');
$node->start;
sound('after a crash');
is(state_of('INSERT INTO t SELECT id + 40000, h FROM spare; VACUUM t;'), 'no error', 'the statement works with more room');
sound('after a crash and more');

$node->stop;
done_testing();
