# No segment has more pages than its map can list, even if memory allows more.  The
# limit takes millions of rows to reach, so a setting for tests lowers it.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $pages = 120;

my $node = Node->new('segment_size');
$node->init;
$node->append_conf(
	'postgresql.conf', qq{
fsync = off
max_worker_processes = 8
min_parallel_table_scan_size = 0
neardup.background = off
});
$node->start;
# A page holds 7 documents of 1 kB, and each document is in some hundred groups.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE FUNCTION sig(i bigint) RETURNS minhash LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
		$$ SELECT to_minhash(to_shingles(ARRAY[i, i << 20, i << 40]), 1024, 8) $$;
	CREATE TABLE wide WITH (autovacuum_enabled = off) AS SELECT i AS id, sig(i) AS sig FROM generate_series(1, 3000) i;
});
my $limited = "SET neardup.debug_segment_pages = $pages;";

sub sql
{
	return $node->safe_psql('postgres', "$limited $_[0]");
}

# The number of documents in a segment of the largest size.
my $most = 7 * $pages;

# Checks that no segment is too large, every row is found and the index is consistent.
sub is_whole
{
	my ($index, $rows, $what) = @_;
	my $table = $index =~ s/_sig//r;

	is(sql(qq{SELECT coalesce(max(documents), 0) <= $most
		FROM neardup_explain('$index', hamming_ball(sig(1), 0)) WHERE segment IS NOT NULL}), 't', "$what: segments are within the limit");
	like(sql("SELECT neardup_check('$index')"), qr/ rows: $rows$/, "$what: the index is consistent");
	is(sql(qq{SET enable_seqscan = off;
		SELECT count(*) FROM $table q, $table t WHERE q.id % 100 = 0 AND is_similar(t.sig, q.sig, 0.9) AND t.id = q.id}),
		sql("SELECT count(*) FROM $table WHERE id % 100 = 0"), "$what: rows are found");
}

sub segments
{
	return sql("SELECT segments FROM neardup_index_status('$_[0]')");
}

# ---- Builds -------------------------------------------------------------------

foreach my $workers (0, 2)
{
	sql("SET max_parallel_maintenance_workers = $workers; ALTER TABLE wide SET (parallel_workers = $workers); CREATE INDEX wide_sig ON wide USING neardup (sig)");
	cmp_ok(segments('wide_sig'), '>=', 3000 / $most, "a build with $workers workers makes several segments");
	# Each segment has a root page and a map page.
	cmp_ok(sql("SELECT pg_relation_size('wide_sig') / 8192"), '<=', 1 + segments('wide_sig') * ($pages + 2), 'each within its limit');
	is_whole('wide_sig', 3000, "a build with $workers workers");
	sql('DROP INDEX wide_sig') if $workers == 0;
}

# With the most groups allowed only a few documents fit into a segment.
sql('CREATE INDEX wide_groups_sig ON wide USING neardup (sig) WITH (groups = 1024)');
like(sql("SELECT neardup_check('wide_groups_sig')"), qr/ rows: 3000$/, 'a build with the most groups allowed');
sql('DROP INDEX wide_groups_sig');

# ---- Vacuum -------------------------------------------------------------------

sql("DELETE FROM wide WHERE id % 2 = 0; $Node::PASS_HORIZON VACUUM wide");
is_whole('wide_sig', 1500, 'vacuum gathering');
sql("INSERT INTO wide SELECT i, sig(i) FROM generate_series(4001, 5000) i; VACUUM wide; DELETE FROM wide WHERE id % 3 = 0; $Node::PASS_HORIZON VACUUM wide");
is_whole('wide_sig', sql('SELECT count(*) FROM wide'), 'vacuum gathering with a tail');

# A segment made without the limit is divided when it is written again.
sql('RESET neardup.debug_segment_pages; REINDEX INDEX wide_sig');
is(segments('wide_sig'), 1, 'without the limit there is one segment');
sql("DELETE FROM wide WHERE id % 5 < 3; $Node::PASS_HORIZON VACUUM wide");
is_whole('wide_sig', sql('SELECT count(*) FROM wide'), 'a segment that is too large');

# ---- Inserts ------------------------------------------------------------------

# The tail alone exceeds the limit of a segment.
$node->safe_psql('postgres', 'CREATE TABLE grown (id bigint, sig minhash) WITH (autovacuum_enabled = off); CREATE INDEX grown_sig ON grown USING neardup (sig)');
sql("INSERT INTO grown SELECT i, sig(i) FROM generate_series($_ * 4500 + 1, $_ * 4500 + 4500) i") foreach 1 .. 2;
cmp_ok(segments('grown_sig'), '>=', 8192 / $most, 'sealing a tail makes several segments');
is_whole('grown_sig', 9000, 'sealing and merging');

# ---- Too many segments --------------------------------------------------------

# More memory would not help, so the hint does not suggest it.
$node->safe_psql('postgres', q{CREATE TABLE many WITH (autovacuum_enabled = off) AS SELECT i AS id, to_minhash(to_shingles(ARRAY[i]), 1024, 32) AS sig FROM generate_series(1, 1200) i});
my ($status, $out, $err) = $node->psql('postgres', 'SET neardup.debug_segment_pages = 4; CREATE INDEX ON many USING neardup (sig)');
like($err, qr/would have too many segments\nHINT:  Partition the table/, 'too many segments because of their limit');
$node->safe_psql('postgres', 'TRUNCATE many; CREATE INDEX many_sig ON many USING neardup (sig)');
($status, $out, $err) = $node->psql('postgres', q{SET neardup.debug_segment_pages = 4;
	INSERT INTO many SELECT i, to_minhash(to_shingles(ARRAY[i]), 1024, 32) FROM generate_series(1, 4200) i});
like($err, qr/would have too many segments\nHINT:  Partition the table/, 'too many segments in an index that has grown');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|has grown to/, 'the log has no internal error');
done_testing();
