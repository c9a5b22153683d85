# neardup_indexes shows all indexes, also those that cannot be read, and says what to do.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('indexes_view');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_worker_processes = 0\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE hashes WITH (autovacuum_enabled = off) AS SELECT hashint8extended(i, 7) AS h FROM generate_series(1, 1000) i;
	CREATE INDEX sound ON hashes USING neardup (h);
	CREATE INDEX damaged ON hashes USING neardup (h);
	CREATE INDEX earlier ON hashes USING neardup (h);
	CREATE TABLE others (h bigint) WITH (autovacuum_enabled = off);
	CREATE INDEX growing ON others USING neardup (h);
});

# Returns what the view says of an index.
sub says
{
	my ($index) = @_;

	return $node->safe_psql('postgres', "SELECT documents, tail, advice FROM neardup_indexes WHERE index_name = '$index'::regclass");
}

# No worker can start, so the tail grows, up to four times its length.
$node->safe_psql('postgres', 'INSERT INTO others SELECT hashint8extended(i, 7) FROM generate_series(1, 25000) i');
like(says('growing'), qr/^25000\|25000\|Maintenance does not keep up\. .*max_worker_processes/, 'maintenance that does not run');
$node->safe_psql('postgres', 'VACUUM others');
is(says('growing'), '25000|0|', 'VACUUM is enough');

# Pages of elements of a tail are counted: it is sealed for these, too, and they are no free pages.
$node->safe_psql('postgres', q{
	CREATE TABLE sets (s shingles) WITH (autovacuum_enabled = off);
	CREATE FUNCTION fill_sets(n int) RETURNS void LANGUAGE sql AS
		$$ INSERT INTO sets SELECT to_shingles(array_agg(i * 10000 + j)) FROM generate_series(1, n) i, generate_series(1, 1000) j GROUP BY i $$;
	SELECT fill_sets(300);
	CREATE INDEX sets_s ON sets USING neardup (s);
	SELECT fill_sets(900);
});
cmp_ok($node->safe_psql('postgres', q{SELECT pg_relation_size('sets_s') / 8192}), '>', 1024, 'most pages of an index are of elements of its tail');
is(says('sets_s'), '1200|900|', 'and are in use');
$node->safe_psql('postgres', 'SELECT fill_sets(6000)');
cmp_ok($node->safe_psql('postgres', q{SELECT tail FROM neardup_indexes WHERE index_name = 'sets_s'::regclass}), '<', 3000, 'a tail of many elements is sealed');
$node->safe_psql('postgres', 'VACUUM sets');
is(says('sets_s'), '7200|0|', 'VACUUM seals it all');

# The file does not get smaller; the view says when it pays to rebuild the index.
$node->safe_psql('postgres', q{
	CREATE TABLE waning WITH (autovacuum_enabled = off) AS SELECT i, hashint8extended(i, 7) AS h FROM generate_series(1, 400000) i;
	CREATE INDEX waning_h ON waning USING neardup (h);
	DELETE FROM waning WHERE i % 4 = 0;} . $Node::PASS_HORIZON . 'VACUUM waning');
is(says('waning_h'), '400000|0|', 'an index that lost a quarter of its rows');
$node->safe_psql('postgres', "DELETE FROM waning WHERE i % 4 > 1; $Node::PASS_HORIZON VACUUM waning");
like(says('waning_h'), qr/^100000\|0\|Two thirds of its pages are free\. .*REINDEX/, 'an index of which most is free');
$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY waning_h');
is(says('waning_h'), '100000|0|', 'REINDEX is enough');

# An index that another session has locked is not waited for.
my ($in, $out) = ('', '');
my $other = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>&1');
$in .= "CREATE TEMPORARY TABLE mine (h bigint); CREATE INDEX mine_h ON mine USING neardup (h);\n";
$in .= "BEGIN; REINDEX INDEX growing; SELECT 'locked';\n";
$other->pump until $out =~ /locked|ERROR/;
is(says('growing'), '||Another session has locked it.', 'an index that is locked');
is($node->safe_psql('postgres', 'SELECT count(*) FROM neardup_indexes'), '6', 'the temporary index of another session is not shown');
$in .= "ROLLBACK;\n\\q\n";
$other->finish;
is(says('growing'), '25000|0|', 'and when it is not');

# Bytes of the metapage: its contents follow two headers.  In the first layout they followed the
# page's header, and the other header stood at the end of the page.
my %change = (damaged => [ 24 + 22, "\xAA" ],
	earlier => [ 24, pack('LLx8136LLLLSSSS', 0x4E44494E, 1, 0, 0xFFFFFFFF, 0, 0, 1, 0, 0, 0xFD8D) ]);
my %file = map { $_ => $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$_')") } keys %change;
$node->stop;
# PostgreSQL 18 makes clusters with data checksums, which would find the damage first.
system_log('pg_checksums', '--disable', '--pgdata', $node->data_dir);
for my $index (keys %change)
{
	my ($offset, $bytes) = @{ $change{$index} };

	open my $handle, '+<:raw', $file{$index} or die "$file{$index}: $!";
	seek $handle, $offset, 0 or die $!;
	print {$handle} $bytes;
	close $handle or die $!;
}
$node->start;
is(says('sound'), '1000|0|', 'a sound index beside damaged ones');
like(says('damaged'), qr/^\|\|index "damaged" is corrupt at block 0: .*REINDEX/, 'a damaged index');
like(says('earlier'), qr/^\|\|index "earlier" has layout 1, .* Rebuild the index with REINDEX\.$/, 'an index of the first layout');
my ($status, undef, $err) = $node->psql('postgres', "SET statement_timeout = '1s'; SELECT pg_sleep(2) FROM neardup_indexes");
like($err, qr/statement timeout/, 'it can be cancelled');
$node->stop;
done_testing();
