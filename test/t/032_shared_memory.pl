# A join runs without workers if there is too little shared memory for them.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('shared_memory');
$node->init(extra => ['--wal-segsize=1']);
$node->append_conf('postgresql.conf', "fsync = off\nmin_wal_size = 4MB\nmax_wal_size = 8MB\n");

# POSIX shared memory consists of files, whose size the shell can limit.
my @pg_ctl = ('pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile);
system_or_bail('sh', '-c', 'ulimit -f 10000 && exec "$@"', 'sh', @pg_ctl, 'start');
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');

# Returns the number of pairs, and whether workers took part.
sub join_rows
{
	my ($rows, $workers) = @_;

	my ($status, $pairs, $counters) = $node->psql(
		'postgres', qq{
		SET client_min_messages = debug1;
		SET maintenance_work_mem = '256MB';
		SET max_parallel_maintenance_workers = $workers;
		SELECT count(*) FROM neardup_pairs('SELECT i, to_minhash(md5((i / 2)::text) || '' '' || i % 2) FROM generate_series(1, $rows) i', 0.3, recall => 0.9);
	});
	return "$pairs\n" . ($counters =~ /workers=[1-9]/ ? 't' : 'f');
}

SKIP:
{
	skip 'shared memory is not POSIX', 1
	  if $node->safe_psql('postgres', 'SHOW dynamic_shared_memory_type') ne 'posix';
	like(join_rows(40000, 2), qr/^\d+\nt$/, 'workers take part if there is enough shared memory');
	is(join_rows(100000, 2), join_rows(100000, 0), 'without enough, no worker takes part and the pairs are the same');
}
done_testing();

END
{
	local $?;
	system_log(@pg_ctl, '-m', 'fast', 'stop');
}
