# Plot.pm: makes a plot's SVG from its series, with gnuplot and its script in plots/.
#
# gnuplot places and draws.  What it writes is turned into the elements of Picture.pm, in whose classes the
# colours of both modes are.
package Plot;
use strict;
use warnings;
use utf8;
use FindBin '$RealBin';
use List::Util qw(min max sum);
use Picture;
use Series;

my %COLOUR = (1 => '#0072b2', 2 => '#c44e00', 3 => '#00805c', 4 => '#a8488a', 5 => '#6e5a00', soft => '#59636e', faint => '#d1d9e0');
my %CLASS = reverse %COLOUR;
my $WIDTH = $Picture::WIDTH;
my $SIZE = 14;
my $GAP = 17; # between labels
my $ROOM = 130; # for a name at the end of a line; a longer one has several lines

# Returns what the comments "# WHAT: text" of a script say.
sub about
{
	my ($script) = @_;
	my %about;

	open(my $in, '<:encoding(UTF-8)', $script) or die "$script: $!";
	while (<$in>)
	{
		last if !/^#/;
		$about{$1} = join(' ', $about{$1} // (), $2) if /^# (\w+): (.*)/;
	}
	return %about;
}

sub write_file
{
	my ($file, @lines) = @_;

	open(my $out, '>:encoding(UTF-8)', $file) or die "$file: $!";
	print $out map { "$_\n" } @lines;
	close($out) or die "$file: $!";
}

# Returns the line that defines an array of gnuplot.
sub array
{
	my ($name, @values) = @_;

	return sprintf('array %s[%d] = [%s]', $name, scalar @values, join(', ', map { /^[\d.]+(e-?\d+)?$/ ? $_ : q(') . s/'/''/gr . q(') } @values));
}

# Writes the series, and what style.gp needs to know of them.
sub write_series
{
	my ($work, $top, @series) = @_;
	my @points = map { @{ $_->{points} } } @series;
	# Of a logarithmic scale, 0 is no end.
	my @x = grep { $_ > 0 } map { $_->[0] } @points;
	my @y = grep { defined && /^[\d.]+(e-?\d+)?$/ } map { $_->[1] } @points;
	my @positive = grep { $_ > 0 } @y;
	my $row = sub { join("\t", map { defined && length ? $_ : 'NaN' } @_) };

	write_file("$work/data", map { ((map { $row->(@$_) } @{ $_->{points} }), '', '') } @series);
	write_file("$work/ends", map { ($row->(@{ $_->{points}[-1] }[0, 1], $_->{name}), '', '') } @series);
	write_file("$work/series", "DATA = '$work/data'", "ENDS = '$work/ends'", "WIDE = $WIDTH.0; TOP = $top; N = " . @series,
		array('NAME', map { $_->{name} } @series), array('COLOUR', map { $COLOUR{ $_->{class} } } @series),
		array('BEGIN', map { $_->{points}[0][1] } @series), array('WIDTH', map { $_->{width} } @series), array('DASH', map { $_->{dash} } @series),
		array('FONT', map { $_->{bold} ? "end-bold,$SIZE" : "end,$SIZE" } @series), array('PLAIN', map { $_->{bold} ? "bold,$SIZE" : "plain,$SIZE" } @series),
		sprintf('ROOM = %d; NAMES = %d', map { my ($most, $more) = @$_; $more + max(map { my $font = $_->{bold} ? 'bold' : ''; map { Picture::width_of($_, $font) } Picture::wrap($_->{name}, $font, $most) } @series) } [$ROOM, 26], [220, 0]),
		sprintf('XMIN = 1.0 * %s; XMAX = 1.0 * %s; YMIN = 1.0 * %s; YMAX = 1.0 * %s', min(@x), max(@x), min(@positive) // 0, max(@y) // 0), "cd '$RealBin/plots'");
}

# Returns the value of an attribute.
sub attribute
{
	my ($element, $name) = @_;

	return $element =~ /\s\Q$name\E\s*=\s*(["'])(.*?)\1/s ? $2 : undef;
}

# Returns the class of a colour, as "rgb(0, 114, 178)" or "#0072b2".
sub class_of
{
	my ($colour) = @_;
	my $hex = $colour =~ /rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)/ ? sprintf('#%02x%02x%02x', $1, $2, $3) : lc $colour;

	return $CLASS{$hex} // die "a colour that is not of the style: $colour\n" if $hex !~ /^(black|#000000|currentcolor)$/;
	return '';
}

# Returns the class of a stroke.
sub stroke_class
{
	my ($class) = @_;

	return $class eq 'soft' ? 'axis' : $class eq 'faint' ? 'grid' : $class eq '' ? 'axis' : "s$class";
}

# Returns the class of a fill.
sub fill_class
{
	my ($class) = @_;

	return $class =~ /^\d/ ? "f$class" : $class eq '' ? '' : 'soft';
}

# Returns numbers with one decimal.
sub rounded { return $_[0] =~ s/(\d+\.\d+)/0 + sprintf('%.1f', $1)/ger =~ s/\s+/ /gr =~ s/^ | $//gr }

# Returns the path of an element, without moves that draw nothing.
sub path_of
{
	my ($element) = @_;
	my $points = attribute($element, 'points');

	return 'M' . join('L', split / /, rounded($points)) . 'z' if defined $points;
	return rounded(attribute($element, 'd')) =~ s/ ?([LMZ])/$1/gr =~ s/M[^LMZ]*(?=M|Z|$)//gr;
}

# Returns places on the lines of a path, so close that no label goes between them.
sub places_on
{
	my ($d) = @_;
	my @points = map { [split / /] } $d =~ /([\d.]+ [\d.]+)/g;

	return map { my ($from, $to) = @points[$_ - 1, $_]; my $steps = 1 + int(sqrt(($to->[0] - $from->[0])**2 + ($to->[1] - $from->[1])**2) / 8);
		map { my $part = $_ / $steps; [map { $from->[$_] + $part * ($to->[$_] - $from->[$_]) } 0, 1] } 0 .. $steps } 1 .. $#points;
}

# Adds a path or a polygon.  Returns where it is, if it is a line of a series.
sub add_shape
{
	my ($picture, $element, $stroke_width) = @_;
	my ($stroke, $fill, $dash) = map { attribute($element, $_) } qw(stroke fill stroke-dasharray);
	my $d = path_of($element);

	return if $d !~ /L/;
	if (defined $fill && $fill ne 'none')
	{
		my $pale = (attribute($element, 'fill-opacity') // 1) < 0.5;
		my $class = class_of($fill);
		$picture->add('path', $pale && $class =~ /\d/ ? "w$class" : fill_class($class), d => $d);
		return;
	}
	my $class = stroke_class(class_of($stroke));
	$picture->add('path', $class, d => $d,
		$class eq 'axis' && $stroke_width > 1 ? (style => "stroke-width:$stroke_width") : (),
		$class =~ /^s/ ? (fill => 'none', 'stroke-width' => $stroke_width, 'stroke-linejoin' => 'round') : (),
		defined $dash ? ('stroke-dasharray' => rounded($dash)) : ());
	return $class =~ /^s/ ? places_on($d) : ();
}

# Returns a text of gnuplot: place, anchor, font and colour.
sub text_of
{
	my ($group, $content) = @_;
	my ($x, $y) = $group =~ /translate\(([-\d.]+),([-\d.]+)\)/;
	my $font = attribute($group, 'font-family') // '';

	$content = $content =~ s/<[^>]*>//gr =~ s/^\s+|\s+$//gr =~ s/&lt;/</gr =~ s/&gt;/>/gr =~ s/&quot;/"/gr =~ s/&amp;/&/gr;
	return { x => $x, y => $y, anchor => attribute($group, 'text-anchor') // 'start', font => $font, class => class_of(attribute($group, 'fill')),
		text => $content, lines => [$content] };
}

# Returns the lines of a text, of about the same length.
sub balanced
{
	my ($text, $font, $most, $size) = @_;
	my @lines = Picture::wrap(@_);

	while (@lines > 1 && Picture::wrap($text, $font, $most - 5, $size) == @lines) { $most -= 5 }
	return Picture::wrap($text, $font, $most, $size);
}

# Returns the box of a text.
sub box
{
	my ($text, $y) = @_;
	my $width = max(map { Picture::width_of($_, $text->{font}) } @{ $text->{lines} });
	my $x = $text->{x} - ($text->{anchor} eq 'middle' ? $width / 2 : $text->{anchor} eq 'end' ? $width : 0);
	my $more = $GAP * $#{ $text->{lines} } / 2;

	return [$x - 2, $y - $more - $SIZE * .85, $x + $width + 2, $y + $more + $SIZE * .3];
}

sub overlap
{
	my ($a, $b) = @_;

	return $a->[0] < $b->[2] && $b->[0] < $a->[2] && $a->[1] < $b->[3] && $b->[1] < $a->[3];
}

# Moves the labels of a column apart, each by as little as the others allow.
sub stack
{
	my ($top, $bottom, @labels) = @_;
	my @blocks;

	foreach my $label (sort { $a->{y} <=> $b->{y} } @labels)
	{
		push @blocks, { labels => [$label], height => $GAP * @{ $label->{lines} }, middle => $label->{y} };
		# Blocks that overlap become one, around the mean of what its labels want.
		while (1)
		{
			my ($above, $last) = @blocks[-2, -1];
			$_->{middle} = min(max($_->{middle}, $top + $_->{height} / 2), $bottom - $_->{height} / 2) foreach $last;
			last if @blocks < 2 || $above->{middle} + $above->{height} / 2 <= $last->{middle} - $last->{height} / 2;
			pop @blocks;
			push @{ $above->{labels} }, @{ $last->{labels} };
			$above->{height} += $last->{height};
			$above->{middle} = sum(map { $_->{from} } @{ $above->{labels} }) / @{ $above->{labels} };
		}
	}
	foreach my $block (@blocks)
	{
		my $y = $block->{middle} - $block->{height} / 2;
		foreach my $label (@{ $block->{labels} })
		{
			my $height = $GAP * @{ $label->{lines} };
			$label->{y} = $y + $height / 2;
			$y += $height;
		}
	}
}

# Moves a label up or down, or to the other side of its point, to a place near by where it covers no other label and few marks.
sub move
{
	my ($label, $top, $bottom, $labels, $marks) = @_;
	my @tries = grep { $_->{y} > $top && $_->{y} < $bottom } map { my $away = $_; map { ({ %$label, y => $_ }, { %$label, y => $_, x => $label->{x} - 20, anchor => 'end' }) }
		$label->{from} + $away, $label->{from} - $away } map { $_ * 2 } 0 .. 60;
	my %cost;

	foreach my $try (@tries)
	{
		my $own = box($try, $try->{y});
		$cost{$try} = abs($try->{y} - $try->{from}) + 9 * grep { overlap($own, $_) } @$marks if $own->[0] > 60 && !grep { overlap($own, $_) } @$labels;
	}
	my ($found) = sort { $cost{$a} <=> $cost{$b} } grep { defined $cost{$_} } @tries;
	@$label{qw(x y anchor)} = @$found{qw(x y anchor)} if $found;
}

# Places labels: those of the last points in a column, and then the others.
sub spread
{
	my ($top, $bottom, $marks, @labels) = @_;
	my @marks = map { [$_->[0] - 4, $_->[1] - 4, $_->[0] + 4, $_->[1] + 4] } @$marks;
	my $most = max(map { $_->{x} } @labels);
	my @column = grep { $_->{x} > $most - 4 } @labels;
	my @others = sort { $a->{y} <=> $b->{y} } grep { $_->{x} <= $most - 4 } @labels;

	$_->{from} = $_->{y} foreach @labels;
	$_->{lines} = [Picture::wrap($_->{text}, $_->{font}, min($ROOM, $WIDTH - 4 - $_->{x}))] foreach @column;
	stack($top, $bottom, @column);
	my @placed = map { box($_, $_->{y}) } @column;
	foreach my $label (@others)
	{
		move($label, $top, $bottom, \@placed, \@marks);
		push @placed, box($label, $label->{y});
	}
}

# Adds a text, and a thin line to where it belongs if it was moved far.
sub add_text
{
	my ($picture, $text) = @_;
	my $class = join(' ', grep { length } ($text->{font} =~ /^(end|label)/ ? 'halo' : ()), 'small', ($text->{font} =~ /bold/ ? 'bold' : ()), fill_class($text->{class}));

	if (defined $text->{from} && abs($text->{from} - $text->{y}) > 9 && $text->{anchor} eq 'start')
	{
		$picture->add('path', 'thin ' . stroke_class($text->{class}), d => sprintf('M%.1f %.1fL%.1f %.1f', $text->{x} - 8, $text->{from} - 5, $text->{x} - 1, $text->{y} - 5));
	}
	warn "the name \"$text->{text}\" is too long\n" if box($text, 0)->[0] < -20;
	my $y = $text->{y} - $GAP * $#{ $text->{lines} } / 2;
	foreach my $line (@{ $text->{lines} })
	{
		$picture->text($text->{x}, $y, $line, $class, $text->{anchor});
		$y += $GAP;
	}
}

# Adds the elements of gnuplot's file to a picture.
sub convert
{
	my ($picture, $svg, $top) = @_;
	my (@texts, @marks, %seen, $stroke_width);

	$svg =~ s{^.*?<g id="gnuplot_canvas">.*?</defs>}{}s or die "not a file of gnuplot\n";
	while ($svg =~ m{(<g fill="none" color[^>]*>)|(<path [^>]*>|<polygon [^>]*>)|(<use [^>]*>)|(<g transform[^>]*>)\s*<text[^>]*>(.*?)</text>|<(?!/|g id|g stroke=|title)(\w+)[^>]*>}gs)
	{
		my ($group, $shape, $point, $text, $content, $other) = ($1, $2, $3, $4, $5, $6);
		die "gnuplot wrote an element that is not expected: $&\n" if defined $other;
		$stroke_width = attribute($group, 'stroke-width') if defined $group;
		push @marks, add_shape($picture, $shape, $stroke_width) if defined $shape;
		push @texts, text_of($text, $content) if defined $text;
		next if !defined $point;
		my ($x, $y, $size) = attribute($point, 'transform') =~ /translate\(([-\d.]+),([-\d.]+)\) scale\(([\d.]+)\)/;
		$picture->add('circle', fill_class(class_of(attribute($point, 'color'))), cx => $x, cy => $y, r => $size);
		push @marks, [$x, $y];
	}
	spread($top, $picture->{height} - 54, \@marks, grep { $_->{font} =~ /^end/ } @texts);
	add_text($picture, $_) foreach grep { !$seen{"@$_{qw(x y text)}"}++ } @texts;
}

# Returns the lines above a plot: its title and subtitle, and what its y axis shows.
sub heading
{
	my (%about) = @_;
	my $y = 10;

	return map { my ($text, $class, $size, $gap) = @$_; my @lines = balanced($text, $class, $WIDTH - 40, $size); $y += $gap;
		map { { text => $_, class => $class, y => $y += $size + 4 } } @lines }
		[$about{title}, 'big bold', 18, 0], [$about{subtitle}, 'soft small', $SIZE, 3], defined $about{y} ? [$about{y}, 'small', $SIZE, 6] : ();
}

# Draws the plot of a script, or returns why not.
sub draw
{
	my ($script, $folder, $target, $work) = @_;
	my %about = about($script);
	my ($kind, @arguments) = split / /, $about{data};
	my @series = Series->can($kind)->($folder, @arguments);
	my @heading = heading(%about);
	my $top = $heading[-1]{y} + 18;

	return 'there are no figures for it' if !grep { $_->[0] > 0 } map { @{ $_->{points} } } @series;
	write_series($work, $top, @series);
	unlink("$work/svg");
	system('gnuplot', '-e', "set output '$work/svg'", "$work/series", $script) == 0 or die "gnuplot failed on $script\n";
	open(my $in, '<:encoding(UTF-8)', "$work/svg") or die "$script draws nothing\n";
	local $/;
	my $svg = <$in>;
	my ($height) = $svg =~ /viewBox="0 0 $WIDTH ([\d.]+)"/ or die "$script has another width\n";
	my $picture = Picture->new($height, $about{title}, $about{about});
	$picture->text(20, @$_{qw(y text class)}) foreach @heading;
	convert($picture, $svg, $top);
	$picture->write($target);
	return;
}

1;
