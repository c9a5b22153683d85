package Ddl;

# Steps that change the storage of tables and indexes but not their contents, or that
# roll the change back, while other clients work.

use strict;
use warnings;
use List::Util qw(shuffle);
use Kinds;

our @STEPS = (
	[ 'vacuum', 14, \&vacuum ],
	[ 'vacuum full', 2, \&vacuum_full ],
	[ 'analyze', 2, \&analyze ],
	[ 'check', 4, \&check ],
	[ 'reindex', 3, \&reindex ],
	[ 'reindex concurrently', 3, \&reindex_concurrently ],
	[ 'create concurrently', 3, \&create_concurrently ],
	[ 'move', 3, \&move ],
	[ 'move and back', 5, \&move_and_back ],
	[ 'back and again', 6, \&back_and_again ],
	[ 'truncate and back', 3, \&truncate_and_back ],
	[ 'truncate own', 3, \&truncate_own ],
	[ 'refill', 2, \&refill ],
	[ 'rewrite', 2, \&rewrite ],
	[ 'cluster', 2, \&cluster ],
	[ 'new index', 3, \&new_index ],
	[ 'partitions', 2, \&partitions ],
	[ 'stop workers', 2, \&stop_workers ],
	[ 'checkpoint', 1, \&checkpoint ]);

sub any_table
{
	my ($client, $which) = @_;
	my @tables = grep { !$which || $which->($_) } @{ $client->{mine} };

	return $tables[ int rand @tables ];
}

sub not_parted { return !$_[0]{parts} }

# Only one client at a time changes the storage of a table; another skips the step.
sub alone
{
	my ($client, $table, $doing) = @_;

	return $client->count('ddl that was not alone') if $client->sql("SELECT pg_try_advisory_lock(77, $table->{number})") ne 't';
	$doing->();
	$client->sql("SELECT pg_advisory_unlock(77, $table->{number})");
}

# Returns a table's neardup indexes, or all that are invalid, with those of partitions.
sub indexes
{
	my ($client, $table, $invalid) = @_;
	my $which = $invalid ? 'NOT indisvalid' : q{indisvalid AND relam = (SELECT oid FROM pg_am WHERE amname = 'neardup')};

	return split /\n/, $client->sql("SELECT indexrelid::regclass FROM pg_index JOIN pg_class ON oid = indexrelid WHERE $which AND relkind = 'i' "
			. "AND indrelid IN (SELECT '$table->{name}'::regclass UNION SELECT relid FROM pg_partition_tree('$table->{name}')) ORDER BY 1");
}

sub an_index
{
	my ($client, $table) = @_;
	my @indexes = indexes($client, $table);

	$client->fail("table $table->{name} has no index") if !@indexes;
	return $indexes[ int rand @indexes ];
}

# Builds a neardup index by a statement, and then the B-tree on the same rows again: answers of standbys are compared
# with it (Ask::control_lacks).
sub build
{
	my ($client, $table, $statement, $how) = @_;

	$client->sql($statement);
	$client->sql("REINDEX INDEX $how $table->{name}_id") if !$table->{persistence};
}

# ---- Outside of transactions ---------------------------------------------------

sub vacuum
{
	my ($client) = @_;
	my $table = any_table($client);
	my @may_be = ('FREEZE', 'TRUNCATE off', 'INDEX_CLEANUP on', 'INDEX_CLEANUP off', 'PARALLEL 2', 'PARALLEL 0', 'DISABLE_PAGE_SKIPPING', 'SKIP_LOCKED', 'ANALYZE');
	my @options = rand() < 0.5 ? () : (shuffle @may_be)[ 0 .. int rand 2 ];

	@options = () if "@options" =~ /INDEX_CLEANUP.*INDEX_CLEANUP|PARALLEL.*PARALLEL/;
	$client->sql('VACUUM ' . (@options ? '(' . join(', ', @options) . ') ' : '') . $table->{name});
	Ask::one($client, $table) if rand() < 0.5;
}

sub vacuum_full
{
	my ($client) = @_;
	my $table = any_table($client);

	alone($client, $table, sub { $client->sql("VACUUM FULL $table->{name}") });
	Ask::one($client, $table);
}

sub analyze
{
	my ($client) = @_;

	$client->sql('ANALYZE ' . any_table($client)->{name});
}

# Checks indexes while other clients work.
sub check
{
	my ($client) = @_;
	my $table = any_table($client);
	my $index = an_index($client, $table);

	$client->sql("SELECT neardup_check('$index')");
	$client->count('indexes checked beside load');
}

sub reindex
{
	my ($client) = @_;
	my $table = any_table($client);

	alone(
		$client, $table,
		sub {
			my $index = an_index($client, $table);
			build($client, $table, rand() < 0.7 ? "REINDEX INDEX $index" : "REINDEX TABLE $table->{name}", '');
		});
	Ask::one($client, $table);
}

