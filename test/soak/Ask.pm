package Ask;

# Steps that query.  Each question is answered by a sequential scan, an index scan and a
# bitmap scan in one snapshot.  The answers must agree, and for the client's own rows
# they must be those of the model for this snapshot.

use strict;
use warnings;
use List::Util qw(min shuffle);
use Time::HiRes qw(sleep time);
use Kinds;
use Question;

our @STEPS = (
	[ 'ask', 60, \&random ],
	[ 'ask the standby', 30, \&standby ],
	[ 'long snapshot', 4, \&long_snapshot ],
	[ 'old snapshot', 0.5, \&old_snapshot ],
	[ 'cursor', 10, \&cursor ],
	[ 'join', 8, \&join_tables ],
	[ 'all rows', 4, \&all_rows_of_one ],
	[ 'no near-duplicates', 3, \&no_pairs ]);

our %MODES = (
	seq => [qw(on off off on)],
	index => [qw(off on off off)],
	bitmap => [qw(off off on on)]);

# Returns a query string that sets the kind of scan and asks the question.
sub in_mode
{
	my ($mode, $sql) = @_;
	my @may = @{ $MODES{$mode} };

	return "SET LOCAL enable_seqscan = $may[0] \\; SET LOCAL enable_indexscan = $may[1] \\; "
		. "SET LOCAL enable_bitmapscan = $may[2] \\; SET LOCAL enable_sort = $may[3] \\; $sql";
}

# The context of a question: session, table, and expected rows.
sub view
{
	my ($client, $session, $table, $rows) = @_;

	return { client => $client, session => $session, table => $table, rows => $rows };
}

sub ask_sql
{
	my ($view, $mode, $sql) = @_;

	return $view->{client}->sql(in_mode($mode, $sql), $view->{session});
}

# Opens a snapshot that sees all of a table (snapshots before a rewrite do not).
sub snapshot
{
	my ($client, $session, $table, $doing) = @_;

	$client->sql('BEGIN ISOLATION LEVEL REPEATABLE READ', $session);
	$client->sql("LOCK TABLE $table->{name} IN ACCESS SHARE MODE", $session);
	my $rows = $client->{model}->rows_at($table->{name}, $client->marker($session));
	if ($rows)
	{
		$doing->(view($client, $session, $table, $rows));
	}
	else
	{
		$client->count('snapshots too old for the model');
	}
	$client->sql('COMMIT', $session);
}

# ---- Steps ---------------------------------------------------------------------

sub random
{
	my ($client) = @_;
	my @tables = @{ $client->{tables} };

	one($client, $tables[ int rand @tables ]);
}

sub one
{
	my ($client, $table) = @_;

	snapshot($client, $client->{session}, $table, sub { questions($_[0], 1 + int rand 4) });
}

# Asks within a transaction that has changed the table.
sub own
{
	my ($client, $table) = @_;
	my $view = view($client, $client->{session}, $table, $client->{model}{rows}{ $table->{name} });

	$view->{only_own} = !$client->{repeatable};
	questions($view, 1);
}

sub questions
{
	my ($view, $n) = @_;

	foreach (1 .. $n)
	{
		my $way = rand();
		if ($way < 0.65 || !$view->{table}{order})
		{
			within($view);
		}
		else
		{
			in_order($view);
		}
	}
}

sub long_snapshot
{
	my ($client) = @_;
	my @tables = @{ $client->{tables} };
	my $until = time + 1 + rand 4;

	snapshot(
		$client,
		$client->{session},
		$tables[ int rand @tables ],
		sub {
			my ($view) = @_;
			while (time < $until)
			{
				questions($view, 1);
				sleep(0.3);
			}
		});
}

