# The scripts for psql, as installed, on tables with data and with names that need
# quotes.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = Node->new('scripts');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
		FROM generate_series(1, 100) i $$;
	-- 40 families of one to four; the longest of a family has the highest id.
	CREATE SCHEMA "Fund";
	CREATE TABLE "Fund"."Old ""papers""" (
		"The id" text PRIMARY KEY,
		"a body" text,
		"dup of" text,
		"the sig" minhash GENERATED ALWAYS AS (to_minhash("a body")) STORED
	);
	INSERT INTO "Fund"."Old ""papers"""
	SELECT format('%s%s''%%', chr(96 + v), f), words(f, v) || repeat(' x', v), NULL
	FROM generate_series(1, 40) f, generate_series(1, 1 + f % 4) v;
	CREATE TABLE big (id int PRIMARY KEY, body text);
	INSERT INTO big SELECT i, words(i, 0) FROM generate_series(1, 3000) i;
	INSERT INTO big VALUES (0, NULL);
});

my $odd = '"Fund"."Old ""papers"""';
my @odd = ('table=' . $odd, 'id=The id', 'sig=the sig');

# run_script(NAME, VARIABLE...) returns exit code, output and messages.
sub run_script
{
	my ($name, @variables) = @_;

	return $node->run_script($name, \@variables);
}

sub count_rows
{
	my ($condition) = @_;
	return $node->safe_psql('postgres', "SELECT count(*) FROM $odd WHERE $condition");
}

my ($ok, $out, $err);

# ---- Report -----------------------------------------------------------------

($ok, $out, $err) = run_script('report', @odd, 'threshold=0.7', 'limit=2', 'order_by=length("a body") DESC, 1');
ok($ok, 'report runs') or diag $err;
like($out, qr/: 100 rows; 30 clusters of near-duplicates \(similarity 0\.7 and above\), 90 rows in them, of which 60 would go$/m, 'the report has counts');
like($out, qr/^1\|4\|d\d+'%\|\|\n1\|4\|c\d+'%\|0\.\d+\|\n1\|4\|b\d+'%\|0\.\d+\|\n1\|4\|a\d+'%\|0\.\d+\|\n2\|/m, 'longest first');
unlike($out, qr/^3\|/m, 'and no more than the limit');
is($node->safe_psql('postgres', qq{SET client_min_messages = warning; SELECT count(*) FROM neardup_report('$odd', 0.7, listed => NULL)}), '90', 'NULL lists all');
is($err, '', 'without another message');
($ok, $out, $err) = run_script('report', @odd, 'threshold=2');
like($err, qr/threshold 2 is out of range/, 'a threshold is above 0 and at most 1');
($ok, $out, $err) = run_script('report', @odd[0, 2], 'id=no');
like($err, qr/column "no" of relation .* does not exist\nHINT:  Name the columns of a key/, 'a missing column is named');
($ok, $out, $err) = run_script('report', @odd[0, 1], 'sig=no');
like($err, qr/HINT:.*If there is none, neardup_sign/, 'and where one comes from');
($ok, $out, $err) = run_script('report', 'table=' . $odd, 'threshold=0.7');
like($out, qr/: 100 rows; 30 clusters /, 'the key and the only signature need no name') or diag $err;
foreach my $script ('report', 'keep-one', 'watch')
{
	($ok, $out, $err) = run_script($script, @odd, 'threshold=80');
	like($err, qr/threshold 80 is out of range/, "a threshold must be in range: $script");
	($ok, $out, $err) = run_script($script, @odd, q{threshold=0.7); DROP TABLE big; SELECT (1});
	like($err, qr/is not a value of threshold|invalid input syntax for type double precision/, "a threshold must be a number: $script");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM big'), '3001', 'nothing that stands behind it is run');

# ---- Values -----------------------------------------------------------------

foreach my $bad ('entries=0', 'entries=x', 'share=0', 'share=2', 'k=3', 'b=3', 'scheme=nope', 'text=no', 'treshold=0.9', 'table=nope')
{
	($ok, $out, $err) = run_script('lexicon', $bad =~ /^table/ ? () : ('table=' . $odd), 'function=made', $bad =~ /^text/ ? () : 'text=a body', $bad);
	ok(!$ok && $out eq '', "lexicon: an error: $bad") or diag $out, $err;
	is(() = $err =~ /ERROR/g, 1, 'and one only') or diag $err;
}
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname ~ '^neardup_(watched|noticed)'}) . $node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname = 'made'}),
	'00', 'nothing was made');

# ---- Keep one row of each cluster -------------------------------------------

