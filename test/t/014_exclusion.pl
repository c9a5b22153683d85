# Many sessions insert near-duplicates under an exclusion constraint, and under
# a guard.  Exactly one row of each family remains, however the
# sessions react to an error.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = $ENV{NEARDUP_LONG} ? 200 : 60;
my $families = 20;

my $node = Node->new('exclusion');
$node->init;
$node->append_conf('postgresql.conf',
	"max_connections = 250\ndeadlock_timeout = '100ms'\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION words(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT string_agg('f' || family || 'w' || i, ' ' ORDER BY i) || ' variant ' || variant
		FROM generate_series(1, 300) i $$;
	CREATE TABLE proposals (
		family int,
		variant int,
		sig minhash GENERATED ALWAYS AS (to_minhash(words(family, variant))) STORED,
		CONSTRAINT no_copies EXCLUDE USING neardup (near(sig, 0.9) WITH &&)
	);
	CREATE TABLE outcomes (state text);
	CREATE FUNCTION try(first int, last int, variant int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO proposals SELECT f, variant FROM generate_series(first, last) f;
		INSERT INTO outcomes VALUES ('00000');
	EXCEPTION WHEN OTHERS THEN
		INSERT INTO outcomes VALUES (SQLSTATE);
	END $$;
});

# submit(NAME, COMMAND): each session runs the command for three random families.
sub submit
{
	my ($name, $command) = @_;
	my $script = $node->basedir . "/$name.sql";

	append_to_file($script, "\\set family random(1, $families)\n\\set variant random(1, 1000000)\n$command;\n");
	$node->command_ok(
		[
			'pgbench', '--no-vacuum', '--random-seed=7', "--client=$sessions", '--jobs=4',
			'--transactions=3', "--file=$script", 'postgres'
		],
		"$sessions sessions: $name");
	return;
}

sub survivors
{
	return $node->safe_psql('postgres',
		'SELECT count(*), count(DISTINCT family), min(family), max(family) FROM proposals');
}

submit('errors', 'SELECT try(:family, :family, :variant)');
is(survivors(), "$families|$families|1|$families", 'one row of each family remains');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM outcomes WHERE state = '00000'}),
	$families, 'the others were refused');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM outcomes WHERE state NOT IN ('00000', '23P01', '40P01')}),
	'0', 'with exclusion violations or deadlocks');
note $node->safe_psql('postgres', 'SELECT state, count(*) FROM outcomes GROUP BY state ORDER BY state');

$node->safe_psql('postgres', 'TRUNCATE proposals, outcomes');
my $logged = -s $node->logfile;
submit('nothing', 'INSERT INTO proposals VALUES (:family, :variant) ON CONFLICT DO NOTHING');
is(survivors(), "$families|$families|1|$families", 'one row of each family remains with ON CONFLICT DO NOTHING');

# Insert many rows in one statement, in the same order.
$node->safe_psql('postgres', 'TRUNCATE proposals');
submit('many',
	"INSERT INTO proposals SELECT f, :variant FROM generate_series(1, $families) f ON CONFLICT DO NOTHING");
is(survivors(), "$families|$families|1|$families", 'one row of each family remains of many in one statement');
unlike(slurp_file($node->logfile, $logged), qr/deadlock/, 'without a deadlock');

like($node->safe_psql('postgres', q{SELECT neardup_check('no_copies')}), qr/ rows: \d+$/, 'the index is consistent');

# A guard in place of the constraint.
$node->safe_psql(
	'postgres', q{
	TRUNCATE proposals, outcomes;
	ALTER TABLE proposals DROP CONSTRAINT no_copies;
	SELECT neardup_guard('proposals', 'sig', 0.9);
});
submit('guard', 'SELECT try(:family, :family, :variant)');
is(survivors(), "$families|$families|1|$families", 'one row of each family remains with a guard');
$node->safe_psql('postgres', q{TRUNCATE proposals; SELECT neardup_guard('proposals', 'sig', name => 'proposals_sig_reject', action => 'skip')});
submit('skip', "SELECT try(1, $families, :variant)");
is(survivors(), "$families|$families|1|$families", 'one row of each family remains of many in one statement of which a guard skips the others');
is( $node->safe_psql('postgres', q{SELECT count(*) FROM outcomes WHERE state NOT IN ('00000', '23P01', '40P01')}),
	'0', 'the others were refused or skipped, or ended in deadlocks');
note $node->safe_psql('postgres', 'SELECT state, count(*) FROM outcomes GROUP BY state ORDER BY state');

$node->stop;
done_testing();
