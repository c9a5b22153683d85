# Sessions that write at the same time, under guards of all actions but group.  Each table
# is compared at the end by brute force: no two rows that were checked are near each other.
use strict;
use warnings;

use IPC::Run qw(start finish);
use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $times = $ENV{NEARDUP_LONG} ? 800 : 200;

my $node = Node->new('races');
$node->init;
$node->append_conf('postgresql.conf', "max_connections = 50\nmax_prepared_transactions = 5\ndeadlock_timeout = '20ms'\n");
$node->start;

# Hashes of a family differ in up to ten bits, and rows are near that differ in up to six.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE FUNCTION hash_of(family int, flips int) RETURNS bigint LANGUAGE sql AS $$
		SELECT ('x' || left(md5(family::text), 16))::bit(64)::bigint # coalesce(bit_or(1::bigint << (random() * 63)::int), 0)
		FROM generate_series(1, flips) $$;
	CREATE TABLE refused (id bigserial PRIMARY KEY, tenant int, confirmed boolean, tag int, h bigint);
	-- All sessions write rows of the same four families, and of others as time goes by.
	CREATE FUNCTION family() RETURNS int LANGUAGE sql AS $$ SELECT (last_value / 60 * 4 + floor(random() * 4))::int FROM refused_id_seq $$;
	CREATE TABLE skipped (LIKE refused INCLUDING ALL);
	CREATE TABLE warned (LIKE refused INCLUDING ALL);
	CREATE TABLE logged (LIKE refused INCLUDING ALL);
	CREATE TABLE late (LIKE refused INCLUDING ALL);
	CREATE TABLE "within" (LIKE refused INCLUDING ALL);
	CREATE TABLE "unless" (LIKE refused INCLUDING ALL);
	CREATE TABLE left_side (LIKE refused INCLUDING ALL);
	CREATE TABLE right_side (LIKE refused INCLUDING ALL);
	CREATE TABLE parts (LIKE refused INCLUDING ALL) PARTITION BY HASH (id);
	CREATE TABLE part_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE part_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE tenants (LIKE refused INCLUDING ALL EXCLUDING INDEXES, PRIMARY KEY (tenant, id)) PARTITION BY LIST (tenant);
	CREATE TABLE tenants_1 PARTITION OF tenants FOR VALUES IN (1);
	CREATE TABLE tenants_2 PARTITION OF tenants DEFAULT;
	CREATE TABLE log (row_key bigint, resembles bigint);
	SELECT neardup_guard(t, 'h', 0.9) FROM unnest('{refused,parts}'::regclass[]) t;
	SELECT neardup_guard('skipped', 'h', 0.9, 'skip'), neardup_guard('warned', 'h', 0.9, 'warn'),
		neardup_guard('logged', 'h', 0.9, 'log', record_in => 'log'), neardup_guard('"within"', 'h', 0.9, within => 'tenant'),
		neardup_guard('tenants', 'h', 0.9, within => 'tenant'), neardup_guard('"unless"', 'h', 0.9, unless => 'confirmed', condition => 'tag < 8');
	CREATE INDEX ON left_side USING neardup (h);
	CREATE INDEX ON right_side USING neardup (h);
	SELECT neardup_guard('left_side', 'h', 0.9, against => 'right_side'), neardup_guard('right_side', 'h', 0.9, against => 'left_side');
	CREATE INDEX ON late USING neardup (h);
	CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON late DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION neardup_guard_row('signature=h', 'threshold=0.9');

	-- Writes to a table; rows that are reported do not change.
	CREATE PROCEDURE write(name text) LANGUAGE plpgsql AS $$
	DECLARE
		choice float8 := CASE WHEN name IN ('logged', 'warned') THEN 0 ELSE random() END;
		row text := CASE WHEN name = 'tenants' THEN 'tenant, id' ELSE 'id' END;
		one text := format('(SELECT %s FROM %I WHERE id >= %s ORDER BY id LIMIT 1)', row, name, (random() * currval('refused_id_seq'))::bigint);
	BEGIN
		IF choice < 0.5 THEN
			EXECUTE format('INSERT INTO %I (tenant, confirmed, tag, h) SELECT random() * 3, random() < 0.3, random() * 10, hash_of(family(), 5) FROM generate_series(0, %s)',
				name, (random() * random() * 4)::int);
		ELSIF choice < 0.6 AND name <> 'tenants' THEN
			EXECUTE format('INSERT INTO %I VALUES (%s, 1, false, 1, %s) ON CONFLICT (id) DO UPDATE SET h = EXCLUDED.h', name,
				(random() * currval('refused_id_seq'))::bigint, hash_of(family(), 5));
		ELSIF choice < 0.75 THEN
			EXECUTE format('UPDATE %I SET h = %s WHERE (%s) = %s', name, hash_of(family(), 5), row, one);
		ELSIF choice < 0.85 THEN
			EXECUTE format('UPDATE %I SET tenant = random() * 3, confirmed = random() < 0.3 WHERE (%s) = %s', name, row, one);
		ELSIF choice < 0.95 THEN
			EXECUTE format('UPDATE %I SET tag = random() * 10 WHERE (%s) = %s', name, row, one);
		ELSE
			EXECUTE format('DELETE FROM %I WHERE id IN (SELECT id FROM %1$I WHERE id >= %s ORDER BY id LIMIT 2)', name, (random() * currval('refused_id_seq'))::bigint);
		END IF;
		IF random() < 0.1 THEN
			RAISE EXCEPTION 'undone';
		END IF;
	END $$;
	-- Transactions of random size.
	CREATE PROCEDURE work(times int, seed float8, VARIADIC names text[]) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM setseed(seed), nextval('refused_id_seq');
		SET client_min_messages = error;
		FOR i IN 1 .. times LOOP
			FOR j IN 0 .. (random() * random() * 8)::int LOOP
				BEGIN
					CALL write(names[1 + floor(random() * cardinality(names))]);
					PERFORM pg_sleep(random() * 0.003);
					PERFORM nextval('refused_id_seq');
				EXCEPTION WHEN exclusion_violation OR deadlock_detected OR serialization_failure OR raise_exception OR unique_violation THEN
					RAISE INFO USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
				END;
			END LOOP;
			IF random() < 0.2 THEN
				ROLLBACK;
			ELSE
				COMMIT;
			END IF;
		END LOOP;
	END $$;
	-- Returns when eight sessions have called it.
	CREATE SEQUENCE arrived;
	CREATE PROCEDURE meet() LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM nextval('arrived');
		WHILE (SELECT last_value FROM arrived) < 8 LOOP
			PERFORM pg_sleep(0.001);
		END LOOP;
	END $$;
	-- Statements that insert the same texts in random order.
	CREATE PROCEDURE load(name text, times int, seed float8) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM setseed(seed);
		FOR i IN 1 .. times LOOP
			BEGIN
				EXECUTE format('INSERT INTO %I (h) SELECT hash_of(n, 0) FROM generate_series(1001, 1200) n ORDER BY random() LIMIT 50', name);
			EXCEPTION WHEN exclusion_violation OR deadlock_detected THEN
				RAISE INFO USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
			END;
			COMMIT;
		END LOOP;
	END $$;
});