($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7');
ok($ok, 'dry run') or diag $err;
like($out, qr/: 60 near-duplicates .* of 30 rows that stay$/m, 'the dry run says what would be done');
like($out, qr/^dry run: nothing was changed; with apply => true, 60 rows deleted$/m, 'says that nothing was changed');
is(count_rows('true'), '100', 'and changes nothing');

($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7', 'mark=dup of', 'apply=yes',
	'order_by=length("a body") DESC, 1');
like($out, qr/^60 rows marked$/m, 'mark') or diag $err;
is(count_rows('"dup of" IS NOT NULL'), '60', 'the same number of rows is marked');
is( count_rows(qq{"dup of" IS NOT NULL AND ("The id" >= "dup of" OR substr("The id", 2) <> substr("dup of", 2))}),
	'0', 'each with the longest row of its family');
($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7', 'mark=dup of', 'apply=yes');
like($out, qr/^0 rows marked$/m, 'marked rows are not marked again');

($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=1', 'mark=the sig');
like($err, qr/"mark" must be NULL in some rows, but "the sig" marks them all/, 'a column that marks all rows is of no use');
$node->safe_psql('postgres', "ALTER TABLE $odd ADD flag boolean");
($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=1', 'mark=flag');
like($err, qr/column "flag" (is of type boolean but)/, 'a column that cannot hold an id does not mark');
$node->safe_psql('postgres', "ALTER TABLE $odd DROP flag");

$node->safe_psql('postgres', qq{CREATE TABLE refers (id text REFERENCES $odd); INSERT INTO refers VALUES ('a1''%'), ('b1''%')});
($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7', 'move_references=no', 'apply=yes');
ok(!$ok, 'a row with a foreign key to it cannot be deleted');
is(count_rows('true'), '100', 'and then no row is');
$node->safe_psql('postgres', 'DROP TABLE refers');

$node->safe_psql(
	'postgres', qq{
	CREATE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TRIGGER hold_back BEFORE DELETE ON $odd FOR EACH ROW WHEN (OLD."The id" LIKE 'b%') EXECUTE FUNCTION hold_back()});
($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7', 'apply=yes');
like($err, qr/the rows changed are not those that were found/, 'rows other than those found are noticed');
is(count_rows('true'), '100', 'and the change is rolled back');
$node->safe_psql('postgres', "DROP TRIGGER hold_back ON $odd");

($ok, $out, $err) = run_script('keep-one', @odd, 'threshold=0.7', 'apply=yes', 'order_by=length("a body") DESC, 1');
like($out, qr/^60 rows deleted$/m, 'delete') or diag $err;
is(count_rows('"dup of" IS NULL'), '40', 'the longest of each family stays');
is(count_rows('true'), '40', 'and no other row');

# What people say of pairs counts more than the similarity, also of a row without a signature.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE judged (id bigint PRIMARY KEY, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO judged VALUES (1, words(1, 1)), (2, words(1, 2)), (3, words(1, 3)), (4, words(4, 1)), (5, words(5, 1)), (6, NULL), (7, NULL);
	CREATE TABLE verdicts (a bigint, b bigint, same boolean);
	INSERT INTO verdicts VALUES (2, 1, false), (1, 3, NULL), (4, 5, true), (6, 5, true), (4, 1, NULL)});
my @judged = ('table=judged', 'verdicts=verdicts');
($ok, $out, $err) = run_script('report', @judged);
like($out, qr/^public\.judged: 7 rows; 2 clusters of near-duplicates \(similarity 0\.8 and above, and by verdicts\), 5 rows in them, of which 3 would go/, 'a report by verdicts') or diag $err;
like($out, qr/^1\|3\|4\|\|\n1\|3\|5\|(0|0\.[0-7]\d+)\|\n1\|3\|6\|\|\n2\|2\|1\|\|\n2\|2\|3\|0\.9\d+\|\n/m, 'has clusters of what is judged the same') or diag $out;
($ok, $out, $err) = run_script('keep-one', @judged, 'threshold=0.8', 'apply=yes');
like($out, qr/^public\.judged: 3 near-duplicates \(similarity 0\.8 and above, and by verdicts\) of 2 rows that stay\n.*^    same   6 of 4\n.*^3 rows deleted$/ms, 'delete by verdicts') or diag $err;
is($node->safe_psql('postgres', q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM judged}), '1 2 4 7', 'what is judged different stays, and what is judged the same goes');
$node->safe_psql('postgres', 'INSERT INTO verdicts VALUES (1, 2, true)');
foreach my $script ('report', 'keep-one')
{
	($ok, $out, $err) = run_script($script, @judged);
	ok(!$ok && $err =~ /ERROR:.*verdict|ERROR:.*judged/, "$script: verdicts must not contradict each other") or diag $out, $err;
}

# ---- Watch ------------------------------------------------------------------

sub submit
{
	my ($id, $body) = @_;
	return qq{INSERT INTO $odd ("The id", "a body") VALUES ('$id', $body)};
}

$node->safe_psql('postgres', qq{CREATE INDEX ON $odd USING neardup ("the sig")});
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/is watched from now on/, 'watch') or diag $err;
$node->safe_psql('postgres', submit('new', 'words(500, 0)'));
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/\(0 rows\)/, 'a new text is not listed');
# A transaction or subtransaction that is open during a run is seen by the next run.
my $open = $node->background_psql('postgres');
$open->query_safe('BEGIN; SAVEPOINT s; ' . submit('late', 'words(500, 1)') . '; RELEASE s');
$node->safe_psql('postgres', submit('copy', 'words(500, 2)'));
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/^ new +\| copy +\| +0\.9\d*\n\(1 row\)/m, 'a copy is') or diag $err;
$open->query_safe('COMMIT');
$open->quit;
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/late.*\n.*late.*\n\(2 rows\)/, 'only rows committed late are listed');
$node->safe_psql('postgres', qq{UPDATE $odd SET "a body" = words(500, 3) WHERE "The id" = 'd7''%'});
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/\(3 rows\)/, 'a changed text is listed');
($ok, $out, $err) = run_script('watch', @odd);
like($out, qr/\(0 rows\)/, 'only once');

