# The extension can be created and used, and stored signatures survive a restart
# and a crash.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('smoke');
$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE documents (
		id bigint PRIMARY KEY,
		body text NOT NULL,
		sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED
	);
	INSERT INTO documents
	SELECT i, string_agg('word' || (i * j) % 1009, ' ' ORDER BY j)
	FROM generate_series(1, 100) i, generate_series(1, 200) j
	GROUP BY i;
});

my $same = q{SELECT count(*) FROM documents WHERE sig = to_minhash(body) AND is_similar(sig, to_minhash(body), 1)};
my $digest = q{SELECT md5(string_agg(sig::text, ',' ORDER BY id)) FROM documents};

is($node->safe_psql('postgres', $same), '100', 'stored signatures equal those of the texts');
my $before = $node->safe_psql('postgres', $digest);

$node->restart;
is($node->safe_psql('postgres', $digest), $before, 'signatures are the same after a restart');
is($node->safe_psql('postgres', $same), '100', 'and the restarted server makes the same ones');

$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $digest), $before, 'signatures are the same after a crash');

$node->stop;
done_testing();
