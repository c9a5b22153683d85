# The first signature arrives while other sessions insert NULLs.  From then on a
# document is longer, and earlier pages take no more documents.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{NEARDUP_LONG} ? 25 : 5;

my $node = Node->new('first');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE t (sig minhash);
	CREATE INDEX t_sig ON t USING neardup (sig);
});

my $script = $node->basedir . '/first.sql';
append_to_file(
	$script, q{\set ms random(0, 60)
\if :client_id = 0
\sleep :ms ms
INSERT INTO t VALUES (to_minhash('the first text of all'));
\else
INSERT INTO t SELECT NULL FROM generate_series(1, 15000);
\endif
});

my ($failed, $corrupt) = (0, 0);

for my $round (1 .. $rounds)
{
	my $check;

	$node->safe_psql('postgres', 'TRUNCATE t');
	# The seed differs between rounds and is the same in every run.
	$failed++
	  if system_log('pgbench', '-n', '-c', 5, '-j', 5, '-t', 1, "--random-seed=$round", '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres') != 0;
	$node->psql('postgres', q{SELECT neardup_check('t_sig')}, stdout => \$check);
	$corrupt++ unless $check =~ / documents: 60001, .* rows: 60001$/;
}
is($failed, 0, 'every insert succeeded');
is($corrupt, 0, "after each of $rounds rounds the index holds every row");
$node->stop;
done_testing();