# in_sessions(CALLS, SESSION...): each session, of an isolation level, makes the calls one after
# the other; returns how often each error occurred.
sub in_sessions
{
	my ($calls, @levels) = @_;
	my (@runs, @errors, %count);

	for my $i (0 .. $#levels)
	{
		local $ENV{PGOPTIONS} = "-c default_transaction_isolation=$levels[$i]";
		my $script = $node->basedir . "/session$i.sql";

		open my $file, '>', $script or die "$script: $!";
		print $file "\\set VERBOSITY sqlstate\n", map { "$_\n" } $calls->($i);
		close $file;
		push @runs, start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $script ], '>', '/dev/null', '2>', \$errors[$i]);
	}
	finish($_) for @runs;
	$count{$_}++ for map { /^psql.*(?:INFO|ERROR): +(\w{5})$/mg } @errors;
	return \%count;
}

sub show
{
	my ($count) = @_;

	return join ', ', map { "$_ $count->{$_}" } sort keys %$count;
}

my $near = 'bit_count((a.h # b.h)::bit(64)) <= 6';

# The near pairs of two tables, or of one, that satisfy a condition.
sub pairs
{
	my ($left, $right, $condition) = @_;

	return $node->safe_psql('postgres', "SELECT count(*) FROM $left a JOIN $right b ON $condition AND $near");
}

