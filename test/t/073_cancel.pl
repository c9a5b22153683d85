# All that may take long can be cancelled while it runs: each function whose input has
# no bound, every command on an index, and searches.  This does not test how soon.
use strict;
use warnings;

use IPC::Run;
use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = Node->new('cancel');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
fsync = off
jit = off
neardup.background = off
min_parallel_table_scan_size = 0
});
$node->start;

# t: 700,000 words; tt: the same as an array; a: hashes; s, s2: sets of them.
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup_study CASCADE;
	CREATE SEQUENCE finished;
	CREATE TABLE long (t text, tt text[], a bigint[], s shingles, s2 shingles, html text, st text, weight float8[], lex shingle_lexicon);
	INSERT INTO long SELECT string_agg('word' || hashint4(g), ' '), array_agg('w' || g), array_agg(hashint8extended(g, 1))
		FROM generate_series(1, 700000) g;
	UPDATE long SET s = to_shingles(t), s2 = to_shingles(t || ' and some more'), html = repeat('<p class="a">text &amp; more</p>', 700000);
	UPDATE long SET st = s::text, weight = array_fill(1.0::float8, ARRAY[700000]),
		lex = neardup_lexicon('SELECT ''a word '' || g || '' and more'' FROM generate_series(1, 2000) g', 'word 3');
	CREATE TABLE equals WITH (autovacuum_enabled = off) AS SELECT g AS id, to_minhash('a text that is there many times') AS sig FROM generate_series(1, 300000) g;
	CREATE INDEX equals_sig ON equals USING neardup (sig);
	CREATE TABLE sets AS SELECT g AS id, to_shingles(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, g]) AS s FROM generate_series(1, 4000) g;
	CREATE TABLE sampled WITH (autovacuum_enabled = off) AS SELECT g AS id, to_shingles(ARRAY[g % 10, g % 1000, g]) AS s FROM generate_series(1, 300000) g;
	CREATE INDEX sampled_s ON sampled USING neardup (s);
	SELECT neardup_guard('equals', 'sig', 0.9);
	ALTER TABLE equals DISABLE TRIGGER USER;
	CREATE TABLE frequencies AS SELECT * FROM neardup_frequencies('SELECT s FROM sets');
});

