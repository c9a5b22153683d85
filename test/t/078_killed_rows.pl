# Rows that are dead to all transactions are marked in the index by the scans that find them, and not
# returned again: through crashes, and not on a standby whose snapshots may see them.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = Node->new('killed_primary');
$primary->init(allows_streaming => 1, extra => ['--data-checksums']);
$primary->append_conf(
	'postgresql.conf', q{
fsync = off
jit = off
neardup.background = off
wal_consistency_checking = 'generic'
wal_keep_size = '2GB'
});
$primary->start;
$primary->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE texts (id int, sig minhash, s shingles) WITH (autovacuum_enabled = off);
	CREATE INDEX texts_sig ON texts USING neardup (sig);
	CREATE INDEX texts_s ON texts USING neardup (s);
	CREATE FUNCTION make(first int, last int) RETURNS void LANGUAGE sql AS
		$$ INSERT INTO texts SELECT i, to_minhash(w), to_shingles(w) FROM (SELECT 'one and the same text for each of the rows' AS w) t, generate_series(first, last) i $$;
	-- The rows that the indexes return for a search, dead ones included.
	CREATE FUNCTION returned() RETURNS numeric LANGUAGE sql AS
		$$ SELECT sum(pg_stat_get_xact_tuples_returned(i)) FROM unnest('{texts_sig,texts_s}'::regclass[]) i $$;
	CREATE FUNCTION visited(statement text) RETURNS numeric LANGUAGE plpgsql AS $$
	DECLARE
		before numeric = returned();
	BEGIN
		EXECUTE statement;
		RETURN returned() - before;
	END $$;
	SELECT make(1, 10);
});
$primary->backup('base');
my $standby = Node->new('killed_standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = -1\nhot_standby_feedback = off\n");
$standby->start;

my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;';
my %search = (
	similar => q{SELECT count(*), sum(id) FROM texts WHERE is_similar(sig, to_minhash('one and the same text for each of the rows'), 0.8)},
	nearest => q{SELECT count(*), sum(id) FROM (SELECT id FROM texts ORDER BY sig <-> to_minhash('one and the same text for each of the rows') LIMIT 11) q},
	'similar sets' => q{SELECT count(*), sum(id) FROM texts WHERE is_similar(s, to_shingles('one and the same text for each of the rows'), 0.8)},
	'nearest sets' => q{SELECT count(*), sum(id) FROM (SELECT id FROM texts ORDER BY s <-> to_shingles('one and the same text for each of the rows') LIMIT 11) q},
);

# Rows that were never committed, and rows that were deleted.
sub refuse
{
	$primary->safe_psql('postgres', "$Node::PASS_HORIZON VACUUM texts");
	$primary->safe_psql('postgres', 'BEGIN; SELECT make(100, 2099); ROLLBACK;');
	$primary->safe_psql('postgres', "SELECT make(3000, 4000); DELETE FROM texts WHERE id >= 3000; $Node::PASS_HORIZON");
}

sub visits_of
{
	my ($search) = @_;
	my $quoted = $search =~ s/'/''/gr;

	return $primary->safe_psql('postgres', "$by_index SELECT visited('$quoted')");
}

foreach my $kind (sort keys %search)
{
	refuse();
	my $before = visits_of($search{$kind});
	visits_of($search{$kind}) foreach 1 .. 20;
	my $after = visits_of($search{$kind});

	cmp_ok($before, '>', 3000, "$kind: a search visits dead rows ($before)");
	cmp_ok($after, '<=', 20, "$kind: and later ones do not ($after)");
	is($primary->safe_psql('postgres', "$by_index $search{$kind}"), '10|55', "$kind: the rows that live are found");
	is($primary->safe_psql('postgres', q{SELECT count(*) FROM unnest('{texts_sig,texts_s}'::regclass[]) i WHERE neardup_check(i) LIKE '% rows: 10'}), '2', "$kind: the indexes are sound");
}

# A crash, once what marked the entries is on disk, as after any commit.
my $similar = $search{'similar sets'};
$primary->safe_psql('postgres', 'CREATE TABLE committed ()');
$primary->stop('immediate');
$primary->start;
cmp_ok(visits_of($similar), '<=', 20, 'marks outlive a crash');
is($primary->safe_psql('postgres', "$by_index $similar"), '10|55', 'and so do the rows that live');

# A snapshot on the standby sees rows that are dead to the primary, and marked there.
$primary->safe_psql('postgres', 'SELECT make(11, 20)');
$primary->wait_for_catchup($standby);
my ($in, $out) = ('', '');
my $old = IPC::Run::start([ 'psql', '-XAtq', '-d', $standby->connstr('postgres') ], '<', \$in, '>', \$out, '2>&1');
$in .= "$by_index BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'sees ' || count(*) FROM texts;\n";
$old->pump until $out =~ /sees \d+|ERROR/;
$primary->safe_psql('postgres', "DELETE FROM texts WHERE id > 10; $Node::PASS_HORIZON");
visits_of($_) foreach values %search;
is($primary->safe_psql('postgres', "$by_index $search{'similar sets'}"), '10|55', 'rows are deleted on the primary');
$primary->wait_for_catchup($standby);
$out = '';
$in .= join('', map { "$_;\n" } @search{ 'similar', 'similar sets' }) . "SELECT 'done';\n";
$old->pump until $out =~ /done|ERROR/;
is($out =~ tr/\n/ /r, '20|210 20|210 done ', 'an older snapshot on the standby finds them by the index');
$in .= "COMMIT; $similar;\n\\q\n";
$out = '';
$old->finish;
is($out, "10|55\n", 'and a newer one does not');

# After a promotion the marks count.
$standby->promote;
is($standby->safe_psql('postgres', "$by_index $similar"), '10|55', 'after a promotion');

# A snapshot of another session keeps rows from being marked.
my ($in2, $out2) = ('', '');
$primary->safe_psql('postgres', 'SELECT make(11, 20)');
$old = IPC::Run::start([ 'psql', '-XAtq', '-d', $primary->connstr('postgres') ], '<', \$in2, '>', \$out2, '2>&1');
$in2 .= "$by_index BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'sees ' || count(*) FROM texts;\n";
$old->pump until $out2 =~ /sees \d+|ERROR/;
$primary->safe_psql('postgres', 'DELETE FROM texts WHERE id > 10');
visits_of($_) foreach values %search;
$in2 .= "$similar;\nCOMMIT;\n\\q\n";
$old->finish;
like($out2, qr/^20\|210$/m, 'a snapshot of another session finds what it sees');

# VACUUM removes them, and their places are used again.
$primary->safe_psql('postgres', "$Node::PASS_HORIZON VACUUM texts; SELECT make(11, 300)");
is($primary->safe_psql('postgres', "$by_index $similar"), '300|45150', 'new rows in the places of dead ones are found');
is($primary->safe_psql('postgres', q{SELECT count(*) FROM unnest('{texts_sig,texts_s}'::regclass[]) i WHERE neardup_check(i) LIKE '% rows: 300'}), '2', 'the indexes are sound');
$standby->stop;
$primary->stop;
system_or_bail('pg_checksums', '--check', '--pgdata', $primary->data_dir);
ok(1, 'the checksums are right');
done_testing();
