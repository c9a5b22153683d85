# Every block of README.md and doc/ runs as a reader types it, and prints what the page shows.
#
# The blocks of a page run in order, in one session of psql, in a database of their own with
# nothing in it but the extension, if the page does not create that.  Nothing else is prepared.
#
#   NEARDUP_PAGES      the pages, as for a shell; default: all
#   NEARDUP_PRINTED    if set, prints what each block prints
#   NEARDUP_DOCUMENTS  how many documents to make where a page makes many: see Pages.pm
use strict;
use warnings;

use Cwd qw(getcwd);
use Encode ();
use File::Basename;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib dirname(__FILE__);
use Pages qw(read_page differences);

chdir $ENV{TESTDIR};

my $top = getcwd();
my $node = PostgreSQL::Test::Cluster->new('pages');
# Some examples are not ASCII, so the encoding must not depend on the environment.
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

# What runs blocks that are not for psql.
my %INTERPRETERS = (sh => 'bash -e', python => 'python3');

my ($pages, $run, $compared, @left_out) = (0, 0, 0);

sub utf8
{
	return Encode::encode('UTF-8', shift);
}

# Returns why a block does not run here, or nothing.
sub reason_to_leave_out
{
	my ($block) = @_;
	my ($program) = ($INTERPRETERS{$block->{kind}} // "psql") =~ /^(\S+)/;

	return "for the machine of the reader" if $block->{for_the_machine};
	return "no $program" if system("command -v $program >/dev/null") != 0;
	return;
}

# Writes what psql reads: a line that marks each block, and the block.
sub script_of
{
	my ($blocks, $folder) = @_;
	my $script = '';

	foreach my $i (0 .. $#$blocks)
	{
		my $block = $blocks->[$i];

		$script .= "\\echo \@\@block $i\n";
		if (my $interpreter = $INTERPRETERS{$block->{kind}})
		{
			append_to_file("$folder/$i", utf8($block->{text}));
			$script .= "\\! $interpreter $folder/$i || echo ERROR: a command failed\n" if !$block->{left_out};
		}
		else { $script .= $block->{text} }
	}
	return $script;
}

# Runs the blocks; returns what each prints.
sub run_blocks
{
	my ($blocks) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $script = utf8(script_of($blocks, $folder));
	my $printed;

	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'page', PGCLIENTENCODING => 'UTF8');
	chdir $folder;
	IPC::Run::run([ 'psql', '-X' ], '<', \$script, '>&', \$printed, IPC::Run::timeout(600));
	chdir $top;
	my %printed = (Encode::decode('UTF-8', $printed) . "\n") =~ /^\@\@block (\d+)\n(.*?)(?=^\@\@block|\z)/msg;
	return map { $printed{$_} // "the session ended\n" } 0 .. $#$blocks;
}

# Checks what a block has printed.
sub check_block
{
	my ($block, $printed) = @_;
	my ($title) = $block->{text} =~ /^(.{1,60})/;
	my $name = utf8("$block->{place}: $title");

	note(utf8($printed)) if $ENV{NEARDUP_PRINTED};
	$run++;
	if (defined $block->{shown})
	{
		my $differences = utf8(differences($block->{shown}, $printed, $block->{fewer}));

		$compared++;
		is($differences, '', $name);
	}
	else { unlike($printed, qr/ERROR:|^invalid command|the session ended/m, $name) }
}

sub prepare_database
{
	my ($blocks) = @_;

	$node->safe_psql('postgres', 'CREATE DATABASE page');
	$node->safe_psql('page', 'CREATE EXTENSION neardup') if !grep { $_->{text} =~ /CREATE EXTENSION neardup/ } @$blocks;
}

# Drops the database and the roles of a page.
sub clean_up
{
	$node->safe_psql('postgres', 'DROP DATABASE page');
	my $roles = $node->safe_psql('postgres', q{SELECT quote_ident(rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user});
	$node->safe_psql('postgres', "DROP ROLE $_") foreach split /\n/, $roles;
}

foreach my $page (glob($ENV{NEARDUP_PAGES} // 'README.md doc/*.md doc/*/*.md doc/*/*/*.md'))
{
	my ($blocks, $wrong) = read_page($page);

	is(utf8(join("\n", @$wrong)), '', "$page: the form of its blocks");
	$pages++;
	next if !@$blocks;
	prepare_database($blocks);
	$_->{left_out} = reason_to_leave_out($_) foreach @$blocks;
	my @printed = run_blocks($blocks);
	foreach my $i (0 .. $#$blocks)
	{
		my $block = $blocks->[$i];

		if ($block->{left_out}) { push @left_out, "$block->{place} ($block->{left_out})" }
		else { check_block($block, $printed[$i]) }
	}
	clean_up();
}
$node->stop;
note("does not run: $_") foreach @left_out;
note("summary: $pages pages of documents, $run blocks ran, $compared outputs are as shown, " . @left_out . " blocks did not run");
done_testing();