# The statement is cancelled before it calls the function, which notices while it runs.
my %called = (
	'bottom_resemblance(shingles,shingles,integer)' => 'bottom_resemblance(s, s2, 600000)',
	'edit_distance(text,text,integer)' => 'edit_distance(left(t, 500000), right(t, 500000))',
	'weighted_edit_distance(text,text,integer,integer,integer,integer)' => 'weighted_edit_distance(left(t, 700000), right(t, 700000), 1, 2, 3, 4)',
	'is_variant(text,text,integer)' => q{is_variant('a123 ' || t, 'b123 ' || t)},
	'longest_common_substring(text,text)' => 'longest_common_substring(t, t)',
	'shingles_minima(shingles,integer)' => 'shingles_minima(s, 1000)',
	'to_minhash(text,integer,integer,text)' => q{to_minhash(t, 16384, 1, 'char 5')},
	'to_minhash(shingles,integer,integer)' => 'to_minhash(s, 16384, 1)',
	'to_shingles(text,text)' => q{to_shingles(t, 'char 5')},
	'to_simhash(text,integer,text)' => q{to_simhash(t, 512, 'char 5')},
	'to_simhash(shingles,integer)' => q{to_simhash(s, 512)},
	'to_minhash(text,text)' => q{to_minhash(t, 'anychar 5')},
	'to_simhash(text,text)' => q{to_simhash(t, 'anychar 5')},
	'text_similarity(text,text,text)' => q{text_similarity(t, t, 'anychar 5')},
	'weigh(shingles,shingle_lexicon)' => 'weigh(s, lex)',
	'shingles_copies(shingles)' => 'shingles_copies(s)',
	'to_minhash(text,shingle_lexicon)' => 'to_minhash(t, lex)',
	'to_minhash(text,integer,integer,shingle_lexicon)' => 'to_minhash(t, 16384, 1, lex)',
	'to_shingles(text[],double precision[])' => 'to_shingles(tt, weight)',
	'token_edit_distance(text,text,integer,integer,integer,integer)' => 'token_edit_distance(t, right(t, 5000000), 1, 2, 3, 4)',
	'bucket_sketch(shingles,integer)' => 'bucket_sketch(s, 1024)',
	'containment(shingles,shingles)' => 'containment(s, s2)',
	'cosine_similarity(shingles,shingles)' => 'cosine_similarity(s, s2)',
	'neardup_idf_filter(shingles,regclass,double precision,double precision)' => q{neardup_idf_filter(s, 'frequencies', 0.1, 0.9)},
	'is_similar(shingles,shingles,double precision)' => 'is_similar(s, s2, 0.5)',
	'is_contained(shingles,shingles,double precision)' => 'is_contained(s, s2, 0.5)',
	'shingles_difference(shingles,shingles)' => 'shingles_difference(s, s2)',
	'shingles_distance(shingles,shingles)' => 'shingles_distance(s, s2)',
	'shingles_intersection(shingles,shingles)' => 'shingles_intersection(s, s2)',
	'shingles_union(shingles,shingles)' => 'shingles_union(s, s2)',
	'shingles_bottom(shingles,integer)' => 'shingles_bottom(s, 600000)',
	'shingles_in(cstring)' => 'shingles_in(textout(st))',
	'shingles_out(shingles)' => 'textin(shingles_out(s))',
	'shingles_recv(internal)' => undef,
	'shingles_send(shingles)' => 'shingles_send(s)',
	'shingles_mod(shingles,integer)' => 'shingles_mod(s, 2)',
	'show_tokens(text)' => 'show_tokens(t)',
	'similarity(shingles,shingles)' => 'similarity(s, s2)',
	'mask_changing(text,text)' => q{mask_changing(html, 'url,email,uuid,ip,date,hex,number,digits')},
	'strip_markup(text)' => 'strip_markup(html)',
	'supershingles(shingles,integer)' => 'supershingles(s, 4)',
	'neardup_tfidf_cosine(shingles,shingles,regclass)' => q{neardup_tfidf_cosine(s, s2, 'frequencies')},
	'to_shingles(bigint[])' => 'to_shingles(a)',
	'to_shingles(text,text,text[],text[])' => q{to_shingles(t, 'spot 2 2', ARRAY['word1'])},
	'to_shingles(text[])' => 'to_shingles(tt)',
	'weighted_jaccard(shingles,shingles)' => 'weighted_jaccard(s, s2)',
	'sketch_resemblance(bigint[],bigint[])' => undef,
	'imatch(shingles)' => undef,
	'permutation_sketch(integer[],integer[])' => undef,
);

