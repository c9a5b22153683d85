# Nothing that somebody put into the extension's schema before CREATE EXTENSION is ever called.
#
# The owner of a database, who is no superuser, fills the schema with traps: operators, functions,
# aggregates, types, casts and relations of all names in sql/*.sql, for the types of PostgreSQL's own
# objects of these names and of the extension's, and for all types that an implicit cast leads from.
# Then a superuser uses every object of the extension.  A trap that is called leaves a line in the
# server's log.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('traps');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nneardup.background = off\n");
$node->start;

# Returns the distinct matches of a pattern in the extension's SQL, as an array for SQL.
sub names
{
	my ($pattern) = @_;
	my %seen;

	foreach my $file (glob "$ENV{TESTDIR}/sql/{,study/}[0-9][0-9]-*.sql")
	{
		my $sql = slurp_file($file) =~ s/--.*//gr;
		$seen{$_}++ foreach map { lc } $sql =~ /$pattern/g;
	}
	return '{' . join(',', map { qq("$_") } sort keys %seen) . '}';
}
my $words = names(qr/[A-Za-z_]\w+/);
# BETWEEN, IN, LIKE and their like call operators, too.
my $operators = names(qr{[-+*/<>=~!@#%^&|?]+}) =~ s/\}$/,"~~","!~~","~*","||"}/r;

# ---- The extension's own names, from a database without traps ----

$node->safe_psql('postgres', 'CREATE ROLE lord LOGIN; CREATE DATABASE clean; CREATE DATABASE trapped OWNER lord');
$node->safe_psql('clean', 'CREATE SCHEMA ext; CREATE EXTENSION neardup SCHEMA ext; CREATE EXTENSION neardup_study SCHEMA ext');
# Types of the extension do not exist yet, so traps for them take anything.  Beside a function that itself takes
# anything, an overload is called: doc/explanation/security.md warns of schemas in which others may create objects.
my $plain = q{ARRAY(SELECT CASE WHEN typnamespace = 'ext'::regnamespace THEN 'anyelement' ELSE typname END
	FROM unnest(%s) WITH ORDINALITY a (type, n) JOIN pg_type ON pg_type.oid = a.type ORDER BY n)};
my $own = $node->safe_psql('clean', sprintf(q{
	SELECT string_agg(format('(%%L, %%L, %%L::name[], %%L::name[], %%L::boolean)', kind, name, arguments, result, retset), ', ')
	FROM (SELECT 'f' AS kind, proname AS name, } . $plain . q{ AS arguments, } . $plain . q{ AS result, proretset AS retset
		FROM pg_proc WHERE pronamespace = 'ext'::regnamespace AND pronargs <= 3 AND NOT 'anyelement'::regtype = ANY (proargtypes)
		UNION ALL
		SELECT 'o', oprname, } . $plain . q{, } . $plain . q{, false FROM pg_operator WHERE oprnamespace = 'ext'::regnamespace AND oprleft <> 0) AS o},
	'proargtypes::oid[]', 'ARRAY[prorettype]', 'ARRAY[oprleft, oprright]', 'ARRAY[oprresult]'));

# ---- The traps ----

my $plant = <<'END';
SET ROLE lord;
SET search_path = pg_catalog, pg_temp;
CREATE SCHEMA ext;
GRANT USAGE ON SCHEMA ext TO PUBLIC;
-- What a trap may be called with instead of a type.
CREATE TEMP VIEW instead AS
SELECT oid AS wanted, oid AS given, 0 AS far FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND (typtype = 'b' OR typtype = 'r' OR typname = 'record')
UNION SELECT casttarget, castsource, 1 FROM pg_cast WHERE castcontext = 'i' AND castsource <> casttarget
UNION SELECT 'oid'::regtype, oid, 1 FROM pg_type WHERE typname LIKE 'reg%'
UNION SELECT p, g, 1 FROM unnest('{"\"any\"",anyelement,anynonarray,anycompatible}'::regtype[]) p, unnest('{anyelement,int4,int8,float8,text,name}'::regtype[]) g
UNION SELECT p, g, 1 FROM unnest('{anyarray,anycompatiblearray}'::regtype[]) p, unnest('{anyarray,int4[],int8[],text[],name[],anyelement}'::regtype[]) g;
CREATE TEMP TABLE wanted (kind "char", name name, arguments oid[], result oid, retset boolean, ours boolean);
INSERT INTO wanted
SELECT prokind, proname, proargtypes, prorettype, proretset, false FROM pg_proc
WHERE proname = ANY (:'words') AND pronamespace = 'pg_catalog'::regnamespace AND prokind IN ('f', 'a') AND pronargs <= 4 AND prorettype <> 'record'::regtype
UNION ALL
SELECT 'f', proname, proargtypes::oid[] || array_fill('"any"'::regtype::oid, ARRAY[n]), prorettype, proretset, false FROM pg_proc, generate_series(1, 2) n
WHERE proname = ANY (:'words') AND pronamespace = 'pg_catalog'::regnamespace AND provariadic = '"any"'::regtype AND prokind = 'f'
UNION ALL
SELECT 'o', oprname, ARRAY[oprleft, oprright], oprresult, false, false FROM pg_operator
WHERE oprname = ANY (:'operators') AND oprnamespace = 'pg_catalog'::regnamespace AND oprleft <> 0
UNION ALL
SELECT kind::"char", name, ARRAY(SELECT t.oid FROM unnest(arguments) WITH ORDINALITY a (type, n) JOIN pg_type t ON typname = type AND typnamespace = 'pg_catalog'::regnamespace ORDER BY n),
	CASE WHEN result[1] = 'anyelement' AND 'anyelement' <> ALL (arguments) THEN 'text'::regtype ELSE (SELECT oid FROM pg_type WHERE typname = result[1] AND typnamespace = 'pg_catalog'::regnamespace) END, retset, true
FROM (VALUES :own) AS o (kind, name, arguments, result, retset);

CREATE TEMP TABLE traps AS
WITH RECURSIVE given AS (
	SELECT kind, name, arguments AS left_over, '{}'::oid[] AS arguments, result, retset, ours, 0 AS far FROM wanted
	UNION ALL
	SELECT kind, name, left_over[2:], g.arguments || i.given, result, retset, ours, g.far + i.far FROM given g JOIN instead i ON i.wanted = left_over[1]
), best AS (
	SELECT DISTINCT ON (kind = 'o', name, arguments) * FROM given g WHERE left_over = '{}'
		AND NOT EXISTS (SELECT FROM wanted w WHERE w.ours AND w.kind = 'f' AND w.name = g.name AND w.arguments = g.arguments AND 'anyelement'::regtype::oid <> ALL (g.arguments))
	ORDER BY kind = 'o', name, arguments, far, result
)
SELECT kind, name, arguments, retset, (SELECT string_agg(a::regtype::text, ', ') FROM unnest(arguments) a) AS signature,
	CASE WHEN (SELECT typtype FROM pg_type WHERE oid = result) = 'p' AND result NOT IN ('void'::regtype, 'record'::regtype)
		THEN CASE WHEN result IN ('anyelement'::regtype, 'anynonarray'::regtype, 'anycompatible'::regtype)
			THEN coalesce((SELECT nullif(typelem, 0) FROM pg_type WHERE oid = arguments[1] AND typcategory = 'A'), arguments[1])
			ELSE (SELECT a FROM unnest(arguments || '{1016}'::oid[]) a JOIN pg_type t ON t.oid = a WHERE typcategory = 'A' OR typname = 'anyarray' LIMIT 1) END
		ELSE result END::regtype AS result
FROM best;
DELETE FROM traps WHERE result IS NULL OR result::text LIKE 'any%' AND signature NOT LIKE '%any%' OR result IN ('trigger'::regtype, 'internal'::regtype);
SET check_function_bodies = off;
CREATE FUNCTION pg_temp.run(statement text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 1;
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '%: %', statement, SQLERRM;
	RETURN 0;
END $$;
CREATE FUNCTION pg_temp.trap(name text, signature text, result text, retset boolean, what text) RETURNS text LANGUAGE sql AS $_$
	SELECT format('CREATE FUNCTION ext.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS %L', name, signature, CASE WHEN retset THEN 'SETOF' END, result,
		format('BEGIN RAISE WARNING %L, session_user, current_user; RETURN%s; END', 'trapped by ' || replace(what, '%', '%%') || ': % as %',
			CASE WHEN NOT retset AND result <> 'void' THEN ' NULL' END))
$_$;
SELECT sum(pg_temp.run(pg_temp.trap(name, signature, result::text, retset, format('%s(%s)', name, signature)))) FROM traps WHERE kind = 'f';
SELECT sum(pg_temp.run(pg_temp.trap('step of ' || name, concat_ws(', ', result::text, nullif(signature, '')), result::text, false, format('%s(%s)', name, signature)))
	+ pg_temp.run(format('CREATE AGGREGATE ext.%I(%s) (SFUNC = ext.%I, STYPE = %s)', name, coalesce(signature, '*'), 'step of ' || name, result))) FROM traps WHERE kind = 'a';
SELECT sum(pg_temp.run(pg_temp.trap(name, signature, result::text, false, format('%s(%s)', name, signature)))
	+ pg_temp.run(format('CREATE OPERATOR ext.%s (FUNCTION = ext.%I, LEFTARG = %s, RIGHTARG = %s)', name, name, arguments[1]::regtype, arguments[2]::regtype))) FROM traps WHERE kind = 'o';
-- Types, with implicit casts from and to others.
CREATE TEMP TABLE types AS
SELECT typname AS name FROM pg_type WHERE typname = ANY (:'words'::text[] || '{int2,int4,int8,bool,regproc,varbit,varchar}'::text[]) AND typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'p');
SELECT sum(pg_temp.run(format('CREATE TYPE ext.%I AS ENUM (''trap'')', name))) FROM types;
SELECT sum(pg_temp.run(pg_temp.trap('cast to ' || name, source, format('ext.%I', name), false, 'cast to ' || name))
	+ pg_temp.run(pg_temp.trap('cast from ' || name || ' to ' || source, format('ext.%I', name), source, false, 'cast from ' || name))
	+ pg_temp.run(format('CREATE CAST (%s AS ext.%I) WITH FUNCTION ext.%I(%1$s) AS IMPLICIT', source, name, 'cast to ' || name))
	+ pg_temp.run(format('CREATE CAST (ext.%2$I AS %1$s) WITH FUNCTION ext.%3$I(ext.%2$I) AS IMPLICIT', source, name, 'cast from ' || name || ' to ' || source)))
FROM types, unnest('{smallint,integer,bigint,oid,regclass,regproc,text,name,"\"char\"",float8,numeric,bit,text[],bigint[]}'::text[]) source;
-- Relations.
SELECT pg_temp.trap('rows', '', 'boolean', false, 'a relation') AS make \gset
SELECT pg_temp.run(:'make');
SELECT sum(pg_temp.run(format('CREATE VIEW ext.%I AS SELECT *, ext.rows() FROM pg_catalog.%1$I', relname)))
FROM pg_class WHERE relname = ANY (:'words') AND relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v');
RESET ROLE;
END

my $count = q{SELECT count(*) FROM pg_%1$s WHERE %2$snamespace = 'ext'::regnamespace};
my ($planted, $complaints);
$node->psql('trapped', "\\set words '$words'\n\\set operators '$operators'\n\\set own '" . ($own =~ s/'/''/gr) . "'\n$plant"
	. "\\echo planted\n" . join('', map { sprintf "$count;\n", @$_ } ['operator', 'opr'], ['proc', 'pro'], ['type', 'typ'], ['class', 'rel']),
	on_error_stop => 1, stdout => \$planted, stderr => \$complaints);
my @planted = split /\n/, $planted =~ s/.*^planted\n//smr;
ok($planted[0] > 3000 && $planted[1] > 5000 && $planted[2] > 30 && $planted[3] > 3, 'traps are set') or diag("@planted $complaints");

# ---- Every object of the extension, used by a superuser ----

# Statements that use functions, operators, casts and classes, with an argument for each type.
my $prepare = <<'END';
CREATE TABLE public.docs (id bigint PRIMARY KEY, body text, sig ext.minhash, fp ext.simhash, bag ext.shingles, ball ext.ball, h bigint, bits bit(64), lexicon ext.shingle_lexicon);
INSERT INTO public.docs SELECT i, 'one two three four five six seven eight nine ' || i FROM generate_series(1, 40) i;
UPDATE public.docs SET sig = ext.to_minhash(body, 'word 3'::text), fp = ext.to_simhash(body, 64, 'word 3'::text), bag = ext.to_shingles(body, 'word 3'::text), h = id, bits = id::bit(64),
	ball = ext.near(ext.to_minhash(body, 'word 3'::text), 0.9::float8), lexicon = ext.neardup_lexicon('SELECT body FROM public.docs'::text);
CREATE TABLE public.frequencies AS SELECT * FROM ext.neardup_frequencies('SELECT bag FROM public.docs'::text);
CREATE TYPE public.mood AS ENUM ('good');
CREATE VIEW public.samples AS
SELECT type::regtype AS type, value FROM (VALUES ('text', 'word 1'), ('int4', '32'), ('int2', '2'), ('int8', '7'), ('float8', '0.5'), ('float4', '1'), ('numeric', '5'), ('bool', 't'),
	('bit', repeat('01', 32)), ('varbit', repeat('01', 32)), ('text[]', '{a,b}'), ('int8[]', '{1,2}'), ('float8[]', '{1,2}'), ('int4[]', '{1,2}'), ('name[]', '{}'), ('name', 'sig'), ('bytea', 'a'), ('"char"', 'a'),
	('bpchar', 'a'), ('oid', '1'), ('uuid', '00000000-0000-0000-0000-000000000000'), ('date', '2001-01-01'), ('time', '01:00'), ('timetz', '01:00'), ('timestamp', '2001-01-01'),
	('timestamptz', '2001-01-01'), ('interval', '1 day'), ('inet', '::1'), ('macaddr', '08:00:2b:01:02:03'), ('macaddr8', '08:00:2b:01:02:03:04:05'), ('jsonb', '1'),
	('public.mood', 'good'), ('int8range', '[1,2)'), ('regclass', 'public.frequencies')) AS v (type, value)
UNION ALL SELECT ('ext.' || type)::regtype, value FROM (SELECT sig::text, fp::text, bag::text, ball::text, lexicon::text FROM public.docs LIMIT 1) AS d (minhash, simhash, shingles, ball, shingle_lexicon),
	LATERAL (VALUES ('minhash', minhash), ('simhash', simhash), ('shingles', shingles), ('ball', ball), ('shingle_lexicon', shingle_lexicon)) AS v (type, value);
CREATE FUNCTION public.sample(wanted oid) RETURNS text LANGUAGE sql AS $$
	SELECT format('%L::%s', value, format_type(type, -1)) FROM public.samples
	WHERE type = CASE wanted WHEN 'anyelement'::regtype THEN 'int8'::regtype WHEN 'anyenum'::regtype THEN 'public.mood'::regtype WHEN 'anyarray'::regtype THEN 'int8[]'::regtype WHEN 'anyrange'::regtype THEN 'int8range'::regtype ELSE wanted END
$$;
CREATE FUNCTION public.call(p pg_proc, count int) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT * FROM ext.%I(%s)', p.proname, string_agg(public.sample(a), ', ' ORDER BY n)) FROM unnest(p.proargtypes) WITH ORDINALITY u (a, n)
	WHERE n <= count HAVING count(public.sample(a)) = count
$$;
CREATE VIEW public.members AS SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refobjid IN (SELECT oid FROM pg_extension WHERE extname LIKE 'neardup%');
END
my $use = <<'END';
SELECT format('SELECT * FROM ext.%I', relname) FROM pg_class JOIN public.members ON objid = oid WHERE relkind = 'v';
SELECT DISTINCT public.call(p, n) FROM pg_proc p JOIN public.members ON objid = p.oid, generate_series((pronargs - pronargdefaults)::int, pronargs::int) n
	WHERE prokind = 'f' AND prorettype <> 'trigger'::regtype AND proname !~ '^neardup_(guard$|pairs|clusters|report|status|review|watch|advise|lexicon|common|frequencies|passages|verdicts_query)' AND (p.proargnames IS NULL OR p.proargnames[1] <> 'index')
	AND public.call(p, n) IS NOT NULL;
SELECT format('SELECT %s OPERATOR(ext.%s) %s', public.sample(oprleft), oprname, public.sample(oprright)) FROM pg_operator o JOIN public.members ON objid = o.oid;
SELECT format('SELECT CAST(%s AS %s)', public.sample(castsource), format_type(casttarget, -1)) FROM pg_cast c JOIN public.members ON objid = c.oid;
-- A table for each operator class.
SELECT format('CREATE TABLE public.c%s AS SELECT i AS h, %s AS v FROM pg_catalog.generate_series(1::bigint, 50) i', c.oid, public.sample(opcintype)),
	format('CREATE INDEX ON public.c%s USING %I (%s v ext.%I)', c.oid, amname, CASE WHEN opcname ~ 'key_ops' THEN 'h ext.bigint_hamming_ops,' END, opcname),
	format('ANALYZE public.c%s', c.oid),
	format('SELECT * FROM public.c%s WHERE v OPERATOR(%I.%s) %s %s', c.oid, n.nspname, oprname, public.sample(CASE oprright WHEN 'anyarray'::regtype THEN opcintype ELSE oprright END),
		CASE WHEN opcname ~ 'key_ops' THEN 'AND h OPERATOR(ext.<@) ext.hamming_ball(3::bigint, 2)' END),
	format('INSERT INTO public.c%s SELECT * FROM public.c%1$s', c.oid),
	format('VACUUM public.c%s', c.oid)
FROM pg_opclass c JOIN public.members ON objid = c.oid JOIN pg_am a ON a.oid = opcmethod,
	LATERAL (SELECT * FROM pg_amop WHERE amopfamily = opcfamily AND amoplefttype = opcintype AND amoppurpose = 's' ORDER BY amopstrategy LIMIT 1) o JOIN pg_operator p ON p.oid = amopopr JOIN pg_namespace n ON n.oid = oprnamespace;
END
# What needs arguments of its own.
my %options = (
	reject => ", condition => 'id OPERATOR(pg_catalog.<>) 7', against => 'public.archive'", warn => ", show => 'body', verdicts => 'public.judged'", skip => '',
	log => ", log_table => 'public.log_log'", group => ", group_column => 'of_group'");
my @own = (
	"SELECT ext.hex_to_bigint('0xff'::text), ext.hex_to_bit('0xff'::text), ext.unsigned_to_bigint(18446744073709551615::numeric)",
	"SELECT ext.sketch_resemblance('{1,2}'::bigint[], '{1,3}'::bigint[]), ext.permutation_sketch('{1,3}'::int[], '{{1,2,3},{3,2,1}}'::int[]), ext.lsh_probability(0.8::float8, 20, 5)",
	"SELECT * FROM ext.lsh_curve(20, 5)",
	"SELECT ext.minhash_union_agg(ext.to_minhash(body, 64, 32, 'word 3'::text)) FROM public.docs",
	(map { ("SELECT * FROM ext.neardup_pairs('SELECT id, $_ FROM public.docs'::text, 0.8::float8)", "SELECT * FROM ext.neardup_clusters('SELECT id, $_ FROM public.docs'::text, 0.8::float8, NULL::bigint)") } qw(sig fp bag)),
	"SELECT * FROM ext.neardup_clusters('SELECT id, sig, bag, h FROM public.docs'::text, 0.9::float8, within => '{h}')",
	"SELECT * FROM ext.neardup_pairs('SELECT id, sig FROM public.docs'::text, 0.8::float8, verdicts => 'SELECT 1, 2, false')",
	"SELECT * FROM ext.neardup_report('public.docs', 0.8::float8, signature => 'sig', show => 'body')",
	"CREATE VIEW public.two AS SELECT 1 AS a, 2 AS b, 0.9 AS similarity, false AS same",
	"SELECT ext.neardup_review_page('public.docs', signature => 'sig', show => 'body', threshold => 0.6::float8)",
	"SELECT ext.neardup_review_page('public.docs', 'clusters', signature => 'bag', within => '{h}', verdicts => 'public.two')",
	"SELECT ext.neardup_review_page('public.docs', 'judge'), ext.neardup_review_page('public.docs', pairs => 'public.two')",
	"CALL ext.neardup_lexicon_function('public.docs', 'sign_by_lexicon')", "ALTER TABLE public.docs ADD COLUMN weighed ext.minhash GENERATED ALWAYS AS (public.sign_by_lexicon(body)) STORED",
	"CALL ext.neardup_lexicon_function('public.docs', 'sign_by_newer', entries => 20)", "ALTER TABLE public.docs DROP COLUMN weighed",
	"ALTER TABLE public.docs ADD COLUMN same_as bigint", "CREATE TABLE public.refers (id int PRIMARY KEY, doc bigint REFERENCES public.docs)", "INSERT INTO public.refers VALUES (1, 2)",
	"CALL ext.neardup_keep_one('public.docs', 0.6::float8, mark => 'same_as', signature => 'sig', record => 'merged', show => 'body', apply => true)",
	"SELECT * FROM ext.neardup_status('public.docs'::regclass, 1000::bigint, false)",
	"CALL ext.neardup_sign_table('public.docs', 'to_minhash(body, 64, 1, ''word 1''::text)', 'signed')",
	"SELECT * FROM ext.neardup_watch('public.docs', signature => 'sig')", "UPDATE public.docs SET sig = sig", "SELECT * FROM ext.neardup_watch('public.docs', signature => 'sig')",
	"CALL ext.neardup_undo('public.docs', 'same_as', 'merged', apply => true)",
	"CALL ext.neardup_keep_one('public.docs', 0.6::float8, signature => 'sig')",
	"SELECT * FROM ext.neardup_frequencies('SELECT bag FROM public.docs'::text)",
	"SELECT * FROM ext.neardup_passages('one two three four five'::text, 'SELECT id, body FROM public.docs'::text)",
	"SELECT ext.neardup_common_shingles('SELECT body FROM public.docs'::text), ext.neardup_lexicon('SELECT body FROM public.docs'::text)",
	"SELECT ext.neardup_idf_filter(bag, 'public.frequencies'::regclass, 0::float8, 1::float8), ext.neardup_tfidf_cosine(bag, bag, 'public.frequencies'::regclass) FROM public.docs LIMIT 1",
	"SELECT * FROM ext.neardup_pairs_to_judge('SELECT id, body FROM public.docs'::text)",
	"SELECT * FROM ext.neardup_advise('SELECT id, body FROM public.docs'::text, 'VALUES (1, 2, true), (3, 4, false)'::text)",
	(map { "CREATE INDEX docs_$_ ON public.docs USING neardup ($_)" } qw(sig fp bag h bits ball)),
	"CREATE INDEX docs_keyed ON public.docs USING neardup (sig, id ext.bigint_key_ops)",
	'ANALYZE public.docs',
	(map { "SELECT ext.neardup_check('public.docs_$_'::regclass), ext.neardup_index_status('public.docs_$_'::regclass)" } qw(sig fp bag h bits ball)),
	(map { "SELECT ext.neardup_explain('public.docs_$_'::regclass, ext.near($_, 0.9::float8)) FROM public.docs" } qw(sig fp bag)),
	(map { "SELECT ext.neardup_explain('public.docs_$_'::regclass, ext.hamming_ball($_, 2)) FROM public.docs" } qw(h bits)),
	(map { ("SELECT id FROM public.docs WHERE ext.is_similar($_->[0], $_->[1], 0.8::float8)", "SELECT id FROM public.docs ORDER BY $_->[0] OPERATOR(ext.<->) $_->[1] LIMIT 3",
		"SELECT d.id FROM public.docs d, public.docs e WHERE ext.is_similar(d.$_->[0], e.$_->[0], 0.8::float8)") }
		['sig', "ext.to_minhash('one two three four'::text)"], ['fp', "ext.to_simhash('one two three four'::text, 'word 3'::text)"], ['bag', "ext.to_shingles('one two three four'::text)"]),
	"SELECT id FROM public.docs WHERE ext.is_within(h, 7::bigint, 1) OR ext.is_within(bits, 7::bigint::bit(64), 1)",
	"SELECT id FROM public.docs ORDER BY h OPERATOR(ext.<~>) 7::bigint::ext.simhash LIMIT 3",
	'CREATE TABLE public.archive (id bigint PRIMARY KEY, sig ext.minhash, tenant int)', 'CREATE INDEX ON public.archive USING neardup (sig)',
	'CREATE TABLE public.judged (a bigint, b bigint, same boolean)',
	(map { ("CREATE TABLE public.guarded_$_ (id bigint PRIMARY KEY, body text, sig ext.minhash GENERATED ALWAYS AS (ext.to_minhash(body, 'word 3'::text)) STORED, tenant int, of_group bigint)",
		"CREATE INDEX ON public.guarded_$_ USING neardup (sig, tenant)", "CREATE TABLE public.log_$_ (row_key text, resembles text, similarity numeric, noticed_at timestamptz, noticed_by text)",
		"SELECT ext.neardup_guard('public.guarded_$_'::regclass, 'sig', 0.8::float8, '$_', within => 'tenant'$options{$_})",
		"INSERT INTO public.guarded_$_ (id, body, tenant) VALUES (1, 'one two three four five six', 1)", "INSERT INTO public.guarded_$_ (id, body, tenant) VALUES (2, 'One, two, three, four, five, six', 1)",
		"UPDATE public.guarded_$_ SET body = body OPERATOR(pg_catalog.||) ' seven'", "DELETE FROM public.guarded_$_") } sort keys %options),
	"CREATE TABLE public.alone (sig ext.minhash, EXCLUDE USING neardup (ext.near(sig, 0.9::float8) WITH OPERATOR(ext.&&)))",
	"INSERT INTO public.alone SELECT sig FROM public.docs LIMIT 1",
	"SELECT * FROM ext.neardup_guards", "SELECT * FROM ext.neardup_indexes", "SELECT * FROM ext.neardup_progress()",
	(map { "SELECT * FROM ext.neardup_guard_violations('public.guarded_$_'::regclass)" } sort keys %options));


# Creates the extension in a database and uses all of it.  Data may be wrong for a function, but each is found.
sub use_all
{
	my ($database, $creator) = @_;
	my ($out, $errors, $use_members);

	$node->safe_psql($database, "$creator CREATE EXTENSION neardup SCHEMA ext; CREATE EXTENSION neardup_study SCHEMA ext; RESET ROLE; SET search_path = pg_catalog, pg_temp; $prepare");
	$use_members = $node->safe_psql($database, "\\pset fieldsep ';\\n'\n\\pset recordsep ';\\n'\nSET search_path = pg_catalog;\n$use") =~ s/\n(?!;)/;\n/gr;
	foreach ([join(";\n", @own), qr/23505|23P01/], [$use_members, qr/22\w{3}|08P01|42725|42804|42846|55000/])
	{
		my ($statements, $usual) = @$_;
		$node->psql($database, "\\set VERBOSITY verbose\nSET search_path = ext; SET enable_seqscan = off;\n$statements;\n\\echo used", on_error_stop => 0, stdout => \$out, stderr => \$errors);
		like($out, qr/^used$/m, "$database: all statements were run") && ok(split(/;\n/, $statements) > 60, 'many of them');
		my @unusual = grep { !/ERROR:  $usual:/ } $errors =~ /^\S+ (ERROR: .*)/mg;
		is(join("\n", @unusual), '', 'without an unexpected error') or diag substr $errors, 0, 5000;
	}
	is(join("\n", slurp_file($node->logfile) =~ /WARNING:  trapped by (.*)/g), '', 'no trap was called');
}
$node->safe_psql('postgres', 'CREATE DATABASE by_superuser TEMPLATE trapped');
use_all('by_superuser', '');
# Temporary types and relations are those of the session.
use_all('trapped', q{SET ROLE lord; SET search_path = pg_catalog, pg_temp;
	SELECT format('CREATE TYPE pg_temp.%I AS ENUM (''trap'')', typname) FROM pg_type
	WHERE typnamespace = 'ext'::regnamespace AND typtype = 'e' \gexec
	SELECT format('CREATE TYPE pg_temp.%I AS ENUM (''trap'')', name) FROM unnest('{shingles,minhash,simhash,ball,shingle_lexicon}'::name[]) name \gexec
	SELECT format('CREATE VIEW pg_temp.%I AS SELECT *, ext.rows() FROM pg_catalog.%1$I', relname) FROM pg_class WHERE relnamespace = 'ext'::regnamespace AND relkind = 'v' \gexec
	});
$node->stop;
done_testing();
