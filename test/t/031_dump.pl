# A database that uses all of the extension is dumped and restored, by a superuser and by an
# owner who is none: it has the same rows and signatures, and constraints and triggers work.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('dump');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE keeper LOGIN');
$node->safe_psql('postgres', "CREATE DATABASE $_ OWNER keeper") foreach qw(kept there);
my $setup = q{
	CREATE SCHEMA "Near Dup";
	CREATE EXTENSION neardup SCHEMA "Near Dup";
	SET search_path = public, "Near Dup";
	CREATE TABLE guarded (
		id int PRIMARY KEY, body text,
		sig minhash(256, 2) GENERATED ALWAYS AS (to_minhash(body, 256, 2)) STORED,
		finger simhash GENERATED ALWAYS AS (to_simhash(body)) STORED,
		bag shingles GENERATED ALWAYS AS (to_shingles(body, 'char 5')) STORED,
		EXCLUDE USING neardup (near(sig, 0.9) WITH &&));
	CREATE TABLE review (row_key int, resembles int);
	CREATE CONSTRAINT TRIGGER told AFTER INSERT OR UPDATE ON guarded DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=finger', 'threshold=0.7', 'action=log', 'log_table=public.review', 'condition=id > 0');
	CREATE INDEX ON guarded USING neardup (sig);
	CREATE INDEX ON guarded USING neardup (finger) WHERE id > 0;
	CREATE INDEX ON guarded USING neardup (to_minhash(body, 64, 8));
	CREATE INDEX ON guarded USING hash (bag);
	CREATE TABLE parts (part int, body text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED) PARTITION BY LIST (part);
	CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE INDEX ON parts USING neardup (sig);
	CREATE TABLE verdicts (a int, b int, same boolean);
	SELECT neardup_guard('parts', 'sig', 0.9, name => 'refused');
	SELECT neardup_guard('guarded', 'to_simhash(body)', 0.99, 'skip', condition => 'id > 1000', verdicts => 'verdicts', name => 'skipped');
	CREATE VIEW similar_to_1 AS SELECT g.id FROM guarded g, guarded o WHERE o.id = 1 AND is_similar(g.sig, o.sig, 0.1);
	CREATE MATERIALIZED VIEW pairs AS SELECT * FROM neardup_pairs('SELECT id, sig FROM public.guarded', 0.1);
	CREATE TABLE balls AS SELECT id, near(sig, 0.8) AS ball FROM guarded;
	INSERT INTO guarded SELECT i, repeat('words of ' || i || ' and ' || md5(i::text) || ' ', i % 7) FROM generate_series(1, 300) i;
	INSERT INTO balls SELECT id, near(sig, 0.8) FROM guarded;
	INSERT INTO parts SELECT 1, body FROM guarded WHERE id = 5;
	REFRESH MATERIALIZED VIEW pairs;
};

my $dump = PostgreSQL::Test::Utils::tempdir . '/dump';
my $contents = q{
	SET search_path = public, "Near Dup";
	SELECT md5(string_agg(g::text, E'\n' ORDER BY id)) FROM guarded g;
	SELECT md5(string_agg(b::text, E'\n' ORDER BY id)) FROM balls b;
	SELECT md5(string_agg(p::text, E'\n' ORDER BY a, b)) FROM pairs p;
	SELECT md5(string_agg(r::text, E'\n' ORDER BY r)) FROM review r;
	SELECT md5(string_agg(p::text, E'\n' ORDER BY p)) FROM parts p;
	SELECT string_agg(pg_get_indexdef(indexrelid), E'\n' ORDER BY pg_get_indexdef(indexrelid)) FROM pg_index WHERE indrelid = 'guarded'::regclass;
	SELECT string_agg(id::text, ' ' ORDER BY id) FROM similar_to_1;
};
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', $setup);
$node->safe_psql('kept', $setup, extra_params => [ '-U', 'keeper' ]);
my $before = $node->safe_psql('postgres', $contents);

foreach my $case (
	[ $superuser, 'postgres', '--format=plain' ],
	[ $superuser, 'postgres', '--format=custom' ],
	[ $superuser, 'postgres', '--format=plain', '--inserts' ],
	[ 'keeper', 'kept', '--format=plain' ],
	[ 'keeper', 'kept', '--format=custom' ])
{
	my ($user, $database, @format) = @$case;
	my $name = "@format, by " . ($user eq 'keeper' ? 'its owner' : 'a superuser');

	$node->safe_psql('postgres', 'DROP DATABASE there');
	$node->safe_psql('postgres', 'CREATE DATABASE there OWNER keeper');
	$node->command_ok([ 'pg_dump', @format, '-f', $dump, $node->connstr($database) . " user=$user" ], "$name: dump");
	my $there = $node->connstr('there') . " user=$user";
	my @restore = $name =~ /custom/ ? ('pg_restore', '--exit-on-error', '-j', '2', '-d', $there, $dump) :
		('psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $there);
	$node->command_ok(\@restore, "$name: restore");
	is($node->safe_psql('there', $contents), $before, "$name: the same contents");
	my ($code, $out, $err) = $node->psql('there', "INSERT INTO guarded SELECT 1001, body FROM guarded WHERE id = 5");
	like($err, qr/conflicting key value violates exclusion constraint/, "$name: the constraint works");
	($code, $out, $err) = $node->psql('there', 'INSERT INTO parts SELECT part, body FROM parts');
	like($err, qr/row of table "part_1" is a near-duplicate/, "$name: the trigger works");
	is($node->safe_psql('there', q{SET search_path = "Near Dup"; SELECT count(neardup_check(indexrelid)) FROM pg_index
		JOIN pg_class c ON c.oid = indexrelid JOIN pg_am am ON am.oid = relam WHERE amname = 'neardup' AND relkind = 'i'}), '6', "$name: the indexes are consistent");
}

# Schema and data apart: with triggers, the guards look at each row that is restored.
foreach my $how ('--disable-triggers', '--no-comments')
{
	$node->safe_psql('postgres', 'DROP DATABASE there');
	$node->safe_psql('postgres', 'CREATE DATABASE there');
	foreach my $part ('--schema-only', '--data-only')
	{
		$node->command_ok([ 'pg_dump', $part, $how, '-f', $dump, $node->connstr('postgres') ], "$part $how: dump");
		$node->command_ok([ 'psql', '-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('there') ], "$part $how: restore");
	}
	$node->safe_psql('there', 'REFRESH MATERIALIZED VIEW pairs; DELETE FROM review r USING review s WHERE r.row_key = s.row_key AND r.resembles = s.resembles AND r.ctid > s.ctid');
	is($node->safe_psql('there', $contents), $before, "data only $how: the same contents") if $how =~ /disable/;
	is($node->safe_psql('there', 'SELECT count(*) FROM guarded'), '300', "data only $how: all rows");
	is($node->safe_psql('there', q{SELECT string_agg(DISTINCT problem, ' ') FROM "Near Dup".neardup_guard_violations('parts')}), '', "data only $how: nothing violates a guard");
}
$node->stop;
done_testing();
