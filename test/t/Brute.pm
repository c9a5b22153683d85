# Brute: pairs and clusters by their definition, from the similarity of every pair.
#
# Documents have the numbers 1 to n.  The functions return lines as COPY writes them.  The similarity of
# two documents may depend on their order: the first is the earlier one, or the keeper.
package Brute;

use strict;
use warnings;

use List::Util qw(max);

# Takes [ a, b, similarity, whether they are equal, similarity in the other order if that differs ] for all a <= b.  A
# similarity below 0 is of rows that are not near, and stands without its sign.
sub new
{
	my ($class, $threshold, $pairs) = @_;
	my $self = bless { threshold => $threshold }, $class;

	foreach (@$pairs)
	{
		my ($x, $y, $similarity, $equal, $back) = @$_;

		$self->{similarity}[$y][$x] = $back // $similarity;
		$self->{similarity}[$x][$y] = $similarity;
		$self->{equal}[$x][$y] = $self->{equal}[$y][$x] = $equal eq 't';
	}
	$self->{rows} = [ sort { $a <=> $b } map { $_->[0] == $_->[1] ? $_->[0] : () } @$pairs ];
	return $self;
}

# Returns the same documents, of which those with other keys are not compared; a key may be unknown, and equal to all.
sub within
{
	my ($self, $key, $unknown) = @_;
	my @pairs;

	foreach my $x (@{ $self->{rows} })
	{
		foreach my $y (grep { $_ >= $x } @{ $self->{rows} })
		{
			my ($k, $l) = @{$key}[ $x - 1, $y - 1 ];
			my $same = defined $k && defined $l ? $k == $l : $unknown && !defined $k && !defined $l;
			my $alike = $same || $unknown && !(defined $k && defined $l);

			push @pairs, [ $x, $y, $alike ? ($self->{similarity}[$x][$y], $same && $self->{equal}[$x][$y] ? 't' : 'f', $self->{similarity}[$y][$x]) : (0, 'f') ];
		}
	}
	return Brute->new($self->{threshold}, \@pairs);
}

sub near
{
	my ($self, $x, $y) = @_;

	return $self->{similarity}[$x][$y] >= $self->{threshold};
}

sub is_empty { return $_[0]->{similarity}[ $_[1] ][ $_[1] ] == 0 }

# Returns the first of some rows that equals a row.
sub first_equal
{
	my ($self, $x, @rows) = @_;

	foreach (@rows) { return $_ if $_ == $x || $self->{equal}[$_][$x] }
}

