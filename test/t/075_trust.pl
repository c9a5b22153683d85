# A superuser does not run the code of a table that a role without superuser owns, by any script
# or function that changes rows, however that code hangs on the table.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('trust');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

my ($ok, $out, $err);

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# Runs statements in a session of a role, and returns whether they succeed and what they say.
sub sql_of
{
	my ($role, $sql) = @_;

	my $status = $node->psql('postgres', $sql, stdout => \my $said, stderr => \my $errors, extra_params => [ '-U', $role, '-v', 'ON_ERROR_STOP=1' ]);
	return ($status == 0, $said, $errors);
}

sql(q{
	CREATE ROLE owner LOGIN;
	CREATE ROLE member LOGIN IN ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	CREATE EXTENSION neardup;
	-- A sequence records that code ran that could have a superuser's rights, even if it is rolled back.
	CREATE SEQUENCE taken;
	GRANT ALL ON SEQUENCE taken TO owner;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant FROM generate_series(1, 100) i $$;
});
ok((sql_of('owner', q{
	CREATE FUNCTION take(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
		IF EXISTS (SELECT FROM pg_roles WHERE rolname IN (current_user, session_user) AND rolsuper) THEN PERFORM nextval('public.taken'); END IF;
		RETURN true; END $$;
	CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.take(1); RETURN coalesce(NEW, OLD); END $$;
	CREATE DOMAIN inner_domain AS int;
	CREATE DOMAIN outer_domain AS inner_domain;
}))[0], 'the owner has hostile functions');

sub is_not_taken
{
	is(sql('SELECT is_called FROM taken'), 'f', "$_[0]: no code ran");
	sql(q{SELECT setval('taken', 1, false)});
}

# Makes the table t of a role, with families of four rows.
sub make_table
{
	my ($role, $more) = @_;

	sql('DROP SCHEMA IF EXISTS other CASCADE; DROP TABLE IF EXISTS t CASCADE; CREATE SCHEMA other; GRANT ALL ON SCHEMA other TO owner');
	($ok, $out, $err) = sql_of($role, q{CREATE TABLE t (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (public.to_minhash(body)) STORED, dup int, same_as int);
		INSERT INTO t (id, body) SELECT i, public.words(i / 4, i % 4) FROM generate_series(1, 20) i;} . ($more // ''));
	ok($ok, 'a table') or diag $err;
}

my $refused = qr/a superuser may not run the (code|triggers) of/;
my %run = (
	'keep-one, marks' => [ 'keep-one', 'mark=dup' ],
	'keep-one, deletes' => [ 'keep-one' ],
	'undo' => [ 'undo', 'mark=dup', 'record=merged' ],
	'sign' => [ 'sign', 'sig=other' ],
	'lexicon' => [ 'lexicon', 'function=weighed' ]);
my $group = q{SELECT neardup_guard('t', 'sig', 0.8, 'group', group_column => 'same_as')};

# Whatever a superuser does with the table is refused, and runs nothing.
sub all_refused
{
	my ($name, $table, $group_too) = @_;

	sql(q{SELECT setval('taken', 1, false)});
	foreach my $run (sort keys %run)
	{
		next if $table ne 't' && $run =~ /sign|lexicon/;
		($ok, $out, $err) = $node->run_script($run{$run}[0], [ "table=$table", @{$run{$run}}[1 .. $#{$run{$run}}] ]);
		like($err, $refused, "$name: $run is refused") or diag $out;
		is_not_taken("$name, $run");
	}
	return if !$group_too;
	($ok, $out, $err) = sql_of('postgres', $group);
	like($err, $refused, "$name: a guard that groups is refused");
	is_not_taken("$name, group");
}

# ---- Code of a user's table -----------------------------------------------------------------

my %code = (
	'a trigger' => 'CREATE TRIGGER a BEFORE UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION fires()',
	'a deferred trigger' => 'CREATE CONSTRAINT TRIGGER a AFTER UPDATE OR DELETE ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fires()',
	'a statement trigger' => 'CREATE TRIGGER a BEFORE UPDATE OR DELETE ON t EXECUTE FUNCTION fires()',
	'a domain over a domain in a check' => 'ALTER DOMAIN inner_domain ADD CHECK (take(VALUE)) NOT VALID; ALTER TABLE t ADD CHECK (id::outer_domain IS NOT NULL) NOT VALID',
	'a query in a text' => q{ALTER TABLE t ADD CHECK (query_to_xml('SELECT public.take(1)', false, false, '') IS NOT NULL) NOT VALID},
	'a default' => 'ALTER TABLE t ALTER dup SET DEFAULT take(1)::int',
	'a generated column' => 'ALTER TABLE t ADD g boolean GENERATED ALWAYS AS (take(id)) STORED',
	'an index expression' => 'CREATE INDEX ON t (take(id))',
	'an index condition' => 'CREATE INDEX ON t (id) WHERE take(id)',
	'an expression of statistics' => 'CREATE STATISTICS s ON take(id), id FROM t; ALTER STATISTICS s SET STATISTICS 100',
	'a policy' => 'ALTER TABLE t ENABLE ROW LEVEL SECURITY; ALTER TABLE t FORCE ROW LEVEL SECURITY; CREATE POLICY p ON t USING (take(id))',
	'a rule' => 'CREATE RULE r AS ON UPDATE TO t DO ALSO SELECT take(1); CREATE RULE d AS ON DELETE TO t DO ALSO SELECT take(1)',
	'nothing' => '');
foreach my $name (sort keys %code)
{
	make_table('owner', $code{$name});
	all_refused($name, 't', 1);
	foreach my $script ('report', 'status', 'review')
	{
		($ok, $out, $err) = $node->run_script($script, [ 'table=t' ]);
		ok($ok, "$name: a superuser may run $script") or diag $err;
	}
	sql('DROP STATISTICS IF EXISTS s; ALTER DOMAIN inner_domain DROP CONSTRAINT IF EXISTS inner_domain_check');
}
foreach my $script ('report', 'status', 'review', 'watch', 'watch')
{
	make_table('owner', $code{'a trigger'} . ';' . $code{'a policy'}) if $script eq 'report';
	sql(q{SELECT setval('taken', 1, false)});
	($ok, $out, $err) = $node->run_script($script, [ 'table=t', $script eq 'watch' ? 'schema=other' : () ]);
	ok($ok, "a superuser may run $script") or diag $err;
	is_not_taken($script);
}

# Who accepts the risk says so; the owner and its members need not.
make_table('owner', $code{'a trigger'});
foreach my $trust ('yes', '1')
{
	($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t', "trust=$trust" ]);
	ok($ok, "trust=$trust") or diag $err;
	is(sql('SELECT is_called FROM taken'), 't', 'the sequence would notice code');
	sql(q{SELECT setval('taken', 1, false)});
}
foreach my $role ('owner', 'member')
{
	($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ], '-U', $role);
	ok($ok, "keep-one by $role") or diag $err;
}
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ]);
like($err, qr/code of "t", which belongs to role "owner"\nDETAIL:  Its triggers.*\nHINT:  Connect as role "owner", or as a member of it\.  A procedure accepts the risk with trust => true, a script with -v trust=1\./, 'the message says what to do');
sql('ALTER ROLE owner NOLOGIN');
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ]);
like($err, qr/HINT:  Connect as a member of role "owner", which cannot log in/, 'also for a role that cannot log in');
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ], '-U', 'member');
ok($ok, 'a member can') or diag $err;
sql('ALTER ROLE owner LOGIN');
($ok, $out, $err) = sql_of('postgres', q{SELECT neardup_guard('t', 'sig', 0.8)});
like($err, $refused, 'a guard of another action is refused, too');
($ok, $out, $err) = sql_of('owner', $group);
ok($ok, 'the owner makes a guard') or diag $err;
($ok, $out, $err) = sql_of('postgres', q{SELECT neardup_guard('t', 'sig', action => 'none')});
ok($ok, 'guards are dropped without it') or diag $err;

