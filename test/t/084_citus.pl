# Distributed tables, on a cluster of Citus that is given.
#
#   NEARDUP_CITUS   a connection string to the coordinator, as a superuser.  Its workers are
#                   added, and have this neardup installed.  The test creates the extension
#                   if it is missing, and a schema, neardup_citus, which it drops.
#
# The files in test/release/citus run in one session each.  Names of shards and nodes are left out
# of what they print, which is compared with the .out files.
use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

if (!$ENV{NEARDUP_CITUS})
{
	note('summary: distributed tables were not tested: NEARDUP_CITUS names no cluster of Citus');
	plan skip_all => 'NEARDUP_CITUS names no cluster of Citus';
}
chdir $ENV{TESTDIR};

# Returns what psql prints.
sub psql
{
	my ($script, @options) = @_;
	my $printed;

	local $ENV{PGOPTIONS} = '-c search_path=neardup_citus,public -c client_min_messages=warning';
	IPC::Run::run([ 'psql', '-X', '-q', '-A', '-t', @options, '-d', $ENV{NEARDUP_CITUS} ], '<', \$script, '>&', \$printed, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return $printed;
}

# What depends on the cluster, or on the order in which things were made.
sub without_places
{
	my ($printed) = @_;

	$printed =~ s/Node: host=.*/Node: …/g;
	$printed =~ s/_\d{6,}\b/_shard/g;
	$printed =~ s/\bpublic\.//g;
	$printed =~ s/1\/word 3\/512x1\/[^'"]*/…/g;
	return $printed;
}

is(psql('DROP SCHEMA IF EXISTS neardup_citus CASCADE; CREATE SCHEMA neardup_citus'), '', 'a schema on all nodes');
foreach my $name (qw(tables searches refused guard pairs tenants))
{
	my $printed = without_places(psql(slurp_file("test/release/citus/$name.sql"), '-a', '-v', 'VERBOSITY=terse'));
	my $expected = -e "test/release/citus/$name.out" ? slurp_file("test/release/citus/$name.out") : '';

	append_to_file("$ENV{TESTLOGDIR}/citus-$name.out", $printed) if $printed ne $expected;
	is($printed, $expected, "$name (see citus-$name.out among the logs)");
}

# Four sessions keep the same documents at the same time, in different orders.
my @sessions = map {
	my $session = $_;

	join '', "PREPARE keep(bigint, text) AS WITH g AS (INSERT INTO guard VALUES (\$1, to_minhash(\$2)) ON CONFLICT DO NOTHING RETURNING id)
		INSERT INTO kept (id, body) SELECT \$1, \$2 FROM g;\n",
		map { "EXECUTE keep(${session}00000 + $_, words($_, @{[ $session % 2 ]}));\n" } $session % 2 ? 5000 .. 5049 : reverse 5000 .. 5049;
} 1 .. 4;
my @errors = ('') x @sessions;
$ENV{PGOPTIONS} = '-c search_path=neardup_citus,public';
my @running = map { IPC::Run::start([ 'psql', '-X', '-q', '-d', $ENV{NEARDUP_CITUS} ], '<', \$sessions[$_], '>', \my $out, '2>', \$errors[$_]) } 0 .. $#sessions;
$_->finish foreach @running;
is(join('', @errors), '', 'four sessions insert near-duplicates at the same time');
is(psql('SELECT count(*) FROM kept WHERE id > 100000'), "50\n", 'one of each is kept');
is(psql(q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM kept', 0.7)}), "0\n", 'and none resembles another');
psql('DROP SCHEMA neardup_citus CASCADE');
done_testing();
