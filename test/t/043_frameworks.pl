# neardup.sqlalchemy, neardup.django and neardup.refusal() on the frameworks.
#
#   NEARDUP_FRAMEWORKS   a Python that has the package, and what test/release/frameworks.txt lists
use strict;
use warnings;

use Node;
use Test::More;

my $python = $ENV{NEARDUP_FRAMEWORKS} or plan skip_all => 'NEARDUP_FRAMEWORKS names no Python';
my $node = Node->new('frameworks');

$node->init;
$node->start;
local @ENV{qw(PGHOST PGPORT)} = ($node->host, $node->port);
foreach (split /\n/, qx($python $ENV{TESTDIR}/test/release/test_frameworks.py frameworks 2>&1))
{
	/^(not )?ok \d+ - (.*)/ ? ok(!$1, $2) : note $_;
}
is($?, 0, 'the tests ran to their end');
$node->stop;
done_testing();
