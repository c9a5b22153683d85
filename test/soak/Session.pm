package Session;

# A running psql: one pipe passes statements to it, another returns answers.
#
# run() returns (SQLSTATE, output, message); SQLSTATE is 'lost' once the session is gone.

use strict;
use warnings;
use IO::Select;
use IPC::Open3;
use Time::HiRes qw(time);

our $PATIENCE = 240;

sub new
{
	my ($class, %at) = @_;
	my $self = bless { count => 0, log => $at{log}, name => $at{name} // '' }, $class;
	my @command = ("$ENV{PGBIN}/psql", '-X', '-q', '-A', '-t', '-h', $at{host}, '-p', $at{port}, '-d', $at{database} // 'postgres');

	open(my $errors, '>>', $at{errors} // '/dev/null') or die "cannot write $at{errors}: $!";
	$self->{pid} = open3($self->{in}, $self->{out}, '>&' . fileno($errors), @command);
	$self->{select} = IO::Select->new($self->{out});
	$self->{buffer} = '';
	my ($state) = $self->run('SELECT 1');
	if ($state ne '00000')
	{
		$self->close;
		return undef;
	}
	return $self;
}

# Sends one statement (or several, joined by '\;') and waits for the answer.
sub run
{
	my ($self, $sql) = @_;
	my $mark = 'soak-' . ++$self->{count};
	my $state = 'lost';
	my ($output, $message) = ('', '');

	return ('lost', '', 'gone') if $self->{dead};
	$self->note($sql);
	local $SIG{PIPE} = 'IGNORE';
	my $text = "$sql" . ($sql =~ /^\\/ ? '' : ';') . "\n\\echo $mark :SQLSTATE\n\\echo :LAST_ERROR_MESSAGE\n\\echo $mark.end\n";
	my $sent = syswrite($self->{in}, $text, length $text);
	while (defined $sent && $sent < length $text)
	{
		my $more = syswrite($self->{in}, $text, length($text) - $sent, $sent) // last;
		$sent += $more;
	}
	my $until = time + $PATIENCE;
	while (1)
	{
		if ($self->{buffer} =~ s/\A(.*?)^\Q$mark\E (\w*)\n(.*?)\n\Q$mark.end\E\n//ms)
		{
			($output, $state, $message) = ($1, $2, $3);
			last;
		}
		if (!$self->{select}->can_read(1))
		{
			next if time < $until;
			$self->note('no answer');
			return ('hang', '', "no answer within $PATIENCE s");
		}
		if (!sysread($self->{out}, $self->{buffer}, 1 << 20, length $self->{buffer}))
		{
			$self->close;
			last;
		}
	}
	chomp $output;
	# An error without a SQLSTATE comes from psql: the server is gone.
	if ($state eq '')
	{
		$state = 'lost';
		$self->close;
	}
	$self->note("$state $message") if $state ne '00000';
	return ($state, $output, $state eq '00000' ? '' : $message);
}

sub note
{
	my ($self, $text) = @_;

	$self->{log}->("$self->{name}> " . (length $text > 400 ? substr($text, 0, 400) . '...' : $text)) if $self->{log};
}

sub alive
{
	my ($self) = @_;

	return !$self->{dead};
}

sub close
{
	my ($self) = @_;

	return if $self->{dead};
	$self->{dead} = 1;
	local $SIG{PIPE} = 'IGNORE';
	CORE::close($self->{in});
	CORE::close($self->{out});
	waitpid($self->{pid}, 0);
}

1;
