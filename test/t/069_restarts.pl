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
	-- Rows whose documents move all the time: each update gives them a new one, which is sealed, and vacuums merge.
	CREATE TABLE moving (id int, n int, h simhash) WITH (autovacuum_enabled = off);
	INSERT INTO moving SELECT i, i, sig(i % 200) FROM generate_series(1, 4000) i;
	CREATE INDEX moving_n ON moving (n);
	CREATE INDEX moving_h ON moving USING neardup (h);
});
my $searches = 60;
my $file = $node->basedir . '/insert.sql';
append_to_file($file, "INSERT INTO t SELECT nextval('ids'), false, h FROM pool;\n");

my $move = $node->basedir . '/move.sql';
append_to_file($move,
	"\\set i random(1, 3800)\n" . "UPDATE moving SET n = n + 4000 WHERE id BETWEEN :i AND :i + 200;\n" x 4 . "VACUUM moving;\n");

# Starts a load of some sessions that run a script.
sub start_load
{
	my ($script, $sessions) = @_;
	my ($out, $err) = ('', '');
	return IPC::Run::start([ 'pgbench', '-n', '-c', $sessions, '-T', 600, '-h', $node->host, '-p', $node->port, '-f', $script, 'postgres' ],
		'<', \undef, '>', \$out, '2>', \$err);
}

my $load = start_load($file, 2);
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

# Searches start again after two segments, while the others are merged.
{
	local $ENV{PGOPTIONS} = '-c neardup.debug_limit=2';
	$load = start_load($move, 1);
}
$node->poll_query_until('postgres', 'SELECT max(n) > 8000 FROM moving');
is($node->safe_psql(
		'postgres', 'SET enable_seqscan = off; SET enable_indexscan = off; SET neardup.debug_limit = 2;' . q{
	SELECT min(n), max(n), min(ids), max(ids) FROM generate_series(1, 500) s,
		LATERAL (SELECT count(*) AS n, count(DISTINCT id) AS ids FROM moving WHERE is_within(h, sig(s % 200), 0)) q;} x 25),
	join("\n", ('20|20|20|20') x 25), 'a search finds rows that move');
$load->signal('TERM');
$load->finish;

$node->stop;
done_testing();
