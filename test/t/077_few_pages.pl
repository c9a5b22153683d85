# Searches read few pages: one row beside many equal ones, and the nearest sets.  No row is returned
# twice, whatever is merged between fetches.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('few_pages');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nneardup.background = off\nwork_mem = '4MB'\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	-- The pages of an index, or of a table, that a statement has read.
	CREATE FUNCTION pages(statement text, read_from regclass) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		before bigint = pg_stat_get_xact_blocks_fetched(read_from);
	BEGIN
		EXECUTE statement;
		RETURN pg_stat_get_xact_blocks_fetched(read_from) - before;
	END $$;
	CREATE FUNCTION index_pages(named regclass) RETURNS bigint LANGUAGE sql AS
		$$ SELECT pg_relation_size(named) / current_setting('block_size')::int $$;
});
my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;';

# One of 300,000 equal texts.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE equals WITH (autovacuum_enabled = off) AS SELECT i AS id, to_minhash('the same text in each row') AS sig FROM generate_series(1, 300000) i;
	CREATE INDEX equals_sig ON equals USING neardup (sig);
	ANALYZE equals;
});
my $text = q{to_minhash('the same text in each row')};
foreach my $statement (
	"SELECT id FROM equals WHERE is_similar(sig, $text, 0.8) LIMIT 1",
	"SELECT EXISTS (SELECT FROM equals WHERE is_similar(sig, $text, 0.8))",
	"SELECT id FROM equals ORDER BY sig <-> $text LIMIT 1",
	"SELECT id FROM equals WHERE sig <@ near($text, 0.7) ORDER BY sig <-> $text LIMIT 1")
{
	my $quoted = $statement =~ s/'/''/gr;
	my $pages = $node->safe_psql('postgres', "$by_index SELECT pages('$quoted', 'equals_sig'); SELECT pages('$quoted', 'equals_sig')");

	cmp_ok((split /\n/, $pages)[1], '<=', 60, "$statement: " . $pages =~ tr/\n/ /r);
}
is($node->safe_psql('postgres', "$by_index SELECT count(DISTINCT id), count(*) FROM (SELECT id FROM equals WHERE is_similar(sig, $text, 0.8) OFFSET 0) q"), '300000|300000', 'all rows come once');

# A cursor, between whose fetches the segments that it reads are merged.  Rows are at several distances.
my %kind = (
	signatures => [ 'sig', 'minhash', q{to_minhash(to_shingles(ARRAY[1, 2, 3, 4, 5, 6 + i / 20000, 8 + i % 3]::bigint[]))}, q{to_minhash(to_shingles(ARRAY[1, 2, 3, 4, 5, 6, 8]::bigint[]))} ],
	sets => [ 's', 'shingles', q{to_shingles(ARRAY[1, 2, 3, 4, 5, 6 + i / 20000, 8 + i % 3]::bigint[])}, q{to_shingles(ARRAY[1, 2, 3, 4, 5, 6, 8]::bigint[])} ],
);
foreach my $kind (sort keys %kind)
{
	my ($column, $type, $value, $query) = @{ $kind{$kind} };

	foreach my $order ('', "ORDER BY $column <-> $query")
	{
		my $where = $order eq '' ? "WHERE is_similar($column, $query, 0.4)" : '';
		my ($merges, $fetched) = ('', '');

		$node->safe_psql(
			'postgres', qq{
			DROP TABLE IF EXISTS moving, fetched;
			CREATE TABLE moving (id int, $column $type) WITH (autovacuum_enabled = off);
			CREATE TABLE fetched (place serial, id int, d float8);
			CREATE INDEX moving_index ON moving USING neardup ($column);
			INSERT INTO moving SELECT i, $value FROM generate_series(1, 60000) i;
		});
		# Each fetch is longer; inserts that no snapshot of the cursor sees seal and merge.
		for my $i (0 .. 9)
		{
			my $count = 3**$i;

			$fetched .= "INSERT INTO fetched (id, d) SELECT id, d FROM fetch_some($count);\n";
			$fetched .= "INSERT INTO moving SELECT 0, $value FROM generate_series(1, 9000) i;\n" if $i % 2 == 0;
		}
		my $result = $node->safe_psql(
			'postgres', qq{$by_index
			CREATE OR REPLACE FUNCTION fetch_some(most int) RETURNS TABLE (id int, d float8) LANGUAGE plpgsql AS \$\$
			DECLARE c refcursor = 'walk';
			BEGIN
				FOR i IN 1 .. most LOOP
					FETCH c INTO id, d;
					EXIT WHEN NOT FOUND;
					RETURN NEXT;
				END LOOP;
			END \$\$;
			BEGIN;
			DECLARE walk CURSOR FOR SELECT id, $column <-> $query AS d FROM moving $where $order;
			$fetched
			INSERT INTO fetched (id, d) SELECT id, d FROM fetch_some(1000000);
			COMMIT;
			SELECT count(*) - count(DISTINCT id), (SELECT count(*) FROM moving WHERE id > 0 AND similarity($column, $query) >= 0.4) - count(*) FILTER (WHERE d <= 0.6), count(*) FILTER (WHERE id = 0) FROM fetched;
			SELECT count(*) FROM (SELECT d < lag(d) OVER (ORDER BY place) AS falls FROM fetched) f WHERE falls AND '$order' <> '';
			SELECT segments > 0 FROM neardup_indexes WHERE index_name = 'moving_index'::regclass});
		is($result =~ tr/\n/ /r, '0|0|0 0 t', "$kind $order: each row comes once, in order, although segments are merged");
	}
}

