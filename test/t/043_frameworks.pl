# What frameworks make of neardup: neardup.sqlalchemy, neardup.django and neardup.refusal() in Python,
# and clients for JavaScript.
#
#   NEARDUP_FRAMEWORKS   a Python that has the package, and what test/release/frameworks.txt lists
#   NEARDUP_CLIENTS      a folder with the packages of test/release/package.json
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $python = $ENV{NEARDUP_FRAMEWORKS} or plan skip_all => 'NEARDUP_FRAMEWORKS names no Python';
my $node = Node->new('frameworks');
my $tests = "$ENV{TESTDIR}/test/release";
my $folder = PostgreSQL::Test::Utils::tempdir();

$node->init;
$node->start;
local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
system_or_bail('cp', "$tests/test_frameworks.mjs", $folder);
symlink "$ENV{NEARDUP_CLIENTS}/node_modules", "$folder/node_modules" or die "$folder: $!";
foreach my $command ("$python $tests/test_frameworks.py python", "cd $folder && node test_frameworks.mjs javascript")
{
	foreach (split /\n/, qx(($command) 2>&1))
	{
		/^(not )?ok \d+ - (.*)/ ? ok(!$1, $2) : note s/^# /summary: /r;
	}
	is($?, 0, 'the tests ran to their end');
}
$node->stop;
done_testing();
