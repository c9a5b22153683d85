# Maintenance, vacuum and builds stay within maintenance_work_mem, however large a segment's
# directory and map are.  The kernel limits the memory of a server process.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'this needs prlimit and /proc' if !-r '/proc/self/status' || system('prlimit --version >/dev/null 2>&1') != 0;

my $node = Node->new('maintenance_memory');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = off
jit = off
max_parallel_maintenance_workers = 0
maintenance_work_mem = '1MB'
neardup.background = off
});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE TABLE source WITH (autovacuum_enabled = off) AS SELECT i AS id, to_minhash(to_shingles(ARRAY[i, i << 20]), 256, 32) AS sig FROM generate_series(1::bigint, 20000) i;
	CREATE TABLE wide (LIKE source) WITH (autovacuum_enabled = off);
	CREATE INDEX wide_sig ON wide USING neardup (sig);
	CREATE TABLE hashes WITH (autovacuum_enabled = off) AS SELECT i AS id, hashint8extended(i, 7) AS h FROM generate_series(1, 200000) i;
	CREATE INDEX hashes_h ON hashes USING neardup (h);
});

# Numbers that are mixed into one of the ranges of buckets that sets are sorted by: the inverse of mix64().
sub unmixed
{
	my ($x) = @_;
	my ($multiplier, $inverse) = (15485907867441888659, 1);
	my $fold = sub { my ($y) = @_; return $y ^ ($y >> 32); };
	my $times = sub { use integer; my ($y, $z) = @_; return $y * $z; };

	$inverse = $times->($inverse, $times->(1, 2 - $times->($multiplier, $inverse))) foreach 1 .. 64;
	$x = $fold->($x + 0);
	$x = $fold->($times->($x, $inverse) & ~0) foreach 1 .. 2;
	return unpack 'q', pack 'Q', $x;
}
my $elements = join ',', map { unmixed($_ << 48) } 1 .. 2000;

# 20,000 sets of 100 of these, and one that is sorted in parts.
$node->safe_psql('postgres', qq{
	CREATE TABLE sets (id int, s shingles) WITH (autovacuum_enabled = off);
	INSERT INTO sets SELECT i, to_shingles((SELECT array_agg(e[1 + (i * 37 + j * (1 + i % 19)) % 2000]) FROM generate_series(1, 100) j))
	FROM (SELECT ARRAY[$elements]::bigint[] AS e OFFSET 0) a, generate_series(1, 20000) i;
	INSERT INTO sets SELECT 0, to_shingles(array_agg(i)) FROM generate_series(1::bigint, 100000) i;
	CREATE INDEX sets_s ON sets USING neardup (s);
});

# Memory allowed beyond maintenance_work_mem, for the statement and vacuum's dead rows.  A server
# with assertions marks each piece of memory, and keeps copies.
my $kb = 1024 + 2048 + ($node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on' ? 2048 : 0);

# Runs a statement in a session that may take only so much more memory than it has.
sub within_memory
{
	my ($before, $statement, $what) = @_;
	my ($status, $out, $err) = $node->psql('postgres', qq{
		$before;
		$Node::PASS_HORIZON
		SELECT pg_backend_pid() AS pid \\gset
		\\setenv PID :pid
		\\! prlimit --pid \$PID --data=\$(( (\$(awk '/VmData/ { print \$2 }' /proc/\$PID/status) + $kb) * 1024 ))
		$statement});

	is($status . $err, '0', $what);
}

# Fill the catalog caches, and all that a session allocates at its first statement.
my $warm = q{SELECT count(*) FROM wide WHERE id = 1; SELECT neardup_index_status('wide_sig')};

within_memory($warm, 'INSERT INTO wide SELECT * FROM source', 'inserts seal and merge');
is($node->safe_psql('postgres', q{SELECT max(documents) > 2000 FROM neardup_explain('wide_sig', near((SELECT sig FROM source WHERE id = 1), 0.9)) WHERE segment IS NOT NULL}),
	't', 'segments were merged');
within_memory($warm, 'VACUUM wide', 'a vacuum with nothing to do');
within_memory("DELETE FROM wide WHERE id > 16384 AND id < 18000; $warm", 'VACUUM wide', 'vacuum marks dead documents');
within_memory("DELETE FROM wide WHERE id % 5 < 2; INSERT INTO wide SELECT * FROM source WHERE id < 3000; $warm", 'VACUUM wide', 'vacuum gathers');
like($node->safe_psql('postgres', q{SELECT neardup_check('wide_sig')}), qr/^segments: 1,/, 'into one segment');
within_memory($warm, 'REINDEX INDEX wide_sig', 'a build of wide signatures');
within_memory($warm, 'REINDEX INDEX hashes_h', 'a build of many documents');
within_memory("SET maintenance_work_mem = '16MB'; REINDEX INDEX hashes_h; SET maintenance_work_mem = '1MB'; DELETE FROM hashes WHERE id % 5 < 2; $warm", 'VACUUM hashes', 'a segment that was built with more memory');
is($node->safe_psql('postgres', q{SELECT neardup_check('hashes_h') LIKE '% rows: 120000'}), 't', 'the index is consistent');

within_memory($warm, 'REINDEX INDEX sets_s', 'a build of sets of crafted elements');
within_memory("$warm; SELECT to_shingles('{1}'::bigint[])", 'INSERT INTO sets SELECT * FROM sets WHERE id > 0', 'inserts seal and merge sets of crafted elements');
within_memory("DELETE FROM sets WHERE id % 3 = 1; $warm", 'VACUUM sets', 'a vacuum merges them');
like($node->safe_psql('postgres', q{SELECT neardup_check('sets_s')}), qr/ rows: 26667$/, 'and the index of them is consistent');

$node->stop;
done_testing();
