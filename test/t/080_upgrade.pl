# ALTER EXTENSION neardup UPDATE: a database that began with an older version has
# the same catalog afterwards as one of the newest, and its data serves as before.
#
# test/upgrade holds the install script of each released version; test/tools/check
# puts them beside the extension.
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

# Every object of the extension as pg_upgrade would make it again: definitions,
# comments and privileges.  Numbers of objects differ from database to database.
sub catalog
{
	my ($database) = @_;
	my ($stdout, $stderr) = run_command(
		[
			'pg_dump', '--binary-upgrade', '--schema-only', '--exclude-table=docs',
			'-h', $node->host, '-p', $node->port, '-d', $database
		]);
	my @lines = grep { !/binary_upgrade_set_next|^--|^\s*$|^\\/ } split /\n/, $stdout;

	# The same in whatever order: that of objects that depend on each other may vary.
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

like($fresh, qr/CREATE FUNCTION public\.to_minhash/, 'the comparison sees functions');
like($fresh, qr/COMMENT ON FUNCTION public\.neardup_reject/, 'and comments');

my @old = grep { $_ ne $newest } split /\n/, $node->safe_psql('postgres',
	q{SELECT version FROM pg_available_extension_versions WHERE name = 'neardup' ORDER BY version});

cmp_ok(scalar(@old), '>=', 1, 'there is an older version to begin with');

for my $version (@old)
{
	my $database = 'from_' . $version =~ tr/./_/r;
	my $question = q{
		SET enable_seqscan = off;
		SELECT count(*) FROM docs WHERE is_similar(sig, to_minhash('the quick brown fox jumps over the lazy dog'), 0.9);
		SELECT neardup_check('docs_sig_idx')};

	make_database($database, $version);
	$node->safe_psql(
		$database, q{
		CREATE TABLE docs (id int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
		CREATE INDEX ON docs USING neardup (sig);
		INSERT INTO docs SELECT i, CASE WHEN i % 10 = 0 THEN 'The quick brown fox jumps over the lazy dog.' ELSE 'text ' || i || ' about nothing' END
		FROM generate_series(1, 2000) i});
	my $before = $node->safe_psql($database, $question);

	like($before, qr/^200\n/, "$version finds what is there");
	$node->safe_psql($database, 'ALTER EXTENSION neardup UPDATE');
	is($node->safe_psql($database, q{SELECT extversion FROM pg_extension WHERE extname = 'neardup'}),
		$newest, "$version becomes $newest");
	is(catalog($database), $fresh, "the catalog of an updated $version is that of a fresh $newest");
	is($node->safe_psql($database, $question), $before, 'and its index answers as before');
	$node->safe_psql($database, 'DROP EXTENSION neardup CASCADE');
	is($node->safe_psql($database, q{SELECT count(*) FROM pg_extension WHERE extname = 'neardup'}),
		'0', 'it can be dropped whole');
}

$node->stop;
done_testing();
