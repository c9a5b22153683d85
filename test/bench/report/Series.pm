# Series.pm: the series of a plot, from the CSV files of a folder of results.
#
# A series is a hash: name, class (of its colour, see Picture.pm), dash, width, bold, and points, each
# [x, y, text].  The line "# data: KIND ARGUMENTS" of a plot's script names one of these functions.
package Series;
use strict;
use warnings;
use utf8;
use List::Util 'sum';
use Csv;

# Families of peers have a colour each.  The first is neardup's own.
my @FAMILIES = (
	[1, qr/^(neardup|exact|guarded)/],
	[4, qr/hnsw|ivf|vector/],
	[5, qr/python|datasketch|duckdb|faiss|numpy|library/],
	[3, qr/bands|blocks|btree|paper/],
	[2, qr/trgm|rum|rdkit|smlar|similarity|cube/]);

# Returns the class of a peer's colour; "soft" for all without a family.
sub class_of
{
	my ($peer) = @_;
	my ($family) = grep { $peer =~ $_->[1] } @FAMILIES;

	return $family ? $family->[0] : 'soft';
}

# Returns a series of a peer, or of a column that is named like one.
sub series
{
	my ($peer, $name, @points) = @_;
	my $ours = class_of($peer) eq '1';

	return { peer => $peer, name => $name, class => class_of($peer), dash => $peer =~ /^(exact|guarded|neardup_sets)/ ? 2 : 1,
		width => $ours ? 3 : 1.8, bold => $ours, points => [sort { $a->[0] <=> $b->[0] } @points] };
}

# Returns a short title: without what follows a colon, or says which texts and sets.
sub short
{
	my ($title) = @_;

	return $title =~ s/, (texts up to|sets folded) .*//r =~ s/:.*//r =~ s/ \([^)]*\)$//r =~ s/ (on these bits|over signatures)//r =~ s/^(smlar.*), arrays of.*/$1/r;
}

# Returns the short titles of peers; of those that would be alike, what follows the colon, up to a comma, instead of what follows a comma.
sub titles
{
	my %title = @_;
	my %number;

	$number{ short($_) }++ foreach values %title;
	return map { ($_, $number{ short($title{$_}) } > 1 ? $title{$_} =~ s/(:[^,]*),.*/$1/r =~ s/,[^:]*:/:/r : short($title{$_})) } keys %title;
}

# Returns three digits of a number.
sub digits
{
	my ($value) = @_;

	return sprintf($value >= 100 ? '%.0f' : $value >= 10 ? '%.1f' : $value >= 1 ? '%.2f' : '%.2g', $value) =~ s/(\d)(?=(\d{3})+$)/$1,/gr;
}

# Returns milliseconds with a unit that suits them.
sub duration
{
	my ($ms) = @_;

	return $ms < 1 ? sprintf('%.0f µs', $ms * 1000) : $ms < 1000 ? digits($ms) . ' ms' : digits($ms / 1000) . ' s';
}

# Returns a share with two digits, or a dash.
sub beside
{
	my ($share) = @_;

	return !defined $share ? '–' : $share > 0 && $share < .01 ? '< .01' : sprintf('%.2f', $share);
}

my %SHOW = (ms => \&duration, s => sub { return duration($_[0] * 1000) }, µs => sub { return duration($_[0] / 1000) }, MB => sub { return digits($_[0]) . ' MB' });

