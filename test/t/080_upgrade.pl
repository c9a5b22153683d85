# ALTER EXTENSION neardup UPDATE gives a database the same catalog as a fresh install of
# the newest version, and its data works as before.
#
# test/upgrade has the install script of each released version; test/tools/check copies
# them to the extension's folder.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('upgrade');
$node->init;
$node->start;

my ($newest) = $node->safe_psql('postgres',
	q{SELECT default_version FROM pg_available_extensions WHERE name = 'neardup'});

# Returns every object of the extension as pg_upgrade would recreate it: definitions,
# comments and privileges.  OIDs differ between databases.
sub catalog
{
	my ($database) = @_;
	my ($stdout, $stderr) = run_command(
		[
			'pg_dump', '--binary-upgrade', '--schema-only', '--exclude-table=docs',
			'-h', $node->host, '-p', $node->port, '-d', $database
		]);
	my @lines = grep { !/binary_upgrade_set_next|^--|^\s*$|^\\/ } split /\n/, $stdout;

	# Sorted, as the order of objects that depend on each other may vary.
	my @statements = split /;\n/, join("\n", @lines) . "\n";

	s/'\d+'::pg_catalog\.oid/oid/g for @statements;
	return join ";\n", sort @statements;
}

sub make_database
{
	my ($database, $version) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, "CREATE EXTENSION neardup VERSION '$version'");
}

make_database('fresh', $newest);
my $fresh = catalog('fresh');

like($fresh, qr/CREATE FUNCTION public\.to_minhash/, 'the comparison includes functions');
like($fresh, qr/COMMENT ON FUNCTION public\.neardup_reject/, 'and comments');

my @old = grep { $_ ne $newest } split /\n/, $node->safe_psql('postgres',
	q{SELECT version FROM pg_available_extension_versions WHERE name = 'neardup' ORDER BY version});

cmp_ok(scalar(@old), '>=', 1, 'there is an older version');

for my $version (@old)
{
	my $database = 'from_' . $version =~ tr/./_/r;
	my $question = q{
		SET enable_seqscan = off;
		SELECT count(*) FROM docs WHERE is_similar(sig, to_minhash('the quick brown fox jumps over the lazy dog'), 0.9);
		SELECT neardup_check('docs_sig_idx');
		SELECT count(*), sum(similarity) FROM neardup_pairs('SELECT id, sig FROM docs', 0.9);
		SELECT count(*) FROM neardup_clusters('SELECT id, sig FROM docs ORDER BY id', 0.9, NULL::int)};

	make_database($database, $version);
	$node->safe_psql(
		$database, q{
		CREATE TABLE docs (id int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
		CREATE INDEX ON docs USING neardup (sig);
		INSERT INTO docs SELECT i, CASE WHEN i % 10 = 0 THEN 'The quick brown fox jumps over the lazy dog.' ELSE 'text ' || i || ' about nothing' END
		FROM generate_series(1, 2000) i});
	my $before = $node->safe_psql($database, $question);

	like($before, qr/^200\n/, "$version finds the rows");
	$node->safe_psql($database, 'ALTER EXTENSION neardup UPDATE');
	is($node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'neardup'}),
		$newest, "$version is updated to $newest");
	is(catalog($database), $fresh, "the catalog of an updated $version equals that of a fresh $newest");
	is($node->safe_psql($database, $question), $before, 'and its index answers as before');
	$node->safe_psql($database, 'DROP EXTENSION neardup CASCADE');
	is($node->safe_psql($database, q{SELECT count(*) FROM pg_extension WHERE extname = 'neardup'}),
		'0', 'the extension can be dropped');
}

$node->stop;
done_testing();
