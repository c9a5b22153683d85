# Every block of README.md and doc/ runs as a reader types it, and prints what the page shows.
#
# The blocks of a page run in order, in one session of psql, in a database of their own with
# nothing in it but the extension, if the page does not create that.  Nothing else is prepared.
#
#   NEARDUP_PAGES      the pages, as for a shell; default: all
#   NEARDUP_PRINTED    if set, prints what each block prints
#   NEARDUP_DOCUMENTS  how many documents to make where a page makes many: see Pages.pm
#   NEARDUP_CLIENTS    a folder with the packages of npm.  If set, the server listens on TCP too,
#                      and it is an error if a program lacks what it imports
use strict;
use warnings;

use Cwd qw(getcwd);
use Encode ();
use IPC::Run;
use Node;
use PostgreSQL::Test::Utils;
use Test::More;

use Pages qw(read_page differences);
use Programs qw(is_program command_of file_of text_of reason_not_to_run prepare_folder);

chdir $ENV{TESTDIR};

my $top = getcwd();
my $node = Node->new('pages');
# Some examples are not ASCII, so the encoding must not depend on the environment.
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\nshared_buffers = 64MB\n");
$ENV{NEARDUP_CLIENTS} ? $node->start_with_tcp : $node->start;
# Before PostgreSQL 15, everybody may create objects in schema public, and CREATE EXTENSION warns of it.
$node->safe_psql('template1', 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
$node->safe_psql('postgres', 'CREATE DATABASE prepared');
$node->safe_psql('prepared', 'CREATE EXTENSION neardup');
$node->safe_psql('postgres', 'CREATE DATABASE study TEMPLATE prepared');
$node->safe_psql('study', 'CREATE EXTENSION neardup_study');

my ($pages, $run, $compared, @left_out) = (0, 0, 0);

sub utf8
{
	return Encode::encode('UTF-8', shift);
}

# Returns why a block does not run here, or nothing.
sub reason_to_leave_out
{
	my ($block, $folder) = @_;

	return "for the machine of the reader" if $block->{for_the_machine};
	return reason_not_to_run($block, $folder) if is_program($block);
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
		if (is_program($block))
		{
			my $file = "$folder/" . file_of($block, $i);

			append_to_file($file, utf8(text_of($block)));
			$script .= '\! ' . command_of($block) . " $file || echo ERROR: a command failed\n" if !$block->{left_out};
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
	my ($script, $printed);

	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGUSER => 'postgres',
		PGDATABASE => 'page', PGCLIENTENCODING => 'UTF8');
	prepare_folder($folder);
	$_->{left_out} = reason_to_leave_out($_, $folder) foreach @$blocks;
	$script = utf8(script_of($blocks, $folder));
	chdir $folder;
	IPC::Run::run([ 'psql', '-X' ], '<', \$script, '>&', \$printed, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
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

# Notes that a block does not run.  An old version of a client may lack a name, but with
# NEARDUP_CLIENTS none may be missing.
sub leave_out
{
	my ($block) = @_;

	push @left_out, "$block->{place} ($block->{left_out})";
	fail("$block->{place}: $block->{left_out}")
		if $ENV{NEARDUP_CLIENTS} && !$block->{for_the_machine} && $block->{left_out} !~ /cannot import name/;
}

sub prepare_database
{
	my ($page, $blocks) = @_;
	my $creates = grep { $_->{text} =~ /CREATE EXTENSION neardup;/ } @$blocks;
	my $template = $page =~ m{^doc/(reference|explanation/methods)/} ? 'study' : 'prepared';

	$node->safe_psql('postgres', 'CREATE DATABASE page' . ($creates ? '' : " TEMPLATE $template"));
}

# Drops the database and the roles of a page.
sub clean_up
{
	$node->safe_psql('postgres', q{
		DROP DATABASE page;
		SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user \gexec});
}

foreach my $page (glob($ENV{NEARDUP_PAGES} // 'README.md doc/*.md doc/*/*.md doc/*/*/*.md'))
{
	my ($blocks, $wrong) = read_page($page);

	is(utf8(join("\n", @$wrong)), '', "$page: the form of its blocks");
	$pages++;
	next if !@$blocks;
	prepare_database($page, $blocks);
	my @printed = run_blocks($blocks);
	foreach my $i (0 .. $#$blocks)
	{
		my $block = $blocks->[$i];

		if ($block->{left_out}) { leave_out($block) }
		else { check_block($block, $printed[$i]) }
	}
	clean_up();
}
$node->stop;
note("does not run: $_") foreach @left_out;
note("summary: $pages pages of documents, $run blocks ran, $compared outputs are as shown, " . @left_out . " blocks did not run");
done_testing();
