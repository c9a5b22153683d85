# Parallel builds use the workers that settings allow, and make an index of the same
# contents as a serial build, which finds what a sequential scan finds.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('parallel');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
fsync = off
min_parallel_table_scan_size = 0
min_parallel_index_scan_size = 0
maintenance_work_mem = '128MB'
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION near_centre(i int) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
		'SELECT hashint8extended(i % 1000, 7) # (1::bigint << (i / 1000 % 64)) # (1::bigint << (i % 63))';
	CREATE FUNCTION near_centre_alone(i int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN RETURN public.near_centre(i); END';
	-- NULLs come first, then now and then.
	CREATE TABLE hashes WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, CASE WHEN i > 30000 AND i % 10 > 0 THEN near_centre(i) END AS h FROM generate_series(1, 120000) i;
	CREATE TABLE nulls WITH (parallel_workers = 2, autovacuum_enabled = off) AS SELECT i AS id, NULL::bigint AS h FROM generate_series(1, 20000) i;
	CREATE TABLE few (h bigint) WITH (parallel_workers = 2, autovacuum_enabled = off);
	CREATE TABLE texts WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, string_agg(md5((i % 700 + w * (1 + i % 13 / 12))::text), ' ') AS body
		FROM generate_series(1, 10000) i, generate_series(1, 30) w GROUP BY i;
	UPDATE texts SET body = '' WHERE id % 100 = 0;
	-- One signature has another shape.
	CREATE TABLE mixed WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, CASE WHEN i = 19000 THEN 's' || repeat('0', 15) ELSE 's' END AS kind FROM generate_series(1, 20000) i;
});

# Returns how many workers a statement launched, -1 if it does not say, or its error.
sub workers
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', "SET client_min_messages = debug1; $sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return $err if $err =~ /ERROR/;
	return $err =~ /building index .* with (\d+) parallel workers/ ? $1 : -1;
}

sub check_segments
{
	my ($index, $segments, $what) = @_;

	my ($count) = $node->safe_psql('postgres', "SELECT neardup_check('$index')") =~ /^segments: (\d+)/;
	is($count, $segments, $what);
}

sub found
{
	my ($way) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on;
		SELECT count(*), sum(t.id) FROM generate_series(0, 999, 20) c,
			LATERAL (SELECT id FROM hashes WHERE is_within(h, hashint8extended(c, 7), 2)) t});
}

my $truth = found('seqscan');

is(workers('SET max_parallel_maintenance_workers = 0; CREATE INDEX hashes_h ON hashes USING neardup (h)'), -1, 'no worker with max_parallel_maintenance_workers = 0');
is(found('indexscan'), $truth, 'a serial build finds what a sequential scan finds');
my $contents = "SELECT neardup_check('hashes_h'), documents FROM neardup_index_status('hashes_h')";
my $bytes = "SELECT bytes FROM neardup_index_status('hashes_h')";
my $alone = $node->safe_psql('postgres', $contents);
my $bytes_alone = $node->safe_psql('postgres', $bytes);
$node->safe_psql('postgres', 'DROP INDEX hashes_h');

is(workers('CREATE INDEX hashes_h ON hashes USING neardup (h)'), 2, 'two workers as the table\'s parallel_workers says');
is($node->safe_psql('postgres', $contents), $alone, 'a parallel build has the same contents');
# Each participant's last pages are not full, and how many each has depends on who was first.
cmp_ok(abs($node->safe_psql('postgres', $bytes) - $bytes_alone), '<', $bytes_alone / 10, 'and about the same size');
is(found('indexscan'), $truth, 'a parallel build finds what a sequential scan finds');

is(workers('REINDEX INDEX hashes_h'), 2, 'two workers for REINDEX');
is(found('indexscan'), $truth, 'the rebuilt index finds the same rows');
is(workers('SET max_parallel_maintenance_workers = 1; REINDEX INDEX CONCURRENTLY hashes_h'), 1, 'one worker for REINDEX CONCURRENTLY if one is allowed');
is(found('indexscan'), $truth, 'the index rebuilt concurrently finds the same rows');
check_segments('hashes_h', 1, 'of one segment');

# Too little memory for a single segment, and for several workers to sort in.
is(workers("SET maintenance_work_mem = '1MB'; REINDEX INDEX hashes_h"), 2, 'two workers with little memory');
check_segments('hashes_h', 2, 'of two segments');
is(found('indexscan'), $truth, 'and finds the same rows');

is(workers('CREATE INDEX nulls_h ON nulls USING neardup (h)'), 2, 'two workers for NULLs');
check_segments('nulls_h', 1, 'of one segment');
$node->safe_psql('postgres', 'INSERT INTO nulls VALUES (0, 5)');
check_segments('nulls_h', 1, 'that still takes signatures');
is(workers('CREATE INDEX few_h ON few USING neardup (h)'), -1, 'no worker for an empty table');
is(workers('CREATE TEMP TABLE t WITH (parallel_workers = 2, autovacuum_enabled = off) AS SELECT * FROM hashes; CREATE INDEX ON t USING neardup (h)'), -1, 'no worker for a temporary table');

