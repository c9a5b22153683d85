# Inputs: random documents, the same ones on every machine, and how each door is told to compare them.
#
# An input is a hash:
#   number, rows       its number, and its documents: texts, arrays of numbers or digits of bits
#   sql                the expression that makes the value of a column `body`; `lexicon` may be in it
#   python, command    how the package and the command make the value of a text; undef if they have no text
#   sets               the expression of the set that a minhash estimates; undef if nothing has it
#   kind               of the value, as in neardup.h
#   measure            letters: m to compare multisets, c by containment
#   threshold, split   the least similarity, and how many documents are compared with the others by `against`
#   small              whether every pair can be looked at
#   key, judged        a key of each document, or undef; and [ a, b, whether they are the same ]
#   name               words that say what the input is
package Inputs;

use strict;
use warnings;

use Exporter 'import';
our @EXPORT_OK = qw(inputs);

my ($MINHASH, $SIMHASH, $SHINGLES) = 1 .. 3;

# ---- Ways to make values -------------------------------------------------------

sub minhash_of_text
{
	my ($k, $b, $scheme) = @_;

	return { name => "minhash($k, $b) of $scheme", kind => $MINHASH, sql => "to_minhash(body, $k, $b, '$scheme')", sets => "to_shingles(body, '$scheme')",
		python => "minhash(texts, k=$k, b=$b, scheme='$scheme')", command => "--minhash $k,$b --scheme '$scheme'" };
}

sub simhash_of_text
{
	my ($bits, $scheme) = @_;

	return { name => "simhash($bits) of $scheme", kind => $SIMHASH, sql => "to_simhash(body, $bits, '$scheme')",
		python => "simhash(texts, k=$bits, scheme='$scheme')", command => "--simhash $bits --scheme '$scheme'" };
}

sub set_of_text
{
	my ($scheme, $measure) = @_;

	return { name => "sets of $scheme", kind => $SHINGLES, measure => $measure, sql => "to_shingles(body, '$scheme')",
		python => "shingles(texts, scheme='$scheme')", command => "--shingles --scheme '$scheme'" };
}

sub weighted
{
	my ($kind, $measure) = @_;

	return { name => 'weighted minhash', kind => $MINHASH, lexicon => 1, sql => 'to_minhash(body, 256, 2, lexicon)', sets => "weigh(to_shingles(body, 'word 1'), lexicon)",
		python => 'minhash(texts, k=256, b=2, lexicon=lexicon)', command => '--minhash 256,2 --lexicon LEXICON' } if $kind == $MINHASH;
	return { name => 'weighted sets', kind => $SHINGLES, measure => $measure, lexicon => 1, sql => "weigh(to_shingles(body, 'word 1'), lexicon)",
		python => "shingles(texts, scheme='word 1', lexicon=lexicon)", command => "--shingles --scheme 'word 1' --lexicon LEXICON" };
}

# Of digits of bits, or of arrays of numbers, which have a length if the value needs it.
sub foreign
{
	my ($name, $kind, $of, $length, $sql, $measure) = @_;

	return { name => $name, kind => $kind, of => $of, length => $length, sql => $sql, measure => $measure };
}

my @WAYS = (
	(map { minhash_of_text(@$_) } [ 512, 1, 'word 1' ], [ 16, 1, 'word 1' ], [ 101, 1, 'word 2' ], [ 1001, 1, 'word 1' ], [ 100, 2, 'word 1' ],
		[ 77, 4, 'char 5' ], [ 64, 8, 'word 1' ], [ 33, 16, 'word 1' ], [ 40, 32, 'word 2' ]),
	(map { set_of_text('word 1', $_) } '', 'm', 'c', 'mc'), (map { simhash_of_text($_, 'word 1') } 64, 128, 512),
	set_of_text('char 4', ''), set_of_text('word 2', 'm'), weighted($MINHASH), (map { weighted($SHINGLES, $_) } '', 'm', 'mc'),
	foreign('hashes of 64 bits', $SIMHASH, 'bits', 64, 'body::bit(64)::bigint::simhash'), foreign('bits as simhash', $SIMHASH, 'bits', 256, 'body::bit(256)::simhash'),
	foreign('bits as minhash', $MINHASH, 'bits', 100, 'body::bit(100)::minhash'), foreign('sketches of 32 bits', $MINHASH, 'array', 96, 'body::bigint[]::minhash(96, 32)'),
	{ %{ foreign('minhash of elements', $MINHASH, 'array', undef, 'to_minhash(to_shingles(body::bigint[]), 128, 1)') }, sets => 'to_shingles(body::bigint[])' },
	(map { foreign('sets of elements', $SHINGLES, 'array', undef, 'to_shingles(body::bigint[])', $_) } '', 'm', 'c', 'mc'));

# ---- Documents -----------------------------------------------------------------

my @SHAPES = qw(families copies giant chain nested form repeats distinct crowded);

