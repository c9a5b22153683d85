package Question;

# A random question about a table, as an SQL condition and as a condition on the model.

use strict;
use warnings;
use Kinds;

# Returns a query signature (symbols, literal); for texts that of a row.
sub target
{
	my ($view) = @_;
	my ($table, $rows) = @$view{qw(table rows)};

	if ($table->{type} eq 'body')
	{
		my @ids = keys %$rows or return;
		my $row = $rows->{ $ids[ int rand @ids ] };
		return defined $row->[1] ? ($row->[2], "to_minhash('$row->[1]', $table->{k}, $table->{b})") : ();
	}
	my $symbols = $table->{type} =~ /hash$/ && rand() < 0.01 ? '' : Kinds::random_symbols($table, $table->{k} / 10);
	return ($symbols, "'" . Kinds::text_of($table, $symbols) . "'::$table->{sql}");
}

sub new
{
	my ($view) = @_;
	my $table = $view->{table};
	my ($symbols, $literal) = target($view) or return undef;
	my ($column, $k) = @$table{qw(column k)};
	my $radius = int rand(rand() < 0.8 ? $k / 5 : $k + 1);
	my $threshold = rand() < 0.3 ? sprintf('%.3f', 0.01 + rand 0.99) : (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)[ int rand 7 ];
	my $asked = rand() < 0.2 ? "(SELECT $literal)" : $literal;
	my @ways = ("is_within($column, $asked, $radius)", "is_within($asked, $column, $radius)", "$column <@ hamming_ball($asked, $radius)");
	my @similar = ("is_similar($column, $asked, $threshold)", "is_similar($asked, $column, $threshold)", "$column <@ near($asked, $threshold)");
	my $way = int rand($table->{type} =~ /^bi/ ? 3 : 6);

	$radius = Kinds::radius($table, $threshold) if $way > 2;
	return {
		table => $table, symbols => $symbols, literal => $literal, radius => $radius,
		where => join(' AND ', (@ways, @similar)[$way], filters($view)) };
}

# Returns further conditions: the predicate of a partial index, and the owner of rows.
sub filters
{
	my ($view) = @_;
	my $client = $view->{client};

	return (
		$view->{table}{where} // (),
		$view->{only_own} ? "id % $client->{clients} = $client->{number}" : ());
}

sub always
{
	my ($view) = @_;

	return join ' AND ', 'true', filters($view);
}

# Returns whether a row can be in an answer at all.
sub listed
{
	my ($table, $row) = @_;

	return !$table->{where} || $row->[0] % 2 == 0;
}

# NULL has no distance; the distance to the empty set is that of all symbols.
sub distance
{
	my ($question, $row) = @_;

	return undef if !defined $row->[2];
	return $question->{table}{k} if $row->[2] eq '' || $question->{symbols} eq '';
	return Kinds::distance($row->[2], $question->{symbols});
}

# Returns whether this row is in the answer.
sub holds
{
	my ($question, $row) = @_;

	return 0 if !defined $row->[2] || $row->[2] eq '' || $question->{symbols} eq '' || !listed($question->{table}, $row);
	return Kinds::distance($row->[2], $question->{symbols}) <= $question->{radius};
}

# Prepares statements, whose plans outlive changes of the index.  Returns a hash from
# mode to the statement that executes it.
sub prepared
{
	my ($view, $question) = @_;
	my ($session, $table) = @$view{qw(session table)};
	my $type = $table->{type} eq 'body' ? 'minhash' : $table->{sql};
	my $where = join ' AND ', "is_within($table->{column}, \$1, \$2)", filters($view);
	my %kept;

	foreach my $mode (qw(index bitmap))
	{
		my $name = "kept_$table->{name}_$mode";
		$kept{$mode} = "EXECUTE $name($question->{literal}, $question->{radius})";
		next if $session->{prepared}{$name};
		Ask::ask_sql($view, $mode, "PREPARE $name($type, int) AS SELECT string_agg(id::text, ',' ORDER BY id) FROM $table->{name} WHERE $where");
		$session->{prepared}{$name} = 1;
	}
	return \%kept;
}

1;
