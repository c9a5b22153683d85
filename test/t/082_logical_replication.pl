# Logical replication: a subscriber signs rows of a generated column itself, and gets the
# signatures of an ordinary column.  Its triggers do not fire, but its constraints hold.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my ($publisher, $subscriber) = map { Node->new($_) } 'publisher', 'subscriber';
$publisher->init(allows_streaming => 'logical');
$subscriber->init;

foreach my $node ($publisher, $subscriber)
{
	$node->start;
	$node->safe_psql(
		'postgres', q{
		CREATE EXTENSION neardup;
		CREATE TABLE generated (id int PRIMARY KEY, body text, sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED);
		CREATE TABLE ordinary (id int PRIMARY KEY, body text, sig minhash(512));
		CREATE INDEX ON generated USING neardup (sig);
		CREATE INDEX ON ordinary USING neardup (sig)});
}
$publisher->safe_psql(
	'postgres', q{
	CREATE FUNCTION sign() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.sig := to_minhash(NEW.body); RETURN NEW; END';
	CREATE TRIGGER sign BEFORE INSERT OR UPDATE ON ordinary FOR EACH ROW EXECUTE FUNCTION sign();
	INSERT INTO generated SELECT i, (SELECT string_agg(md5(i / 2 || ' ' || n), ' ') FROM generate_series(1, 20) n) FROM generate_series(1, 500) i;
	INSERT INTO ordinary SELECT id, body FROM generated;
	CREATE PUBLICATION texts FOR TABLE generated, ordinary});
$subscriber->safe_psql(
	'postgres', q{
	SELECT neardup_guard('ordinary', 'sig', 0.9, name => 'no_copies')});
$subscriber->safe_psql('postgres', sprintf q{CREATE SUBSCRIPTION texts CONNECTION '%s dbname=postgres' PUBLICATION texts}, $publisher->connstr);
$subscriber->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate = 'r'})
	or die 'the tables are not copied';

my $state = q{SELECT count(*), count(DISTINCT g.sig), bool_and(g.sig = o.sig) FROM generated g JOIN ordinary o USING (id)};
is($subscriber->safe_psql('postgres', $state), '500|251|t', 'both columns are the same on the subscriber');

$publisher->safe_psql('postgres', "INSERT INTO $_ (id, body) SELECT 501, body FROM $_ WHERE id = 1") foreach 'generated', 'ordinary';
$publisher->wait_for_catchup('texts');
is($subscriber->safe_psql('postgres', $state), '501|251|t', 'a near-duplicate is replicated, whatever the guard');
like($subscriber->safe_psql('postgres', 'SELECT neardup_check(index_name) FROM neardup_indexes'),
	qr/(rows: 501\b.*){2}/s, 'the indexes are sound');

# A guard that always fires reports what is replicated.
$subscriber->safe_psql('postgres', q{
	CREATE TABLE copies (row_key bigint, resembles bigint);
	SELECT neardup_guard('ordinary', name => 'no_copies', action => 'log', log_table => 'copies');
	ALTER TABLE ordinary ENABLE ALWAYS TRIGGER no_copies});
$publisher->safe_psql('postgres', 'INSERT INTO ordinary (id, body) SELECT 502, body FROM ordinary WHERE id = 4');
$publisher->wait_for_catchup('texts');
is($subscriber->safe_psql('postgres', 'SELECT row_key FROM copies'), '502', 'a guard that always fires records it');

$subscriber->safe_psql(
	'postgres', q{
	SELECT neardup_guard('ordinary', action => 'none');
	DELETE FROM ordinary;
	ALTER TABLE ordinary ADD CONSTRAINT unlike EXCLUDE USING neardup (near(sig, 0.9) WITH &&)});
$publisher->safe_psql('postgres', 'INSERT INTO ordinary (id, body) SELECT id + 1000, body FROM ordinary WHERE id IN (2, 3)');
my $violation = qr/violates exclusion constraint "unlike"/;
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if slurp_file($subscriber->logfile) =~ $violation;
	usleep(100_000);
}
like(slurp_file($subscriber->logfile), $violation, 'a constraint on the subscriber stops replication');
$subscriber->stop('immediate');
$publisher->stop('immediate');
done_testing();
