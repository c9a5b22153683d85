# Picture.pm: writes SVG files for light and dark pages.
#
# All pictures share one style.  Colours are classes: s1 to s5 for strokes, f1 to f5 for
# fills and texts, w1 to w5 for pale areas.  People who are colour-blind can tell them
# apart (Okabe and Ito 2008), and no picture depends on colour alone.
package Picture;
use strict;
use warnings;

our $WIDTH = 450; # of all pictures: a phone shows them 358 pixels wide or more, and a text of 14 with 11 pixels

my @LIGHT = ('', '#0072b2', '#c44e00', '#00805c', '#a8488a', '#6e5a00');
my @DARK = ('', '#6cb6ff', '#ff9d5c', '#3ecf9e', '#e79ac8', '#e0c341');

# Returns the rules of one colour scheme.
sub rules
{
	my ($page, $card, $ink, $soft, $faint, $colour, $pale) = @_;

	return join('', ".page{fill:$page}.card{fill:$card;stroke:$faint}text{fill:$ink}.soft{fill:$soft}",
		".axis{stroke:$soft}.grid{stroke:$faint}.arrow{stroke:$soft}.tip{fill:$soft}.halo{stroke:$page}.inverse{fill:$page}.rest{fill:$soft}",
		map { ".f$_\{fill:$colour->[$_]}.s$_\{stroke:$colour->[$_]}.w$_\{fill:$colour->[$_];fill-opacity:$pale}" } 1 .. 5);
}

my $FIXED = join("\n",
	'text{font:15px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}',
	'.small{font-size:14px}.big{font-size:18px;font-weight:600}.bold{font-weight:600}',
	'.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}',
	'.axis,.grid,.arrow{fill:none}.axis{stroke-width:1}.grid{stroke-width:.7}.arrow{stroke-width:1.6}',
	'.thin{fill:none;stroke-width:1.2}.half{fill-opacity:.6}.dash{stroke-dasharray:8 5}',
	'.mark{stroke-width:1.3}.large{font-size:17px;font-weight:500}',
	'.halo{stroke-width:5;stroke-linejoin:round;paint-order:stroke}');

# Picture->new(height, title, description)
sub new
{
	my ($class, $height, $title, $about) = @_;

	return bless { height => $height, title => $title, about => $about, parts => [] }, $class;
}

# Returns a text in which no character is markup.
sub escape
{
	my ($text) = @_;
	my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');

	return $text =~ s/([&<>"])/$entity{$1}/gr;
}

# Returns a number with at most two decimals.
sub short { return 0 + sprintf('%.2f', $_[0]) }

# Adds an element.  Attributes with numbers are shortened.
sub add
{
	my ($self, $name, $class, %value) = @_;
	my $attributes = join('', map { sprintf(' %s="%s"', $_, $value{$_} =~ /^-?[\d.]+(e-?\d+)?$/ ? short($value{$_}) : $value{$_}) } sort keys %value);

	push @{ $self->{parts} }, "<$name class=\"$class\"$attributes/>";
}

# Adds a text.  The anchor is start, middle or end; `rest` is a text in another style that follows it.
sub text
{
	my ($self, $x, $y, $text, $class, $anchor, $rest) = @_;
	my $more = ($class ? " class=\"$class\"" : '') . (($anchor // 'start') ne 'start' ? " text-anchor=\"$anchor\"" : '');

	($x, $y) = (short($x), short($y));
	$rest = defined $rest ? '<tspan class="rest">' . escape($rest) . '</tspan>' : '';
	push @{ $self->{parts} }, "<text x=\"$x\" y=\"$y\"$more>" . escape($text) . "$rest</text>";
}

# Returns about how many pixels a text is wide.
sub width_of
{
	my ($text, $class, $size) = @_;

	return length($text) * ($size // 14) * ($class =~ /bold|big/ ? .62 : .57);
}

# Returns the lines of a text that are not wider than some pixels.
sub wrap
{
	my ($text, $class, $most, $size) = @_;
	my @lines;

	foreach my $word (split / /, $text)
	{
		if (@lines && width_of("$lines[-1] $word", $class, $size) <= $most) { $lines[-1] .= " $word" }
		else { push @lines, $word }
	}
	return @lines ? @lines : '';
}

# Adds a text in small letters, with as many lines as it needs.
sub paragraph
{
	my ($self, $x, $y, $most, $text, $class, $anchor) = @_;

	foreach my $line (wrap($text, $class, $most))
	{
		$self->text($x, $y, $line, "small $class", $anchor);
		$y += 18;
	}
}

sub rect
{
	my ($self, $x, $y, $width, $height, $class, $round) = @_;

	$self->add('rect', $class, x => $x, y => $y, width => $width, height => $height, $round ? (rx => $round) : ());
}

# Adds a line through points, each [x, y].
sub line
{
	my ($self, $class, @points) = @_;

	$self->add('path', $class, d => 'M' . join('L', map { short($_->[0]) . ' ' . short($_->[1]) } @points));
}

# Adds a line that ends in an arrowhead.
sub arrow
{
	my ($self, @points) = @_;
	my ($from, $to) = @points[-2, -1];
	my $angle = atan2($to->[1] - $from->[1], $to->[0] - $from->[0]);
	my @tip = map { [$to->[0] - 10 * cos($angle + $_), $to->[1] - 10 * sin($angle + $_)] } -0.42, 0.42;

	$self->line('arrow', @points[0 .. $#points - 1], [$to->[0] - 8 * cos($angle), $to->[1] - 8 * sin($angle)]);
	$self->line('tip', $to, @tip);
}

# Writes the file.
sub write
{
	my ($self, $file) = @_;
	my ($wide, $high) = map { int(1.2 * $_) } $WIDTH, $self->{height}; # on a page that has room

	open(my $out, '>:encoding(UTF-8)', $file) or die "$file: $!";
	print $out "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"$wide\" height=\"$high\" viewBox=\"0 0 $WIDTH $self->{height}\" role=\"img\" aria-labelledby=\"title about\">\n",
		'<title id="title">', escape($self->{title}), "</title>\n", '<desc id="about">', escape($self->{about}), "</desc>\n",
		"<style>\n$FIXED\n", rules('#fff', '#f6f8fa', '#1f2328', '#59636e', '#d1d9e0', \@LIGHT, .16),
		"\n\@media (prefers-color-scheme:dark){", rules('#0d1117', '#161b22', '#e6edf3', '#9da7b1', '#3d444d', \@DARK, .3), "}\n</style>\n",
		"<rect class=\"page\" width=\"$WIDTH\" height=\"$self->{height}\" rx=\"8\"/>\n", map({ "$_\n" } @{ $self->{parts} }), "</svg>\n";
	close($out) or die "$file: $!";
}

1;
