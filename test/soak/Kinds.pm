package Kinds;

# The tables and their values.
#
# Each table has the columns (id bigint, n int, v TYPE).  A client owns the ids that are
# its number modulo the number of clients, and writes no others.  n serves as a counter, a
# partition key and a predicate.  A value is a text, as SQL reads and prints it, and its
# symbols: a string of k characters, '' for the signature of the empty set, undef for NULL.
# The symbols of a set are its elements, in ascending order and with commas between them.

use strict;
use warnings;

our $CENTRES = 60;

my @words = map { my $w = $_; map { $w . $_ } qw(an or ta en si mu) } qw(bar cel dor fen gal hin jos kel lum nor);

# size: rows of each client, roughly.  order: has a distance operator.  guarded: what
# refuses or groups near-duplicates.  parts: partitioned.  where: the predicate of a partial index.
# sets: elements of a set, roughly.  column: the expression indexed, if not v.  keyed: has keys beside it, one of them the
# client, by which clients ask for their own rows.
our @TABLES = (
	{ name => 'hash64', type => 'bigint', k => 64, b => 1, size => 5000 },
	{ name => 'bits', type => 'bit', sql => 'bit(96)', k => 96, b => 1, size => 2500 },
	{ name => 'mini', type => 'minhash', k => 512, b => 1, size => 1500, order => 1 },
	{ name => 'wide', type => 'minhash', k => 64, b => 8, size => 2500, order => 1 },
	{ name => 'keyed', type => 'minhash', k => 128, b => 1, size => 2500, order => 1, keyed => 1 },
	{ name => 'quad', type => 'minhash', k => 40, b => 4, size => 4000, order => 1, parts => 1 },
	{ name => 'sim', type => 'simhash', k => 128, b => 1, size => 3000, order => 1 },
	{ name => 'sets', type => 'shingles', sets => 40, size => 2500, order => 1, keyed => 1 },
	{ name => 'long_sets', type => 'shingles', sets => 400, size => 200, order => 1, parts => 1 },
	{ name => 'partial', type => 'bigint', k => 64, b => 1, size => 5000, where => 'n % 2 = 0' },
	{ name => 'expr', type => 'body', sql => 'text', k => 128, b => 2, size => 800, order => 1, column => 'to_minhash(v, 128, 2)' },
	{ name => 'unlog', type => 'bigint', k => 64, b => 1, size => 3000, persistence => 'UNLOGGED' },
	{ name => 'passing', type => 'bigint', k => 64, b => 1, size => 5000, persistence => 'TEMP' },
	{ name => 'excl', type => 'minhash', k => 128, b => 1, size => 500, order => 1, guarded => 'constraint', threshold => 0.8 },
	{ name => 'guard', type => 'bigint', k => 64, b => 1, size => 500, guarded => 'trigger', threshold => 0.93 },
	{ name => 'grouped', type => 'bigint', k => 64, b => 1, size => 500, guarded => 'group', threshold => 0.93 });

# Each client has its own table of these kinds, and knows all its rows.
our @OWN = (
	{ name => 'own', type => 'bigint', k => 64, b => 1, size => 5000 },
	{ name => 'sole', type => 'minhash', k => 128, b => 1, size => 300, order => 1, guarded => 'constraint', threshold => 0.8, other => 0.9 });

sub tables
{
	my ($clients) = @_;
	my @all = map { { %$_ } } @TABLES;
	my $number = 0;

	foreach my $owner (0 .. $clients - 1)
	{
		push @all, map { { %$_, name => "$_->{name}_$owner", owner => $owner } } @OWN;
	}
	foreach my $table (@all)
	{
		$table->{column} //= 'v';
		$table->{keys} = $table->{keyed} ? "n, (id % $clients), " : '';
		$table->{sql} //= $table->{type};
		$table->{persistence} //= '';
		$table->{number} = ++$number;
	}
	return @all;
}

