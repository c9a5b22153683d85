# PostgreSQL rewrites, moves, copies and truncates the storage of an index, leaves it
# out of WAL, rolls back or prepares; the index stays consistent and exact.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('storage');
$node->init(extra => ['--data-checksums']);
$node->append_conf(
	'postgresql.conf', q{
fsync = off
wal_level = minimal
max_wal_senders = 0
full_page_writes = off
wal_skip_threshold = 64
max_prepared_transactions = 4
max_worker_processes = 0
restart_after_crash = off
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION near_centre(i bigint) RETURNS bigint LANGUAGE sql AS
		'SELECT hashint8extended(i % 500, 7) # (1::bigint << (i % 61)::int)';
	CREATE FUNCTION fill(t regclass, first int, n int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE format('INSERT INTO %s SELECT i, near_centre(i) FROM generate_series(%s, %s) i', t, first, first + n - 1);
	END $$;
	CREATE FUNCTION found(t regclass, way text, OUT n bigint, OUT ids numeric) LANGUAGE plpgsql AS $$ BEGIN
		PERFORM set_config('enable_' || scan, (scan = way)::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) scan;
		EXECUTE format('SELECT count(*), sum(t.id) FROM generate_series(0, 499, 20) c,
			LATERAL (SELECT id FROM %s WHERE is_within(h, hashint8extended(c, 7), 2)) t', t) INTO n, ids;
	END $$;
});

# Checks that the index TABLE_h is consistent and finds what a sequential scan finds.
sub check_index
{
	my ($what, $table, $database, $before) = @_;
	my ($status, $out, $err) = $node->psql($database // 'postgres', ($before // '') . qq{
		SELECT 'same' WHERE found('$table', 'seqscan') = found('$table', 'indexscan') AND found('$table', 'seqscan') = found('$table', 'bitmapscan');
		SELECT CASE WHEN neardup_check('${table}_h') LIKE '% rows: ' || count(*) THEN 'whole' END FROM $table});

	$out =~ s/^\n*(\n|$)//gm;
	like($out, qr/same\nwhole$/, $what) or diag($out, $err);
}

sub crash
{
	$node->stop('immediate');
	$node->start;
}

# With this wal_level a table's own transaction does not log its data.
$node->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE made (id int, h bigint);
	CREATE INDEX made_h ON made USING neardup (h);
	SELECT fill('made', 1, 9000);
	SAVEPOINT s;
	SELECT fill('made', 9001, 9000);
	ROLLBACK TO s;
	SELECT fill('made', 20001, 9000);
	COMMIT;
	CREATE TABLE kept (id int, h bigint);
	CREATE INDEX kept_h ON kept USING neardup (h);
	SELECT fill('kept', 1, 9000);
	BEGIN;
	TRUNCATE kept;
	SELECT fill('kept', 30001, 20000);
	ROLLBACK;
	SELECT fill('kept', 9001, 1000);
	CREATE TABLE anew (id int, h bigint);
	CREATE INDEX anew_h ON anew USING neardup (h);
	SELECT fill('anew', 1, 9000);
	BEGIN;
	TRUNCATE anew;
	SELECT fill('anew', 1, 6000);
	SAVEPOINT s;
	TRUNCATE anew;
	SELECT fill('anew', 6001, 6000);
	ROLLBACK TO s;
	SELECT fill('anew', 12001, 200);
	COMMIT;
	SELECT fill('anew', 13001, 5000);
	BEGIN;
	CREATE TABLE twice (id int, h bigint);
	CREATE INDEX twice_h ON twice USING neardup (h);
	SELECT fill('twice', 1, 9000);
	TRUNCATE twice;
	SELECT fill('twice', 9001, 5000);
	COMMIT;
	SELECT fill('twice', 20001, 100);});
check_index("$_: before a crash", $_) foreach ('made', 'kept', 'anew', 'twice');
crash();
check_index("$_: after a crash", $_) foreach ('made', 'kept', 'anew', 'twice');

# Make tables unlogged and logged, move and rewrite them.
my $space = PostgreSQL::Test::Utils::tempdir_short();
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$space'");
foreach my $step (
	'ALTER TABLE made SET UNLOGGED',
	"SELECT fill('made', 40001, 6000)",
	'ALTER INDEX made_h SET TABLESPACE elsewhere',
	"SELECT fill('made', 50001, 100)",
	'ALTER TABLE made SET LOGGED',
	'DELETE FROM made WHERE id % 3 = 0',
	'VACUUM made',
	'ALTER TABLE made SET TABLESPACE elsewhere',
	'VACUUM FULL made',
	'ALTER TABLE made ADD PRIMARY KEY (id); CLUSTER made USING made_pkey',
	'ALTER TABLE made ALTER h TYPE bigint USING h # 1',
	"UPDATE made SET h = near_centre(id); VACUUM made; SELECT fill('made', 60001, 5000)")
{
	$node->safe_psql('postgres', $step);
	check_index($step, 'made');
}
crash();
check_index('after all that and a crash', 'made');

