# descriptions.pl: prints the descriptions of packages as rows for COPY
# (site, label, source, body).
#
#   perl descriptions.pl PACKAGES RELEASE=DESCRIPTIONS...
#
# PACKAGES is a list of packages, which says what each is built from.  A site is a release,
# and a label is the name of a package.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;

my ($packages, @releases) = @ARGV;
my %source;

foreach my $stanza (split /\n\n/, read_text($packages))
{
	my ($name) = $stanza =~ /^Package: (\S+)/m or next;

	$source{$name} = $stanza =~ /^Source: (\S+)/m ? $1 : $name;
}
foreach (@releases)
{
	my ($release, $file) = split /=/, $_, 2;

	foreach my $stanza (split /\n\n/, read_text($file))
	{
		my ($name) = $stanza =~ /^Package: (\S+)/m or next;
		my ($body) = $stanza =~ /^Description-en: (.*)/ms or next;

		put_row($release, $name, $source{$name} // $name, $body =~ s/\s+/ /gr);
	}
}
