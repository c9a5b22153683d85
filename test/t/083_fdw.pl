# Tables on other servers through postgres_fdw: what the other servers do, what they do not
# do, and pairs of documents that are spread over servers.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my ($front, $east, $west) = map { Node->new($_) } 'front', 'east', 'west';
foreach my $node ($front, $east, $west)
{
	$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', "fsync = off\nlog_statement = all\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION neardup');
}
my $version = int($front->safe_psql('postgres', 'SHOW server_version_num') / 10000);

sub stop_all
{
	$_->stop('immediate') foreach $front, $east, $west;
}

if ($front->psql('postgres', 'CREATE EXTENSION postgres_fdw') != 0)
{
	stop_all();
	plan skip_all => 'this PostgreSQL comes without postgres_fdw';
}

# Runs a statement on the server in front.
sub front
{
	return $front->safe_psql('postgres', shift);
}

# ---- The tables -------------------------------------------------------------------

# 50 families of 40 documents, which share all but a word.  Half of each family is on each server.
my $texts = q{
	SELECT i AS id, i / 50 % 2 AS place,
		(SELECT string_agg(CASE WHEN n = 1 THEN 'changed' || i ELSE md5(i % 50 || ' ' || n) END, ' ') FROM generate_series(1, 24) n) AS body,
		hashint8extended(i % 50, 0) AS hash
	FROM generate_series(1, 2000) i};
my $columns = q{id bigint NOT NULL, place int NOT NULL, body text NOT NULL, hash bigint,
	sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED};

foreach my $node ($east, $west)
{
	$node->safe_psql(
		'postgres', qq{
		CREATE TABLE docs ($columns, PRIMARY KEY (id));
		CREATE INDEX docs_sig ON docs USING neardup (sig);
		CREATE INDEX docs_hash ON docs USING neardup (hash)});
}

# Makes servers on $node, with a mapping each.
sub make_servers
{
	my ($node, %others) = @_;

	foreach my $name (sort keys %others)
	{
		$node->safe_psql(
			'postgres', qq{
			CREATE EXTENSION IF NOT EXISTS postgres_fdw;
			CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
				OPTIONS (host '@{[ $others{$name}->host ]}', port '@{[ $others{$name}->port ]}', dbname 'postgres');
			CREATE USER MAPPING FOR CURRENT_USER SERVER $name});
	}
}

# Sets or adds an option of both servers.
sub option
{
	my ($change) = @_;

	front("ALTER SERVER $_ OPTIONS ($change)") foreach 'east', 'west';
}

make_servers($front, east => $east, west => $west);
front(
	qq{
	CREATE TABLE docs ($columns) PARTITION BY LIST (place);
	CREATE FOREIGN TABLE docs_east PARTITION OF docs FOR VALUES IN (0) SERVER east OPTIONS (table_name 'docs');
	CREATE FOREIGN TABLE docs_west PARTITION OF docs FOR VALUES IN (1) SERVER west OPTIONS (table_name 'docs');
	CREATE TABLE here ($columns, PRIMARY KEY (id));
	INSERT INTO here (id, place, body, hash) $texts;
	INSERT INTO docs (id, place, body, hash) $texts});
$_->safe_psql('postgres', 'VACUUM ANALYZE docs') foreach $east, $west;
my $q = front('SELECT sig FROM here WHERE id = 17');
my $other = front('SELECT sig FROM here WHERE id = 42');

