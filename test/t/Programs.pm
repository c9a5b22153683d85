# Programs: runs the blocks of the documents that are programs.
#
# A program that imports what this machine lacks does not run; its lines with imports run alone
# first, to find out.  NEARDUP_CLIENTS is a folder with npm's packages (test/release/clients).
package Programs;

use strict;
use warnings;

use Exporter 'import';
our @EXPORT_OK = qw(is_program command_of file_of text_of reason_not_to_run prepare_folder);

# Debian's folders of packages for Go and Java.
my $GO_PATH = '/usr/share/gocode';
my $JDBC = '/usr/share/java/postgresql.jar';

my %LANGUAGES = (
	sh => { program => 'bash', options => '-e', suffix => 'sh' },
	python => { program => 'python3', options => '', suffix => 'py', imports => qr/^(?:import|from) .*/m },
	javascript => { program => 'node', options => '', suffix => 'mjs', imports => qr/^import .*/m },
	java => { program => 'java', options => "-cp $JDBC", suffix => 'java', why_not => \&why_not_java },
	go => { program => 'go', options => 'run', suffix => 'go', why_not => \&why_not_go },
);

sub is_program { return exists $LANGUAGES{ $_[0]->{kind} } }

# Returns the name of the file of the block with this number.
sub file_of
{
	my ($block, $number) = @_;

	return "$number.$LANGUAGES{$block->{kind}}{suffix}";
}

# Returns the command, without the file.
sub command_of
{
	my $language = $LANGUAGES{ $_[0]->{kind} };

	return "$language->{program} $language->{options}";
}

# Returns the text to run.  Debian 12 has version 4 of pgx only, whose functions are the same.
sub text_of
{
	my ($block) = @_;
	my $pgx = 'github.com/jackc/pgx';

	return $block->{text} if $block->{kind} ne 'go' || -d "$GO_PATH/src/$pgx/v5";
	return $block->{text} =~ s{"$pgx/v5/pgconn}{"github.com/jackc/pgconn}gr =~ s{"$pgx/v5}{"$pgx/v4}gr;
}

# Lets programs in a folder find the packages of npm and Debian's of Go.
sub prepare_folder
{
	my ($folder) = @_;
	my $packages = ($ENV{NEARDUP_CLIENTS} // '') . '/node_modules';

	symlink $packages, "$folder/node_modules" if -d $packages;
	%ENV = (%ENV, GO111MODULE => 'off', GOPATH => $GO_PATH, GOCACHE => $ENV{GOCACHE} // "$folder/go-cache");
}

# Returns why a block cannot run here, or nothing.
sub reason_not_to_run
{
	my ($block, $folder) = @_;
	my $language = $LANGUAGES{ $block->{kind} };

	return "no $language->{program}" if system("command -v $language->{program} >/dev/null") != 0;
	return $language->{why_not}->($block) if $language->{why_not};
	return missing_import($block, $language, $folder) if $language->{imports};
	return;
}

# Runs the lines that import something, and returns the error if something is missing.
sub missing_import
{
	my ($block, $language, $folder) = @_;
	my $imports = join '', map { "$_\n" } $block->{text} =~ /($language->{imports})/g;
	my $file = "$folder/imports.$language->{suffix}";

	return if $imports eq '';
	open my $out, '>', $file or die "$file: $!";
	print $out $imports;
	close $out;
	my $error = `$language->{program} $file 2>&1`;
	return (grep { /ImportError|ModuleNotFoundError|ERR_MODULE_NOT_FOUND/ } split /\n/, $error)[0];
}

# JDBC connects by TCP only, and the server of the test listens there only with NEARDUP_CLIENTS.
sub why_not_java
{
	return "only by make clients" if !$ENV{NEARDUP_CLIENTS};
	return "no $JDBC" if !-e $JDBC;
	return;
}

# Compiling a client takes a minute.
sub why_not_go
{
	my ($block) = @_;

	return "only by make clients" if !$ENV{NEARDUP_CLIENTS};
	foreach my $package (text_of($block) =~ m{^\s*(?:import )?"([\w-]+\.[^"]+)"}mg)
	{
		return "no $package" if !-d "$GO_PATH/src/$package";
	}
	return;
}

1;
