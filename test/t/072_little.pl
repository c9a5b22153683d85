# With little memory, few workers and short timeouts, answers are the same, or an error
# says what there is too little of.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('little');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = off
jit = off
log_temp_files = 0
min_parallel_table_scan_size = 0
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE FUNCTION near_centre(i int) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
		'SELECT hashint8extended(i % 300, 7) # (1::bigint << (i / 300 % 64)) # (1::bigint << (i % 63))';
	-- The hashes are dense: a search finds more than fits into 64 kB.
	CREATE TABLE t WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, CASE WHEN i % 20 > 0 THEN near_centre(CASE WHEN i % 3 = 0 THEN i ELSE i % 50 * 300 END) END AS h
		FROM generate_series(1, 20000) i;
	CREATE TABLE s WITH (parallel_workers = 2, autovacuum_enabled = off) AS
		SELECT i AS id, to_minhash(set) AS sig, set
		FROM (SELECT i, to_shingles(array_agg((hashint4(i % 900) + w * (1 + i % 17 / 16))::bigint)) AS set
			FROM generate_series(1, 1800) i, generate_series(1, 40) w GROUP BY i) x;
	CREATE TABLE o WITH (autovacuum_enabled = off) AS SELECT id, h::simhash AS h FROM t;
	CREATE INDEX o_h ON o USING neardup (h);
	CREATE INDEX t_h ON t USING neardup (h);
	CREATE INDEX s_sig ON s USING neardup (sig);
	INSERT INTO t SELECT id + 100000, h FROM t WHERE id <= 3000;
	ANALYZE;
});

my $little = q{SET work_mem = '64kB'; SET maintenance_work_mem = '1MB'; SET neardup.cache_size = 0; SET temp_buffers = '800kB';};
my $much = q{SET work_mem = '256MB'; SET maintenance_work_mem = '512MB';};
my %way = (
	'index' => 'SET enable_seqscan = off; SET enable_bitmapscan = off;',
	bitmap => 'SET enable_seqscan = off; SET enable_indexscan = off;',
	ordered => 'SET enable_seqscan = off; SET enable_sort = off; SET enable_incremental_sort = off;',
	sequential => 'SET enable_indexscan = off; SET enable_bitmapscan = off;',
	parallel => 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2;',
);

sub answer
{
	return $node->safe_psql('postgres', $_[0]);
}

# Queries, and the plans beside the sequential scan that each is tried with.
my $centres = 'generate_series(0, 49) c';
my @queries = (
	['SELECT count(*), sum(t.id), sum(t.id::bigint * c) FROM ' . $centres . ', LATERAL (SELECT id FROM t WHERE is_within(h, hashint8extended(c, 7), 2)) t', qw(index bitmap parallel)],
	['SELECT count(*), sum(id) FROM t WHERE is_within(h, hashint8extended(0, 7), 40)', qw(index bitmap parallel)],
	['SELECT count(*), sum(id) FROM t WHERE is_within(h, hashint8extended(7, 7), 22) OR is_within(h, hashint8extended(8, 7), 21)', qw(bitmap)],
	['SELECT count(*), sum(id) FROM t WHERE is_within(h, hashint8extended(7, 7), 30) AND is_within(h, hashint8extended(8, 7), 30)', qw(index bitmap)],
	['SELECT count(*), sum(d) FROM (SELECT h <~> hashint8extended(9, 7)::simhash AS d FROM o WHERE h IS NOT NULL ORDER BY h <~> hashint8extended(9, 7)::simhash LIMIT 9000) q', qw(ordered)],
	['SELECT count(*), sum(a.id::bigint * b.id) FROM s a JOIN s b ON is_similar(a.sig, b.sig, 0.9)', qw(index bitmap)],
	['SELECT count(*), sum(id::bigint * least) FROM (SELECT a.id, (SELECT min(b.id) FROM s b WHERE is_similar(b.sig, a.sig, 0.8)) AS least FROM s a) q', qw(index bitmap)],
	['SELECT count(*), sum(hashtext(sig::text)) FROM (SELECT sig FROM s GROUP BY sig) q', qw(index)],
	['SELECT count(*), sum(hashtext(sig::text)::bigint * place) FROM (SELECT sig, row_number() OVER (ORDER BY sig, id) AS place FROM s) q', qw(index)],
	[q{SELECT count(*), sum(a * b), sum(similarity) FROM neardup_pairs('SELECT id, sig FROM s ORDER BY id', 0.8)}, qw(parallel)],
	[q{SELECT count(*), sum(a * b), sum(similarity) FROM neardup_pairs('SELECT id, sig FROM s ORDER BY id', 0.8, equal => 'all')}, qw(parallel)],
	[q{SELECT count(*), sum(a * b), sum(similarity) FROM neardup_pairs('SELECT id, sig, set FROM s ORDER BY id', 0.8)}, qw(parallel)],
	[q{SELECT count(*), sum(a * b), sum(similarity) FROM neardup_pairs('SELECT id, set FROM s ORDER BY id', 0.7)}, qw(parallel)],
	[q{SELECT count(*), sum(a * b) FROM neardup_pairs('SELECT id, sig FROM s WHERE id % 7 < 3 ORDER BY id', 0.8, against => 'SELECT id, sig FROM s WHERE id % 7 >= 3 ORDER BY id')}, qw(parallel)],
	[q{SELECT count(*), sum(id * keeper), sum(size) FROM neardup_clusters('SELECT id, sig FROM s ORDER BY id', 0.8)}, qw(parallel)],
	[q{SELECT count(*), sum(id * keeper), sum(size) FROM neardup_clusters('SELECT id, sig FROM s ORDER BY id', 0.8, nearest => true)}, qw(parallel)],
	[q{SELECT count(*), sum(id * keeper), sum(size) FROM neardup_clusters('SELECT id, sig FROM s ORDER BY id', 0.8, method => 'components')}, qw(parallel)],
	[q{SELECT count(*), sum(df) FROM neardup_frequencies('SELECT set FROM s')}, qw(parallel)],
);

