# records.pl: prints records of packages as rows for COPY
# (site, label, kind, body).
#
#   perl records.pl NUMBER OLD=FILE NEW=FILE DESCRIPTIONS
#
# OLD and NEW are two releases, and FILE is the list of their packages.  DESCRIPTIONS has
# the long descriptions of the new release.  A site is a release, and a label is the name of
# a package.
#
# A "record" has the fields of a package, which the two releases write in two ways.  Records
# are drawn by source: all packages of NUMBER sources, so packages of one source are there
# to be confused.  "One-sided" records are written in one way, but only those of the new
# release have the long description.  A "title" is a short description, of NUMBER packages
# whose short description is not the same in both releases.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;

my $number = shift @ARGV;
my $descriptions = pop @ARGV;
my @releases = map { [ split /=/, $_, 2 ] } @ARGV;
my ($old, $new) = map { $_->[0] } @releases;
my (%package, %packages_of, %long);

# Keeps the newest version of each package, which is the last one of a list.
sub read_list
{
	my ($release, $file) = @_;

	foreach my $stanza (split /\n\n/, read_text($file))
	{
		my %field = $stanza =~ /^([A-Z][\w-]*): *(.*)$/mg;
		my $name = $field{Package} or next;

		next if !$field{Description} || !$field{Maintainer} || $field{Description} =~ /\b(?:transitional|dummy)\b/i;
		($field{Source} //= $name) =~ s/ .*//;
		$package{$name}{$release} = \%field;
		$packages_of{ $field{Source} }{$name} = 1;
	}
}

# A description's first line is the short one.
sub read_descriptions
{
	foreach my $stanza (split /\n\n/, read_text($descriptions))
	{
		my ($name) = $stanza =~ /^Package: (\S+)/m;

		($long{$name}) = $stanza =~ /^Description-en:.*\n(.*)/ms if $name;
	}
}

sub full_record
{
	my ($field) = @_;

	return join("\n", grep { defined } @{$field}{qw(Package Version Maintainer Section Homepage Description)});
}

# Has another order, the maintainer's initials, and only the head of the version and the
# address.
sub short_record
{
	my ($field) = @_;
	my ($maintainer) = $field->{Maintainer} =~ /^"?(.*?)"?\s*(?:<|$)/;
	my ($version) = $field->{Version} =~ /^(?:\d+:)?(\d+(?:\.\d+)?)/;
	my ($host) = ($field->{Homepage} // '') =~ m{^\w+://(?:www\.)?([^/]+)};

	$maintainer =~ s/(\w)\w* (?=\w)/$1. /g;
	return join(', ', grep { defined } $field->{Description}, $field->{Package}, $maintainer, $host, $field->{Section}, $version);
}

sub put_records
{
	my ($name) = @_;
	my ($before, $after) = @{ $package{$name} }{ $old, $new };

	if ($before)
	{
		put_row($old, $name, 'record', full_record($before));
		put_row($old, $name, 'one-sided', short_record($before));
	}
	if ($after)
	{
		put_row($new, $name, 'record', short_record($after));
		put_row($new, $name, 'one-sided', short_record($after) . "\n" . ($long{$name} // ''));
	}
}

sub title_changed
{
	my ($before, $after) = map { $_ && $_->{Description} } @{ $package{ $_[0] } }{ $old, $new };

	return $before && $after && $before ne $after;
}

sub draw
{
	my @drawn = sort { number($a) <=> number($b) || $a cmp $b } @_;

	return @drawn <= $number ? @drawn : @drawn[ 0 .. $number - 1 ];
}

read_list(@$_) foreach @releases;
read_descriptions();
put_records($_) foreach sort map { keys %{ $packages_of{$_} } } draw(keys %packages_of);
foreach my $name (draw(grep { title_changed($_) } keys %package))
{
	put_row($_, $name, 'title', $package{$name}{$_}{Description}) foreach $old, $new;
}