# Hashes made elsewhere; and ids whose text depends on settings, told once in any session.
$node->safe_psql('postgres', q{CREATE TABLE hashed (at timestamptz PRIMARY KEY, h bigint, b bit(64)); INSERT INTO hashed SELECT '2026-01-01Z'::timestamptz + i * interval '1 hour', 1, 1::bigint::bit(64) FROM generate_series(1, 2) i});
my $watch = sub { my ($database, $signature, $settings) = @_; return $node->safe_psql($database, "SET client_min_messages = warning; $settings; SELECT count(*) FROM neardup_watch('hashed', 0.9, signature => '$signature')") };
is($watch->('postgres', $_, q{SET TimeZone = 'UTC'}), '0', "the first look at a column of hashes: $_") foreach 'h', 'b';
$node->safe_psql('postgres', q{INSERT INTO hashed VALUES ('2026-01-02Z', 1, 1::bigint::bit(64))});
is($watch->('postgres', $_, q{SET TimeZone = 'UTC'}), '2', "near hashes: $_") foreach 'h', 'b';
# After a restore all rows are compared, and what was told is left out.
$node->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE postgres');
is($watch->('again', 'h', q{SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'}), '1', 'a pair that was there before the first call is told after a restore');
like(($node->answer('again', q{UPDATE neardup_watched SET server = 'another'; SELECT count(*) FROM neardup_watch('hashed', 0.9, signature => 'h')}))[1], qr/the table was restored since the last run: all rows are compared/, 'which is said');
is($watch->('again', 'h', 'SELECT'), '0', 'once');

# ---- Sign -------------------------------------------------------------------

# The procedure is stopped half-way; the rows it has signed stay signed.
my @sign = ('psql', '-X', '-c', "CALL neardup_sign_table('big', 'to_minhash(body)', batch => 100, pause => 0.5)", $node->connstr('postgres'));
my ($sign_out, $sign_err) = ('', '');
my $sign = IPC::Run::start(\@sign, '>', \$sign_out, '2>', \$sign_err);
$node->poll_query_until('postgres',
	q{SELECT count(*) > 0 FROM pg_attribute WHERE attrelid = 'big'::regclass AND attname = 'sig'}) or die;
$node->poll_query_until('postgres', 'SELECT count(sig) > 300 FROM big') or die;
$node->safe_psql('postgres',
	q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL neardup_sign%' AND pid <> pg_backend_pid()});
$sign->finish;
like($sign_err, qr/3000 rows to sign.* of 3000 signed, \d+ a second/s, 'sign reports its progress');
my $signed = $node->safe_psql('postgres', 'SELECT count(sig) FROM big');
cmp_ok($signed, '<', 3000, 'the procedure was stopped before the end');
is($signed % 100, 0, 'whole batches are committed');
# Rows are inserted and changed before the next run.
$node->safe_psql('postgres',
	q{INSERT INTO big VALUES (4000, words(1, 1)); UPDATE big SET body = words(2, 9) WHERE id = 2999});
($ok, $out, $err) = run_script('sign', 'table=big');
ok($ok, 'the next run succeeds') or diag $err;
my $left = 3000 - $signed - 1;
like($out, qr/^$left rows to sign/m, 'the next run signs the remaining rows');
is( $node->safe_psql('postgres', 'SELECT count(*) FROM big WHERE sig IS DISTINCT FROM to_minhash(body)'),
	'0', 'every text has its signature');
($ok, $out, $err) = run_script('sign', 'table=big');
like($out, qr/^0 rows to sign/m, 'a third run does nothing');
$node->safe_psql('postgres', q{UPDATE big SET sig = to_minhash('else') WHERE id = 1; UPDATE big SET body = words(7, 7) WHERE id = 1});
is( $node->safe_psql('postgres', 'SELECT count(*) FROM big WHERE sig IS DISTINCT FROM to_minhash(body)'),
	'0', 'and a trigger keeps it current');
like($node->safe_psql('postgres', q{SELECT neardup_check('big_sig_idx')}), qr/ rows: 3002$/, 'the index is consistent');

# Names that need quotes, another type, an id that is not a number, an invalid index.
$node->safe_psql('postgres', qq{ALTER TABLE $odd DROP "the sig"});
($ok, $out, $err) = run_script('sign', @odd, 'text=a body', 'type=simhash', 'batch=7');
ok($ok, 'odd names') or diag $err;
is(count_rows('"the sig" IS DISTINCT FROM to_simhash("a body")'), '0', 'sign works with another type');
# Nothing is left behind by a run that cannot go on.
sub made_for_sign
{
	return $node->safe_psql('postgres', q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'late'::regclass AND attname = 'sig'
		UNION ALL SELECT count(*) FROM pg_trigger WHERE tgrelid = 'late'::regclass AND tgname LIKE '%sign%'
		UNION ALL SELECT count(*) FROM pg_proc WHERE proname LIKE 'late%'}) =~ s/\n/ /gr;
}
$node->safe_psql('postgres', q{CREATE TABLE late (id int, body text, meta json); INSERT INTO late SELECT i, words(i, 0), '{}' FROM generate_series(1, 200) i});
foreach my $bad ('text=no', 'batch=-1', q{expression=to_minhash(body, 'nope')}, 'expression=to_minhash(body) || 1')
{
	($ok, $out, $err) = run_script('sign', 'table=late', $bad);
	ok(!$ok, "sign: $bad");
	is(made_for_sign(), '0 0 0', 'leaves nothing');
}

# Two calls at once make one column and one trigger.
sub wait_for
{
	return $node->poll_query_until('postgres', $_[0]) || die $_[0];
}
my $old_transaction = $node->background_psql('postgres');
$old_transaction->query_safe('BEGIN; LOCK TABLE late IN ROW EXCLUSIVE MODE; SELECT count(*) FROM late');
my @runs = map { IPC::Run::start([ 'psql', '-X', '-c', q{CALL neardup_sign_table('late', 'to_minhash(body)', batch => 30)}, $node->connstr('postgres') ], '>', \my $run_out, '2>', \my $run_err) } 1, 2;
wait_for(q{SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'CALL neardup_sign%'});
$old_transaction->query_safe('COMMIT');
$old_transaction->quit;
ok($_->finish, 'one of two calls at once') foreach @runs;
is(made_for_sign() . $node->safe_psql('postgres', 'SELECT count(*), count(sig) FROM late'), '1 1 1200|200', 'they make the same trigger');

# What commits cannot run inside a transaction.
like(($node->psql('postgres', q{BEGIN; CALL neardup_sign_table('late', 'to_minhash(body)')}))[2], qr/cannot run inside a transaction block.*HINT:.*batch => 0/s, 'the error says what to do');
is($node->safe_psql('postgres', q{BEGIN; CALL neardup_sign_table('late', 'to_simhash(body)', 'fp', batch => 0); SELECT count(fp) FROM late; ROLLBACK}) . made_for_sign(), "200\n2001 1 1", 'batch => 0 works in one');
$node->safe_psql('postgres', q{DO $$ DECLARE n bigint; BEGIN CALL neardup_sign_table('late', 'to_simhash(body)', 'fp', 0, signed => n); END $$; DROP FUNCTION late_fp_sign CASCADE; ALTER TABLE late DROP COLUMN fp});

# What it has made holds when the table moves.
$node->safe_psql('postgres', q{CREATE SCHEMA elsewhere; ALTER TABLE late SET SCHEMA elsewhere; INSERT INTO elsewhere.late VALUES (500, words(500, 0))});
my $made = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'late%'});
($ok, $out, $err) = run_script('sign', 'table=elsewhere.late');
ok($ok, 'a run after ALTER TABLE ... SET SCHEMA') or diag $err;
is($node->safe_psql('postgres', q{SELECT count(*), count(sig) FROM elsewhere.late}), '201|201', 'rows are signed');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'elsewhere.late'::regclass}) . $node->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'late%'}),
	"1$made", 'by the same trigger and function');

