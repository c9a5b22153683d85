# From PostgreSQL 16 on, an input function saves its error where the caller wants that:
# pg_input_is_valid() is false, and the error is the same as the one that a cast throws.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('soft_errors');
my ($version) = `postgres --version` =~ / (\d+)/;
plan skip_all => 'soft errors came in PostgreSQL 16' if $version < 16;

my %invalid = (
	'minhash' => [
		'', 'x', '0/word 3/16x1/7/abcd', '256/word 3/16x1/7/abcd', '1', '1/', '1/word 3', '1/word 300/16x1/7/abcd',
		'1/word 3/x1/7/abcd', '1/word 3/16/7/abcd', '1/word 3/16x/7/abcd', '1/word 3/16x3/7/abcd', '1/word 3/15x1/7/abcd',
		'1/word 3/99999999999x1/7/abcd', '1/word 3/16x1', '1/word 3/16x1/x/abcd', '1/word 3/16x1/7', '1/word 3/16x1/7/',
		'1/word 3/16x1/0/abcd', '1/word 3/16x1/?/', '1/word 3/16x1/7/abc', '1/word 3/16x1/7/abcde', '1/word 3/16x1/7/abcg',
		'1/word 3/17x1/7/abcdef'
	],
	'minhash(512, 1)' => ['1/word 3/16x1/7/abcd'],
	'simhash' => [ '', '1/word 1', '1/word 1/63/abcd', '1/word 1/64', '1/word 1/64/abcd', '1/word 1/64/0123456789abcdeg' ],
	'simhash(128)' => ['1/word 1/64/0123456789abcdef'],
	'ball' => [
		'', '0.9', '0.9 around ', 'x around minhash 1/word 3/16x1/7/abcd', '0 around minhash 1/word 3/16x1/7/abcd',
		'1.5 around minhash 1/word 3/16x1/7/abcd', 'NaN around minhash 1/word 3/16x1/7/abcd', '17 symbols around minhash 1/word 3/16x1/7/abcd',
		'-1 symbols around minhash 1/word 3/16x1/7/abcd', '1.5 symbols around minhash 1/word 3/16x1/7/abcd', '0.9 around minhash 2/word 3/16x1/7/abcd',
		'0.9 around minhash 1/word 3/15x1/7/abcd', '65 symbols around simhash 1/word 1/64/0123456789abcdef', '0.9 around simhash 1/word 3/16x1/7/abcd',
		'0.9 around 1/word 3/16x1/7/abcd'
	],
	'shingles' => [
		'', '1/word 3', '01/word 3/{}', '1/wrd 3/{}', '1/word 3/1', '1/word 3/{', '1/word 3/{1', '1/word 3/{1,}', '1/word 3/{2,1}',
		'1/word 3/{-0}', '1/word 3/{01}', '1/word 3/{9223372036854775808}', '1/word 3/{1:1}', '1/word 3/{1:4294967296}', '1/word 3/{1}x'
	]);

$node->init;
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE invalid (type text, input text);
	CREATE FUNCTION thrown(type text, input text, OUT error text) LANGUAGE plpgsql AS $$
	DECLARE
		message text;
		detail text;
		hint text;
	BEGIN
		EXECUTE format('SELECT %L::%s', input, type);
	EXCEPTION WHEN others THEN
		GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		error := concat_ws('|', sqlstate, message, nullif(detail, ''), nullif(hint, ''));
	END $$});

foreach my $type (sort keys %invalid)
{
	$node->safe_psql('postgres', join ';', map { "INSERT INTO invalid VALUES ('$type', '$_')" } @{ $invalid{$type} });
	is( $node->safe_psql(
			'postgres', qq{
			SELECT input, pg_input_is_valid(input, type), thrown(type, input), saved
			FROM invalid, LATERAL (SELECT concat_ws('|', sql_error_code, message, detail, hint) AS saved FROM pg_input_error_info(input, type)) AS i
			WHERE type = '$type' AND (pg_input_is_valid(input, type) OR thrown(type, input) IS DISTINCT FROM saved)}),
		'', "$type: the error of a cast is saved");
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM invalid'), scalar(map { @$_ } values %invalid), 'of so many texts');

# What casts take is valid.
is( $node->safe_psql(
		'postgres', q{
		SELECT bool_and(pg_input_is_valid(input, type)) FROM (VALUES
			('minhash', to_minhash('a b c d')::text), ('minhash(512, 1)', to_minhash('a b c d')::text),
			('simhash(64)', to_simhash('a b c d')::text), ('shingles', to_shingles('a b c d')::text),
			('ball', near(to_minhash('a b c d'), 0.9)::text),
			('ball', hamming_ball(to_simhash('a b c d'), 3)::text)) AS v(type, input)}),
	't', 'what a cast takes is valid');

SKIP:
{
	skip 'COPY ... ON_ERROR came in PostgreSQL 17', 1 if $version < 17;
	$node->safe_psql(
		'postgres', q{
		CREATE TABLE loaded (m minhash, b shingles);
		COPY loaded FROM STDIN WITH (ON_ERROR ignore);
1/word 3/16x1/7/abcd	1/word 3/{1,2}
1/word 3/16x1/7/abc	1/word 3/{1,2}
1/word 3/16x1/7/abcd	1/word 3/{2,1}
1/word 3/16x1/7/0123	1/word 3/{1:2}
\.
});
	is($node->safe_psql('postgres', 'SELECT count(*) FROM loaded'), '2', 'COPY skips rows that are not valid');
}

$node->stop;
done_testing();
