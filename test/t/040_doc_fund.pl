# test/sql/fund.sql runs all that doc/tutorials/fund.md shows, and prints what it shows.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;

# Roles in a test have names that no other role has.
sub squeezed
{
	my ($text) = @_;

	$text =~ s/\bregress_//g;
	$text =~ s/\s+/ /g;
	return $text;
}

my $run = squeezed(slurp_file("$ENV{TESTDIR}/test/sql/fund.sql"));
my $doc = slurp_file("$ENV{TESTDIR}/doc/tutorials/fund.md");
my @blocks = $doc =~ /^```sql\n(.*?)^```$/msg;

cmp_ok(scalar @blocks, '>', 5, 'the page has examples');
foreach my $block (@blocks)
{
	my ($title) = $block =~ /^(.{1,60})/;

	ok(index($run, squeezed($block)) >= 0, "the test runs: $title");
}

my $printed = squeezed(slurp_file("$ENV{TESTDIR}/expected/fund.out"));
my @outputs = $doc =~ s/^```sql\n.*?^```$//msgr =~ /((?:^    .*\n)+)/mg;

cmp_ok(scalar @outputs, '>', 5, 'the page has results');
foreach my $output (@outputs)
{
	my ($title) = $output =~ /^\s*(.{1,60})/;

	ok(index($printed, squeezed($output) =~ s/^ //r) >= 0, "the test prints: $title");
}
done_testing();