# ---- Other rights in the same session -------------------------------------------------------

make_table('owner', $code{'a trigger'} . qq{;
	CREATE FUNCTION grouped() RETURNS name LANGUAGE sql SECURITY DEFINER AS \$\$ $group \$\$});
sql(qq{CREATE OR REPLACE FUNCTION grouped_by_superuser() RETURNS name LANGUAGE sql SECURITY DEFINER AS \$\$ $group \$\$; SELECT setval('taken', 1, false)});
my @sessions = (
	[ 'SET ROLE', 'postgres', "SET ROLE owner; $group" ],
	[ 'SET SESSION AUTHORIZATION', 'postgres', "SET SESSION AUTHORIZATION owner; $group" ],
	[ "the owner's SECURITY DEFINER", 'postgres', 'SELECT grouped()' ],
	[ "a superuser's SECURITY DEFINER", 'member', 'SELECT grouped_by_superuser()' ]);
foreach my $session (@sessions)
{
	($ok, $out, $err) = sql_of($session->[1], $session->[2]);
	like($err, $refused, "$session->[0] is refused");
	is_not_taken($session->[0]);
}
like($err, qr/DETAIL:  Its triggers, constraints/, 'as a superuser');
($ok, $out, $err) = sql_of('postgres', "SET ROLE owner; $group");
like($err, qr/DETAIL:  This session began as a superuser/, 'the message says why SET ROLE is not enough');
($ok, $out, $err) = sql_of('member', 'SELECT grouped()');
ok($ok, "the owner's SECURITY DEFINER, called by a user") or diag $err;
sql('DROP FUNCTION grouped, grouped_by_superuser CASCADE');

