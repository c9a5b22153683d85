# A streaming standby gives the same answers as the primary while the primary inserts,
# deletes, vacuums, seals and merges, and works after promotion.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = Node->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf(
	'postgresql.conf', q{
fsync = off
wal_consistency_checking = 'all'
hot_standby_feedback = on
max_standby_streaming_delay = -1
wal_keep_size = '2GB'
});
$primary->start;
$primary->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE hashes (id serial, h bigint, sig minhash(128));
	CREATE INDEX hashes_h ON hashes USING neardup (h);
	CREATE INDEX hashes_sig ON hashes USING neardup (sig);
	CREATE UNLOGGED TABLE passing (h bigint);
	CREATE INDEX passing_h ON passing USING neardup (h);
	INSERT INTO passing VALUES (1);
	CREATE FUNCTION insert_many(first int, n int) RETURNS void LANGUAGE sql AS $$
		INSERT INTO hashes (h, sig) SELECT h, (h::bit(64) || hashint8(h)::bit(64))::bit(128)::minhash FROM
			(SELECT hashint8extended(i % 1000, 7) # (1::bigint << (i % 63)) AS h FROM generate_series(first, first + n - 1) i) i
	$$;
});
$primary->backup('base');
my $standby = Node->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

sub found
{
	my ($node, $way) = @_;

	return $node->safe_psql('postgres', qq{
		SET enable_seqscan = off; SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_$way = on;
		SELECT count(*), sum(t.id) FROM generate_series(1, 1000, 50) c,
			LATERAL (SELECT id FROM hashes WHERE is_within(h, hashint8extended(c, 7), 2)) t
		UNION ALL SELECT count(*), sum(t.id) FROM (SELECT sig FROM hashes ORDER BY id LIMIT 5) c,
			LATERAL (SELECT id FROM hashes WHERE is_similar(sig, c.sig, 0.8)) t});
}

# Run queries without a pause while the primary changes the index.
my $script = $standby->basedir . '/standby.sql';
append_to_file($script, q{\set c random(1, 999)
SET enable_seqscan = off;
SELECT 1 / (count(*) > 0)::int FROM hashes WHERE is_within(h, hashint8extended(:c, 7), 2) AND id < 6000;
});
$primary->safe_psql('postgres', 'SELECT insert_many(1, 6000)');
$primary->wait_for_catchup($standby);
my ($out, $err) = ('', '');
my $load = IPC::Run::start([ 'pgbench', '-n', '-c', '2', '-h', $standby->host, '-p', $standby->port, '-t', '3000', '-f', $script, 'postgres' ],
	'<', \undef, '>', \$out, '2>', \$err);

foreach my $round (1 .. ($ENV{NEARDUP_LONG} ? 6 : 3))
{
	my $first = $round * 6000;
	my $background = $round % 2 ? 'on' : 'off';

	$primary->safe_psql('postgres', "SET neardup.background = $background; SELECT insert_many($first, 6000)");
	$primary->safe_psql('postgres', "DELETE FROM hashes WHERE id >= 6000 AND id % 7 = $round");
	$primary->safe_psql('postgres', 'VACUUM hashes');
	$primary->wait_for_catchup($standby);
	my $expected = found($primary, 'seqscan');
	is(found($standby, 'indexscan'), $expected, "round $round: an index scan on the standby finds the primary's rows");
	is(found($standby, 'bitmapscan'), $expected, "round $round: so does a bitmap scan");
}
$load->finish;
is($load->result(0), 0, 'queries beside all that') or diag($err);
unlike($err, qr/ERROR/, 'queries on the standby raise no error');

my ($status, $stdout, $stderr) = $standby->psql('postgres', q{SELECT neardup_check('hashes_h')});
like($stderr, qr/cannot check an index during recovery/, 'neardup_check() refuses to run on a standby');
like($standby->safe_psql('postgres', q{SELECT segments > 0 FROM neardup_index_status('hashes_h')}), qr/t/, 'neardup_index_status() runs on a standby');
is($standby->safe_psql('postgres', q{SELECT count(*) FROM neardup_indexes WHERE advice IS NULL AND segments IS NOT NULL}),
	$standby->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relam = (SELECT oid FROM pg_am WHERE amname = 'neardup') AND relpersistence = 'p'}),
	'neardup_indexes runs on a standby');

$standby->promote;
$standby->safe_psql('postgres', 'SELECT insert_many(100000, 9000); DELETE FROM hashes WHERE id % 3 = 0');
$standby->safe_psql('postgres', 'VACUUM hashes');
is(found($standby, 'indexscan'), found($standby, 'seqscan'), 'the index finds what a sequential scan finds after promotion');
like($standby->safe_psql('postgres', qq{SELECT neardup_check('$_')}), qr/segments/, "$_ is consistent") foreach ('hashes_h', 'hashes_sig');
is($standby->safe_psql('postgres', q{INSERT INTO passing VALUES (2); SELECT neardup_check('passing_h')}),
	'segments: 0, documents: 1, dead: 0, postings: 0, rows: 1', 'the unlogged index was reset');

unlike(slurp_file($_->logfile), qr/PANIC|TRAP|inconsistent page|is corrupt/, $_->name . ': nothing in the log') foreach ($primary, $standby);
$standby->stop;
$primary->stop;
done_testing();
