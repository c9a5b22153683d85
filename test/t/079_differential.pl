# Everything that promises an answer, compared with brute force: random tables, of which each round
# asks random questions.  A round takes about a second; its seed and number reproduce it.
#
#   NEARDUP_SEED     a seed, and behind a blank the number of a round to run alone
#   NEARDUP_SECONDS  how long to search for differences
use strict;
use warnings;

use Brute;
use Inputs;
use List::Util qw(min sum0);
use Node;
use PostgreSQL::Test::Utils;
use Rows;
use Test::More;
use Time::HiRes qw(time);
use lib "$ENV{TESTDIR}/test/soak";
use Session;

BEGIN { *pick = \&Rows::pick }

my ($SEED, $ALONE) = split ' ', $ENV{NEARDUP_SEED} // ($ENV{NEARDUP_LONG} ? time : 1);
my $SECONDS = $ENV{NEARDUP_SECONDS} // ($ENV{NEARDUP_LONG} ? 3600 : 60);
my $FOLDER = PostgreSQL::Test::Utils::tempdir();

# What was run in this round, and how often what was compared; and to how many elements all lists are limited.
my (@LOG, %COUNT, $tiny);
my ($start, %rounds) = time;

my $node = Node->new('differential');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\njit = off\ndeadlock_timeout = '10ms'\nstatement_timeout = '170s'\n");
$node->start;
chomp($ENV{PGBIN} = `pg_config --bindir`);
my ($asking, $writing);

# ---- Talking to the server -----------------------------------------------------

