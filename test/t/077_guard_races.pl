# Sessions that write at the same time, under guards of all actions; 013_groups has more of action group.  Tables
# are compared at the end by brute force: no two rows that were checked are near each other.
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
		neardup_guard('logged', 'h', 0.9, 'log', log_table => 'log'), neardup_guard('"within"', 'h', 0.9, within => 'tenant'),
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

# Sessions update rows in a column that no guard looks at, and that has an index; others insert near rows, and list what
# came in.  No near row comes in, leads a group, or is refused where it is to be skipped.
my @hot = qw(hot_refused hot_skipped hot_grouped);
$node->safe_psql(
	'postgres', q{
	CREATE TABLE hot_refused (id bigint PRIMARY KEY, tag int DEFAULT 0, same_as bigint, h bigint);
	CREATE TABLE hot_skipped (LIKE hot_refused INCLUDING ALL);
	CREATE TABLE hot_grouped (LIKE hot_refused INCLUDING ALL);
	SELECT neardup_guard('hot_refused', 'h', 0.9), neardup_guard('hot_skipped', 'h', 0.9, 'skip'),
		neardup_guard('hot_grouped', 'h', 0.9, 'group', group_column => 'same_as');
	CREATE SEQUENCE ended MINVALUE 0;
	CREATE SEQUENCE wrong MINVALUE 0;
	SELECT setval('ended', 0), setval('wrong', 0);
	CREATE FUNCTION hot(i int) RETURNS text LANGUAGE sql AS $$ SELECT ('{hot_refused,hot_skipped,hot_grouped}'::text[])[1 + i % 3] $$;
	CREATE PROCEDURE update_tags(seed float8) LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM setseed(seed);
		FOR i IN 1 .. 500000 LOOP
			EXECUTE format('UPDATE %I SET tag = tag + 1 WHERE id = %s', hot(i), floor(random() * 4));
			COMMIT;
			EXIT WHEN (SELECT last_value FROM ended) = 2;
		END LOOP;
	END $$;
	CREATE PROCEDURE list_violations() LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 500000 LOOP
			PERFORM nextval('wrong') FROM neardup_guard_violations(hot(i)::regclass);
			COMMIT;
			EXIT WHEN (SELECT last_value FROM ended) = 2;
		END LOOP;
	END $$;
	CREATE PROCEDURE insert_near(times int, seed float8, first int) LANGUAGE plpgsql AS $$
	DECLARE
		leader bigint;
		came int;
	BEGIN
		PERFORM setseed(seed);
		FOR i IN first .. first + times - 1 LOOP
			BEGIN
				EXECUTE format('INSERT INTO %I (id, h) VALUES (%s, hash_of(%s, 3)) RETURNING same_as', hot(i), i, 3000 + floor(random() * 4)) INTO leader;
				GET DIAGNOSTICS came = ROW_COUNT;
				IF came > 0 AND (hot(i) <> 'hot_grouped' OR leader >= 4) THEN
					PERFORM nextval('wrong');
				END IF;
				EXECUTE format('DELETE FROM %I WHERE id = %s', hot(i), i);
			EXCEPTION WHEN exclusion_violation OR deadlock_detected THEN
				RAISE INFO USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
				IF SQLSTATE = '23P01' AND hot(i) = 'hot_skipped' THEN
					PERFORM nextval('wrong');
				END IF;
			END;
			COMMIT;
		END LOOP;
		PERFORM nextval('ended');
	END $$;
});
$node->safe_psql('postgres', "INSERT INTO $_ (id, h) SELECT i, hash_of(3000 + i, 0) FROM generate_series(0, 3) i; CREATE INDEX ON $_ (tag)") for @hot;
my $inserts = 6 * $times;
$count = in_sessions(
	sub {
		my $i = shift;

		return "CALL insert_near($inserts, 0.$i, 1${i}00000);" if $i < 2;
		return $i < 5 ? "CALL update_tags(0.$i);" : 'CALL list_violations();';
	},
	('read\ committed') x 6);
my $updates = $node->safe_psql('postgres', 'SELECT sum(tag) FROM (' . join(' UNION ALL ', map { "SELECT tag FROM $_" } @hot) . ') t');
note('summary: ', 2 * $inserts, " near rows beside $updates updates of another column: ", show($count));
is($node->safe_psql('postgres', 'SELECT last_value FROM wrong'), '0', 'no near row comes in while others are updated in another column');
is($node->safe_psql('postgres', "SELECT count(*) FROM $_"), '4', "$_: no row came") for @hot;
cmp_ok($updates, '>', $inserts, 'there were updates');