sub reindex_concurrently
{
	my ($client) = @_;
	my $table = any_table($client, sub { !$_[0]{guarded} && $_[0]{persistence} ne 'TEMP' });

	alone(
		$client, $table,
		sub {
			drop_invalid($client, $table);
			my $index = an_index($client, $table);
			build($client, $table, "REINDEX INDEX CONCURRENTLY $index", 'CONCURRENTLY');
		});
	Ask::one($client, $table);
}

# Drops the invalid index that a cancelled concurrent build leaves.
sub drop_invalid
{
	my ($client, $table) = @_;

	$client->sql("DROP INDEX IF EXISTS $_") foreach indexes($client, $table, 1);
}

# Creates and drops a second index while other clients work.
sub create_concurrently
{
	my ($client) = @_;
	my $table = any_table($client, \&not_parted);

	alone(
		$client, $table,
		sub {
			my $how = $table->{persistence} eq 'TEMP' ? '' : 'CONCURRENTLY';
			drop_invalid($client, $table);
			if ($client->sql("SELECT to_regclass('$table->{name}_x') IS NULL") eq 't')
			{
				build($client, $table, Kinds::index_sql($table, "$table->{name}_x", $how, rand() < 0.3 ? 'groups = ' . (4 + int rand 30) : undef), $how);
			}
			else
			{
				$client->sql('DROP INDEX ' . (rand() < 0.5 ? 'CONCURRENTLY ' : '') . "$table->{name}_x");
			}
		});
	Ask::one($client, $table);
}

# ---- In transactions -----------------------------------------------------------

# Runs code with an exclusive lock on a table, and commits or rolls back.
sub exclusively
{
	my ($client, $table, $back, $doing) = @_;

	alone(
		$client, $table,
		sub {
			$client->transaction(
				[$table],
				'ACCESS EXCLUSIVE',
				sub {
					$client->sql('SET LOCAL neardup.background = ' . (rand() < 0.7 ? 'off' : 'on'));
					$doing->();
					Ask::own($client, $table);
					return rand() < $back ? 'rollback' : 'commit';
				});
		});
	Change::write_much_to($client, $table) if rand() < 0.5;
	Ask::one($client, $table);
}

sub some_rows
{
	my ($client, $table) = @_;
	my $way = rand();

	return if $way < 0.2;
	return Change::change($client, $table) if $way < 0.5;
	Change::insert_many($client, $table, 1 + int rand 6000);
}

sub move_index
{
	my ($client, $table) = @_;
	my $index = an_index($client, $table);

	$client->sql("ALTER INDEX $index SET TABLESPACE " . ('pg_default', 'soak1', 'soak2')[ int rand 3 ]);
	$client->count('indexes moved');
}

sub move
{
	my ($client) = @_;
	my $table = any_table($client);
	my $whole = not_parted($table) && rand() < 0.4;

	exclusively(
		$client, $table, 0.1,
		sub {
			if ($whole)
			{
				$client->sql("ALTER TABLE $table->{name} SET TABLESPACE " . ('pg_default', 'soak1', 'soak2')[ int rand 3 ]);
				$client->count('tables moved');
			}
			else
			{
				move_index($client, $table);
			}
		});
}

# Moves an index, fills it, searches it, and rolls the move back.
sub move_and_back
{
	my ($client) = @_;
	my $table = any_table($client);

	exclusively(
		$client, $table, 0.6,
		sub {
			some_rows($client, $table);
			foreach (1 .. 1 + int rand 2)
			{
				$client->subtransaction(
					sub {
						move_index($client, $table);
						some_rows($client, $table);
						Ask::own($client, $table);
					});
			}
			move_index($client, $table) if rand() < 0.5;
			some_rows($client, $table);
		});
}

# Statements that give an index another file within a transaction.
sub another_file
{
	my ($client, $table) = @_;
	my $way = rand();

	return move_index($client, $table) if $way < 0.5;
	return truncate_table($client, $table) if $way < 0.7;
	return $client->sql("CLUSTER $table->{name} USING $table->{name}_id") if $way < 0.8 && not_parted($table);
	my $index = an_index($client, $table);
	return $client->sql("REINDEX INDEX $index");
}