# Tokens below a number, which is small in a crowd.
my %TOKEN = (
	text => sub { return 'w' . int rand $_[0] },
	array => sub { return int rand $_[0] },
	bits => sub { return int rand 2 },
);
my %WRITTEN = (
	text => sub { return join ' ', @_ },
	array => sub { return '{' . join(',', @_) . '}' },
	bits => sub { return join '', @_ },
);

# Returns the tokens of a document: some of another one's, or of a family's.
sub tokens_like
{
	my ($input, $other, $form) = @_;
	my ($shape, $token) = @{$input}{qw(shape token)};
	my @tokens = @$other;
	my $changes = $shape eq 'distinct' ? @tokens : $shape eq 'chain' ? 1 : int rand 1 + @tokens * ($shape eq 'giant' ? 0.1 : 0.3);

	$tokens[ rand @tokens ] = $token->() for 1 .. $changes;
	return @tokens if $input->{length};
	@tokens = @tokens[ 0 .. int rand @tokens ] if $shape eq 'nested';
	unshift @tokens, @$form if $shape eq 'form';
	push @tokens, map { $tokens[ rand @tokens ] } 1 .. int rand 20 if $shape eq 'repeats';
	return @tokens;
}

# Makes the documents of an input, in which some are equal, and some empty.
sub make_rows
{
	my ($input, $count) = @_;
	my ($shape, $token) = @{$input}{qw(shape token)};
	my ($length, $copies) = ($input->{length} // 8 + int rand 40, $shape eq 'copies' ? 0.7 : 0.15);
	my @families = map { [ map { $token->() } 1 .. $length ] } 1 .. ($shape =~ /giant|chain/ ? 1 : 1 + $count / ($shape eq 'copies' ? 20 : 6));
	my @form = map { $token->() } 1 .. $length;
	my ($last, @rows) = ($families[0]);

	for (1 .. $count)
	{
		my @tokens = tokens_like($input, $shape eq 'chain' ? $last : $families[ rand @families ], \@form);

		$last = [@tokens];
		@tokens = () if !$input->{length} && rand() < 0.04;
		push @rows, @rows && rand() < $copies ? $rows[ rand @rows ] : $WRITTEN{ $input->{of} }->(@tokens);
	}
	$input->{rows} = \@rows;
	$input->{key} = [ map { rand() < 0.05 ? undef : int rand 3 } @rows ];
}

# Makes verdicts on pairs, which do not contradict each other.
sub make_judged
{
	my ($input) = @_;
	my $count = @{ $input->{rows} };
	my @unit = 0 .. $count;
	my @judged;

	return if $count < 2;
	for (1 .. 1 + int rand 1 + $count / 10)
	{
		my ($a, $b) = map { 1 + int rand $count } 1 .. 2;
		my ($from, $to) = @unit[ $a, $b ];

		push @judged, [ $a, $b, 't' ];
		$_ == $from and $_ = $to for @unit;
	}
	for (1 .. 2 + int rand 1 + $count)
	{
		my ($a, $b) = map { 1 + int rand $count } 1 .. 2;

		push @judged, [ $a, $b, 'f' ] if $unit[$a] != $unit[$b];
	}
	$input->{judged} = \@judged;
}

# ---- Inputs --------------------------------------------------------------------

# Returns an input of a number, which makes all that is random in it.
sub make_input
{
	my ($number, $way, $count, $shape, $threshold) = @_;
	my $input = { of => 'text', measure => '', %$way, number => $number, shape => $shape, small => $count <= 100 };

	srand(1000 + $number);
	$input->{token} = sub { return $TOKEN{ $input->{of} }->($shape eq 'crowded' ? 300 : 2**31) };
	$input->{measure} //= '';
	make_rows($input, $count);
	make_judged($input) if $input->{small};
	$input->{threshold} = $threshold // (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)[ rand 8 ];
	$input->{split} = int rand 1 + $count;
	$input->{name} = "input $number: $input->{name}" . ($input->{measure} && " ($input->{measure})") . ", $count in shape '$shape', $input->{threshold}";
	return $input;
}

# Returns a number of small inputs, and large ones, which little memory does not hold.
sub inputs
{
	my ($small, @large) = @_;
	my @inputs;

	for my $number (1 .. $small)
	{
		srand($number);
		rand;
		my $count = $number % 25 == 0 ? ($number / 25) % 4 : 10 + int rand 55;
		my $way = $WAYS[ $number % @WAYS ];

		$count = 2 if $way->{lexicon} && $count < 2;
		push @inputs, make_input($number, $way, $count, $SHAPES[ rand @SHAPES ]);
	}
	for my $large (@large)
	{
		my ($name, @how) = @$large;
		my ($way) = grep { $_->{name} . (($_->{measure} // "") && " ($_->{measure})") eq $name } @WAYS;

		die "no way to make $name" if !$way;
		push @inputs, make_input(@inputs + 1, $way, @how);
	}
	return @inputs;
}

1;
