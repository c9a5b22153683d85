# Rows: random values of each type, of which many are equal, many lie at one distance, and many are part of another.
#
# A value is of a family and a variant.  Both are drawn from few, so a table has from one to
# thousands of different values, and up to all of its rows are equal.
package Rows;

use strict;
use warnings;

# make: the expression of a value, from elements e or bits h.  as: the type of which the value is compared, if not its own.
# k: symbols, if it is no set.
our @TYPES = (
	({ type => 'bigint', make => 'h', as => '::simhash', k => 64 }) x 3,
	(map { { type => "bit($_)", make => "(h::bit(64) || repeat(h::bit(64)::text, 3)::bit(192))::bit($_)", as => '::minhash', k => $_ } } 65, 96, 256),
	{ type => 'bit varying', make => '(h::bit(64) || h::bit(35))::bit varying', as => '::minhash', k => 99 },
	(map { { type => 'minhash', make => "to_minhash(to_shingles(e), $_->[0], $_->[1])", k => $_->[0] } }
		map { [ split /x/ ] } qw(16x1 64x1 101x1 128x1 512x1 1001x1 100x2 77x4 64x8 500x8 33x16 40x32)),
	(map { { type => 'simhash', make => "to_simhash(to_shingles(e), $_)", k => $_ } } 64, 128, 256, 512),
	({ type => 'shingles', make => 'to_shingles(e)' }) x 5);

our $SQL = q{
CREATE FUNCTION share(i bigint, salt int) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN (hashint8extended(i, salt) & 16777215) / 16777216.0;
CREATE FUNCTION bits(family int, variant int) RETURNS bigint LANGUAGE sql IMMUTABLE
	RETURN hashint8extended(family, 7) # CASE WHEN variant = 0 THEN 0 ELSE hashint8extended(variant, 1) & hashint8extended(variant, 2) & hashint8extended(variant, 3)
		& CASE WHEN variant % 3 = 0 THEN -1 ELSE hashint8extended(variant, 4) END END;
CREATE FUNCTION elements(family int, variant int, size int, most bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN variant % 50 = 49 THEN '{}' ELSE array_agg(CASE WHEN j <= variant % 4 * (1 + size / 10) THEN abs(hashint8extended(variant / 16 * 1000 + j, 1) % most) ELSE family * 1000 + j END) END
	FROM (SELECT generate_series(1, greatest(1, size - variant / 4 % 4 * size / 4)) UNION ALL SELECT generate_series(1, variant % 3)) s (j) $$
};

sub pick { return $_[ int rand @_ ] }

# Draws a type, and how its values are spread: over a few families and variants, or also over many.
sub draw
{
	my ($class, $few) = @_;

	return bless { %{ pick(@TYPES) }, families => pick(1, 1, 1, 2, $few ? () : (20, 300)), variants => pick(1, 1, 2, 8, 40, $few ? () : 1000), skew => pick(1, 3), salt => int rand 1e6,
		size => pick(3, 8, 40, 150), most => pick(10, 1000, 2**31) }, $class;
}

# Returns a query for the values of some families and variants.
sub value
{
	my ($self, $from) = @_;

	return "SELECT family, variant, $self->{make} AS v, to_shingles(e) AS s FROM ($from) d, "
		. "LATERAL (SELECT elements(family, variant, $self->{size}, $self->{most}) AS e, bits(family, variant) AS h OFFSET 0) x";
}

# Returns a query for the rows with some ids.
sub rows
{
	my ($self, $first, $last) = @_;
	my @draws = map { "floor($self->{$_->[0]} * power(share(i, $self->{salt} + $_->[1]), $self->{skew}))::int" } [ 'families', 0 ], [ 'variants', 1 ];

	return "WITH drawn AS MATERIALIZED (SELECT i, $draws[0] AS family, $draws[1] AS variant FROM generate_series($first, $last) i), "
		. 'made AS MATERIALIZED (' . $self->value('SELECT DISTINCT family, variant FROM drawn') . ') '
		. 'SELECT i AS id, 0 AS tick, (hashint8extended(i, 5) & 3)::int AS tenant, CASE WHEN i % 61 > 0 THEN v END AS v, CASE WHEN i % 61 > 0 THEN s END AS s FROM drawn JOIN made USING (family, variant) ORDER BY i';
}

1;