# An index gets another file, is filled and searched, and gets its old file back, where
# the same happens: what the session caches for one file is wrong for the other.
sub back_and_again
{
	my ($client) = @_;
	my $table = any_table($client, sub { !$_[0]{guarded} && $_[0]{type} ne 'body' });
	my $rows = 4200 + int rand 4000;
	my $doing = sub {
		another_file($client, $table);
		Change::insert_many($client, $table, $rows);
		Ask::own($client, $table) foreach 1 .. 2;
	};

	exclusively(
		$client, $table, 1,
		sub {
			$client->sql('SET LOCAL neardup.background = off');
			$doing->();
		});
	$client->transaction(
		[$table],
		'ROW EXCLUSIVE',
		sub {
			$client->sql('SET LOCAL neardup.background = off');
			Change::insert_many($client, $table, $rows);
			return 'commit';
		});
	Ask::one($client, $table) foreach 1 .. 2;
}

sub truncate_table
{
	my ($client, $table) = @_;

	$client->sql("TRUNCATE $table->{name}");
	$client->{model}->remove_all($table->{name});
}

# Always rolls back on a shared table, whose rows belong to several clients.
sub truncate_and_back
{
	my ($client) = @_;
	my $table = any_table($client);

	exclusively(
		$client, $table, 1,
		sub {
			some_rows($client, $table);
			$client->subtransaction(sub { truncate_table($client, $table); some_rows($client, $table) });
			Ask::own($client, $table);
			truncate_table($client, $table);
			some_rows($client, $table);
		});
}

sub truncate_own
{
	my ($client) = @_;
	my $table = any_table($client, sub { defined $_[0]{owner} || $_[0]{persistence} eq 'TEMP' });

	exclusively(
		$client, $table, 0.3,
		sub {
			some_rows($client, $table) if rand() < 0.3;
			$client->subtransaction(sub { truncate_table($client, $table); some_rows($client, $table) });
			truncate_table($client, $table) if rand() < 0.5;
			some_rows($client, $table);
		});
}

# Removes the rows and inserts them again in another order.
sub refill
{
	my ($client) = @_;
	my $table = any_table($client);

	exclusively(
		$client, $table, 0.2,
		sub {
			$client->sql("CREATE TEMP TABLE kept ON COMMIT DROP AS SELECT id, n, v FROM $table->{name}");
			$client->sql("TRUNCATE $table->{name}");
			$client->sql("INSERT INTO $table->{name} (id, n, v) SELECT * FROM kept ORDER BY " . ('random()', 'id', 'n')[ int rand 3 ]);
		});
}

sub rewrite
{
	my ($client) = @_;
	# A trigger that names columns keeps their types.
	my $table = any_table($client, sub { not_parted(@_) && ($_[0]{guarded} // '') ne 'group' });
	my @ways = (
		[ 'ALTER n TYPE bigint' ],
		[ 'ALTER n TYPE int' ],
		[ 'ADD COLUMN x float8 DEFAULT random()', 'DROP COLUMN x' ],
		[ 'ALTER id TYPE bigint USING id + 0, ALTER n TYPE int USING n + 0' ],
		[ 'SET UNLOGGED', 'SET LOGGED' ]);
	my @way = @{ $ways[ int rand($table->{persistence} ? 4 : 5) ] };

	exclusively($client, $table, 0.3, sub { $client->sql("ALTER TABLE $table->{name} $_") foreach @way });
}

sub cluster
{
	my ($client) = @_;
	my $table = any_table($client, \&not_parted);

	alone($client, $table, sub { $client->sql("CLUSTER $table->{name} USING $table->{name}_id") });
	Ask::one($client, $table);
}

# A guard lets no row in without its index.
sub new_index
{
	my ($client) = @_;
	my $table = any_table($client, sub { ($_[0]{guarded} // 'constraint') eq 'constraint' });

	exclusively(
		$client, $table, 0.4,
		sub {
			$client->sql("DROP INDEX $table->{name}_v");
			some_rows($client, $table);
			$client->sql(Kinds::index_sql($table, undef, '', rand() < 0.3 ? 'groups = ' . (4 + int rand 30) : undef));
		});
}

sub partitions
{
	my ($client) = @_;
	my $table = any_table($client, sub { $_[0]{parts} });
	my $one = int rand 3;

	exclusively(
		$client, $table, 0.3,
		sub {
			$client->sql("ALTER TABLE $table->{name} DETACH PARTITION $table->{name}_$one");
			$client->sql("ALTER TABLE $table->{name} ATTACH PARTITION $table->{name}_$one FOR VALUES IN ($one)");
		});
}

# ---- Background workers --------------------------------------------------------

sub stop_workers
{
	my ($client) = @_;
	my $how = rand() < 0.5 ? 'pg_cancel_backend' : 'pg_terminate_backend';
	my $n = $client->sql("SELECT count($how(pid)) FROM pg_stat_activity WHERE backend_type ~ '^(neardup|autovacuum worker)'");

	$client->count('workers stopped', $n);
}

sub checkpoint
{
	my ($client) = @_;

	$client->sql('CHECKPOINT');
}

1;
