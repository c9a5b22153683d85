# Csv.pm: reads the CSV files of results.
package Csv;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(read_csv columns_of);

# Returns the cells of a line.  A cell in quotes may contain commas and doubled quotes.
sub cells
{
	my ($line) = @_;
	my @cells;

	while ($line =~ /\G(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/gc)
	{
		push @cells, defined $1 ? $1 =~ s/""/"/gr : $2;
		last if $3 eq '';
	}
	return @cells;
}

# Returns the rows of a file as hashes, or none if there is no such file.
sub read_csv
{
	my ($file) = @_;

	open(my $in, '<:encoding(UTF-8)', $file) or return;
	my ($heading, @lines) = map { s/\r?\n//r } <$in>;
	my @names = cells($heading // '');
	return map { my %row; @row{@names} = cells($_); \%row } grep { /\S/ } @lines;
}

# Returns the names of the columns of a file.
sub columns_of
{
	my ($file) = @_;

	open(my $in, '<:encoding(UTF-8)', $file) or return;
	return cells((<$in> // '') =~ s/\r?\n//r);
}

1;
