package Faults;

# Faults of the servers while the clients work: kills, stops, promotions, restores.  Each
# returns a description of what was done; afterwards every index is checked.

use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use POSIX ();
use Time::HiRes qw(sleep time);
use Kinds;
use Server;
use Session;

our @FAULTS = (
	[ 'backend killed', 4, \&kill_backend ],
	[ 'session terminated', 3, \&terminate ],
	[ 'sessions held up', 4, \&hold_up ],
	[ 'worker killed', 2, \&kill_worker ],
	[ 'postmaster killed', 3, \&kill_postmaster ],
	[ 'all processes killed', 3, \&kill_everything ],
	[ 'immediate stop', 3, \&stop_immediately ],
	[ 'restart', 2, \&restart ],
	[ 'standby killed', 2, \&kill_standby ],
	[ 'standby restarted', 1, \&restart_standby ],
	[ 'promotion', 3, \&promotion ],
	[ 'restore', 4, \&restore ]);

# ---- The primary ----------------------------------------------------------------

sub ask
{
	my ($soak, $sql) = @_;
	my $session = $soak->{primary}->session // return undef;
	my ($state, $output) = $session->run($sql);

	$session->close;
	return $state eq '00000' ? $output : undef;
}

sub random_pid
{
	my ($soak, $which) = @_;
	my @pids = split /\n/, ask($soak, "SELECT pid FROM pg_stat_activity WHERE $which AND pid <> pg_backend_pid() ORDER BY pid") // '';

	return @pids ? $pids[ int rand @pids ] : undef;
}

# Kills a backend, after which the server restarts all others.
sub kill_backend
{
	my ($soak) = @_;
	my $pid = random_pid($soak, "backend_type = 'client backend'") // return undef;

	return undef if !grep { $_ == $pid } $soak->{primary}->children;
	kill 'KILL', $pid;
	return $soak->await_primary && 'recovered by itself';
}

# Kills a process that writes, checkpoints, vacuums or merges.
sub kill_worker
{
	my ($soak) = @_;
	my $pid;

	foreach (1 .. 30)
	{
		$pid = random_pid($soak, "backend_type ~ '^(neardup|autovacuum worker)'");
		last if $pid;
		sleep(0.1);
	}
	$pid //= random_pid($soak, "backend_type IN ('checkpointer', 'background writer', 'walwriter')") // return undef;
	return undef if !grep { $_ == $pid } $soak->{primary}->children;
	kill 'KILL', $pid;
	return $soak->await_primary && 'recovered by itself';
}

sub terminate
{
	my ($soak) = @_;
	my $pid = random_pid($soak, "backend_type = 'client backend'") // return undef;

	return defined ask($soak, 'SELECT ' . (rand() < 0.5 ? 'pg_terminate_backend' : 'pg_cancel_backend') . "($pid)") ? 'went on' : undef;
}

# Stops sessions at random moments while their tables' indexes are vacuumed.
sub hold_up
{
	my ($soak) = @_;
	my @tables = grep { $_->{persistence} ne 'TEMP' } Kinds::tables($ENV{CLIENTS});
	my $held = 0;

	foreach (1 .. 12)
	{
		my $pid = random_pid($soak, "backend_type = 'client backend' AND state = 'active'") // next;
		next if !grep { $_ == $pid } $soak->{primary}->children;
		my $helper = stand_still($pid, rand 2);
		my $session = $soak->{primary}->session;
		if ($session)
		{
			$session->run("SET lock_timeout = '1s'");
			$session->run("VACUUM $tables[ int rand @tables ]{name}") foreach 1 .. 3;
			$session->close;
		}
		waitpid($helper, 0);
		$held++;
	}
	return $held ? "$held times" : undef;
}

# A helper continues the process after some time, as the caller may be waiting for it.
sub stand_still
{
	my ($pid, $seconds) = @_;
	my $helper = fork() // die "cannot fork: $!";

	return $helper if $helper;
	$SIG{INT} = $SIG{TERM} = 'IGNORE';
	kill 'STOP', $pid;
	sleep($seconds);
	kill 'CONT', $pid;
	POSIX::_exit(0);
}

sub start_primary
{
	my ($soak) = @_;

	$soak->{primary}->start or $soak->fail('the primary does not start');
	$soak->await_primary;
	return 'recovered';
}

sub kill_postmaster
{
	my ($soak) = @_;

	$soak->{primary}->kill_all(0);
	sleep(rand 1);
	return start_primary($soak);
}

sub kill_everything
{
	my ($soak) = @_;

	$soak->{primary}->kill_all(1);
	return start_primary($soak);
}

sub stop_immediately
{
	my ($soak) = @_;

	$soak->{primary}->stop('immediate') or $soak->fail('no immediate stop');
	return start_primary($soak);
}

sub restart
{
	my ($soak) = @_;

	$soak->{primary}->stop('fast') or $soak->fail('no fast stop');
	return start_primary($soak);
}

# ---- The standby ----------------------------------------------------------------

