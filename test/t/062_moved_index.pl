# A session's cache of segments stays right when an index is moved, truncated or
# rebuilt, whether that is committed or rolled back.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('moved');
$node->init;
$node->append_conf('postgresql.conf', "neardup.background = off\nfsync = off\njit = off\n");
$node->start;
my $elsewhere = PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', "CREATE EXTENSION neardup");
$node->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$elsewhere'");
$node->safe_psql(
	'postgres', q{
	-- Each family has its own centres; of 9000 documents of a family, most are a segment.
	CREATE FUNCTION fill(t text, family int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		EXECUTE format('INSERT INTO %s SELECT %s * 10000 + i, hashint8extended(i %% 100, %s) # (1::bigint << (i %% 61)::int) FROM generate_series(1, 9000) i',
			t, family, family);
	END $$;
	CREATE FUNCTION found(t text, way text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		said text;
	BEGIN
		PERFORM set_config('enable_' || scan, (scan = way)::text, true) FROM unnest('{seqscan,indexscan,bitmapscan}'::text[]) scan;
		EXECUTE format('SELECT count(*) || '' '' || sum(t.id) FROM generate_series(1, 6) family, generate_series(0, 99, 20) c,
			LATERAL (SELECT id FROM %s WHERE is_within(h, hashint8extended(c, family), 2)) t', t) INTO said;
		RETURN said;
	END $$;
	CREATE PROCEDURE same(what text, t text) LANGUAGE plpgsql AS $$
	DECLARE
		wanted text = found(t, 'seqscan');
		said text = found(t, 'indexscan');
	BEGIN
		RAISE NOTICE '% %: % %', CASE WHEN wanted = said THEN 'right' ELSE 'WRONG' END, what, wanted, said;
	END $$;
});

# Runs all statements in one session, on an index with a segment of family 1.
sub session
{
	my ($name, $right, $statements, $kind) = @_;
	my ($out, $err);

	$node->psql(
		'postgres',
		sprintf('CREATE %s TABLE %s (id bigint, h bigint) WITH (autovacuum_enabled = off); SELECT fill(\'%2$s\', 1); CREATE INDEX %2$s_h ON %2$s USING neardup (h); CALL same(\'at first\', \'%2$s\');',
			$kind // '', $name) . $statements . "SELECT neardup_check('${name}_h')",
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	my @right = $err =~ /^\S*\s*NOTICE:  right/mg;

	is(scalar(@right), $right, "$name: all answers are right") or diag($err);
	unlike($err, qr/ERROR|WRONG/, "$name: no error");
	like($out, qr/segments: \d+, documents: \d+/, "$name: the index is consistent");
}

# One change is rolled back, and the next one uses the same segment numbers.
sub rolled_back
{
	my ($name, $move) = @_;

	return "BEGIN; $move SELECT fill('$name', 2); CALL same('inside', '$name'); ROLLBACK; CALL same('rolled back', '$name');
		SELECT fill('$name', 3); CALL same('gone on', '$name');";
}

session('spaces', 4, rolled_back('spaces', 'ALTER INDEX spaces_h SET TABLESPACE elsewhere;'));
session('spaces_twice', 5,
	"BEGIN; SAVEPOINT s; ALTER INDEX spaces_twice_h SET TABLESPACE elsewhere; SELECT fill('spaces_twice', 2); CALL same('inside', 'spaces_twice');
	ROLLBACK TO s; ALTER INDEX spaces_twice_h SET TABLESPACE elsewhere; SELECT fill('spaces_twice', 3); CALL same('again', 'spaces_twice'); COMMIT;
	ALTER INDEX spaces_twice_h SET TABLESPACE pg_default; CALL same('back', 'spaces_twice');
	SELECT fill('spaces_twice', 4); CALL same('gone on', 'spaces_twice');");
session('truncated', 4, rolled_back('truncated', 'TRUNCATE truncated;'));
session('reindexed', 4, rolled_back('reindexed', 'REINDEX TABLE reindexed;'));
session('unlogged', 4, rolled_back('unlogged', 'ALTER TABLE unlogged SET UNLOGGED;'));
session('born_here', 3,
	"BEGIN; TRUNCATE born_here; SELECT fill('born_here', 2); CALL same('emptied', 'born_here'); TRUNCATE born_here; SELECT fill('born_here', 3);
	CALL same('emptied again', 'born_here'); COMMIT;");

# The index is truncated in place, in the same file, at every commit.
my $err;
$node->psql(
	'postgres', q{
	CREATE TEMP TABLE passing (id bigint, h bigint) ON COMMIT DELETE ROWS;
	CREATE INDEX passing_h ON passing USING neardup (h);
} . join('', map { "BEGIN; SELECT fill('passing', $_); CALL same('family $_', 'passing'); COMMIT;\n" } 1 .. 4),
	stderr => \$err);
is(scalar(() = $err =~ /NOTICE:  right/g), 4, 'a temporary table that is emptied at every commit') or diag($err);

# A copy of a template database has the same segment numbers in the same blocks.
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
for my $database (qw(copy postgres))
{
	my $family = $database eq 'copy' ? 5 : 6;

	$node->psql($database, "CALL same('before', 'spaces'); SELECT fill('spaces', $family); CALL same('after', 'spaces')", stderr => \$err);
	is(scalar(() = $err =~ /NOTICE:  right/g), 2, "database $database goes its own way") or diag($err);
}

$node->stop;
done_testing();