# A snapshot that may be too old must give an error or all rows.  A sequential scan that
# must fail gives nothing to compare with, so only the index answers.
sub old_snapshot
{
	my ($client) = @_;

	return if $client->sql("SELECT coalesce(current_setting('old_snapshot_threshold', true), '-1')") eq '-1';
	snapshot(
		$client,
		$client->{session},
		(Change::pick($client, 1))[0],
		sub {
			my ($view) = @_;
			sleep(62 + rand 30);
			foreach (1 .. 5)
			{
				my $question = Question::new($view) // return;
				my $mode = (qw(index bitmap))[ int rand 2 ];
				own_rows($view, $question,
					split /,/, ask_sql($view, $mode, "SELECT string_agg(id::text, ',' ORDER BY id) FROM $view->{table}{name} WHERE $question->{where}"));
				$client->count('answers to old snapshots');
			}
		});
}

sub standby
{
	my ($client) = @_;
	my ($port) = $client->where('standby');
	my @tables = grep { !$_->{persistence} } @{ $client->{tables} };

	return if !$port;
	my $done = eval {
		$client->{standby} = Session->new(host => $ENV{DIR}, port => $port, name => 's', log => $client->{log}, errors => "$ENV{DIR}/psql.log")
			if !$client->{standby} || !$client->{standby}->alive || $client->{standby_port} != $port;
		$client->{standby_port} = $port;
		die { lost => 1 } if !$client->{standby};
		Change::settings($client, $client->{standby}) if rand() < 0.1;
		snapshot(
			$client,
			$client->{standby},
			$tables[ int rand @tables ],
			sub {
				questions($_[0], 1);
				sleep(rand 3) if rand() < 0.3;
				questions($_[0], int rand 4);
			});
		1;
	};
	return if $done;
	my $error = $@;
	die $error if !ref $error;
	die { %$error, fail => "on the standby: $error->{fail}" } if $error->{fail};
	$client->{standby}->close if $client->{standby};
	delete $client->{standby};
	$client->count($error->{lost} ? 'standby sessions lost' : "error on the standby $error->{refused}");
}

# ---- Questions -----------------------------------------------------------------

