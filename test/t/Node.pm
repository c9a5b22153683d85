# Node: a server as of PostgreSQL::Test::Cluster, which keeps a session to each database.
#
# To start psql and a backend takes longer than most statements of a test.  safe_psql() and
# poll_query_until() run in a psql that stays, and otherwise do what PostgreSQL::Test::Cluster
# does: each call finds neither settings nor temporary tables nor a transaction of another call.
# What has to begin with a new session calls end_sessions() first, or uses psql().
#
# Servers have the default settings of autovacuum, or those of TEMP_CONFIG.  A test of what vacuum
# or statistics do to a table sets autovacuum_enabled = off for that table.
package Node;

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use IPC::Open3;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils ();
use Time::HiRes qw(usleep);

our @ISA;

# PostgreSQL's modules clear this; the superuser is not named as the user that runs the tests.
$ENV{PGUSER} = 'postgres';

my $MARK = '@@ the answer ends here @@';
my $share;
my $PATIENCE = $PostgreSQL::Test::Utils::timeout_default;
my $FAILED = qr/^(?:psql:\S*?:?\d*:? ?)?(?:ERROR|FATAL|PANIC|error|fatal): /m;

# A statement after which VACUUM removes all dead rows.
our $PASS_HORIZON = PostgreSQL::Test::Utils::slurp_file("$ENV{TESTDIR}/test/tools/pass_horizon.sql");

sub new
{
	my ($class, @parameters) = @_;
	my $self = PostgreSQL::Test::Cluster->new(@parameters);

	@ISA = (ref $self);
	return bless $self, $class;
}

# Starts the server, and lets programs connect by TCP, from this machine and with a random password,
# which they read from the environment.
sub start_with_tcp
{
	my ($self) = @_;
	my $rules = $self->data_dir . '/pg_hba.conf';

	$self->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\npassword_encryption = 'scram-sha-256'\n");
	unlink $rules;
	PostgreSQL::Test::Utils::append_to_file($rules, "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n");
	$self->start;
	open my $random, '<:raw', '/dev/urandom' or die "/dev/urandom: $!";
	read $random, my $bytes, 16;
	$ENV{PGPASSWORD} = unpack 'H*', $bytes;
	$self->safe_psql('postgres', "ALTER ROLE CURRENT_USER PASSWORD '$ENV{PGPASSWORD}'");
}