# by_peer FILE MEASURE[|MEASURE…] [BESIDE]: a series for each peer with the value of the first measure that it has, the
# least first, and that of another measure as a text.
sub by_peer
{
	my ($folder, $file, $measures, $beside) = @_;
	my (%value, %unit, %title, %beside);

	foreach my $measure (reverse split /\|/, $measures =~ tr/_/ /r)
	{
		foreach my $row (grep { $_->{measure} eq $measure && ($_->{value} // '') ne '' } read_csv("$folder/$file"))
		{
			$value{ $row->{peer} } = $row->{value};
			$unit{ $row->{peer} } = $row->{unit};
			$title{ $row->{peer} } = $row->{title};
		}
	}
	%beside = map { ($_->{peer}, $_->{value}) } grep { $_->{measure} eq $beside } read_csv("$folder/$file") if $beside;
	my %short = titles(%title);
	return map { series($_, $short{$_}, [$value{$_}, 0, ($SHOW{ $unit{$_} } // \&digits)->($value{$_}), beside($beside{$_})]) } sort { $value{$a} <=> $value{$b} || $a cmp $b } keys %value;
}

# Returns the short titles of peers in a folder's peers.csv.
sub peer_titles
{
	my ($folder) = @_;

	return titles(map { ($_->{peer}, $_->{title}) } read_csv("$folder/peers.csv"), read_csv("$folder/libraries.csv"));
}

# columns FILE: a series for each column but the first, which is x.
sub columns
{
	my ($folder, $file) = @_;
	my ($x, @names) = columns_of("$folder/$file");
	my @rows = read_csv("$folder/$file");
	my %short = (guarded => 'neardup, rejecting copies', peer_titles($folder));
	my @series;

	foreach my $name (@names)
	{
		my @points = map { [$_->{$x}, $_->{$name}] } grep { ($_->{$name} // '') ne '' } @rows;
		push @series, series($name, $short{$name} // $name, @points) if @points;
	}
	return @series;
}

# panels FILE: the columns; neardup's own first, then the others, the fastest first.
sub panels
{
	my @series = columns(@_);
	my %time = map { my @y = map { log($_->[1] + 1e-6) } @{ $_->{points} }; ($_, sum(@y) / @y) } @series;

	return sort { ($b->{peer} eq 'neardup') <=> ($a->{peer} eq 'neardup') || $time{$a} <=> $time{$b} } @series;
}

# groups FILE X Y: a series for each peer of a file that has several settings of it, from the least y to the greatest.
sub groups
{
	my ($folder, $file, $x, $y) = @_;
	my (%points, %title);

	foreach my $row (grep { ($_->{$x} // '') ne '' && ($_->{$y} // '') ne '' } read_csv("$folder/$file"))
	{
		push @{ $points{ $row->{peer} } }, [$row->{$x}, $row->{$y}, $row->{setting}];
		$title{ $row->{peer} } = $row->{title};
	}
	my %short = titles(%title);
	my @series = map { series($_, $short{$_}, @{ $points{$_} }) } sort keys %points;
	@{ $_->{points} } = sort { $a->[1] <=> $b->[1] || $a->[0] <=> $b->[0] } @{ $_->{points} } foreach @series;
	return @series;
}

# libraries FILE: the columns of BENCH=large, "old" or "new" and a distance.
sub libraries
{
	my ($folder, $file) = @_;
	my %class = (20 => 1, 60 => 2, 40 => 3, 0 => 4);
	my @class = (1 .. 5);
	my @series = columns($folder, $file);

	foreach my $series (@series)
	{
		my ($library, $what) = $series->{name} =~ /^(old|new) (.*)/ or next;
		my ($distance) = $what =~ /^at (\d+)/;
		$series->{class} = defined $distance ? $class{$distance} : $what eq 'scan' ? 'soft' : ($class{$what} //= shift(@class) // 'soft');
		$series->{name} = (defined $distance ? $distance ? "up to $distance bits differ" : 'equal' : $what eq 'scan' ? 'scan of the table' : $what)
			. ($library eq 'old' ? ', before' : '');
		$series->{dash} = $library eq 'old' ? 2 : 1;
		$series->{width} = 2.4;
	}
	return @series;
}

# curves FILE: a series for each column; one that is called measured has no name, and the colour of what it measures.
sub curves
{
	my ($folder, $file) = @_;
	my @series = columns($folder, $file);
	my @class = (2, 1, 3, 4, 5);
	my %class;

	foreach my $series (@series)
	{
		my $of = $series->{name} =~ s/^measured //r;
		$class{$of} //= shift(@class) // 'soft';
		@$series{qw(name class width)} = ($of eq $series->{name} ? $of : '', $class{$of}, 2);
	}
	return @series;
}

# rows FILE: one series of whole rows, for a script that reads columns itself.
sub rows
{
	my ($folder, $file) = @_;
	my @names = columns_of("$folder/$file");
	my @rows = read_csv("$folder/$file") or return;

	return { name => '', class => 1, dash => 1, width => 2.4, points => [map { my $row = $_; [map { $row->{$_} } @names] } @rows] };
}

# paper FILE: the published and the measured columns of a file; the name of each without these words.
sub paper
{
	my ($folder, $file) = @_;
	my %class = ('Alg.G' => 2, 'Alg.H' => 3, neardup => 1);
	my @series = grep { $_->{name} =~ /^(published|measured)/ } columns($folder, $file);

	foreach my $series (@series)
	{
		my ($source, $name) = split / /, $series->{name}, 2;
		$series->{class} = $class{$name} // 'soft';
		$series->{bold} = $name eq 'neardup';
		$series->{name} = $source eq 'published' ? "$name, published" : $name;
	}
	return @series;
}

# Returns the name of a method for a plot: without markup, and without the last of long explanations.
sub method
{
	my ($method) = @_;
	my $name = $method =~ tr/`//dr =~ s/\(512, 1\)//r =~ s/, (the greater of both|weighted Jaccard|verified)//r =~ s/as neardup_advise says/as advised/r;

	return length($name) > 38 ? $name =~ s/,[^,]*$//r : $name;
}

# accuracy FILE: a series for each kind of texts, with points at [median F1, the place of the method, the method, the least and the greatest F1].
sub accuracy
{
	my ($folder, $file) = @_;
	my @kinds = (['texts alone', 1, qr/./], ['frames, forms', 2, qr/framed|form/], ['records, titles', 3, qr/record|title|one-sided/]);
	my (@methods, %f1);

	foreach my $row (grep { ($_->{f1} // '') ne '' } read_csv("$folder/$file"))
	{
		my ($kind) = grep { $row->{corpus} =~ $kinds[$_][2] } 2, 1, 0;
		push @methods, $row->{method} if !$f1{ $row->{method} };
		push @{ $f1{ $row->{method} }[$kind] }, $row->{f1};
	}
	return map {
		my $kind = $_;
		my @points = map { my @f1 = sort { $a <=> $b } @{ $f1{ $methods[$_] }[$kind] // [] }; @f1 ? [($f1[$#f1 / 2] + $f1[@f1 / 2]) / 2, $_, method($methods[$_]), @f1[0, -1]] : () } 0 .. $#methods;
		@points ? { name => $kinds[$kind][0], class => $kinds[$kind][1], dash => 1, width => 1, points => \@points } : () } 0 .. 2;
}

1;
