# The scripts for psql: any expression signs, a column shows what the rows are, and every
# kind of table works or is refused with a reason.
#
#   NEARDUP_CITUS   a connection string to the coordinator of a cluster of Citus, as a
#                   superuser, to test it too.  The test makes a schema there, neardup_scripts,
#                   which it drops.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('tables');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

my ($ok, $out, $err);
my $connection = $node->connstr('postgres');

# run_script(NAME, VARIABLE...) sets what the script returns and prints.
sub run_script
{
	my ($name, @variables) = @_;

	($ok, $out, $err) = $node->run_script($name, \@variables, '-d', $connection);
	return;
}

# Signs a column by an expression, and compares it with what the expression makes.
sub signs
{
	my ($table, $sig, $expression, @variables) = @_;
	run_script('sign', "table=$table", "sig=$sig", "expression=$expression", @variables);
	ok($ok, "signed: $expression") or diag $err;
	return is(sql("SELECT count(*) FROM $table WHERE $sig IS DISTINCT FROM ($expression\n)"), '0', 'each row has the signature that it makes');
}

sub refuses
{
	my ($script, $message, @variables) = @_;
	run_script($script, @variables);
	ok(!$ok, "$script refuses @variables");
	return like($err, $message, 'and says why');
}

sql(
	q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
		FROM generate_series(1, 100) i $$;
	CREATE TABLE docs (id int PRIMARY KEY, title text, body varchar COLLATE "C", found text, "NEW" char(20),
		upper_body text GENERATED ALWAYS AS (upper(body)) STORED);
	-- Every tenth row has no title.
	INSERT INTO docs SELECT i, CASE WHEN i % 10 > 0 THEN format(E'<h1>Title\n%s</h1>', i) END, words(i / 3, i % 3), 'and', 'then' FROM generate_series(1, 300) i;
	CREATE TABLE copied AS SELECT id, words(id / 3, id % 3) AS body, to_minhash(words(id / 3, id % 3), 'word 1') AS sig FROM docs;
});

# ---- Expressions --------------------------------------------------------------

