#!/usr/bin/perl
# soak.pl: runs a soak with the environment of test/soak/run.  Soak.pm does the work.

use strict;
use warnings;
use IO::Handle;
use Soak;

STDOUT->autoflush(1);
$SIG{PIPE} = 'IGNORE';
$SIG{INT} = $SIG{TERM} = sub { die "interrupted\n" };
Soak::publish(undef, 'pid', $$);
srand($ENV{SEED} * 64 + 63);
my $soak = Soak->new;
my $done = eval { $soak->set_up; $soak->start_clients; $soak->work; $soak->finish; $soak->check_plans; 1 };
my $error = $@;
$SIG{INT} = $SIG{TERM} = 'IGNORE';
$soak->stop_servers;
if (!$done)
{
	chomp $error;
	$soak->say("FAILED with seed $ENV{SEED}: $error");
	$soak->say("to inspect: $ENV{PGBIN}/pg_ctl -D $_->{dir} -o '-p $_->{port}' start") foreach @$soak{qw(primary standby)};
	exit 1;
}
$soak->report;
