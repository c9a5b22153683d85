# pg_upgrade moves columns, indexes, keys, constraints and guards to another cluster as they are.
#
# Both clusters have the same version of PostgreSQL, since a machine rarely has two.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $bin = `pg_config --bindir`;
chomp $bin;

my ($old, $new) = map { Node->new($_) } 'old', 'new';
$_->init(extra => [ '--no-locale', '--encoding=UTF8' ]) foreach $old, $new;
$old->start;
$old->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TYPE mood AS ENUM ('a', 'b', 'c');
	CREATE TABLE docs (id bigint PRIMARY KEY, mood mood, lang text, body text, hash bigint,
		sig minhash(512) GENERATED ALWAYS AS (to_minhash(body)) STORED);
	INSERT INTO docs
	SELECT i, (ARRAY['a', 'b', 'c'])[1 + i % 3]::mood, 'lang' || i % 3,
		(SELECT string_agg(md5(i / 2 || ' ' || n), ' ') FROM generate_series(1, 20) n), i * 7919 FROM generate_series(1, 10000) i;
	CREATE INDEX ON docs USING neardup (sig);
	CREATE INDEX ON docs USING neardup (mood, lang, sig);
	CREATE INDEX ON docs USING neardup (hash);
	CREATE TABLE unlike (sig minhash, EXCLUDE USING neardup (near(sig, 0.9) WITH &&));
	INSERT INTO unlike SELECT sig FROM docs WHERE id % 2 = 0 AND id < 1000;
	CREATE TABLE guarded (id bigint PRIMARY KEY, sig minhash);
	INSERT INTO guarded SELECT id, sig FROM docs WHERE id % 2 = 0 AND id < 1000;
	CREATE INDEX ON guarded USING neardup (sig);
	SELECT neardup_guard('guarded', 'sig', 0.9)});

my $questions = q{
	SET enable_seqscan = off;
	SELECT id FROM docs WHERE is_similar(sig, (SELECT sig FROM docs WHERE id = 17), 0.8) ORDER BY id;
	SELECT id FROM docs WHERE mood = 'c' AND lang = 'lang2' AND is_similar(sig, (SELECT sig FROM docs WHERE id = 17), 0.8);
	SELECT id FROM docs WHERE is_within(hash, 5 * 7919, 0);
	SELECT index_name, neardup_check(index_name) FROM neardup_indexes ORDER BY index_name::text};
my $answers = $old->safe_psql('postgres', $questions);

like($answers, qr/^16\n17\n17\n5\ndocs_hash_idx\|/, 'the old cluster answers');
$old->stop;

chdir $PostgreSQL::Test::Utils::tmp_check;
command_ok(
	[
		'pg_upgrade', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin,
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	],
	'pg_upgrade succeeds');
$new->start;
is($new->safe_psql('postgres', $questions), $answers, 'the new cluster gives the same answers');
like(
	($new->psql('postgres', 'INSERT INTO unlike SELECT sig FROM docs WHERE id = 5'))[2],
	qr/conflicting key value violates exclusion constraint/,
	'the constraint still rejects');
like(
	($new->psql('postgres', 'INSERT INTO guarded SELECT id, sig FROM docs WHERE id = 5'))[2],
	qr/row of table "guarded" is a near-duplicate.*to row \(id\)=\(4\)/s,
	'the guard still rejects');
is($new->safe_psql('postgres', 'INSERT INTO guarded SELECT id, sig FROM docs WHERE id = 5000 RETURNING id'),
	'5000', 'the guard accepts others');
$new->stop;
done_testing();
