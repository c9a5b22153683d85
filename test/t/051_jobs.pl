# The check runs its tests as jobs: each is reported, a job that hangs is stopped, and
# nothing that a job has started outlives the check, however that ends.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'processes are found by Linux\'s /proc' unless -d '/proc/self/cwd/.';

my $tools = abs_path('test/tools');
my $work = abs_path(tempdir(CLEANUP => 1));
# A server leaves the process group of the job that started it; so does this.
my $server = "mkdir -p $work/data; cd $work/data; setsid sh -c 'touch started; exec sleep 1000' </dev/null >/dev/null 2>&1 & until [ -e started ]; do sleep 0.1; done";
my $timeout = $ENV{PG_TEST_TIMEOUT_DEFAULT} // 180;

sub script
{
	my ($lines) = @_;

	return <<"SH";
source $tools/lib.sh
source $tools/jobs.sh
WORK=$work
say() { echo "\$1 ended with \$2"; }
serve() { $server; }
$lines
SH
}

# Runs lines of bash and returns what they print.
sub run_lines
{
	my ($lines) = @_;

	open my $file, '>', "$work.sh" or die $!;
	print $file script($lines);
	close $file;
	return `bash $work.sh 2>&1`;
}

# The number of processes that work below the folder.
sub at_work
{
	my @found = grep { (readlink($_) // '') =~ /^\Q$work\E/ } glob('/proc/[0-9]*/cwd');

	return scalar @found;
}

sub gone
{
	for (1 .. 10 * $timeout)
	{
		return 1 if at_work() == 0;
		usleep(100_000);
	}
	return 0;
}

my $said = run_lines("job good echo ok 1\njob bad false\njob quoted test 'a b' = 'a b'\nrun_jobs say");
like($said, qr/^good ended with 0$/m, 'a job that passes');
like($said, qr/^bad ended with 1$/m, 'a job that fails');
like($said, qr/^quoted ended with 0$/m, 'arguments stay as they are');

$said = run_lines("JOBS=1 STALL=1\njob hangs sleep 1000\njob other true\nrun_jobs say");
like($said, qr/^hangs ended with [^0]/m, 'a job that prints nothing is stopped');
like($said, qr/^other ended with 0$/m, 'and the next one runs');

run_lines("job serves serve\nrun_jobs say");
is(at_work(), 1, 'a server goes on when its job has ended');
run_lines('end_jobs');
is(at_work(), 0, 'and ends with all jobs');
system("rm -rf $work/data");

foreach my $signal (qw(TERM KILL))
{
	run_lines("guard_jobs\njob serves serve\njob waits sleep 1000\n"
		  . "(until [ -e $work/data/started ]; do sleep 0.1; done; kill -$signal \$\$) &\nrun_jobs say");
	ok(gone(), "nothing goes on after SIG$signal");
	system("rm -rf $work/data");
}
unlink "$work.sh";
done_testing();
