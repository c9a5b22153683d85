# Some hundred statements with hostile arguments cause errors, but no crash, no internal
# error and no late answer.  'make fuzz' runs more of them.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('hostile_sql');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nlog_min_messages = fatal\n");
$node->start;

local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres');
my $directory = PostgreSQL::Test::Utils::tempdir;
my $output = qx{"$^X" "$ENV{TESTDIR}/test/fuzz/sql.pl" 800n 2026 "$directory" 2>&1};

is($?, 0, 'no failure is found');
like($output, qr/^sql: [89]\d\d statements, \d{3} of them errors, 0 crashes, 0 internal errors, 0 late answers$/m, 'all statements were run');
diag($output) if $? != 0;
$node->stop;

done_testing();