# Queries with "parallel" read all of the table and no index.
sub all_queries
{
	my ($what, $batch) = @_;

	foreach my $query ($batch ? @queries : grep { $_->[1] ne 'parallel' } @queries)
	{
		my ($sql, @ways) = @$query;
		my $truth = answer("$much $way{sequential} $sql");
		my $short = substr $sql, 0, 90;

		unlike($truth, qr/^0\|/, "$short ... finds rows");
		foreach my $way (@ways)
		{
			is(answer("$little $way{$way} $sql"), $truth, "$what, little memory, $way");
			is(answer("$much $way{$way} $sql"), $truth, "$what, much memory, $way") if $batch;
		}
	}
}

all_queries('built with default settings', 1);

# ---- Builds with little memory --------------------------------------------------

foreach my $workers (0, 2)
{
	foreach my $command ('REINDEX INDEX', 'REINDEX INDEX CONCURRENTLY')
	{
		answer("$little SET max_parallel_maintenance_workers = $workers; $command $_") foreach ('t_h', 's_sig');
		like(answer("$little SELECT neardup_check('t_h'), neardup_check('s_sig')"), qr/ rows: \d+\|.* rows: \d+$/, "$command with 1 MB and $workers workers");
	}
}
all_queries('built with little');
answer(qq{$little DELETE FROM t WHERE id % 3 = 1; DELETE FROM s WHERE id % 3 = 1});
$node->safe_psql('postgres', 'VACUUM t, s', extra_params => ['-c', $little]);
answer("$little SET neardup.background = off; INSERT INTO t SELECT id + 200000, h FROM t");
all_queries('vacuumed and filled with little');
like(answer("SELECT neardup_check('t_h'), neardup_check('s_sig')"), qr/ rows: \d+\|.* rows: \d+$/, 'the indexes are consistent');

# ---- Limits that raise errors ----------------------------------------------------

sub state_of
{
	return $node->state_of(@_);
}

sub temporary_files
{
	return join ' ', map { glob($node->data_dir . "/base/pgsql_tmp/$_") } ('pgsql_tmp*/*', 'pgsql_tmp*');
}

# Pairs and clusters that spill to disk raise an error at the limit and leave no file;
# without the limit they return an answer.
my %spills = (
	signatures => q{neardup_pairs('SELECT id * 4 + g, to_minhash(set | to_shingles(ARRAY[g, id]::bigint[]), 256, 32) FROM s, generate_series(0, 3) g', 0.8)},
	'the evidence' => q{neardup_pairs('SELECT id, sig, set FROM s', 0.8)},
	clusters => q{neardup_clusters('SELECT id, to_minhash(set, 2048, 32) FROM s', 0.8, method => 'components')});
foreach my $what (sort keys %spills)
{
	foreach my $workers (0, 2)
	{
		my $query = "$little SET max_parallel_maintenance_workers = $workers; SELECT count(*) FROM $spills{$what}";
		is(state_of("SET temp_file_limit = '8kB'; $query"), '53400', "temp_file_limit: $what, $workers workers");
		is(temporary_files(), '', 'no temporary file is left');
		is(state_of($query), 'no error', 'without the limit there is an answer');
	}
}
answer(q{CREATE TABLE nulls AS SELECT i AS id, CASE WHEN i > 30000 THEN i::bigint END AS h FROM generate_series(1, 31000) i});
is(state_of("SET temp_file_limit = '8kB'; CREATE INDEX nulls_h ON nulls USING neardup (h)"), '53400', 'temp_file_limit: a build that begins with NULLs');
is(temporary_files(), '', 'no temporary file is left');
is(state_of('CREATE INDEX nulls_h ON nulls USING neardup (h)'), 'no error', 'without the limit there is an index');
like(answer("SELECT neardup_check('nulls_h')"), qr/ rows: 31000$/, 'which is consistent');