# ---- Tables of others that a superuser's table brings with it ----------------------------------

my $trigger = 'CREATE TRIGGER a BEFORE UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION public.fires()';

# Makes a superuser's table t, the rest as a superuser, and a trigger of the owner's table.
sub make_brought
{
	my ($sql, $table) = @_;

	make_table('postgres');
	sql($sql);
	return if !defined $table;
	sql("ALTER TABLE $table OWNER TO owner; GRANT SELECT ON t TO owner");
	($ok, $out, $err) = sql_of('owner', sprintf($trigger, $table));
	ok($ok, 'a trigger') or diag $err;
}

make_brought('CREATE TABLE other.child () INHERITS (t); INSERT INTO other.child (id, body) VALUES (21, words(5, 9))', 'other.child');
all_refused('a child', 't', 1);
make_brought('CREATE TABLE other.refers (t int REFERENCES t ON DELETE CASCADE); INSERT INTO other.refers SELECT id FROM t', 'other.refers');
all_refused('a foreign key that deletes', 't', 1);
make_brought('CREATE TABLE other.between (id int PRIMARY KEY REFERENCES t ON DELETE CASCADE); INSERT INTO other.between SELECT id FROM t;
	CREATE TABLE other.refers (t int REFERENCES other.between ON DELETE SET NULL); INSERT INTO other.refers SELECT id FROM t', 'other.refers');
all_refused('a foreign key to a table of a foreign key', 't', 1);
make_brought('CREATE TABLE other.refers (t int REFERENCES t); INSERT INTO other.refers SELECT id FROM t', 'other.refers');
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ]);
like($err, qr/code of "refers"/, 'a foreign key whose rows follow');
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t', 'move_references=false', 'mark=dup' ]);
ok($ok, 'no other foreign key is in the way') or diag $err;
is_not_taken('it');
make_brought('CREATE TABLE other.copy (id int); INSERT INTO other.copy SELECT id FROM t;
	CREATE RULE r AS ON UPDATE TO t DO ALSO UPDATE other.copy SET id = 0 WHERE copy.id = NEW.id; CREATE RULE d AS ON DELETE TO t DO ALSO DELETE FROM other.copy WHERE copy.id = OLD.id', 'other.copy');
all_refused("a superuser's rule that changes another table", 't', 1);
make_brought("CREATE TABLE other.record (id int)");
sql('GRANT TRIGGER ON t TO owner');
ok((sql_of('owner', sprintf($trigger, 't')))[0], 'a trigger of another role');
all_refused('a trigger of a role that may create some', 't', 1);
sql('GRANT TRIGGER ON t TO PUBLIC');
my ($revoke) = (sql_of('postgres', q{SELECT neardup_require_trust('t')}))[2] =~ /Use (REVOKE .*?), and drop/;
sql("SET search_path = pg_catalog; $revoke");
is(sql(q{SELECT has_table_privilege('owner', 't', 'TRIGGER')}), 'f', "the statement of the hint runs as it is printed: $revoke");
sql('DROP TRIGGER a ON t; GRANT ALL ON t TO owner');
($ok, $out, $err) = $node->run_script('keep-one', [ 'table=t' ]);
ok($ok, 'a privilege alone is not in the way') or diag $err;

# Partitions, and a partitioned table above.
my $parts = 'CREATE TABLE other.p (id int, body text, sig minhash, dup int) PARTITION BY LIST (id); CREATE TABLE other.p1 PARTITION OF other.p DEFAULT; INSERT INTO other.p SELECT id, body, sig FROM t';
make_brought($parts, 'other.p1');
all_refused('a partition', 'other.p');
make_brought($parts);
sql('ALTER TABLE other.p OWNER TO owner; ALTER TABLE other.p1 OWNER TO postgres');
all_refused('a partitioned table above', 'other.p1');

# Views.
foreach my $option ('', sql('SHOW server_version_num') >= 150000 ? 'WITH (security_invoker = true)' : ())
{
	make_brought("GRANT ALL ON t TO owner; CREATE VIEW other.v $option AS SELECT *, take(id) AS ok FROM t");
	sql('ALTER VIEW other.v OWNER TO owner');
	all_refused("a user's view $option", 'other.v');
	($ok, $out, $err) = $node->run_script('report', [ 'table=other.v' ]);
	like($err, $refused, 'nor is it read');
	is_not_taken('read');
	make_table('owner', $code{'a trigger'});
	sql("CREATE VIEW other.v $option AS SELECT * FROM t");
	all_refused("a superuser's view of a user's table $option", 'other.v');
	($ok, $out, $err) = $node->run_script('report', [ 'table=other.v' ]);
	ok($ok, 'it may be read') or diag $err;
	is_not_taken('read');
}

# A foreign table.
sql('CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w; CREATE FOREIGN TABLE other.f (id int) SERVER s; ALTER FOREIGN TABLE other.f OWNER TO owner');
($ok, $out, $err) = sql_of('postgres', q{SELECT neardup_require_trust('other.f')});
like($err, $refused, 'a foreign table');

# Tables that a script or a guard writes to.
make_table('postgres');
$node->run_script('keep-one', [ 'table=t', 'threshold=0.8', 'mark=dup', 'record=other.merged', 'apply=yes' ]);
sql('ALTER TABLE other.merged OWNER TO owner; UPDATE t SET dup = NULL');
ok((sql_of('owner', 'CREATE TRIGGER a BEFORE INSERT OR UPDATE ON other.merged FOR EACH ROW EXECUTE FUNCTION public.fires()'))[0], 'a trigger of the record');
foreach my $script ('keep-one', 'undo')
{
	($ok, $out, $err) = $node->run_script($script, [ 'table=t', 'mark=dup', 'record=other.merged' ]);
	like($err, qr/code of "merged"/, "the record of $script");
	is_not_taken("the record of $script");
}
sql('CREATE TABLE other.log (row_key int, resembles int); ALTER TABLE other.log OWNER TO owner');
($ok, $out, $err) = sql_of('postgres', q{SELECT neardup_guard('t', 'sig', 0.8, 'log', log_table => 'other.log')});
like($err, qr/code of "log"/, 'the log of a guard');

# ---- An owner that changes between check and use ----------------------------------------------

# Another session holds a lock, then runs statements.  The script waits for the lock.
sub waits
{
	my ($name, $expected, $lock, $then, @run) = @_;

	my $holder = $node->background_psql('postgres');
	$holder->query_safe("BEGIN; $lock");
	my $pid = fork();
	if (!$pid)
	{
		($ok, $out, $err) = $node->run_script(@run);
		append_to_file($node->basedir . '/waits', $err);
		require POSIX;
		POSIX::_exit(0);
	}
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted}) or die 'nobody waits';
	$holder->query_safe("$then; COMMIT");
	$holder->quit;
	waitpid $pid, 0;
	$err = slurp_file($node->basedir . '/waits');
	unlink $node->basedir . '/waits';
	like($err, $expected, $name);
	is_not_taken($name);
}
SKIP:
{
	skip 'this PostgreSQL has no background_psql()', 8 if !$node->can('background_psql') || !eval { require PostgreSQL::Test::BackgroundPsql };
	my $give = 'ALTER TABLE t OWNER TO owner; SET LOCAL ROLE owner; ' . sprintf($trigger, 't');
	foreach my $mode ('ACCESS EXCLUSIVE', 'ROW EXCLUSIVE')
	{
		make_table('postgres');
		waits("a table given away under $mode: refused", $refused, "LOCK TABLE t IN $mode MODE", $give, 'keep-one', [ 'table=t' ]);
	}
	make_table('postgres');
	sql('GRANT ALL ON t TO owner; ALTER TABLE t OWNER TO owner');
	waits('a call reads the table that it was given, and no view that takes its name', qr/\A(?!.*ERROR)/s, 'LOCK TABLE t IN ACCESS EXCLUSIVE MODE',
		'SET LOCAL ROLE owner; ALTER TABLE t RENAME TO hidden; CREATE VIEW t AS SELECT *, take(id) AS ok FROM hidden', 'report', [ 'table=t', 'title=body' ]);
	sql('DROP VIEW t; ALTER TABLE hidden RENAME TO t');
	make_table('owner');
	waits('a trigger made while a script waits: refused', $refused, 'LOCK TABLE t IN ACCESS EXCLUSIVE MODE', 'SET LOCAL ROLE owner; ' . sprintf($trigger, 't'), 'keep-one', [ 'table=t' ]);
}

