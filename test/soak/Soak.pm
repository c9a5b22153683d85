package Soak;

# Runs servers, clients and faults until the time is over.

use strict;
use warnings;
use File::Path qw(make_path);
use IO::Handle;
use IO::Select;
use List::Util qw(sum0);
use POSIX ();
use Time::HiRes qw(sleep time);
use Client;
use Faults;
use Kinds;
use Server;
use Session;

sub new
{
	my ($class) = @_;
	my $self = bless { start => time, counts => {}, faults => {}, generation => 1, slots => 0, points => [], clients => [], lines => [] }, $class;

	$self->{primary} = Server->new(name => 'a', port => $ENV{PORT});
	$self->{standby} = Server->new(name => 'b', port => $ENV{PORT} + 1);
	$self->{restored} = Server->new(name => 'restored', port => $ENV{PORT} + 2);
	return $self;
}

sub say
{
	my ($self, $text) = @_;

	$self->{log} //= do { open(my $file, '>', "$ENV{DIR}/soak.log") or die $!; $file->autoflush(1); $file };
	foreach my $to ($self->{log}, \*STDOUT)
	{
		printf $to "%7.1f %s\n", time - $self->{start}, $text;
	}
}

sub fail
{
	my ($self, $text) = @_;

	die "$text\n";
}

# Tells the clients where a server is.
sub publish
{
	my ($self, $what, @words) = @_;

	open(my $file, '>', "$ENV{DIR}/$what.new") or die $!;
	print $file "@words\n";
	close($file);
	rename "$ENV{DIR}/$what.new", "$ENV{DIR}/$what" or die $!;
}

# ---- Start ----------------------------------------------------------------------