# Locks held by another session.
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE');
foreach my $sql ('SELECT count(*) FROM t WHERE is_within(h, 1, 2)', 'INSERT INTO t VALUES (1, 1)', 'REINDEX INDEX t_h', 'VACUUM t', q{SELECT neardup_check('t_h')},
	q{SELECT count(*) FROM neardup_pairs('SELECT id, h::simhash FROM t', 0.9)})
{
	is(state_of("SET lock_timeout = 50;\n$sql"), '55P03', "lock_timeout: $sql");
}
$holder->query_safe('ROLLBACK');
is(answer("SELECT count(*) FROM pg_locks WHERE locktype = 'page'"), '0', 'no lock is left');

# Commands that wait for maintenance, while a throttled vacuum holds its lock.
$holder->query_until(qr/^/, "SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1; DELETE FROM t WHERE id % 5 = 0; VACUUM t;\n");
$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'page' AND granted") or die;
is(state_of("SET lock_timeout = 50;\nSELECT neardup_check('t_h')"), '55P03', 'lock_timeout: neardup_check beside a vacuum');
is(state_of("SET lock_timeout = 50;\nINSERT INTO t SELECT 300000 + i, i FROM generate_series(1, 9000) i"), 'no error', 'an insert does not wait');
my $vacuum = answer(q{SELECT pid FROM pg_locks WHERE locktype = 'page' AND granted LIMIT 1});
is(answer("SELECT pg_cancel_backend($vacuum)"), 't', 'the vacuum is cancelled');
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'page'") or die;
like(answer("SELECT neardup_check('t_h')"), qr/ rows: \d+$/, 'and the index is consistent');
eval { $holder->quit };

# A session is idle in a transaction, with an open scan and rows inserted.
my $idle = $node->background_psql('postgres');
$idle->query_safe(q{BEGIN; SET LOCAL enable_seqscan = off;
	DECLARE c CURSOR FOR SELECT id FROM t WHERE is_within(h, hashint8extended(7, 7), 30); FETCH 3 FROM c;
	INSERT INTO t SELECT 400000 + i, i FROM generate_series(1, 5000) i;
	SET idle_in_transaction_session_timeout = 100});
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE state = 'idle in transaction'") or die;
eval { $idle->quit };
is(answer('SELECT count(*) FROM t WHERE id > 400000'), '0', 'the rows that an idle session inserted are gone');
like(answer("SELECT neardup_check('t_h')"), qr/ rows: \d+$/, 'and the index is consistent');
all_queries('after all that');

# ---- A server with the smallest settings -------------------------------------------

$node->append_conf(
	'postgresql.conf', q{
max_worker_processes = 0
max_parallel_workers = 0
max_connections = 5
max_wal_senders = 0
max_locks_per_transaction = 10
shared_buffers = '512kB'
work_mem = '64kB'
maintenance_work_mem = '1MB'
});
$node->restart;
foreach my $command ('REINDEX INDEX t_h', 'REINDEX INDEX CONCURRENTLY t_h', 'CREATE INDEX again ON t USING neardup (h)',
	'INSERT INTO t SELECT 500000 + id, h FROM t WHERE id <= 30000', 'DELETE FROM t WHERE id % 7 = 0', 'VACUUM t')
{
	is(state_of("SET max_parallel_maintenance_workers = 2;\n$command;"), 'no error', "no worker, few buffers: $command");
}
like(answer("SELECT neardup_check('t_h'), neardup_check('again')"), qr/ rows: \d+\|.* rows: \d+$/, 'the indexes are consistent');
cmp_ok(answer("SELECT tail FROM neardup_index_status('t_h')"), '<', 16384 + 4096, 'inserts seal the tail');
all_queries('with the smallest settings', 1);

# All connections are taken; background workers have their own slots.  The one that is left is for one index.
answer('DROP INDEX again');
$node->append_conf('postgresql.conf', 'max_worker_processes = 2');
$node->restart;
my @taken = map { $node->background_psql('postgres') } 1 .. 5;
isnt(state_of('SELECT 1'), 'no error', 'all connections are taken');
$taken[0]->query_safe('INSERT INTO t SELECT 600000 + id, h FROM t WHERE id <= 20000');
my $gone = 0;
foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if $gone = $taken[1]->query_safe("SELECT tail < 16384 FROM neardup_index_status('t_h')") =~ /^t$/m;
	select undef, undef, undef, 0.1;
}
ok($gone, 'a worker still seals the tail');
$_->quit foreach @taken;
like(answer("SELECT neardup_check('t_h')"), qr/ rows: \d+$/, 'the index is consistent');

$node->stop;
done_testing();