# Statements that take a second or more are cancelled after a moment.
my %statement = (
	'neardup_check(regclass)' => q{SELECT neardup_check('equals_sig')},
	'neardup_clusters(text,double precision,boolean,text,text,boolean,double precision,double precision,text,text,name[],name[])' =>
	  q{SELECT count(*) FROM neardup_clusters('SELECT id, sig FROM equals', 0.9)},
	'neardup_clusters(text,double precision,anyelement,boolean,text,text,boolean,double precision,double precision,text,text,name[],name[])' =>
	  q{SELECT count(*) FROM neardup_clusters('SELECT id::text, sig FROM equals', 0.9, NULL::text)},
	'neardup_pairs(text,double precision,boolean,text,text,double precision,double precision,text,text,name[],name[])' =>
	  q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM equals', 0.9, equal => 'all')},
	'neardup_pairs(text,double precision,anyelement,boolean,text,text,double precision,double precision,text,text,name[],name[])' =>
	  q{SELECT count(*) FROM neardup_pairs('SELECT id::text, sig FROM equals', 0.9, NULL::text, equal => 'all')},
	'pairs with verdicts' => q{SELECT count(*) FROM neardup_pairs('SELECT id, sig FROM equals', 0.9, verdicts => 'SELECT id, id + 1, true FROM generate_series(1::bigint, 5000000) AS id')},
	'pairs of sets' => q{SELECT count(*) FROM neardup_pairs('SELECT id, s FROM sets', 0.5)},
	'pairs of sets, by containment' => q{SELECT count(*) FROM neardup_pairs('SELECT id, s FROM sets', 0.5, measure => 'containment')},
	'pairs, in parallel' => q{SET maintenance_work_mem = '256MB';
		SELECT count(*) FROM neardup_pairs('SELECT id, to_minhash(to_shingles(ARRAY[id / 2, id / 3])) FROM equals', 0.6)},
	'show_shingles(text,text)' => q{SELECT count(*) FROM show_shingles((SELECT t FROM long))},
	'show_shingles(text,text,text[],text[])' => q{SELECT count(*) FROM show_shingles((SELECT html FROM long), 'spot 2 2', ARRAY['text'])},
	'shared_passages(text,text,text,integer)' => q{SELECT count(*) FROM shared_passages((SELECT t FROM long), (SELECT reverse(t) FROM long), 'char 5', 1)},
	'shared_shingles(text,text,text)' => q{SELECT count(*) FROM shared_shingles((SELECT t FROM long), (SELECT t FROM long))},
	'neardup_common_shingles(text,double precision,text,integer)' => q{SELECT neardup_common_shingles('SELECT t FROM long, generate_series(1, 100)')},
	'neardup_lexicon(text,text,integer,double precision)' => q{SELECT neardup_lexicon('SELECT t FROM long, generate_series(1, 100)')},
	'show_weights(text,shingle_lexicon)' => q{SELECT count(*) FROM show_weights((SELECT t FROM long), (SELECT lex FROM long))},
	'neardup_advise(text,text,double precision,integer,boolean)' => q{SELECT count(*) FROM neardup_advise('SELECT g, repeat(''some words '', 20) || g FROM generate_series(1, 3000000) g')},
	'neardup_pairs_to_judge(text,integer,text,integer,boolean)' => q{SELECT count(*) FROM neardup_pairs_to_judge('SELECT g, md5(g::text) || (SELECT string_agg(md5((g % 7 * i)::text), '' '') FROM generate_series(1, 100) i) FROM generate_series(1, 20000) g', sample => 20000)},
	'neardup_passages(text,text,text,integer)' => q{SELECT count(*) FROM generate_series(1, 100000), neardup_passages('one two three four five six', 'SELECT 1, t FROM long')},
	'neardup_frequencies(text)' => q{SELECT count(*) FROM neardup_frequencies('SELECT s FROM sets, generate_series(1, 1000)')},
	'minhash_union_agg(minhash)' => q{SELECT minhash_union_agg(to_minhash(s, 512, 32)) FROM sets, generate_series(1, 100)},
	'CREATE INDEX' => q{SET max_parallel_maintenance_workers = 0; CREATE INDEX late ON equals USING neardup (sig)},
	'CREATE INDEX, in parallel' => q{CREATE INDEX late ON equals USING neardup (sig)},
	'CREATE INDEX CONCURRENTLY' => q{CREATE INDEX CONCURRENTLY late_too ON equals USING neardup (sig)},
	'REINDEX' => q{REINDEX INDEX equals_sig},
	'INSERT' => q{INSERT INTO equals SELECT * FROM equals},
	'VACUUM' => q{SET vacuum_cost_delay = 1; DELETE FROM equals WHERE id % 2 = 0; VACUUM equals},
	'EXCLUDE' => q{ALTER TABLE equals ADD EXCLUDE USING neardup (near(sig, 0.9) WITH &&)},
	'a join' => q{SET enable_seqscan = off; SELECT count(*) FROM equals a JOIN equals b ON is_similar(a.sig, b.sig, 0.9)},
	'a bitmap scan' => q{SET enable_seqscan = off; SET enable_indexscan = off;
		SELECT count(*) FROM generate_series(1, 100) g, equals WHERE is_similar(sig, (SELECT sig FROM equals LIMIT 1), 0.9)},
	'a scan in order' => q{SET enable_seqscan = off; SET enable_sort = off; SET work_mem = '64kB';
		SELECT count(*) FROM (SELECT id FROM equals ORDER BY sig <-> (SELECT sig FROM equals LIMIT 1)) q},
	'CREATE INDEX on sets' => q{SET max_parallel_maintenance_workers = 0; CREATE INDEX late ON sampled USING neardup (s)},
	'CREATE INDEX on sets, in parallel' => q{CREATE INDEX late ON sampled USING neardup (s)},
	'REINDEX of sets' => q{REINDEX INDEX sampled_s},
	'INSERT of sets' => q{INSERT INTO sampled SELECT * FROM sampled},
	'VACUUM of sets' => q{SET vacuum_cost_delay = 1; DELETE FROM sampled WHERE id % 2 = 0; VACUUM sampled},
	'a join of sets' => q{SET enable_seqscan = off; SELECT count(*) FROM sampled a JOIN sampled b ON is_similar(a.s, b.s, 0.5)},
	'a bitmap scan of sets' => q{SET enable_seqscan = off; SET enable_indexscan = off;
		SELECT count(*) FROM generate_series(1, 100) g, sampled WHERE is_contained((SELECT to_shingles(ARRAY[1, 2, g])), s, 0.3)},
	'sets in order' => q{SET enable_seqscan = off; SET enable_sort = off; SET work_mem = '64kB';
		SELECT count(*) FROM (SELECT id FROM sampled ORDER BY s <-> (SELECT s FROM sampled LIMIT 1)) q},
	'neardup_guard_violations(regclass)' => q{SELECT count(*) FROM neardup_guard_violations('equals')},
	'ANALYZE' => q{SET default_statistics_target = 10000; ANALYZE equals, sets, long, equals, sets},
);

