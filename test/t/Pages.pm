# Pages: reads the blocks of the documents, and compares what they show with what is printed.
#
# A fenced block is of one of these kinds:
#   sql      is typed into psql: SQL and backslash commands
#   sh       is typed into a shell; PGDATABASE and so on lead to the same database
#   python, javascript, java, go   are programs, with the same environment
#   output   is what the block before it prints
#   text     is neither: a formula, a format, an example of a message
# and those of %OTHERS, which other tests read.
#
# One line is not typed as it stands: of "\set documents 1000000", the test types a smaller number.
# From there on, each number that the page shows stands for any number.  With
# NEARDUP_DOCUMENTS=1000000 the test types that number, and numbers are compared.
package Pages;

use strict;
use warnings;
use utf8;

use Exporter 'import';
our @EXPORT_OK = qw(read_page differences);

my %KINDS = map { $_ => 1 } qw(sql sh python javascript java go output text);
my %OTHERS = map { $_ => 1 } qw(antecedents stopwords);

# A command that changes the machine of the reader is not run here.
my $FOR_THE_MACHINE = qr/^(sudo|make|git|apt|npm|pip|apk|brew|docker)\b/;

my $DOCUMENTS = $ENV{NEARDUP_DOCUMENTS} // 20000;

# Returns the blocks of a page, and a list of what is wrong with its form.
#
# A block has: place, kind, text; shown, the text of the output block that follows it, if there is
# one; and fewer, if it works on fewer documents than the page says.
sub read_page
{
	my ($page) = @_;
	my (@blocks, @wrong, $block);
	my $before = '';

	open my $file, '<:encoding(UTF-8)', $page or die "$page: $!";
	while (my $line = <$file>)
	{
		if ($block && $line =~ /^```\s*$/)
		{
			push @wrong, add_block(\@blocks, $block, $page);
			$block = undef;
		}
		elsif ($block) { $block->{text} .= $line }
		elsif ($line =~ /^```(\S*)/) { $block = { line => $., kind => $1, text => '' } }
		elsif ($line =~ /^    \S/ && $before =~ /^\s*$/) { push @wrong, "$page:$.: an indented block; put it between fences" }
		$before = $line;
	}
	push @wrong, "$page:$block->{line}: the block does not end" if $block;
	return (\@blocks, \@wrong);
}

# Adds a block, or an output to the block before it.  Returns what is wrong with it.
sub add_block
{
	my ($blocks, $block, $page) = @_;
	my $place = "$page:$block->{line}";
	my $kind = $block->{kind};

	return if $OTHERS{$kind};
	return "$place: a block of kind \"$kind\"" if !$KINDS{$kind};
	return if $kind eq 'text';
	if ($kind eq 'output')
	{
		my $last = $blocks->[-1];

		return "$place: an output without a block before it" if !$last || defined $last->{shown};
		$last->{shown} = $block->{text};
		return;
	}
	$block->{place} = $place;
	$block->{fewer} = type_fewer($block) || (@$blocks && $blocks->[-1]{fewer});
	$block->{for_the_machine} = $kind eq 'sh' && $block->{text} =~ $FOR_THE_MACHINE;
	push @$blocks, $block;
	return "$place: the last statement has no end" if $kind eq 'sql' && $block->{text} !~ /(;|\\[^\n]*|^--[^\n]*)\s*(--[^\n]*)?\s*\z/m;
	return;
}

# Types a smaller number of documents.  Returns whether it has done so.
sub type_fewer
{
	my ($block) = @_;

	return $block->{text} =~ /^\\set documents (\d+)$/m && $1 > $DOCUMENTS
		&& $block->{text} =~ s/^(\\set documents) \d+$/$1 $DOCUMENTS/m;
}

my $TAG = qr/^(?!QUERY PLAN)(?:[A-Z]+(?: [A-Z]+)*)(?: \d+)*$/;

# The lines that count: without blanks that only align columns, with one word for all times.
sub lines_of
{
	my ($text) = @_;
	my @lines = grep { /\S/ } split /\n/, $text;

	foreach (@lines)
	{
		s/^psql:\S+ (?=[A-Z]+: )//;
		s/[-+]{3,}/---/g;
		s/\s+/ /g;
		s/^ | $//g;
		s/\d+(\.\d+)? (ms|s|µs)\b/TIME/g;
		s/time=\d[\d.]*/time=TIME/g;
	}
	return @lines;
}

# Does a line match a line that is shown?  "…" stands for any characters.
sub same_line
{
	my ($shown, $printed) = @_;
	my $pattern = join '.*', map { quotemeta } split /…/, $shown, -1;

	return $printed =~ /^$pattern$/;
}

# Do the lines match?  A line "…" stands for any lines.
sub same_lines
{
	my ($shown, $printed) = @_;

	return !@$printed if !@$shown;
	my ($first, @rest) = @$shown;
	if ($first eq '…')
	{
		return scalar grep { same_lines(\@rest, [ @$printed[ $_ .. $#$printed ] ]) } 0 .. @$printed;
	}
	return @$printed && same_line($first, $printed->[0]) && same_lines(\@rest, [ @$printed[ 1 .. $#$printed ] ]);
}

# Returns an empty string if the output is what the page shows, otherwise both.
#
# Command tags such as "INSERT 0 1" count only if the page shows some.
sub differences
{
	my ($shown, $printed, $fewer) = @_;
	my @shown = lines_of($shown);
	my @printed = lines_of($printed);

	@printed = grep { !/$TAG/ } @printed if !grep { /$TAG/ } @shown;
	if ($fewer) { s/\d[\d.]*/NUMBER/g foreach @shown, @printed }
	return '' if same_lines(\@shown, \@printed);
	return join "\n", 'the page shows', @shown, '', 'psql prints', @printed;
}

1;
