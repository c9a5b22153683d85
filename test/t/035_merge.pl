# neardup_keep_one() and neardup_undo(): references follow the rows that are kept, what was
# done is recorded, and marks are taken back.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('merge');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

# Four families of ten; tables that refer to them in several ways.
my $tables = q{
	CREATE TABLE papers (id int PRIMARY KEY, tenant int, body text, same_as int REFERENCES papers, parent int REFERENCES papers, code text UNIQUE,
		sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, UNIQUE (tenant, id));
	INSERT INTO papers (id, tenant, body, code)
		SELECT i, i % 2, (SELECT string_agg('f' || i % 4 || 'w' || j, ' ') FROM generate_series(1, 60) j) || ' v' || i, 'c' || i FROM generate_series(1, 40) i;
	UPDATE papers SET parent = 15 WHERE id = 4;
	CREATE TABLE votes (id int PRIMARY KEY, paper int REFERENCES papers ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
	INSERT INTO votes SELECT i, 1 + i % 40 FROM generate_series(1, 200) i;
	CREATE TABLE notes (id serial PRIMARY KEY, tenant int, paper int, "of %1$s" text REFERENCES papers (code),
		FOREIGN KEY (tenant, paper) REFERENCES papers (tenant, id)) PARTITION BY RANGE (id);
	CREATE TABLE notes_1 PARTITION OF notes FOR VALUES FROM (1) TO (20);
	CREATE TABLE notes_2 PARTITION OF notes DEFAULT;
	INSERT INTO notes (tenant, paper, "of %1$s") SELECT i % 2, i, 'c' || i FROM generate_series(1, 40) i;
	CREATE TABLE before AS SELECT 'papers' AS name, p::text AS line FROM papers p UNION ALL SELECT 'votes', v::text FROM votes v UNION ALL SELECT 'notes', n::text FROM notes n;
};
my $changed = q{SELECT count(*) FROM (
	SELECT 'papers' AS name, p::text AS line FROM papers p UNION ALL SELECT 'votes', v::text FROM votes v UNION ALL SELECT 'notes', n::text FROM notes n EXCEPT TABLE before) x};
my @merge = ('table=papers', 'threshold=0.8', 'within=tenant');

sub run_script
{
	my ($name, @variables) = @_;

	return $node->run_script($name, \@variables);
}

sub query
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query);
}

$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
$node->safe_psql('postgres', $tables);

# ---- References follow ------------------------------------------------------------

my ($ok, $out, $err) = run_script('keep-one', @merge, 'limit=1', 'record=merged');
ok($ok, 'a dry run') or diag $err;
like($out, qr/^public\.papers: 36 near-duplicates .* of 4 rows that stay$/m, 'within tenants');
like($out, qr/^references of public\.notes \("of %1\$s"\) that follow: 36\nreferences of public\.notes \(tenant, paper\) that follow: 36\nreferences of public\.papers \(parent\) that follow: 1\nreferences of public\.papers \(same_as\) that follow: 0\nreferences of public\.votes \(paper\) that follow: 180$/m,
	'lists what follows');
is(query($changed) . query(q{SELECT to_regclass('merged') IS NULL}), '0t', 'and changes nothing, nor makes the record');