# Runs statements; returns what the last one prints.  An error that is not among those expected ends the round.
sub run_in
{
	my ($session, $may_fail, @statements) = @_;
	my ($state, $output, $message);

	foreach (@statements)
	{
		push @LOG, ($session == ($writing // 0) ? '/* other session */ ' : '') . $_;
		($state, $output, $message) = $session->run($_);
		die { sql => $_, text => "$state $message" } if $state ne '00000' && $state !~ $may_fail;
	}
	return wantarray ? ($output, $state) : $output;
}

sub sql { return scalar run_in($asking, qr/^$/, @_) }

# Begins a session anew, or one that is left of the round before.
sub begin_session
{
	my ($session) = @_;
	my $until = time + 60;

	while (!$session || !$session->alive)
	{
		$session = Session->new(host => $node->host, port => $node->port, errors => "$FOLDER/psql.log");
		die 'the server is gone' if time > $until;
	}
	run_in($session, qr/./, 'ROLLBACK');
	run_in($session, qr/^$/, 'RESET ALL', 'SET client_min_messages = error', limit_lists());
	return $session;
}

# Returns statements that limit lists, after one that loads the library.
sub limit_lists
{
	return ('SELECT near(5::bigint::simhash, 1)', 'SET neardup.debug_limit = ' . ($tiny || 'DEFAULT'));
}

# Ends the round because of an answer: shows what was expected and given, and what is missing or too many.
sub differs
{
	my ($sql, $expected, $got) = @_;
	my %more;

	$more{$_}++ foreach @$got;
	$more{$_}-- foreach @$expected;
	my @lists = ($expected, $got, [ sort grep { $more{$_} < 0 } keys %more ], [ sort grep { $more{$_} > 0 } keys %more ]);
	my @shown = map { my $all = join ' ', @$_; @$_ . ': ' . (length $all > 800 ? substr($all, 0, 800) . ' ...' : $all) } @lists;

	die { sql => $sql, text => "expected $shown[0]\ngot      $shown[1]\nmissing  $shown[2]\ntoo many $shown[3]" };
}

# Compares two lists whose order does not matter.
sub same
{
	my ($what, $sql, $expected, $got) = @_;
	my ($e, $g) = map { [ sort @$_ ] } $expected, $got;

	$COUNT{$what}++;
	differs($sql, $e, $g) if "@$e" ne "@$g";
}

# ---- Searches ------------------------------------------------------------------

# Returns how many rows to insert, of some numbers: short lists take time up to the square of that.
sub few
{
	return pick(grep { !$tiny || $_ <= 150 * $tiny } @_);
}

my @FEW = (1, 20, 40, 100, 200, 300, 400, 500, 1000);

# Makes a table with rows and an index on them.
sub make_table
{
	my $t = { rows => Rows->draw(rand() < 0.5), last => 0, keys => pick('', '', 'tenant, '), where => pick('', '', '', 'id % 2 = 0') };
	my ($fill, $pages) = (pick(80, 100), pick('DEFAULT', 60, ($t->{rows}{k} // 999) > 200 ? () : (20, 20)));

	sql("CREATE TABLE t (id bigint, tick int, tenant int, v $t->{rows}{type}) WITH (fillfactor = $fill)", pick('SELECT', 'CREATE INDEX ON t (tick)'),
		'SET neardup.background = ' . pick('on', 'off'));
	run_in($_, qr/^$/, "SET neardup.debug_segment_pages = $pages") foreach $asking, $writing;
	insert($t, $asking, few(0, 30, 300, 1500, 3000, 3000, 3000, 5000, 5000, 5000, ($t->{rows}{k} // 999) > 200 ? 6000 : pick(12_000, 12_000, 60_000)));
	sql("CREATE INDEX t_v ON t USING neardup ($t->{keys}v)" . ($t->{where} && " WHERE $t->{where}"));
	insert($t, $asking, few(@FEW));
	return $t;
}

sub insert
{
	my ($t, $session, $count) = @_;
	my ($first, $last) = ($t->{last} + 1, $t->{last} += $count);

	run_in($session, qr/^$/, "INSERT INTO t SELECT id, tick, tenant, v FROM (" . $t->{rows}->rows($first, $last) . ") r");
}

# Changes the table, while a cursor or a transaction is open or not.
sub change
{
	my ($t, $session, $open) = @_;
	my $m = 2 + int rand 8;
	my @ways = (
		(sub { insert($t, $session, few(@FEW, 4000)) }) x 3,
		(map { my $sql = $_; sub { run_in($session, qr/^$/, $sql) } } "DELETE FROM t WHERE id % $m = 0", "DELETE FROM t WHERE id % $m > 0 OR id > $t->{last} / $m", 'DELETE FROM t WHERE id <= 40',
			"UPDATE t SET tick = tick + 1 WHERE id % $m = 0", "UPDATE t SET v = o.v FROM t o WHERE o.id = t.id + 1 AND t.id % $m = 0", ('VACUUM (TRUNCATE off, INDEX_CLEANUP on) t') x 2, 'REINDEX TABLE t'));

	# VACUUM is for no transaction, and REINDEX waits for cursors.
	pop @ways if $open;
	splice @ways, -2 if ($open // '') eq 'transaction';
	$ways[ rand @ways ]->();
}

# Returns a value of the table, or another one, as a literal.
sub some_value
{
	my ($t) = @_;
	my ($rows, $at) = ($t->{rows}, int rand 1 + $t->{last});
	my $text = rand() < 0.85 ? sql("SELECT v FROM t WHERE v IS NOT NULL AND id >= $at ORDER BY id LIMIT 1") : '';

	$text = sql('SELECT v FROM (' . $rows->value("SELECT $at AS family, $at % 200 AS variant") . ') x') if $text eq '';
	return "'$text'::$rows->{type}";
}

# Returns a condition with a bound that rows often meet exactly: as the index has it, and as plain functions do.
sub condition
{
	my ($t, $q) = @_;
	my ($as, $k) = @{ $t->{rows} }{qw(as k)};
	my $asked = rand() < 0.2 ? "(SELECT $q)" : $q;
	my $distance = $as ? "(v <~> $q$as)" : "hamming_distance(v, $q)";
	my @similar = ([ "similarity(v, $q)", "is_similar(v, $asked, %s)", "is_similar($asked, v, %s)", "v <@ near($asked, %s)", "v <@ ANY (ARRAY[near($asked, %s), near($asked, 1)])" ]);
	my @within = ([ $distance, "is_within(v, $asked, %s)", "is_within($asked, v, %s)", "v <@ hamming_ball($asked, %s)", "v <@ ANY (ARRAY[hamming_ball($asked, %s), hamming_ball($asked, 0)])" ]);
	my @holds = ([ "containment($q, v)", "is_contained($asked, v, %s)", "v <@ holding($asked, %s)" ], [ "containment(v, $q)", "is_contained(v, $asked, %s)", "v <@ held_in($asked, %s)" ]);
	my ($plain, @ways) = @{ pick($as ? @within : $k ? (@similar, @within) : (@similar, @holds)) };
	my $radius = $plain eq $distance;
	my $at = int rand 1 + $t->{last};
	my $bound = rand() < 0.6 ? sql("SELECT $plain FROM t WHERE v IS NOT NULL AND id >= $at ORDER BY id LIMIT 1") : '';

	$bound = $radius ? int(rand() * rand() * $k) : sprintf '%.3f', 0.05 + rand 0.95 if $bound eq '' || !$radius && $bound == 0;
	return (sprintf(pick(@ways), $bound), $radius ? "$plain <= $bound" . ($as ? '' : " AND similarity(v, v) > 0 AND similarity($q, $q) > 0") : "$plain >= $bound");
}

# Returns a question: a query for ids, its limit, and what plain functions say of each row: the distance, if there is an order, and whether it is found.
sub question
{
	my ($t) = @_;
	my $rows = $t->{rows};
	my $q = some_value($t);
	my ($where, $plain) = rand() < 0.8 ? condition($t, $q) : ('true', 'true');
	my @filter = ($t->{where} || (), rand() < ($t->{keys} ? 0.7 : 0.2) ? pick('tenant = 1', 'tenant = ANY (\'{0,2}\')') : ());
	my ($ordered, $limit) = (rand() < 0.7, rand() < 0.6 ? pick(1, 2, 5, 17, 100, 513, 1000) : 'ALL');
	my $to = rand() < 0.85 ? $q : some_value($t);
	my $distance = $ordered || $where eq 'true' ? 'v ' . ($rows->{as} ? "<~> $to$rows->{as}" : $rows->{k} ? pick('<->', '<~>') . " $to" : "<-> $to") : '';

	return { sql => 'SELECT id FROM t WHERE ' . join(' AND ', $where, @filter) . ($distance && " ORDER BY $distance") . " LIMIT $limit", limit => $limit,
		ordered => $distance ne '', model => sprintf 'SELECT id || \':\' || coalesce((%s)::text, \'inf\') FROM t WHERE %s', $distance || 'id', join(' AND ', $plain, @filter) };
}

# Compares ids in the order given with the distances of all rows that are to be found.
sub compare_ids
{
	my ($question, $sql, $found, @ids) = @_;
	my $count = keys %$found;
	my @expected = sort { $found->{$a} <=> $found->{$b} || $a <=> $b } keys %$found;
	my $limit = $question->{limit} eq 'ALL' ? $count : min($count, $question->{limit});
	my %given = map { $_ => 1 } @ids;
	my $right = @ids == $limit && keys %given == @ids && !grep { !defined $found->{$_} } @ids;

	splice @expected, $limit if $question->{ordered};
	$right &&= join(' ', map { $found->{$_} } @ids) eq join(' ', map { $found->{$_} } @expected) if $question->{ordered};
	$COUNT{ $question->{ordered} ? 'ordered searches' : 'searches' }++;
	$COUNT{'rows found'} += @ids;
	differs($sql, \@expected, \@ids) if !$right;
}

# Returns settings of how the server is to answer, and a query, as one string; by default a plain scan.
sub in_way
{
	my ($sql, $scan) = @_;

	$scan //= 'seqscan';
	return join ' \\; ', (map { "SET enable_$_ = " . ($_ eq $scan ? 'on' : 'off') } qw(seqscan indexscan bitmapscan)), 'SET enable_sort = ' . ($scan eq 'seqscan' ? 'on' : 'off'),
		'SET neardup.search = ' . pick(qw(auto auto auto merge choose probe scan)), 'SET work_mem = ' . pick("'64kB'", "'4MB'"), 'SET neardup.cache_size = ' . pick(0, "'64MB'", "'64MB'"), $sql;
}

# Reads by a cursor while another session changes the table.
sub by_cursor
{
	my ($t, $sql, $scan) = @_;
	my @ids;

	sql('BEGIN ISOLATION LEVEL REPEATABLE READ', in_way("DECLARE c CURSOR FOR $sql", $scan));
	foreach my $count (pick(1, 3, 40), pick(1, 600))
	{
		push @ids, split /\n/, sql("FETCH $count FROM c");
		change($t, $writing, 'cursor');
	}
	push @ids, split /\n/, sql('FETCH ALL FROM c');
	sql('COMMIT');
	return @ids;
}

# Asks a question in two ways, the second of which may be a cursor, unless a transaction is open.
sub ask
{
	my ($t, $open) = @_;
	my $question = question($t);
	my %found = map { split /:/ } split /\n/, sql(in_way($question->{model}));

	foreach my $i (1, 2)
	{
		my $scan = $question->{ordered} ? 'indexscan' : pick('indexscan', 'bitmapscan');
		my $sql = in_way($question->{sql}, $scan);
		my @ids = $i == 2 && !$open && rand() < 0.3 ? by_cursor($t, $question->{sql}, $scan) : split /\n/, sql($sql);

		$COUNT{ sql(in_way("EXPLAIN (COSTS OFF) $question->{sql}", $scan)) =~ /t_v/ ? 'plans by the index' : 'other plans' }++ if rand() < 0.05;
		compare_ids($question, $sql, \%found, @ids);
	}
}

# Joins some rows with those near them, or the nearest: an index is scanned again for each.
sub ask_joins
{
	my ($t) = @_;
	my ($as, $k) = @{ $t->{rows} }{qw(as k)};
	my $near = $as ? 'is_within(b.v, a.v, ' . int($k / 16) . ')' : 'is_similar(b.v, a.v, 0.8)';
	my $sql = "SELECT a.id || '-' || b.id FROM (SELECT id, v FROM t WHERE id <= 300 AND id % 17 = 0) a, t b WHERE $near" . ($t->{where} && " AND b.$t->{where}");

	my @expected = split /\n/, sql(in_way($sql));
	$sql = in_way($sql, pick('indexscan', 'bitmapscan'));
	same('joins', $sql, \@expected, [ split /\n/, sql($sql) ]);
}

# Asks within a transaction about what it has changed, and takes back some or all of that.
sub within_transaction
{
	my ($t) = @_;

	sql('BEGIN');
	change($t, $asking, 'transaction');
	sql('SAVEPOINT s');
	change($t, $asking, 'transaction');
	ask($t, 1);
	sql('ROLLBACK TO s') if rand() < 0.5;
	ask($t, 1);
	sql(pick('COMMIT', 'ROLLBACK'));
}

sub search
{
	my $t = make_table();

	foreach (1 .. 2 + int rand 3)
	{
		ask($t) foreach 1 .. 8;
		ask_joins($t) if rand() < 0.3;
		rand() < 0.15 ? within_transaction($t) : change($t, $asking);
		$COUNT{'indexes of several segments'} += sql("SELECT neardup_check('t_v')") =~ /segments: ([2-9]|\d\d)/;
	}
}

# ---- Pairs and clusters --------------------------------------------------------

# How rows are compared: for signatures, sets, and sets beside signatures.  The similarity of a pair is that of the later row.
my %SIMILARITY = (
	'' => 'similarity(a.sig, b.sig)',
	multiset => 'weighted_jaccard(a.sig, b.sig)',
	containment => 'greatest(containment(a.sig, b.sig), containment(b.sig, a.sig))',
	multiset_containment => 'shingle_total(a.sig & b.sig)::float8 / nullif(least(shingle_total(a.sig), shingle_total(b.sig)), 0)',
	decided => 'similarity(a.s, b.s)',
	contained => 'containment(b.s, a.s)');

# Returns what the definition says of pairs, of stars or of two lists: a row, a later one, their similarity, whether they
# are equal, and their similarity in the other order.  In stars by containment the keeper is as large or larger.
sub matrix
{
	my ($how, $what, $rows) = @_;
	my $size = ($how =~ /multiset/ ? 'shingle_total' : 'cardinality') . '(%s.sig)';
	my $sign = $how =~ /containment/ && $what eq 'stars' ? "CASE WHEN $size <= $size THEN 1 ELSE -1 END * " : '';
	my ($there, $back) = map { ($sign && sprintf $sign, @$_) . $SIMILARITY{$how} } [qw(b a)], [qw(a b)];
	my $equal = $how =~ /decided|contained/ ? 'similarity(a.s, b.s) = 1' : $how =~ /multiset/ ? 'weighted_jaccard(a.sig, b.sig) = 1' : $rows->{k} ? 'a.sig <~> b.sig = 0' : 'similarity(a.sig, b.sig) = 1';

	$back = 'containment(a.s, b.s)' if $how eq 'contained';
	($there, $back) = ("greatest($there, $back)") x 2 if $how eq 'contained' && $what eq 'two';
	return [ map { [ split /\|/ ] } split /\n/, sql("SELECT a.id, b.id, coalesce($there, 0), coalesce($equal, false), coalesce($back, 0) FROM docs a JOIN docs b ON a.id <= b.id") ];
}

# Returns a query of the documents, as text.
sub documents
{
	my ($how, $within, $where) = @_;

	return "'SELECT id, sig" . ($how =~ /decided|contained/ ? ', s' : '') . ($within ? ', key' : '') . " FROM docs$where ORDER BY id'";
}

# Asks for pairs or clusters by random arguments.
sub ask_batch
{
	my ($d, $how, $what, $pairs) = @_;
	my ($count, $judged_rows) = @$d{qw(count judged)};
	my @ties = grep { $_ > 0 && ($how ne 'decided' || $_ <= 0.7) } map { $_->[2] =~ s{^-}{}r } @$pairs;
	my $threshold = @ties && rand() < 0.7 ? pick(@ties) : pick(0.1, 0.3, 0.5, 0.6, 0.7, $how eq 'decided' ? () : (0.8, 0.9, 1));
	my ($two, $clusters) = ($what eq 'two', $what eq 'stars' || $what eq 'two' && rand() < 0.5);
	my $components = $clusters && !$two && $how !~ /contain/ && rand() < 0.4;
	my $nearest = $clusters && !$components && rand() < 0.5;
	my $all = !$clusters && rand() < 0.6;
	my $within = rand() < 0.35;
	my $unknown = $within && !$components && rand() < 0.5;
	my $judged = !$two && !$within && rand() < 0.3 ? $judged_rows : undef;
	my $split = $two ? int rand $count + 1 : undef;
	my $arguments = join ', ', documents($how, $within, $two ? " WHERE id <= $split" : ''), $how eq 'contained' ? ('0.01', "contained => $threshold") : $threshold,
		($two ? 'against => ' . documents($how, $within, " WHERE id > $split") : ()), ($how =~ /multiset/ ? 'multiset => true' : ()), ($how =~ /containment/ ? "measure => 'containment'" : ()),
		($components ? "method => 'components'" : ()), ($nearest ? 'nearest => true' : ()), ($all ? "equal => 'all'" : ()),
		($within ? "within => '{key}'" : ()), ($unknown ? "unknown => '{key}'" : ()), ($judged ? "verdicts => 'SELECT a, b, same FROM verdicts'" : ());
	my $sql = $clusters ? 'SELECT ' . ($two ? 'id, keeper, similarity' : '*') . " FROM neardup_clusters($arguments)" . ($two ? " WHERE id <= $split" : '') : "SELECT * FROM neardup_pairs($arguments)";
	my $brute = Brute->new($threshold, $pairs);

	$brute = $brute->within($d->{key}, $unknown) if $within;
	my @expected = !$clusters ? ($judged ? $brute->judged_pairs($judged, $all) : $all ? $brute->all_pairs($split) : $brute->pairs($split))
		: $two ? $brute->held($nearest, $split) : $components ? $brute->components($judged) : $judged ? $brute->judged_stars($nearest, $judged) : $brute->stars($nearest);
	sql('SET maintenance_work_mem = ' . pick("'1MB'", "'64MB'"), 'SET max_parallel_maintenance_workers = ' . pick(0, 0, 2));
	same($clusters ? 'clusters' : 'pairs', $sql, [ map { s/\n//r } @expected ], [ split /\n/, sql("COPY ($sql) TO STDOUT") ]);
}

# Keeps one row of each cluster of a copy, with references that follow, and undoes it.
sub keep_one
{
	my ($d, $pairs) = @_;
	my $threshold = pick(grep { $_ > 0 } 0.7, map { $_->[2] } @$pairs);
	my ($mark, $way) = (rand() < 0.5, pick('', '', 'within', 'unknown', 'verdicts'));
	my $brute = Brute->new($threshold, $pairs);

	$brute = $brute->within($d->{key}, $way eq 'unknown') if $way =~ /within|unknown/;
	my %keeper = map { $_ => $_ } 1 .. $d->{count};
	%keeper = (%keeper, map { (split /\t/)[ 0, 1 ] } $way eq 'verdicts' ? $brute->judged_stars(0, $d->{judged}) : $brute->stars(0));
	my $sql = "CALL neardup_keep_one('copy', $threshold, order_by => 'place', record => 'merged', apply => true" . ($mark ? ", mark => 'same_as'" : '')
		. ($way eq 'within' ? ", within => '{key}'" : $way eq 'unknown' ? ", within => '{key}', unknown => '{key}'" : $way eq 'verdicts' ? ", verdicts => 'judged'" : '') . ')';

	# Ids in another order than the rows.
	sql("CREATE TABLE copy AS SELECT 1000 - id AS id, id AS place, key, sig, NULL::int AS same_as FROM docs", 'ALTER TABLE copy ADD PRIMARY KEY (id)',
		'CREATE TABLE refs (id int PRIMARY KEY, doc int REFERENCES copy)', 'INSERT INTO refs SELECT id, id FROM copy',
		'CREATE TABLE judged AS SELECT 1000 - a AS a, 1000 - b AS b, same FROM verdicts', $sql);
	same('rows kept', $sql, [ map { my $to = $keeper{$_}; $to == $_ ? 1000 - $_ . ' -' : $mark ? 1000 - $_ . ' ' . (1000 - $to) : () } keys %keeper ],
		[ split /\n/, sql("SELECT id || ' ' || coalesce(same_as::text, '-') FROM copy") ]);
	same('references', $sql, [ map { 1000 - $_ . ' ' . (1000 - $keeper{$_}) } keys %keeper ], [ split /\n/, sql("SELECT id || ' ' || doc FROM refs") ]);
	same('rows undone', sql("CALL neardup_undo('copy', 'same_as', 'merged', apply => true)"), [ map { 1000 - $_ . ' - ' . (1000 - $_) } keys %keeper ],
		[ split /\n/, sql("SELECT c.id || ' ' || coalesce(same_as::text, '-') || ' ' || doc FROM copy c JOIN refs r USING (id)") ]) if $mark;
	sql('DROP TABLE refs, copy, judged, merged');
}

# Compares more pairs than are kept in memory with those of a join.
sub many_pairs
{
	my $threshold = pick(0.5, 0.8, 0.9);
	my $got = 'SELECT a, b, similarity FROM neardup_pairs(' . documents('', 0, '') . ", $threshold, equal => 'all')";
	my $join = "SELECT a.id::bigint, b.id::bigint, similarity(a.sig, b.sig) FROM docs a JOIN docs b ON a.id < b.id AND similarity(a.sig, b.sig) >= $threshold";

	sql('SET maintenance_work_mem = ' . pick("'1MB'", "'64MB'"), 'SET max_parallel_maintenance_workers = ' . pick(0, 2));
	same('many pairs', $got, [], [ split /\n/, sql("WITH g AS MATERIALIZED ($got), j AS MATERIALIZED ($join) (SELECT 'more', * FROM (TABLE g EXCEPT ALL TABLE j) m UNION ALL SELECT 'missing', * FROM (TABLE j EXCEPT ALL TABLE g) m) LIMIT 20") ]);
}

sub batch
{
	my $rows = Rows->draw(0);
	my $count = rand() < 0.05 ? 150 : 2 + int rand(rand() < 0.5 ? 15 : 60);
	my ($many, $how) = (rand() < 0.15, pick('', '', qw(decided contained contained), $rows->{k} ? () : qw(multiset containment multiset_containment)));
	my $sig = $many || $how !~ /decided|contained/ ? 'v' . ($rows->{as} // '') : 'to_minhash(s, 16, 1)';
	my %input = (rows => [ 1 .. $count ]);

	sql("CREATE TABLE docs AS SELECT id::int, nullif(tenant, 3) AS key, $sig AS sig, s FROM (" . $rows->rows(1, $many ? 600 : $count) . ') r');
	return many_pairs() if $many;
	Inputs::make_judged(\%input);
	my $d = { count => $count, judged => $input{judged}, key => [ map { $_ eq '' ? undef : $_ } split /\n/, sql('SELECT key FROM docs ORDER BY id'), -1 ] };
	sql('CREATE TABLE verdicts (a int, b int, same boolean)', 'INSERT INTO verdicts VALUES ' . join ', ', map { "($_->[0], $_->[1], '$_->[2]')" } @{ $d->{judged} });
	foreach my $what (qw(pairs stars two))
	{
		my $pairs = matrix($how, $what, $rows);

		ask_batch($d, $how, $what, $pairs) foreach 1 .. 6;
		keep_one($d, $pairs) if $how eq '' && rand() < 0.3;
	}
}

# ---- Guards --------------------------------------------------------------------

my $COLUMNS = 'id, tick, tenant, at, draft, confirmed, v';

# Makes a guarded table without rows, rows to write in a table pool, and a condition on a new row n and another one o by plain functions.
sub make_guard
{
	my ($count, $slow) = @_;
	my $rows = Rows->draw(1);
	my ($as, $k) = @{$rows}{qw(as k)};
	my $g = { rows => $rows, kind => pick(qw(reject reject reject skip group group group deferred), $k ? 'exclude' : ()) };
	my $measure = $k ? '' : pick('', qw(similarity contained contains containment));
	my $within = pick('', '', 'tenant', $g->{kind} =~ /group|exclude/ ? () : ('at 2 days', 'tenant, at 36 hours'));
	my $unknown = $within =~ /tenant/ && $g->{kind} ne 'exclude' ? pick('', 'tenant') : '';
	my ($condition, $unless) = (pick('', '', 'NOT draft'), $g->{kind} =~ /reject|skip|deferred/ ? pick('', '', 'confirmed') : '');
	my ($of, $to) = map { $as ? "$_.v$as" : "$_.v" } 'n', 'o';
	my $alike = { contained => "containment($of, $to)", contains => "containment($to, $of)", containment => "greatest(containment($of, $to), containment($to, $of))" }->{$measure} // "similarity($of, $to)";

	$g->{against} = $g->{kind} =~ /reject|skip|deferred/ && rand() < 0.3;
	sql("CREATE TABLE t (id bigint PRIMARY KEY, tick int, tenant int, at timestamptz, draft boolean, confirmed boolean, v $rows->{type}, same_as bigint)" . pick('', ' WITH (fillfactor = 40)'),
		pick('SELECT', ('CREATE INDEX ON t (tick)') x 5), "CREATE TABLE archive (LIKE t)", 'CREATE INDEX ON archive (tick)', 'CREATE INDEX ON archive USING neardup (v)',
		"CREATE TABLE pool AS SELECT id, tick, nullif(tenant, 3) AS tenant, timestamptz '2026-03-01' + interval '9 days' * nullif(greatest(share(id, 9), 0.05), 0.05) AS at, "
			. 'nullif(ceil(share(id, 10) * 5), 1) = 2 AS draft, nullif(ceil(share(id, 11) * 10), 1) = 2 AS confirmed, v FROM ('
			. $rows->rows(1, $count) . ') r');
	my $bound = sql("SELECT $alike FROM pool n, pool o WHERE n.id = " . (1 + int rand $count) . ' AND o.id = ' . (1 + int rand $count));
	my $threshold = $bound ne '' && $bound > 0.1 && rand() < 0.6 ? $bound : pick(0.3, 0.5, 0.7, 0.9, 0.95, 1);
	my %option = (within => $within, unknown => $unknown, condition => $condition, unless => $unless, measure => $measure, against => $g->{against} ? 'archive' : '', group_column => $g->{kind} eq 'group' ? 'same_as' : '');
	my @options = grep { $option{$_} ne '' } sort keys %option;
	my $statement = $g->{kind} eq 'exclude' ? 'ALTER TABLE t ADD EXCLUDE USING neardup (' . ($within && 'tenant WITH =, ') . "near(v$as, $threshold) WITH &&)" . ($condition && ' WHERE (NOT draft)')
		: $g->{kind} eq 'deferred' ? "CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=v', 'threshold=$threshold'" . join('', map { ", '$_=$option{$_}'" } @options) . ')'
		: "SELECT neardup_guard('t', 'v', $threshold, '$g->{kind}'" . join('', map { ", $_ => '$option{$_}'" } @options) . ')';

	sql('CREATE INDEX ON t USING neardup (' . ($within eq 'tenant' && $rows->{type} ne 'bigint' ? pick('', 'tenant, ') : '') . 'v)') if $g->{kind} eq 'deferred' || rand() < 0.3;
	sql($statement);
	@{$g}{qw(alike slow)} = ($alike, $slow);
	$g->{near} = join ' AND ', $within =~ /tenant/ ? ($unknown ? 'coalesce(n.tenant = o.tenant, true)' : 'n.tenant = o.tenant') : (), $within =~ /at (.*)/ ? "n.at <= o.at + interval '$1' AND o.at <= n.at + interval '$1'" : (),
		$condition ? 'NOT n.draft AND NOT o.draft' : (), $unless ? 'n.confirmed IS NOT TRUE' : (), "$alike >= $threshold";
	$g->{decides} = [ 'v', $within =~ /tenant/ ? 'tenant' : (), $within =~ /at/ ? 'at' : (), $condition ? 'draft' : (), $unless ? 'confirmed' : () ];
	return $g;
}

# Compares the table with what the guard promises of all rows.
sub check_guarded
{
	my ($g) = @_;
	my $pairs = "FROM t n JOIN t o ON n.id < o.id AND $g->{near} AND " . $g->{near} =~ s/\b([no])\.(?=\w)/($1 eq 'n' ? 'o' : 'n') . '.'/ger;
	my %wrong = $g->{kind} ne 'group' ? ('near pairs' => "SELECT n.id || '-' || o.id $pairs", 'near rows of the archive' => $g->{against} && $g->{slow} ? "SELECT n.id || '-' || o.id FROM t n, archive o WHERE $g->{near}" : 'SELECT FROM t LIMIT 0') : (
		'near leaders' => "SELECT n.id || '-' || o.id $pairs WHERE n.id = n.same_as AND o.id = o.same_as",
		'members without a near leader' => "SELECT n.id || ' of ' || n.same_as FROM t n WHERE NOT EXISTS (SELECT FROM t o WHERE o.id = n.same_as AND o.same_as = o.id AND (o.id = n.id OR $g->{near}))");

	same($_, $wrong{$_}, [], [ split /\n/, sql(in_way($wrong{$_})) ]) foreach sort keys %wrong;

	# By an asymmetric measure a row may resemble later ones.
	my $listed = "SELECT problem, row_key, resembles FROM neardup_guard_violations('t')";
	same('violations', $listed, [], [ split /\n/, sql($listed) ]) if $g->{slow} && $g->{alike} !~ /^containment/ && !grep { $_ eq 'confirmed' } @{ $g->{decides} };
}

# Writes row after row, each of which is predicted.
sub guard
{
	my $g = make_guard(80);
	my $flags = 'tenant, at, draft, confirmed, v';

	foreach my $x (1 .. 80)
	{
		my $old = rand() < 0.25 ? sql('SELECT id FROM t ORDER BY share(id, ' . int(rand 1e6) . ') LIMIT 1') : '';
		my $new = '(SELECT ' . ($old || $x) . "::bigint AS id, $flags FROM pool WHERE id = $x) n";

		if ($g->{against} && rand() < 0.1) { sql("INSERT INTO archive SELECT $COLUMNS FROM pool WHERE id = $x"); next }
		if ($old ne '' && rand() < 0.2) { sql("DELETE FROM t WHERE id = $old"); next }
		if ($old ne '' && rand() < 0.3) { sql("UPDATE t SET tick = tick + 1 WHERE id = $old", pick('SELECT', 'VACUUM (TRUNCATE off) t')); next }

		my $near = "EXISTS (SELECT FROM $new, t o WHERE o.id <> n.id AND $g->{near})" . ($g->{against} ? " OR EXISTS (SELECT FROM $new, archive o WHERE $g->{near})" : '');
		my ($n, $o) = map { my $side = $_; join ', ', map { "$side.$_" . ($_ eq 'confirmed' ? ' IS TRUE' : '') } @{ $g->{decides} } } 'n', 'o';
		my $expected = sql(in_way("SELECT ($near)" . ($old && " AND (SELECT ($n) IS DISTINCT FROM ($o) FROM $new JOIN t o USING (id))")));
		my $leader = $g->{kind} eq 'group' && !$old ? sql(in_way("SELECT coalesce((SELECT o.id FROM $new, t o WHERE o.same_as = o.id AND $g->{near} ORDER BY $g->{alike} DESC, o.id LIMIT 1), $x)")) : '';
		my $sql = $old ? "UPDATE t SET ($flags) = (SELECT $flags FROM pool WHERE id = $x) WHERE id = $old RETURNING id" : "INSERT INTO t SELECT $COLUMNS FROM pool WHERE id = $x RETURNING id, same_as";
		my ($output, $state) = run_in($asking, qr/^23P01$/, $sql);
		my $refused = $state eq '23P01' || $g->{kind} eq 'skip' && $output eq '' ? 't' : 'f';

		same('rows guarded', $sql, [ $g->{kind} eq 'group' ? 'f' : $expected ], [$refused]);
		same('leaders', $sql, [$leader], [ $output =~ s/.*\|//r ]) if $leader ne '';
	}
	check_guarded($g);
}

# ---- Sessions at the same time -------------------------------------------------

# Runs transactions, the same ones again until other sessions have finished; and a condition that sometimes waits, so that others write between what a search finds and what it looks at.
my $SQL = "CREATE EXTENSION neardup;$Rows::SQL;" . q{
CREATE TABLE finished (at timestamptz);
CREATE PROCEDURE work(transactions text[], times int) LANGUAGE plpgsql AS $$
DECLARE
	t text;
BEGIN
	FOR i IN 1 .. times LOOP
		FOREACH t IN ARRAY transactions LOOP
			BEGIN
				EXECUTE t;
			EXCEPTION WHEN OTHERS THEN
				RAISE INFO USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
			END;
			COMMIT;
		END LOOP;
		EXIT WHEN EXISTS (SELECT FROM finished);
	END LOOP;
END $$;
CREATE FUNCTION slow(draft boolean) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF random() < 0.5 THEN
		PERFORM pg_sleep(0.0005);
	END IF;
	RETURN NOT draft;
END $$
};

# The first rows, which are updated most.
my $HOT = 4;

# Returns a statement that writes rows of the pool, or updates what no guard looks at.
sub some_write
{
	my ($g, $role, $x) = @_;
	my $row = rand() < 0.8 ? 1 + int rand $HOT : '(SELECT id FROM t ORDER BY id OFFSET ' . int(rand 30) . ' % (SELECT greatest(count(*), 1) FROM t) LIMIT 1)';
	my $flags = 'tenant, at, draft, confirmed, v';
	my $way = $role eq 'writer' ? rand : 1;

	return 'VACUUM (TRUNCATE off, INDEX_CLEANUP on) t' if $role eq 'cleaner';
	return "INSERT INTO t SELECT $COLUMNS FROM pool WHERE id = $x" if $way < 0.85;
	return "INSERT INTO t SELECT $COLUMNS FROM pool WHERE id BETWEEN $x AND $x + 2 ON CONFLICT DO NOTHING" if $way < 0.88 && $g->{kind} =~ /exclude|reject/;
	return "DELETE FROM t WHERE id = $row" if $way < 0.9;
	return "UPDATE t SET ($flags) = (SELECT $flags FROM pool WHERE id = $x) WHERE id = $row" if $way < 0.94;
	return "UPDATE archive SET tick = tick + 1 WHERE id % 3 = " . int rand 3 if $g->{against} && rand() < 0.5;
	return 'UPDATE t SET tick = tick + 1 WHERE id ' . (rand() < 0.2 ? "<= $HOT" : "= $row");
}

# Returns the statements of a session, some of them in transactions; in one call, which is faster, or one by one.
sub script
{
	my ($g, $role, @numbers) = @_;
	my ($called, @transactions) = $role eq 'updater' || $role eq 'writer' && $g->{kind} ne 'deferred' && rand() < 0.85;
	my $isolation = pick(('read committed') x 4, 'repeatable read', $called ? () : 'serializable');

	while (@numbers)
	{
		my @writes = map { some_write($g, $role, shift(@numbers) // 1) } 0 .. ($role eq 'cleaner' || rand() < 0.9 ? 0 : 1 + int rand 4);

		@writes = ('BEGIN', @writes, rand() < 0.2 ? 'ROLLBACK' : 'COMMIT') if @writes > 1 && !$called;
		push @transactions, join(";\n", @writes) . ($role eq 'cleaner' ? ";\nSELECT pg_sleep(0.02)" : '');
	}
	@transactions = 'CALL work(ARRAY[' . join(",\n", map { "\$\$$_\$\$" } @transactions) . '], ' . ($role eq 'updater' ? 60 : 1) . ')' if $called;
	return "\\set VERBOSITY sqlstate\n" . join ";\n", limit_lists(), "SET default_transaction_isolation = '$isolation'", @transactions, '';
}

# Lets sessions write at the same time, then compares the table.
sub race
{
	my ($writers, $updaters, $each) = (2 + int rand 2, 2 + int rand 2, 200);
	my $g = make_guard($HOT + $writers * $each + 3, 1);
	my @roles = (('writer') x $writers, ('updater') x $updaters, pick('cleaner', 'updater'));
	my ($connection, $folder, @commands, %states) = ($node->connstr('postgres'), PostgreSQL::Test::Utils::tempdir_short());

	sql('TRUNCATE finished', $g->{against} ? "INSERT INTO archive SELECT $COLUMNS FROM pool WHERE id % 50 = 1" : ());
	run_in($asking, qr/^23P01$/, map { "INSERT INTO t SELECT $COLUMNS FROM pool WHERE id = $_" } 1 .. $HOT);
	foreach my $i (0 .. $#roles)
	{
		my $script = script($g, $roles[$i], map { $HOT + ($i < $writers ? $i * $each : 0) + $_ } 1 .. { writer => $each, updater => 100, cleaner => 30 }->{ $roles[$i] });

		append_to_file("$folder/$i.sql", $script);
		push @LOG, "\\! psql -f race-$i.sql &\n-- race-$i.sql:\n" . $script =~ s/^/-- /gmr;
		push @commands, "psql -XAtq -d '$connection' -f $folder/$i.sql >$folder/$i.out 2>&1 & p$i=\$!;";
	}
	system(join ' ', @commands, 'wait', (map { "\$p$_" } 0 .. $writers - 1), "; psql -XAtq -d '$connection' -c 'INSERT INTO finished SELECT now()'; wait");
	foreach my $i (0 .. $#roles)
	{
		$states{$_}++ foreach slurp_file("$folder/$i.out") =~ /^psql.*(?:INFO|ERROR|FATAL): +(\w{5})$/mg;
		die { sql => "race-$i.sql", text => 'the session ends early' } if slurp_file("$folder/$i.out") =~ /closed the connection|lost/;
	}
	$COUNT{"races: $_"} += $states{$_} foreach keys %states;
	delete @states{qw(23505 23P01 40P01 40001 25P02)};
	same('schedules', 'the sessions', [], [ keys %states ]);
	check_guarded($g);
}

# ---- Rounds --------------------------------------------------------------------

# Runs a round, whatever was before; returns what it was about.
sub run_round
{
	my ($number) = @_;
	my $name = (qw(search race batch search race batch search guard))[ $number % 8 ];
	my $area = \&$name;

	srand($SEED * 100_000 + $number);
	@LOG = ();
	$tiny = $name eq 'race' ? 0 : pick((0) x 4, 2, 3, 16, 60);
	$_ = begin_session($_) foreach $asking, $writing;
	sql("DROP TABLE IF EXISTS $_ CASCADE") foreach qw(t docs verdicts copy refs judged merged archive pool);
	return $name if eval { $area->(); 1 };
	my $problem = ref $@ ? $@ : { sql => '', text => $@ };
	my $path = "$ENV{TESTLOGDIR}/differential-$SEED-$number.sql";

	append_to_file($path, join ";\n", $SQL, @LOG, '');
	fail(sprintf "seed %s, round %d (%s), after %.0f s", $SEED, $number, $name, time - $start);
	diag("$problem->{text}\n" . substr($problem->{sql}, 0, 3000) . "\nthe statements before it are in $path");
	return $name;
}

$node->safe_psql('postgres', $SQL);
my $number = $ALONE // 1;
do
{
	my $before = time;
	my $area = run_round($number++);

	$rounds{$area}++;
	$COUNT{"seconds of $area"} += time - $before;
	note("round $number") if $number % 100 == 0;
} while (!defined $ALONE && time - $start < $SECONDS);

note("summary: seed $SEED, " . join(', ', map { "$rounds{$_} rounds of $_" } sort keys %rounds));
note(sprintf '%s %.0f', $_, $COUNT{$_}) foreach sort keys %COUNT;
cmp_ok(sum0(values %rounds), '>=', defined $ALONE ? 1 : 8, 'rounds were run');
is($COUNT{'other plans'} // 0, 0, 'the index was asked');
$_->close foreach $asking, $writing;
$node->stop;
done_testing();
