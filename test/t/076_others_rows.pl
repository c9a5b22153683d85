# What the server tells of its work shows no values of rows that a role may not read, and worker
# processes have the user, the search path and the row security of their leader.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('others');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_worker_processes = 8\nmax_parallel_workers = 8\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE ROLE writer LOGIN;
	CREATE TABLE letters (id int PRIMARY KEY, body text, note text, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO letters SELECT 770000 + i, string_agg(md5(i || ' ' || j), ' ') || ' hiddenword', 'hiddennote' || i FROM generate_series(1, 300) i, generate_series(1, 40) j GROUP BY i;
	CREATE TABLE judged (a int, b int, same boolean, PRIMARY KEY (a, b));
	INSERT INTO judged VALUES (770001, 9001, true);
	SELECT neardup_guard('letters', 'sig', 0.8, verdicts => 'judged', show => 'note');
	CREATE FUNCTION letter(i int) RETURNS text LANGUAGE sql IMMUTABLE AS
		$$ SELECT string_agg(md5(i || ' ' || j), ' ') || ' mine' FROM generate_series(1, 40) j $$;
	CREATE TABLE logged (id int PRIMARY KEY, sig minhash);
	INSERT INTO logged SELECT id, sig FROM letters;
	CREATE TABLE queue (row_key int, resembles int, similarity float8);
	SELECT neardup_guard('logged', 'sig', 0.8, 'log', log_table => 'queue', verdicts => 'judged');
	GRANT INSERT ON letters, logged, queue TO writer;
	GRANT SELECT ON judged TO writer;
});
my $hidden = $node->safe_psql('postgres', q{SELECT substr(sig::text, 20, 40) FROM letters WHERE id = 770007});
my $similarity = $node->safe_psql('postgres', q{SELECT similarity(sig, to_minhash(letter(7))) FROM letters WHERE id = 770007});
# A plan shows the bytes of a value; both also as they are.
my ($key_bytes, $similarity_bytes) = map { join ' ', unpack 'c*', $_ } pack('l<', 770007), pack('d<', $similarity);
my $key = qr/770007|\Q$similarity\E|\[ (\Q$key_bytes\E|\Q$similarity_bytes\E)/;

# Runs a statement of the writer, which fails, with all that a role can have shown, and returns
# that and what the server has logged.
sub all_shown
{
	my ($sql) = @_;
	my $log = $node->logfile;
	my $before = -s $log;

	$node->psql('postgres', "SET client_min_messages = debug1; SET debug_print_plan = on; SET debug_print_rewritten = on; SET debug_print_parse = on;
		SET log_parameter_max_length_on_error = -1; SET plan_cache_mode = force_custom_plan;\n\\set VERBOSITY verbose\n\\set SHOW_CONTEXT always\n$sql",
		stderr => \my $errors, stdout => \my $said, extra_params => [ '-U', 'writer' ]);
	return ($errors . $said, substr(slurp_file($log), $before));
}

# Checks that plans are shown, but nothing of the other row; its key may be in a log that has plans.
sub hides_other
{
	my ($name, $shown, $logged) = @_;

	like($shown, qr/PLANNEDSTMT/, "$name: plans are shown");
	unlike($shown, $key, 'but neither key nor similarity of the other row');
	unlike($logged, $key, 'nor are these logged') if $name ne 'auto_explain';
	unlike($_, qr/hiddenword|hiddennote|\Q$hidden\E/, 'nor anything else of it') foreach $shown, $logged;
}

my @statements = (
	q{INSERT INTO letters (id, body) VALUES (1000, letter(7));},
	q{SELECT letter(7) AS body \gset
INSERT INTO letters (id, body) VALUES (1001, :'body');});
my $auto = -e (`pg_config --pkglibdir` =~ s/\n//r) . '/auto_explain.so';
my @settings = ([ 'plain', '' ],
	[ 'log_statement', "log_statement = all\nlog_min_duration_statement = 0\nlog_parameter_max_length = -1\n" ],
	$auto ? [ 'auto_explain', "session_preload_libraries = 'auto_explain'\nauto_explain.log_min_duration = 0\nauto_explain.log_nested_statements = on\nauto_explain.log_analyze = on\nauto_explain.log_verbose = on\n" ] : ());
foreach my $settings (@settings)
{
	$node->append_conf('postgresql.conf', $settings->[1]);
	$node->restart;
	foreach my $sql (@statements)
	{
		my ($shown, $logged) = all_shown($sql);

		like($shown, qr/ERROR:  23P01: row of table "letters" is a near-duplicate/, "$settings->[0]: a row is rejected") or diag $shown;
		hides_other($settings->[0], $shown, $logged);
	}
	hides_other($settings->[0], all_shown('INSERT INTO logged VALUES (1000, to_minhash(letter(7)));'));
	$node->safe_psql('postgres', 'DELETE FROM logged WHERE id = 1000');
}

# From release 16 on auto_explain prints parameters, of which a key that is unknown is none.
is($node->safe_psql('postgres', q{
	CREATE TABLE goods (id int PRIMARY KEY, sig minhash, isbn text, same_as int);
	SELECT FROM neardup_guard('goods', 'sig', 0.8, 'group', within => 'isbn', unknown => 'isbn', group_column => 'same_as', verdicts => 'judged');
	INSERT INTO goods SELECT i, to_minhash(letter(1)) FROM generate_series(1, 3) i;
	DELETE FROM goods WHERE id = 1;
	SELECT string_agg(same_as::text, ' ') FROM goods}) =~ s/^\n+//r, '2 2', 'groups whose key is unknown');

my $records = $node->safe_psql('postgres', "SELECT count(*), bool_and(resembles = 770007 AND similarity = $similarity) FROM queue");
is($records, @settings . '|t', 'the log has both');

# ---- Workers --------------------------------------------------------------------

$node->safe_psql(
	'postgres', q{
	CREATE SCHEMA own AUTHORIZATION writer;
	CREATE TABLE shared (id int, tenant name, sig minhash);
	INSERT INTO shared SELECT i, CASE i % 2 WHEN 0 THEN 'writer' ELSE 'nobody' END, to_minhash(letter(i / 4)) FROM generate_series(1, 4000) i;
	ALTER TABLE shared ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON shared USING (tenant = current_user AND current_setting('search_path') = 'own, public' AND current_setting('role') = 'none');
	GRANT SELECT ON shared TO writer;
	ANALYZE shared;
});
my $parallel = 'SET search_path = own, public; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
	SET debug_parallel_query = on;' =~ s/debug_parallel_query/$node->safe_psql('postgres', 'SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode'/er;
foreach my $workers ('0', '2')
{
	my $count = $node->safe_psql('postgres', "$parallel SET max_parallel_maintenance_workers = $workers; SET max_parallel_workers_per_gather = $workers;
		SELECT count(*), bool_and(a % 2 = 0 AND b % 2 = 0) FROM neardup_pairs('SELECT id, sig FROM shared ORDER BY id', 0.9)", extra_params => [ '-U', 'writer' ]);
	is($count, '999|t', "pairs of the rows that the role sees, with $workers workers");
}

$node->stop;
done_testing();
