# documents.pl: prints texts of this machine as rows for COPY (source, name, body).
#
#   ... | perl documents.pl descriptions     Packages or Translation files on stdin
#   perl documents.pl copyright DIRECTORY    DIRECTORY/*/copyright
use strict;
use warnings;

my %escape = ("\\" => "\\\\", "\t" => "\\t", "\n" => "\\n", "\r" => "\\r");
my %seen;

# Old files are Latin-1.  A text in PostgreSQL cannot contain a zero byte.
sub put_row
{
	my ($source, $name, $body) = @_;
	my $copy = $body;

	utf8::encode($body = latin1($body)) unless utf8::decode($copy);
	$body =~ tr/\0//d;
	return if $body !~ /\S/;
	$body =~ s/([\\\t\n\r])/$escape{$1}/g;
	print join("\t", $source, $name, $body), "\n";
}

sub latin1
{
	my ($bytes) = @_;

	utf8::upgrade($bytes);
	return $bytes;
}

# A record is a paragraph.  Lines of a text begin with a blank; ' .' is an empty line.
sub descriptions
{
	local $/ = "";
	while (my $record = <STDIN>)
	{
		my ($name) = $record =~ /^Package: (\S+)/m or next;
		my ($body) = $record =~ /^Description(?:-[a-z]+)?: (.*\n(?: .*\n)*)/m or next;

		$body =~ s/^ \.$//mg;
		$body =~ s/^ //mg;
		$body =~ s/\s+\z//;
		put_row('description', $name, $body) unless $seen{"$name $body"}++;
	}
}

# Many packages have a link to the folder of another; each file counts once.
sub copyrights
{
	local $/;
	foreach my $file (glob("$_[0]/*/copyright"))
	{
		my ($device, $inode, $mode) = stat($file) or next;
		next if !-f _ || $seen{"$device $inode"}++;
		open(my $in, '<:raw', $file) or next;
		my ($name) = $file =~ m{([^/]+)/copyright$};
		put_row('copyright', $name, scalar <$in>);
	}
}

binmode(STDIN);
binmode(STDOUT);
my $what = shift @ARGV;
$what eq 'descriptions' ? descriptions() : copyrights(@ARGV);
