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
	if ($table->{sets})
	{
		my $symbols = rand() < 0.01 ? '' : Kinds::random_set($table);
		return ($symbols, "'" . Kinds::text_of($table, $symbols) . "'::shingles");
	}
	my $symbols = $table->{type} =~ /hash$/ && rand() < 0.01 ? '' : Kinds::random_symbols($table, $table->{k} / 10);
	return ($symbols, "'" . Kinds::text_of($table, $symbols) . "'::$table->{sql}");
}

sub new
{
	my ($view) = @_;
	my $table = $view->{table};
	my ($symbols, $literal) = target($view) or return undef;
	my $threshold = rand() < 0.3 ? sprintf('%.3f', 0.01 + rand 0.99) : (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)[ int rand 7 ];
	return about_sets($view, $symbols, $literal, $threshold) if $table->{sets};
	my ($column, $k) = @$table{qw(column k)};
	my $radius = int rand(rand() < 0.8 ? $k / 5 : $k + 1);
	my $asked = rand() < 0.2 ? "(SELECT $literal)" : $literal;
	my @ways = ("is_within($column, $asked, $radius)", "is_within($asked, $column, $radius)", "$column <@ hamming_ball($asked, $radius)");
	my @similar = ("is_similar($column, $asked, $threshold)", "is_similar($asked, $column, $threshold)", "$column <@ near($asked, $threshold)");
	my $way = int rand($table->{type} =~ /^bi/ ? 3 : 6);

	$radius = Kinds::radius($table, $threshold) if $way > 2;
	return {
		table => $table, symbols => $symbols, literal => $literal, radius => $radius,
		where => join(' AND ', (@ways, @similar)[$way], filters($view)) };
}

# Sets are alike, or one contains the other.
sub about_sets
{
	my ($view, $symbols, $literal, $threshold) = @_;
	my $table = $view->{table};
	my $asked = rand() < 0.2 ? "(SELECT $literal)" : $literal;
	my %ways = (
		similar => [ "is_similar(v, $asked, $threshold)", "is_similar($asked, v, $threshold)", "v <@ near($asked, $threshold)" ],
		holding => [ "is_contained($asked, v, $threshold)", "v <@ holding($asked, $threshold)" ],
		held_in => [ "is_contained(v, $asked, $threshold)", "v <@ held_in($asked, $threshold)" ]);
	my $way = (sort keys %ways)[ int rand 3 ];

	return {
		table => $table, symbols => $symbols, literal => $literal, way => $way, threshold => $threshold,
		where => join(' AND ', $ways{$way}[ int rand @{ $ways{$way} } ], filters($view)) };
}

# Returns whether the set of a row is in the answer.
sub set_holds
{
	my ($question, $row) = @_;
	my ($shared, $own, $asked) = Kinds::overlap($row->[2], $question->{symbols});
	my %of = (similar => $own + $asked - $shared, holding => $asked, held_in => $own);

	return $shared / $of{ $question->{way} } >= $question->{threshold};
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
	return set_holds($question, $row) if $question->{table}{sets};
	return Kinds::distance($row->[2], $question->{symbols}) <= $question->{radius};
}

# Returns the function that compares symmetrically, its bound, and the type of that.
sub bound
{
	my ($question) = @_;

	return $question->{table}{sets} ? ('is_similar', $question->{threshold}, 'float8') : ('is_within', $question->{radius}, 'int');
}

# Prepares statements, whose plans outlive changes of the index.  Returns a hash from
# mode to the statement that executes it.
sub prepared
{
	my ($view, $question) = @_;
	my ($session, $table) = @$view{qw(session table)};
	my $type = $table->{type} eq 'body' ? 'minhash' : $table->{sql};
	my ($near, $bound, $of) = bound($question);
	my $where = join ' AND ', "$near($table->{column}, \$1, \$2)", filters($view);
	my %kept;

	foreach my $mode (qw(index bitmap))
	{
		my $name = "kept_$table->{name}_$mode";
		$kept{$mode} = "EXECUTE $name($question->{literal}, $bound)";
		next if $session->{prepared}{$name};
		Ask::ask_sql($view, $mode, "PREPARE $name($type, $of) AS SELECT string_agg(id::text, ',' ORDER BY id) FROM $table->{name} WHERE $where");
		$session->{prepared}{$name} = 1;
	}
	return \%kept;
}

1;
