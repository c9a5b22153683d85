package Model;

# A client's model: its rows as they are now, and their history.
#
# The client's row in the table soak_marker has the number of its last transaction; each
# transaction changes it.  The marker in a snapshot tells which rows the snapshot must
# have: the current rows without the changes of later transactions.  This serves
# standbys, restored servers and transactions in doubt.

use strict;
use warnings;

our $MEMORY = 400_000;    # changes remembered

sub new
{
	my ($class, @tables) = @_;

	return bless { rows => { map { $_->{name} => {} } @tables }, open => [], history => [], last => 0, changes => 0 }, $class;
}

# Row: [n, text, symbols], or undef for a row removed.
sub set
{
	my ($self, $table, $id, $row) = @_;
	my $rows = $self->{rows}{$table};

	push @{ $self->{open} }, [ $table, $id, $rows->{$id} ];
	if ($row)
	{
		$rows->{$id} = $row;
	}
	else
	{
		delete $rows->{$id};
	}
}

sub remove_all
{
	my ($self, $table) = @_;

	$self->set($table, $_, undef) foreach keys %{ $self->{rows}{$table} };
}

# Returns a position to which roll_back() can return.
sub savepoint
{
	my ($self) = @_;

	return scalar @{ $self->{open} };
}

sub roll_back
{
	my ($self, $to) = @_;

	undo($self->{rows}, pop @{ $self->{open} }) while @{ $self->{open} } > ($to // 0);
}

sub undo
{
	my ($rows, $change) = @_;
	my ($table, $id, $old) = @$change;

	if ($old)
	{
		$rows->{$table}{$id} = $old;
	}
	else
	{
		delete $rows->{$table}{$id};
	}
}

# Commits the open transaction, whose number is 'last'.
sub commit
{
	my ($self) = @_;

	$self->{last}++;
	$self->{changes} += @{ $self->{open} };
	push @{ $self->{history} }, $self->{open};
	$self->{open} = [];
	$self->{changes} -= @{ shift @{ $self->{history} } } while $self->{changes} > $MEMORY;
}

# Returns to an earlier transaction for good, like the server.
sub rewind
{
	my ($self, $to) = @_;

	return 0 if $self->{last} - $to > @{ $self->{history} };
	$self->roll_back;
	while ($self->{last} > $to)
	{
		my $changes = pop @{ $self->{history} };
		$self->{changes} -= @$changes;
		undo($self->{rows}, pop @$changes) while @$changes;
		$self->{last}--;
	}
	return 1;
}

# Removes rows that no rollback brings back: those of unlogged tables.
sub forget
{
	my ($self, $table) = @_;

	$self->{rows}{$table} = {};
	foreach my $changes (@{ $self->{history} }, $self->{open})
	{
		@$changes = grep { $_->[0] ne $table } @$changes;
	}
}

# Returns the rows of a table after transaction 'at', or undef if that is no longer known.
sub rows_at
{
	my ($self, $table, $at) = @_;
	my $back = $self->{last} - $at;
	my %before;

	return $self->{rows}{$table} if $back == 0 && !@{ $self->{open} };
	return undef if $back < 0 || $back > @{ $self->{history} };
	foreach my $changes ($self->{open}, $back ? reverse @{ $self->{history} }[ -$back .. -1 ] : ())
	{
		$before{ $_->[1] } = $_->[2] foreach grep { $_->[0] eq $table } reverse @$changes;
	}
	return $self->{rows}{$table} if !%before;
	my %rows = %{ $self->{rows}{$table} };
	foreach my $id (keys %before)
	{
		delete $rows{$id};
		$rows{$id} = $before{$id} if $before{$id};
	}
	return \%rows;
}

1;
