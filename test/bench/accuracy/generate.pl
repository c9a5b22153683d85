# generate.pl: prints made-up texts as rows for COPY (corpus, label, body).
#
#   perl generate.pl persons
#   perl generate.pl products
#   perl generate.pl revisions LANGUAGE <TEXTS     TEXTS has one text a line
#
# "persons" are addresses; some persons are written two or three times, with slips, gaps,
# abbreviations and moves.  "products" are offers of models in colours and sizes, which
# the labels tell apart; some offers have a second text by another shop.  "revisions" are texts,
# revisions of nearly half of them, which keep a tenth to nearly all sentences, and texts
# that share up to a third of their sentences with another without being a revision.
#
# The same numbers come out in each run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;

srand(5);

my @SYLLABLES = map { my $c = $_; map { "$c$_" } qw(a e i o) } qw(b d f g h j k l m n p r s t v w z);

sub one_of { return $_[ int(rand @_) ] }
sub between { return $_[0] + int(rand($_[1] - $_[0] + 1)) }

sub word
{
	my ($syllables) = @_;

	return join('', map { one_of(@SYLLABLES) } 1 .. $syllables // between(2, 4));
}

sub shuffled
{
	my %place = map { $_ => rand() } @_;

	return sort { $place{$a} <=> $place{$b} } sort keys %place;
}

my @first = map { ucfirst word(2) } 1 .. 120;
my @last = map { ucfirst word(3) } 1 .. 400;
my @street = map { ucfirst word(3) } 1 .. 200;
my @city = map { ucfirst word(3) } 1 .. 60;

# Drops, replaces or swaps a letter inside a word.
sub slip
{
	my ($text) = @_;
	my $at = between(1, length($text) - 2);
	my $how = rand;

	return $text if length($text) < 3;
	return substr($text, 0, $at) . substr($text, $at + 1) if $how < 0.3;
	return substr($text, 0, $at) . one_of(qw(a e i o u s t r n l)) . substr($text, $at + 1) if $how < 0.6;
	return substr($text, 0, $at) . substr($text, $at + 1, 1) . substr($text, $at, 1) . substr($text, $at + 2);
}

sub address
{
	return (number => between(1, 180), street => one_of(@street) . ' ' . one_of(qw(Street Road Lane Avenue)),
		code => between(10000, 99999), city => one_of(@city));
}

sub person
{
	my ($first, $last) = (one_of(@first), one_of(@last));

	return { first => $first, last => $last, address(), phone => '0' . between(20, 99) . ' ' . between(100000, 999999),
		mail => lc(substr($first, 0, 1) . ".$last") . '@' . one_of(qw(mail post web)) . '.example' };
}

# Returns a person as somebody else writes it.
sub rewritten
{
	my ($person) = @_;
	my %field = %$person;

	foreach my $name (sort keys %field)
	{
		$field{$name} = slip($field{$name}) if rand() < 0.18;
		$field{$name} = '' if rand() < 0.15;
	}
	$field{first} = substr($field{first}, 0, 1) . '.' if rand() < 0.3;
	$field{street} =~ s/(?<=St)reet|(?<=R)oa(?=d)|(?<=Ave)nue// if rand() < 0.3;
	%field = (%field, address()) if rand() < 0.2;
	return \%field;
}

sub put_persons
{
	foreach my $number (1 .. 600)
	{
		my $person = person();
		my $times = rand() < 0.6 ? 1 : one_of(2, 2, 2, 3);

		foreach my $time (1 .. $times)
		{
			my $field = $time == 1 ? $person : rewritten($person);

			put_row('records, persons', $number, join(' ', grep { $_ ne '' } @{$field}{qw(first last number street code city phone mail)}));
		}
	}
}

sub put_offers
{
	my ($model, $features, $adjectives) = @_;
	my ($brand, $kind, $name) = (ucfirst word(2), one_of(qw(jacket kettle rucksack lamp shirt drill monitor bottle chair tent)), uc(word(2)) . between(10, 990));
	my @features = (shuffled(@$features))[ 0 .. 3 ];
	my @adjectives = (shuffled(@$adjectives))[ 0 .. 2 ];
	my @colours = (shuffled(qw(black white red blue green yellow grey silver orange brown)))[ 0 .. between(0, 2) ];
	my @sizes = (shuffled(qw(S M L XL XXL 38 40 42 44)))[ 0 .. between(0, 2) ];

	foreach my $variant (map { my $colour = $_; map { [ $colour, $_ ] } @sizes } @colours)
	{
		my ($colour, $size) = @$variant;
		my $label = "$model $colour $size";

		put_row('records, products', $label, "$brand $name $adjectives[0] $kind, colour $colour, size $size. " . join('. ', @features) . ". A $adjectives[1] and $adjectives[2] $kind.");
		next if rand() > 0.6;
		put_row('records, products', $label, ucfirst($kind) . " from $brand ($name) in $size $colour: " . join('; ', (shuffled(@features))[ 0 .. between(1, 3) ]) . '; free delivery');
	}
}

sub put_products
{
	my @features = map { join(' ', map { word() } 1 .. between(3, 6)) } 1 .. 150;
	my @adjectives = map { word(3) } 1 .. 60;

	put_offers($_, \@features, \@adjectives) foreach 1 .. 90;
}

# Replaces a share of the sentences, and drops some words of half of the revisions.
sub revised
{
	my ($text, $pool) = @_;
	my $keep = 0.1 + rand(0.85);
	my @sentences = map { rand() < $keep ? $_ : one_of(@$pool) } @$text;

	@sentences = map { join(' ', grep { rand() > 0.08 } split) } @sentences if rand() < 0.5;
	return @sentences;
}

sub put_revisions
{
	my ($language) = @_;
	my @texts = grep { @$_ >= 5 } map { chomp; [ split /(?<=[.:;!?])\s+/ ] } <STDIN>;
	my @pool = map { @$_ } @texts > 200 ? splice(@texts, 200) : ();

	die "too few texts in $language to revise 200 of them\n" if @texts && !@pool;

	foreach my $i (0 .. $#texts)
	{
		my $other = $texts[ ($i * 7 + 3) % @texts ];
		my $shared = 0.05 + rand(0.25);

		put_row("revisions, $language", $i, join(' ', @{ $texts[$i] }));
		put_row("revisions, $language", $i, join(' ', revised($texts[$i], \@pool))) if rand() < 0.45;
		next if rand() > 0.4;
		put_row("revisions, $language", "other $i", join(' ', map { rand() < $shared ? one_of(@$other) : one_of(@pool) } @{ $texts[$i] }));
	}
}

my ($what, @arguments) = @ARGV;
my %put = (persons => \&put_persons, products => \&put_products, revisions => \&put_revisions);

$put{$what}->(@arguments);
