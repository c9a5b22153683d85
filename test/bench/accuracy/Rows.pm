# Rows.pm: functions that the scripts of the accuracy benchmark share.
package Rows;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(put_row read_text content_of number);
use Digest::MD5 'md5_hex';

# Prints a row for COPY.
sub put_row
{
	my @cells = @_;

	foreach (@cells)
	{
		s/\\/\\\\/g;
		s/\t/\\t/g;
		s/\n/\\n/g;
		s/\r/\\r/g;
	}
	print join("\t", @cells), "\n";
}

# Returns the bytes of a file.
sub read_text
{
	my ($file) = @_;

	open(my $in, '<', $file) or die "$file: $!";
	local $/;
	return scalar <$in>;
}

# Returns what a page of DocBook or Sphinx has between its navigation, or nothing.
sub content_of
{
	my ($html) = @_;

	return $1 if $html =~ m{<div class="navheader">.*?</div>(.*)<div class="navfooter">}s;
	return $1 if $html =~ m{<div class="body" role="main">(.*?)<div class="clearer">}s;
	return;
}

# Returns a number that orders strings as if by chance, the same in each run.
sub number { return hex(substr(md5_hex($_[0]), 0, 8)) }

1;
