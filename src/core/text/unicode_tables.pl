#!/usr/bin/perl
#
# unicode_tables.pl: make unicode_tables.c.
#
#   perl src/core/text/unicode_tables.pl [FOLDER] > src/core/text/unicode_tables.c
#   perl src/core/text/unicode_tables.pl FOLDER ranges > src/tools/python/neardup/characters.txt
#
# The second has for neardup.verify where a range of characters begins, and the sum of the properties
# that a reader without the kernels needs.
#
# FOLDER holds the Unicode Character Database, version 15.0 (Debian's package
# unicode-data puts it into /usr/share/unicode).  Only what Unicode 13.0 assigns
# enters the tables: every supported utf8proc knows that much, and Unicode
# promises not to change how it is normalised and folded.

use strict;
use warnings;

use constant {
	WORD => 1, MARK => 2, ALONE => 3,
	STABLE => 4, ASSIGNED => 8, IGNORED => 16, NONSTARTER => 32, BOUNDARY => 64,
	CODE_POINTS => 0x110000, AGE => 13.0
};

my $folder = shift // '/usr/share/unicode';

# Scripts that are written without spaces, by long and by short name.
my %spaceless = map { $_ => 1 } qw(Han Hiragana Katakana Thai Lao Khmer Myanmar
	Hani Hira Kana Laoo Khmr Mymr);

# Call $use->(code point, field, ...) for each code point a file lists.
sub each_code_point
{
	my ($file, $use) = @_;

	open(my $in, '<', "$folder/$file") or die "$folder/$file: $!\n";
	while (<$in>)
	{
		chomp;
		s/\s*(#.*)?$//;
		my ($range, @fields) = split /\s*;\s*/, $_, -1 or next;
		my ($first, $last) = map { hex } split /\.\./, $range;
		$use->($_, @fields) for $first .. $last // $first;
	}
}

# The listed code points of a property file with yes-or-no properties.
sub code_points_with
{
	my ($file, $property) = @_;
	my %found;

	each_code_point($file,
		sub { $found{ $_[0] } = $_[2] // '' if $_[1] eq $property });
	return \%found;
}

# General categories and canonical combining classes.
sub read_characters
{
	my (%category, %combining, $range_start);

	each_code_point(
		'UnicodeData.txt',
		sub {
			my ($code, $name, $category, $combining) = @_;
			my $from = $name =~ /, Last>$/ ? $range_start : $code;

			$range_start = $code;
			for ($from .. $code)
			{
				$category{$_} = $category;
				$combining{$_} = 1 if $combining;
			}
		});
	return (\%category, \%combining);
}

# The code points of scripts without spaces.
sub read_spaceless
{
	my %found;

	each_code_point('Scripts.txt',
		sub { $found{ $_[0] } = $_[1] if $spaceless{ $_[1] } || $_[1] =~ /^(Common|Inherited)$/ });
	each_code_point(
		'ScriptExtensions.txt',
		sub {
			my ($code, $scripts) = @_;
			return if ($found{$code} // '') !~ /^(Common|Inherited)$/;
			$found{$code} = 'Hani' if !grep { !$spaceless{$_} } split / /, $scripts;
		});
	$spaceless{ $found{$_} } or delete $found{$_} for keys %found;
	return \%found;
}

my ($category, $combining) = read_characters();
my $is_spaceless = read_spaceless();
my $ignorable = code_points_with('DerivedCoreProperties.txt', 'Default_Ignorable_Code_Point');
my $folded = code_points_with('DerivedNormalizationProps.txt', 'NFKC_CF');
my $not_nfc = code_points_with('DerivedNormalizationProps.txt', 'NFC_QC');
my %assigned;

each_code_point('DerivedAge.txt',
	sub { $assigned{ $_[0] } = 1 if $_[1] <= AGE && ($category->{ $_[0] } // 'Cn') !~ /^C[nso]/ });

sub class_of
{
	my ($code) = @_;

	return MARK if $category->{$code} =~ /^M/;
	return 0 if $category->{$code} !~ /^[LN]/;
	return $is_spaceless->{$code} ? ALONE : WORD;
}

# Can the character neither move nor join one that stands before it?
sub is_starter
{
	my ($code) = @_;

	return !$combining->{$code} && !exists $not_nfc->{$code};
}

# The same of what remains of the character after normalisation.
sub is_boundary
{
	my ($code) = @_;
	my ($first) = map { hex } split / /, $folded->{$code} // sprintf('%X', $code);

	return !$combining->{$code} && defined $first && is_starter($first);
}

sub info_of
{
	my ($code) = @_;

	return 0 if !$assigned{$code};
	return ASSIGNED | class_of($code)
	  | (is_starter($code) && !exists $folded->{$code} ? STABLE : 0)
	  | (exists $ignorable->{$code} ? IGNORED : 0)
	  | ($combining->{$code} ? NONSTARTER : 0)
	  | (is_boundary($code) ? BOUNDARY : 0);
}

sub print_array
{
	my ($indent, @values) = @_;

	while (my @row = splice @values, 0, 32)
	{
		print "\t" x $indent, join(',', @row), @values ? ",\n" : "\n";
	}
}

# Cuts values into runs of a length, and returns the number of each run and the distinct runs in a row.
sub runs_of
{
	my ($length, @values) = @_;
	my (@numbers, @runs, %number_of);

	while (my @run = splice @values, 0, $length)
	{
		my $key = "@run";

		if (!exists $number_of{$key})
		{
			$number_of{$key} = keys %number_of;
			push @runs, @run;
		}
		push @numbers, $number_of{$key};
	}
	return (\@numbers, \@runs);
}

if (($ARGV[0] // '') eq 'ranges')
{
	my $before = -1;

	for my $code (0 .. CODE_POINTS - 1)
	{
		my $now = info_of($code) & (3 | ASSIGNED | IGNORED | BOUNDARY);

		printf "%X %d\n", $code, $now if $now != $before;
		$before = $now;
	}
	exit;
}

my ($run, $info) = runs_of(1 << 4, map { info_of($_) } 0 .. CODE_POINTS - 1);
my ($page, $runs) = runs_of(1 << 6, @$run);

die "too many pages for a byte\n" if (sort { $b <=> $a } @$page)[0] > 255;

print <<'END';
/*
 * unicode_tables.c: properties of characters, made by unicode_tables.pl.
 * Do not edit.
 */
#include "text/internal.h"

/* clang-format off */

END
print "const uint8_t unicode_page[] = {\n";
print_array(1, @$page);
print "};\n\nconst uint16_t unicode_run[] = {\n";
print_array(1, @$runs);
print "};\n\nconst uint8_t unicode_info[] = {\n";
print_array(1, @$info);
print "};\n";
