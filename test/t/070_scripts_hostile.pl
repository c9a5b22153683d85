# The scripts for psql in a database where others may create objects.  Nothing that
# another role has put into the search path, the extension's schema, a table's schema
# or onto a table runs with the rights of the user who runs a script.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('hostile');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE owner LOGIN;
	GRANT CREATE ON DATABASE postgres TO mallory, owner;
	GRANT CREATE ON SCHEMA public TO mallory, owner;
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
		FROM generate_series(1, 100) i $$;
	SET ROLE mallory;
	CREATE SCHEMA evil;
	GRANT USAGE ON SCHEMA evil TO PUBLIC;
	-- A sequence records that hostile code ran, even if that is rolled back.
	CREATE SEQUENCE evil.taken;
	GRANT ALL ON SEQUENCE evil.taken TO PUBLIC;
	CREATE FUNCTION evil.take() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		IF current_user NOT IN ('mallory', 'owner') THEN PERFORM nextval('evil.taken'); END IF; END $$;
	CREATE FUNCTION evil.fires() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM evil.take(); RETURN coalesce(NEW, OLD); END $$;
});

# Runs a script as the owner or the superuser, with the search path of the options.
sub run_script
{
	my ($name, @variables) = @_;
	my $user = 'postgres';
	my $path = 'public';

	($user) = shift(@variables) =~ /=(.*)/ if $variables[0] =~ /^USER=/;
	($path) = shift(@variables) =~ /=(.*)/ if $variables[0] =~ /^PATH=/;
	local $ENV{PGOPTIONS} = "-c search_path=$path";
	my @user = $user eq 'postgres' ? () : ('-U', $user);

	return $node->run_script($name, \@variables, @user);
}

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub no_hostile_code_ran
{
	is(sql('SELECT is_called FROM evil.taken'), 'f', $_[0]);
	sql(q{SELECT setval('evil.taken', 1, false)});
}

# Makes a table of the owner with families of four rows.
sub make_table
{
	my ($name, $columns) = @_;
	$columns //= 'id int PRIMARY KEY, body text';
	sql(qq{SET ROLE owner; CREATE TABLE $name ($columns);
		INSERT INTO $name (id, body) SELECT i::text::int, words(i / 4, i % 4) FROM generate_series(1, 40) i});
}

sub signed_right
{
	my ($table, $sig, $text, $what) = @_;
	is(sql(qq{SELECT count(*), count(*) FILTER (WHERE $sig IS DISTINCT FROM to_minhash($text)) FROM $table}), "40|0", $what);
}

my ($ok, $out, $err);
my $refused = qr/a superuser may not run the code of/;

# ---- Names ------------------------------------------------------------------

# Each table and column gets its own function and index, whatever their names.
my $long = 'l' x 50;
sql(qq{CREATE TABLE docs (id int PRIMARY KEY, body text, other text); CREATE TABLE docs_body (id int PRIMARY KEY, body text, other text);
	CREATE TABLE ${long}_one_table (id int PRIMARY KEY, body text, other text); CREATE TABLE ${long}_one_tabel (id int PRIMARY KEY, body text, other text)});
my @signed = (['docs', 'body_sig', 'body'], ['docs_body', 'sig', 'other'],
	["${long}_one_table", "${long}_sig", 'body'], ["${long}_one_tabel", "${long}_sig", 'other'], ["${long}_one_tabel", "${long}_gis", 'body']);
foreach my $one (@signed)
{
	my ($table, $sig, $text) = @$one;
	($ok, $out, $err) = run_script('sign', "table=$table", "sig=$sig", "text=$text");
	ok($ok, "sign $table.$sig") or diag $err;
	# Tables signed before stay signed.
	sql(qq{DELETE FROM $_; INSERT INTO $_ (id, body, other) SELECT i, words(i, 0), words(i, 1) FROM generate_series(1, 40) i})
	  foreach ($table, 'docs');
}
signed_right(@$_, "$_->[0].$_->[1] is signed by its own function") foreach @signed;
is(sql(q{SELECT count(*), count(DISTINCT indrelid::text || indkey::text) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam WHERE amname = 'neardup' AND indisvalid}),
	'5|5', 'each has its own index');
