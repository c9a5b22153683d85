# What frameworks make of neardup: neardup.sqlalchemy, neardup.django and neardup.refusal() in Python,
# and clients for JavaScript, Java, Go and Rust; each also behind PgBouncer, which hands out a
# connection for each transaction.
#
#   NEARDUP_FRAMEWORKS   a Python that has the package, and what test/release/frameworks/python.txt lists
#   NEARDUP_CLIENTS      a folder that test/release/clients has filled
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $python = $ENV{NEARDUP_FRAMEWORKS} or plan skip_all => 'NEARDUP_FRAMEWORKS names no Python';
my $node = Node->new('frameworks');
my $tests = "$ENV{TESTDIR}/test/release/frameworks";
my $clients = $ENV{NEARDUP_CLIENTS};
my $folder = PostgreSQL::Test::Utils::tempdir();
my @programs = (
	[ python => "$python $tests/frameworks.py" ],
	[ javascript => 'node frameworks.mjs' ],
	[ java => "java -cp '$clients/java:$clients/java/*' neardup.Frameworks", "$clients/java" ],
	[ go => "$clients/go/frameworks", "$clients/go" ],
	[ rust => "$clients/rust/debug/frameworks", "$clients/rust" ]);

# Writes the settings of PgBouncer, in transaction mode with one connection to the server, and starts it.
# Returns its process.
sub start_pooler
{
	my ($port) = @_;
	my $server = 'host=' . $node->host . ' port=' . $node->port;

	append_to_file("$folder/users", "\"$ENV{PGUSER}\" \"$ENV{PGPASSWORD}\"\n");
	append_to_file("$folder/pooler.ini", <<"END");
[databases]
* = $server
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir = @{[$node->host]}
auth_type = scram-sha-256
auth_file = $folder/users
pool_mode = transaction
default_pool_size = 1
ignore_startup_parameters = extra_float_digits
logfile = $folder/pooler.log
END
	my $process = fork // die "fork: $!";
	exec 'pgbouncer', '-q', "$folder/pooler.ini" or die "pgbouncer: $!" if !$process;
	for (1 .. 100)
	{
		last if -S $node->host . "/.s.PGSQL.$port";
		usleep(100_000);
	}
	return $process;
}

# Makes the database of a program, with the table that its frameworks share.
sub prepare
{
	my ($name) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, slurp_file("$tests/migrations/1_proposals/up.sql"));
}

$node->init;
$node->start_with_tcp;
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $pooler = start_pooler($port);
local @ENV{qw(PGHOST PGPORT POOLER_PORT)} = ($node->host, $node->port, $port);
system_or_bail('cp', "$tests/frameworks.mjs", $folder);
symlink "$clients/node_modules", "$folder/node_modules" or die "$folder: $!";
foreach (@programs)
{
	my ($language, $command, $built) = @$_;

	if ($built && -e "$built/skipped")
	{
		note "summary: $language: skipped, 1 program: " . slurp_file("$built/skipped");
		next;
	}
	prepare($language) if $built;
	my @said;
	foreach (split /\n/, qx((cd $folder && $command $language) 2>&1))
	{
		if (/^(not )?ok \d+ - (.*)/) { ok(!$1, $2) }
		elsif (/^# (.*)/) { note "summary: $1" }
		else { push @said, $_ }
	}
	is($?, 0, "the tests of $language ran to their end") or diag join "\n", @said;
}
kill 'TERM', $pooler;
waitpid $pooler, 0;
$node->stop;
done_testing();
