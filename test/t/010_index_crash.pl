# The server crashes at random moments of a workload that inserts, deletes, builds,
# seals, merges and vacuums.  Afterwards the index is consistent and finds what a
# sequential scan finds.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $rounds = $ENV{NEARDUP_LONG} ? 8 : 3;
srand(42);

my $node = Node->new('crash');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = off
max_connections = 20
shared_buffers = 4MB
wal_consistency_checking = 'generic'
restart_after_crash = off
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE SEQUENCE ids;
	CREATE TABLE hashes (id int DEFAULT nextval('ids'), h bigint);
	CREATE INDEX hashes_h ON hashes USING neardup (h);
	-- Near one of a thousand centres, by a few bits.
	CREATE FUNCTION near_centre(i int) RETURNS bigint LANGUAGE sql AS
		'SELECT hashint8extended(i % 1000, 7) # (1::bigint << (i / 1000 % 64)) # (1::bigint << (i % 63))';
	CREATE FUNCTION insert_many(n int) RETURNS void LANGUAGE sql AS
		'INSERT INTO hashes (h) SELECT near_centre(nextval(''ids'')::int) FROM generate_series(1, n)';
	CREATE FUNCTION parts(h bigint) RETURNS shingles IMMUTABLE LANGUAGE sql AS
		'SELECT public.to_shingles(array_agg((h >> 4 * i & 15) + 16 * i)) FROM generate_series(0, 15) i';
	CREATE INDEX hashes_set ON hashes USING neardup (parts(h));
	CREATE UNLOGGED TABLE passing (h bigint);
	CREATE INDEX passing_h ON passing USING neardup (h);
	SELECT insert_many(10000);
});

my %script = (
	inserts => 'SET neardup.background = off; SELECT insert_many(700);',
	background => 'SELECT insert_many(900);',
	rollbacks => 'SET neardup.background = off; BEGIN; SELECT insert_many(300); ROLLBACK;',
	deletes => 'DELETE FROM hashes WHERE id % 13 = (SELECT last_value % 13 FROM ids) AND id < (SELECT last_value - 20000 FROM ids); UPDATE hashes SET h = h # 1 WHERE id % 1001 = 0;',
	vacuums => 'VACUUM hashes;',
	builds => 'CREATE INDEX CONCURRENTLY again ON hashes USING neardup (h); DROP INDEX again;',
);

# Starts clients that repeat a script until the server is gone.
sub start_clients
{
	my @handles;

	foreach my $name (sort keys %script)
	{
		my $file = $node->basedir . "/$name.sql";

		PostgreSQL::Test::Utils::append_to_file($file, join("\n", split(/(?<=;) /, $script{$name})) . "\n")
		  unless -e $file;
		push @handles,
		  IPC::Run::start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-T', '30', '-f', $file, 'postgres' ],
			'<', \undef, '>', '/dev/null', '2>', '/dev/null');
	}
	return @handles;
}

# Returns the rows near fifty centres, found by an index or a sequential scan.
sub found
{
	my ($way) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on;
		SELECT count(*), sum(t.id) FROM generate_series(1, 1000, 20) c,
			LATERAL (SELECT id FROM hashes WHERE is_within(h, hashint8extended(c, 7), 3)) t;
		SELECT count(*), sum(t.id) FROM generate_series(1, 1000, 20) c,
			LATERAL (SELECT id FROM hashes WHERE is_similar(parts(h), parts(hashint8extended(c, 7)), 0.8)) t});
}

# Children of a killed postmaster keep its shared memory for a moment.
sub start_again
{
	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if $node->start(fail_ok => 1);
		die "the server cannot replay its WAL" if slurp_file($node->logfile) =~ /startup process failure/;
		usleep(100_000);
		$node->stop('fast', fail_ok => 1);
	}
	die "the server does not start again";
}

foreach my $round (1 .. $rounds)
{
	my @handles = start_clients();

	usleep(200_000 + rand(1_800_000));
	if ($round % 2)
	{
		$node->kill9;
	}
	else
	{
		$node->stop('immediate');
	}
	$_->finish foreach @handles;
	start_again();
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS again');
	like($node->safe_psql('postgres', qq{SELECT neardup_check('$_')}), qr/segments/, "round $round: $_ is consistent")
	  foreach qw(hashes_h hashes_set);
	is(found('indexscan'), found('seqscan'), "round $round: the index finds what a sequential scan finds");
}

$node->safe_psql('postgres', 'VACUUM hashes');
like($node->safe_psql('postgres', qq{SELECT neardup_check('$_')}), qr/segments/, "$_ is consistent after a last vacuum")
  foreach qw(hashes_h hashes_set);
is(found('indexscan'), found('seqscan'), 'and finds what a sequential scan finds');
my $bytes = $node->safe_psql('postgres', q{SELECT bytes FROM neardup_index_status('hashes_h')});
$node->safe_psql('postgres', 'REINDEX INDEX hashes_h');
my $rebuilt = $node->safe_psql('postgres', q{SELECT bytes FROM neardup_index_status('hashes_h')});
note("$bytes bytes, $rebuilt after REINDEX");

# An unlogged index is empty after a crash, with and without a checkpoint before it.
foreach my $checkpoint (0, 1)
{
	$node->safe_psql('postgres', 'DROP TABLE passing; CREATE UNLOGGED TABLE passing (h bigint); CREATE INDEX passing_h ON passing USING neardup (h)');
	$node->safe_psql('postgres', 'INSERT INTO passing SELECT near_centre(i) FROM generate_series(1, 5000) i');
	$node->safe_psql('postgres', 'CHECKPOINT') if $checkpoint;
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', q{SELECT neardup_check('passing_h')}),
		'segments: 0, documents: 0, dead: 0, postings: 0, rows: 0', "checkpoint $checkpoint: an unlogged index is empty after a crash");
	$node->safe_psql('postgres', 'INSERT INTO passing SELECT near_centre(i) FROM generate_series(1, 5000) i; VACUUM passing');
	is($node->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM passing WHERE is_within(h, near_centre(1001), 0)}),
		'1', 'and takes rows again');
	like($node->safe_psql('postgres', q{SELECT neardup_check('passing_h')}), qr/ documents: 5000,/, 'all of them');
}

$node->stop;
is(join("\n", $node->signs_of_corruption), '', 'the log has no sign of corruption');
done_testing();