sub within
{
	my ($view) = @_;
	my $question = Question::new($view) // return;
	my $symmetric = ($question->{way} // 'similar') eq 'similar';
	my $kept = !$view->{only_own} && $symmetric && rand() < 0.3 ? Question::prepared($view, $question) : undef;
	my $ids = "string_agg(id::text, ',' ORDER BY id)";
	my $sql = "SELECT $ids FROM $view->{table}{name} WHERE $question->{where}";
	my %answers = map { $_ => ask_sql($view, $_, $_ ne 'seq' && $kept ? $kept->{$_} : $sql) } shuffle qw(seq index bitmap);

	same($view, $question, $answers{seq}, $answers{$_}, $_) foreach qw(index bitmap);
	own_rows($view, $question, split /,/, $answers{seq});
	look_at_plan($view, $sql) if rand() < 0.05;
}

# Counts whether the plan uses the index; otherwise nothing is tested.
sub look_at_plan
{
	my ($view, $sql) = @_;
	my $mode = (qw(index bitmap))[ int rand 2 ];
	my $plan = ask_sql($view, $mode, "EXPLAIN (COSTS OFF) $sql");

	$view->{client}->count($plan =~ /Index Scan/ && $plan !~ /Seq Scan/ ? 'plans with the index' : 'plans without the index');
}

# Checks that two scans returned the same.
sub same
{
	my ($view, $question, $right, $answer, $mode) = @_;

	$view->{client}->count("answers: $view->{session}{name} $view->{table}{name} $mode");
	$view->{client}->count('rows compared', 1 + ($answer =~ tr/,//)) if $answer ne '';
	return if $right eq $answer;
	my %right = map { $_ => 1 } split /,/, $right;
	my %given = map { $_ => 1 } split /,/, $answer;
	my @missing = grep { !$given{$_} } sort keys %right;
	my @more = grep { !$right{$_} } sort keys %given;
	return if !@more && control_lacks($view, @missing);
	wrong($view, $question, sprintf('the %s gives %d rows, a sequential scan %d: %d missing (%s), %d too many (%s)',
			$mode, scalar keys %given, scalar keys %right, scalar @missing, some(@missing), scalar @more, some(@more)));
}

# A snapshot of a standby may be older than an index that was built on the primary since, which then lacks rows that the
# snapshot sees.  Returns whether that is so, and the B-tree on the same rows, which Ddl::build builds after each neardup
# index, lacks these rows, too.
sub control_lacks
{
	my ($view, @ids) = @_;
	my ($client, $session, $name) = ($view->{client}, $view->{session}, $view->{table}{name});

	return 0 if $session->{name} ne 's' || !@ids;
	# The catalogs as the snapshot sees them, and what they say now.
	my ($built, $control) = split /\|/, $client->sql("SELECT coalesce(bool_or(new) FILTER (WHERE amname = 'neardup'), false)
			OR to_regclass('${name}_x') IS NOT NULL AND NOT coalesce(bool_or(old.oid = to_regclass('${name}_x')), false), coalesce(bool_or(new) FILTER (WHERE amname = 'btree'), false)
		FROM (SELECT c.oid, amname, to_regclass(relname) IS DISTINCT FROM c.oid::regclass OR pg_relation_filenode(c.oid) IS DISTINCT FROM relfilenode AS new
			FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
			WHERE relkind = 'i' AND relname !~ '_cc(new|old)' AND indrelid IN (SELECT '$name'::regclass UNION SELECT relid FROM pg_partition_tree('$name'))) AS old" =~ s/\s+/ /gr, $session);
	return 0 if $built ne 't';
	if ($control ne 't')
	{
		$client->count('answers of a standby by an index whose control was not built yet');
		return 1;
	}
	my $found = ask_sql($view, 'index', "SELECT string_agg(id::text, ' ') FROM $name WHERE id IN (" . join(', ', @ids) . ')');
	return 0 if $found ne '';
	$client->count('answers of a standby that lack rows, as by a B-tree');
	return 1;
}

sub some
{
	return join ' ', @_[ 0 .. min(9, $#_) ];
}

sub wrong
{
	my ($view, $question, $text) = @_;

	$view->{client}->fail("wrong answer on $view->{session}{name} $view->{table}{name}: $text; asked for $question->{where}");
}

# Checks that the answer has exactly those of the client's own rows that the model has.
sub own_rows
{
	my ($view, $question, @ids) = @_;
	my $client = $view->{client};
	my $found = join ',', grep { $_ % $client->{clients} == $client->{number} } @ids;
	my $expected = join ',', sort { $a <=> $b } grep { Question::holds($question, $view->{rows}{$_}) } keys %{ $view->{rows} };

	$client->count('answers compared with the model');
	$client->count('rows compared with the model', scalar keys %{ $view->{rows} });
	wrong($view, $question, "of client $client->{number} it gives ($found), the model ($expected)") if $found ne $expected;
}

sub in_order
{
	my ($view) = @_;
	my $question = Question::new($view) // return;
	my $limit = (1, 5, 20, 100, 1000)[ int rand 5 ];
	my $operator = rand() < 0.5 || $view->{table}{sets} ? '<->' : '<~>';
	my $column = $view->{table}{column};
	my $where = rand() < 0.3 ? $question->{where} : Question::always($view);
	my $sql = "SELECT string_agg(id || ':' || coalesce(d::text, 'none'), ',') FROM (SELECT id, $column $operator $question->{literal} AS d "
		. "FROM $view->{table}{name} WHERE $where ORDER BY $column $operator $question->{literal} LIMIT $limit) s";
	my %answers = map { $_ => ask_sql($view, $_, $sql) } shuffle qw(seq index);
	my %distances = map { $_ => $answers{$_} =~ s/\d+://gr } keys %answers;

	$question->{where} = "$where ORDER BY $operator $question->{literal} LIMIT $limit";
	$view->{client}->count("answers: $view->{session}{name} $view->{table}{name} order");
	$view->{client}->count('rows compared', $answers{seq} =~ tr/://);
	if ($distances{index} ne $distances{seq})
	{
		return if !lacking(@answers{qw(index seq)}) && control_lacks($view, lacking(@answers{qw(seq index)}));
		wrong($view, $question, "distances in order: $distances{index}; after a sort: $distances{seq}");
	}
	return if $operator eq '<->' || $where ne Question::always($view);
	own_in_order($view, $question, $limit, split /,/, $answers{index});
}

# Returns the rows of an ordered answer that another one lacks, and that are nearer than its last row.
sub lacking
{
	my ($right, $answer) = @_;
	my %given = map { split /:/ } split /,/, $answer;
	my ($last) = $answer =~ /:([^:]+)$/;

	return grep { !exists $given{$_} } map { /^(\d+):(.*)/ && (!defined $last || ($last eq 'none' ? $2 ne 'none' : $2 ne 'none' && $2 < $last)) ? $1 : () } split /,/, $right;
}

# Checks the distances of the client's own rows, and that no nearer row is missing.
sub own_in_order
{
	my ($view, $question, $limit, @answer) = @_;
	my $client = $view->{client};
	my %given = map { split /:/ } @answer;
	my $last = @answer < $limit ? 'all' : (split /:/, $answer[-1])[1];

	$client->count('answers compared with the model');
	foreach my $id (keys %{ $view->{rows} })
	{
		my $row = $view->{rows}{$id};
		my $d = Question::distance($question, $row);

		next if !Question::listed($view->{table}, $row);
		if (defined $given{$id})
		{
			wrong($view, $question, "row $id has distance $given{$id}, by the model " . ($d // 'none')) if $given{$id} ne ($d // 'none');
		}
		elsif ($last eq 'all' || ($last ne 'none' && defined $d && $d < $last))
		{
			wrong($view, $question, "row $id at distance " . ($d // 'none') . " is left out");
		}
	}
}

# Reads a cursor slowly while other clients change the table.
sub cursor
{
	my ($client) = @_;
	my @tables = @{ $client->{tables} };

	snapshot(
		$client,
		$client->{session},
		$tables[ int rand @tables ],
		sub {
			my ($view) = @_;
			my $question = Question::new($view) // return;
			my $mode = (qw(index bitmap))[ int rand 2 ];
			my $sql = "SELECT id FROM $view->{table}{name} WHERE $question->{where}";
			my @ids;

			ask_sql($view, $mode, "DECLARE c NO SCROLL CURSOR FOR $sql");
			foreach my $count (1, 5, 30, 'ALL')
			{
				push @ids, split /\n/, $client->sql("FETCH $count FROM c");
				sleep(rand 0.8);
			}
			my $right = ask_sql($view, 'seq', "SELECT string_agg(id::text, ',' ORDER BY id) FROM ($sql) s");
			same($view, $question, $right, join(',', sort { $a <=> $b } @ids), $mode);
		});
}

# Joins some of the client's rows with all near rows.
sub join_tables
{
	my ($client) = @_;
	my ($table) = Change::pick($client, 1);

	snapshot(
		$client,
		$client->{session},
		$table,
		sub {
			my ($view) = @_;
			my $question = Question::new($view) // return;
			my @ids = keys %{ $view->{rows} };
			return if !@ids;
			my $column = $table->{column};
			my ($near, $bound) = Question::bound($question);
			my $of = join ',', map { $ids[ int rand @ids ] } 1 .. 12;
			my $sql = "SELECT string_agg(a.id || '-' || b.id, ',' ORDER BY a.id, b.id) FROM $table->{name} a JOIN $table->{name} b ON "
				. "$near(" . $column =~ s/\bv\b/b.v/r . ', ' . $column =~ s/\bv\b/a.v/r . ", $bound) "
				. "WHERE a.id IN ($of)" . ($table->{where} ? ' AND ' . $table->{where} =~ s/\bn\b/b.n/r : '');
			my %answers = map { $_ => ask_sql($view, $_, $sql) } shuffle qw(seq index bitmap);
			$question->{where} = "join of $of by $near $bound";
			same($view, $question, $answers{seq}, $answers{$_}, $_) foreach qw(index bitmap);
		});
}

# ---- Whole tables --------------------------------------------------------------

# Checks that the client's rows of a table are exactly those of the model.
sub compare_rows
{
	my ($view) = @_;
	my $client = $view->{client};
	my $answer = $client->sql("SELECT id || '|' || n || '|' || coalesce(v::text, 'NULL') FROM $view->{table}{name} "
			. "WHERE id % $client->{clients} = $client->{number} ORDER BY id", $view->{session});
	my $rows = $view->{rows};
	my $expected = join "\n", map { "$_|$rows->{$_}[0]|" . ($rows->{$_}[1] // 'NULL') } sort { $a <=> $b } keys %$rows;

	$client->count('rows compared with the model', scalar keys %$rows);
	return scalar keys %$rows if $answer eq $expected;
	my %there = map { $_ => 1 } split /\n/, $answer;
	my %right = map { $_ => 1 } split /\n/, $expected;
	$client->fail("rows of $view->{session}{name} $view->{table}{name} of client $client->{number}: missing "
			. some(grep { !$there{$_} } sort keys %right) . '; too many ' . some(grep { !$right{$_} } sort keys %there));
}

sub all_rows
{
	my ($client) = @_;

	foreach my $table (@{ $client->{mine} })
	{
		snapshot($client, $client->{session}, $table, \&compare_rows);
	}
}

sub all_rows_of_one
{
	my ($client) = @_;

	snapshot($client, $client->{session}, (Change::pick($client, 1))[0], \&compare_rows);
}

# Returns the rows of a guarded table that are wrong: pairs that are near each other, or of groups, rows whose leader
# does not lead or is not near, and leaders that are near each other.
sub wrong_rows
{
	my ($table) = @_;
	my ($all, $third) = map { Kinds::refused_within($table, $_, $_) } 1, 0;

	return "SELECT string_agg(m.id::text, ',') FROM $table->{name} m WHERE NOT EXISTS (SELECT FROM $table->{name} l WHERE l.id = m.same_as AND l.same_as = l.id AND (l.id = m.id OR is_within(l.v, m.v, $all))) "
		. "OR m.same_as = m.id AND EXISTS (SELECT FROM $table->{name} o WHERE o.same_as = o.id AND o.id <> m.id AND is_within(o.v, m.v, $all))"
		if $table->{guarded} eq 'group';
	return "SELECT string_agg(a.id || '-' || b.id, ',') FROM $table->{name} a, $table->{name} b "
		. "WHERE a.id < b.id AND is_within(a.v, b.v, CASE WHEN a.id % 3 + b.id % 3 = 0 THEN $third ELSE $all END)";
}

# Checks that a table that refuses near-duplicates has none, and that groups are right.
sub no_pairs
{
	my ($client) = @_;
	my @guarded = grep { $_->{guarded} } @{ $client->{tables} };
	my $table = $guarded[ int rand @guarded ];

	snapshot(
		$client,
		$client->{session},
		$table,
		sub {
			my ($view) = @_;
			my $wrong = ask_sql($view, 'seq', wrong_rows($table));
			$client->count($table->{guarded} eq 'group' ? 'groups compared' : 'constraints compared');
			$client->fail("$table->{name} holds rows that its guard does not allow: $wrong") if $wrong ne '';
		});
}

# Asks a restored server all questions.  Returns what to report to the parent.
sub verify
{
	my ($client, $port, $name) = @_;
	my $session = Session->new(host => $ENV{DIR}, port => $port, name => $name, log => $client->{log}, errors => "$ENV{DIR}/psql.log");
	my ($rows, $asked) = (0, 0);

	return "unverified $name: no session" if !$session;
	my $done = eval {
		$client->sql("SET lock_timeout = '2s'", $session);
		foreach my $table (grep { !$_->{persistence} } @{ $client->{tables} })
		{
			next if eval { snapshot($client, $session, $table, sub { $rows += compare_rows($_[0]); questions($_[0], 3); $asked++ }); 1 };
			# Replay may have stopped while a session had an exclusive lock on the table.
			die $@ if !ref $@ || ($@->{refused} // '') ne '55P03';
			$client->sql('ROLLBACK', $session);
			$client->count('tables locked where a restore stopped');
		}
		1;
	};
	my $error = $@;
	$session->close;
	return "verified $name $rows $asked" if $done;
	die ref $error && $error->{fail} ? { %$error, fail => "on $name: $error->{fail}" } : $error;
}

1;
