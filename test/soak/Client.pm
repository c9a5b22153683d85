package Client;

# A client: a process with its own session that does random steps until the parent ends
# it, and compares every answer with its model.
#
# It dies with { fail => ... } if an answer is wrong.  { refused => SQLSTATE } is an error
# that any session may get (a deadlock, a timeout).  { lost => 1 } is the end of the
# session, after which the client reconnects and finds out what was committed.

use strict;
use warnings;
use IO::Handle;
use IO::Select;
use List::Util qw(sum0);
use Time::HiRes qw(sleep time);
use Ask;
use Change;
use Ddl;
use Kinds;
use Model;
use Server;
use Session;

# Expected errors: conflicts, timeouts, rows refused, a server that stops or starts.
my $FAIR = qr/^(40001|40P01|55P03|57014|23P01|25P02|57P0[1234]|55006|72000)$/;
# Expected messages about objects that other sessions are changing.
my $FAIR_MESSAGE = qr/^(could not open relation with OID|tuple concurrently|cache lookup failed|could not find tuple|could not open file "base.*No such file)/;

sub new
{
	my ($class, %is) = @_;
	my $self = bless { %is, counts => {}, generation => 0, steps => 0 }, $class;
	my $log = "$ENV{DIR}/client-$self->{number}.log";

	srand($ENV{SEED} * 64 + $self->{number});
	$self->{tables} = [ grep { !defined $_->{owner} || 1 } Kinds::tables($self->{clients}) ];
	$self->{mine} = [ grep { !defined $_->{owner} || $_->{owner} == $self->{number} } @{ $self->{tables} } ];
	$self->{model} = Model->new(@{ $self->{tables} });
	$self->{log} = sub { write_log($self, $log, @_) };
	$self->{select} = IO::Select->new($self->{in});
	$self->{out}->autoflush(1);
	return $self;
}

# A log that keeps only the last megabytes.
sub write_log
{
	my ($self, $path, $text) = @_;

	if (!$self->{file} || tell($self->{file}) > 20_000_000)
	{
		rename $path, "$path.old" if $self->{file};
		open($self->{file}, '>', $path) or die "$path: $!";
		$self->{file}->autoflush(1);
	}
	printf { $self->{file} } "%.3f %d %s\n", time, $self->{steps}, $text;
}

sub count
{
	my ($self, $what, $n) = @_;

	$self->{counts}{$what} += $n // 1;
}

# ---- Talking to the server ----------------------------------------------------

sub sql
{
	my ($self, $sql, $session) = @_;
	my ($state, $output, $message) = ($session // $self->{session})->run($sql);

	return $output if $state eq '00000';
	die { lost => 1 } if $state eq 'lost';
	die { refused => $state, message => $message } if $state =~ $FAIR || ($state =~ /^(XX000|58P01|42P01|42704)$/ && $message =~ $FAIR_MESSAGE);
	die { fail => "$state $message", sql => $sql };
}

sub fail
{
	my ($self, $text) = @_;

	die { fail => $text };
}

sub connect
{
	my ($self) = @_;
	my $until = time + 300;

	$self->{session}->close if $self->{session};
	while (time < $until)
	{
		my ($port, $generation) = $self->where('primary');
		my $session = Session->new(host => $ENV{DIR}, port => $port, name => 'p', log => $self->{log}, errors => "$ENV{DIR}/psql.log");

		if ($session && ($session->run('SELECT pg_is_in_recovery()'))[1] eq 'f')
		{
			$self->{session} = $session;
			return 1 if eval { $self->begin_session($generation); 1 };
			die $@ if ref $@ && $@->{fail} || !ref $@;
		}
		$session->close if $session;
		sleep(0.3);
	}
	$self->fail('no server to connect to for 300 s');
}

sub where
{
	my ($self, $what) = @_;

	open(my $file, '<', "$ENV{DIR}/$what") or return (0, 0);
	return split ' ', <$file>;
}

# Begins a new session: finds out whether the last transaction was committed, and
# checks that all rows are there.
sub begin_session
{
	my ($self, $generation) = @_;

	$self->sql("SET lock_timeout = '3s'");
	$self->sql("SET statement_timeout = '100s'");
	$self->sql("SET client_min_messages = error");
	$self->end_prepared($generation);
	$self->settle($self->marker, $generation);
	if ($self->sql("SELECT count(*) FROM soak_unlogged WHERE client = $self->{number}") eq '0')
	{
		$self->{model}->forget($_->{name}) foreach grep { $_->{persistence} eq 'UNLOGGED' } @{ $self->{tables} };
		$self->sql("INSERT INTO soak_unlogged VALUES ($self->{number})");
	}
	foreach my $table (grep { $_->{persistence} eq 'TEMP' } @{ $self->{tables} })
	{
		$self->{model}->forget($table->{name});
		$self->sql($_) foreach Kinds::create($table);
	}
	$self->{in_transaction} = 0;
	Ask::all_rows($self) if $self->{generation};
	$self->{generation} = $generation;
}

sub marker
{
	my ($self, $session) = @_;

	return $self->sql("SELECT txn FROM soak_marker WHERE client = $self->{number}", $session);
}

# Reads the marker, which tells whether a transaction in doubt was committed.
sub settle
{
	my ($self, $marker, $generation) = @_;
	my $model = $self->{model};

	if ($marker == $model->{last} + 1 && $self->{committing})
	{
		$model->commit;
		$self->count('doubts: committed');
	}
	elsif ($marker == $model->{last})
	{
		$model->roll_back;
		$self->count('doubts: rolled back') if $self->{committing};
	}
	elsif ($marker < $model->{last} && $generation > $self->{generation})
	{
		my $last = $model->{last};
		$model->rewind($marker) or $self->fail("cannot go back from transaction $last to $marker");
		$self->count('transactions that a promotion left behind', $last - $marker);
	}
	else
	{
		$self->fail("the marker is $marker, the last transaction committed $model->{last}");
	}
	$self->{committing} = 0;
}

# ---- Transactions --------------------------------------------------------------

# Runs code on some tables, in a transaction that changes the marker.
sub transaction
{
	my ($self, $tables, $lock, $doing) = @_;
	my @tables = sort { $a->{number} <=> $b->{number} } @$tables;

	my $level = (('READ COMMITTED') x 5, ('REPEATABLE READ') x 4, 'SERIALIZABLE')[ int rand 10 ];

	$self->{repeatable} = $level ne 'READ COMMITTED';
	$self->sql("BEGIN ISOLATION LEVEL $level");
	$self->{in_transaction} = 1;
	$self->sql('LOCK TABLE ' . join(', ', map { $_->{name} } @tables) . " IN $lock MODE");
	my $outcome = $doing->() // 'commit';
	if ($outcome eq 'commit')
	{
		my $next = $self->{model}{last} + 1;

		$self->sql("UPDATE soak_marker SET txn = $next WHERE client = $self->{number}");
		$self->{committing} = 1;
		if ($lock eq 'ROW EXCLUSIVE' && rand() < 0.08 && !grep { $_->{persistence} eq 'TEMP' } @tables)
		{
			$outcome = $self->prepare("soak_$self->{number}_$next");
		}
		else
		{
			$self->sql('COMMIT');
		}
		$self->{committing} = 0;
	}
	else
	{
		$self->sql('ROLLBACK');
	}
	$self->end_transaction($outcome);
}

sub end_transaction
{
	my ($self, $outcome) = @_;

	if ($outcome eq 'commit')
	{
		$self->{model}->commit;
		$self->count('transactions');
	}
	else
	{
		$self->{model}->roll_back;
		$self->count('transactions rolled back');
	}
	$self->{in_transaction} = 0;
}

# Ends the transaction in two phases, with some time in between.
sub prepare
{
	my ($self, $name) = @_;
	my $outcome = rand() < 0.8 ? 'commit' : 'rollback';

	$self->sql("PREPARE TRANSACTION '$name'");
	$self->{prepared} = $name;
	sleep(rand 2);
	delete $self->{prepared};
	$self->sql(($outcome eq 'commit' ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$name'");
	$self->count('transactions prepared');
	return $outcome;
}

# Ends transactions that an earlier session prepared.  After a promotion one may be an
# older one of the same number, which is rolled back.
sub end_prepared
{
	my ($self, $generation) = @_;
	my @names = split /\n/, $self->sql("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE 'soak\\_$self->{number}\\_%'");
	my $name = delete $self->{prepared};

	$self->fail("prepared transaction $name is lost") if $name && "@names" ne $name && $generation == $self->{generation};
	foreach (@names)
	{
		my $how = $generation == $self->{generation} && rand() < 0.7 ? 'COMMIT' : 'ROLLBACK';
		$self->sql("$how PREPARED '$_'");
		$self->count('prepared transactions found again');
	}
}

# Runs code within a savepoint, which is sometimes rolled back.
sub subtransaction
{
	my ($self, $doing) = @_;
	my $place = $self->{model}->savepoint;

	$self->sql('SAVEPOINT s');
	my $done = eval { $doing->(); 1 };
	my $error = $@;
	die $error if !$done && !(ref $error && $error->{refused});
	if (!$done || rand() < 0.3)
	{
		$self->sql('ROLLBACK TO s');
		$self->{model}->roll_back($place);
		$self->count('savepoints rolled back');
	}
	$self->sql('RELEASE s');
}

# Ends the transaction after an expected error.
sub give_up
{
	my ($self) = @_;

	$self->calm;
	$self->end_prepared($self->{generation});
	# The commit itself may have failed; the marker tells.
	$self->{in_transaction} = 0;
	$self->settle($self->marker, $self->{generation});
}

# Leaves no open transaction, no timeout and no lock in the session.
sub calm
{
	my ($self) = @_;

	foreach (1 .. 100)
	{
		return if eval { $self->sql($_) foreach ('ROLLBACK', "SET statement_timeout = '100s'", 'SELECT pg_advisory_unlock_all()'); 1 };
		die $@ if !ref $@ || !$@->{refused};
	}
	$self->fail('the session cannot be reset because of its timeout');
}

# ---- Steps --------------------------------------------------------------------

my @STEPS = (@Change::STEPS, @Ask::STEPS, @Ddl::STEPS);

sub choose_step
{
	my ($self) = @_;
	my %skip = map { $_ => 1 } split /,\s*/, $ENV{SKIP} // '';
	my %only = map { $_ => 1 } split /,\s*/, $ENV{ONLY} // '';

	$self->{choice} //= [ grep { !$skip{ $_->[0] } && (!%only || $only{ $_->[0] }) } @STEPS ];
	my $point = rand sum0 map { $_->[1] } @{ $self->{choice} };
	foreach my $step (@{ $self->{choice} })
	{
		return $step if ($point -= $step->[1]) < 0;
	}
	return $self->{choice}[0];
}

sub step
{
	my ($self) = @_;
	my ($name, undef, $doing) = @{ $self->choose_step };

	$self->{steps}++;
	$self->{log}->("---- $name");
	my $done = eval { $doing->($self); 1 };
	my $error = $@;
	if ($done)
	{
		$self->count("step $name");
		return;
	}
	die $error unless ref $error;
	die { %$error, fail => "in step $name: $error->{fail}" } if $error->{fail};
	$self->count($error->{lost} ? 'sessions lost' : "error $error->{refused}");
	if ($error->{refused})
	{
		return if eval { $self->give_up; 1 };
		die $@ if !ref $@ || $@->{fail};
	}
	$self->connect;
}

# Does steps until the parent ends them.  All clients share LOAD processors.
sub work
{
	my ($self) = @_;
	my $rest = $self->{clients} / $ENV{LOAD} - 1;

	$self->connect;
	while (1)
	{
		my $start = time;
		$self->step;
		my $used = time - $start;
		my $idle = $used * $rest;
		$idle = 2 if $idle > 2;
		$idle = 0 if $idle < 0;
		return if !$self->obey($idle);
	}
}

# Handles a command of the parent, for which it waits some seconds.
sub obey
{
	my ($self, $seconds) = @_;

	while ($self->{select}->can_read($seconds))
	{
		my $line = readline($self->{in}) // return 0;
		my ($command, @words) = split ' ', $line;

		return 0 if $command eq 'quit';
		$self->say(Ask::verify($self, @words)) if $command eq 'verify';
		$seconds = 0;
	}
	return 1;
}

sub say
{
	my ($self, $text) = @_;

	print { $self->{out} } "$text\n";
}

# Runs the client.  Its output to the parent ends with counts.
sub main
{
	my ($self) = @_;
	my $done = eval { $self->work; 1 };
	my $error = $@;

	if (!$done)
	{
		my $text = ref $error ? $error->{fail} // 'lost' : $error;
		$text .= ' -- ' . substr($error->{sql}, 0, 2000) if ref $error && $error->{sql};
		$text =~ s/\s*\n\s*/ /g;
		$self->{log}->("FAILED $text");
		$self->say("failed at step $self->{steps}: $text");
	}
	$self->say("count $self->{counts}{$_} $_") foreach sort keys %{ $self->{counts} };
	$self->say('end');
	$self->{session}->close if $self->{session};
	return $done ? 0 : 1;
}

1;