# The nearest sets, for queries that are near to some, far from all, large, or share nothing.
$node->safe_psql(
	'postgres', q{
	CREATE FUNCTION word(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'w' || floor(exp(mod(hashint4(i)::bigint + 2147483648, 100000) / 100000.0 * 9)) $$;
	CREATE TABLE docs WITH (autovacuum_enabled = off) AS
	SELECT i AS id, to_shingles((SELECT array_agg(DISTINCT word(i * 64 + j)) FROM generate_series(1, 20 + i % 60) j)) AS s FROM generate_series(1, 20000) i;
	CREATE INDEX docs_s ON docs USING neardup (s);
	INSERT INTO docs SELECT 20000 + i, s FROM docs, generate_series(1, 3) i WHERE id % 40 = 0;
	CREATE TABLE queries AS
	SELECT i AS id, to_shingles((SELECT array_agg(DISTINCT word(i * 64 + CASE WHEN i % 3 = 0 THEN 0 WHEN j % 4 = 0 THEN 0 ELSE 40000000 END + j)) FROM generate_series(1, CASE WHEN i % 10 = 9 THEN 1500 ELSE 10 + i END) j)) AS s
	FROM generate_series(1, 100) i
	UNION ALL SELECT 101, to_shingles(ARRAY['nothing', 'that', 'is', 'there'])
	UNION ALL SELECT 102, to_shingles(ARRAY['w1', 'w2', 'w3', 'nothing'])
	UNION ALL SELECT 103, to_shingles(array_agg('w' || j)) FROM generate_series(1, 8000) j;
	ANALYZE docs;
});
foreach my $most (1, 10, 300)
{
	my $statement = "format('SELECT id FROM docs ORDER BY s <-> %L LIMIT $most', s)";
	my $read = $node->safe_psql('postgres', "$by_index SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY p), max(p), index_pages('docs_s') FROM (SELECT pages($statement, 'docs_s') AS p FROM queries) q");
	my ($median, $worst, $pages) = split /\|/, $read;

	cmp_ok($worst, '<=', 1.2 * $pages, "the $most nearest sets: median, most, pages of the index: $read");
	cmp_ok($median, '<=', 0.3 * $pages, "the $most nearest sets: most queries read a part of the index") if $most <= 10;
	# They are the nearest.
	my $distances = "(SELECT array_agg(d ORDER BY d) FROM (SELECT docs.s <-> q.s AS d FROM docs ORDER BY docs.s <-> q.s LIMIT $most) n)";
	is($node->safe_psql('postgres', "$by_index CREATE TABLE found AS SELECT id, $distances AS d FROM queries q; RESET ALL; SET enable_indexscan = off; SELECT count(*) FROM found JOIN queries q USING (id) WHERE d IS DISTINCT FROM $distances; DROP TABLE found"), '0', "the $most nearest sets are those of a sequential scan");
}

$node->stop;
done_testing();