# Prepared transactions survive a crash and a vacuum.
$node->safe_psql('postgres', q{
	BEGIN; SELECT fill('kept', 100001, 6000); PREPARE TRANSACTION 'commits';
	BEGIN; SELECT fill('kept', 200001, 6000); DELETE FROM kept WHERE id <= 3000; PREPARE TRANSACTION 'aborts';});
check_index('with prepared transactions', 'kept');
crash();
$node->safe_psql('postgres', q{VACUUM kept; ROLLBACK PREPARED 'aborts'; COMMIT PREPARED 'commits'; VACUUM kept});
check_index('after the prepared transactions ended', 'kept');
is($node->safe_psql('postgres', 'SELECT count(*) FROM kept'), 16000, 'with the rows of the one committed');

# Temporary tables have few buffers, which are local.
check_index('a temporary table', 'passing', 'postgres', q{
	SET temp_buffers = 100;
	CREATE TEMP TABLE passing (id int, h bigint);
	CREATE INDEX passing_h ON passing USING neardup (h);
	SELECT fill('passing', 1, 30000);
	DELETE FROM passing WHERE id % 3 = 0;
	VACUUM passing;
	SELECT fill('passing', 30001, 30000);});
check_index('one that forgets its rows', 'passing', 'postgres', q{
	CREATE TEMP TABLE passing (id int, h bigint) ON COMMIT DELETE ROWS;
	CREATE INDEX passing_h ON passing USING neardup (h);
	BEGIN; SELECT fill('passing', 1, 30000); COMMIT;
	BEGIN; SELECT fill('passing', 1, 100); COMMIT;
	BEGIN; SELECT fill('passing', 1, 10000);});

# In a copy of a database, indexes have the same OIDs and file names.
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
$node->safe_psql('copy', q{DELETE FROM kept WHERE id % 2 = 0; VACUUM kept; SELECT fill('kept', 300001, 9000)});
check_index('a copy of a database', 'kept', 'copy');
check_index('and its origin', 'kept');
$node->safe_psql('postgres', 'DROP DATABASE copy');

# Cancel statements again and again, at random moments.
$node->safe_psql('postgres', q{
	CREATE TABLE often (id int, h bigint);
	CREATE INDEX often_h ON often USING neardup (h);
	CREATE FUNCTION try_fill(i int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM fill('often', i * 3000, 3000);
	EXCEPTION WHEN query_canceled THEN NULL;
	END $$;});
my $tries = join '', map { my $ms = 1 + $_ * 7 % 60; "SET statement_timeout = $ms; SELECT try_fill($_); SET statement_timeout = 0;" . ($_ % 10 ? '' : 'VACUUM often;') } 1 .. 80;
# A timeout may also end a statement outside the function, before or after.
my ($status, $out, $err) = $node->psql('postgres', $tries, on_error_stop => 0);
check_index('after many cancelled inserts', 'often');
($status, $out, $err) = $node->psql('postgres', join('', map { my $ms = 1 + $_ * 3 % 20; "DELETE FROM often WHERE id % 80 = $_; SET statement_timeout = $ms; VACUUM often; SET statement_timeout = 0;" } 1 .. 40), on_error_stop => 0);
check_index('after many cancelled vacuums', 'often');
$node->safe_psql('postgres', 'VACUUM often');
check_index('after a complete vacuum', 'often');

# Single-user mode: there is no other process.
$node->stop;
my $in = "INSERT INTO often SELECT i, near_centre(i) FROM generate_series(900001, 930000) i\nVACUUM often\n";
my $alone = IPC::Run::run([ 'postgres', '--single', '-D', $node->data_dir, 'postgres' ], '<', \$in, '>', \$out, '2>', \$err);
$node->start;
check_index('after single-user mode', 'often');
is($node->safe_psql('postgres', 'SELECT count(*) FROM often WHERE id > 900000'), 30000, 'rows were inserted in single-user mode');

$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'all page checksums are valid');
is(join("\n", $node->signs_of_corruption), '', 'the log has no sign of corruption');
done_testing();