# Makes a new standby with its own slot.
sub make_standby
{
	my ($soak) = @_;
	my $old = $soak->{slot};

	$soak->publish('standby', 0);
	$soak->{standby}->throw_away;
	foreach (1 .. 10)
	{
		ask($soak, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '$old'") if $old;
		$soak->{slot} = 'soak_' . ++$soak->{slots};
		if ($soak->{standby}->copy_of($soak->{primary}, $soak->{slot}))
		{
			$soak->{standby}->start or $soak->fail('the standby does not start');
			$soak->publish('standby', $soak->{standby}{port});
			return;
		}
		$old = $soak->{slot};
		sleep(1);
	}
	$soak->fail('no standby can be made');
}

sub kill_standby
{
	my ($soak) = @_;

	$soak->{standby}->kill_all(rand() < 0.5);
	$soak->{standby}->start or $soak->fail('the standby does not start');
	return 'recovered';
}

sub restart_standby
{
	my ($soak) = @_;

	$soak->{standby}->stop(rand() < 0.5 ? 'fast' : 'immediate');
	$soak->{standby}->start or $soak->fail('the standby does not start');
	return 'recovered';
}

# Returns whether the standby streams from the primary.
sub follows
{
	my ($soak) = @_;

	return (ask($soak, 'SELECT count(*) FROM pg_stat_replication WHERE application_name <> \'pg_basebackup\' AND state = \'streaming\'') // 0) > 0;
}

# Promotes the standby, removes the primary and makes a new standby.
sub promotion
{
	my ($soak) = @_;
	my $how = (qw(fast immediate kill))[ int rand 3 ];
	my ($old, $new) = @$soak{qw(primary standby)};

	if (!follows($soak))
	{
		make_standby($soak);
		return undef;
	}
	drop_backup($soak);
	$soak->publish('standby', 0);
	my $behind = $how ne 'fast' && rand() < 0.5;
	if ($behind)
	{
		# Transactions committed from now on will be lost.
		$new->stop('fast');
		sleep(rand 5);
	}
	if ($how eq 'kill')
	{
		$old->kill_all(1);
	}
	else
	{
		$old->stop($how) or $soak->fail("no $how stop");
	}
	!$behind || $new->start or $soak->fail('the standby does not start');
	$new->promote or $soak->fail('the standby cannot be promoted');
	@$soak{qw(primary standby)} = ($new, $old);
	$soak->publish('primary', $new->{port}, ++$soak->{generation});
	$soak->await_primary;
	delete $soak->{slot};
	make_standby($soak);
	return "after a $how stop" . ($behind ? ', behind' : '');
}

# ---- Restores -------------------------------------------------------------------

# Removes a folder to which an archiver may be writing.
sub empty
{
	remove_tree(@_, { error => \my $errors });
}

# Takes a base backup and archives all WAL from then on.
sub begin_backup
{
	my ($soak) = @_;
	my $server = $soak->{restored};

	empty($server->{dir}, "$ENV{DIR}/archive");
	make_path("$ENV{DIR}/archive");
	open(my $on, '>', "$ENV{DIR}/archive/on") or die $!;
	close($on);
	$soak->{points} = [];
	if ($server->copy_of($soak->{primary}))
	{
		$soak->{backup} = time;
	}
	else
	{
		drop_backup($soak);
	}
}

sub drop_backup
{
	my ($soak) = @_;

	delete $soak->{backup};
	$soak->{points} = [];
	empty($soak->{restored}{dir}, "$ENV{DIR}/archive");
	make_path("$ENV{DIR}/archive");
}

# Notes the current WAL position as a point to restore to.
sub note_point
{
	my ($soak) = @_;
	my $lsn = $soak->{backup} ? ask($soak, 'SELECT pg_current_wal_insert_lsn()') : undef;

	push @{ $soak->{points} }, $lsn if defined $lsn;
}

# Restores a server to a random point since the backup, and checks what was committed by then.
sub restore
{
	my ($soak) = @_;
	my @points = @{ $soak->{points} };
	my $server = $soak->{restored};

	if (!$soak->{backup} || @points < 3)
	{
		begin_backup($soak) if !$soak->{backup};
		return undef;
	}
	my $point = $points[ int rand @points ];
	my $promoted = rand() < 0.5;
	await_archive($soak) or return undef;
	$server->configure("restore_command = 'cp $ENV{DIR}/archive/%f %p'", "recovery_target_lsn = '$point'", 'archive_mode = off',
		'recovery_target_inclusive = ' . (rand() < 0.5 ? 'on' : 'off'), 'recovery_target_action = ' . ($promoted ? 'promote' : 'pause'));
	open(my $signal, '>', "$server->{dir}/recovery.signal") or die $!;
	close($signal);
	$server->start or $soak->fail("the restored server does not start ($point)");
	await_target($soak, $promoted);
	my $rows = $soak->verify($server->{port}, 'restored');
	$soak->check_indexes($server) if $promoted;
	$server->throw_away;
	drop_backup($soak);
	return ($promoted ? 'promoted' : 'paused') . ", $rows rows compared";
}

# Waits until all WAL up to now is archived.
sub await_archive
{
	my ($soak) = @_;
	my $last = ask($soak, 'SELECT pg_walfile_name(pg_switch_wal())') // return 0;

	foreach (1 .. 300)
	{
		return 1 if -e "$ENV{DIR}/archive/$last";
		sleep(0.2);
	}
	return 0;
}

sub await_target
{
	my ($soak, $promoted) = @_;
	my $question = $promoted ? 'SELECT NOT pg_is_in_recovery()' : 'SELECT pg_is_wal_replay_paused()';

	foreach (1 .. 600)
	{
		my $session = $soak->{restored}->session;
		my (undef, $answer) = $session ? $session->run($question) : ();
		$session->close if $session;
		return if ($answer // '') eq 't';
		sleep(0.2);
	}
	$soak->fail('the restored server does not reach its target');
}

1;
