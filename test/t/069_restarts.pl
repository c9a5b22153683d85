# Searches run while inserts seal and merge all the time.  They seldom restart, continue
# where they were, and return each row once.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('restarts');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nneardup.background = off\n");
$node->start;
# A search compares all documents and finds a hundred.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION sig(i bigint) RETURNS simhash LANGUAGE sql IMMUTABLE AS
		$$ SELECT (repeat(hashint8extended(i, 1)::bit(64)::text, 4))::bit(256)::simhash $$;
	CREATE TABLE t (id bigint, old boolean, h simhash) WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT i, true, sig(i % 2000) FROM generate_series(1, 200000) i;
	CREATE INDEX t_h ON t USING neardup (h);
	CREATE SEQUENCE ids START 1000000;
	CREATE TABLE pool AS SELECT sig(i + 1000000) AS h FROM generate_series(1, 500) i;
});
my $searches = 60;
my $file = $node->basedir . '/insert.sql';
append_to_file($file, "INSERT INTO t SELECT nextval('ids'), false, h FROM pool;\n");

my ($out, $err) = ('', '');
my $load = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 600, '-h', $node->host, '-p', $node->port, '-f', $file, 'postgres' ], '<', \undef, '>', \$out, '2>', \$err);
$node->poll_query_until('postgres', 'SELECT is_called FROM ids');

foreach my $way ('index', 'bitmap')
{
	my $other = $way eq 'index' ? 'bitmap' : 'index';

	is($node->safe_psql(
			'postgres', qq{
		SET log_min_messages = debug1;
		SET enable_seqscan = off; SET enable_${other}scan = off; SET neardup.search = scan;
		SELECT count(*), min(n), max(n), min(ids), max(ids) FROM generate_series(0, @{[ $searches - 1 ]}) s,
			LATERAL (SELECT count(*) AS n, count(DISTINCT id) AS ids FROM t WHERE is_within(h, sig(s), 0) AND old) q}),
		"$searches|100|100|100|100", "$way scans return each row once");
}
is($node->safe_psql(
		'postgres', q{
	SELECT count(*), bool_and(i.documents >= 200000) FROM generate_series(1, 200), LATERAL neardup_index_status('t_h') i}),
	'200|t', 'counts of documents end, and miss none');
$load->signal('TERM');
$load->finish;

my $restarts = () = slurp_file($node->logfile) =~ /search of index .* starts again/g;
note("$restarts restarts in " . 2 * $searches . ' searches, while ' . $node->safe_psql('postgres', q{SELECT last_value - 1000000 FROM ids}) . ' rows were inserted');
cmp_ok($restarts, '<', $searches / 4, 'few searches restart');
like($node->safe_psql('postgres', q{SELECT neardup_check('t_h')}), qr/segments/, 'the index is consistent');

$node->stop;
done_testing();
