# A table is deleted from and filled again and again.  Its index stays within twice the
# size of a fresh one, in few segments, even while other sessions have it open.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 12000;

my $node = PostgreSQL::Test::Cluster->new('churn');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION neardup;
	CREATE TABLE t (id int, sig minhash);
	CREATE FUNCTION of_round(id int, round int) RETURNS minhash LANGUAGE sql AS \$\$
		SELECT to_minhash(ARRAY[id::bigint << 32, id::bigint << 32 | 1, id::bigint << 32 | 2, id::bigint << 32 | 100 + round])
	\$\$;
	INSERT INTO t SELECT g, of_round(g, 0) FROM generate_series(1, $rows) g;
	CREATE INDEX t_sig ON t USING neardup (sig);
});

sub pages
{
	return $node->safe_psql('postgres', q{SELECT pg_relation_size('t_sig') / 8192});
}

sub segments
{
	return $node->safe_psql('postgres', q{SELECT segments FROM neardup_index_info('t_sig')});
}

my $fresh = pages();

# ---- Rewriting all rows -----------------------------------------------------

my ($most_pages, $most_segments) = (0, 0);
# Background workers would merge at unpredictable times.
my $alone = 'SET neardup.background = off;';

for my $round (1 .. 10)
{
	if ($round % 2)
	{
		$node->safe_psql('postgres', qq{$alone UPDATE t SET sig = of_round(id, $round)});
	}
	else
	{
		$node->safe_psql('postgres', 'DELETE FROM t');
		$node->safe_psql('postgres', 'VACUUM t') if $round % 4;
		$node->safe_psql('postgres', qq{$alone INSERT INTO t SELECT g, of_round(g, $round) FROM generate_series(1, $rows) g});
	}
	$node->safe_psql('postgres', 'VACUUM t');
	note("round $round: " . pages() . " pages, " . segments() . " segments");
	$most_pages = pages() if pages() > $most_pages;
	$most_segments = segments() if segments() > $most_segments;
}
cmp_ok($most_pages, '<=', 2 * $fresh, "after ten rewrites the index is within twice the $fresh pages of a fresh one");
cmp_ok($most_segments, '<=', 2, 'and has few segments');
like($node->safe_psql('postgres', q{SELECT neardup_check('t_sig')}), qr/ $rows rows/, 'every row is in the index');
is($node->safe_psql('postgres', q{SET enable_seqscan = off;
	SELECT count(*) FROM t q, t WHERE q.id % 1000 = 0 AND is_similar(t.sig, q.sig, 0.9) AND t.id = q.id}),
	$rows / 1000, 'and is found');

$node->safe_psql('postgres', 'DELETE FROM t');
$node->safe_psql('postgres', 'VACUUM t');
is(pages(), 1, 'the index of an empty table has only the metapage');
is(segments(), 0, 'and no segment');

# ---- Other sessions ---------------------------------------------------------

my $outside = sprintf q{psql -X -q -A -t -h '%s' -p %d -d postgres -c}, $node->host, $node->port;
my $fill = qq{INSERT INTO t SELECT g, of_round(g, 1) FROM generate_series(1, $rows) g;};

# A session remembers the page that it appends to, which no longer exists.
is($node->safe_psql(
		'postgres', qq{SET neardup.background = off;
$fill
\\! $outside 'DELETE FROM t'
\\! $outside 'VACUUM t'
INSERT INTO t SELECT g, of_round(g, 1) FROM generate_series(1, 10) g;
SELECT neardup_check('t_sig');}),
	'0 segments, 10 documents, 0 dead, 0 postings, 10 rows', 'a session can insert after the index has shrunk');

# A running search keeps the file from shrinking.
$node->safe_psql('postgres', qq{$fill});
$node->safe_psql('postgres', 'VACUUM t');
my $full = pages();
is($node->safe_psql(
		'postgres', qq{SET enable_seqscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY sig <-> of_round(1, 1);
MOVE 5 FROM c;
\\! $outside 'DELETE FROM t'
\\! $outside 'VACUUM t'
SELECT pg_relation_size('t_sig') / 8192 >= $full;
SELECT pg_relation_size('t_sig') > 0;
MOVE ALL FROM c;
COMMIT;}),
	"t\nt", 'a running scan continues over a file that has not shrunk');
$node->safe_psql('postgres', 'VACUUM t');
is(pages(), 1, 'the next vacuum shrinks it');

# A parallel vacuum leaves shrinking to a worker.
$node->safe_psql('postgres', qq{ALTER TABLE t ADD PRIMARY KEY (id); $fill DELETE FROM t;});
$node->safe_psql('postgres', q{SET min_parallel_index_scan_size = 0; VACUUM (PARALLEL 2) t});
ok($node->poll_query_until('postgres', q{SELECT pg_relation_size('t_sig') = 8192}), 'the file shrinks after a parallel vacuum too');

# The table's option holds for its indexes.
$node->safe_psql('postgres', qq{ALTER TABLE t SET (vacuum_truncate = off); $fill DELETE FROM t;});
$node->safe_psql('postgres', q{VACUUM (PARALLEL 0) t});
cmp_ok(pages(), '>', 100, 'vacuum_truncate = off keeps the file');

# ---- Size of a segment ------------------------------------------------------

# No segment grows beyond its limit when the tail is merged into it.
my $most = 1024 * 1024 / 8;
is($node->safe_psql(
		'postgres', qq{SET neardup.background = off;
SET maintenance_work_mem = '1MB';
CREATE TABLE large AS SELECT hashint8extended(g, 1) AS h FROM generate_series(1, 256000) g;
CREATE INDEX large_h ON large USING neardup (h);
DELETE FROM large WHERE ctid > (SELECT ctid FROM large ORDER BY ctid LIMIT 1 OFFSET 168000);
INSERT INTO large SELECT hashint8extended(g, 2) FROM generate_series(1, 4000) g;
VACUUM large;
SELECT count(segment) > 1 AND max(documents) <= $most AND sum(documents) = 172001
FROM neardup_explain('large_h', hamming_ball(7::bigint::simhash, 0));}),
	't', 'the tail is merged into a segment with room for it');
is($node->safe_psql('postgres', q{SELECT neardup_check('large_h') LIKE '% 172001 rows'}), 't', 'and all rows are in the index');
$node->stop;
done_testing();
