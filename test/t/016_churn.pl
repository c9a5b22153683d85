# A table's rows are written again and again.  Its index stays within three times the size of
# a fresh one and in few segments, and vacuum writes little WAL.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 12000;

my $node = Node->new('churn');
$node->init;
# Background workers would merge at unpredictable times, and so would checkpoints add to the WAL.
$node->append_conf('postgresql.conf', "fsync = off\nfull_page_writes = off\nneardup.background = off\n");
$node->start;
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE FUNCTION of_round(id int, round int) RETURNS minhash LANGUAGE sql AS \$\$
		SELECT to_minhash(to_shingles(ARRAY[id::bigint << 32, id::bigint << 32 | 1, id::bigint << 32 | 2, id::bigint << 32 | 100 + round]))
	\$\$;
	CREATE TABLE t (id int, sig minhash) WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT g, of_round(g, 0) FROM generate_series(1, $rows) g;
	CREATE INDEX t_sig ON t USING neardup (sig);
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# Removes all dead rows of a table.
sub vacuum
{
	return sql("$Node::PASS_HORIZON VACUUM $_[0]");
}

sub pages
{
	return sql("SELECT pg_relation_size('$_[0]') / 8192");
}

sub segments
{
	return sql("SELECT segments FROM neardup_index_status('$_[0]')");
}

my $fresh = pages('t_sig');

# ---- Rewriting all rows -----------------------------------------------------

my ($most_pages, $most_segments) = (0, 0);

for my $round (1 .. 10)
{
	if ($round % 2)
	{
		sql("UPDATE t SET sig = of_round(id, $round)");
	}
	else
	{
		sql('DELETE FROM t');
		vacuum('t') if $round % 4;
		sql("INSERT INTO t SELECT g, of_round(g, $round) FROM generate_series(1, $rows) g");
	}
	vacuum('t');
	note("round $round: " . pages('t_sig') . ' pages, ' . segments('t_sig') . ' segments');
	$most_pages = pages('t_sig') if pages('t_sig') > $most_pages;
	$most_segments = segments('t_sig') if segments('t_sig') > $most_segments;
}
cmp_ok($most_pages, '<=', 3 * $fresh, "after ten rewrites the index is within three times the $fresh pages of a fresh one");
cmp_ok($most_segments, '<=', 2, 'and has few segments');
like(sql(q{SELECT neardup_check('t_sig')}), qr/ rows: $rows$/, 'every row is in the index');
is(sql(q{SET enable_seqscan = off;
	SELECT count(*) FROM t q, t WHERE q.id % 1000 = 0 AND is_similar(t.sig, q.sig, 0.9) AND t.id = q.id}),
	$rows / 1000, 'and is found');

# Vacuum finds all free pages again, even if a crash has lost the list of them.
sql('DELETE FROM t');
vacuum('t');
is(segments('t_sig'), 0, 'the index of an empty table has no segment');
my $full = pages('t_sig');
my $map = $node->data_dir . '/' . sql(q{SELECT pg_relation_filepath('t_sig') || '_fsm'});
$node->stop;
unlink $map or die "$map: $!";
$node->start;
vacuum('t');
sql("INSERT INTO t SELECT g, of_round(g, 1) FROM generate_series(1, $rows) g");
vacuum('t');
is(pages('t_sig'), $full, 'its pages are used again');
sql('REINDEX INDEX CONCURRENTLY t_sig');
is(pages('t_sig'), $fresh, 'REINDEX CONCURRENTLY returns them');

# ---- Small batches ----------------------------------------------------------

# Writes a vacuum's WAL and that of the changes before it, for rounds that replace 2 % of the rows.
my $many = 40000;
my $batch = $many / 50;
my $script = qq{
	CREATE TABLE s WITH (autovacuum_enabled = off) AS SELECT g AS id, of_round(g, 0) AS sig FROM generate_series(1, $many) g;
	CREATE INDEX s_id ON s (id);
	CREATE INDEX s_sig ON s USING neardup (sig);
	VACUUM s;
};

