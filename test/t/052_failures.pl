# The check says at its end what failed tests say, then their names and where their logs are.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $tools = abs_path('test/tools');
my $work = abs_path(tempdir(CLEANUP => 1));

# Writes a file below the folder of logs.
sub log_file
{
	my ($name, $text) = @_;

	make_path("$work/$1") if $name =~ m{(.*)/};
	open my $file, '>', "$work/$name" or die "$name: $!";
	print $file $text;
	close $file;
}

sub summary
{
	log_file('script', "source $tools/lib.sh\nsource $tools/jobs.sh\nWORK=$work\nsummarize @_\n");
	return `bash $work/script 2>&1`;
}

log_file('099_some.log', <<'LOG');
#   Failed test 'the second'
#   at test/t/099_some.pl line 5.
#          got: '1'
#     expected: '2'
# Looks like your test exited with 29 just after 3.
test/t/099_some.pl ..
ok 1 - the first
not ok 2 - the second
# Running: psql
ok 3 - the third
Dubious, test returned 29 (wstat 7424, 0x1d00)
LOG
log_file('run/tmp_check/log/regress_log_099_some', "the last words at test/t/099_some.pl line 9.\n");
log_file('regress1.log', <<'LOG');
test sound                        ... ok        16059 ms
test old                          ... FAILED     1605 ms
     older                        ... FAILED (test process exited with exit code 2)      106 ms
ok 4         - whole                                    22 ms
not ok 5     - new                                     123 ms
======================
 1 of 2 tests failed.
LOG
log_file('regress1/regression.diffs', join('', map { "diff -U3 $_\n- one\n+ two\n" . " same\n" x 200 } qw(old new)));
log_file('unit.log', "ok     test_a (sanitize, 1 s)\nnot ok test_b (sanitize)\ntest_b.c:12: not equal\nok     test_c (sanitize, 1 s)\n");
log_file('build.log', "gcc a.c\na.c:1: error\n");

my $said = summary(qw(099_some regress1 unit build));
my ($why, $names) = split /^---- failed ----\n/m, $said;

like($why, qr/^---- 099_some ----\n#   Failed test 'the second'\n.*\n#          got: '1'\n#     expected: '2'\n/m, 'what a TAP test says of a failure');
like($why, qr/^not ok 2 - the second$/m, 'with its line');
unlike($why, qr/^(ok|.*Running)/m, 'and not what other tests say');
like($why, qr/^the last words/m, 'the end of the log of a test that died');
like($why, qr/^diff -U3 old\n- one\n\+ two\n( same\n){77}\(more of it is in the file\)\ndiff -U3 new\n/m, 'the beginning of each difference of regression tests');
like($why, qr/^not ok test_b \(sanitize\)\ntest_b\.c:12: not equal\n/m, 'what a unit test says');
like($why, qr/^---- build ----\n.*\na\.c:1: error\n/m, 'and a job without tests');
like($names, qr/^099_some: the second\nregress1: old\nregress1: older\nregress1: new\nunit: test_b \(sanitize\)\nbuild: ended with an error\n\Q$work\E/, 'the names come last');
like($names, qr/^\Q$work\/$_\E$/m, "and where $_ is") foreach qw(099_some.log run/tmp_check/log/regress_log_099_some regress1/regression.diffs unit.log build.log);

log_file('many.log', join '', map { "not ok $_ - test $_\n" } 1 .. 30);
like(summary('many'), qr/^many: test 20\nmany: and 10 more\n/m, 'of many names, the first');

done_testing();