# Expressions.
is(workers('CREATE INDEX hashes_unsafe ON hashes USING neardup (near_centre_alone(id))'), -1, 'no worker for an expression that is not parallel safe');
$node->safe_psql('postgres', 'DROP INDEX hashes_unsafe');
is(workers('CREATE INDEX texts_body ON texts USING neardup (to_minhash(body)) WHERE id % 7 > 0'), 2, 'two workers for one that is');
check_segments('texts_body', 1, 'of one segment');
is($node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SELECT count(*) FROM texts a, texts b WHERE is_similar(to_minhash(a.body), to_minhash(b.body), 0.5)
		AND a.id % 7 > 0 AND b.id = 1}),
	$node->safe_psql('postgres', q{
	SET enable_indexscan = off; SET enable_bitmapscan = off;
	SELECT count(*) FROM texts a, texts b WHERE is_similar(to_minhash(a.body), to_minhash(b.body), 0.5)
		AND a.id % 7 > 0 AND b.id = 1}), 'and finds the same rows');

# Sets: all sort together.
my $pairs = "SET enable_seqscan = off; SELECT count(*), sum(b.id) FROM texts a JOIN texts b ON is_contained(to_shingles(a.body), to_shingles(b.body), 0.6) WHERE a.id < 30";
$node->safe_psql('postgres', 'INSERT INTO texts SELECT i, NULL FROM generate_series(10001, 10100) i');
is(workers('SET max_parallel_maintenance_workers = 0; CREATE INDEX texts_sets ON texts USING neardup (to_shingles(body), (id % 3))'), -1, 'an index of sets, built alone');
$alone = join(' ', map { $node->safe_psql('postgres', $_) } $pairs, "SELECT neardup_check('texts_sets')");
like($alone, qr/ rows: 10100$/, 'has all rows');
foreach my $memory ('128MB', '1MB')
{
	is(workers("SET maintenance_work_mem = '$memory'; REINDEX INDEX texts_sets"), 2, "two workers for sets in $memory");
	is(join(' ', map { $node->safe_psql('postgres', $_) } $pairs, "SELECT neardup_check('texts_sets')"), $alone, 'make the same index');
}
is(workers('CREATE INDEX nulls_sets ON nulls USING neardup (to_shingles(h::text))'), 2, 'two workers for NULLs in the place of sets');
check_segments('nulls_sets', 1, 'of one segment');
$node->safe_psql('postgres', 'DROP INDEX texts_sets, nulls_sets');

# An error in any process ends the build.
like(workers(q{CREATE INDEX ON mixed USING neardup ((to_minhash(kind, k => CASE WHEN kind = 's' THEN 128 ELSE 256 END)))}),
	qr/holds minhash\(\d+, 1\).* not minhash/, 'an index holds signatures of one shape');
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), 'no worker is left');

# A parallel build is logged.
my $before = found('indexscan');
$node->stop('immediate');
$node->start;
check_segments('hashes_h', 2, 'whole after a crash');
is(found('indexscan'), $before, 'and finds the same rows');

# Parallel vacuum of several indexes.
my ($out, $err) = ('', '');
$node->psql('postgres', "CREATE INDEX hashes_again ON hashes USING neardup (h); DELETE FROM hashes WHERE id % 3 = 0; $Node::PASS_HORIZON");
$node->psql('postgres', 'VACUUM (PARALLEL 2, VERBOSE) hashes', stderr => \$err);
like($err, qr/launched 1 parallel vacuum worker for index vacuuming/, 'vacuum runs in parallel');
my $by_worker = $err =~ /launched 1 parallel vacuum worker for index cleanup/ ? 1 : 0;
is($by_worker, $node->safe_psql('postgres', 'SHOW server_version_num') < 150000 ? 0 : 1, 'a worker does maintenance too, from PostgreSQL 15 on');
like($node->safe_psql('postgres', "SELECT neardup_check('hashes_h'), neardup_check('hashes_again')"), qr/rows: 80000\b.*rows: 80000$/, 'both indexes are consistent');
is(found('indexscan'), found('seqscan'), 'and find what a sequential scan finds');

$node->stop;

# With wal_level = minimal, an index that is not logged is synced at commit.
$node = Node->new('minimal');
$node->init;
$node->append_conf('postgresql.conf', q{
wal_level = minimal
max_wal_senders = 0
wal_skip_threshold = 0
min_parallel_table_scan_size = 0
maintenance_work_mem = '128MB'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
is(workers(q{BEGIN;
	CREATE TABLE hashes WITH (parallel_workers = 2, autovacuum_enabled = off) AS SELECT i AS id, hashint8extended(i, 7) AS h FROM generate_series(1, 20000) i;
	CREATE INDEX hashes_h ON hashes USING neardup (h);
	COMMIT}), 2, 'two workers for an index that is not logged');
$node->stop('immediate');
$node->start;
check_segments('hashes_h', 1, 'whole after a crash');
$node->stop;
done_testing();