# Returns the session to a database, for the environment as it is.
sub session
{
	my ($self, $database) = @_;
	my $name = join ' ', $database, map { $ENV{$_} // '' } qw(PGOPTIONS PGUSER PGCLIENTENCODING);
	my $session = $self->{_sessions}{$name} //= { database => $database };

	return $session if $session->{pid};
	open $session->{errors}, '+>', undef or die "no temporary file: $!";
	$session->{errors}->autoflush;
	$session->{pid} = open3($session->{in}, $session->{out}, '>&' . fileno $session->{errors},
		'psql', '-XAtq', '-d', $self->connstr($database), '-f', '-');
	$session->{in}->autoflush;
	return $session;
}

sub end_session
{
	my ($session) = @_;

	return if !$session->{pid};
	local ($?, $SIG{PIPE}) = ($?, 'IGNORE');
	close $session->{in};
	close $session->{out};
	waitpid $session->{pid}, 0;
	delete $session->{pid};
}

# Ends the sessions, or those of all databases but one.
sub end_sessions
{
	my ($self, $but) = @_;

	foreach my $session (values %{ $self->{_sessions} // {} })
	{
		end_session($session) if !defined $but || $session->{database} ne $but;
	}
}

# Reads what psql has printed up to the mark.  Returns nothing if it has ended.
sub read_answer
{
	my ($session, $sql) = @_;
	my $select = IO::Select->new($session->{out});
	my $output = '';

	while ($output !~ s/^\Q$MARK\E\n\z//m)
	{
		# A signal, such as that of a child's end, ends the wait early.
		$! = 0;
		$select->can_read($PATIENCE) or $!{EINTR} ? next : die "no answer within $PATIENCE s: $sql";
		sysread $session->{out}, $output, 65536, length $output or return;
	}
	return $output;
}

# Runs statements.  Returns what they print, and the messages, both without the last line's end.
# Unlike psql(), it goes on after an error.
sub answer
{
	my ($self, $database, $sql) = @_;
	my $session = $self->session($database);
	my $before = -s $session->{errors};
	my ($output, $messages);

	# An open session would be in the way.
	$self->end_sessions($database) if $sql =~ /\b(?:CREATE|ALTER|DROP) DATABASE\b/i;
	{
		local $SIG{PIPE} = 'IGNORE';
		print { $session->{in} } "$sql\n;\n\\warn $MARK\nDISCARD ALL;\n\\unset VERBOSITY\n\\echo $MARK\n";
	}
	$output = read_answer($session, $sql);
	seek $session->{errors}, $before, 0;
	($messages, my $rest) = split /^\Q$MARK\E\n/m, do { local $/; readline $session->{errors} } // '';
	# The session is gone, or is in a transaction.
	end_session($session) if !defined $output || $rest || $messages =~ /server closed the connection|connection to server was lost/;
	chomp($output //= '', $messages //= '');
	return ($output, $messages);
}

# Statements with commands of psql, and with parameters, run in a psql of their own, alone.
sub safe_psql
{
	my ($self, $database, $sql, %parameters) = @_;

	if (%parameters || $sql =~ /^\s*\\/m)
	{
		$self->end_sessions;
		return $self->SUPER::safe_psql($database, $sql, %parameters);
	}
	my ($output, $messages) = $self->answer($database, $sql);
	die "error running SQL: '$messages'\nwith sql '$sql'" if $messages =~ $FAILED;
	print "#### Begin standard error\n$messages\n#### End standard error\n" if $messages ne '';
	return $output;
}

# Runs statements.  Returns the SQLSTATE of the first error, 'no error' or 'crash'.
sub state_of
{
	my ($self, $sql) = @_;
	my (undef, $messages) = $self->answer('postgres', "\\set VERBOSITY sqlstate\n$sql");

	return 'crash' if $messages =~ /closed the connection/;
	return $messages =~ /(?:ERROR|FATAL|PANIC):  (\w+)/ ? $1 : 'no error';
}

# The rows of neardup_status(), with the name of an item once.
sub page_of
{
	my ($item, $page) = ('', '');

	foreach (map { [ split /\|/, $_, 3 ] } split /\n/, shift)
	{
		$page .= ($page && "\n") . "$_->[0]\n" if $_->[0] ne $item;
		$page .= $_->[1] eq '' ? "  * $_->[2]\n" : sprintf "  %-14s%s\n", @$_[ 1, 2 ] if ($_->[2] // '') ne '';
		$item = $_->[0];
	}
	return $page;
}

# Calls a procedure of the extension in a psql of its own, whose exit status is then in $?.  The
# arguments are 'name=value'; the short names below are those of the tests.  Returns whether it
# succeeded; its rows, behind what it says in notices; and the other messages.
my %PROCEDURE = (
	sign => 'CALL :ext.neardup_sign_table(%s)',
	watch => 'SELECT * FROM :ext.neardup_watch(%s)',
	status => 'SELECT * FROM :ext.neardup_status(%s)',
	report => 'SELECT * FROM :ext.neardup_report(%s)',
	review => 'SELECT :ext.neardup_review_page(%s)',
	lexicon => 'CALL :ext.neardup_lexicon_function(%s)',
	'keep-one' => 'CALL :ext.neardup_keep_one(%s)',
	undo => 'CALL :ext.neardup_undo(%s)');
my %ARGUMENT = (id => 'key', sig => 'signature', title => 'show', limit => 'listed', text => 'texts');

sub call_of
{
	my ($name, @variables) = @_;
	my @arguments;

	push @variables, 'threshold=0.8' if $name eq 'keep-one' && !grep { /^threshold=/ } @variables;
	# What the expression is of, if no expression is given.
	if ($name eq 'sign')
	{
		my %given = (text => 'body', type => 'minhash', map { split /=/, $_, 2 } @variables);

		@variables = grep { !/^(text|type|id)=/ } @variables;
		push @variables, sprintf 'expression=to_%s("%s")', $given{type}, $given{text} =~ s/"/""/gr if !exists $given{expression};
	}
	foreach (@variables)
	{
		my ($argument, $value) = split /=/, $_, 2;

		$value = '{' . join(',', map { '"' . s/(["\\])/\\$1/gr . '"' } split / *, */, $value =~ s/^ +| +$//gr) . '}' if $argument =~ /^(id|within)$/;
		$value =~ s/'/''/g;
		push @arguments, ($argument eq 'table' ? '' : ($ARGUMENT{$argument} // $argument) . ' => ') . "'$value'";
	}
	return sprintf $PROCEDURE{$name}, join ', ', sort { $a =~ / => / <=> $b =~ / => / } @arguments;
}

sub run_script
{
	my ($self, $name, $variables, @options) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/call.sql';
	my ($out, @rest) = ('');

	return $self->run_psql((map { ('-v', $_) } @$variables), '-f', script_path($name), @options) if !$PROCEDURE{$name};
	PostgreSQL::Test::Utils::append_to_file($file,
		q{SELECT extnamespace::regnamespace AS ext, CASE getdatabaseencoding() WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END AS encoding FROM pg_extension WHERE extname = 'neardup'}
		  . " \\gset\n\\encoding :encoding\n" . call_of($name, @$variables) . "\n;\n");
	my ($ok, $rows, $messages) = $self->run_psql($name eq 'watch' ? '-q' : '-qAt', '-v', 'ON_ERROR_STOP=1', '-f', $file, @options);
	foreach (split /^(?=psql:)/m, $messages)
	{
		if (s/^psql:\S+ NOTICE:  //) { $out .= $_ }
		else { push @rest, s/^psql:\S+ //r }
	}
	# The statements that are printed make the index.
	$self->run_psql('-q', (map { ('-c', $_) } $out =~ /^    ((?:CREATE INDEX|ANALYZE) .*;)$/mg), @options) if $name eq 'sign' && $ok && $out =~ /CREATE INDEX/;
	$rows = page_of($rows) if $name eq 'status';
	return ($ok, $out . $rows, join '', @rest);
}

# Returns where an installed script is.
sub script_path
{
	my ($name) = @_;

	chomp($share ||= `pg_config --sharedir`);
	return "$share/extension/neardup-$name.sql";
}

# As run_script(), with the options of psql.  IPC::Run takes longer than psql does.
sub run_psql
{
	my ($self, @options) = @_;
	my ($in, $out, $err);

	open $in, '<', '/dev/null' or die "/dev/null: $!";
	open $_, '+>', undef or die "no temporary file: $!" foreach $out, $err;
	my $pid = open3('<&' . fileno $in, '>&' . fileno $out, '>&' . fileno $err, 'psql', '-X', '-d', $self->connstr('postgres'), @options);
	waitpid $pid, 0;
	seek $_, 0, 0 foreach $out, $err;
	local $/;
	return ($? == 0, map { readline($_) // '' } $out, $err);
}

sub poll_query_until
{
	my ($self, $database, $query, $expected) = @_;

	foreach (1 .. 50 * $PATIENCE)
	{
		my ($output, $messages) = $self->answer($database, $query);

		return 1 if $output eq ($expected // 't') && $messages eq '';
		usleep(20_000);
	}
	return $self->SUPER::poll_query_until($database, $query, $expected);
}

# No session outlives its server.
foreach my $ending (qw(stop restart kill9 teardown_node))
{
	no strict 'refs';
	my $method = "SUPER::$ending";

	*$ending = sub { my $self = shift; $self->end_sessions; return $self->$method(@_) };
}

# Returns the lines of the server's log that tell of corruption or a crash.  A server that stops at
# once kills sessions that take longer than five seconds to end.  Where a postmaster is killed, the leader
# of a parallel build ends within its transaction, which an assertion of PostgreSQL's statistics does not expect.
sub signs_of_corruption
{
	my ($self) = @_;
	my $log = PostgreSQL::Test::Utils::slurp_file($self->logfile);
	my $killed = $log =~ /postmaster exited during a parallel transaction/;

	return grep {
		/PANIC|TRAP|inconsistent page|(?<!possibly )corrupt|server process \(PID \d+\) (was|exited)/
		  && !/was terminated by signal 9/
		  && !($killed && /TRAP: .*IsTransactionOrTransactionBlock.*pgstat\.c/)
	} split /\n/, $log;
}

1;