my $made = q{SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal UNION ALL SELECT count(*) FROM pg_proc WHERE prorettype = 'trigger'::regtype AND proname LIKE '%sign%'};
my $before = sql($made);
foreach my $one (@signed)
{
	run_script('sign', "table=$one->[0]", "sig=$one->[1]", "text=$one->[2]");
}
is(sql($made), $before, 'a second run makes no new objects');
($ok, $out, $err) = run_script('sign', 'table=docs', 'sig=body_sig', 'text=other');
ok(!$ok, 'a column that is signed from another text is not signed twice');
like($err, qr/signs "body_sig" already.*HINT:.*DROP TRIGGER/s, 'the message says so');
is(sql(q{SELECT count(*) FROM pg_proc p WHERE prorettype = 'trigger'::regtype AND proname LIKE '%sign%' AND proconfig IS DISTINCT FROM ARRAY['search_path=pg_catalog, pg_temp']}),
	'0', 'functions made by the scripts set their own search path');
sql(qq{DROP TABLE docs, docs_body, ${long}_one_table, ${long}_one_tabel});

# ---- Objects made by others before ------------------------------------------

make_table('pre');
sql(q{SET ROLE mallory; CREATE FUNCTION pre_sig_sign() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'});
($ok, $out, $err) = run_script('sign', 'USER=owner', 'table=pre');
ok($ok, 'sign works beside a function of the same name') or diag $err;
is(sql(q{SELECT count(*) FILTER (WHERE proowner = 'mallory'::regrole), count(*) FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid WHERE tgrelid = 'pre'::regclass}),
	'0|1', 'and does not use it');
signed_right('pre', 'sig', 'body', 'every row is signed');

make_table('pretrigger');
sql(q{GRANT TRIGGER ON pretrigger TO mallory; SET ROLE mallory;
	CREATE TRIGGER pretrigger_sig_sign BEFORE INSERT OR UPDATE ON pretrigger FOR EACH ROW EXECUTE FUNCTION evil.fires()});
($ok, $out, $err) = run_script('sign', 'table=pretrigger');
no_hostile_code_ran("another role's trigger does not run as a superuser");
like($err, qr/a superuser may not run the code of "pretrigger", which belongs to role "owner".*HINT:  Connect as role "owner"/s, 'the message says so');
is(sql(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'pretrigger'::regclass AND attname = 'sig'}), '0', 'and nothing is left behind');
($ok, $out, $err) = run_script('sign', 'USER=owner', 'table=pretrigger');
ok($ok, 'the owner of the table may run it') or diag $err;
signed_right('pretrigger', 'sig', 'body', 'a trigger of that name is not taken for the one that signs');
foreach my $mark ([], ['mark=dup'])
{
	sql('ALTER TABLE pretrigger ADD COLUMN IF NOT EXISTS dup int; DROP TRIGGER IF EXISTS gone ON pretrigger;
		CREATE TRIGGER gone AFTER DELETE ON pretrigger FOR EACH ROW EXECUTE FUNCTION evil.fires()');
	($ok, $out, $err) = run_script('keep-one', 'table=pretrigger', @$mark);
	no_hostile_code_ran("nor when rows are marked or deleted: @$mark");
	like($err, qr/$refused "pretrigger"/, 'the message says so');
}
foreach my $trust ('yes', '1')
{
	($ok, $out, $err) = run_script('keep-one', 'table=pretrigger', "trust=$trust");
	ok($ok, "it runs with trust=$trust") or diag $err;
	is(sql('SELECT is_called FROM evil.taken'), 't', 'the sequence would notice hostile code');
	sql(q{SELECT setval('evil.taken', 1, false)});
}
sql('DROP TABLE pre, pretrigger');

# Cascading deletes and rules.
make_table('leads');
run_script('sign', 'USER=owner', 'table=leads');
sql(q{SET ROLE owner; CREATE TABLE follows (id int REFERENCES leads ON DELETE CASCADE); INSERT INTO follows SELECT id FROM leads;
	CREATE TRIGGER t AFTER DELETE ON follows FOR EACH ROW EXECUTE FUNCTION evil.fires()});
($ok, $out, $err) = run_script('keep-one', 'table=leads');
no_hostile_code_ran('triggers of referencing tables do not run as a superuser');
sql(q{SET ROLE owner; DROP TABLE follows; CREATE RULE r AS ON DELETE TO leads DO ALSO SELECT evil.take()});
($ok, $out, $err) = run_script('keep-one', 'table=leads');
no_hostile_code_ran('nor do rules');
sql('DROP TABLE leads');

# ---- Expressions ----------------------------------------------------------------

make_table('formed', 'id int PRIMARY KEY, body text, title varchar, kind text');
sql(q{
	SET ROLE mallory;
	CREATE FUNCTION public.to_minhash(varchar, int) RETURNS public.minhash IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION evil.to_minhash(text) RETURNS public.minhash IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION evil.plain(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN $1; END';
	CREATE FUNCTION public.joined(varchar, varchar) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN $1; END';
	CREATE OPERATOR public.|| (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = public.joined);
	CREATE FUNCTION evil.fine(text) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN true; END';
	CREATE DOMAIN evil.picky AS text CHECK (evil.fine(VALUE));
	SET ROLE owner;
	CREATE FUNCTION public.format(text, text, text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION public.format(text, text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION public.plain(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN $1; END';
});
my %stranger = (
	'to_minhash(title, 512)' => 'function public.to_minhash\(character varying,integer\), which belongs to role mallory',
	q{to_minhash('a constant'::varchar, 512)} => 'function public.to_minhash\(',
	'to_minhash(title || title)' => 'operator public.\|\|\(character varying,character varying\), which belongs to role mallory',
	'evil.to_minhash(body)' => 'function evil.to_minhash\(text\), which belongs to role mallory',
	q{to_minhash(body || evil.plain('a constant'))} => 'function evil.plain\(text\), which belongs to role mallory',
	q{to_minhash(body || 'a constant'::evil.picky)} => 'type evil.picky, which belongs to role mallory',
	'to_minhash(body || public.plain(kind))' => 'function public.plain\(text\), which belongs to role owner');
foreach my $expression (sort keys %stranger)
{
	sql('ALTER TABLE formed OWNER TO postgres');
	($ok, $out, $err) = run_script('sign', 'PATH=evil,pg_catalog,public', 'table=public.formed', "expression=$expression");
	sql('ALTER TABLE formed OWNER TO owner');
	ok(!$ok, "a superuser does not sign by $expression");
	like($err, qr/the expression uses $stranger{$expression}.*HINT:  It would run as each role/s, 'the message names what it calls');
	no_hostile_code_ran('and does not run');
	next if $expression =~ /public.plain/;
	($ok, $out, $err) = run_script('sign', 'USER=owner', 'table=public.formed', "expression=$expression");
	like($err, qr/the expression uses $stranger{$expression}/, 'nor does the owner of the table');
}
is(sql(q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'formed'::regclass}), '0', 'there is no trigger');
($ok, $out, $err) = run_script('sign', 'USER=owner', 'table=formed', 'sig=own', 'expression=to_minhash(body || public.plain(body))');
ok($ok, 'the owner may use a function of its own') or diag $err;
($ok, $out, $err) = run_script('sign', 'USER=owner', 'table=formed', 'sig=trusted', 'trust=yes', 'expression=to_minhash(body || evil.plain(body))');
ok($ok, 'or of a role that it trusts') or diag $err;
sql('SET ROLE owner; DROP TRIGGER formed_own_sign ON formed; DROP TRIGGER formed_trusted_sign ON formed');
# What the defaults of an expression stand for is fixed when it is parsed.
($ok, $out, $err) = run_script('sign', 'USER=owner', 'PATH=evil,pg_catalog,public', 'table=public.formed', 'expression=to_minhash(body)');
ok($ok, 'an expression finds the functions of the extension, and not those in the path') or diag $err;
sql(q{SET ROLE mallory; CREATE FUNCTION public.to_minhash(text) RETURNS public.minhash LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END'});
sql(q{INSERT INTO formed SELECT 100, words(9, 9)});
no_hostile_code_ran('a function that is created later is not called');
is(sql('SELECT count(*), count(*) FILTER (WHERE sig = to_minhash(body, 512, 1)) FROM formed'), '41|41', 'every row is signed');
sql(q{DROP FUNCTION public.to_minhash(text); DROP FUNCTION public.to_minhash(varchar, int); DROP FUNCTION public.format(text, text, text); DROP FUNCTION public.format(text, text); DROP OPERATOR public.|| (varchar, varchar); DROP TABLE formed});

# A view hides the triggers of its table from nobody.
make_table('viewed');
run_script('sign', 'USER=owner', 'table=viewed');
sql(q{CREATE VIEW over_viewed AS SELECT * FROM viewed; CREATE VIEW over_view AS SELECT * FROM over_viewed WHERE id > 0;
	SET ROLE owner; CREATE TRIGGER gone AFTER DELETE ON viewed FOR EACH ROW EXECUTE FUNCTION evil.fires()});
foreach my $view ('over_viewed', 'over_view')
{
	($ok, $out, $err) = run_script('keep-one', "table=$view");
	no_hostile_code_ran("triggers of the table do not run: $view");
	like($err, qr/$refused "viewed"/, 'the message says so');
	($ok, $out, $err) = run_script('report', "table=$view");
	ok($ok, "but a superuser's view may be read") or diag $err;
}
sql('DROP TABLE viewed CASCADE');

# ---- The search path, and the extension's schema ------------------------------

sub every_script
{
	my ($table, $what, @options) = @_;
	foreach my $script ('sign', 'status', 'report', 'review', 'keep-one', 'watch', 'watch')
	{
		($ok, $out, $err) = run_script($script, @options, "table=$table");
		ok($ok, "$what: $script") or diag $err;
		sql(qq{INSERT INTO $table SELECT 1000 + max(id::text::int), words(1, 7) FROM $table}) if $script eq 'watch' && $out =~ /watched from now/;
	}
	no_hostile_code_ran("$what: no code of other roles ran");
	like($out, qr/\(\d+ rows\)/, 'the script works');
}

make_table('far');
sql(q{
	SET ROLE mallory;
	CREATE DOMAIN evil.minhash AS public.minhash CHECK (evil.take() IS NULL OR true);
	CREATE TABLE evil.neardup_rest (id int, keeper int, similarity float8);
	CREATE FUNCTION evil.neardup_clusters(text, text, int) RETURNS TABLE (id int, keeper int, similarity float8, size bigint)
		LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); END';
	CREATE FUNCTION evil.neardup_clusters(text, float8, int) RETURNS TABLE (id int, keeper int, similarity float8, size bigint)
		LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); END';
	CREATE FUNCTION evil.is_similar(public.minhash, public.minhash, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN true; END';
	CREATE FUNCTION evil.similarity(public.minhash, public.minhash) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN 1; END';
	CREATE FUNCTION evil.cardinality(public.minhash) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION evil.shared_passages(text, text, text, int) RETURNS TABLE (a_start int, a_length int, b_start int, b_length int, tokens int)
		LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); END';
	CREATE FUNCTION evil.replace(text, text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN $1; END';
	CREATE FUNCTION evil.same(int, int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM evil.take(); RETURN $1 OPERATOR(pg_catalog.=) $2; END';
	CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.same);
	CREATE OPERATOR evil.<> (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.same);
	CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END';
	CREATE FUNCTION evil.joined(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN textcat($1, $2); END';
	CREATE OPERATOR evil.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.joined);
});
sql('ALTER TABLE far OWNER TO postgres');
every_script('public.far', 'functions, operators, types and tables in the path', 'PATH=evil,pg_catalog,public');
sql('DROP TABLE far, neardup_watched, neardup_noticed');

# Objects in the extension's schema that are not its members are refused.
make_table('near_by');
sql('ALTER TABLE near_by OWNER TO postgres');
sql(q{SET ROLE mallory; CREATE FUNCTION public.to_minhash(text) RETURNS public.minhash LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN NULL; END'});

($ok, $out, $err) = run_script('sign', 'table=near_by', q{expression=to_minhash(body, 512, 1, 'word 3'::text)});
ok($ok, 'sign works beside a function in the same schema') or diag $err;
no_hostile_code_ran('that function is not called');
sql(q{INSERT INTO near_by SELECT 100, words(9, 9)});
no_hostile_code_ran('nor is it called by later inserts');
sql(q{DROP FUNCTION public.to_minhash(text)});
# What the owner of the database has put beside the extension's functions, also as its member.
my $beside = 'public.shared_passages(text, text, text, bigint)';
sql(qq{SET ROLE mallory; CREATE FUNCTION $beside RETURNS TABLE (a_start int, a_length int, b_start int, b_length int, tokens int) LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); END'});
foreach my $member ('', "ALTER EXTENSION neardup ADD FUNCTION $beside")
{
	sql($member) if $member;
	($ok, $out, $err) = run_script('review', 'table=near_by');
	like($out, qr/<article/, 'review works beside a function in the same schema') or diag $err;
	no_hostile_code_ran('that function is not called');
}
sql("ALTER EXTENSION neardup DROP FUNCTION $beside; DROP FUNCTION $beside");
sql('DROP TABLE near_by');

# ---- Domains and casts of the owner -------------------------------------------

sql(q{
	SET ROLE owner;
	CREATE FUNCTION had() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN true; END';
	CREATE DOMAIN counted AS int CHECK (had());
	CREATE TYPE kind AS ENUM ('k1', 'k2', 'k3', 'k4', 'k5');
	CREATE FUNCTION told(kind) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM evil.take(); RETURN enum_out($1); END';
	CREATE CAST (kind AS text) WITH FUNCTION told(kind);
	CREATE FUNCTION same(kind, kind) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM evil.take(); RETURN enum_eq($1, $2); END';
	CREATE OPERATOR = (LEFTARG = kind, RIGHTARG = kind, FUNCTION = same);
	CREATE OPERATOR <> (LEFTARG = kind, RIGHTARG = kind, FUNCTION = same);
	CREATE TABLE kinds (id kind PRIMARY KEY, body text);
	INSERT INTO kinds SELECT k, words(1, n::int) FROM unnest(enum_range(NULL::kind)) WITH ORDINALITY AS e (k, n);
});
make_table('domains', 'id counted PRIMARY KEY, body text');
sql(q{SELECT setval('evil.taken', 1, false)});
foreach my $table ('domains', 'kinds')
{
	foreach my $script ('sign', 'lexicon')
	{
		($ok, $out, $err) = run_script($script, "table=$table", $script eq 'lexicon' ? ('text=id', 'function=weighed') : ());
		like($err, qr/$refused "$table"/, "a superuser does not run them: $table, $script");
		no_hostile_code_ran("they run no code: $table, $script");
	}
	foreach my $script ('sign', 'status', 'report', 'review', 'keep-one', 'watch', 'watch')
	{
		($ok, $out, $err) = run_script($script, $script =~ /sign|keep/ ? 'USER=owner' : (), "table=$table");
		ok($ok, "the owner's types: $table, $script") or diag $err;
		sql("SET ROLE owner; UPDATE $table SET body = body || ' and so on'") if $script eq 'watch';
		no_hostile_code_ran("they run no code: $table, $script");
	}
	like($out, qr/\(\d\d+ rows\)/, 'the script works');
	($ok, $out, $err) = run_script('review', "table=$table", 'kind=judge');
	like($out, qr/<article/, "the owner's types: $table, pairs to judge") or diag $err;
	no_hostile_code_ran("they run no code: $table, pairs to judge");
	($ok, $out, $err) = run_script('report', "table=$table", 'title=id');
	ok($ok, "the owner's types as titles: $table") or diag $err;
	no_hostile_code_ran('they run no code');
}
sql('DROP TABLE domains, kinds, neardup_watched, neardup_noticed');

# ---- The table of neardup-watch.sql -----------------------------------------

make_table('watched');
run_script('sign', 'USER=owner', 'table=watched');
my %planted = (
	"a stranger's table" => [q{SET ROLE mallory; CREATE TABLE neardup_watched ("table" regclass, sig name, threshold float8, seen numeric NOT NULL, PRIMARY KEY ("table", sig, threshold));
		GRANT ALL ON neardup_watched TO PUBLIC;
		CREATE TRIGGER t BEFORE INSERT ON neardup_watched FOR EACH ROW EXECUTE FUNCTION evil.fires()}, qr/belongs to role "mallory"/],
	"one's own with a stranger's trigger" => [q{CREATE TABLE neardup_watched ("table" regclass, sig name, threshold float8, seen numeric NOT NULL, PRIMARY KEY ("table", sig, threshold));
		GRANT TRIGGER ON neardup_watched TO mallory; SET ROLE mallory;
		CREATE TRIGGER t BEFORE INSERT ON neardup_watched FOR EACH ROW EXECUTE FUNCTION evil.fires()}, qr/a superuser may not run the triggers of "neardup_watched"/],
	"a stranger's view" => [q{SET ROLE mallory; CREATE VIEW neardup_watched AS SELECT 'watched'::regclass AS "table", 'sig'::name AS sig, 0.8::float8 AS threshold, evil.take() IS NULL AS seen;
		GRANT ALL ON neardup_watched TO PUBLIC}, qr/neardup_watched/]);
foreach my $what (sort keys %planted)
{
	sql($planted{$what}[0]);
	foreach (1 .. 2)
	{
		($ok, $out, $err) = run_script('watch', 'table=watched');
		no_hostile_code_ran("$what in place of the script's table runs no code");
	}
	ok(!$ok, 'and the script fails');
	like($err, $planted{$what}[1], 'the message says so');
	sql($what =~ /view/ ? 'DROP VIEW neardup_watched' : 'DROP TABLE neardup_watched');
	sql('DROP TABLE IF EXISTS neardup_noticed');
}
# A role that may not create in the table's schema names another; the owner need not.
sql(q{CREATE ROLE reader LOGIN; GRANT SELECT ON watched TO reader; CREATE SCHEMA "Reader's" AUTHORIZATION reader; REVOKE CREATE ON SCHEMA public FROM PUBLIC});
($ok, $out, $err) = run_script('watch', 'USER=reader', 'table=watched');
like($err, qr/permission denied for schema public/, 'a role that may not create in the table\'s schema');
foreach (1 .. 2)
{
	($ok, $out, $err) = run_script('watch', 'USER=reader', 'table=watched', q{schema="Reader's"});
	ok($ok, 'names a schema') or diag $err;
}
like($out, qr/\(0 rows\)/, 'and the next run continues from there');
run_script('watch', 'USER=owner', 'table=watched');
sql(q{ALTER TABLE neardup_watched OWNER TO mallory; GRANT ALL ON neardup_watched TO owner});
($ok, $out, $err) = run_script('watch', 'USER=owner', 'table=watched');
like($err, qr/neardup_\w+" is not a table that neardup_watch\(\) has made for this role.*It belongs to role mallory/s, "nor does the owner use a stranger's");
sql('ALTER TABLE neardup_watched OWNER TO owner');
($ok, $out, $err) = run_script('watch', 'USER=owner', 'table=watched');
ok($ok, 'the owner in the schema of the table') or diag $err;
($ok, $out, $err) = run_script('watch', 'table=watched');
like($err, qr/$refused "neardup_\w+"/, "a superuser does not use another role's table");

# ---- Tables that cannot be watched --------------------------------------------

sql(q{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw;
	CREATE FOREIGN TABLE abroad (id int, sig minhash) SERVER other;
	CREATE TABLE parts (id int, sig minhash) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (9) SERVER other;
	CREATE VIEW seen AS SELECT id, sig FROM watched;
	CREATE SCHEMA w;
	-- A catalog like that of Citus.
	SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, repmodel "char");
}) if sql(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) == 1;
SKIP:
{
	skip 'there is no postgres_fdw', 5 if sql(q{SELECT to_regclass('abroad') IS NULL}) eq 't';
	foreach my $table ('abroad', 'parts', 'seen')
	{
		($ok, $out, $err) = run_script('watch', "table=$table", 'schema=w');
		like($err, qr/cannot tell which rows of "[\w.]+" are new/, "$table is refused");
	}
	($ok, $out, $err) = run_script('watch', 'table=watched', 'schema=w');
	ok($ok, 'a table that Citus leaves alone is not') or diag $err;
	sql(q{INSERT INTO pg_catalog.pg_dist_partition VALUES ('watched', 's')});
	($ok, $out, $err) = run_script('watch', 'table=watched', 'schema=w');
	like($err, qr/cannot tell which rows.*Citus/s, 'a distributed table is refused');
	sql('SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition');
}

# ---- What a terminal would obey ---------------------------------------------------

# Ids, titles and names that others have chosen are printed without control characters and
# marks of direction.
make_table('shown', 'id text PRIMARY KEY, body text, title text');
my $esc = q{E'\x1b]0;taken\x07\x1b[2J\u009b31m\u202e\u200f'};
sql(qq{SET ROLE owner; UPDATE shown SET id = $esc || id || E'\\n', title = $esc || 'title'; SET ROLE mallory;
	CREATE FUNCTION evil.named() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'});
run_script('sign', 'USER=owner', 'table=shown');
sub prints_none
{
	my ($what, @run) = @_;
	($ok, $out, $err) = run_script(@run);
	return unlike($out . $err, qr/[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]/, $what);
}
foreach my $script ('report', 'keep-one', 'watch', 'watch', 'status')
{
	my $watches = $script eq 'watch';

	prints_none("$script $_", $script, 'USER=owner', 'table=shown', $_ ? $_ : ()) foreach '', $watches ? () : 'title=title';
	like($out, qr/\]0;taken/, "$script shows the rest") if $script ne 'status' && $out !~ /is watched from now on/;
	sql(q{SET ROLE owner; UPDATE shown SET body = body || ' and so on'}) if $watches;
}
sql(qq{DO \$\$ BEGIN EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON shown EXECUTE FUNCTION evil.fires()', $esc); EXECUTE format('ALTER FUNCTION evil.named() RENAME TO %I', $esc);
	EXECUTE format('CREATE TRIGGER other AFTER DELETE ON shown FOR EACH ROW EXECUTE FUNCTION evil.%I()', $esc); EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON shown FOR EACH ROW EXECUTE FUNCTION neardup_guard_row(''signature=sig'', ''threshold=0.9'')', $esc || 'r') ; END \$\$});
prints_none('names of triggers', 'status', 'table=shown');
like($out, qr/Guard " ?\]0;taken/, 'status shows the rest') or diag $out;
prints_none('names of functions', 'keep-one', 'table=shown');
like($err, qr/$refused "shown"/, 'the message is there');
sql('DROP TABLE shown, neardup_watched, neardup_noticed');

# ---- Values ---------------------------------------------------------------------

foreach my $bad ('batch=1); DROP TABLE watched; --', q{pause=0'; DROP TABLE watched; --}, q{type=minhash"; DROP TABLE watched; --}, q{sig=s"; DROP TABLE watched; --}, q{trust=no'; DROP TABLE watched; --})
{
	run_script('sign', 'table=watched', $bad);
}
foreach my $script ('sign', 'status', 'report', 'review', 'keep-one', 'watch')
{
	run_script($script, $_) foreach ('table=watched; DROP TABLE watched', q{table=watched'; DROP TABLE watched; --});
	run_script($script, 'table=watched', q{schema=public; DROP TABLE watched});
	run_script($script, 'table=watched', $_) foreach ('verdicts=SELECT 1, 2, true; DROP TABLE watched', q{verdicts='; DROP TABLE watched; --}, 'verdicts=DROP TABLE watched',
		'verdicts=DELETE FROM watched RETURNING id, id, true', 'verdicts=WITH gone AS (DELETE FROM watched RETURNING id) SELECT id, id, true FROM gone');
	run_script($script, 'table=watched', $_) foreach ('sample=1); DROP TABLE watched; --', q{sample=1'; DROP TABLE watched; --});
}
is(sql(q{SELECT count(*) > 0 FROM watched}), 't', 'values of variables are not run as SQL');

$node->stop;
done_testing();