# Another role runs the owner's code with its own rights, as if it read a view of the owner: no more than that.
sql('CREATE ROLE reader LOGIN');
ok((sql_of('owner', q{
	CREATE FUNCTION told(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'runs as %', current_user; RETURN true; END $$;
	CREATE TABLE watched (id int PRIMARY KEY, sig minhash);
	INSERT INTO watched VALUES (1, to_minhash(words(1, 1)));
	SELECT neardup_guard('watched', 'sig', 0.9, condition => 'told(id)');
	CREATE VIEW seen AS SELECT id FROM watched WHERE told(id);
	GRANT SELECT ON watched, seen TO reader}))[0], 'a guard and a view that call a function of their owner');
foreach my $query ('SELECT id FROM seen', q{SELECT neardup_guard_violations('watched')})
{
	is_deeply([ (sql_of('reader', $query))[2] =~ /(runs as \w+)/g ], ['runs as reader'], $query);
	is_deeply([ (sql_of('postgres', $query))[2] =~ /(runs as \w+)/g ], $query =~ /seen/ ? ['runs as postgres'] : [], "a superuser: $query");
}

# What only readers' planning evaluates is not asked about, and is what a SELECT of one's own evaluates.
make_table('owner', q{CREATE INDEX ON t ((take(1)))});
sql(q{SELECT setval('taken', 1, false)});
ok((sql_of('postgres', q{SELECT neardup_require_trust('t', changes => false)}))[0], 'an index expression is no question for readers');
is(sql('SELECT is_called FROM taken'), 'f', 'and asking runs nothing');
sql_of('postgres', 'SELECT count(*) FROM t');
is(sql('SELECT is_called FROM taken'), 't', 'as a query of the table does');

$node->stop;
done_testing();