($ok, $out, $err) = run_script('keep-one', @merge, 'mark=same_as', 'record=merged', 'apply=yes');
ok($ok, 'marks') or diag $err;
is(query('SELECT (SELECT count(*) FROM votes JOIN papers p ON paper = p.id WHERE same_as IS NOT NULL), (SELECT count(*) FROM notes n JOIN papers p ON paper = p.id OR n."of %1$s" = p.code WHERE same_as IS NOT NULL),
	(SELECT count(*) FROM votes v JOIN before b ON b.line ~ (\'^.\' || v.id || \',\') AND name = \'votes\' JOIN papers o ON o.id = split_part(rtrim(line, \')\'), \',\', 2)::int WHERE v.paper <> coalesce(o.same_as, o.id)),
	(SELECT parent FROM papers WHERE id = 4)'), '0|0|0|3', 'each reference follows its row');
is(query('SELECT count(*), count(DISTINCT m.id), bool_and(same_as = m.keeper::int AND m.similarity >= m.threshold AND m."table" = \'papers\'::regclass AND changed = m."table" AND columns->\'set\'->0->>1 = \'same_as\' AND by = current_user AND at <= now()),
	(SELECT count(*) FROM merged WHERE step > 0) FROM merged m JOIN papers p ON p.id = m.id::int WHERE step = 0'), '36|36|t|253', 'the record says what went where');

# ---- Undo ----------------------------------------------------------------------------

query(q{UPDATE papers SET same_as = NULL WHERE id = 9; UPDATE votes SET paper = 2 WHERE id = 20});
my @undo = ('table=papers', 'mark=same_as', 'record=merged');
($ok, $out, $err) = run_script('undo', @undo);
like($out, qr/^public\.papers: 35 marks are taken back, 1 have changed since\n(.*\n){3}references of public\.votes \(paper\) that go back: 174 of 180\n9 rows stay as others have changed them:\n(    .*\n){9}dry run/m, 'a dry run of undo') or diag $err;
is(query('SELECT count(*) FROM papers WHERE same_as IS NOT NULL'), '35', 'changes nothing');
($ok, $out, $err) = run_script('undo', @undo, 'apply=yes');
like($err, qr/others have changed 9 of the rows since\nDETAIL:  These stay as they are:\n    \(9\) of public\.papers\n.*    \(20\) of public\.votes\n.*skip_changed/s, 'what others have changed is an error');
is(query('SELECT count(*) FROM papers WHERE same_as IS NOT NULL') . query('SELECT count(*) FROM merged WHERE undone IS NOT NULL'), '350', 'which changes nothing');
($ok, $out, $err) = run_script('undo', @undo, 'apply=yes', 'skip_changed=yes');
ok($ok, 'undo') or diag $err;
is(query($changed), 5 + 1 + 1, 'all is as before, but for what has changed since');
is(query('SELECT count(*) FROM merged WHERE undone IS NULL'), '9', 'the record says what was undone');
like((run_script('undo', @undo))[1], qr/: 0 marks are taken back, 1 have/, 'once');
($ok, $out, $err) = run_script('undo', 'table=papers', 'mark=same_as', 'record=mergd', 'apply=yes');
like($err, qr/relation "public.mergd" does not exist/, 'a record that is not there');

# What an earlier run moved goes back by way of the later one.
query("DROP TABLE papers, votes, notes, before, merged; $tables");
foreach my $order ('id', 'id DESC')
{
	($ok, $out, $err) = run_script('keep-one', @merge, 'mark=same_as', 'record=merged', 'apply=yes', "order_by=$order");
	ok($ok, "a run of two, by $order") or diag $err;
	query('UPDATE papers SET same_as = NULL WHERE id IN (1, 3, 4)') if $order eq 'id';
}
($ok, $out, $err) = run_script('undo', @undo, 'apply=yes');
is(query($changed), 0, 'undo of two runs, the latest first') or diag $out, $err;

# ---- Rows that "order_by" does not tell apart -------------------------------------------

# An update moves rows to other places of the table; a dry run of before must hold for them.
query(q{CREATE TABLE ties (id int PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO ties SELECT i, (SELECT string_agg('f' || i % 20 || 'w' || j, ' ') FROM generate_series(1, 60) j) FROM generate_series(1, 100) i});
my @ties = ('table=ties', 'threshold=0.8', 'limit=100', 'order_by=length(body) DESC');
my @reports = map { $_ > 0 and query("UPDATE ties SET body = body WHERE id % 3 = $_"); (run_script('keep-one', @ties))[1] } 0 .. 2;
like($reports[0], qr/80 near-duplicates .* of 20 rows.*\n +1\.000 +29 of 9$/sm, 'the lowest of equal rows stays');
is($reports[1], $reports[0], 'also after an update');
is($reports[2], $reports[0], 'and another');
like((run_script('report', 'table=ties', 'title=Body'))[2], qr/column "Body" of relation "public.ties" does not exist.*HINT:  There is a column "body"/s, 'a name in other letters');

# ---- Deleting, and leaving references ---------------------------------------------

query("DROP TABLE papers, votes, notes, before, merged; $tables");
like((run_script('keep-one', @merge, 'move_references=no', 'apply=yes'))[2], qr/violates foreign key constraint/, 'references that are left');
($ok, $out, $err) = run_script('keep-one', @merge, 'record=merged', 'apply=yes');
ok($ok, 'deletes') or diag $err;
is(query('SELECT (SELECT count(*) FROM papers), (SELECT count(*) FROM votes), (SELECT count(*) FROM notes), (SELECT count(*) FROM merged WHERE step = 0 AND changed IS NULL)'), '4|200|40|36', 'and no reference is lost');

# ---- A key of several columns -----------------------------------------------------------

query(q{CREATE TABLE parts (tenant text, "%no" int, title text, body text, same_as text[], sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, PRIMARY KEY (tenant, "%no"));
	INSERT INTO parts (tenant, "%no", title, body) SELECT tenant, i, 'title ' || i, (SELECT string_agg('f' || i % 2 || 'w' || j, ' ') FROM generate_series(1, 60) j)
		FROM unnest('{a,"b, \\c"}'::text[]) tenant, generate_series(8, 13) i;
	CREATE TABLE orders (id int PRIMARY KEY, tenant text, part int, FOREIGN KEY (tenant, part) REFERENCES parts);
	INSERT INTO orders SELECT row_number() OVER (), tenant, "%no" FROM parts;});
my @parts = ('table=parts', 'id=tenant, %no');
my $orders = q{SELECT count(*), min(part), max(part) FROM orders JOIN parts p ON (p.tenant, "%no") = (orders.tenant, part) WHERE same_as IS NULL};
($ok, $out, $err) = run_script('report', @parts, 'within= tenant ', 'title=title');
like($out, qr/^1\|3\|\{a,8\}\|\|title 8\n1\|3\|\{a,10\}\|1\|title 10\n1\|3\|\{a,12\}\|1\|title 12$/m, 'a report sorts by the columns') or diag $err;
($ok, $out, $err) = run_script('review', @parts, 'title=title', 'kind=clusters');
like($out, qr/\{&quot;b, .*,13\}/, 'a review') or diag $err;
my @merge_parts = (@parts, 'threshold=0.8', 'within=tenant', 'mark=same_as', 'record=merged_parts', 'apply=yes');
($ok, $out, $err) = run_script('keep-one', @merge_parts);
like($out, qr/^references of public\.orders \(tenant, part\) that follow: 8\n8 rows marked$/m, 'marks') or diag $err;
is(query($orders), '12|8|9', 'references follow');
is(query(q{SELECT count(*) FROM parts WHERE same_as = ARRAY[tenant, (8 + "%no" % 2)::text]}), 8, 'the mark is the key of the row that is kept');
($ok, $out, $err) = run_script('undo', 'table=parts', 'mark=same_as', 'record=merged_parts', 'apply=yes');
like($out, qr/8 marks are taken back.*go back: 8 of 8/s, 'undo') or diag $err;
is(query($orders), '12|8|13', 'takes all back');
($ok, $out, $err) = run_script('keep-one', @parts, 'threshold=0.8', 'apply=yes');
like($out, qr/^10 rows deleted$/m, 'deletes') or diag $err;
($ok, $out, $err) = run_script('keep-one', @parts, 'threshold=0.8', 'record="parts.gone"', 'apply=yes');
is(query(q{SELECT count(*) FROM public."parts.gone"}), '0', 'a name with a dot') or diag $err;
like((run_script('keep-one', 'table=parts', 'threshold=0.8', 'id=tenant,number'))[2], qr/column "number" of relation "public.parts" does not exist/, 'each column must be there');
query('DROP TABLE orders, parts');

# ---- What is refused, before anything changes ------------------------------------------

sub is_refused
{
	my ($name, $sql, $message, @variables) = @_;

	query("DROP TABLE papers, votes, notes, before; DROP TABLE IF EXISTS merged; $tables; $sql");
	my ($ok, $out, $err) = run_script('keep-one', @merge, 'apply=yes', @variables);
	like($err, qr/$message.*HINT/s, $name);
	is($ok . query($changed), '0', "$name: nothing has changed") or diag $out;
}
is_refused('a unique column', 'CREATE UNIQUE INDEX ON votes (paper, (id / 40))', 'references of table "public.votes" cannot follow: duplicate key');
is_refused('a rule', 'CREATE RULE r AS ON UPDATE TO votes DO INSTEAD NOTHING', 'rule "r" is run instead');
is_refused('a NULL', q{DELETE FROM notes WHERE paper = 1; UPDATE papers SET code = NULL WHERE id = 1; UPDATE before SET line = p::text FROM papers p WHERE id = 1 AND name = 'papers' AND line LIKE '(1,%'},
	'public.notes" cannot follow: .*NULL');
is_refused('a row that would refer to itself', q{UPDATE papers SET parent = 5 WHERE id = 1; UPDATE before b SET line = p::text FROM papers p WHERE b.name = 'papers' AND p.id = 1 AND line LIKE '(1,%'}, 'would refer to itself');
is_refused('the key as mark', 'SELECT', '"mark" must be a column of its own, not "id"', 'mark=id');
is_refused('a record of other columns', 'CREATE TABLE merged (id int)', 'merged" is not a table for a record', 'record=merged');

# Row-level security, and the code of another role: nobody's code runs as the superuser.
query(q{CREATE ROLE owner LOGIN; CREATE ROLE guest LOGIN; GRANT CREATE ON SCHEMA public TO owner, guest});
foreach my $code (
	[ 'a trigger of a table that refers', 'CREATE TRIGGER t BEFORE UPDATE ON votes FOR EACH ROW EXECUTE FUNCTION spy()' ],
	[ 'a check of a table that refers', 'ALTER TABLE notes ADD CHECK (spy_value(id))' ],
	[ 'a domain of a column that refers', 'CREATE DOMAIN spied AS int; ALTER DOMAIN spied OWNER TO guest; ALTER TABLE votes ALTER paper TYPE spied; ALTER DOMAIN spied ADD CHECK (spy_value(VALUE))' ])
{
	query(q{DROP TABLE IF EXISTS papers, votes, notes, before CASCADE; DROP DOMAIN IF EXISTS spied; DROP TABLE IF EXISTS seen; CREATE TABLE seen (who name); GRANT ALL ON seen TO guest;
		CREATE OR REPLACE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen VALUES (current_user); RETURN NEW; END';
		CREATE OR REPLACE FUNCTION spy_value(int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen VALUES (current_user); RETURN true; END';
		ALTER FUNCTION spy() OWNER TO guest; ALTER FUNCTION spy_value(int) OWNER TO guest});
	query("$tables; $code->[1]; ALTER TABLE votes OWNER TO guest; ALTER TABLE notes OWNER TO guest; GRANT ALL ON ALL TABLES IN SCHEMA public TO guest; TRUNCATE seen");
	($ok, $out, $err) = run_script('keep-one', @merge, 'apply=yes');
	like($err, qr/a superuser may not run the code of "(votes|notes)", which belongs to role "guest"/, "$code->[0] is refused");
	is(query('SELECT count(*) FROM seen'), '0', "$code->[0] has not run");
	($ok, $out, $err) = run_script('keep-one', @merge, 'apply=yes', 'trust=yes');
	ok($ok, "$code->[0], trusted") or diag $err;
	is(query('SELECT count(*) > 0 FROM seen'), 't', "$code->[0] has run");
}
query('CREATE TRIGGER b BEFORE UPDATE ON votes FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()');
like((run_script('keep-one', @merge, 'trust=yes'))[1], qr/    trigger b of public.votes fires/, 'the triggers of the owner are listed');

# Under row-level security the owner of papers cannot see which references there are.
query(q{DROP TABLE papers, votes, notes, before CASCADE});
query("$tables; CREATE TABLE kept (n int)");
query(q{ALTER TABLE papers OWNER TO owner; ALTER TABLE votes ENABLE ROW LEVEL SECURITY; CREATE POLICY even ON votes USING (id % 2 = 0); GRANT ALL ON votes, notes TO owner});
($ok, $out, $err) = $node->run_script('keep-one', [@merge], '-U', 'owner');
like($err, qr/references of table "public.votes" cannot follow: row-level security/, 'row-level security');
is(query($changed), '0', 'nothing has changed');

# ---- What a record says, whatever has become of the tables -----------------------------------------

query(q{CREATE TABLE gone (x int); DROP TABLE gone;
	CREATE TABLE kept_at (dropped int, at timestamptz, part numeric, body text, same_as text[], sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, PRIMARY KEY (at, part));
	ALTER TABLE kept_at DROP dropped;
	INSERT INTO kept_at (at, part, body) SELECT '2026-10-25 00:00Z'::timestamptz + i * interval '30 min', i / 2.0, 'the same text for all of these rows' FROM generate_series(1, 4) i;
	CREATE TABLE refers (dropped int, "a row" int PRIMARY KEY, at timestamptz, part numeric, FOREIGN KEY (at, part) REFERENCES kept_at); ALTER TABLE refers DROP dropped;
	INSERT INTO refers SELECT part * 2, at, part::numeric(6, 4) FROM kept_at;
	CREATE TABLE loose (at timestamptz, part numeric, FOREIGN KEY (at, part) REFERENCES kept_at); INSERT INTO loose SELECT at, part FROM kept_at;
	CREATE TABLE was AS SELECT 'refers' AS name, t::text AS line FROM refers t UNION ALL SELECT 'kept_at', t::text FROM kept_at t UNION ALL SELECT 'loose', t::text FROM loose t});
my @keep_at = ('table=kept_at', 'mark=same_as', 'record=merged_at', 'apply=yes');
($ok, $out, $err) = run_script('keep-one', @keep_at);
like($out, qr/^references of public\.loose \(at, part\) stay: the table has no primary key.*\nreferences of public\.refers \(at, part\) that follow: 3\n3 rows marked$/m, 'a table without a key is left') or diag $err;
# Beside a dump: in another database, where the numbers of columns and the oids are others.
query('CREATE DATABASE restored');
system_or_bail('sh', '-c', 'pg_dump -d "$0" | psql -Xq -v ON_ERROR_STOP=1 -d "$1"', $node->connstr('postgres'), $node->connstr('restored'));
my $undone = q{SELECT count(*) FROM (SELECT 'refers' AS name, t::text AS line FROM refers t UNION ALL SELECT 'kept_at', t::text FROM kept_at t UNION ALL SELECT 'loose', t::text FROM loose t EXCEPT TABLE was) x};
foreach my $database ('restored', 'postgres')
{
	$node->safe_psql($database, q{ALTER TABLE refers RENAME TO "re%s"; CREATE TABLE refers (LIKE "re%s"); ALTER TABLE "re%s" RENAME "a row" TO "%I"; ALTER TABLE "re%s" RENAME at TO a}) if $database eq 'postgres';
	my ($said, $messages) = $node->answer($database, q{SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'; CALL neardup_undo('kept_at', 'same_as', 'merged_at', apply => true)});
	like($messages, qr/3 marks are taken back, 0 have.*go back: 3 of 3/s, "undo in $database");
	$node->safe_psql($database, q{DROP TABLE refers; ALTER TABLE "re%s" RENAME TO refers}) if $database eq 'postgres';
	is($node->safe_psql($database, $undone), '0', 'makes all as it was');
}
like((run_script('undo', 'table=kept_at', 'mark=same_as', 'record=merged_at'))[1], qr/the record has no marks in column "same_as" that are not taken back\n/, 'once more');
($ok, $out, $err) = run_script('keep-one', @keep_at, 'move_references=yes');
like($out, qr/references of public\.loose \(at, part\) that follow: 3\n/, 'if asked, references of a table without a key follow') or diag $err;
like((run_script('undo', 'table=kept_at', 'mark=same_as', 'record=merged_at', 'apply=yes'))[2], qr/others have changed 3 of the rows since\nDETAIL:  .*\n    a row without a key of public\.loose/, 'and cannot be taken back');
query('ALTER TABLE kept_at ADD other text[]');
like((run_script('undo', 'table=kept_at', 'mark=other', 'record=merged_at'))[1], qr/no marks in column "other" that are not taken back, but these:\n    3 of public\.kept_at \(same_as\)\n/, 'another column');
query(q{CREATE TABLE early ("table" text, id text, keeper text, similarity float8, threshold float8, mark text, moved jsonb, at timestamptz, by text, undone timestamptz)});
like((run_script('undo', 'table=kept_at', 'mark=same_as', 'record=early'))[2], qr/"public\.early" is a record of an earlier version\nHINT:  Name a new table/, 'a record of before');
query(q{CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.same_as := OLD.same_as; RETURN NEW; END'; CREATE TRIGGER hold BEFORE UPDATE ON kept_at FOR EACH ROW EXECUTE FUNCTION hold()});
like((run_script('undo', 'table=kept_at', 'mark=same_as', 'record=merged_at', 'apply=yes', 'skip_changed=yes'))[2], qr/rows of table "public\.kept_at" cannot be as they were: a trigger changes them/, 'a trigger that keeps the mark');
like((run_script('keep-one', @keep_at, 'order_by=at DESC'))[1], qr/0 rows marked/, 'no more rows');
query('DROP TRIGGER hold ON kept_at; UPDATE kept_at SET same_as = NULL; CREATE TRIGGER hold BEFORE UPDATE ON kept_at FOR EACH ROW EXECUTE FUNCTION hold()');
like((run_script('keep-one', @keep_at, 'move_references=no'))[2], qr/"mark" must hold the id of the row that stays, but "same_as" holds something else/, 'a mark that does not hold');

# A mark that cannot hold the id exactly; people's verdicts, which are not moved.
query(q{CREATE TABLE exact (id numeric PRIMARY KEY, body text, dup numeric(10, 2), sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO exact SELECT i / 8.0, 'the same text for both of these rows' FROM generate_series(1, 2) i;
	CREATE TABLE judged (id int PRIMARY KEY, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO judged SELECT i, 'the same text for all of these rows' FROM generate_series(1, 4) i;
	CREATE TABLE their_verdicts (a int REFERENCES judged, b int REFERENCES judged, same boolean, PRIMARY KEY (a, b)); INSERT INTO their_verdicts VALUES (2, 3, true), (3, 4, false)});
like((run_script('keep-one', 'table=exact', 'mark=dup', 'apply=yes'))[2], qr/"mark" must hold the id of the row that stays, but "dup" holds something else/, 'a mark of fewer digits');
($ok, $out, $err) = run_script('keep-one', 'table=judged', 'mark=dup', 'verdicts=their_verdicts', 'apply=yes');
unlike($out, qr/references of/, 'verdicts are not moved') or diag $err;
is(query(q{SELECT string_agg(concat(a, b, same), ' ' ORDER BY a) FROM their_verdicts}), '23t 34f', 'and stay what people said');

# ---- Isolation levels -------------------------------------------------------------------

# What another session does to the row to keep, while the call waits for its lock.
query(q{CREATE TABLE pair (id int PRIMARY KEY, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED)});
my $other = $node->background_psql('postgres');
foreach my $level ('read committed', 'repeatable read', 'serializable')
{
	local $ENV{PGOPTIONS} = "-c default_transaction_isolation=" . $level =~ s/ /\\ /r;
	my $refused = $level ne 'read committed';
	foreach my $change ('DELETE FROM pair WHERE id = 1', q{UPDATE pair SET body = 'something else altogether' WHERE id = 1})
	{
		query(q{TRUNCATE pair; INSERT INTO pair SELECT i, 'the same text for both of these rows' FROM generate_series(1, 2) i});
		$other->query_safe("BEGIN; $change");
		my ($said, $messages) = ('', '');
		my $call = IPC::Run::start([ 'psql', '-XAt', '-c', q{CALL neardup_keep_one('pair', 0.8, apply => true)}, $node->connstr('postgres') ], '>', \$said, '2>', \$messages);
		$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CALL neardup_keep%'}) or die if !$refused;
		$other->query_safe('COMMIT');
		$call->finish;
		like($messages, $refused ? qr/at isolation level \U$level\E\nHINT:  Use SET default_transaction_isolation = 'read committed'/ : qr/NOTICE:  0 rows deleted/, "keep-one at $level beside: $change");
		is(query('SELECT count(*) FROM pair WHERE id = 2'), '1', 'one copy is left');
	}
	next if !$refused;
	like((run_script(@$_))[2], qr/at isolation level/, "$_->[0] at $level")
		foreach [ 'keep-one', 'table=pair' ], [ 'undo', 'table=pair', 'mark=dup', 'record=none' ], [ 'watch', 'table=pair' ], [ 'sign', 'table=pair', 'sig=other', 'batch=0' ];
}
$other->quit;
# A level that begins after one of the commits.
query(q{CREATE TABLE turned (id int, body text); INSERT INTO turned SELECT i, 'text ' || i FROM generate_series(1, 30) i;
	CREATE FUNCTION turn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('default_transaction_isolation', 'serializable', false); RETURN NEW; END $$;
	CREATE TRIGGER turn BEFORE UPDATE ON turned FOR EACH ROW EXECUTE FUNCTION turn()});
like((run_script('sign', 'table=turned', 'batch=10'))[2], qr/at isolation level SERIALIZABLE/, 'sign after a commit');
is(query('SELECT count(sig) FROM turned'), '10', 'keeps what was committed');

$node->stop;
done_testing();