# ---- Lexicon -----------------------------------------------------------------

($ok, $out, $err) = run_script('lexicon', 'table=' . $odd, 'text=a body', 'function=The "signer"', 'k=256', 'b=2');
ok($ok, 'lexicon runs') or diag $err;
like($out, qr/function "Fund"\."The ""signer"""\(text\) makes minhash\(256, 2\) of scheme "word 1 lexicon [0-9a-f]{4}": \d+ entries, from \d+ texts/,
	'it says what it has made');
$node->safe_psql(
	'postgres', qq{
	ALTER TABLE $odd ADD COLUMN weighed minhash(256, 2) GENERATED ALWAYS AS ("Fund"."The ""signer"""("a body")) STORED;
	CREATE INDEX ON $odd USING neardup (weighed)});
is(count_rows(q{"a body" IS NOT NULL AND cardinality(weighed) = 0}), '0', 'a generated column calls the function');
cmp_ok($node->safe_psql('postgres', qq{SET enable_seqscan = off; SELECT count(*) FROM $odd
	WHERE is_similar(weighed, "Fund"."The ""signer"""(words(3, 1)), 0.6)}), '>', 0, 'and an index has its signatures');
($ok, $out, $err) = run_script('lexicon', 'table=' . $odd, 'text=a body', 'function=The "signer"');
ok(!$ok, 'the function is not replaced');
like($err, qr/function "The "signer"" exists.*HINT:  Stored signatures are of its lexicon: give the new one another name/s, 'the message says why');
($ok, $out, $err) = run_script('lexicon', 'table=big');
like($err, qr/function .*neardup_lexicon_function\(unknown\) does not exist|procedure .*neardup_lexicon_function\(unknown\) does not exist/, 'the function needs a name');
like($node->safe_psql('postgres', q{SELECT obj_description('"Fund"."The ""signer"""(text)'::regprocedure)}),
	qr/^minhash\(256, 2\) of scheme "word 1 lexicon [0-9a-f]{4}": \d+ entries, from \d+ texts of "Fund"/, 'the function has a comment');

