# Reads that bypass the buffer table are counted in the statistics and in the buffers'
# usage, so that pages that are searched often are not the first to be evicted.
#
# Autovacuum is off for the server, whose few buffers its workers would use too.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('use');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nneardup.background = off\nfsync = off\nshared_buffers = 2MB\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE t AS SELECT i AS id, hashint8extended(i % 1000, 7) # (1::bigint << (i % 61)::int) AS h FROM generate_series(1, 20000) i;
	CREATE INDEX t_h ON t USING neardup (h);
	INSERT INTO t SELECT i, hashint8extended(i, 8) FROM generate_series(20001, 23000) i;
	CREATE TABLE big AS SELECT i AS id, repeat('x', 1000) AS filler FROM generate_series(1, 30000) i;
	CREATE INDEX big_id ON big (id);
});

# Repeats a search in one session; a scan of packed documents reads all their pages.
sub searches
{
	my ($times) = @_;

	return q{SET enable_seqscan = off; SET enable_bitmapscan = off; SET neardup.search = 'scan';}
	  . "DO \$\$ BEGIN FOR i IN 1 .. $times LOOP PERFORM count(*) FROM t WHERE is_within(h, hashint8extended(5, 7), 2); END LOOP; END \$\$;";
}

my $reads = q{SELECT idx_blks_hit + idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 't_h'};

$node->safe_psql('postgres', searches(1));
my $before = $node->safe_psql('postgres', $reads);
$node->safe_psql('postgres', searches(100));
# A session reports its statistics at its end; the collector before 15 takes a moment.
ok($node->poll_query_until('postgres', "SELECT idx_blks_hit + idx_blks_read - $before >= 100 * 30 FROM pg_statio_user_indexes WHERE indexrelname = 't_h'"), 'every page read is counted');

# Fill the buffers and search by turns: the pages searched stay in the buffers.
my ($out, $err);
my $turn = q{SET enable_seqscan = off; SELECT count(filler) FROM big WHERE id BETWEEN %d AND %d;};
my $script = '';
for my $round (0 .. 19)
{
	$script .= sprintf($turn, $round * 1400 + 1, $round * 1400 + 1400) . searches(3);
}
$before = $node->safe_psql('postgres', q{SELECT idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 't_h'});
$node->psql('postgres', $script, stdout => \$out, stderr => \$err);
is($err, '', 'searches while buffers are scarce raise no error');
my $after = $node->safe_psql('postgres', q{SELECT idx_blks_read FROM pg_statio_user_indexes WHERE indexrelname = 't_h'});
my $evicted = $after - $before;
my $size = $node->safe_psql('postgres', q{SELECT pg_relation_size('t_h') / 8192});
note("$evicted pages of $size were read again in 20 rounds");
cmp_ok($evicted, '<', $size, 'a busy index stays in the buffers');

$node->stop;
done_testing();
