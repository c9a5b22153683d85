# Chart.pm: charts with two axes, on Picture.pm.
package Chart;
use strict;
use warnings;
use parent -norequire, 'Picture';
use Picture;

# Chart->new(width, height, title, subtitle, description, x axis, y axis).  An axis is a hash: from,
# to, label, ticks (pairs of a number and a text), log for a logarithmic one, room for labels beyond its end.
sub new
{
	my ($class, $width, $height, $title, $subtitle, $about, $x, $y) = @_;
	my $self = Picture::new($class, $width, $height, $title, $about);

	@$self{qw(x y left right top bottom)} = ($x, $y, 96, $width - 24 - ($x->{room} // 0), 78, $height - 62);
	$self->text(24, 32, $title, 'big');
	$self->text(24, 54, $subtitle, 'soft');
	$self->axes;
	return $self;
}

# Returns where on an axis a number is, from 0 to 1.
sub place
{
	my ($axis, $number) = @_;
	my ($from, $to) = @$axis{qw(from to)};

	($number, $from, $to) = map { log($_) } $number, $from, $to if $axis->{log};
	return ($number - $from) / ($to - $from);
}

# Returns the point of the picture that two numbers are at.
sub at
{
	my ($self, $x, $y) = @_;

	return [$self->{left} + ($self->{right} - $self->{left}) * place($self->{x}, $x),
		$self->{bottom} - ($self->{bottom} - $self->{top}) * place($self->{y}, $y)];
}

sub axes
{
	my ($self) = @_;
	my ($left, $right, $top, $bottom) = @$self{qw(left right top bottom)};
	my @x = @{ $self->{x}{ticks} };
	my @y = @{ $self->{y}{ticks} };

	while (my ($number, $text) = splice(@x, 0, 2))
	{
		my $x = $self->at($number, $self->{y}{from})->[0];
		$self->line('grid', [$x, $top], [$x, $bottom]);
		$self->text($x, $bottom + 22, $text, 'soft', 'middle');
	}
	while (my ($number, $text) = splice(@y, 0, 2))
	{
		my $y = $self->at($self->{x}{from}, $number)->[1];
		$self->line('grid', [$left, $y], [$right, $y]);
		$self->text($left - 9, $y + 5, $text, 'soft', 'end');
	}
	$self->line('axis', [$left, $top], [$left, $bottom], [$right, $bottom]);
	$self->text(($left + $right) / 2, $bottom + 48, $self->{x}{label}, '', 'middle');
	$self->text(22, ($top + $bottom) / 2, $self->{y}{label}, '', 'middle', -90);
}

# Draws a curve through pairs of numbers.
sub curve
{
	my ($self, $class, @pairs) = @_;

	$self->line("stroke $class", map { $self->at(@$_) } @pairs);
}

# Draws a dot at each pair of numbers.
sub marks
{
	my ($self, $class, @pairs) = @_;

	$self->dots($class, map { $self->at(@$_) } @pairs);
}

# Draws a thin line that leads from a label to a dot on a curve.
sub leader
{
	my ($self, $class, @pairs) = @_;
	my @points = map { $self->at(@$_) } @pairs;

	$self->line("thin $class", @points);
	$self->dots("wide $class", $points[-1]);
}

# Fills the area between two lists of pairs.
sub area
{
	my ($self, $class, $above, $below) = @_;

	$self->line($class, map { $self->at(@$_) } @$above, reverse @$below);
}

# Writes a text at a pair of numbers, moved by some pixels, on a halo of the page's colour.
sub label
{
	my ($self, $x, $y, $text, $class, $anchor, $right, $down) = @_;
	my $at = $self->at($x, $y);

	$self->text($at->[0] + ($right // 0), $at->[1] + ($down // 0), $text, "halo $class", $anchor);
}

1;