# Returns the statements that create a table and its index.
sub create
{
	my ($table) = @_;
	my $name = $table->{name};
	my @sql;

	push @sql, "CREATE $table->{persistence} TABLE $name (id bigint, n int, v $table->{sql})" . ($table->{parts} ? ' PARTITION BY LIST (n)' : '');
	if ($table->{parts})
	{
		push @sql, "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES IN ($_)" foreach 0 .. 2;
		push @sql, "CREATE TABLE ${name}_rest PARTITION OF $name DEFAULT";
	}
	push @sql, ($table->{guarded} // '') eq 'group' ? "ALTER TABLE $name ADD CONSTRAINT ${name}_id PRIMARY KEY (id), ADD same_as bigint" : "CREATE INDEX ${name}_id ON $name (id)";
	# An update of n gives a row a new entry in every index, though the guard does not look at it.
	push @sql, "CREATE INDEX ${name}_n ON $name (n)" if $table->{guarded};
	push @sql, index_sql($table);
	push @sql, "ALTER TABLE $name ADD CONSTRAINT ${name}_near EXCLUDE USING neardup (near(v, " . ball_sql($table) . ') WITH &&)'
		if ($table->{guarded} // '') eq 'constraint';
	push @sql, "CREATE CONSTRAINT TRIGGER ${name}_near AFTER INSERT OR UPDATE ON $name FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=v', 'threshold=$table->{threshold}')"
		if ($table->{guarded} // '') eq 'trigger';
	push @sql, "SELECT neardup_guard('$name', 'v', $table->{threshold}, 'group', group_column => 'same_as')"
		if ($table->{guarded} // '') eq 'group';
	return @sql;
}

# If there is a second threshold, two rows in three have it.
sub ball_sql
{
	my ($table) = @_;

	return $table->{other} ? "CASE id % 3 WHEN 0 THEN $table->{threshold} ELSE $table->{other} END::float8" : $table->{threshold};
}

# Returns the largest number of differing symbols at which two rows conflict.
sub refused_within
{
	my ($table, $id, $other) = @_;
	my $strict = $table->{other} && ($id % 3 || $other % 3);

	return radius($table, $strict ? $table->{other} : $table->{threshold});
}

sub index_sql
{
	my ($table, $name, $how, $with) = @_;

	return sprintf('CREATE INDEX %s %s ON %s USING neardup (%s(%s))%s%s', $how // '', $name // "$table->{name}_v", $table->{name}, $table->{keys}, $table->{column},
		$with ? " WITH ($with)" : '', $table->{where} ? " WHERE $table->{where}" : '');
}

# ---- Values -------------------------------------------------------------------

# Returns one of the centres around which a table's values lie, the same for each client.
sub centre
{
	my ($table, $i) = @_;

	return $table->{centres}[$i] //= do {
		my $seed = $i * 7919 + $table->{k} * 31 + $table->{b};
		join '', map { $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; symbol($table->{b}, $seed >> 12) } 1 .. $table->{k};
	};
}

sub symbol
{
	my ($b, $value) = @_;

	return $b == 1 ? $value & 1 : chr($value & ((1 << $b) - 1));
}

# Returns symbols near a centre, or random ones.
sub random_symbols
{
	my ($table, $most) = @_;
	my ($k, $b) = @$table{qw(k b)};

	return join '', map { symbol($b, int rand 65536) } 1 .. $k if rand() < 0.1;
	my $symbols = centre($table, int rand $CENTRES);
	foreach (1 .. int rand(1 + ($most // $k / 6)))
	{
		substr($symbols, int rand $k, 1) = symbol($b, int rand 65536);
	}
	return $symbols;
}

# Returns the elements of a set near a centre, or of a part of one.
#
# Few elements are in most sets, and most are in few, as in texts.
sub random_set
{
	my ($table) = @_;
	my $seed = int rand $CENTRES;
	my %element;

	foreach my $i (1 .. $table->{sets} * (0.5 + $seed / $CENTRES))
	{
		$seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
		my $rank = exp(($seed >> 8) / 0x7fffff * log 1e6);
		$element{ int $rank } = 1;
	}
	my $edited = rand() < 0.1 ? 1 : rand 0.3;
	delete @element{ grep { rand() < $edited } keys %element } if rand() < 0.7;
	$element{ int rand 1e6 } = 1 foreach 1 .. rand() * $edited * $table->{sets};
	return join ',', sort { $a <=> $b } keys %element;
}

# Returns a new value for a table: its text and its symbols.
sub random_value
{
	my ($table) = @_;

	return (undef, undef) if rand() < 0.02;
	return (random_body(), undef) if $table->{type} eq 'body';
	return (text_of($table, ''), '') if $table->{type} =~ /hash$|shingles/ && rand() < 0.01;
	my $symbols = $table->{sets} ? random_set($table) : random_symbols($table);
	return (text_of($table, $symbols), $symbols);
}

# Returns a text of one of a few lengths; many of them are similar.
sub random_body
{
	return '' if rand() < 0.02;
	my $kind = int rand 30;
	my @text = map { $words[($kind * 7 + $_ * $_ * 3 + $kind * $_) % @words] } 1 .. 60;
	$text[int rand @text] = $words[int rand @words] foreach 1 .. int rand 8;
	return join ' ', @text;
}

sub text_of
{
	my ($table, $symbols) = @_;
	my ($type, $k, $b) = @$table{qw(type k b)};

	return $symbols if $type eq 'bit';
	return "1/hashes/{$symbols}" if $table->{sets};
	return unpack('q>', pack('B64', $symbols)) if $type eq 'bigint';
	my $bits = $b == 1 ? $symbols : join '', map { sprintf "%0${b}b", ord } split //, $symbols;
	my $hex = unpack('H*', pack('B*', $bits));
	return "1/foreign/$k/$hex" if $type eq 'simhash';
	return "1/foreign/${k}x$b/" . ($symbols eq '' ? '0' : '?') . "/$hex";
}

# Returns the symbols of a signature that the server printed.
sub symbols_of
{
	my ($table, $text) = @_;
	my $b = $table->{b};
	my ($hex) = $text =~ m{/([0-9a-f]*)$};
	my $bits = unpack('B*', pack('H*', $hex));

	return $bits if $b == 1;
	return join '', map { chr oct "0b$_" } $bits =~ /(.{$b})/g;
}

# Returns how many elements two sets share, and the numbers of their elements.
sub overlap
{
	my ($x, $y) = @_;
	my @y = split /,/, $y;
	my %y = map { $_ => 1 } @y;
	my @x = split /,/, $x;

	return (scalar(grep { $y{$_} } @x), scalar @x, scalar @y);
}

sub distance
{
	my ($x, $y) = @_;

	return ($x ^ $y) =~ tr/\0//c;
}

# Returns the similarity of d differing symbols, by the formula of the manual.
sub similarity
{
	my ($table, $d) = @_;
	my ($k, $b) = @$table{qw(k b)};

	return ($k - $d) / $k if $table->{type} =~ /^(simhash|bigint)$/;
	return ($k * (2**$b - 1) - $d * 2**$b) / ($k * (2**$b - 1));
}

# Returns the largest number of differing symbols that reaches a threshold.
sub radius
{
	my ($table, $threshold) = @_;

	return $table->{radius}{$threshold} //= do {
		my $d = -1;
		$d++ while $d < $table->{k} && similarity($table, $d + 1) >= $threshold;
		$d;
	};
}

1;
