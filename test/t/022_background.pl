# Commands that drop or replace an index concurrently wait for the background worker;
# the worker waits for no session.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('background');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_worker_processes = 8\nmax_parallel_maintenance_workers = 0\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE hashes WITH (autovacuum_enabled = off) AS SELECT i AS id, hashint8extended(i, 7) AS h FROM generate_series(1, 360000) i;
	CREATE TABLE others (h bigint) WITH (autovacuum_enabled = off);
	CREATE INDEX others_h ON others USING neardup (h);
	-- Waits until a worker has begun, or has ended already.
	CREATE FUNCTION worker_runs(index regclass, before int) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		LOOP
			IF EXISTS (SELECT FROM pg_locks WHERE relation = index AND locktype = 'page') THEN
				RETURN true;
			ELSIF (SELECT segments FROM neardup_index_status(index)) <> before
				AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'neardup maintenance') THEN
				RETURN false;
			END IF;
			PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
		END LOOP;
	END $$;
});

# Waits until a query returns t.
sub wait_for
{
	return $node->poll_query_until('postgres', $_[0]);
}

my $no_workers = q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'neardup maintenance'};

foreach my $command ('DROP INDEX CONCURRENTLY hashes_h', 'REINDEX INDEX CONCURRENTLY hashes_h')
{
	my ($file, $done) = ('', '');

	# On a busy machine a worker may have ended before the command begins; then there is another try.
	foreach (1 .. 50)
	{
		# Make small segments, which only a worker can merge, since it has no such limit.
		$node->safe_psql('postgres', q{
			DROP INDEX IF EXISTS hashes_h;
			SET neardup.debug_segment_pages = 120;
			CREATE INDEX hashes_h ON hashes USING neardup (h) WITH (groups = 16)});
		$file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('hashes_h')});
		my $segments = $node->safe_psql('postgres', q{SELECT segments FROM neardup_index_status('hashes_h')});
		# All in one session: a worker ends soon.
		$done = $node->safe_psql('postgres', qq{
			INSERT INTO hashes SELECT i, hashint8extended(i, 8) FROM generate_series(1, 9000) i;
			SELECT worker_runs('hashes_h', $segments);
			$command;
			SELECT 'done'});
		last if $done ne "f\ndone";
	}
	is($done, "t\ndone", "$command while a worker is running");
	ok(wait_for($no_workers), 'the worker ends');
	# A checkpoint removes the file; one that was already running may not.
	$node->safe_psql('postgres', 'CHECKPOINT') foreach 1 .. 2;
	ok(!-e $file, 'the file is gone');
}

# A transaction holds an exclusive lock on the index that it fills.
my ($in, $out) = ('', '');
my $filler = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>&1');
$in .= "BEGIN; TRUNCATE others; INSERT INTO others SELECT hashint8extended(i, 7) FROM generate_series(1, 60000) i; SELECT 'filled';\n";
$filler->pump until $out =~ /filled|ERROR/;
ok(wait_for($no_workers), 'no worker waits for a lock');
$in .= "COMMIT;\n\\q\n";
$filler->finish;
like($node->safe_psql('postgres', q{SELECT neardup_check('others_h')}), qr/documents: 60000,/, 'and the index is consistent');

# Other processes load the library from where the functions have it: before PostgreSQL 18 from
# its own folder whatever the path says, since then from the path.
my $libraries = '/nowhere';
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 180000)
{
	$libraries = PostgreSQL::Test::Utils::tempdir();
	chmod 0755, $libraries;
	system_or_bail('cp', `pg_config --pkglibdir` =~ s/\n//r . '/neardup.so', $libraries);
}
$node->append_conf('postgresql.conf', "dynamic_library_path = '$libraries'\nmax_parallel_maintenance_workers = 2\nmin_parallel_table_scan_size = 0");
$node->restart;
$node->safe_psql('postgres', q{
	TRUNCATE others;
	INSERT INTO others SELECT hashint8extended(i, 7) FROM generate_series(1, 9000) i});
ok(wait_for(q{SELECT segments > 0 FROM neardup_index_status('others_h')}), 'a worker finds the library');
is($node->safe_psql('postgres', q{
	ALTER TABLE others SET (parallel_workers = 2);
	REINDEX INDEX others_h;
	SELECT documents FROM neardup_index_status('others_h')}), 9000, 'a parallel build finds it');
my $counters;
$node->psql('postgres', q{
	SET client_min_messages = debug1;
	SELECT count(*) FROM neardup_pairs('SELECT i, (hashint8extended(i / 2, 0) # (i % 2))::simhash FROM generate_series(2, 300001) i', 0.9)},
	stderr => \$counters);
like($counters, qr/pairs=150\d{3}, workers=[12]$/m, 'a parallel join finds it');

$node->stop;
# A session that has just ended may still be terminated by the shutdown.
unlike(slurp_file($node->logfile), qr/PANIC|ERROR(?!:  canceling autovacuum task)|FATAL(?!:  terminating connection due to administrator command)/, 'the log has no error');
done_testing();