my $spot = q{to_minhash(strip_markup(title || docs.body), 256, 1, 'spot 1 2')};
signs('docs', 'spot', "$spot -- a comment");
like($out, qr/^270 rows to sign/m, 'rows without a value are not counted');
unlike($err, qr/WARNING/, 'and no fault');
sql(q{UPDATE docs SET title = 'of the other one' WHERE id IN (1, 10); UPDATE docs SET body = 'on the table' WHERE id = 2; INSERT INTO docs VALUES (301, 'in a new', 'row')});
is(sql("SELECT count(*) FROM docs WHERE spot IS DISTINCT FROM ($spot)"), '0', 'the trigger signs after a change of any column of the expression');
is(sql(q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'docs'::regclass AND cardinality(tgattr::int2[]) = 3}), '1', 'and only then');
my $filed = sql('SELECT xmin FROM docs WHERE id = 5');
run_script('sign', 'table=docs', 'sig=spot', "expression=$spot");
like($out, qr/^0 rows to sign/m, 'the same expression goes on') or diag $err;
signs('docs', 'coalesced', q{to_minhash(coalesce(title, '') || body)});
like($out, qr/^301 rows to sign/m, 'a row is signed if the expression makes something of what it has');
signs('docs', 'lower', q{to_minhash(lower(body), scheme => 'char 5', k => 128)});
is(sql(q{SELECT prosrc ~ 'body COLLATE' FROM pg_proc WHERE proname = 'docs_lower_sign'}), 't', 'a column keeps its collation');
signs('docs', 'simhash', q{to_simhash(to_shingles(found || "NEW" || body, 'word 1') - to_shingles('and then', 'word 1'))});
signs('docs', 'sets', q{to_shingles(body, 'word 2')});
signs('docs', 'hash', q{to_simhash(body)::bigint});
signs('docs', 'bits', q{to_simhash(body)::bit(64)});
is(sql(q{SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'docs'::regclass AND attname = 'bits'}), 'bit(64)', 'the type has its length');
signs('docs', 'odd', q{to_minhash(regexp_replace(body, E'\\d+|\\'' || '\s%s$1:x', '"%I :''sig''', 'g'))});
run_script('lexicon', 'table=docs', 'function=weighed');
signs('docs', 'lexical', 'public.weighed(body)');
signs('docs', 'inline', q{to_minhash(body, 512, 1, lexicon => '} . sql(q{SELECT neardup_lexicon('SELECT body FROM docs', 'word 1', 20)}) . q{')});
is(sql(q{SELECT count(*) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'neardup' AND indrelid = 'docs'::regclass AND indisvalid}),
	'10', 'each column has an index');

sql(q{CREATE TABLE "new" (id int, body text); INSERT INTO "new" VALUES (1, 'a b c d')});
signs('"new"', 'sig', 'to_minhash("new".body)');
refuses('sign', qr/trigger "docs_spot_sign" of "public.docs" signs "spot" already, and is not what.*Name another column/s, 'table=docs', 'sig=spot', 'expression=to_minhash(title)');
sql(q{CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new."mine"  := NULL; RETURN NEW; END';
	ALTER TABLE docs ADD COLUMN mine minhash; CREATE TRIGGER own BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION own()});
refuses('sign', qr/trigger "own" of "public.docs" signs "mine" already/, 'table=docs', 'sig=mine');
refuses('sign', qr/column "sig" has signatures that the expression does not make.*Set them to NULL/s, 'table=copied', 'expression=to_minhash(body)');
run_script('sign', 'table=copied', q{expression=to_minhash(body, 'word 1')});
ok($ok, 'but equal ones stay') or diag $err;
refuses('sign', qr/column "spot" of "public.docs" is not of type public.simhash/, 'table=docs', 'sig=spot', 'expression=to_simhash(body)');
my %wrong = (
	'to_minhash(now()::text || body)' => qr/the expression is not immutable.*HINT:  It must always make the same/s,
	'to_minhash(random()::text || body)' => qr/the expression is not immutable/,
	'to_minhash((SELECT body))' => qr/cannot use subquery/,
	'to_minhash(string_agg(body, title))' => qr/aggregate functions are not allowed/,
	'to_minhash(upper_body)' => qr/uses the column "upper_body", which is generated after triggers have run/,
	'sig' => qr/column "sig" does not exist/,
	'body' => qr/the expression makes values of type character varying.*It must make minhash/s,
	q{to_minhash('always the same')} => qr/the expression uses no column/,
	'to_minhash(tableoid::regclass::text || body)' => qr/the expression is not immutable/,
	'to_minhash(body' => qr/syntax error/,
	'to_minhash(nobody)' => qr/column "nobody" does not exist/);
refuses('sign', $wrong{$_}, 'table=docs', "expression=$_") foreach sort keys %wrong;
refuses('sign', qr/uses the column "spot", which it is to fill/, 'table=docs', 'sig=spot', 'expression=spot');
is(sql(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'docs'::regclass AND attname = 'sig'}), '0', 'a refused expression changes nothing');
is(sql('SELECT xmin FROM docs WHERE id = 5') eq $filed, '', 'the counts above are of signed rows');

# ---- Titles -------------------------------------------------------------------

sql(q{UPDATE docs SET title = E'long \x1b[31m  title ' || repeat('x', 100) WHERE id = 5});
run_script('report', 'table=docs', 'sig=coalesced', 'title=title', 'threshold=0.7');
like($out, qr{\|3\|3\|\|<h1>Title 3</h1>\n\d+\|3\|4\|0\.\d+\|<h1>Title 4</h1>\n\d+\|3\|5\|0\.\d+\|long \[31m title x{41}\.\.\.$}m, 'report shows a column, on one line, cut to a width') or diag $err;
run_script('report', 'table=docs', 'sig=coalesced', 'threshold=0.7');
like($out, qr/^\d+\|3\|3\|\|\n\d+\|3\|4\|0\.\d+\|\n/m, 'or none');
run_script('keep-one', 'table=docs', 'sig=coalesced', 'threshold=0.7', 'title=title', 'limit=2');
like($out, qr{^    0\.\d+  2 of 1\n         - <h1>Title 2</h1>\n         \+ of the other one\n|^    0\.\d+  4 of 3\n         - <h1>Title 4</h1>\n         \+ <h1>Title 3</h1>\n}m,
	'keep-one shows it of the row that goes and of the one that stays') or diag $out, $err;
refuses('report', qr/column "nothing" of relation "public.docs" does not exist/, 'table=docs', 'sig=spot', 'title=nothing');

# ---- Partitions ----------------------------------------------------------------

sql(
	q{
	CREATE TABLE parts (id int PRIMARY KEY, body text, dup int) PARTITION BY RANGE (id);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
	CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (100) TO (1000) PARTITION BY RANGE (id);
	CREATE TABLE parts3 PARTITION OF parts2 FOR VALUES FROM (100) TO (200);
	CREATE TABLE parts4 PARTITION OF parts2 FOR VALUES FROM (200) TO (1000);
	INSERT INTO parts SELECT id, words(id / 3, id % 3) FROM docs});
signs('parts', 'sig', 'to_minhash(body)', 'batch=70');
my $indexes = q{SELECT count(*), bool_and(indisvalid), count(*) FILTER (WHERE inhparent IS NOT NULL)
	FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam LEFT JOIN pg_inherits ON inhrelid = indexrelid
	WHERE amname = 'neardup' AND indrelid::regclass::text LIKE 'parts%'};
is(sql($indexes), '5|t|4', 'each partition has an index, and they make one of the table');
sql('DROP INDEX parts_sig_idx; CREATE INDEX ON parts3 USING neardup (sig)');
run_script('sign', 'table=parts', 'expression=to_minhash(body)');
is(sql($indexes), '5|t|4', 'and those that are missing are made again') or diag $err;
sql(q{INSERT INTO parts VALUES (999, words(1, 9))});
is(sql(q{SELECT sig = to_minhash(body) FROM parts WHERE id = 999}), 't', 'the trigger signs in partitions');
run_script('report', 'table=parts', 'threshold=0.7', 'title=body', 'limit=1');
like($out, qr/: 302 rows; 101 clusters/, 'report') or diag $err;
run_script('watch', 'table=parts');
run_script('watch', 'table=parts');
like($out, qr/\(0 rows\)/, 'watch') or diag $err;
run_script('keep-one', 'table=parts', 'threshold=0.7', 'mark=dup', 'apply=yes');
like($out, qr/^201 rows marked$/m, 'keep-one marks') or diag $err;
run_script('keep-one', 'table=parts', 'threshold=0.7', 'apply=yes');
is(sql('SELECT count(*), count(dup) FROM parts'), '101|0', 'keep-one deletes') or diag $err;

# ---- Views -----------------------------------------------------------------------

sql(
	q{
	CREATE TABLE base (id int PRIMARY KEY, tenant int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO base SELECT i, i % 2, words(i / 6, i % 6) FROM generate_series(0, 59) i;
	CREATE VIEW one_tenant AS SELECT * FROM base WHERE tenant = 1;
	CREATE VIEW counted AS SELECT max(id) AS id, sig FROM base GROUP BY sig;
	CREATE MATERIALIZED VIEW stored AS SELECT * FROM base;
	CREATE TEMP TABLE passing (id int, body text)});
foreach my $view ('one_tenant', 'counted', 'stored')
{
	run_script('report', "table=$view", 'threshold=0.7');
	like($out, qr/; 10 clusters/, "report: $view") or diag $err;
}
run_script('keep-one', 'table=one_tenant', 'threshold=0.7', 'apply=yes');
is(sql('SELECT tenant, count(*) FROM base GROUP BY 1 ORDER BY 1'), "0|30\n1|10", 'keep-one deletes among the rows of a view') or diag $err;
run_script('status', 'table=stored');
like($out, qr/^Column sig: minhash/m, 'status of a materialized view') or diag $err;
run_script('watch', 'table=stored') foreach 1, 2;
like($out, qr/\(0 rows\)/, 'and it can be watched') or diag $err;
refuses($_, qr/"?public.one_tenant"? is not a table|cannot tell which rows/, 'table=one_tenant') foreach 'status', 'watch';
refuses('keep-one', qr/cannot delete from view "counted"/, 'table=counted', 'threshold=0.7');
refuses('keep-one', qr/"public.stored" is a materialized view.*Change the table/s, 'table=stored');
refuses('sign', qr/"public.one_tenant" is a view.*Sign the table/s, 'table=one_tenant', 'sig=other');
refuses('sign', qr/"public.stored" is a materialized view.*into its query/s, 'table=stored', 'sig=other');
run_script('lexicon', 'table=one_tenant', 'function=of_a_view');
ok($ok, 'lexicon of a view') or diag $err;

# ---- Other tables that are not signed ---------------------------------------------

sql(
	q{
	CREATE TABLE mother (id int PRIMARY KEY, body text);
	CREATE TABLE child () INHERITS (mother);
	CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler;
	CREATE TABLE columns (id int, body text, sig minhash) USING columnar;
	SET allow_system_table_mods = on;
	-- A catalog like that of Citus.
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, repmodel "char");
	INSERT INTO pg_catalog.pg_dist_partition VALUES ('base', 's')});
refuses('sign', qr/"public.mother" is a table with children.*Add a generated column/s, 'table=mother');
sql(q{ALTER TABLE mother ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED;
	INSERT INTO mother SELECT i, words(1, i) FROM generate_series(1, 3) i; INSERT INTO child SELECT i, words(1, i) FROM generate_series(4, 6) i});
foreach my $script ('status', 'report', 'watch')
{
	run_script($script, 'table=mother');
	ok($ok, "$script: a table with children") or diag $err;
}
run_script('keep-one', 'table=mother', 'threshold=0.7', 'apply=yes');
is(sql('SELECT tableoid::regclass, id FROM mother'), 'mother|1', 'keep-one: a table with children') or diag $err;
refuses($_, qr/"public.columns" is a columnar table/, 'table=columns') foreach 'sign', 'keep-one';
refuses('sign', qr/"public.base" is distributed by Citus, whose tables have no triggers.*Add a generated column/s, 'table=base', 'sig=other');
# As for a reference table: the rows are deleted by a constant.
sql(q{UPDATE pg_catalog.pg_dist_partition SET repmodel = 't'});
run_script('keep-one', 'table=base', 'threshold=0.7', 'apply=yes');
is(sql('SELECT count(*) FROM base'), '10', 'keep-one by a constant') or diag $err;

# ---- Other servers ------------------------------------------------------------------

SKIP:
{
	skip 'there is no postgres_fdw or dblink', 1
		if sql(q{SELECT count(*) FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'dblink')}) < 2;
	my ($host, $port) = ($node->host, $node->port);
	foreach my $name ('north', 'south')
	{
		sql("CREATE DATABASE $name");
		$node->safe_psql($name, q{CREATE EXTENSION neardup; CREATE TABLE docs (id int PRIMARY KEY, title text, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED)});
	}
	sql(
		qq{
		CREATE EXTENSION postgres_fdw; CREATE EXTENSION dblink;
		CREATE SERVER north FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'north', extensions 'neardup');
		CREATE SERVER south FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'south', extensions 'neardup');
		CREATE USER MAPPING FOR CURRENT_USER SERVER north; CREATE USER MAPPING FOR CURRENT_USER SERVER south;
		CREATE FOREIGN TABLE abroad (id int, title text, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) SERVER north OPTIONS (table_name 'docs');
		CREATE TABLE everywhere (id int, title text, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) PARTITION BY RANGE (id);
		CREATE TABLE here PARTITION OF everywhere FOR VALUES FROM (0) TO (10);
		CREATE FOREIGN TABLE north_docs PARTITION OF everywhere FOR VALUES FROM (10) TO (20) SERVER north OPTIONS (table_name 'docs');
		CREATE FOREIGN TABLE south_docs PARTITION OF everywhere FOR VALUES FROM (20) TO (30) SERVER south OPTIONS (table_name 'docs');
		CREATE VIEW view_abroad AS SELECT * FROM abroad;
		CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
		CREATE FOREIGN TABLE unknown (id int, body text, sig minhash) SERVER nowhere;
		-- Copies are ten apart: on all three.
		INSERT INTO everywhere (id, title, body) SELECT i, 'title ' || i, words(i % 10 / 2, i / 10) FROM generate_series(0, 29) i});
	run_script('report', 'table=abroad', 'threshold=0.7', 'title=title');
	like($out, qr/: 10 rows; 5 clusters(.*\n)*1\|2\|10\|\|title 10\n1\|2\|11\|1\|title 11\n/, 'report: a foreign table') or diag $err;
	run_script('report', 'table=everywhere', 'threshold=0.7', 'title=title');
	like($out, qr/: 30 rows; 5 clusters(.*\n)*1\|6\|0\|\|title 0\n/, 'report: over three servers') or diag $err;
	run_script('lexicon', 'table=everywhere', 'function=of_all');
	ok($ok, 'lexicon: over three servers') or diag $err;
	foreach my $table ('abroad', 'everywhere', 'view_abroad')
	{
		run_script('review', "table=$table", 'threshold=0.7', 'title=title');
		like($out, qr/<html.*title 1\d.*<\/html>/s, "review: $table") or diag $err;
	}
	refuses('status', qr/"public.abroad" is not a table/, 'table=abroad');
	run_script('status', 'table=everywhere');
	like($out, qr/^Column sig: minhash/m, 'status: over three servers') or diag $err;
	refuses('watch', qr/cannot tell which rows/, "table=$_") foreach 'abroad', 'everywhere';
	refuses('sign', qr/"public.abroad" is on another server.*Sign it where the table is/s, 'table=abroad', 'sig=other');
	refuses('sign', qr/"public.(north|south)_docs" is on another server/, 'table=everywhere', 'sig=other');
	refuses('keep-one', qr/"public.unknown" is on another server, "nowhere".*is not postgres_fdw/s, 'table=unknown');
	run_script('keep-one', 'table=abroad', 'threshold=0.7', 'title=title');
	like($out, qr/^    1\.000  11 of 10\n         - title 11\n         \+ title 10\n(.*\n)*dry run/m, 'keep-one: a dry run on another server') or diag $err;
	is(sql('SELECT count(*) FROM abroad'), '10', 'which changes nothing');

	# While rows are compared, somebody on the other server changes one that is kept.
	sql(
		qq{CREATE FUNCTION meddle(id int) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN
		IF id = 10 THEN PERFORM public.dblink_exec('host=$host port=$port dbname=north', 'UPDATE docs SET body = ''of other contents'' WHERE id = 10'); END IF;
		RETURN id; END \$\$});
	# Rows that are looked up one by one: only those that go are locked then.
	$node->safe_psql('north', 'INSERT INTO docs (id) SELECT generate_series(1000, 3000); ANALYZE docs');
	sql(q{ALTER SERVER north OPTIONS (ADD use_remote_estimate 'true', ADD fdw_startup_cost '0', ADD fdw_tuple_cost '10')});
	refuses('keep-one', qr/could not serialize access due to concurrent update/, 'table=abroad', 'threshold=0.7', 'apply=yes', 'order_by=public.meddle(id)');
	$node->safe_psql('north', 'DELETE FROM docs WHERE id >= 1000; UPDATE docs SET body = (SELECT body FROM docs WHERE id = 11) WHERE id = 10');
	foreach my $table ('abroad', 'view_abroad', 'everywhere')
	{
		refuses('keep-one', qr/could not serialize access due to concurrent update/, "table=$table", 'threshold=0.7', 'apply=yes', 'order_by=public.meddle(id)');
		is(sql('SELECT count(*) FROM everywhere'), '30', 'and deletes nothing');
		sql('UPDATE abroad SET body = words(0, 1) WHERE id = 10');
	}
	run_script('keep-one', 'table=abroad', 'threshold=0.7', 'mark=dup', 'apply=yes');
	like($out, qr/^5 rows marked$/m, 'keep-one marks on another server') or diag $err;
	run_script('keep-one', 'table=view_abroad', 'threshold=0.7', 'apply=yes');
	like($out, qr/^5 rows deleted$/m, 'or deletes there, also by a view') or diag $err;
	run_script('keep-one', 'table=everywhere', 'threshold=0.7', 'apply=yes');
	like($out, qr/^20 rows deleted$/m, 'keep-one: over three servers') or diag $err;
	is(sql('SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM everywhere'), '0 2 4 6 8', 'one of each cluster stays');
}

# ---- Citus ----------------------------------------------------------------------------

SKIP:
{
	skip 'NEARDUP_CITUS names no cluster of Citus', 1 if !$ENV{NEARDUP_CITUS};
	$connection = $ENV{NEARDUP_CITUS};
	sub citus
	{
		my ($got, $messages);
		IPC::Run::run(['psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-c', $_[0], $connection], '>', \$got, '2>', \$messages) or die $messages;
		return $got;
	}

	my $columns = '(id int PRIMARY KEY, body text, dup int, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED)';
	citus('DROP SCHEMA IF EXISTS neardup_scripts CASCADE');
	citus("CREATE SCHEMA neardup_scripts; CREATE TABLE neardup_scripts.spread $columns; CREATE TABLE neardup_scripts.everywhere $columns");
	citus($_) foreach q{SELECT create_distributed_table('neardup_scripts.spread', 'id')}, q{SELECT create_reference_table('neardup_scripts.everywhere')};
	foreach my $table ('neardup_scripts.spread', 'neardup_scripts.everywhere')
	{
		citus(qq{INSERT INTO $table (id, body) SELECT i, (SELECT string_agg('f' || i / 3 || 'w' || j, ' ' ORDER BY j) FROM generate_series(1, 100) j) || ' variant ' || i FROM generate_series(0, 89) i});
		run_script('report', "table=$table", 'threshold=0.7', 'title=body', 'limit=1');
		like($out, qr/; 30 clusters(.*\n)*1\|3\|0\|\|f0w1 f0w2 .*\.\.\.\n/, "Citus, report: $table") or diag $err;
		run_script('keep-one', "table=$table", 'threshold=0.7', 'title=body', 'limit=1');
		like($out, qr/^    \d\.\d+  1 of 0\n         - f0w1 .*\n(.*\n)*dry run/m, "Citus, keep-one, a dry run: $table") or diag $err;
		run_script('keep-one', "table=$table", 'threshold=0.7', 'mark=dup', 'apply=yes');
		like($out, qr/^60 rows marked$/m, "Citus, keep-one marks: $table") or diag $err;
		run_script('keep-one', "table=$table", 'threshold=0.7', 'apply=yes');
		like($out, qr/^60 rows deleted$/m, "Citus, keep-one deletes: $table") or diag $err;
		is(citus("SELECT count(*), sum(id % 3) FROM $table"), "30|0\n", 'one of each cluster stays');
		run_script('lexicon', "table=$table", 'function=lexicon_of_' . ($table =~ s/.*\.//r));
		ok($ok, "Citus, lexicon: $table") or diag $err;
		refuses('sign', qr/is distributed by Citus, whose tables have no triggers/, "table=$table", 'sig=other');
		refuses('watch', qr/cannot tell which rows/, "table=$table");
	}
	refuses('status', qr/is distributed by Citus.*for its shards/s, 'table=neardup_scripts.spread');
	run_script('status', 'table=neardup_scripts.everywhere');
	like($out, qr/^Column sig: minhash/m, 'Citus, status of a reference table') or diag $err;
	citus('DROP SCHEMA neardup_scripts CASCADE');
}

# Arguments that name nothing are as good as none.
sql('CREATE TABLE plain (id int PRIMARY KEY, sig minhash)');
is(sql("SELECT count(*) FROM neardup_status('plain', sample => NULL)"), sql("SELECT count(*) FROM neardup_status('plain')"), 'a sample that is NULL');
is(($node->psql('postgres', "CALL neardup_keep_one('plain', 0.9, key => '{}')"))[0], 0, 'a key without columns');

# Arguments that name the wrong thing are refused, with what is wrong and what to do.
sub is_refused
{
	my ($call, $message) = @_;
	$node->psql('postgres', $call, stderr => \my $errors);
	return like($errors, $message, "refused: $call");
}
sql('CREATE TABLE numbered (id bigint PRIMARY KEY, h bigint)');
is_refused("$_, signature => 'id')", qr/"signature" must be a column of hashes, not the key "id"\nHINT:  Name the column/)
	foreach q{CALL neardup_keep_one('numbered', 0.9}, q{SELECT * FROM neardup_report('numbered'}, q{SELECT * FROM neardup_watch('numbered'}, q{SELECT neardup_review_page('numbered', texts => 'h'};
sql("CREATE TABLE full_marks (id int PRIMARY KEY, body text, dup int DEFAULT 0, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED)");
is(($node->psql('postgres', "CALL neardup_keep_one('full_marks', 0.9, mark => 'dup')"))[0], 0, 'a mark in a table without rows');
sql("INSERT INTO full_marks SELECT i, 'one two three four five' FROM generate_series(1, 3) i");
is_refused(q{CALL neardup_keep_one('full_marks', 0.9, mark => 'dup')}, qr/"mark" must be NULL in some rows, but "dup" marks them all\nHINT:  Rows that have a value there count as gone/);
is(sql("SELECT count(*) FROM neardup_report('full_marks', 0.9)"), 3, 'its rows are near-duplicates');
sql('CREATE TABLE empty (id int PRIMARY KEY, body text, sig minhash)');
is_refused(q{SELECT neardup_review_page('empty', scheme => 'no')}, qr/unknown shingling scheme "no"/);
is_refused(q{SELECT neardup_review_page('empty', pairs => 'plain', verdicts => 'plain')}, qr/"verdicts" must be NULL if "pairs" is not/);
is_refused(q{SELECT neardup_review_page('empty', pairs => 'plain', within => '{body}')}, qr/"within" must be empty if "pairs" is not NULL/);
is_refused("CALL neardup_keep_one('plain', 0.9, $_ => '')", qr/column "" of relation "public\.plain" does not exist/) foreach 'mark', 'show';
is_refused($_, qr/"listed" must not be negative/) foreach q{CALL neardup_keep_one('plain', 0.9, listed => -1)}, q{SELECT neardup_report('plain', 0.9, listed => -1)};
is_refused(q{SELECT neardup_watch('plain', NULL)}, qr/"threshold" must not be null/);
is_refused(q{CALL neardup_sign_table('empty', pause => -1)}, qr/"pause" must not be negative/);
is_refused(q{CALL neardup_sign_table('empty', batch => NULL)}, qr/"batch" must not be null/);
is(sql("SELECT count(*) FROM neardup_report('full_marks', 0.9, order_by => '')"), 3, 'an empty order');
is_refused(q{SELECT neardup_status('plain', sample => -1)}, qr/"sample" must not be negative\nHINT:  Write 0/);

# What is given is checked by itself: no message shows what a procedure builds of it.
sql(q{CREATE TABLE given (id int PRIMARY KEY, title text, extra json, sig minhash); CREATE TABLE no_verdicts (a int, b int);
	INSERT INTO given SELECT i, 'title', '{}', to_minhash('one two three four five') FROM generate_series(1, 3) i;
	CREATE TABLE texts_of_verdicts (a text, b varchar, same boolean); INSERT INTO texts_of_verdicts VALUES (' 1', '02', false), ('x', '2', false), ('5000000000', '1', true)});
foreach my $case (
	[ q{order_by => 'nosuch'}, qr/"order_by" is not an order of rows of "public\.given"\nDETAIL:  column "nosuch" does not exist\nHINT:  Write it as/ ],
	[ q{order_by => 'id; DROP TABLE given'}, qr/"order_by" is not an order of rows/ ],
	[ q{order_by => 'id LIMIT 1'}, qr/"order_by" is not an order of rows/ ],
	[ q{key => '{extra}'}, qr/"key" is not an order of rows of "public\.given"\nDETAIL:  could not identify an ordering operator/ ],
	[ q{signature => 'title'}, qr/"signature" must be a column of signatures, not "title"\nHINT:  Name a column of type minhash/ ],
	[ q{verdicts => 'no_verdicts'}, qr/"verdicts" must have the columns a, b and same, as "public\.no_verdicts" does not/ ],
	[ q{mark => 'extra'}, qr/"mark" must be NULL in some rows|column "extra" is of type json but expression is of type integer\nHINT:  Name a column of the type of the id/ ])
{
	sql(q{UPDATE given SET extra = NULL}) if $case->[0] =~ /mark/;
	foreach my $call ('CALL neardup_keep_one(', 'SELECT neardup_report(', 'SELECT neardup_review_page(')
	{
		next if $call !~ /keep_one/ && $case->[0] =~ /mark/ || $call =~ /review/ && $case->[0] =~ /signature/;
		is_refused("${call}'given', " . ($call =~ /review/ ? q{texts => 'title'} : 'threshold => 0.9') . ", $case->[0])", $case->[1]);
		unlike(($node->psql('postgres', "\\set SHOW_CONTEXT never\n${call}'given', " . ($call =~ /review/ ? q{texts => 'title'} : 'threshold => 0.9') . ", $case->[0])"))[2], qr/QUERY|SELECT|pg_temp/, 'and shows no query');
	}
}
is_refused(q{SELECT neardup_review_page('given', texts => 'title', pairs => 'no_verdicts')}, qr/"pairs" must have the columns a, b and similarity, as "public\.no_verdicts" does not/);
is_refused(q{CALL neardup_sign_table('given', 'to_minhash(nosuch)', 'more', batch => 0)}, qr/^(psql:\S+ )?ERROR:  "expression" is not an expression of columns of "(public\.)?given"\nDETAIL:  column "nosuch" does not exist\nHINT:  Write it as in a query/m);
is_refused(q{CALL neardup_keep_one('given', 0.9, verdicts => 'texts_of_verdicts')}, qr/2 of 3 verdicts in "verdicts" name a row that is not compared\n.*public\.given: 1 near-duplicates .*\n +1\.000  3 of 1\n/);

$node->stop;
done_testing();