# A new lexicon is another function; the statements that the script prints sign again by it.
$node->safe_psql(
	'postgres', qq{
	CREATE INDEX "by ""expression""" ON $odd USING neardup ("Fund"."The ""signer"""("a body"));
	ALTER TABLE $odd ADD EXCLUDE USING neardup (near(weighed, 1) WITH &&) WHERE ("The id" = 'none');
	ALTER TABLE $odd ADD COLUMN plain minhash GENERATED ALWAYS AS (to_minhash("a body")) STORED, ADD COLUMN copied minhash(256, 2);
	UPDATE $odd SET copied = weighed WHERE "The id" LIKE 'a%'});
sub schemes
{
	return $node->safe_psql('postgres', qq{SELECT DISTINCT (regexp_match($_[0]::text, 'lexicon (.*?)/'))[1] FROM $odd WHERE $_[0] IS NOT NULL});
}
my $indexes = qq{SELECT string_agg(replace(pg_get_indexdef(indexrelid), 'newer', 'signer'), E'\\n' ORDER BY indexrelid::regclass::text COLLATE "C") FROM pg_index WHERE indrelid = '$odd'::regclass};
my ($indexes_before, $old_scheme) = ($node->safe_psql('postgres', $indexes), schemes('weighed'));
($ok, $out, $err) = run_script('lexicon', 'table=' . $odd, 'text=a body', 'function=The "newer"', 'k=256', 'b=2', 'share=0.5', 'entries=50');
ok($ok, 'a new lexicon') or diag $err;
my ($new_scheme) = $out =~ /^function .* of scheme "word 1 lexicon (\w+)"/;
isnt($new_scheme, $old_scheme, 'makes another scheme');
like($out, qr/^column weighed: \d+ rows of scheme "word 1 lexicon $old_scheme"\n    BEGIN;\n/m, 'it counts the rows that have signatures of the old one');
like($out, qr/^column copied: \d+ rows of scheme "word 1 lexicon $old_scheme"\n    neardup_sign_table\(\) signs another column, by "Fund"\."The ""newer"""\("a body"\)\n/m,
	'also in a column that nothing computes');
like($out, qr/^index "Fund"\."by ""expression""": its expression calls "Fund"\."The ""signer"""\n/m, 'and names the indexes that call the old function');
unlike($out, qr/plain/, 'but not what has no lexicon');
is(schemes('weighed'), $old_scheme, 'it changes nothing itself');
$node->safe_psql('postgres', join "\n", $out =~ /^    ((?!neardup_sign).*)$/mg);
is(schemes('weighed'), $new_scheme, 'its statements sign again') or diag $out;
is($node->safe_psql('postgres', $indexes), $indexes_before, 'and make the indexes and the constraint again');
cmp_ok($node->safe_psql('postgres', qq{SET enable_seqscan = off; SELECT count(*) FROM $odd
	WHERE is_similar($_, "Fund"."The ""newer"""(words(3, 1)), 0.6)}), '>', 0, "a search finds $_") foreach 'weighed', q{"Fund"."The ""newer"""("a body")};