sub plan_of
{
	my ($query, $before) = @_;

	return front(($before // '') . "EXPLAIN (VERBOSE, COSTS OFF) $query");
}

# The queries that the other servers get, a line each.
sub remote_sql
{
	return join "\n", plan_of(@_) =~ /Remote SQL: (.*)/g;
}

# How the first of them runs there; its parameter is a signature.
sub plan_there
{
	my ($remote) = remote_sql(@_) =~ /^(.*)/;

	return $east->safe_psql('postgres', "SET search_path = pg_catalog; EXPLAIN (COSTS OFF) " . $remote =~ s/\$1(?=::)/'$q'/r);
}

# A query over both servers finds what it finds in the same rows on one server.
sub same_answer
{
	my ($query, $what) = @_;
	my $answer = front($query =~ s/\bdocs\b/here/r);

	die "nothing to compare: $query" if $answer eq '' || $answer eq '0';
	is(front($query), $answer, $what);
}

# ---- Generated columns ------------------------------------------------------------

same_answer('SELECT count(*), count(DISTINCT sig), sum(hashtext(sig::text)) FROM docs', 'the other servers sign what is inserted');
like(
	remote_sql(q{INSERT INTO docs_east (id, place, body) VALUES (0, 0, '')}),
	qr/VALUES \(\$1, \$2, \$3, \$4, DEFAULT\)/,
	'a foreign table that declares the generated column leaves it to the other server');
front(q{CREATE FOREIGN TABLE undeclared (id bigint, place int, body text, sig minhash(512)) SERVER east OPTIONS (table_name 'docs')});
my (undef, undef, $error) = $front->psql('postgres', q{INSERT INTO undeclared (id, place, body) VALUES (0, 0, '')});
like($error, qr/cannot insert .*column "sig"/, 'one that does not cannot insert');
front('CREATE SCHEMA imported; IMPORT FOREIGN SCHEMA public LIMIT TO (docs) FROM SERVER west INTO imported');
is( front(q{SELECT attgenerated FROM pg_attribute WHERE attrelid = 'imported.docs'::regclass AND attname = 'sig'}),
	's', 'IMPORT FOREIGN SCHEMA declares it');

# ---- extensions 'neardup' ---------------------------------------------------------

my $search = "SELECT id FROM docs_east WHERE is_similar(sig, '$q', 0.8)";
unlike(remote_sql($search), qr/WHERE/, 'without the option, all rows are read');
like(plan_of($search), qr/Filter: is_similar\(/, 'and compared here');
option(q{ADD extensions 'neardup'});

my %shipped = (
	'is_similar' => [ "is_similar(sig, '$q', 0.8)", qr/public\.is_similar\(sig, /, 'docs_sig' ],
	'is_within' => [ 'is_within(hash, 5, 3)', qr/public\.is_within\(hash, /, 'docs_hash' ],
	'<@' => [ "sig <@ near('$q', 0.8)", qr/sig OPERATOR\(public\.<@\) '0\.8 around /, 'docs_sig' ]);
foreach my $what (sort keys %shipped)
{
	my ($condition, $remote, $index) = @{ $shipped{$what} };
	my $query = "SELECT id FROM docs_east WHERE $condition";

	like(remote_sql($query), qr/WHERE \(+$remote/, "$what runs on the other server");
	unlike(plan_of($query), qr/Filter:/, "$what does not run here");
	like(plan_there($query), qr/Scan (using|on) $index/, "$what uses the index there");
}
same_answer("SELECT id FROM docs WHERE is_similar(sig, '$q', 0.8) ORDER BY id", 'a search finds what is on both servers');

# ---- Order and limit --------------------------------------------------------------

my $nearest = "SELECT id FROM docs_east ORDER BY sig <-> '$q' LIMIT 3";
like(remote_sql($nearest), qr/ORDER BY \(sig OPERATOR\(public\.<->\) .* LIMIT 3::bigint$/, 'order and limit run on the other server');
like(plan_there($nearest), qr/Limit\n.*Index Scan using docs_sig/, 'with the index');

my $together = "SELECT id FROM docs_east WHERE is_similar(sig, '$q', 0.8) ORDER BY sig <-> '$q' LIMIT 3";
unlike(remote_sql($together), qr/ORDER BY/, 'with a condition, rows are sorted here');
option(q{ADD use_remote_estimate 'true'});
like(remote_sql($together), qr/WHERE .*is_similar.* ORDER BY .*<->/, 'and on the other server with use_remote_estimate');

# ---- Parameters -------------------------------------------------------------------

# A generic plan for a search with a parameter of a type.
sub generic
{
	my ($type, $argument) = @_;

	return ('EXECUTE search (NULL)',
		"SET plan_cache_mode = force_generic_plan; PREPARE search ($type) AS SELECT id FROM docs_east WHERE is_similar(sig, $argument, 0.8); ");
}
unlike(remote_sql(generic('text', 'to_minhash($1)')), qr/WHERE/, 'to_minhash($1) in a generic plan reads the whole table');
foreach my $case ([ 'text', '(SELECT to_minhash($1))' ], [ 'minhash', '$1' ])
{
	like(remote_sql(generic(@$case)), qr/WHERE .*is_similar\(sig, \$1::public\.minhash/, "$case->[1] of type $case->[0] does not");
	like(plan_there(generic(@$case)), qr/Scan (using|on) docs_sig/, 'and uses the index');
}

# ---- Arrays -----------------------------------------------------------------------

my $any = "sig <@ ANY (ARRAY[near('$q', 0.8), near('$other', 0.8)])";
my $or = "sig <@ near('$q', 0.8) OR sig <@ near('$other', 0.8)";
my $lateral = "SELECT id FROM unnest(ARRAY['$q', '$other']::minhash[]) s, LATERAL (SELECT id FROM docs WHERE is_similar(sig, s, 0.8) OFFSET 0) d";
if ($version < 16) { unlike(remote_sql("SELECT id FROM docs_east WHERE $any"), qr/WHERE/, '<@ ANY (array) runs here') }
elsif ($version > 16) { like(remote_sql("SELECT id FROM docs_east WHERE $any"), qr/WHERE .*<@.* ANY/, '<@ ANY (array) runs there') }
like(remote_sql("SELECT id FROM docs_east WHERE $or"), qr/WHERE .*<@.* OR .*<@/, 'conditions joined by OR run there');
is(scalar(() = remote_sql($lateral) =~ /WHERE .*is_similar\(sig, \$1::public\.minhash/g), 2, 'LATERAL searches there for each signature');
same_answer("$_ ORDER BY id", 'and find the same') foreach "SELECT id FROM docs WHERE $any", "SELECT id FROM docs WHERE $or", $lateral;

# ---- Partitions -------------------------------------------------------------------

my $ordered = "SELECT round((sig <-> '$q')::numeric, 6) FROM docs ORDER BY sig <-> '$q' LIMIT 10";
option(q{SET use_remote_estimate 'false'});
like(plan_of($ordered), qr/Merge Append/, 'ordered scans of the partitions are merged');
is(scalar(() = remote_sql($ordered) =~ /ORDER BY .* NULLS LAST$/mg), 2, 'each without a limit');
same_answer($ordered, 'and find the nearest');

# A limit for each server.
my $limits = join ' UNION ALL ', map { "(SELECT id, sig <-> '$q' AS d FROM docs_$_ ORDER BY d LIMIT 10)" } 'east', 'west';
my $merged = "WITH n AS MATERIALIZED ($limits) SELECT round(d::numeric, 6) FROM n ORDER BY d LIMIT 10";
is(scalar(() = remote_sql($merged) =~ /LIMIT 10::bigint$/mg), 2, 'subqueries with a limit have it run there');
is(front($merged), front($ordered), 'and find the nearest');

# Asynchronous scans of subqueries came in PostgreSQL 15.
SKIP:
{
	option(q{ADD async_capable 'true'});
	is(scalar(() = plan_of("SELECT id FROM docs WHERE is_similar(sig, '$q', 0.8)") =~ /Async Foreign Scan/g),
		2, 'async_capable: the servers search at the same time');
	unlike(plan_of($ordered), qr/Async/, 'ordered scans run one after the other');
	skip 'there are none of subqueries before PostgreSQL 15', 1 if $version < 15;
	is(scalar(() = plan_of($merged) =~ /Async Foreign Scan/g), 2, 'but subqueries with limits do not');
}

# ---- fetch_size -------------------------------------------------------------------

# The numbers of rows that a query asks the servers for at a time, and how often it asks each.
sub fetches
{
	my ($query) = @_;
	my $before = -s $east->logfile;
	my %times;

	front($query);
	$times{$_}++ foreach slurp_file($east->logfile, $before) =~ /statement: FETCH (\d+) FROM/g;
	return join ', ', map { "$times{$_} x $_" } sort keys %times;
}
my $pairs = q{SELECT least(a, b), greatest(a, b) FROM neardup_pairs('SELECT id, sig FROM docs', 0.8) ORDER BY 1, 2};
is(fetches($pairs), '11 x 100', 'rows come 100 at a time');
option(q{ADD fetch_size '10000'});
is(fetches($pairs), '1 x 10000', 'or as many as fetch_size says');

# ---- Pairs of documents on different servers ----------------------------------------

my @expected = split /\n/, front($pairs =~ s/docs/here/r);
is(scalar @expected, 50 * 40 * 39 / 2, 'all pairs of all families');
same_answer($pairs, 'one call over both servers finds the pairs of one server');

# Each server finds its own pairs, and one of each two servers those between them.
make_servers($west, east => $east);
$west->safe_psql('postgres',
	q{CREATE FOREIGN TABLE docs_east (id bigint, sig minhash(512)) SERVER east OPTIONS (table_name 'docs', fetch_size '10000')});
my $between = $pairs =~ s/0\.8\K/, against => 'SELECT id, sig FROM docs_east'/r;
my @found = map { split /\n/ } $east->safe_psql('postgres', $pairs), $west->safe_psql('postgres', $pairs), $west->safe_psql('postgres', $between);
is_deeply([ sort @found ], [ sort @expected ], 'the servers find the same, each its share');

stop_all();
done_testing();