# Functions that cannot take long: a signature has at most 16,384 symbols, or only
# counts are read, or the server does not call the function directly.
my @short = (
	qr/^(minhash|simhash|ball)_\w+\(/,
	qr/^(ball|bigint|bit|shingles)_signature\(/,
	qr/^(in_ball|balls_meet)\(/,
	qr/^(hamming_ball|hamming_distance|is_within|near|bigint_hamming_distance|bit_hamming_distance|unsigned_to_bigint)\(/,
	qr/^(similarity|is_similar|is_comparable|containment|cardinality)\((minhash|simhash)/,
	qr/^(shingle_lexicon_\w+|lexicon_info)\(/,
	qr/^(lsh_\w+|show_signature)\(/,
	qr/^neardup_(explain|index_status|progress|require_trust|handler|support|ball_sel|ball_joinsel|guard_row|as_id|list|equal|verdicts_query|number_columns|name_columns)\(/,
	qr/^shingles_(eq|ne|hash|hash_extended)\(/,
	# These run statements of PostgreSQL.
	qr/^neardup_(guard|report|review_page|watch|status)\(/,
	# These copy or count their input.
	qr/^(cardinality|shingle_total|shingle_hashes)\(shingles\)|^shingles_of_bytea\(/,
	qr/^(near|holding|held_in)\(shingles,/,
	qr/^hex_to_(bigint|bit)\(/,
);

# ---- Completeness -------------------------------------------------------------

my @functions = split /\n/, $node->safe_psql(
	'postgres', q{
	SELECT regexp_replace(p.oid::regprocedure::text, '^[^(]*\.', '') FROM pg_proc p JOIN pg_depend ON objid = p.oid AND classid = 'pg_proc'::regclass AND deptype = 'e'
	WHERE refobjid IN (SELECT oid FROM pg_extension WHERE extname LIKE 'neardup%') AND prokind = 'f'});
my @unknown = grep {
	my $function = $_;
	!exists $called{$function} && !exists $statement{$function} && !grep { $function =~ $_ } @short
} @functions;
is("@unknown", '', 'every function is tested here or known to be short');
cmp_ok(scalar @functions, '>', 100, 'all functions are listed');

# ---- Functions ------------------------------------------------------------------

# Returns the SQLSTATE of a statement.
sub state_of
{
	return $node->state_of(@_);
}

# Returns a block that evaluates an expression over variables if a condition holds.
sub block
{
	my ($condition, $expression) = @_;
	my %type = (t => 'text', tt => 'text[]', a => 'bigint[]', s => 'shingles', s2 => 'shingles', html => 'text', st => 'text', weight => 'float8[]', lex => 'shingle_lexicon');
	my $declared = join '', map { "$_ $type{$_} := (SELECT l.$_ FROM long l);\n" } grep { $expression =~ /\b$_\b/ } sort keys %type;

	# No interrupt is checked between the function and nextval(), so nextval() runs only
	# if the function was not cancelled.
	return qq{DO \$block\$ DECLARE $declared x bigint; BEGIN
		x := CASE WHEN $condition AND ($expression) IS NOT NULL THEN nextval('finished') END;
		END \$block\$;};
}

sub cancelled
{
	my ($what, $sql) = @_;

	is(state_of($sql), '57014', "cancelled: $what");
	is($node->safe_psql('postgres', 'SELECT is_called FROM finished'), 'f', 'before it was done');
	$node->safe_psql('postgres', q{SELECT setval('finished', 1, false)});
}

is(state_of(block('true', 'similarity(s, s2)')), 'no error', 'a block runs');
is($node->safe_psql('postgres', 'SELECT is_called FROM finished'), 't', 'a function that finishes is noticed');
$node->safe_psql('postgres', q{SELECT setval('finished', 1, false)});
cancelled($_, block('pg_cancel_backend(pg_backend_pid())', $called{$_}))
  foreach grep { defined $called{$_} } sort keys %called;

# ---- Statements -----------------------------------------------------------------

foreach my $what (sort keys %statement)
{
	my $sql = $statement{$what};

	# Only the last statement is to be cancelled.
	$sql =~ s/^(.*;)?\s*(.*)$/SET statement_timeout = 0; $1\nSET statement_timeout = 10;\n$2;/s;
	is(state_of($sql), '57014', "cancelled: $what");
}
like($node->safe_psql('postgres', qq{SELECT neardup_check('$_')}), qr/ rows: \d+$/, "$_ is consistent") foreach qw(equals_sig sampled_s);
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), 'no worker is left');

# ---- Progress -------------------------------------------------------------------

{
	my %calls = (
		'joining' => q{neardup_pairs('SELECT id, to_minhash(to_shingles(ARRAY[id, id + 1, id + 2])) FROM equals', 0.6)},
		'comparing' => q{neardup_advise('SELECT i, md5(i::text) || '' '' || i % 7 FROM generate_series(1, 3000) i')},
		'checking index' => q{neardup_check('equals_sig')},
		'checking table' => q{neardup_check('equals_sig')});
	foreach my $phase (sort keys %calls)
	{
		my $err;
		my $call = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', q{SET maintenance_work_mem = '1MB'}, '-c',
			"DO \$\$ BEGIN LOOP PERFORM $calls{$phase}; END LOOP; END \$\$" ], '<', \undef, '>', \my $out, '2>', \$err);
		my $shown = $node->poll_query_until('postgres', "SELECT count(*) = 1 FROM neardup_progress() WHERE phase = '$phase' AND percent BETWEEN 0 AND 100 AND time_left >= '0'");
		ok($shown, "$phase: how much is done, and the time left");
		$node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM neardup_progress()');
		# The call may have been between two commands.
		$node->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'DO %'});
		$call->finish;
		like($err, qr/canceling statement/, "$phase: cancelled");
	}
}

$node->stop;
done_testing();