($ok, $out, $err) = run_script('lexicon', 'table=' . $odd, 'text=a body', 'function=third', 'k=256', 'b=2', 'share=0.5', 'entries=50');
unlike($out, qr/column weighed/, 'an equal lexicon needs no new signatures');
$node->safe_psql('postgres', qq{ALTER TABLE $odd DROP COLUMN plain, DROP COLUMN copied; DROP INDEX "Fund"."by ""expression"""});

# ---- Status ------------------------------------------------------------------

sub like_lines
{
	my ($name, @patterns) = @_;
	like($out, $_, $name) foreach @patterns;
}

($ok, $out, $err) = run_script('status', 'table=big');
ok($ok, 'status runs') or diag $err;
is($err, '', 'without a message');
like_lines('status', qr/^public\.big: 3,002 rows, [\d.]+ kB\n\nColumn sig: minhash\n/, qr/^  filled by     trigger big_sig_sign, function public\.big_sig_sign\(\)\n/m,
	qr/^  shape         minhash\(512, 1\) of scheme "word 3" \(recipe 1\)\n  rows read     3,002, all\n  NULL          below 0\.1 %\n  empty set     0\n  few shingles  0 \(1 to 11\)\n/m,
	qr/^Index public\.big_sig_idx\n  columns       \(sig\)\n  shape         minhash\(512, 1\) of scheme "word 3" \(recipe 1\)\n  searched by   public\.is_similar\(sig, public\.to_minhash\('a text'\), 0\.8\)\n  documents     3,00\d, \d+ dead, \d+ in the tail\n  size          [\d.]+ .B, \d+ segments?\n  last maintenance\s*\d{4}-\d\d-\d\d \d\d:\d\d\n/m,
	qr/^Advice: none\n/m);
($ok, $out, $err) = run_script('status', $odd[0]);
like_lines('odd names', qr/^"Fund"\."Old ""papers""": 43 rows/, qr/^Column "the sig": simhash\n/m, qr/^Column weighed: minhash\(256,2\)\n  filled by     generated: "Fund"\."The ""newer"""\("a body"\)\n/m,
	qr/^Index "Fund"\."Old ""papers""_the sig_idx"\n  columns       \("the sig"\)\n/m);

