# neardup_keep_one() and neardup_undo() on random schemas, rows and verdicts, beside a session that changes
# what it waits for: no family of copies is lost, what was judged different stays, references follow; and the
# undo, under other settings and after renaming, makes each row what it was before, or says what others changed.
#
#   NEARDUP_SEED   the first seed
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $rounds = $ENV{NEARDUP_LONG} ? 12_000 : 80;
my $first = $ENV{NEARDUP_SEED} // 1;
my $node = Node->new('merge_random');

$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
my $citext = ($node->psql('postgres', 'CREATE EXTENSION citext'))[0] == 0;
my $icu = ($node->psql('postgres', q{CREATE COLLATION public.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}))[0] == 0;
my $other = $node->background_psql('postgres');

# Of each type of key: its value of number n, and another spelling of that.
my %types = (
	int => [ 'n', 'n::bigint' ],
	bigint => [ 'n * 10000000000', '(n * 10000000000)::text' ],
	numeric => [ 'n / 10.0', '(n / 10.0)::numeric(20, 8)' ],
	text => [ q{'"k", ' || n}, q{'"k", ' || n} ],
	uuid => [ 'md5(n::text)::uuid', 'upper(md5(n::text))' ],
	timestamptz => [ q{timestamptz '2026-10-25 00:00Z' + n * interval '20 min'}, q{to_char((timestamptz '2026-10-25 00:00Z' + n * interval '20 min') AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS"Z"')} ],
	date => [ q{date '2026-01-01' + n}, q{to_char(date '2026-01-01' + n, 'YYYYMMDD')} ],
	bytea => [ q{decode(lpad(to_hex(n), 8, '0'), 'hex')}, q{'\x' || lpad(to_hex(n), 8, '0')} ],
	interval => [ q{n * interval '30 days 1 hour'}, q{n || ' mon ' || n || ' hours'} ],
	float8 => [ 'n / 3.0::float8', 'n / 3.0::float8' ],
	'char(6)' => [ q{'c' || n}, q{('c' || n)::varchar} ],
	($citext ? (citext => [ q{'Key' || n}, q{'KEY' || n} ]) : ()),
	($icu ? ('text COLLATE public.ci' => [ q{'Key' || n}, q{'KEY' || n} ]) : ()));
my @settings = (
	q{SET TimeZone = 'Europe/Berlin'; SET DateStyle = 'German, DMY'; SET IntervalStyle = 'sql_standard'},
	q{SET TimeZone = 'America/St_Johns'; SET DateStyle = 'SQL, MDY'; SET bytea_output = 'escape'},
	q{SET extra_float_digits = 0; SET DateStyle = 'Postgres, DMY'; SET IntervalStyle = 'iso_8601'},
	q{SET TimeZone = 'UTC'});

# What this round has: the key's columns and types, and the tables, which have the column tag, with what
# each one refers to docs by; the names that they have now; the settings of the
# session that makes runs.
my (@key, @types, %references, %now, $mark, $rows, $families, $keyless_moved, $runs, $settings);

sub one_of { return $_[ rand @_ ] }
sub list { return join ', ', @_ }
sub chance { return rand() < $_[0] }

sub sql
{
	return $node->safe_psql('postgres', "SET search_path = r, public; $_[0]");
}

# Returns what a statement prints, and its messages.
sub try
{
	return $node->answer('postgres', "SET search_path = r, public; $_[0]");
}

# Returns the rows of a table as texts that show every bit, by their tags.
sub rows_of
{
	my ($table) = @_;

	return { map { split /\|/, $_, 2 } split /\n/, sql("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET extra_float_digits = 3; SELECT tag || '|' || replace(t::text, E'\\n', ' ') FROM $table AS t") };
}

sub state
{
	return { map { ($_ => rows_of($now{$_})) } keys %now };
}

# ---- A schema ----------------------------------------------------------------------------------

# Makes a table that refers to docs by columns of the prefixes a and b, with odd spellings of keys.
sub make_reference
{
	my ($name, $parted) = @_;
	my $kind = one_of('plain', 'link', 'at', 'none', 'parted', 'cascade', 'moved', $parted ? () : ('code'));
	my $by = sub { my ($p) = @_; map { "$p$_" } 0 .. $#key };
	my @columns = map { my $p = $_; map { "$p$_ $types[$_]" } 0 .. $#key } 'a', 'b';
	my $cascades = $kind eq 'cascade' ? ' ON DELETE CASCADE ON UPDATE CASCADE' : '';
	my ($own, $value, $keys, $after) = @{ {
			plain => [ 'id int PRIMARY KEY, ', 'n, ', '', '' ],
			link => [ '', '', ', PRIMARY KEY (' . list($by->('a'), $by->('b')) . ')', '' ],
			at => [ 'at timestamptz, i interval, ', q{timestamptz '2026-10-25 00:30Z' + n * interval '15 min', n * interval '30 days', }, ', PRIMARY KEY (at, i)', '' ],
			none => [ '', '', '', '' ],
			parted => [ 'id int, ', 'n, ', ', PRIMARY KEY (id)', ' PARTITION BY RANGE (id)' ],
			cascade => [ 'id numeric PRIMARY KEY, ', 'n + 0.50, ', '', '' ],
			moved => [ 'id int, ', 'n, ', ', PRIMARY KEY (' . list('id', $by->('a')) . ')', '' ],
			code => [ 'id int PRIMARY KEY, c int REFERENCES docs (code) DEFERRABLE INITIALLY DEFERRED, ', 'n, n * 7, ', '', '' ] }->{$kind} };
	my $spell = sub { my ($n) = @_; map { my $value = $types{ $types[$_] }[ one_of(0, 1) ] =~ s/\bn\b/($n)/gr; "($value)::" . $types[$_] =~ s/ COLLATE.*//r } 0 .. $#key };
	# Rows refer to two families, so no two links become one.
	my ($x, $y) = ('n', "1 + n % $rows");
	my $most = $kind eq 'link' ? $families : $rows;

	sql("CREATE TABLE $name (${own}tag int, " . list(@columns) . ', ' . list(map { 'FOREIGN KEY (' . list($by->($_)) . ") REFERENCES docs$cascades" } 'a', 'b') . "$keys)$after");
	sql("CREATE TABLE ${name}_0 PARTITION OF $name FOR VALUES FROM (0) TO (5); CREATE TABLE ${name}_1 PARTITION OF $name DEFAULT") if $kind eq 'parted';
	sql("INSERT INTO $name SELECT ${value}n, " . list($spell->($x), $spell->($y)) . " FROM generate_series(1, $most) AS n");
	$references{$name} = [ 'a', 'b' ];
	$now{$name} = $name;
	$keyless_moved->{$name} = 0 if $kind eq 'none';
	return if $kind ne 'link' || chance(0.5);
	# One that refers to rows of the links.
	sql("CREATE TABLE ${name}_of (id int PRIMARY KEY, tag int, " . list(@columns) . ', FOREIGN KEY (' . list($by->('a'), $by->('b')) . ") REFERENCES $name ON UPDATE CASCADE);
		INSERT INTO ${name}_of SELECT tag, tag, " . list($by->('a'), $by->('b')) . " FROM $name");
	$now{"${name}_of"} = "${name}_of";
	return;
}

sub make_schema
{
	my $parted = chance(0.3);

	@types = map { one_of(sort keys %types) } 1 .. one_of(1, 1, 2, 3);
	$types[0] = 'int' if $parted && $types[0] =~ /ci$/;
	@key = map { one_of("k$_", "\"The k %$_\"") } 0 .. $#types;
	($rows, $families, $mark) = (6 + int rand 12, 2 + int rand 3, 'dup');
	(%references, %now) = ();
	$keyless_moved = {};
	my $dup = @key > 1 ? 'text[]' : $types[0] . ($parted ? '' : one_of('', ' REFERENCES docs'));
	my @parent = $parted || chance(0.5) ? () : map { "p$_" } 0 .. $#key;

	sql('DROP SCHEMA IF EXISTS r, s CASCADE; CREATE SCHEMA r; CREATE SCHEMA s');
	sql('CREATE TABLE docs (' . list(map { "$key[$_] $types[$_]" } 0 .. $#key) . ", tag int, code int, half int, body text, dup $dup, " . join('', map { "$parent[$_] $types[$_], " } 0 .. $#parent)
		  . "twice int GENERATED ALWAYS AS (tag * 2) STORED, sig minhash GENERATED ALWAYS AS (to_minhash(body, 64, 1, 'word 2')) STORED, PRIMARY KEY (" . list(@key) . ')'
		  . (@parent ? ', FOREIGN KEY (' . list(@parent) . ') REFERENCES docs' : '') . ($parted ? ") PARTITION BY HASH ($key[0])" : ', UNIQUE (code))'));
	sql("CREATE TABLE docs0 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE docs1 PARTITION OF docs FOR VALUES WITH (MODULUS 2, REMAINDER 1)") if $parted;
	sql('INSERT INTO docs (' . list(@key) . ', tag, code, half, body) SELECT ' . list(map { $types{$_}[0] } @types) . ", n, n * 7, n / $families % 2, 'family ' || n % $families || repeat(' of text f' || n % $families, 9) FROM generate_series(1, $rows) AS n");
	$now{docs} = 'docs';
	sql('UPDATE docs AS d SET (' . list(@parent) . ') = (SELECT ' . list(map { "o.$_" } @key) . " FROM docs AS o WHERE o.tag = 1 + d.tag % $rows) WHERE tag % 3 = 0 AND (tag - 1 - tag % $rows) % $families <> 0") if @parent;
	make_reference("ref$_", $parted) foreach 1 .. 1 + int rand 4;
	return;
}

# Makes verdicts that some rows of one family differ, in odd spellings.  Returns the pairs of tags.
sub make_verdicts
{
	my %pairs;

	foreach (1 .. int rand 4)
	{
		my $x = 1 + int rand $rows;
		my $y = $x + $families * (1 + int rand 2);

		$pairs{"$x $y"} = [ $x, $y ] if $y <= $rows;
	}
	my $name = sub { my ($n) = @_; my @parts = map { $types{$_}[1] =~ s/\bn\b/$n/gr } @types; @parts == 1 ? $parts[0] : 'ARRAY[' . list(map { "($_)::text" } @parts) . ']' };
	sql('CREATE TABLE verdicts AS SELECT * FROM (SELECT ' . $name->('n') . ' AS a, ' . $name->('m') . ' AS b, false AS same FROM (VALUES ' . list(map { "($_->[0], $_->[1])" } [ 1, 2 ], values %pairs) . ') AS v (n, m)) AS v');
	return values %pairs;
}

# ---- Runs ----------------------------------------------------------------------------------------

sub keep_one_call
{
	my ($how, @arguments) = @_;

	return "CALL neardup_keep_one('docs', 0.8, " . list($how eq 'mark' ? "mark => 'dup', record => 'merged'" : (), @arguments) . ')';
}

# Calls neardup_keep_one() at an isolation level, while another session changes a row that the call waits for.
# Returns that row as it is then, and the messages of the call.
sub call_beside
{
	my ($call, $level, $tag) = @_;
	my $refused = $level ne 'read committed';
	my ($out, $err) = ('', '');
	local $ENV{PGOPTIONS} = "-c search_path=r,public -c default_transaction_isolation=" . $level =~ s/ /\\ /r;

	$other->query_safe("SET search_path = r, public; BEGIN; UPDATE docs SET body = 'of no family " . $tag . " but of its own words' WHERE tag = $tag");
	my $copy = $other->query_safe("SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET extra_float_digits = 3; SELECT replace(t::text, E'\\n', ' ') FROM docs AS t WHERE tag = $tag");
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-c', $call, $node->connstr('postgres') ], '>', \$out, '2>', \$err);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CALL neardup_keep%'}) or die if !$refused;
	$other->query_safe('COMMIT');
	$run->finish;
	return ($copy, $err);
}

# Returns, for each row of docs by its tag, the tag of the row that it was merged into.
sub keepers
{
	my $same = @key > 1 ? 'ARRAY[' . list(map { "format('%s', o.$_)" } @key) . '] COLLATE "C" = d.dup' : "o.$key[0] = d.dup";
	my %next = map { split /\|/ } split /\n/, sql("$settings; SET extra_float_digits = 1; SELECT d.tag, (SELECT o.tag FROM docs AS o WHERE $same) FROM docs AS d WHERE dup IS NOT NULL");
	my $end = sub { my ($tag) = @_; my $n = 0; $tag = $next{$tag} // die "no row $tag" while exists $next{$tag} && $n++ < 100; return $tag };

	return { map { ($_ => $end->($_)) } split /\n/, sql('SELECT tag FROM docs') };
}

# Returns which row of docs each reference is of, by table, prefix and tag.
sub targets
{
	my %targets;

	foreach my $table (keys %references)
	{
		foreach my $p (@{ $references{$table} })
		{
			my $same = join ' AND ', map { "d.$key[$_] = r.$p$_" } 0 .. $#key;

			$targets{"$table $p $_->[0]"} = $_->[1] foreach map { [ split /\|/ ] } split /\n/, sql("SELECT r.tag, d.tag FROM $table AS r JOIN docs AS d ON $same");
		}
	}
	return \%targets;
}

# Returns what is wrong after a run: families lost or left, pairs judged different, references that did not follow.
sub faults_of_run
{
	my ($before, $keeper, $moved, @apart) = @_;
	my ($after, @faults) = (targets());
	my %family = map { split /\|/ } split /\n/, sql('SELECT tag, body FROM docs');
	my %left;

	$left{ $family{$_} }++ foreach grep { $keeper->{$_} == $_ } keys %$keeper;
	push @faults, map { "family $_ is lost" } grep { !$left{$_} } values %family;
	push @faults, map { "row $_ goes for one of another family" } grep { $family{$_} ne $family{ $keeper->{$_} } } keys %$keeper;
	# A later run may merge the row that one of them went for.
	push @faults, map { "rows @$_ were judged different" } grep { $runs < 2 && exists $keeper->{ $_->[0] } && ($keeper->{ $_->[0] } == $_->[1] || ($keeper->{ $_->[1] } // 0) == $_->[0]) } @apart;
	foreach my $reference (sort keys %$before)
	{
		my ($table) = split / /, $reference;
		my $right = !$moved || exists $keyless_moved->{$table} && !$keyless_moved->{$table} ? $before->{$reference} : $keeper->{ $before->{$reference} };

		push @faults, "$reference is of $after->{$reference}, not $right" if ($after->{$reference} // 0) != $right;
	}
	return @faults;
}

# ---- Undo -------------------------------------------------------------------------------------------

sub rename_things
{
	foreach my $table (sort keys %now)
	{
		my $short = $now{$table} =~ s/.*\.//r;

		next if chance(0.5);
		sql("ALTER TABLE $now{$table} RENAME TO \"$table, renamed\""), $now{$table} = "\"$table, renamed\"" if chance(0.5);
		sql("ALTER TABLE $now{$table} SET SCHEMA s"), $now{$table} = "s.$now{$table}" if chance(0.3);
		sql("ALTER TABLE $now{$table} RENAME COLUMN \"$_\" TO \"$_ %s\"") foreach grep { chance(0.3) } $table eq 'docs' ? () : ('a0', 'b0');
		sql("CREATE TABLE $table (id int, tag int)") if $now{$table} ne $table && $short eq $table && chance(0.3);
		sql("ALTER TABLE $now{$table} RENAME CONSTRAINT \"$_\" TO \"$_ renamed\"") foreach grep { chance(0.3) } split /\n/, sql("SELECT conname FROM pg_constraint WHERE conrelid = '$now{$table}'::regclass AND contype = 'f' AND conparentid = 0");
	}
	sql("ALTER TABLE $now{docs} RENAME COLUMN dup TO \"du p\""), $mark = 'du p' if chance(0.3);
	sql("ALTER TABLE $now{docs} RENAME COLUMN $key[0] TO \"new 'key\"") if chance(0.3);
	return;
}

# Changes some rows as other people do.  Returns the places of what they changed in a row, by table and tag.
sub change_things
{
	my %changed;

	foreach my $table (grep { chance(0.3) && !/_of$/ } sort keys %now)
	{
		my $before = rows_of($table);
		my @tags = grep { chance(0.2) } sort { $a <=> $b } keys %$before;
		my $of = '(SELECT ' . list(@key) . ' FROM docs ORDER BY tag DESC LIMIT 1)';
		my ($change, @places) = @{ $table ne 'docs' ? one_of([ "DELETE FROM $table", 'all' ], [ "UPDATE $table SET (" . list(map { "a$_" } 0 .. $#key) . ") = $of", map { -@key - 1 - $_ } 0 .. $#key ])
			: one_of([ 'UPDATE docs SET dup = NULL', @key + 4 ], [ 'UPDATE docs SET dup = (SELECT dup FROM docs WHERE dup IS NOT NULL ORDER BY tag LIMIT 1)', @key + 4 ], [ 'UPDATE docs SET half = 7', @key + 2 ]) };

		next if !@tags;
		try("$change WHERE tag IN (" . list(@tags) . ')');
		my $after = rows_of($table);
		$changed{"$table $_"} = \@places foreach grep { $before->{$_} ne ($after->{$_} // '') } @tags;
		# What refers to it follows by a cascade.
		$changed{"${table}_of $_"} = [] foreach map { /^\Q$table\E (.*)/ && $now{"${table}_of"} ? $1 : () } keys %changed;
	}
	return %changed;
}

# The parts of a row's text.
sub parts_of
{
	return $_[0] =~ /((?:"(?:[^"]|"")*"|[^,"])*)(?:,|$)/g;
}

# Returns whether each part of a row is that of one of two others.
sub is_of
{
	my ($row, @others) = map { [ parts_of($_) ] } @_;

	return !grep { my $i = $_; !grep { ($_->[$i] // '') eq $row->[$i] } @others } 0 .. $#$row;
}

# Returns what is not as it was, but for rows that others have changed, and in tables whose rows may
# stay as they are; after several runs, also as one of them has left them.
sub faults_of_undo
{
	my ($copy, $left, $changed, $may_stay) = @_;
	my $after = state();
	my @faults;

	foreach my $table (sort keys %now)
	{
		foreach my $tag (sort { $a <=> $b } keys %{ $copy->{$table} })
		{
			my $is = $after->{$table}{$tag} // '';

			foreach my $place (@{ $changed->{"$table $tag"} // [] })
			{
				my ($now, $then) = map { $place eq 'all' ? $_ : $place < 0 ? (parts_of($_))[ $place - 1 ] : (parts_of($_))[$place] } $is, $left->{$table}{$tag} // '';

				push @faults, "$table $tag: $is, which others had changed to $left->{$table}{$tag}" if $now ne $then;
			}
			next if $is eq $copy->{$table}{$tag} || $changed->{"$table $tag"} || $may_stay->($table) && ($runs > 1 || is_of($is, $copy->{$table}{$tag}, $left->{$table}{$tag} // ''));
			push @faults, "$table $tag: $is, not $copy->{$table}{$tag}";
		}
	}
	return @faults;
}

sub undo_call
{
	return "CALL neardup_undo('" . $now{docs} =~ s/'/''/gr . "', '$mark', 'r.merged', apply => true" . ($_[0] ? ', skip_changed => true' : '') . ')';
}

sub open_entries
{
	return sql('SELECT count(*) FROM r.merged WHERE undone IS NULL AND changed IS NOT NULL');
}

# Takes all runs back.
sub undo_round
{
	my ($copy, $moved_keyless) = @_;

	my %changed = chance(0.5) ? change_things() : ();
	rename_things();
	my ($left, $open) = (state(), open_entries());
	my $others = one_of(@settings);
	my ($out, $err) = try("$others; " . undo_call());
	my $partly = 0;

	if ($err =~ /ERROR:/)
	{
		return "undo: $err" if $err !~ /others have changed|cannot be as they were/ || (!%changed && !%$moved_keyless);
		return 'an undo that failed has changed rows' if open_entries() != $open || !is_equal(state(), $left);
		return () if $err =~ /cannot be as they were/;
		$partly = 1;
		($out, $err) = try("$others; " . undo_call(1));
		return "undo of what others have not changed: $err" if $err =~ /ERROR:/;
	}
	else
	{
		return 'nothing is open after an undo, ' . open_entries() if open_entries() != 0;
	}
	# A reference to a row that stays marked stays, too.
	return faults_of_undo($copy, $left, \%changed, sub { return $partly && (exists $moved_keyless->{ $_[0] } || grep { /^docs / } keys %changed) });
}

sub is_equal
{
	my ($x, $y) = @_;

	return join("\n", map { my $t = $_; map { "$t $_ $x->{$t}{$_}" } sort keys %{ $x->{$t} } } sort keys %$x) eq join("\n", map { my $t = $_; map { "$t $_ $y->{$t}{$_}" } sort keys %{ $y->{$t} } } sort keys %$y);
}

# ---- Rounds -------------------------------------------------------------------------------------------

# Returns what is wrong in a round, or nothing.
sub round_of
{
	my $how = one_of('mark', 'mark', 'mark', 'delete');
	my $level = one_of('read committed', 'read committed', 'repeatable read', 'serializable');

	$settings = one_of(@settings);
	make_schema();
	my @apart = make_verdicts();
	my $targets = targets();
	my $moved = chance(0.8);
	my $all = $how eq 'delete' || chance(0.1);
	my @arguments = ('apply => true', 'verdicts => ' . one_of("'verdicts'", "'verdicts'", 'NULL'), 'move_references => ' . ($all ? 'true' : $moved ? 'NULL' : 'false'), one_of('order_by => NULL', q{order_by => 'tag DESC'}));
	my @judged = $arguments[1] =~ /NULL/ ? () : @apart;
	my $copy = state();

	$moved ||= $all;
	$runs = 0;
	$keyless_moved->{$_} = $all foreach keys %$keyless_moved;
	if (chance(0.4))
	{
		$settings = q{SET TimeZone = 'UTC'};
		my $tag = 1 + int rand $rows;
		($copy->{docs}{$tag}, my $err) = call_beside(keep_one_call($how, @arguments), $level, $tag);
		return "at $level: $err" if $level ne 'read committed' && $err !~ /at isolation level/;
		$err = (try("$settings; " . keep_one_call($how, @arguments)))[1] if $level ne 'read committed';
		return "beside a change: $err" if $err =~ /ERROR/ && $err !~ /contradicts/;
	}
	else
	{
		foreach my $within ($how eq 'mark' && chance(0.4) ? (q{within => '{half}'}) : (), 'within => DEFAULT')
		{
			my ($out, $err) = try("$settings; " . keep_one_call($how, @arguments, $within =~ /DEFAULT/ ? () : $within));

			$runs++;
			return $err if $err =~ /ERROR/;
		}
	}
	my @faults = $how eq 'mark' ? faults_of_run($targets, keepers(), $moved, @judged) : faults_of_delete($targets, $copy, @judged);
	return @faults if @faults || $how eq 'delete';
	return undo_round($copy, $all ? { map { ($_ => 1) } keys %$keyless_moved } : {});
}

# Returns what is wrong after rows were deleted: families lost, pairs judged different of which one went, references lost.
sub faults_of_delete
{
	my ($before, $copy, @apart) = @_;
	my %left = map { ($_ => 1) } split /\n/, sql('SELECT DISTINCT tag % ' . $families . q{ FROM docs WHERE body LIKE 'family%'});
	my %was = map { ($_ % $families => 1) } grep { $copy->{docs}{$_} =~ /family \d/ } keys %{ $copy->{docs} };

	return (map { "family $_ is lost" } grep { !$left{$_} } keys %was), (map { "rows of $_ are lost" } grep { keys %{ rows_of($_) } != keys %{ $copy->{$_} } } grep { $_ ne 'docs' } keys %now);
}

foreach my $seed ($first .. $first + $rounds - 1)
{
	srand $seed;
	my @faults = eval { round_of() };

	@faults = ($@) if $@;
	ok(!@faults, "round $seed") or diag join "\n", "round $seed, key (@types)", @faults[ 0 .. ($#faults > 9 ? 9 : $#faults) ];
}
$other->quit;
$node->stop;
done_testing();