# A member of a group is updated in another column when its leader goes, and then leads.
$node->safe_psql(
	'postgres', q{
	SELECT setval('ended', 0), setval('wrong', 0);
	CREATE TABLE led (LIKE hot_grouped INCLUDING ALL);
	SELECT neardup_guard('led', 'h', 0.9, 'group', group_column => 'same_as');
	INSERT INTO led (id, h) VALUES (1, hash_of(1, 0));
	CREATE PROCEDURE update_member() LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 500000 LOOP
			UPDATE led SET tag = tag + 1 WHERE id = 1;
			COMMIT;
			EXIT WHEN (SELECT last_value FROM ended) = 1;
		END LOOP;
	END $$;
	CREATE PROCEDURE lead_and_go(times int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 2 .. times + 1 LOOP
			UPDATE led SET h = hash_of(2, 0) WHERE id = 1;
			COMMIT;
			INSERT INTO led (id, h) VALUES (i, hash_of(1, 1));
			COMMIT;
			UPDATE led SET h = hash_of(1, 0) WHERE id = 1;
			COMMIT;
			PERFORM pg_sleep(0.001);
			DELETE FROM led WHERE id = i;
			COMMIT;
			PERFORM nextval('wrong') FROM led WHERE same_as <> 1;
		END LOOP;
		PERFORM nextval('ended');
	END $$;
});
$count = in_sessions(sub { shift == 0 ? "CALL lead_and_go($times);" : 'CALL update_member();' }, ('read\ committed') x 4);
is(show($count) . $node->safe_psql('postgres', 'SELECT last_value FROM wrong'), '0', 'no member is left without a leader while it is updated in another column');

# A row of another table is replaced whenever it is searched: the guard's condition waits at a row of a negative id, when the
# index has named all rows, until a session has done so.
$node->safe_psql(
	'postgres', q{
	CREATE SEQUENCE asked MINVALUE 0;
	CREATE SEQUENCE replaced MINVALUE 0;
	SELECT setval('asked', 0), setval('replaced', 0);
	CREATE FUNCTION counts(id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	DECLARE
		asks bigint;
	BEGIN
		IF id < 0 THEN
			asks := nextval('asked');
			WHILE (SELECT last_value FROM replaced) < asks LOOP
				PERFORM pg_sleep(0.0001);
			END LOOP;
		END IF;
		RETURN id > 0;
	END $$;
	CREATE PROCEDURE replace(times int, statement text) LANGUAGE plpgsql AS $$
	BEGIN
		FOR done IN 1 .. times LOOP
			WHILE (SELECT last_value FROM asked) < done LOOP
				PERFORM pg_sleep(0.0001);
			END LOOP;
			EXECUTE statement;
			COMMIT;
			PERFORM nextval('replaced');
		END LOOP;
	END $$;
	CREATE TABLE replacing (id bigint, tag int DEFAULT 0, h bigint);
	CREATE TABLE guarded (LIKE replacing);
	CREATE INDEX ON replacing (tag);
	CREATE INDEX ON replacing USING neardup (h);
	CREATE INDEX ON guarded USING neardup (h);
	SELECT neardup_guard('guarded', 'h', 0.9, against => 'replacing', condition => 'counts(id)');
	INSERT INTO replacing VALUES (-1, 0, 5), (1, 0, 5);
});

# replaced_during(TIMES, STATEMENT): inserts a near row while a statement runs so often; returns the error.
sub replaced_during
{
	my ($times, $statement) = @_;
	my $replacing;
	my $run = start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "CALL replace($times, '$statement')" ], '>', '/dev/null', '2>', \$replacing);
	my $error = ($node->psql('postgres', "\\set VERBOSITY verbose\nINSERT INTO guarded VALUES (2, 0, 4)"))[2];

	my $asked = $node->safe_psql('postgres', "SELECT last_value, setval('asked', $times) FROM asked") =~ s/\|.*//r;

	finish($run);
	is("$replacing$asked", $times, "the search has come to the row $times times: $statement");
	$node->safe_psql('postgres', q{SELECT setval('asked', 0), setval('replaced', 0); DELETE FROM guarded});
	return $error;
}

# Once to find it, and once to name the nearest.
like(replaced_during(2, 'UPDATE replacing SET tag = tag + 1 WHERE id > 0'), qr/23P01: row of table "guarded" is a near-duplicate/, 'an updated row is followed');
like(replaced_during(101, 'WITH gone AS (DELETE FROM replacing WHERE id > 0 RETURNING *) INSERT INTO replacing TABLE gone'),
	qr/40001: could not serialize access: rows similar to the new one are replaced all the time/, 'a search that loses a row each time ends');

# The update is of a prepared transaction, which is committed when the index has named all rows.
$node->safe_psql('postgres', "BEGIN; UPDATE replacing SET tag = tag + 1 WHERE id > 0; PREPARE TRANSACTION 'p'");
my $error;
my $run = start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'INSERT INTO guarded VALUES (2, 0, 4)' ], '>', '/dev/null', '2>', \$error);
$node->poll_query_until('postgres', 'SELECT last_value = 1 FROM asked');
$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
$node->safe_psql('postgres', "SELECT setval('replaced', 2)");
finish($run);
like($error, qr/row of table "guarded" is a near-duplicate/, 'a row that a prepared transaction has updated is followed');

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