# Everything that it has advice about.
$node->safe_psql(
	'postgres', q{
	CREATE DOMAIN signature AS minhash;
	CREATE ROLE clerk LOGIN;
	CREATE TABLE ill (id int, body text, sig signature, set shingles, phash bigint) WITH (autovacuum_enabled = off);
	ALTER TABLE ill OWNER TO clerk;
	INSERT INTO ill SELECT i, words(i, 0), CASE WHEN i % 4 = 1 THEN to_minhash('')
		WHEN i % 4 = 2 THEN to_minhash('one two three four', k => 256) WHEN i % 4 = 3 THEN to_minhash(words(i, 0)) END, to_shingles('one two three'), i
		FROM generate_series(1, 400) i;
	CREATE INDEX ill_phash ON ill (phash);
	CREATE INDEX ill_phash_neardup ON ill USING neardup (phash bigint_hamming_ops);
	ALTER TABLE ill ADD CONSTRAINT no_twins EXCLUDE USING neardup (near(sig, 0.9) WITH &&) WHERE (id = 3);
	CREATE CONSTRAINT TRIGGER no_copies AFTER INSERT OR UPDATE ON ill FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=sig', 'threshold=0.9', 'action=warn', 'condition=body <> ''Write to the office''');
	ALTER TABLE ill DISABLE TRIGGER no_copies;
	CREATE TABLE bare (id int, body text) WITH (autovacuum_enabled = off);
	CREATE VIEW seen AS SELECT * FROM ill});
foreach my $user ('postgres', 'clerk')
{
	local $ENV{PGUSER} = $user;
	($ok, $out, $err) = run_script('status', 'table=ill');
	ok($ok, "$user") or diag $err;
	like_lines($user, qr/^Column phash: bigint\n  filled by     whoever writes the row\n  shape         hashes of 64 bits, made elsewhere\n  rows read     400, all\n  NULL          0\n\n/m,
		qr/^Column set: shingles\n.*\n  shape         shingles of scheme "word 3" \(recipe 1\)\n/m,
		qr/^Column sig: signature\n.*\n  shape         minhash\(512, 1\) of scheme "word 3" \(recipe 1\) \(200 rows\); minhash\(256, 1\) of scheme "word 3" \(recipe 1\) \(100 rows\)\n.*\n  NULL          25 %\n  empty set     25 %\n  few shingles  25 % \(1 to 11\)\n/m,
		qr/^Constraint no_twins, index public\.no_twins\n  columns       \(near\(sig::minhash, 0\.9::double precision\) WITH &&\) WHERE \(id = 3\)\n/m,
		qr/^Index public\.ill_phash_neardup\n/m,
		qr/^Guard no_copies, disabled\n  rule          neardup_guard_row\('signature=sig', 'threshold=0\.9', 'action=warn', 'condition=body <> ''Write to the office'''\)\n/m);
	my ($advice) = $out =~ /^Advice\n(.*)/ms;
	$advice =~ s/\n    / /g;
	$out = $advice;
	like_lines("advice for $user", qr/Column sig has no index, so each search reads the whole table\. CREATE INDEX CONCURRENTLY ON public\.ill USING neardup \(sig\) makes one\./,
		qr/no statistics of column phash, sig, .* ANALYZE public\.ill gathers them\./, qr/100 of 400 rows have no signature in sig, .*, and no trigger signs new ones\./,
		qr/Column sig has signatures of 2 shapes/, qr/33\.3 % of the signatures in sig are of the empty set/, qr/33\.3 % of the signatures in sig are of fewer than 12 shingles/,
		qr/Guard no_copies is disabled/, qr/Guard no_copies has no index on sig to ask/);
	unlike($out, qr/phash has no index/, 'a column with an index needs none');
}
$node->safe_psql('postgres', q{ANALYZE ill; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ill_phash_neardup'::regclass});
($ok, $out, $err) = run_script('status', 'table=ill');
unlike($out, qr/no statistics/, 'statistics that are there are not missed');
like_lines('an invalid index', qr/^Index public\.ill_phash_neardup, not valid\n/m, qr/^  \* Index public\.ill_phash_neardup: It is not valid/m);
{
	local $ENV{PGOPTIONS} = '-c default_transaction_read_only=on';
	($ok, $out, $err) = run_script('status', 'table=ill');
	ok($ok, 'nothing is written') or diag $err;
}
$node->safe_psql('postgres', 'CREATE ROLE monitor LOGIN IN ROLE pg_monitor; CREATE ROLE one_column LOGIN; GRANT SELECT (id, phash) ON ill TO one_column');
{
	local $ENV{PGUSER} = 'monitor';
	($ok, $out, $err) = run_script('status', 'table=ill');
	like_lines('who monitors, but may not read the table', qr/^  contents      not shown: this role may not read them\n/m, qr/^  documents /m);
	unlike($out, qr/rows read/, 'reads no row');
	$ENV{PGUSER} = 'one_column';
	($ok, $out, $err) = run_script('status', 'table=ill');
	like_lines('who may read one column', qr/^Column phash: .*\n.*\n.*\n  rows read /m, qr/^  contents      not shown: this role may not read them\n/m);
}
# What a search of each index looks like, and an index that no search for similar rows uses.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE various (id int PRIMARY KEY, body text, sig minhash, s2 simhash GENERATED ALWAYS AS (to_simhash(body, 128, scheme => 'char 5')) STORED, phash bigint, pdq bit(64), tokens minhash);
	INSERT INTO various (id, body, sig, phash, pdq, tokens) SELECT i, words(i, 0), to_minhash(words(i, 0)), i, i::bit(64), to_minhash(to_shingles(ARRAY['a', i::text])) FROM generate_series(1, 50) i;
	CREATE INDEX various_btree ON various (id, s2);
	CREATE INDEX various_hash ON various USING hash (to_minhash(body));
	CREATE INDEX various_phash ON various (phash);
	CREATE INDEX ON various USING neardup (sig);
	CREATE INDEX ON various USING neardup (sig) WHERE phash = id;
	CREATE INDEX also ON various (sig);
	CREATE INDEX ON various USING neardup (to_minhash(body, 256, 2));
	CREATE INDEX ON various USING neardup (phash);
	CREATE INDEX ON various USING neardup (pdq);
	CREATE INDEX ON various USING neardup ((phash::simhash));
	CREATE INDEX ON various USING neardup (phash, tokens);
	ALTER TABLE various ADD CONSTRAINT no_copies_at_all EXCLUDE USING neardup (near(sig, 0.95) WITH &&);
	ALTER TABLE various ADD EXCLUDE USING neardup (id WITH =, hamming_ball(s2, 2) WITH &&)});
($ok, $out, $err) = run_script('status', 'table=various');
ok($ok, 'various indexes') or diag $err;
$out =~ s/\n {4,}/ /g;
my @searches = $out =~ /^  searched by   (.*)/mg;
is_deeply([ sort @searches ], [ sort 'public.is_similar(sig, public.to_minhash(\'a text\'), 0.8)', 'public.is_similar(sig, public.to_minhash(\'a text\'), 0.8) AND (phash = id)', 'public.is_similar(public.to_minhash(body, 256, 2), public.to_minhash(\'a text\', k => 256, b => 2), 0.8)',
		'public.is_within(phash, q, 3)', 'public.is_within(pdq, q, 3)', 'public.is_similar((phash::public.simhash), q, 0.8)', 'public.is_similar(tokens, q, 0.8)',
		'public.near(sig, 0.95) OPERATOR(public.&&) public.near(public.to_minhash(\'a text\'), 0.95)',
		'public.hamming_ball(s2, 2) OPERATOR(public.&&) public.hamming_ball(public.to_simhash(\'a text\', f => 128, scheme => \'char 5\'), 2)' ], 'how each index is searched');
