# Every SQL example of the documents runs, on tables as the documents describe them.
# $1 and $2 stand for texts.  The statements of a page run in order, in their own database.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $texts = q{
	CREATE EXTENSION IF NOT EXISTS neardup;
	CREATE TABLE texts AS SELECT i AS id,
		(SELECT string_agg('w' || hashint4(i % 30 * 97 + j) % 400, ' ') FROM generate_series(1, 60) j) || ' that was text number ' || i AS body
		FROM generate_series(1, 60) i;
};
my $docs = q{
	CREATE TABLE docs (id bigint PRIMARY KEY, body text NOT NULL, s shingles GENERATED ALWAYS AS (to_shingles(body)) STORED);
	INSERT INTO docs (id, body) SELECT id, body FROM texts;
};
my $signed = $docs . q{
	ALTER TABLE docs ADD COLUMN sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED, ADD COLUMN created timestamptz DEFAULT now();
};
my $news = q{
	CREATE TABLE news AS SELECT * FROM texts;
	CREATE TABLE pages AS SELECT * FROM texts;
};
my $batch = q{CREATE TABLE batch AS SELECT id, body, to_minhash(body) AS sig FROM texts;};
my $hashes = q{
	CREATE TABLE articles (fingerprint simhash);
	CREATE TABLE images (id int, phash bigint, long_hash bit(256));
	CREATE TABLE measures (id int, sig minhash) PARTITION BY RANGE (id);
};
my $proposals = q{
	CREATE TABLE proposals (id bigint PRIMARY KEY, body text NOT NULL, sig minhash GENERATED ALWAYS AS (to_minhash(body)) STORED);
};

# The tables that a page's examples need.  doc/fund.md has a test of its own.
my %tables = (
	'README.md' => 'DROP EXTENSION neardup;',
	'doc/batch.md' => $signed . q{
		ALTER TABLE docs ADD COLUMN key uuid DEFAULT gen_random_uuid();
		CREATE TABLE web AS SELECT id, sig FROM docs;
		CREATE TABLE encyclopaedia AS SELECT id, sig FROM docs WHERE id < 10;
		CREATE TABLE arrivals AS SELECT id + 1000 AS id, sig FROM docs WHERE id < 10;
	},
	'doc/hashes.md' => '',
	'doc/index.md' => $hashes . $batch,
	'doc/tenants.md' => '',
	'doc/refusing.md' => $proposals . $batch,
	'doc/methods/README.md' => '',
	'doc/methods/buckets.md' => $news,
	'doc/methods/minhash.md' => $docs,
	'doc/methods/simhash.md' => $docs,
	'doc/methods/spotsigs.md' => $news,
	'doc/methods/supershingles.md' => $docs . 'CREATE TABLE pairs_of_supershingles (a bigint, b bigint);',
	'doc/reference/lexicon.md' => q{
		CREATE TABLE proposals AS SELECT * FROM texts;
		CREATE FUNCTION proposals_sign(text) RETURNS minhash LANGUAGE sql IMMUTABLE STRICT
			AS $$SELECT to_minhash($1, lexicon => '1/word 1/60/{}')$$;
	},
	'doc/reference/minhash.md' => 'CREATE TABLE articles (author text, body text);');

my $node = PostgreSQL::Test::Cluster->new('examples');
# Some examples are not ASCII, so the encoding must not depend on the environment.
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\n");
$node->start;

sub run_page
{
	my ($page, @blocks) = @_;
	my $database = $page =~ s/\W/_/gr;

	$node->safe_psql('postgres', "CREATE DATABASE \"$database\"");
	$node->safe_psql($database, $texts . ($tables{$page} // $signed));
	foreach my $block (@blocks)
	{
		my ($title) = $block =~ /^(.{1,60})/;
		my ($status, undef, $error) = $node->psql($database, $block);

		is($status, 0, "$page: $title") or diag($error);
	}
}

chdir $ENV{TESTDIR};
foreach my $page (sort glob('README.md doc/*.md doc/*/*.md'))
{
	my @blocks = slurp_file($page) =~ /^```sql\n(.*?)^```$/msg;

	next if !@blocks || $page eq 'doc/fund.md';
	foreach (grep { !/^PREPARE/m } @blocks)
	{
		s/hamming_within\(phash, \$1/hamming_within(phash, 5::bigint/;
		s/\$1::bigint/5::bigint/;
		s/(hex_to_bigint|hex_to_bit)\(\$1\)/$1 eq 'hex_to_bit' ? "hex_to_bit('" . '0f' x 32 . "')" : "hex_to_bigint('c7078f1e70e0f8f8')"/ge;
		s/\$[12]\b/'a text to look for'::text/g;
		# The trigger and the constraint of the examples have the same name.
		s/ADD CONSTRAINT no_copies/ADD CONSTRAINT no_copies_either/;
	}
	run_page($page, @blocks);
}
$node->stop;
done_testing();
