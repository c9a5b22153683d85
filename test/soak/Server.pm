package Server;

# A server in its own folder, which can be created, copied, started, stopped and killed.

use strict;
use warnings;
use File::Path qw(make_path remove_tree);
use Time::HiRes qw(sleep time);

our @CONF = (
	"listen_addresses = ''",
	"unix_socket_permissions = 0700",
	"timezone = 'UTC'",
	'fsync = off',
	'max_wal_size = 256MB',
	'min_wal_size = 64MB',
	'max_connections = 40',
	'max_prepared_transactions = 10',
	'wal_level = replica',
	'max_wal_senders = 6',
	'max_slot_wal_keep_size = 1GB',
	'hot_standby = on',
	'max_standby_streaming_delay = 4s',
	'wal_receiver_status_interval = 1s',
	'deadlock_timeout = 100ms',
	'autovacuum_naptime = 3s',
	'autovacuum_vacuum_cost_delay = 0',
	'checkpoint_timeout = 30s',
	'allow_in_place_tablespaces = on',
	'jit = off',
	'log_min_messages = warning',
	q{log_line_prefix = '%m [%p] %e '},
	'archive_mode = on');

# Each run draws one setting from each line.
our @DRAWN = (
	[ 'shared_buffers = 32MB', 'shared_buffers = 32MB', 'shared_buffers = 4MB', 'shared_buffers = 128MB' ],
	[ 'max_worker_processes = 12', 'max_worker_processes = 12', 'max_worker_processes = 3' ],
	[ 'autovacuum = on', 'autovacuum = on', 'autovacuum = off' ],
	[ 'hot_standby_feedback = off', 'hot_standby_feedback = on' ],
	# wal_consistency_checking compares pages during replay, for which it needs full pages.
	[ 'full_page_writes = on', 'full_page_writes = off', "full_page_writes = on\nwal_consistency_checking = 'generic'" ],
	[ 'wal_compression = off', 'wal_compression = on' ]);

# Returns the major version of PostgreSQL.
sub version
{
	return (`$ENV{PGBIN}/postgres -V` =~ / (\d+)/)[0];
}

sub drawn
{
	my @drawn = map { $_->[ int rand @$_ ] } @DRAWN;

	push @drawn, 'old_snapshot_threshold = 1min' if rand() < 0.3 && version() < 17;
	return @drawn;
}

sub new
{
	my ($class, %is) = @_;

	return bless { name => $is{name}, dir => "$ENV{DIR}/$is{name}", port => $is{port} }, $class;
}

sub host { return $ENV{DIR} }

# Returns the pid of the postmaster if it is running.
sub runs
{
	my ($self) = @_;

	return program('pg_ctl', '-D', $self->{dir}, 'status');
}

# Runs a program with its output in a log.
sub program
{
	my ($name, @arguments) = @_;
	my $child = fork() // die "cannot fork: $!";

	if ($child == 0)
	{
		open(STDOUT, '>>', "$ENV{DIR}/programs.log");
		open(STDERR, '>&', \*STDOUT);
		open(STDIN, '<', '/dev/null');
		exec("$ENV{PGBIN}/$name", @arguments) or exit 127;
	}
	waitpid($child, 0);
	return $? == 0;
}

sub init
{
	my ($self, @more) = @_;

	program('initdb', '-D', $self->{dir}, '-E', 'UTF8', '--locale=C.UTF-8', '-A', 'trust', '-N', '-k') or die "initdb failed";
	$self->configure(@CONF, @more, "unix_socket_directories = '$ENV{DIR}'",
		"archive_command = 'test ! -e $ENV{DIR}/archive/on || { cp %p $ENV{DIR}/archive/%f.new && mv $ENV{DIR}/archive/%f.new $ENV{DIR}/archive/%f; }'");
}

sub configure
{
	my ($self, @lines) = @_;

	open(my $conf, '>>', "$self->{dir}/postgresql.conf") or die "postgresql.conf: $!";
	print $conf "$_\n" foreach @lines;
	close($conf);
}

# Starts the server; after a kill the old shared memory may be in use for a while.
sub start
{
	my ($self, $seconds) = @_;
	my $until = time + ($seconds // 120);

	while (time < $until)
	{
		return 1 if program('pg_ctl', '-D', $self->{dir}, '-l', "$ENV{DIR}/$self->{name}.log", '-o', "-p $self->{port}", '-w', '-t', 120, 'start');
		sleep(0.5);
	}
	return 0;
}

sub stop
{
	my ($self, $mode) = @_;

	return !-e "$self->{dir}/postmaster.pid" || program('pg_ctl', '-D', $self->{dir}, '-m', $mode // 'fast', '-w', '-t', 120, 'stop');
}

sub postmaster
{
	my ($self) = @_;

	open(my $file, '<', "$self->{dir}/postmaster.pid") or return undef;
	my $pid = <$file>;
	chomp $pid;
	return $pid;
}

# Returns the children of the postmaster.
sub children
{
	my ($self) = @_;
	my $postmaster = $self->postmaster // return ();
	my @found;

	foreach my $file (glob '/proc/[0-9]*/stat')
	{
		open(my $stat, '<', $file) or next;
		my $line = <$stat> // next;
		push @found, $1 if $line =~ /^(\d+) \(.*\) \S (\d+) / && $2 == $postmaster;
	}
	return @found;
}

# Kills the postmaster; its children end with it or a little later.
sub kill_all
{
	my ($self, $children) = @_;
	my $postmaster = $self->postmaster // return;
	my @others = $self->children;

	kill 'KILL', $postmaster;
	kill 'KILL', @others if $children;
}

sub throw_away
{
	my ($self) = @_;

	$self->stop('immediate');
	remove_tree($self->{dir});
}

# Makes this server a copy of another; with a slot, a standby of it.
sub copy_of
{
	my ($self, $other, $slot) = @_;

	remove_tree($self->{dir});
	return program('pg_basebackup', '-h', host(), '-p', $other->{port}, '-D', $self->{dir}, '-c', 'fast', '-X', 'stream', '--no-sync',
		$slot ? ('-R', '-C', '-S', $slot) : ());
}

sub promote
{
	my ($self) = @_;

	return program('pg_ctl', '-D', $self->{dir}, '-w', '-t', 120, 'promote');
}

# Unexpected lines in a log.  Killed archivers do not count, nor does an error of
# PostgreSQL's own that a second start repairs: a transaction that created an unlogged
# relation was rolled back, the WAL of that was lost in a crash, and the old empty file is
# in the way of a new one.
my $COMPLAINT = qr/PANIC:|TRAP:|inconsistent page|invalid page|index is corrupt|terminated by signal (?!9:)|startup process failure/;

# Returns unexpected lines in the log since the last call, with the lines before them.
sub complaints
{
	my ($self) = @_;
	my (@found, @before);

	open(my $log, '<', "$ENV{DIR}/$self->{name}.log") or return ();
	seek($log, $self->{looked_at} // 0, 0);
	while (my $line = <$log>)
	{
		last if $line !~ /\n$/;
		shift @before if @before > 20;
		push @before, $line;
		my $text = join '', @before;
		next if $line !~ /$COMPLAINT/ || $line =~ /archive command/;
		push @found, $text if $text !~ /could not create file "[^"]+": File exists/;
	}
	continue
	{
		$self->{looked_at} = tell($log);
	}
	return @found;
}

sub session
{
	my ($self, %with) = @_;

	return Session->new(host => host(), port => $self->{port}, name => $self->{name}, errors => "$ENV{DIR}/psql.log", %with);
}

1;