# Returns a line of a pair of rows and their similarity.
sub line
{
	my ($self, $x, $y) = @_;

	return join("\t", $x, $y, grep({ $self->is_empty($_) } $x, $y) ? '\N' : $self->{similarity}[$x][$y] =~ s/^-//r) . "\n";
}

# Returns a line of a row, its keeper, their similarity, and what follows.
sub line_of_keeper
{
	my ($self, $x, $keeper, @more) = @_;
	my (undef, undef, $similarity) = split /\s/, $self->line($keeper, $x);

	return join("\t", $x, $keeper, $similarity, @more) . "\n";
}

# ---- Pairs ---------------------------------------------------------------------

# Returns [ a, b ] of all pairs of rows, or with a split of rows up to it with the later ones.
sub near_pairs
{
	my ($self, $split) = @_;
	my @rows = @{ $self->{rows} };

	$self->{near} //= [ map { my $x = $_; map { [ $x, $_ ] } grep { $x < $_ && $self->near($x, $_) } @rows } @rows ];
	return grep { !defined $split || $_->[0] <= $split && $_->[1] > $split } @{ $self->{near} };
}

sub all_pairs
{
	my ($self, $split) = @_;

	return map { $self->line(@$_) } $self->near_pairs($split);
}

# Of equal rows the first is in all pairs, each other one in a pair with it.
sub pairs
{
	my ($self, $split) = @_;
	my @rows = @{ $self->{rows} };
	my %first = map { my $x = $_; $x => $self->first_equal($x, defined $split ? grep { $_ > $split == $x > $split } @rows : @rows) } @rows;

	return map { $self->line(@$_) } grep {
		my ($x, $y) = @$_;
		defined $split ? $first{$y} == $y : $first{$y} == $x || $first{$x} == $x && $first{$y} == $y;
	} $self->near_pairs($split);
}

# Without the pairs judged different, and with those judged the same; of equal rows the first, or all.
sub judged_pairs
{
	my ($self, $judged, $all) = @_;
	my %pair = map { my ($x, $y) = split /\t/; ("$x $y" => $_) } $all ? $self->all_pairs : $self->pairs;

	foreach (@$judged)
	{
		my ($x, $y) = sort { $a <=> $b } @{$_}[ 0, 1 ];

		next if $x == $y;
		delete $pair{"$x $y"} if $_->[2] eq 'f';
		$pair{"$x $y"} //= $self->line($x, $y) if $_->[2] eq 't';
	}
	return values %pair;
}

# ---- Clusters ------------------------------------------------------------------

# Returns the lines of clusters of two and more, for the keeper of each row.
sub lines_of
{
	my ($self, %keeper) = @_;
	my %size;

	$size{$_}++ foreach values %keeper;
	return map { my $size = $size{ $keeper{$_} }; $_ == $keeper{$_} ? "$_\t$_\t1\t$size\n" : $self->line_of_keeper($_, $keeper{$_}, $size) }
		grep { $size{ $keeper{$_} } > 1 } keys %keeper;
}

# Returns the first or the most similar of some rows.
sub choose
{
	my ($nearest, $similarity, @rows) = @_;
	my $best = $nearest ? max(map { $similarity->{$_} } @rows) : undef;

	return (grep { !$nearest || $similarity->{$_} == $best } @rows)[0];
}

sub stars
{
	my ($self, $nearest) = @_;
	my (@keepers, %keeper);

	foreach my $x (grep { !$self->is_empty($_) } @{ $self->{rows} })
	{
		my @near = grep { $self->near($_, $x) } @keepers;

		$keeper{$x} = choose($nearest, { map { $_ => $self->{similarity}[$_][$x] } @near }, @near) // $x;
		push @keepers, $x if $keeper{$x} == $x;
	}
	return $self->lines_of(%keeper);
}

# Rows up to the split, and their keepers among the others.
sub held
{
	my ($self, $nearest, $split) = @_;
	my @lines;

	foreach my $x (grep { $_ <= $split } @{ $self->{rows} })
	{
		my @near = grep { $_ > $split && $self->near($_, $x) } @{ $self->{rows} };
		my $keeper = choose($nearest, { map { $_ => $self->{similarity}[$_][$x] } @near }, @near);

		push @lines, $self->line_of_keeper($x, $keeper) if defined $keeper;
	}
	return @lines;
}

# Returns by row the unit of rows judged the same, which has the number of the first.
sub units
{
	my ($self, $judged) = @_;
	my %unit = map { $_ => $_ } @{ $self->{rows} };

	foreach (grep { $_->[2] eq 't' } @{ $judged // [] })
	{
		my ($into, $from) = sort { $a <=> $b } @unit{ $_->[0], $_->[1] };

		$_ == $from and $_ = $into foreach values %unit;
	}
	return %unit;
}

# Returns [ a, b, similarity ] of the most similar rows of each two units, if they are near, most similar first; rows are in
# the order of their units.
sub edges
{
	my ($self, %unit) = @_;
	my %best;

	foreach my $x (@{ $self->{rows} })
	{
		foreach my $y (grep { $unit{$x} < $unit{$_} && $self->near($x, $_) } @{ $self->{rows} })
		{
			my $units = "$unit{$x} $unit{$y}";

			$best{$units} = max($best{$units} // 0, $self->{similarity}[$x][$y]);
		}
	}
	return sort { $b->[2] <=> $a->[2] || $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] } map { [ split(/ /, $_), $best{$_} ] } keys %best;
}

# Returns whether a row of a cluster is judged different from one of another.
sub are_parted
{
	my ($keeper, $x, $y, $judged) = @_;

	foreach (grep { $_->[2] eq 'f' } @$judged)
	{
		my ($k, $l) = @{$keeper}{ $_->[0], $_->[1] };

		return 1 if $k == $x && $l == $y || $k == $y && $l == $x;
	}
	return 0;
}

# Joins units from the most similar edge, but for units judged different; returns the edges that joined.
sub unite
{
	my ($keeper, $judged, @edges) = @_;
	my @used;

	foreach my $edge (@edges)
	{
		my ($into, $from) = sort { $a <=> $b } @{$keeper}{ @{$edge}[ 0, 1 ] };

		next if $into == $from || are_parted($keeper, $into, $from, $judged);
		push @used, $edge;
		$_ == $from and $_ = $into foreach values %$keeper;
	}
	return @used;
}

# Chains of pairs; a chain between rows judged different is cut at its least similar pair.
sub components
{
	my ($self, $judged) = @_;
	my %keeper = $self->units($judged);
	my %forest = %keeper;

	unite(\%keeper, $judged, unite(\%forest, [], $self->edges(%keeper)));
	return $self->lines_of(%keeper);
}

# Units join the first or nearest keeper's unit of which no row is judged different from theirs.
sub judged_stars
{
	my ($self, $nearest, $judged) = @_;
	my %unit = $self->units($judged);
	my @edges = $self->edges(%unit);
	my %keeper;

	foreach my $x (sort { $a <=> $b } grep { $unit{$_} == $_ } keys %unit)
	{
		my %near = map { $_->[1] == $x && $keeper{ $_->[0] } == $_->[0] ? ($_->[0] => $_->[2]) : () } @edges;

		%keeper = (%keeper, map { $_ => $x } grep { $unit{$_} == $x } keys %unit);
		my @near = grep { !are_parted(\%keeper, $x, $_, $judged) } sort { $a <=> $b } keys %near;
		my $best = choose($nearest, \%near, @near) // $x;
		$_ == $x and $_ = $best foreach values %keeper;
	}
	return $self->lines_of(%keeper);
}

1;
