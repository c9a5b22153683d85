package Change;

# Steps that insert, update and delete rows, singly and in bulk, with savepoints and
# rollbacks.  Each statement changes the model in the same way as the table.

use strict;
use warnings;
use List::Util qw(shuffle);
use Time::HiRes qw(sleep);
use Kinds;

our @STEPS = (
	[ 'write', 60, \&write_some ],
	[ 'bulk', 12, \&write_much ],
	[ 'settings', 8, \&settings ],
	[ 'timeout', 3, \&short_timeout ]);

# Returns some tables that this client may write.
sub pick
{
	my ($client, $most) = @_;
	my @mine = shuffle @{ $client->{mine} };

	return @mine[ 0 .. int rand $most ];
}

sub write_some
{
	my ($client) = @_;
	my @tables = pick($client, 3);

	$client->transaction(
		\@tables,
		'ROW EXCLUSIVE',
		sub {
			foreach (1 .. 1 + int rand 6)
			{
				my $table = $tables[ int rand @tables ];
				if (rand() < 0.3)
				{
					$client->subtransaction(sub { change($client, $table) foreach 1 .. 1 + int rand 3 });
				}
				else
				{
					change($client, $table);
				}
				Ask::own($client, $table) if rand() < 0.15;
			}
			sleep(rand 0.5) if rand() < 0.1;
			return rand() < 0.15 ? 'rollback' : 'commit';
		});
}

# Inserts thousands of rows at once, so that tails are sealed and segments merged.
sub write_much
{
	my ($client) = @_;
	my ($table) = pick($client, 1);

	write_much_to($client, $table);
	Ask::one($client, $table) if rand() < 0.5;
}

sub write_much_to
{
	my ($client, $table) = @_;

	$client->transaction(
		[$table],
		'ROW EXCLUSIVE',
		sub {
			delete_many($client, $table) if keys %{ $client->{model}{rows}{ $table->{name} } } > $table->{size};
			insert_many($client, $table, 1 + int rand 5000) foreach 1 .. 1 + int rand 2;
			return rand() < 0.2 ? 'rollback' : 'commit';
		});
}

sub change
{
	my ($client, $table) = @_;
	my $rows = keys %{ $client->{model}{rows}{ $table->{name} } };
	my $full = $rows / $table->{size};
	my $way = rand();

	return insert($client, $table, 1 + int rand(rand() < 0.1 ? 200 : 20)) if $rows < 10 || $way < 0.55 - 0.2 * $full;
	return update_values($client, $table) if $way < 0.7;
	return update_counters($client, $table) if $way < 0.8;
	return remove($client, $table) if $way < 0.97;
	return delete_many($client, $table);
}

# ---- Inserts -------------------------------------------------------------------

sub new_row
{
	my ($client, $table) = @_;
	my $id = $client->{number} + $client->{clients} * ++$client->{next_id}{ $table->{name} };

	return [ $id, int rand 5, Kinds::random_value($table) ];
}

sub literal
{
	my ($table, $text) = @_;

	return (defined $text ? "'$text'" : 'NULL') . "::$table->{sql}";
}

sub values_of
{
	my ($table, @new) = @_;

	return join ', ', map { "($_->[0], $_->[1], " . literal($table, $_->[2]) . ')' } @new;
}

sub insert
{
	my ($client, $table, $n) = @_;
	my @new = map { new_row($client, $table) } 1 .. $n;
	my %done = map { split /\|/, $_, 2 } split /\n/, $client->sql(insert_sql($table, values_of($table, @new)));

	right_ones($client, $table, \@new, \%done) if $table->{guarded} && defined $table->{owner};
	foreach my $row (grep { exists $done{ $_->[0] } } @new)
	{
		my ($id, $number, $text, $symbols) = @$row;
		$symbols = Kinds::symbols_of($table, $done{$id}) if $table->{type} eq 'body' && defined $text;
		$client->{model}->set($table->{name}, $id, [ $number, $text, $symbols ]);
	}
	$client->count('rows inserted', scalar keys %done);
	$client->count('near-duplicates refused', @new - keys %done);
}