foreach my $round (1 .. 60)
{
	$script .= qq{
		SELECT pg_current_wal_insert_lsn() AS start \\gset
		DELETE FROM s WHERE id IN (SELECT id FROM s ORDER BY hashint8extended(id, $round) LIMIT $batch);
		INSERT INTO s SELECT g, of_round(g, 0) FROM generate_series($many + ($round - 1) * $batch + 1, $many + $round * $batch) g;
		$Node::PASS_HORIZON
		SELECT pg_current_wal_insert_lsn() AS changed \\gset
		VACUUM s;
		SELECT pg_wal_lsn_diff(:'changed', :'start'), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'changed'), pg_relation_size('s_sig') / 8192, segments
		FROM neardup_index_status('s_sig');
	};
}

my ($changes, $vacuums, $pages, $most) = (0, 0, 0, 0);

foreach my $line (split /\n/, sql($script))
{
	my ($changed, $vacuumed, $now, $segments) = split /\|/, $line;

	($changes, $vacuums, $pages) = ($changes + $changed, $vacuums + $vacuumed, $now);
	$most = $segments if $segments > $most;
}
sql('CREATE INDEX s_fresh ON s USING neardup (sig)');
note("$changes bytes of WAL by changes, $vacuums by vacuums; $pages pages, fresh " . pages('s_fresh'));
cmp_ok($vacuums, '<', 2 * $changes, 'vacuums write less than twice the WAL of the changes');
cmp_ok($pages, '<', 2.5 * pages('s_fresh'), 'the index is less than 2.5 times as large as a fresh one');
cmp_ok($most, '<=', 3, 'in few segments');
like(sql(q{SELECT neardup_check('s_sig')}), qr/ rows: $many$/, 'every row is in the index');

# A vacuum that has found no dead rows writes next to nothing.
# Other processes write WAL too, but not in each of many moments.
my $least = 1 << 30;
foreach (1 .. 50)
{
	my $wal = sql(q{SELECT pg_current_wal_insert_lsn() AS start \gset
VACUUM s;
VACUUM s;
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'start')});

	$least = $wal if $wal < $least;
	last if $least < 8192;
}
cmp_ok($least, '<', 8192, 'a vacuum without changes writes no pages');

# ---- Other sessions ---------------------------------------------------------

my $outside = sprintf q{psql -X -q -A -t -h '%s' -p %d -d postgres -c}, $node->host, $node->port;
my $fill = "INSERT INTO t SELECT g, of_round(g, 1) FROM generate_series(1, $rows) g;";

# A session remembers the page that it appends to, which vacuum may have freed.
like(sql(qq{$fill
\\! $outside 'DELETE FROM t'
\\! $outside 'VACUUM t'
INSERT INTO t SELECT g, of_round(g, 1) FROM generate_series(1, 10) g;
SELECT neardup_check('t_sig');}),
	qr/ rows: 10$/, 'a session can insert after all rows were removed');

# A running search goes on while vacuum frees pages, and others use them.
sql('DELETE FROM t');
vacuum('t');
sql($fill);
is(sql(qq{SET enable_seqscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY sig <-> of_round(1, 1);
MOVE 5 FROM c;
\\! $outside 'DELETE FROM t'
\\! $outside 'VACUUM t'
\\! $outside '$fill'
MOVE ALL FROM c;
COMMIT;
SELECT neardup_check('t_sig') LIKE '% rows: $rows';}),
	't', 'a running scan goes on while pages are freed');

# ---- Size of a segment ------------------------------------------------------

# No segment grows beyond its limit when the tail is merged into it.
my $limit = 1024 * 1024 / 8;
is(sql(qq{SET maintenance_work_mem = '1MB';
CREATE TABLE large WITH (autovacuum_enabled = off) AS SELECT hashint8extended(g, 1) AS h FROM generate_series(1, 256000) g;
CREATE INDEX large_h ON large USING neardup (h);
DELETE FROM large WHERE ctid > (SELECT ctid FROM large ORDER BY ctid LIMIT 1 OFFSET 168000);
INSERT INTO large SELECT hashint8extended(g, 2) FROM generate_series(1, 4000) g;
$Node::PASS_HORIZON
VACUUM large;
SELECT count(segment) > 1 AND max(documents) <= $limit AND sum(documents) = 172001
FROM neardup_explain('large_h', hamming_ball(7::bigint::simhash, 0));}),
	't', 'the tail is merged into a segment with room for it');
is(sql(q{SELECT neardup_check('large_h') LIKE '% rows: 172001'}), 't', 'and all rows are in the index');
$node->stop;
done_testing();
