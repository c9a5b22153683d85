# A scan stays within work_mem however many rows it finds, and loses none.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('memory');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nneardup.background = off\njit = off\n");
$node->start;

# Three quarters of 100,000 rows are equal, the others a few symbols away.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE equals AS
	SELECT g AS id, (CASE WHEN g % 4 > 0 THEN 0 ELSE g::bigint << 50 END)::simhash AS h FROM generate_series(1, 100000) g;
	CREATE INDEX equals_h ON equals USING neardup (h);
	INSERT INTO equals SELECT 100000 + g, CASE WHEN g % 5 > 0 THEN 0::bigint::simhash END FROM generate_series(1, 5000) g;
	CREATE FUNCTION scan_kb() RETURNS bigint LANGUAGE sql AS
		$$ SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts WHERE name = 'neardup scan' $$;
});

my %way = (
	index => 'SET enable_seqscan = off; SET enable_bitmapscan = off;',
	bitmap => 'SET enable_seqscan = off; SET enable_indexscan = off;',
	ordered => 'SET enable_seqscan = off; SET enable_sort = off;',
);
my %query = (
	index => 'SELECT id FROM equals WHERE is_within(h, 0::bigint::simhash, %d)',
	bitmap => 'SELECT id FROM equals WHERE is_within(h, 0::bigint::simhash, %d)',
	ordered => 'SELECT id FROM equals ORDER BY h <~> 0::bigint::simhash',
);

foreach my $way (sort keys %way)
{
	foreach my $distance ($way eq 'ordered' ? 64 : (0, 2, 64))
	{
		my $query = sprintf $query{$way}, $distance;
		like($node->safe_psql('postgres', "$way{$way} EXPLAIN $query"), qr/equals_h/, "$way, distance $distance: uses the index");
		foreach my $work_mem ('64kB', '1MB')
		{
			is($node->safe_psql('postgres', "SET work_mem = '$work_mem'; $way{$way} SELECT count(*), count(DISTINCT id) FROM ($query) q"),
				$node->safe_psql('postgres', "SET enable_indexscan = off; SET enable_bitmapscan = off; SELECT count(*), count(DISTINCT id) FROM ($query) q"), "every row with $work_mem");
		}
	}
	my ($small, $large) = map {
		$node->safe_psql(
			'postgres', qq{
			SET work_mem = '$_';
			$way{$way}
			BEGIN;
			DECLARE c CURSOR FOR } . sprintf($query{$way}, 64) . q{;
			MOVE 100 FROM c;
			SELECT scan_kb();
			MOVE 90000 FROM c;
			SELECT scan_kb();})
	} ('64kB', '4MB');
	is(scalar(grep { $_ > 64 + 16 } split /\n/, $small), 0, "$way: a scan keeps within 64 kB and a little: " . $small =~ tr/\n/ /r);
	# When many rows are fetched, the scan uses all of work_mem.
	cmp_ok((sort { $b <=> $a } split /\n/, $large)[0], '>', 256, "$way: uses the memory that it may: " . $large =~ tr/\n/ /r) if $way ne 'bitmap';
}
# An insert of many rows frees the memory of each row: detoasted signatures, and
# signatures made of a bigint.
is($node->safe_psql(
	'postgres', q{
	CREATE TABLE used (kb bigint);
	CREATE FUNCTION note_used() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO used SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts WHERE name = 'ExecutorState';
		RETURN NULL;
	END $$;
	CREATE TABLE toasted (sig minhash);
	INSERT INTO toasted SELECT to_minhash(to_shingles(ARRAY[i::text]), 1024, 32) FROM generate_series(1, 2000) i;
	CREATE TABLE signatures (sig minhash);
	CREATE INDEX ON signatures USING neardup (sig);
	CREATE TRIGGER note_used AFTER INSERT ON signatures EXECUTE FUNCTION note_used();
	CREATE TABLE hashes (h bigint);
	CREATE INDEX ON hashes USING neardup (h);
	CREATE TRIGGER note_used AFTER INSERT ON hashes EXECUTE FUNCTION note_used();
	INSERT INTO signatures SELECT sig FROM toasted;
	INSERT INTO hashes SELECT id FROM equals;
	SELECT array_agg(kb) FROM used WHERE kb > 1024}), '', 'an insert of many rows frees the memory of each');

# What a session keeps of an index: the positions of its pages.
cmp_ok($node->safe_psql(
	'postgres', q{
	CREATE TABLE spread AS
	SELECT g AS id, string_agg(hashint8extended(g, s)::bit(64)::text, '')::bit(512) AS sig
	FROM generate_series(1, 150000) g, generate_series(1, 8) s GROUP BY g;
	CREATE INDEX spread_sig ON spread USING neardup (sig);
	SET enable_seqscan = off;
	DO $$ BEGIN PERFORM l.id FROM (SELECT sig FROM spread LIMIT 20) q, spread l WHERE is_within(l.sig, q.sig, 100); END $$;
	SELECT used_bytes / (pg_relation_size('spread_sig') / 8192) FROM pg_backend_memory_contexts WHERE name = 'neardup segment'}),
	'<', 10, 'a session keeps less than ten bytes for each page of an index');

$node->stop;
done_testing();