# If no other client inserts, exactly the rows predicted must be refused.
sub right_ones
{
	my ($client, $table, $new, $done) = @_;
	my $rows = $client->{model}{rows}{ $table->{name} };
	my %there = map { $_ => $rows->{$_}[2] } grep { ($rows->{$_}[2] // '') ne '' } keys %$rows;

	foreach my $row (@$new)
	{
		my ($id, undef, undef, $symbols) = @$row;
		my $any = ($symbols // '') ne '';
		my @near = $any ? grep { Kinds::distance($there{$_}, $symbols) <= Kinds::refused_within($table, $_, $id) } keys %there : ();

		$client->fail("table $table->{name} " . (@near ? 'takes' : 'refuses') . " row $id, near to (@near)") if !@near != exists $done->{$id};
		$there{$id} = $symbols if $any && !@near;
	}
	$client->count('rows whose refusal was predicted', scalar @$new);
}

# Inserts that return the ids inserted, with their signatures.
sub insert_sql
{
	my ($table, $values) = @_;
	my $guarded = $table->{guarded} // '';

	return "SELECT id || '|' FROM (VALUES $values) q (id, n, v) WHERE soak_try(id, n, v)" if $guarded eq 'trigger';
	return "INSERT INTO $table->{name} (id, n, v) VALUES $values" . ($guarded ? ' ON CONFLICT DO NOTHING' : '') . " RETURNING id || '|' || coalesce($table->{column}::text, '')";
}

sub insert_many
{
	my ($client, $table, $n) = @_;
	my $path = "$ENV{DIR}/client-$client->{number}.copy";

	return insert($client, $table, $n % 200 + 1) if $table->{guarded} || $table->{type} eq 'body';
	$n = $n % 1500 + 1 if $table->{sets} || $table->{k} > 128;
	open(my $file, '>', $path) or die "$path: $!";
	foreach (1 .. $n)
	{
		my ($id, $number, $text, $symbols) = @{ new_row($client, $table) };
		print $file join("\t", $id, $number, $text // '\\N'), "\n";
		$client->{model}->set($table->{name}, $id, [ $number, $text, $symbols ]);
	}
	close($file);
	$client->sql("\\copy $table->{name} (id, n, v) from '$path'");
	$client->count('rows inserted', $n);
}

# ---- Updates and deletes -------------------------------------------------------

# Returns some of this client's rows.
sub victims
{
	my ($client, $table, $n) = @_;
	my $rows = $client->{model}{rows}{ $table->{name} };
	my @ids = sort { $a <=> $b } keys %$rows;

	return map { $ids[ int rand @ids ] } 1 .. (@ids ? $n : 0);
}

sub update_values
{
	my ($client, $table) = @_;
	my %ids = map { $_ => 1 } victims($client, $table, 1 + int rand 10);

	return if ($table->{guarded} // 'group') ne 'group';
	foreach my $id (sort { $a <=> $b } keys %ids)
	{
		my ($text, $symbols) = Kinds::random_value($table);
		my $old = $client->{model}{rows}{ $table->{name} }{$id};
		my $signature = $client->sql("UPDATE $table->{name} SET v = " . literal($table, $text) . " WHERE id = $id RETURNING $table->{column}");

		$symbols = Kinds::symbols_of($table, $signature) if $table->{type} eq 'body' && defined $text;
		$client->{model}->set($table->{name}, $id, [ $old->[0], $text, $symbols ]);
	}
	$client->count('rows updated', scalar keys %ids);
}

# Keeps the signature: a HOT update, or a row that moves between partitions.  Some guarded rows are updated again and again.
sub update_counters
{
	my ($client, $table) = @_;
	my %ids = map { $_ => 1 } victims($client, $table, 1 + int rand 30);

	%ids = ((sort { $a <=> $b } keys %{ $client->{model}{rows}{ $table->{name} } })[0] => 1) if %ids && $table->{guarded} && rand() < 0.7;
	return if !%ids;
	$client->sql("UPDATE $table->{name} SET n = (n + 1) % 5 WHERE id IN (" . join(',', sort keys %ids) . ')');
	foreach my $id (keys %ids)
	{
		my $old = $client->{model}{rows}{ $table->{name} }{$id};
		$client->{model}->set($table->{name}, $id, [ ($old->[0] + 1) % 5, @$old[ 1, 2 ] ]);
	}
	$client->count('rows updated', scalar keys %ids);
}

sub remove
{
	my ($client, $table) = @_;
	my %ids = map { $_ => 1 } victims($client, $table, 1 + int rand 40);

	return if !%ids;
	$client->sql("DELETE FROM $table->{name} WHERE id IN (" . join(',', sort keys %ids) . ')');
	$client->{model}->set($table->{name}, $_, undef) foreach keys %ids;
	$client->count('rows deleted', scalar keys %ids);
}

# Deletes all rows below a number, or most.
sub delete_many
{
	my ($client, $table) = @_;
	my $share = (0.3, 0.5, 0.9, 1)[ int rand 4 ];
	my @ids = sort { $a <=> $b } keys %{ $client->{model}{rows}{ $table->{name} } };
	my $last = @ids ? $ids[ $#ids * $share ] : return;

	$client->sql("DELETE FROM $table->{name} WHERE id <= $last AND id % $client->{clients} = $client->{number}");
	$client->{model}->set($table->{name}, $_, undef) foreach grep { $_ <= $last } @ids;
	$client->count('rows deleted', scalar grep { $_ <= $last } @ids);
}

# ---- Settings ------------------------------------------------------------------

sub settings
{
	my ($client, $session) = @_;
	my %may_be = (
		'neardup.background' => [qw(on off)],
		'neardup.cache_size' => [qw(0 64kB 1MB 64MB)],
		'neardup.search' => [qw(auto auto auto merge choose probe scan)],
		'work_mem' => [qw(64kB 1MB 4MB)],
		'maintenance_work_mem' => [qw(1MB 4MB 64MB)],
		'max_parallel_workers_per_gather' => [qw(0 0 2)],
		'max_parallel_maintenance_workers' => [qw(0 0 2)],
		'min_parallel_table_scan_size' => [qw(0 8MB)],
		'min_parallel_index_scan_size' => [qw(0 512kB)],
		'plan_cache_mode' => [qw(auto force_generic_plan force_custom_plan)],
		'wal_skip_threshold' => [qw(0 2MB)]);

	foreach my $name (sort keys %may_be)
	{
		my @values = @{ $may_be{$name} };
		next if rand() < 0.5;
		$client->sql("SET $name = '$values[ int rand @values ]'", $session);
	}
}

# Cancels statements at random moments.
sub short_timeout
{
	my ($client) = @_;
	my $ms = 1 + int rand(rand() < 0.5 ? 10 : 200);
	my @doing = (\&write_some, \&write_much, \&Ddl::vacuum, \&Ddl::reindex, \&Ask::random);

	$client->sql("SET statement_timeout = $ms");
	my $done = eval { $doing[ int rand @doing ]->($client); 1 };
	my $error = $@;
	die $error if !$done && !(ref $error && $error->{refused});
	$client->give_up if !$done;
	$client->calm;
	$client->count("error $error->{refused}") if !$done;
}

1;