my @names = qw(refused skipped warned logged late within unless left_side right_side parts tenants);
my @levels = map { ('read\ committed', 'serializable') } 1 .. 8;

# All sessions write to the same two tables at about the same time.
my $count = in_sessions(
	sub {
		my $i = shift;

		return map { sprintf "CALL work(5, %s, '%s', '%s');", ($i + $_ / $times) / 17, $names[ $_ % @names ], $names[ ($_ + 1) % @names ] } 1 .. $times / 5;
	},
	@levels);

note 'errors: ' . show($count);
ok($count->{'23P01'} > 0, 'rows were refused');
is(join(' ', grep { !/^(23P01|23505|40P01|40001|P0001)$/ } keys %$count), '', 'no other errors than are to be expected');
is(pairs($_, $_, 'a.id < b.id'), 0, "$_: no two rows are near each other") for qw(refused skipped late parts);
is(pairs($_, $_, 'a.id < b.id AND a.tenant = b.tenant'), 0, "$_: nor two rows of a tenant") for qw("within" tenants);
is(pairs('"unless"', '"unless"', 'a.id < b.id AND NOT (a.confirmed OR b.confirmed) AND a.tag < 8 AND b.tag < 8'), 0, 'unless: nor two rows that are compared');
is(pairs('left_side', 'right_side', 'true'), 0, 'nor rows of two tables that are guarded against each other');
is(pairs($_, $_, 'a.id < b.id'), 0, "$_: nor two of its own rows") for qw(left_side right_side);
my $not_logged = '(SELECT * FROM logged WHERE id NOT IN (SELECT row_key FROM log))';
is(pairs($not_logged, $not_logged, 'a.id < b.id'), 0, 'logged: one row at least of each near pair is recorded');
cmp_ok(pairs($_, $_, 'a.id < b.id'), '>', 10, "$_: there are near rows") for qw(warned logged);
my $across = 0;
$across += pairs($_, $_, 'a.id < b.id AND a.tenant <> b.tenant') for qw("within" tenants);
cmp_ok($across, '>', 0, 'tenants do not matter to each other');
note $_, ': ', $node->safe_psql('postgres', "SELECT count(*) FROM \"$_\"") for @names;

for my $name (qw(refused skipped))
{
	$node->safe_psql('postgres', "TRUNCATE $name; ALTER SEQUENCE arrived RESTART");
	$count = in_sessions(
		sub {
			my $i = shift;

			return 'CALL meet();', map { "CALL load('$name', 1, ($i + $_ / $times) / 9);" } 1 .. $times / 5;
		},
		('read\ committed') x 8);
	note('summary: 8 sessions insert 50 of 200 rows in random order, ', $times / 5, " times, $name: ", show($count) || 'no error');
	# All but one of the statements that begin at the same time may end so, but few that begin later.
	cmp_ok($count->{'40P01'} // 0, '<=', 16, "$name: of 320 statements that are tried again, at most one in twenty ends in a deadlock");
	is(pairs($name, $name, 'a.id < b.id'), 0, "$name: each row is there once at most");
	cmp_ok($node->safe_psql('postgres', "SELECT count(*) FROM $name"), '>', 49, "$name: there are rows");
}

# A row of a prepared transaction is waited for, also after a crash.
my $copy = 'INSERT INTO refused (h) VALUES (hash_of(2000, 1))';

foreach my $end ('ROLLBACK', 'COMMIT')
{
	$node->safe_psql('postgres', 'TRUNCATE refused; BEGIN; INSERT INTO refused (h) VALUES (hash_of(2000, 0)); PREPARE TRANSACTION \'p\'');
	$node->stop('immediate');
	$node->start;
	like(($node->psql('postgres', "SET lock_timeout = '10ms'; $copy"))[2], qr/canceling statement due to lock timeout/, "a row waits for a prepared one before $end");
	$node->safe_psql('postgres', "$end PREPARED 'p'");
	like(($node->psql('postgres', $copy))[2], $end eq 'COMMIT' ? qr/is a near-duplicate/ : qr/^$/, "and then knows of $end");
}

$node->stop;
done_testing();
