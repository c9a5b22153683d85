# Vacuum frees pages of documents whose segment was copied, although a later merge has made
# their stamp between the stamps of another segment's pages.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $page_size = 8192;
# src/extension/store/page.h: PageInfo follows the page's header.
my ($stamp_at, $kind_at, $documents) = (24, 42, 2);

my $node = Node->new('stale');
$node->init;
# With little memory the segments of a build are too large to be merged.
$node->append_conf('postgresql.conf', "fsync = off\nneardup.background = off\nmaintenance_work_mem = '1MB'\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE r (id bigserial, batch int, h bigint) WITH (autovacuum_enabled = off);
	INSERT INTO r (batch, h) SELECT 0, hashint8extended(g, 0) FROM generate_series(1, 230000) g;
	CREATE INDEX r_h ON r USING neardup (h);
	CREATE PROCEDURE add(first int, last int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR n IN first .. last LOOP
			INSERT INTO r (batch, h) SELECT n, hashint8extended(g, n) FROM generate_series(1, 8716) g;
			COMMIT;
		END LOOP;
	END $$;
	-- Tails are sealed, the segment of one is copied without its dead rows, then all others are merged.
	CALL add(1, 2);
	DELETE FROM r WHERE batch = 2 AND id % 100 < 95;
} . $Node::PASS_HORIZON . 'VACUUM (INDEX_CLEANUP ON) r');
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('r_h')});

# As a crash may, forget which pages are free, so that nothing is written to them.
$node->stop;
unlink "${file}_fsm" or die "${file}_fsm: $!";
$node->start;
$node->safe_psql('postgres', 'CALL add(3, 11)');

# Returns how many pages of documents have no stamp.
sub disowned
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $bytes = slurp_file($file);

	return scalar grep {
		unpack('S', substr($bytes, $_ * $page_size + $kind_at, 2)) == $documents
		  && unpack('L', substr($bytes, $_ * $page_size + $stamp_at, 4)) == 0
	} 1 .. length($bytes) / $page_size - 1;
}

like($node->safe_psql('postgres', q{SELECT neardup_check('r_h')}), qr/ dead/, 'the index is consistent');
my $before = disowned();
$node->safe_psql('postgres', "DELETE FROM r WHERE batch = 2 AND id % 100 = 96; $Node::PASS_HORIZON VACUUM (INDEX_CLEANUP ON) r");
cmp_ok(disowned(), '>', $before, 'vacuum finds those that no segment lists');
like($node->safe_psql('postgres', q{SELECT neardup_check('r_h')}), qr/ dead/, 'the index is consistent');
is($node->safe_psql('postgres', q{SET enable_seqscan = off;
	SELECT count(*) FROM r a, LATERAL (SELECT count(*) AS found FROM r b WHERE is_within(b.h, a.h, 0)) x WHERE a.id % 500 = 1 AND found <> 1}),
	0, 'and has all rows');

$node->stop;
done_testing();