my $TRY = q{
CREATE FUNCTION soak_try(id bigint, n int, v bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO guard (id, n, v) VALUES (id, n, v);
	RETURN true;
EXCEPTION WHEN exclusion_violation THEN
	RETURN false;
END $$};

sub set_up
{
	my ($self) = @_;

	make_path("$ENV{DIR}/archive");
	my @drawn = Server::drawn();
	$self->say('settings drawn: ' . join(', ', map { s/\n/, /r } @drawn));
	$self->{primary}->init(@drawn);
	$self->{primary}->start or $self->fail('the server does not start');
	$self->create_tables;
	Faults::make_standby($self);
	$self->publish('primary', $self->{primary}{port}, $self->{generation});
}

sub create_tables
{
	my ($self) = @_;
	my $session = $self->{primary}->session(log => sub { });
	my @tables = grep { $_->{persistence} ne 'TEMP' } Kinds::tables($ENV{CLIENTS});

	foreach my $sql (
		'CREATE EXTENSION neardup',
		"CREATE TABLESPACE soak1 LOCATION ''",
		"CREATE TABLESPACE soak2 LOCATION ''",
		'CREATE TABLE soak_marker (client int PRIMARY KEY, txn bigint) WITH (fillfactor = 10)',
		"INSERT INTO soak_marker SELECT g, 0 FROM generate_series(0, $ENV{CLIENTS} - 1) g",
		'CREATE UNLOGGED TABLE soak_unlogged (client int PRIMARY KEY)',
		(map { Kinds::create($_) } @tables),
		$TRY)
	{
		my ($state, undef, $message) = $session->run($sql);
		$self->fail("$sql: $state $message") if $state ne '00000';
	}
	$session->close;
}

sub start_clients
{
	my ($self) = @_;

	foreach my $number (0 .. $ENV{CLIENTS} - 1)
	{
		pipe(my $commands, my $to) or die $!;
		pipe(my $from, my $answers) or die $!;
		my $pid = fork() // die "cannot fork: $!";
		if ($pid == 0)
		{
			close($to);
			close($from);
			my $status = Client->new(number => $number, clients => $ENV{CLIENTS}, in => $commands, out => $answers)->main;
			POSIX::_exit($status);
		}
		close($commands);
		close($answers);
		$to->autoflush(1);
		push @{ $self->{clients} }, { number => $number, pid => $pid, to => $to, from => $from, buffer => '' };
	}
}

# ---- Clients --------------------------------------------------------------------

# Reads messages of clients for some seconds, or until each has sent a word.
sub listen
{
	my ($self, $seconds, $word) = @_;
	my $until = time + $seconds;
	my %waiting = map { $_->{number} => 1 } @{ $self->{clients} };
	my @said;

	while ((my $left = $until - time) > 0 && %waiting)
	{
		foreach my $client (@{ $self->{clients} })
		{
			my $select = IO::Select->new($client->{from});
			while (!$client->{ended} && $select->can_read(0))
			{
				if (!sysread($client->{from}, $client->{buffer}, 65536, length $client->{buffer}))
				{
					$self->fail("client $client->{number} is gone");
				}
				while ($client->{buffer} =~ s/\A(.*)\n//)
				{
					my $line = $1;
					$self->hear($client, $line);
					next if !$word || $line !~ /^(un)?$word\b/;
					push @said, $line;
					delete $waiting{ $client->{number} };
				}
			}
		}
		sleep($left < 0.1 ? $left : 0.1);
	}
	$self->fail("clients " . join(' ', sort keys %waiting) . " do not say '$word' within $seconds s") if $word && %waiting;
	return @said;
}

sub hear
{
	my ($self, $client, $line) = @_;

	$self->{counts}{$2} += $1 if $line =~ /^count (\d+) (.*)/;
	$client->{ended} = 1 if $line eq 'end';
	$self->fail("client $client->{number} $line") if $line =~ /^failed/;
}

sub tell
{
	my ($self, $text) = @_;

	print { $_->{to} } "$text\n" foreach @{ $self->{clients} };
}

# Lets all clients compare a restored server with their models.  Returns the rows compared.
sub verify
{
	my ($self, $port, $name) = @_;

	$self->tell("verify $port $name");
	my $rows = 0;
	foreach my $line ($self->listen(600, 'verified'))
	{
		$self->fail($line) if $line =~ /^un/;
		$rows += (split ' ', $line)[2];
	}
	return $rows;
}

# ---- The servers ----------------------------------------------------------------

# Waits until the primary answers again.
sub await_primary
{
	my ($self) = @_;

	foreach (1 .. 600)
	{
		my $answer = Faults::ask($self, 'SELECT pg_is_in_recovery()');
		return 1 if ($answer // '') eq 'f';
		sleep(0.2);
		$self->{primary}->start(10) if $_ % 20 == 0 && !$self->{primary}->runs;
	}
	$self->fail('the primary does not answer');
}

# Runs neardup_check() for every index.
sub check_indexes
{
	my ($self, $server) = @_;
	my $session;

	for (1 .. 100)
	{
		last if $session = $server->session;
		sleep(0.3);
	}
	$self->fail('no session to check indexes') if !$session;
	my (undef, $list) = $session->run("SELECT oid::regclass FROM pg_class WHERE relkind = 'i' AND relpersistence <> 't' "
			. "AND relam = (SELECT oid FROM pg_am WHERE amname = 'neardup')");
	foreach my $index (split /\n/, $list)
	{
		my ($state, $answer, $message) = $session->run("SELECT neardup_check('$index')");
		# Other sessions drop and build indexes meanwhile, and may cause deadlocks.
		last if $state eq 'lost';
		next if $state =~ /^(42P01|42704|55000|40P01|55P03|72000|57P0\d)$/ || ($state eq 'XX000' && $message =~ /^(could not open relation with OID|cache lookup)/);
		$self->fail("neardup_check of $index: $state $message") if $state ne '00000';
		$self->{counts}{'indexes checked'}++;
	}
	$session->close;
}

# ---- Faults and checks ----------------------------------------------------------

sub choose_fault
{
	my ($self) = @_;
	my %skip = map { $_ => 1 } split /,\s*/, $ENV{SKIP} // '';
	my @faults = grep { !$skip{ $_->[0] } } @Faults::FAULTS;
	my $point = rand sum0(map { $_->[1] } @faults);

	foreach my $fault (@faults)
	{
		return $fault if ($point -= $fault->[1]) < 0;
	}
	return undef;
}

sub one_fault
{
	my ($self) = @_;
	my $fault = $self->choose_fault // return;
	my ($name, undef, $doing) = @$fault;
	my $outcome = $doing->($self) // return;

	$self->{faults}{$name}++;
	$self->check_indexes($self->{primary});
	$self->say("$name: $outcome");
}

sub work
{
	my ($self) = @_;
	my $end = $self->{start} + $ENV{SOAK};

	while (time < $end)
	{
		my $next = time + 3 + rand 10;
		while ((my $left = $next - time) > 0)
		{
			$self->listen($left < 1 ? $left : 1);
			$self->read_logs;
			Faults::note_point($self);
		}
		$self->mind_disk;
		$self->one_fault;
	}
}

# Fails if the log of a server reports an unexpected error.
sub read_logs
{
	my ($self) = @_;

	foreach my $server (@$self{qw(primary standby restored)})
	{
		my @complaints = $server->complaints;
		$self->fail("server $server->{name} says: $complaints[0]") if @complaints;
	}
}

# Keeps the archive below a gigabyte, and replaces a standby that lags.
sub mind_disk
{
	my ($self) = @_;
	my $files = () = glob "$ENV{DIR}/archive/0*";

	Faults::drop_backup($self) if $files > 60;
	$self->fail('the standby is gone') if !$self->{standby}->postmaster;
}

# ---- End ------------------------------------------------------------------------

sub finish
{
	my ($self) = @_;

	$self->tell('quit');
	$self->listen(600, 'end');
	waitpid($_->{pid}, 0) foreach @{ $self->{clients} };
	$self->check_indexes($self->{primary});
	$self->read_logs;
}

sub stop_servers
{
	my ($self) = @_;

	kill 'TERM', map { $_->{pid} } grep { !$_->{ended} } @{ $self->{clients} };
	$_->stop('fast') foreach @$self{qw(standby restored primary)};
}

sub counted
{
	my ($self, $pattern) = @_;
	my $counts = $self->{counts};

	return sum0(map { $counts->{$_} } grep { /$pattern/ } keys %$counts);
}

# Returns the counts of one kind in one line.
sub line_of
{
	my ($self, $prefix) = @_;
	my $counts = $self->{counts};

	return join ', ', map { s/^$prefix//r . " $counts->{$_}" } sort grep { /^$prefix/ } keys %$counts;
}

sub report
{
	my ($self) = @_;
	my ($counts, $faults) = @$self{qw(counts faults)};

	my @kinds = (
		[ 'answers of the primary', 'answers: p ' ],
		[ 'answers of standbys', 'answers: s ' ],
		[ 'answers of restored servers', 'answers: restored ' ],
		[ 'steps', 'step ' ],
		[ 'expected errors', 'error ' ]);

	$self->say("$_->[0]: " . $self->line_of($_->[1])) foreach @kinds;
	$self->say("$counts->{$_} $_") foreach sort grep { !/^(answers: |step |error )/ } keys %$counts;
	$self->say(sprintf 'soak: seed %s, %.0f s: %d faults survived (%s); %d steps, %d transactions; %d answers compared with scans, %d with the model; '
			. '%d rows compared with scans, %d with the model; %d checks of an index; nothing wrong',
		$ENV{SEED}, time - $self->{start}, sum0(values %$faults), join(', ', map { "$faults->{$_} $_" } sort keys %$faults),
		$self->counted('^step '), $self->counted('^transactions$'), $self->counted('^answers: '), $self->counted('^answers compared with the model'),
		$self->counted('^rows compared$'), $self->counted('^rows compared with the model'), $self->counted('^indexes checked'));
}

# Checks that nearly all scans that were meant to use the index did.
sub check_plans
{
	my ($self) = @_;
	my ($with, $without) = map { $self->{counts}{"plans $_ the index"} // 0 } qw(with without);

	$self->fail("$without of " . ($with + $without) . ' scans did not go by the index') if $without > 20 && $without > $with / 10;
}

1;
