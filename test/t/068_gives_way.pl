# Maintenance gives way: a session that waits for a lock held by a worker's merge or by
# vacuum's gets it, and the interrupted work leaves no trace.
#
# Autovacuum is off for the server, since the owner of a database may not end its workers, and
# CREATE DATABASE waits for them.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('gives_way');
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

# Makes small segments.  Only a worker, which has no such limit, can merge them; that takes time.
sub prepare
{
	my ($database) = @_;

	$node->safe_psql($database, q{
		SET client_min_messages = warning;
		CREATE EXTENSION IF NOT EXISTS neardup;
		DROP TABLE IF EXISTS hashes;
		CREATE TABLE hashes AS SELECT i AS id, hashint8extended(i, 7) AS h FROM generate_series(1, 360000) i;
		SET neardup.debug_segment_pages = 150;
		CREATE INDEX hashes_h ON hashes USING neardup (h) WITH (groups = 32)});
	return $node->safe_psql($database, q{SELECT pg_relation_size('hashes_h')});
}

# Starts a worker's merge, and runs statements in the same session as soon as it has begun
# (the tail is sealed before), or has ended already: a merge may end before another psql is there.
sub during_merge
{
	my ($database, $statements) = @_;

	return $node->safe_psql($database, q{
		INSERT INTO hashes SELECT i, hashint8extended(i, 8) FROM generate_series(1, 8500) i;
		DO $$
		BEGIN
			LOOP
				EXIT WHEN (SELECT tail FROM neardup_index_status('hashes_h')) < 4000
					AND (EXISTS (SELECT FROM pg_locks WHERE relation = 'hashes_h'::regclass AND locktype = 'page')
						OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'neardup maintenance'));
				PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
			END LOOP;
		END $$;} . $statements);
}

sub wait_for_end
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'neardup maintenance'});
}

sub times_given_way
{
	return scalar(() = slurp_file($node->logfile) =~ /maintenance of index "hashes_h" gives way/g);
}

# Runs statements that a merge gives way to.  Returns what they print, and whether it has given
# way.  On a busy machine a merge may have ended before they begin; then there is another try.
sub interrupt_merge
{
	my ($statements) = @_;

	foreach (1 .. 50)
	{
		my $before = times_given_way();
		my $said = during_merge('postgres', $statements);

		wait_for_end();
		return ($said, 1) if times_given_way() > $before;
		prepare('postgres');
	}
	return ('', 0);
}

# ---- Locks on a table and its index ---------------------------------------------

my $before = prepare('postgres');

foreach my $n (1 .. 3)
{
	# This takes the same lock as DROP or TRUNCATE, on the index alone.
	my ($segments, $gives_way) = interrupt_merge(q{BEGIN; ALTER INDEX hashes_h SET TABLESPACE pg_default;
		SELECT segments FROM neardup_index_status('hashes_h'); COMMIT});

	ok($gives_way, "the merge has given way ($n)");
	cmp_ok($segments, '>=', 4, 'a command on the index does not wait for the merge to end');
}
is($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h') LIKE '% rows: ' || count(*) AND count(*) > 360000 FROM hashes}), 't', 'no document is lost');
# Without reuse each merge could have doubled the size.
cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size('hashes_h')}), '<', 2.5 * $before, 'pages of interrupted merges are reused');

ok((interrupt_merge('TRUNCATE hashes'))[1], 'TRUNCATE does not wait for a merge');

# ---- Databases --------------------------------------------------------------------

prepare('owned');
during_merge('owned', "\n\\c postgres\nCREATE DATABASE copy TEMPLATE owned");
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database WHERE datname = 'copy'}), 1, 'a database can be copied while a worker runs in it');
wait_for_end();
# The owner of a database may end a worker that does not notice the waiting session.
my $ended = 'f';
foreach (1 .. 50)
{
	# There is no process 0, so the answer is false if the worker has ended already.
	$ended = during_merge('owned', q{
		SELECT coalesce(max(pid), 0) AS pid FROM pg_stat_activity WHERE backend_type = 'neardup maintenance' \gset
		SET ROLE owner;
		SELECT pg_terminate_backend(:pid)});
	wait_for_end();
	prepare('owned');
	last if $ended eq 't';
}
is($ended, 't', 'the owner of a database may end its workers');
# The session of a superuser that ends must be gone: only a superuser may terminate it.
$node->safe_psql('postgres', q{
	CREATE PROCEDURE wait_for_sessions() LANGUAGE plpgsql AS $$
	BEGIN
		WHILE EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'owned' AND backend_type = 'client backend') LOOP
			PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
		END LOOP;
	END $$});
during_merge('owned', "\n\\c postgres owner\nCALL wait_for_sessions();\nDROP DATABASE owned WITH (FORCE)");
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database WHERE datname = 'owned'}), 0, 'the owner of a database may drop it with force');

# ---- Vacuum ------------------------------------------------------------------------

prepare('postgres');
my $given_way = times_given_way();
$node->safe_psql('postgres', 'DELETE FROM hashes WHERE id % 2 = 0; VACUUM (INDEX_CLEANUP OFF) hashes');
my ($in, $output) = ('', '');
my $vacuum = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$output, '2>&1');
# Vacuum is so slow that it would not end if merging did not obey the cost delay.
$in .= "SET vacuum_cost_delay = 10; SET vacuum_cost_limit = 1; SET vacuum_cost_page_hit = 0; SET vacuum_cost_page_miss = 0; SET vacuum_cost_page_dirty = 0;\n";
$in .= "SET vacuum_cost_page_dirty = 1; VACUUM hashes; SELECT 'vacuumed';\n\\q\n";
$vacuum->pump_nb;
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE phase = 'cleaning up indexes'});
$node->safe_psql('postgres', 'BEGIN; LOCK TABLE hashes; COMMIT');
cmp_ok(times_given_way(), '>', $given_way, 'merging gives way to a session that waits for the table');
$vacuum->finish;
like($output, qr/^vacuumed$/m, 'and the vacuum ends');
like($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h')}), qr/ rows: 180000$/, 'the index is consistent');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|you don't own a lock/, 'the log has no internal error');
done_testing();