foreach my $search (grep { !/\bq\b/ } @searches)
{
	my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET search_path = pg_catalog; EXPLAIN SELECT FROM public.various WHERE $search");

	like($plan, qr/Index Cond|Bitmap Index Scan/, "$search uses its index") or diag $plan;
}
is_deeply({ $out =~ /Index public\.(\w+) is a (\w+), which finds equal signatures only/g }, { various_btree => 'btree', various_hash => 'hash' }, 'indexes that find equal signatures only');
{
	local $ENV{PGOPTIONS} = '-c neardup.bakground=off';
	($ok, $out, $err) = run_script('status', 'table=various');
	like($err, qr/WARNING: .*neardup\.bakground/, 'a setting that does not exist');
}
($ok, $out, $err) = run_script('status', 'table=bare');
like_lines('no signatures', qr/^public\.bare: about 0 rows/, qr/^Advice\n  \* There is no column of signatures\. neardup_sign_table\(\) adds one/m);
($ok, $out, $err) = run_script('status', 'table=seen');
like($err, qr/"public\.seen" is not a table/, 'a view is refused');

# Partitions, with an index on all, on one, and a constraint on each; a sample.
$node->safe_psql(
	'postgres', q{
	CREATE TABLE parts (id int, body text, sig minhash, old minhash) PARTITION BY RANGE (id);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (1000) WITH (autovacuum_enabled = off);
	CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (1000) TO (3000) WITH (autovacuum_enabled = off);
	INSERT INTO parts SELECT i, words(i, 0), to_minhash(words(i, 0)), NULL FROM generate_series(1, 2500) i;
	CREATE INDEX parts_sig ON parts USING neardup (sig);
	CREATE INDEX ON parts1 USING neardup (old);
	ALTER TABLE parts1 ADD CONSTRAINT no_twins1 EXCLUDE USING neardup (near(sig, 0.9) WITH &&);
	ALTER TABLE parts2 ADD CONSTRAINT no_twins2 EXCLUDE USING neardup (near(sig, 0.9) WITH &&);
	SELECT neardup_guard('parts', 'sig', 0.9, 'skip', name => 'no_copies')});
($ok, $out, $err) = run_script('status', 'table=parts');
ok($ok, 'partitions') or diag $err;
like_lines('partitions', qr/^public\.parts: 2,500 rows, .* in 2 partitions\n/, qr/^Index public\.parts_sig of 2 partitions\n  columns       \(sig\)\n.*\n.*\n  documents     2,500, 0 dead, \d+ in the tail\n/m,
	qr/^Constraint no_twins1, index public\.no_twins1 and those of other partitions, 2 in all\n/m, qr/^Guard no_copies\n/m,
	qr/Column old has no index in 1 of 2 partitions, so each search reads those\./, qr/autovacuum does not do/);
is(() = $out =~ /^Guard/mg, 1, 'a guard of the whole table is listed once');
$node->safe_psql('postgres', 'ANALYZE parts');
($ok, $out, $err) = run_script('status', 'table=parts', 'sample=500');
like_lines('a sample', qr/^public\.parts: about 2,\d\d\d rows/, qr/^  rows read     \d{2,3}, a sample\n/m);

# ---- Another schema ----------------------------------------------------------

# The extension may be in a schema outside the search path.
$node->safe_psql('postgres', 'DROP EXTENSION neardup CASCADE; CREATE SCHEMA "Far off"; CREATE EXTENSION neardup SCHEMA "Far off"; CREATE TABLE far (id int, body text)');
foreach my $script ('sign', 'status', 'report', 'review', 'keep-one', 'watch', 'watch')
{
	($ok, $out, $err) = run_script($script, 'table=far');
	ok($ok, "in a schema outside the search path: $script") or diag $err;
}
($ok, $out, $err) = run_script('review', 'table=far', 'kind=judge');
ok($ok, 'in a schema outside the search path: pairs to judge') or diag $err;
($ok, $out, $err) = run_script('lexicon', 'table=big', 'function=big_words');
ok($ok, 'in a schema outside the search path: lexicon') or diag $err;
is($node->safe_psql('postgres', q{SELECT big_words('one two') IS NOT NULL}), 't', 'and its function');

$node->stop;
done_testing();
