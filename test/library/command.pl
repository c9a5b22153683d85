# The command neardup gives what the server does: the same bits, pairs, clusters and lexicons.
use strict;
use warnings;
use utf8;

use Node;
use PostgreSQL::Test::Utils ();
use Test::More;

my $FOLDER = PostgreSQL::Test::Utils::tempdir();
my $TEXTS = 600;

# The first letters of alphabets, which languages share, and how many follow.
my @SCRIPTS = (
	[ 0x61, 26 ], [ 0xE0, 30 ], [ 0x100, 80 ], [ 0x1E00, 120 ], [ 0x3B1, 25 ], [ 0x430, 32 ], [ 0x531, 38 ], [ 0x5D0, 27 ],
	[ 0x627, 36 ], [ 0x710, 30 ], [ 0x780, 38 ], [ 0x7CA, 33 ], [ 0x904, 54 ], [ 0x985, 45 ], [ 0xA05, 50 ], [ 0xA85, 52 ],
	[ 0xB05, 50 ], [ 0xB85, 52 ], [ 0xC05, 52 ], [ 0xC85, 52 ], [ 0xD05, 52 ], [ 0xD85, 60 ], [ 0xE01, 46 ], [ 0xE81, 40 ],
	[ 0xF40, 40 ], [ 0x1000, 42 ], [ 0x10D0, 33 ], [ 0x1100, 90 ], [ 0x1200, 90 ], [ 0x13A0, 80 ], [ 0x1401, 90 ],
	[ 0x1780, 50 ], [ 0x1820, 50 ], [ 0x2C30, 40 ], [ 0x2D30, 50 ], [ 0x3041, 80 ], [ 0x30A1, 80 ], [ 0x4E00, 400 ],
	[ 0xA000, 90 ], [ 0xA4D0, 40 ], [ 0xAC00, 400 ], [ 0xFB00, 6 ], [ 0xFF21, 26 ], [ 0xFF66, 50 ], [ 0x10400, 40 ],
	[ 0x118A0, 30 ], [ 0x16A40, 30 ], [ 0x1E900, 30 ], [ 0x20000, 400 ], [ 0x1F600, 60 ]);

srand(31);

sub word
{
	my ($first, $letters) = @{ $_[0] };

	return join '', map { chr($first + int rand $letters) } 1 .. 1 + int rand 8;
}

# Texts of all scripts; every third is another one, with a few words changed, and a few are equal or empty.
sub make_texts
{
	my @texts;

	for my $i (0 .. $TEXTS - 1)
	{
		my @scripts = map { $SCRIPTS[ ($i + $_ * 7) % @SCRIPTS ] } 0 .. int rand 3;
		my @words = map { word($scripts[ int rand @scripts ]) } 1 .. 3 + int rand 150;
		my @blanks = (' ', ' ', ' ', ', ', ".\n", "\t", "\x{3000}", ' the ', ' and was ', '"', '\\');

		@words = split / /, $texts[ $i - 3 ] if $i % 3 == 2 && $i > 3;
		$words[ rand @words ] = word($SCRIPTS[ int rand @SCRIPTS ]) for 1 .. int rand 5;
		my $text = join '', map { $_ . $blanks[ int rand @blanks ] } @words;
		$text = join ' ', @words if $i % 3 == 2;
		$text = $texts[ $i - 5 ] if $i % 50 == 20;
		$text = '' if $i % 100 == 50;
		push @texts, $text;
	}
	return @texts;
}

sub json_string
{
	my ($text, $ascii) = @_;
	my %named = ("\n" => '\n', "\t" => '\t', '"' => '\"', '\\' => '\\\\');

	$text =~ s/(["\\\n\t])/$named{$1}/g;
	$text =~ s/([^\x00-\x7F])/join '', map { sprintf '\u%04x', $_ } unpack 'n*', Encode::encode('UTF-16BE', $1)/ge if $ascii;
	return qq("$text");
}

# Writes a file of the folder, and returns its path.
sub file
{
	my ($name, @lines) = @_;

	open my $file, '>:encoding(UTF-8)', "$FOLDER/$name" or die $!;
	print $file @lines;
	close $file or die $!;
	return "$FOLDER/$name";
}

sub slurp { return PostgreSQL::Test::Utils::slurp_file(shift) }

# Runs a line of a shell; $N is the command.  Returns what it prints.
sub run
{
	my ($line, $expected) = @_;
	my $out = `cd $FOLDER && N=neardup && $line 2>error`;

	is($? >> 8, $expected // 0, $line) or diag(slurp("$FOLDER/error"));
	return $out;
}

# Tests whether two texts are equal, and shows where they begin to differ.
sub same
{
	my ($got, $expected, $name) = @_;
	my @got = split /\n/, $got;
	my @expected = split /\n/, $expected;
	my ($line) = grep { ($got[$_] // '') ne ($expected[$_] // '') } 0 .. $#got > $#expected ? $#got : $#expected;

	ok($got eq $expected, $name) and return;
	diag(map { substr(($_->[$line] // 'nothing'), 0, 500) . "\n" } \@got, \@expected) if defined $line;
}

require Encode;
my @texts = make_texts();
my @ids = map { $_ * 3 - 100 } 0 .. $#texts;
file('texts.jsonl', map { qq({"id": $ids[$_], "text" : ) . json_string($texts[$_], $_ % 2) . qq(, "stars": ) . ($_ * 7919 % 101) . "}\n" } 0 .. $#texts);
file('texts.csv', "\"id\",stars,text\r\n", map { "$ids[$_],0,\"" . $texts[$_] =~ s/"/""/gr . "\"\r\n" } 0 .. $#texts);
file('texts.tsv', "text\tid\n", map { $texts[$_] =~ s/([\\\n\t])/{ "\\" => "\\\\", "\n" => "\\n", "\t" => "\\t" }->{$1}/ger . "\t$ids[$_]\n" } 0 .. $#texts);
file('rows', map { "$ids[$_]\t" . $texts[$_] =~ s/([\\\n\t])/{ "\\" => "\\\\", "\n" => "\\n", "\t" => "\\t" }->{$1}/ger . "\n" } 0 .. $#texts);

my $node = Node->new('library');
$node->init(extra => [ '--no-locale', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', "CREATE EXTENSION neardup; CREATE TABLE texts (id bigint, body text); COPY texts FROM '$FOLDER/rows'");

sub ask
{
	return $node->safe_psql('postgres', "SET extra_float_digits = 1; " . shift);
}

# ---- Bits ----

my $differing = 0;
my $compared = 0;

# Compares what the command signs with what the server does, by way of COPY.
sub compare_bits
{
	my ($options, $type, $call, $format) = @_;

	$format //= 'binary';
	run("\$N sign $options --id id --bigint --format copy-$format texts.jsonl >signed");
	ask("DROP TABLE IF EXISTS signed; CREATE TABLE signed (id bigint, sig $type); COPY signed FROM '$FOLDER/signed' (FORMAT $format)");
	my ($rows, $wrong) = split /\|/, ask("SELECT count(*), count(*) FILTER (WHERE sig IS DISTINCT FROM $call) FROM signed JOIN texts USING (id)");
	is($rows, $TEXTS, "rows with $options");
	is($wrong, 0, "signatures with $options");
	$compared += $rows;
	$differing += $wrong;
}

for my $scheme ('word 1', 'word 3', 'word 7', 'char 1', 'char 5', 'char 255', 'anychar 4', 'stopword 2', 'spot 1 2', 'spot 3 4 de')
{
	compare_bits("--scheme '$scheme'", 'minhash', "to_minhash(body, 512, 1, '$scheme')");
	compare_bits("--scheme '$scheme' --simhash 128", 'simhash', "to_simhash(body, 128, '$scheme')");
	compare_bits("--scheme '$scheme' --shingles", 'shingles', "to_shingles(body, '$scheme')", 'text');
}
compare_bits("--minhash $_", 'minhash', "to_minhash(body, $_)") for '16,1', '200,2', '100,4', '333,8', '128,16', '2048,32';
compare_bits('--shingles', 'shingles', "to_shingles(body)");
compare_bits('--minhash 99,1', 'minhash', 'to_minhash(body, 99, 1)', 'text');
for my $scheme ('word 1', 'char 4')
{
	run("\$N learn --scheme '$scheme' --entries 700 --share 0.1 texts.jsonl >lexicon");
	my $lexicon = ask("SELECT neardup_lexicon('SELECT body FROM texts ORDER BY id', '$scheme', 700, 0.1)");
	same(slurp("$FOLDER/lexicon"), "$lexicon\n", "lexicon of $scheme");
	compare_bits('--lexicon lexicon', 'minhash', "to_minhash(body, lexicon => '$lexicon')");
	compare_bits('--lexicon lexicon --shingles', 'shingles', "weigh(to_shingles(body, '$scheme'), '$lexicon')");
}
note("$compared signatures, $differing of them differ");

# ---- Files ----

my $signed = run('$N sign --id id texts.jsonl');
run('gzip -k texts.jsonl texts.csv');
is(run("\$N sign --id id $_"), $signed, "the same from $_") for 'texts.csv', 'texts.tsv', 'texts.jsonl.gz', 'texts.csv.gz', '-j 1 texts.jsonl', '-j 7 texts.jsonl', '- <texts.jsonl';
SKIP:
{
	skip 'no zstd', 5 unless `zstd --version 2>/dev/null`;
	run('zstd -q texts.jsonl');
	is(run('$N sign --id id texts.jsonl.zst'), $signed, 'the same from .zst');
	is(run('(printf "\120\52\115\30\3\0\0\0abc"; cat texts.jsonl.zst) | $N sign --id id'), $signed, 'the same from zstd behind a frame to skip');
	is(run('head -c 5000 texts.jsonl.zst | $N sign --id id', 2), '', 'zstd, cut');
}
is(run('(head -50 texts.jsonl | gzip; tail -n +51 texts.jsonl | gzip) >two.jsonl.gz; $N sign --id id two.jsonl.gz'), $signed, 'the same from two .gz behind each other');
is(run(': >none; gzip -k none; $N sign -i files -s "word 1" none none.gz'), "none\t1/word 1/512x1/0/\nnone.gz\t1/word 1/512x1/0/\n", 'empty files');
is(run('printf "begin 644 x\n#ABCD\n\`\nend\n" >uu.txt; $N sign -i files uu.txt | cut -f 2 | cut -d / -f 4'), "3\n", 'a text that looks as if it were encoded');
is(run('printf "id,text,note\n1,the 7\" single,x\n2,\"a \"\"b\"\", c\nd\",\"\"\n3,open \",\n" >quotes.csv; $N sign -s "word 1" --id id quotes.csv | cut -d / -f 1-4'), "1\t1/word 1/512x1/3\n2\t1/word 1/512x1/4\n3\t1/word 1/512x1/1\n", 'quotes in CSV');
is(run('printf "text,id\na b c,1\n" >h.csv; $N sign -s "word 1" --id text h.csv | cut -d / -f 1-4'), "a b c\t1/word 1/512x1/3\n", 'one column for two options');
is(run('printf "text\tid\n\t\nx\t2\n" >e.tsv; $N sign -s "word 1" --id id e.tsv | cut -d / -f 1-4'), "\t1/word 1/512x1/0\n2\t1/word 1/512x1/1\n", 'a row of empty fields');
file('n.tsv', "text\tid\n\\N\t1\na\\tb\t2\n");
is(run('$N sign -s "word 1" --id id n.tsv | cut -d / -f 1-4'), "1\t1/word 1/512x1/0\n2\t1/word 1/512x1/2\n", 'NULL and a tab in TSV');
file('b.tsv', "text\tid\nx\ta\\\tb\\n\\q\n\\Nx\t\\\n");
is(run('$N sign -s "word 1" --id id b.tsv | cut -d / -f 1-4'), "a\\tb\\nq\t1/word 1/512x1/1\n\\\\\t1/word 1/512x1/1\n", 'backslashes in TSV');
is(run('printf "id,text\n\"a\"b \"c\",x\n" >b.csv; $N sign -s "word 1" --id id b.csv | cut -d / -f 1-2'), "ab \"c\"\t1/word 1\n", 'text behind a quote in CSV');
is(run('mkdir x.csv.d; head -2 texts.jsonl >x.csv.d/X.JSONL; $N sign x.csv.d/X.JSONL | wc -l'), "2\n", 'the end of a name tells');
run('split -l 1 texts.jsonl part. && mkdir d && for f in part.*; do cp $f d/$f.txt; done');
is(scalar(() = run('$N sign --input files d/*.txt') =~ /^d\/part\.\w+\.txt\t1\/word 3\//mg), $TEXTS, 'a file a document');
my $records = run('$N sign --format records texts.jsonl');
is($records =~ s/,"signature":"[^"]*"\}$/}/mgr, slurp("$FOLDER/texts.jsonl"), 'records with signatures are as they were otherwise');
is(run('$N sign --format records texts.csv | head -1'), "\"id\",stars,text,signature\n", 'columns of records');

# ---- Pairs and clusters ----

sub sorted { return join "\n", sort split /\n/, shift }

for my $case (
	[ '', 'to_minhash(body)', '' ], [ '--simhash 64', 'to_simhash(body)', '' ], [ '--shingles', 'to_shingles(body)', '' ],
	[ '--shingles --multiset', 'to_shingles(body)', ', multiset => true' ], [ '--shingles --containment', 'to_shingles(body)', ", measure => 'containment'" ])
{
	my ($options, $call, $arguments) = @$case;
	my $query = "'SELECT id, $call FROM texts ORDER BY id'";

	for my $threshold (0.4, 0.8)
	{
		my $found = run("\$N pairs $options -t $threshold --id id texts.jsonl");

		cmp_ok(($found =~ tr/\n//), '>', 50, 'there are pairs');
		same(sorted($found), sorted(ask("COPY (SELECT * FROM neardup_pairs($query, $threshold$arguments)) TO stdout")), "pairs $options $threshold");
		for my $nearest ('', '--nearest')
		{
			my $argument = $nearest ? ', nearest => true' : '';

			same(run("\$N clusters $options $nearest -t $threshold --id id texts.jsonl"),
				ask("COPY (SELECT * FROM neardup_clusters($query, $threshold$arguments$argument)) TO stdout") . "\n", "clusters $options $nearest $threshold");
		}
		same(run("\$N clusters $options -j 5 -m 100M -t $threshold --id id texts.jsonl"), run("\$N clusters $options -j 1 -t $threshold --id id texts.jsonl"), 'any number of threads');
	}
}
run('head -100 texts.jsonl >a.jsonl; tail -n +101 texts.jsonl >b.jsonl');
same(sorted(run('$N pairs -t 0.4 --id id --against a.jsonl b.jsonl')),
	sorted(ask("COPY (SELECT * FROM neardup_pairs('SELECT id, to_minhash(body) FROM texts WHERE id >= 200 ORDER BY id', 0.4, against => 'SELECT id, to_minhash(body) FROM texts WHERE id < 200 ORDER BY id')) TO stdout")),
	'pairs with other records');

# ---- Dedupe ----

sub ids { return join ' ', shift =~ /"id": (-?\d+)/g }

my $query = "'SELECT id, to_minhash(body) FROM texts ORDER BY id', 0.4";
my $stay = ask("SELECT string_agg(id::text, ' ' ORDER BY id) FROM texts WHERE id NOT IN (SELECT id FROM neardup_clusters($query) WHERE id <> keeper)");
same(ids(run('$N dedupe --decide signatures -t 0.4 --id id --report report texts.jsonl')), $stay, 'the first of each cluster stays');
same(slurp("$FOLDER/report"), ask("COPY (SELECT id, keeper, similarity, 'duplicate', 'signatures' FROM neardup_clusters($query) WHERE id <> keeper) TO stdout") . "\n", 'report');
same(ids(run('cat texts.jsonl | $N dedupe --decide signatures -t 0.4')), $stay, 'from standard input');
same(ids(run('$N dedupe --decide signatures -t 0.4 <texts.jsonl')), $stay, 'from a file as standard input');
same(ids(run('gzip -c texts.jsonl | $N dedupe --decide signatures -t 0.4')), $stay, 'from standard input, compressed');
same(ids(run('$N dedupe --decide signatures -t 0.4 texts.jsonl.gz')), $stay, 'from a compressed file');
same(ids(run('tail -n +101 texts.jsonl | $N dedupe --decide signatures -t 0.4 a.jsonl -')), $stay, 'from a file and standard input');
like(run('$N dedupe --decide signatures -t 0.4 texts.csv | head -1'), qr/^"id",stars,text\r\n/, 'columns stay');
is(run(': >none.csv; printf "\\357\\273\\277text,id" >head.csv; printf "text,id\r\nx y z,1\r\n" >1.csv; $N dedupe none.csv head.csv 1.csv h.csv 1.csv'), "\xEF\xBB\xBFtext,id\nx y z,1\r\na b c,1\n", 'columns of several files');

# Writes records with the same text, and a field with each of some values.
sub rate
{
	my @stars = @_;

	return file('best.jsonl', map { qq({"text": "a b c d", "id": $_, "stars": $stars[$_ - 1]}\n) } 1 .. @stars);
}

# Numbers sort as numbers, to the last digit; texts by their bytes.
for my $case (
	[ 1, '-5', 'null' ], [ 3, 'null', '-5', 'false' ], [ 2, 'false', 'true', '1' ], [ 2, '"9"', '10' ], [ 2, '"NaN"', '-1' ], [ 2, '" "', '-1' ], [ 1, '1000', '"1e3"' ], [ 2, '999', '"1E+3"' ],
	[ 1, '"-0"', '0', '0.0e5' ], [ 1, '0', '-0.0' ], [ 2, '4.5', '"+5"' ], [ 2, '4', '" 5 "' ], [ 3, '"0.05"', '".5"', '"5."', '1' ], [ 2, '"1e308"', '"inf"' ], [ 2, '"-Infinity"', '"-1e999"' ],
	[ 2, '-1.52', '-1.5' ], [ 1, '-1.5', '-1.52' ], [ 2, '-10', '-9' ], [ 2, '9007199254740992', '9007199254740993' ], [ 2, '0.1', '0.10000000000000000001' ], [ 2, '2e-400', '3e-400' ],
	[ 2, '"18446744073709551616"', '"18446744073709551617"' ], [ 1, '"1e99999999999999999999"', '1e400' ], [ 2, '1e-5', '"0.00002"' ], [ 2, '"2021-01-05"', '"2021-03-01"', '"2020-12-31"' ],
	[ 2, '"2021-01-05T10:00:00Z"', '"2021-01-05T10:00:01Z"' ], [ 3, '"10 b"', 'null', '"9 a"' ], [ 1, '"é"', '"z"' ], [ 2, '"0x10"', '"0x9"' ], [ 1, '"1e"', '"."', '"1-2"' ])
{
	my ($best, @stars) = @$case;

	rate(@stars);
	is(ids(run('$N dedupe --best stars best.jsonl')), $best, "the best of @stars");
}
file('best.csv', "id,text,day\n1,a b c d,2021-01-05\n2,a b c d,2021-03-01\n");
is(run('$N dedupe --best day best.csv'), "id,text,day\n2,a b c d,2021-03-01\n", 'the last date stays');
my $best = "'SELECT id, to_minhash(body) FROM texts ORDER BY (id + 100) / 3 * 7919 % 101 DESC, id', 0.4";
same(ids(run('$N dedupe --decide signatures -t 0.4 --best stars texts.jsonl')),
	ask("SELECT string_agg(id::text, ' ' ORDER BY id) FROM texts WHERE id NOT IN (SELECT id FROM neardup_clusters($best) WHERE id <> keeper)"), 'the best of each cluster stays');
same(ids(run('$N dedupe --decide signatures -t 0.4 --against a.jsonl b.jsonl')),
	ask("WITH rest AS (SELECT id FROM texts WHERE id >= 200 EXCEPT SELECT id FROM neardup_clusters('SELECT id, to_minhash(body) FROM texts WHERE id >= 200 ORDER BY id', 0.4, against => 'SELECT id, to_minhash(body) FROM texts WHERE id < 200 ORDER BY id'))
	 SELECT string_agg(id::text, ' ' ORDER BY id) FROM rest WHERE id NOT IN (SELECT id FROM neardup_clusters('SELECT id, to_minhash(body) FROM texts WHERE id >= 200 AND id NOT IN (SELECT id FROM neardup_clusters(''SELECT id, to_minhash(body) FROM texts WHERE id >= 200 ORDER BY id'', 0.4, against => ''SELECT id, to_minhash(body) FROM texts WHERE id < 200 ORDER BY id'')) ORDER BY id', 0.4) WHERE id <> keeper)"),
	'what other records have is held out');

# Of 112 records, 70 contain a question word for word, and one is in a question; 40 only have its words.
my @words = map { my $i = $_; [ map { "r${i}w$_" } 1 .. 60 ] } 1 .. 112;
my @asked = ((map { [ @{$_}[ 20 .. 35 ] ] } @words[ 0 .. 69 ]), (map { [ reverse @{$_}[ 20 .. 35 ] ] } @words[ 70 .. 109 ]), [ @{ $words[110] }, 1 .. 40 ]);
file('records.jsonl', map { my $n = $_; qq({"id": $n, "text": "of the report @{$words[$n - 1]} to a"}\n) } 1 .. @words);
file('questions.jsonl', map { my $n = $_; qq({"id": -$n, "text": "@{$asked[$n - 1]}"}\n) } 1 .. @asked);
run('$N learn -s "word 3" records.jsonl >weights');
for my $options ('', '--multiset', '--multiset --lexicon weights', '-s "word 1"', '-s "word 2" -j 3')
{
	my $how = "--shingles --containment $options -t 0.9 --id id --against questions.jsonl";
	my $kept = run("\$N dedupe $how --report report records.jsonl");

	same(ids($kept), join(' ', 71 .. 110, 112), "records that contain questions, or are in one: $options") if $options !~ /word 1/;
	same(slurp("$FOLDER/report") =~ s/.*\tduplicate\ttexts\n//gr =~ s/\tagainst\ttexts$//gmr, run("\$N pairs $how records.jsonl"), 'as pairs says');
	same(run("gzip -c records.jsonl | \$N dedupe $how"), $kept, 'from a pipe');
}

# Texts of one form, so many that their sets are joined in place of their signatures.
file('form.tsv', join '', "id\ttext\n", map { my $i = $_; my $copied = $i % 20 == 5;
	join(' ', "$i\tform", map({ "form$_" } 1 .. 39), map { 'w' . (($copied && $_ > 1 ? $i - 1 : $i) * 31 + $_) } 1 .. 20) . "\n" } 1 .. 90_000);
same(run('$N pairs -j 2 --id id -s "word 1" -t 0.9 --decide texts form.tsv'), run('$N pairs --id id -s "word 1" -t 0.9 --shingles form.tsv'), 'texts of one form');
is(run('$N pairs -j 2 --id id -s "word 1" -t 0.9 --decide texts form.tsv | wc -l'), "4500\n", 'all of them');

# ---- Comparing two files, and errors ----

file('x.txt', 'Divers and drones measure the coral reefs for three years');
file('y.txt', 'Divers and drones measure the coral reefs for ten years');
same(run('$N compare -s "word 1" x.txt y.txt'), ask("SELECT format(E'resemblance\\t%s\\ncontainment\\t%s\\nweighted\\t%s\\nminhash\\t%s\\nedit distance\\t%s', r, 0.9, r, m, e)
	FROM (SELECT text_similarity(x, y, 'word 1'), similarity(to_minhash(x, 'word 1'), to_minhash(y, 'word 1')), edit_distance(x, y) FROM (VALUES ('" . slurp("$FOLDER/x.txt") . "', '" . slurp("$FOLDER/y.txt") . "')) AS t (x, y)) AS c (r, m, e)") . "\n", 'compare');
# Runs a line that fails, and checks the message.
sub fails
{
	my ($line, $code, $message) = @_;

	run($line, $code);
	like(slurp("$FOLDER/error"), $message, "the message of $line");
}

run('$N', 1);
fails('$N dedup texts.jsonl', 1, qr/no command "dedup": try/);
fails('$N pairs -t 80 texts.jsonl', 1, qr/"80": it is the least similarity, above 0, at most 1$/);
fails("\$N pairs --$_ texts.jsonl", 1, qr/^neardup: --(\w+) cannot be "[^"]*": it is the (least similarity|number of threads|most memory)/)
	for 'threshold nan', 'threshold inf', 'threshold 0', 'threshold 1k', 'threshold 0x1p-1', 'threshold ""', 'jobs 0', 'jobs -1', 'jobs 1k', 'jobs 1.5', 'jobs 99999999999999999999', 'memory nan', 'memory 0', 'memory -4G', 'memory 4Gx';
fails("\$N learn --$_ texts.jsonl", 1, qr/^neardup: --(\w+) cannot be "[^"]*": it is the /) for 'entries 0', 'entries 1.5', 'entries 1e7', 'entries nan', 'share nan', 'share 0', 'share 2';
fails('$N sign --format binary texts.jsonl', 1, qr/it is copy-text\|copy-binary\|records$/);
fails('$N dedupe --field body texts.jsonl a.jsonl', 2, qr/no record of "texts.jsonl" and the other files has a text in the field "body"/);
fails('$N dedupe --id key texts.jsonl', 2, qr/no record of "texts.jsonl" has the field "key"/);
fails('$N clusters --best score texts.jsonl', 2, qr/has the field "score"/);
fails('sed s/text/question/ a.jsonl >questions.jsonl; $N dedupe --against questions.jsonl b.jsonl', 2, qr/no record of "questions.jsonl" has a text in the field "text"/);
for my $case ([ 'has "2021-01-05" in the field "stars", a text, but record 1 has "2021", a number: they have no order', '"2021"', '"2021-01-05"' ], [ 'has "-1" in the field "stars", a number, but record 1 has "0x10", a text', '"0x10"', '-1' ],
	[ 'no record has a value in the field "stars"', 'null', '"nan"' ], [ 'record 2 of "best.jsonl" cannot be read: its field of --best is an object or array, which has no order', '1', '[2]' ])
{
	my ($message, @stars) = @$case;

	rate(@stars);
	fails('$N dedupe --best stars best.jsonl', 2, qr/\Q$message\E/);
}
same(run('cat a.jsonl questions.jsonl | $N sign | wc -l'), "200\n", 'a field that some records have');
run('$N sign --field nothing </dev/null');
fails('sed "s/.*/{\"text\": [&]}/" a.jsonl | $N sign', 2, qr/has a text in the field "text"/);
fails('echo "[" | cat - a.jsonl | $N dedupe', 2, qr/record 1 of "-" cannot be read: it is an array: write each of its objects on a line, as jq /);
fails('(echo "{"; cat a.jsonl) | $N dedupe', 2, qr/record 1 of "-" cannot be read: it does not end on its line/);
fails('(head -3 a.jsonl | tr "\n" " ") | $N sign', 2, qr/record 1 of "-" cannot be read: something follows the JSON object/);
run('sed "s/$/  \r/" a.jsonl | $N sign');
fails('printf "id,text\n2,b\n" >o.csv; $N dedupe h.csv o.csv', 2, qr/could not read "o.csv": it has other columns than the files before it/);
fails('echo "{\"text\": \"a\",}" | $N sign', 2, qr/record 1 of "-" cannot be read/);
fails('echo 5 | $N sign', 2, qr/it is no JSON object/);
fails('$N sign --id text --bigint --format copy-binary a.jsonl >signed', 2, qr/record 1 of "a.jsonl" cannot be read: its id is no bigint/);
fails("\$N dedupe $_", 1, qr/would be overwritten while it is read/)
	for '--report ./a.jsonl b.jsonl a.jsonl', '--report a.jsonl --against a.jsonl b.jsonl', '--report a.jsonl <a.jsonl', 'a.jsonl >>a.jsonl';
same(run('wc -l <a.jsonl'), "100\n", 'no input is overwritten');
fails('$N dedupe --report both a.jsonl >both', 1, qr/--report is the file of the output/);
fails("\$N dedupe $_", 1, qr/standard input would be read twice/) for '--against - - <a.jsonl', '- - <a.jsonl';
fails("cat a.jsonl | \$N dedupe $_", 1, qr/standard input would be read twice/) for '--against /dev/stdin -', '/dev/fd/0 /dev/stdin', '--lexicon /dev/stdin';
fails('cp a.jsonl plain.jsonl.gz; $N sign plain.jsonl.gz', 2, qr/could not read "plain.jsonl.gz": it is not compressed/);
fails('(gzip -c a.jsonl; cat b.jsonl) >behind.jsonl.gz; $N sign behind.jsonl.gz', 2, qr/could not read "behind.jsonl.gz": /);
fails('gzip -c a.jsonl | head -c -4 >short.jsonl.gz; $N sign short.jsonl.gz', 2, qr/could not read "short.jsonl.gz": its end is missing/);
fails('printf "id,text\n1,\"a b\n2,c\n" >open.csv; $N sign open.csv', 2, qr/record 1 of "open.csv" cannot be read: a quote is not closed/);
fails('echo "{\"text\": \"a\", \"id\": 18446744073709551616}" | $N sign --id id --bigint --format copy-binary', 2, qr/its id is no bigint/);
fails('printf "{\"text\": \"a\"}\\0}\n" | $N sign', 2, qr/record 1 of "-" cannot be read/);
fails('$N sign --format records h.csv quotes.csv', 2, qr/other columns/);
fails('printf "id,text,x\n1,a b c\n" >less.csv; $N sign --format records less.csv', 2, qr/record 1 of "less.csv" cannot be read: it has more or fewer fields/);
fails("\$N sign --minhash '$_' a.jsonl", 1, qr/"\Q$_\E" is no shape/) for '64,1x', '64,1,9', '64,', ' 64', '+64', '64, 1', '4294967808';
fails('$N learn --entries 10.5 a.jsonl', 1, qr/--entries cannot be "10.5": it is the most entries of the lexicon, whole, from 1 to 1000000$/);
fails("\$N dedupe --$_ a.jsonl", 1, qr/cannot be "[^"]*": it is the (?:fewest words .*, whole, from 1 to |least share .*, above 0, at most 1$)/)
	for 'unit passage --min-run 0', 'unit passage --min-run 100001', 'unit passage --min-left 0', 'unit line --min-words 1.5', 'contained 2';
fails('$N pairs --jobs 1.5 a.jsonl', 1, qr/--jobs cannot be "1.5"/);
fails('$N sign a.jsonl --format', 1, qr/^neardup: "--format" is no option, or lacks its value/);
fails('$N learn --field body a.jsonl', 2, qr/has a text in the field "body"/);
fails('$N sign --minhash 64,1 --simhash 64 a.jsonl', 1, qr/exclude each other/);
fails('$N --threshold 0.5 pairs a.jsonl', 1, qr/--threshold is an option of pairs, clusters and dedupe, not of neardup$/);
fails('$N sign -i "jsonl|csv" a.jsonl', 1, qr/it is jsonl/);
# The file shrinks, or is another, when the command has read it, and opens the file of --against.
fails("cp texts.jsonl $_.jsonl; mkfifo $_; timeout 600 sh -c 'exec 3>$_; tac $_.jsonl | head -\$((300 * $_)) >other; cat other >$_.jsonl; cat b.jsonl >&3' >writer 2>&1 & \$N dedupe --against $_ $_.jsonl", 2, qr/could not read "$_.jsonl": it has changed since it was read first/) for 1, 2;
# The file grows when the command has read it, and opens the file of --against.
fails('cp a.jsonl grows.jsonl; mkfifo held; timeout 600 sh -c "exec 3>held; cat b.jsonl >>grows.jsonl; cat b.jsonl >&3" >writer 2>&1 & $N dedupe --against held grows.jsonl', 2, qr/it has changed/);
# The bytes of a text of which one is changed in a file that gzip stores, and files that are cut.
PostgreSQL::Test::Utils::append_to_file("$FOLDER/flip.py", "import gzip\nb = bytearray(gzip.compress(b'{\"text\": \"alpha\"}\\n', 0))\nb[b.find(b'alpha')] = 88\nopen('flip.jsonl.gz', 'wb').write(b)\n");
fails('python3 flip.py; $N sign flip.jsonl.gz', 2, qr/could not read "flip.jsonl.gz": .*(crc|data)/);
fails('(gzip -c a.jsonl; gzip -c a.jsonl | head -c 5) >cut.jsonl.gz; $N dedupe cut.jsonl.gz', 2, qr/could not read "cut.jsonl.gz": /);
fails('$N sign .', 2, qr/could not read ".": Is a directory$/) if $^O eq 'linux';
fails('$N clusters --against a.jsonl b.jsonl', 1, qr/--against is an option of pairs and dedupe, not of clusters$/);
fails('$N pairs --report report b.jsonl', 1, qr/--report is an option of dedupe, not of pairs$/);
for my $name ('a.jsonl', 'texts.csv')
{
	same(run("printf '\\357\\273\\277' | cat - $name >marked.$name; \$N sign --id id marked.$name"), run("\$N sign --id id $name"), "a byte order mark in $name");
}
fails('$N dedupe <texts.csv', 2, qr/name its format with --input$/);
run('$N sign --scheme nonsense texts.jsonl', 1);
run('$N sign --nonsense texts.jsonl', 1);
run('$N pairs -t 2 texts.jsonl', 1);
run('$N sign nowhere.jsonl', 2);
run('$N sign --id nothing texts.csv', 2);
run('echo "{" | $N sign', 2);
like(slurp("$FOLDER/error"), qr/record 1 of "-" cannot be read/, 'the record is named');
run('head -c 5000 texts.jsonl.gz | $N sign - >signed', 2);
run('$N sign --lexicon texts.csv texts.jsonl', 2);
run(q{printf '{"text": "%3000000s"}\\n' x | $N clusters -m 1M}, 3);
run('$N sign texts.jsonl >/dev/full', 2);

# ---- What is read ----

# Returns the bytes of a frame of zstd, stored, which asks for a window of 2 GiB.
sub wide_frame
{
	my @blocks = unpack '(a100000)*', shift;

	return "\x28\xb5\x2f\xfd\x00\xa8" . join '', map { substr(pack('V', length($blocks[$_]) << 3 | ($_ == $#blocks)), 0, 3) . $blocks[$_] } 0 .. $#blocks;
}

# Writes bytes to a file of the folder.
sub bytes
{
	my ($name, $bytes) = @_;

	open my $file, '>:raw', "$FOLDER/$name" or die $!;
	print $file $bytes;
	close $file or die $!;
}

# ---- Signatures in place of records, and parts ----

ask("COPY (SELECT id, to_minhash(body) FROM texts ORDER BY id) TO '$FOLDER/all.sig' (FORMAT binary)");
run('for i in a b; do $N sign --id id --format copy-binary $i.jsonl >$i.sig; done; $N sign --id id --bigint --format copy-binary b.jsonl >b.big');
my $clusters = run('$N clusters -t 0.4 --id id texts.jsonl');
my $pairs = run('$N pairs -t 0.4 --id id texts.jsonl');
same(run("\$N clusters -t 0.4 --signatures $_"), $clusters, "clusters of $_") for 'all.sig', "'[ab].sig'", 'all.sig -m 2M';
same(run("\$N pairs -t 0.4 $_"), run('$N pairs -t 0.4 --id id --against a.jsonl b.jsonl'), "pairs $_")
	for '--signatures b.sig --against a.sig', '--signatures b.big --against a.jsonl --id id', '--id id --against "[a].sig" b.jsonl', '--signatures b.sig --against a.sig -m 2M';
same(run("\$N dedupe -t 0.4 --id id --report report --against a.sig b.jsonl; cat report"), run('$N dedupe -t 0.4 --id id --report report --decide signatures --against a.jsonl b.jsonl; cat report'), 'dedupe with signatures');
for my $files ('b.sig', 'b.big')
{
	my $type = $files eq 'b.sig' ? 'text' : 'bigint';

	run("\$N dedupe -t 0.4 --signatures $files --against a.sig >kept");
	ask("DROP TABLE IF EXISTS signed; CREATE TABLE signed (id $type, sig minhash); COPY signed FROM '$FOLDER/kept' (FORMAT binary)");
	same(ask("SELECT string_agg(t.id::text, ' ' ORDER BY t.id) FROM signed JOIN texts t ON signed.id::bigint = t.id WHERE sig = to_minhash(body)"),
		ids(run('$N dedupe -t 0.4 --decide signatures --id id --against a.jsonl b.jsonl')), "signatures stay, with ids of $type");
}
same(sorted(run("for i in 1 2 3 4 5 6; do \$N pairs -t 0.4 --part \$i/6 $_; done")), sorted($pairs), "six parts of $_") for '--signatures all.sig', '--id id texts.jsonl';
same(sorted(run('for i in 1 2 3 4; do $N pairs -t 0.4 --part $i/4 --signatures b.sig --against a.sig; done')), sorted(run('$N pairs -t 0.4 --signatures b.sig --against a.sig')), 'four parts with --against');
fails("\$N pairs --signatures all.sig --part $_", 1, qr/--part cannot be "\Q$_\E": /) for '0/1', '2/1', '1/2', '7/50', '1/3x', '+1/3', '1', '-1/3';
fails('$N pairs --signatures all.sig --part 7/50', 1, qr/there are 45 parts, or 55 \(B \(B \+ 1\) \/ 2, for B blocks\)$/);

# Keepers are those of clusters, from the pairs of parts, of new records and old ones, and of the server.
for my $nearest ('', '--nearest')
{
	my $expected = run("\$N clusters $nearest -t 0.4 --id id texts.jsonl");

	file('pairs', reverse map { "$_\n" } split /\n/, $pairs);
	same(run("\$N keepers $nearest --signatures $_"), $expected, "keepers $nearest of $_")
		for 'all.sig pairs', '"[ab].sig" <pairs', 'all.sig -m 1M pairs', 'all.sig - <pairs', 'all.sig pairs pairs';
	same(run("(\$N pairs -t 0.4 --signatures a.sig; \$N pairs -t 0.4 --signatures b.sig; \$N pairs -t 0.4 --signatures b.sig --against a.sig) | \$N keepers $nearest --signatures '[ab].sig'"), $expected, "old and new records $nearest");
	same(run("\$N pairs -t 0.4 texts.jsonl | \$N keepers $nearest"), run("\$N clusters $nearest -t 0.4 texts.jsonl"), 'numbers of records');
	ask("COPY (SELECT * FROM neardup_pairs('SELECT id, to_minhash(body) FROM texts ORDER BY id', 0.4) ORDER BY random()) TO '$FOLDER/asked'");
	same(run("\$N keepers $nearest --signatures all.sig asked"), $expected, 'pairs of the server');
}
is(run('$N keepers /dev/null'), '', 'no pairs');
is(run('printf "1\t2\t0.9\n" | $N keepers'), "1\t1\t1\t2\n2\t1\t0.9\t2\n", 'a pair');
is(run('printf "1\t2\t0.9" | gzip | $N keepers'), "1\t1\t1\t2\n2\t1\t0.9\t2\n", 'without the end of its line, compressed');
fails("printf '$_' | \$N keepers", 2, qr/^neardup: line 2 of "-" cannot be read: /) for map { '1\t2\t1\n' . $_ } '1\t2\n', 'x\t1\t1\n', '1\t0\t1\n', '1\t2\t0.5x\n', '1\t2\t0\n', '1\t2\t2\n', '\n', '1\t99999999999999999999\t1\n', '3\t3\t1\n';
fails('printf "nobody\t2\t0.9\n" | $N keepers --signatures all.sig', 2, qr/there is no record with the id nobody$/);
fails('$N keepers --scheme "word 2" pairs', 1, qr/--scheme is an option of /);
fails('$N keepers --signatures "[ab].sig" --signatures "*.big" pairs', 2, qr/there is no record/);
fails('cp b.sig c.sig; $N keepers --signatures "[bc].sig" pairs', 2, qr/^neardup: records 1 and 501 have the same id, "200"$/);
# The order of the records may be another than the one of which the pairs were made.
run('for i in 0 1 2 3 4 5; do sed -n "$((100 * i + 1)),$((100 * i + 100))p" texts.jsonl | $N sign --id id --format copy-binary >$((5 - i)).part; done');
same(run('$N keepers --signatures "?.part" pairs'), run('$N clusters -t 0.4 --signatures "?.part"'), 'in another order');

# A file of signatures that is not whole, or is none, is not read.
my $two = run('head -2 b.jsonl | $N sign --id id --minhash 100,1 --format copy-binary');
my ($header, @rows) = (substr($two, 0, 19), map { substr $two, $_, length($two) / 2 - 10.5 } 19, 19 + length($two) / 2 - 10.5);
my $odd = pack('n', 2) . pack('N/a N/a', '5', run('head -1 b.jsonl | $N sign --id id --minhash 104,1 --format copy-binary | tail -c +33 | head -c 25'));
is($header . join('', @rows) . "\xff\xff", $two, 'a file of two records');
for my $length (0 .. length($two) - 1)
{
	bytes('cut.sig', substr $two, 0, $length);
	fails('$N clusters --signatures cut.sig', 2, qr/^neardup: (could not read "cut.sig": it is no file of signatures|record [123] of "cut.sig" cannot be read: the end of the file is missing)/) if $length % 7 == 0 || $length > 260;
}
for my $case (
	[ "$header$rows[0]" . "\0\3" . substr($rows[1], 2) . "\xff\xff", 'record 2 of "wrong.sig" cannot be read: it has other columns' ], [ "$two ", 'there are bytes behind its last record' ],
	[ "$header$rows[0]\0\2\xff\xff\xff\xff", 'record 2 of "wrong.sig" cannot be read: its id is null' ], [ "$header$rows[0]\0\2\0\0\0\1x\xff\xff\xff\xff", 'record 2 .* its signature is null' ],
	[ "$header$rows[0]\0\2\0\0\0\1x\x7f\0\0\0", 'record 2 .* its lengths are wrong' ], [ "$header$rows[0]\0\2\0\0\0\1\xe9\0\0\0\0", 'record 2 .* its id is no bigint' ], [ "$header$rows[0]\0\2\0\0\0\1x\0\0\0\4abcd", 'record 2 .* its signature is too short' ],
	[ $header . $rows[0] . $odd . "\xff\xff", 'record 2 .* cannot compare minhash\(104, 1\)' ], [ "$header$rows[0]" . substr($rows[1], 0, -1) . "\xff\xff\xff", 'record 2 .* The bits after the last symbol' ],
	[ substr($header, 0, 14) . "\1" . substr($two, 15), 'its header has flags' ], [ "{}", 'it is no file of signatures' ])
{
	my ($bytes, $message) = @$case;

	bytes('wrong.sig', $bytes);
	fails('$N clusters --signatures wrong.sig', 2, qr/$message/);
}
fails('$N clusters --signatures all.sig a.jsonl', 1, qr/name files of records or --signatures, not both$/);
fails('$N dedupe --signatures all.sig --best stars', 1, qr/--best is for records, not for --signatures$/);
fails("\$N pairs --signatures all.sig --$_", 1, qr/^neardup: --\w[\w-]+ is for texts, not for --signatures$/)
	for "scheme 'word 2'", 'minhash 256,1', 'simhash 64', 'shingles', 'lexicon a.jsonl', 'field body', 'id id', 'input csv', 'skip-errors', 'against b.sig --id id';
fails("\$N pairs --signatures $_", 2, qr/no file "nothing\*"|could not read "nothing"/) for 'nothing', '"nothing*"';
fails('$N pairs --signatures all.sig --against texts.csv --simhash 64', 1, qr/same kind/);

# ---- Characters ----

# All characters but U+0000, 1,000 a record, as they are and as escapes, of which half are pairs.
my @characters = grep { $_ < 0xD800 || $_ > 0xDFFF } 1 .. 0x10FFFF;
is(scalar @characters, 1112063, 'all characters');
my (@raw, @escaped, @copied);
while (my @some = splice @characters, 0, 1000)
{
	my $text = pack 'U*', @some;

	push @raw, qq({"text": ") . $text =~ s/([\x00-\x1F"\\])/sprintf '\u%04x', ord $1/ger . qq("}\n);
	push @escaped, qq({"text": ") . join('', map { sprintf $_ % 2 ? '\u%04x' : '\u%04X', $_ } map { $_ < 0x10000 ? $_ : (0xD7C0 + ($_ >> 10), 0xDC00 + ($_ & 0x3FF)) } @some) . qq("}\n);
	push @copied, $text =~ s/([\\\n\t\r])/{ "\\" => "\\\\", "\n" => "\\n", "\t" => "\\t", "\r" => "\\r" }->{$1}/ger;
}
# Perl's encoding would leave out what is no character, such as U+FFFF.
utf8::encode($_) for @raw, @copied;
bytes('raw.jsonl', join '', @raw);
bytes('escaped.jsonl', join '', @escaped);
$signed = run('$N sign --minhash 16,1 --scheme "anychar 1" --id text raw.jsonl');
same(join("\n", $signed =~ /^(.*)\t/mg), (join "\n", @copied), 'all characters are read');
same(run('$N sign --minhash 16,1 --scheme "anychar 1" --id text escaped.jsonl'), $signed, 'and all escapes');

# What the server refuses in json, too.
for my $text ('\ud800', '\uDFFF', 'a\ud83dx', '\ud83d\u0041', '\ud83d\ud83d', '\udc00\ud800', "\xED\xA0\x80", "caf\xE9", '\q', "a\tb", '\u12g4')
{
	bytes('wrong.jsonl', qq({"text": "a b c"}\n{"text": "$text"}\n));
	fails('$N sign wrong.jsonl', 2, qr/record 2 of "wrong.jsonl" cannot be read: (an escape is wrong, or half of a surrogate pair|it is not UTF-8|a control character is not escaped)$/);
	isnt($node->psql('postgres', qq(SELECT '{"text": "$text"}'::jsonb)), 0, 'the server refuses it, too') if $text !~ /[^\x00-\x7F]/;
	bytes('wrong.jsonl', qq({"text": "a b c", "$text": 1}\n));
	fails('$N sign wrong.jsonl', 2, qr/record 1 of "wrong.jsonl" cannot be read: /);
}
bytes('wrong.csv', "id,text\n1,caf\xE9\n");
fails('$N sign wrong.csv', 2, qr/record 1 of "wrong.csv" cannot be read: it is not UTF-8/);
fails('$N sign -i files wrong.csv', 2, qr/could not read "wrong.csv": it is not UTF-8/);
fails("echo '$_' | \$N sign", 2, qr/record 1 of "-" cannot be read: /)
	for '{"text":"a","x":NaN}', '{"text":NaN}', '{"x":-Infinity}', '{"x":[1,]}', '{"x":01}', '{"x":1.}', '{"x":.5}', '{"x":1e}', '{"x":+1}', '{"x":tru}', '{"x" 1}', '{x:1}', '{"x":[1 2]}', '{"x":[1}}', '{"x":{"y":1]}', '{"x":1}}',
	'{"text":"a" "x":1}', '{"text":"a"', '{"text":"a', '"a"', 'null', "{'x':1}", '{"x":1,}', '{"x":' . '[' x 2000 . ']' x 2000 . '}';
is(run(q(echo '{"x":[-0.5e+3,1E400,{"y":[true,false,null,[],{}]},123456789012345678901234567890],"id":18446744073709551616,"text":"a"}' | $N sign --id id | cut -f 1)), "18446744073709551616\n", 'numbers of any size');
is(run(q(printf '{"text":"a","id":%s}\n' null true 1.50 '{"$oid": [1, "x"]}' '"\u00e9"' | $N sign --id id | cut -f 1)), Encode::encode('UTF-8', qq(\ntrue\n1.50\n{"\$oid": [1, "x"]}\n\x{E9}\n)), 'ids of all kinds');

# What stands for two values, or would.
fails(q(echo '{"text": "a", "id": 1, "text": "b"}' | $N sign), 2, qr/record 1 of "-" cannot be read: it has the field of the text twice/);
fails(q(echo '{"text": "a", "id": 1, "i\u0064": 2}' | $N sign --id id), 2, qr/it has the field of the id twice/);
run(q(echo '{"text": "a", "x": 1, "x": 2}' | $N sign));
fails('printf "id,text,text\n1,a,b\n" >twice.csv; $N sign twice.csv', 2, qr/could not read "twice.csv": it has two columns "text"/);
fails(q(echo '{"text": "a", "signature": "b"}' | $N sign --format records), 2, qr/it has a field "signature" already/);
fails('printf "text\tsignature\na\tb\n" >signed.tsv; $N sign --format records signed.tsv', 2, qr/could not read "signed.tsv": it has a column "signature" already/);
fails(q(echo '{"text": "a", "id": "x\u0000y"}' | $N sign --id id), 2, qr/its id, or field of --best or --source, has a character U\+0000/);
fails('printf "id,text\nx\\000y,a\n" >zero.csv; $N sign --id id zero.csv', 2, qr/its id, or field of --best or --source, has a character U\+0000/);

# What a name says, and a pipe.
$signed = run('$N sign a.jsonl');
run("cp a.jsonl a.$_") for qw(jsonlines ndjson json txt);
run('gzip -k a.json; mkfifo pipe pipe.csv; cp a.jsonl plain');
is(run("\$N sign $_"), $signed, $_) for 'a.jsonlines', 'a.ndjson', 'a.json.gz', '/dev/stdin <a.jsonl', '-i jsonl plain';
is(run("gzip -c a.jsonl | \$N sign $_"), $signed, 'a pipe') for '/dev/stdin', '-', '';
is(run(q(bash -c 'neardup sign <(zcat a.json.gz)')), $signed, 'a pipe of the shell');
is(run('{ timeout 600 cat a.jsonl >pipe & } && $N sign pipe'), $signed, 'a pipe with a name');
is(run('{ timeout 600 cat texts.csv >pipe.csv & } && $N sign pipe.csv'), run('$N sign texts.csv'), 'a pipe whose name says CSV');
is(run('bash -c "neardup dedupe -t 0.4 --against <(cat a.jsonl) <(cat b.jsonl)"'), run('$N dedupe -t 0.4 --against a.jsonl b.jsonl'), 'two pipes');
is(run('$N sign /dev/null'), '', 'nothing');
fails("\$N sign $_", 1, qr/^neardup: the name of "(plain|a.txt)" does not tell its format: say --input jsonl, csv or tsv, or --input files if each file is a document$/) for 'plain', 'a.jsonl a.txt';
fails('$N dedupe --against plain a.jsonl', 1, qr/the name of "plain" does not tell/);
fails('$N dedupe --against nowhere.jsonl a.jsonl', 2, qr/could not read "nowhere.jsonl"/);
for my $line ('sign -i files --field body', 'sign -i files --id key', 'pairs --field text -i files', 'dedupe -i files --best stars', 'sign -i files --bigint --format copy-binary', 'sign -i files --format records')
{
	my ($option) = $line =~ /--(field|id|best|bigint|format records)/;

	fails("\$N $line a.txt", 1, qr/^neardup: --$option is for records, not for --input files$/);
}
fails("\$N compare $_ x.txt y.txt", 1, qr/is an option of .*, not of compare$/) for '--input files', '--field text', '--id id', '--shingles';
fails("\$N learn $_ a.jsonl", 1, qr/is an option of .*, not of learn$/) for '--id id', '--minhash 64', '--lexicon lexicon';

# What is not read says what converts it, whatever its name.
my %foreign = (
	"Parquet, which 'python3 -m neardup dedupe' takes" => "PAR1\x15\x04", Arrow => "ARROW1\0\0\xff\xff\xff\xff", 'an Arrow stream' => "\xff\xff\xff\xff\x10\x01", bzip2 => "BZh91AY&SY", xz => "\xfd7zXZ\0", lz4 => "\x04\x22\x4d\x18",
	zip => "PK\x03\x04", PDF => '%PDF-1.7', SQLite => "SQLite format 3\0", 'UTF-16' => "\xff\xfe{\0");
for my $name (sort keys %foreign)
{
	my $message = qr/^neardup: could not read "(\S+)": it is $name; convert it first: \S.* '\g1'$/;

	bytes($_, "$foreign{$name} and more of it, such as would be text") for 'foreign', 'foreign.jsonl';
	fails("\$N $_", 2, $message) for 'sign foreign', 'sign a.jsonl foreign.jsonl', 'sign -i files foreign', 'dedupe --against foreign a.jsonl', 'learn foreign.jsonl', 'compare x.txt foreign', 'dedupe <foreign', 'pairs -i csv /dev/stdin <foreign';
	fails('cat foreign | $N sign', 2, $message);
}
file('begins.txt', "PAR1 and BZh9 begin a text. PK\x{3}");
run('$N sign -i files begins.txt');
run('bzip2 -k a.txt && xz -k a.txt');
for my $ending ('bz2', 'xz')
{
	fails("\$N sign a.txt.$ending", 2, qr/could not read "a.txt.$ending": it is /);
	my ($line) = slurp("$FOLDER/error") =~ /convert it first: (.*)/;
	is(run("$line | \$N sign"), $signed, "$line converts it");
}

# Windows of zstd beyond 128 MiB.
bytes("$_.jsonl.zst", wide_frame(slurp("$FOLDER/$_.jsonl"))) for 'a', 'b';
is(run("\$N sign $_"), $signed, "a window of 2 GiB: $_") for 'a.jsonl.zst', '<a.jsonl.zst', '/dev/stdin <a.jsonl.zst', '-i jsonl a.jsonl.zst';
is(run('cat a.jsonl.zst b.jsonl.zst | $N sign'), run('cat a.jsonl b.jsonl | $N sign'), 'frames behind each other');
is(run('$N dedupe -t 0.4 --against a.jsonl.zst b.jsonl.zst'), run('$N dedupe -t 0.4 --against a.jsonl b.jsonl'), 'in --against');
is(run('$N sign -i files a.jsonl.zst | cut -f 2'), run('$N sign -i files a.jsonl | cut -f 2'), 'in --input files');
# A file that is cut anywhere is not read.
file('short.jsonl', qq({"text": "a b c"}\n));
run('gzip -c short.jsonl >short.jsonl.gz');
bytes('short.jsonl.zst', wide_frame(slurp("$FOLDER/short.jsonl")));
is(run("i=1; while test \$i -lt \$(wc -c <short.jsonl.$_); do head -c \$i short.jsonl.$_ >cut.jsonl.$_; \$N sign cut.jsonl.$_ 2>error && echo \$i; i=\$((i + 1)); done"), '', "$_, cut") for 'gz', 'zst';
fails('$N sign -m 50M a.jsonl.zst', 3, qr/--memory 50000000 does not suffice/);

# Records that are longer than what is read at once, with all that may stand in them.
my $long = join ' ', map { qq(word$_ "quoted ""twice"" $_",) . ($_ % 7 ? '' : "\r\n") } 1 .. 150000;
file('long.txt', $long);
my $long_json = json_string($long =~ s/\r/ /gr, 0);
file('long.jsonl', "\x{FEFF}{\"text\": \"a\"}\r\n\r\n", qq({"x": 1, "text": $long_json}\r\n), "\n", qq({"text": $long_json}));
file('long.csv', "\x{FEFF}id,text\r\n1,a\r\n", map { qq($_,") . $long =~ s/"/""/gr . qq("\r\n) } 2, 3);
my $signature = run('$N sign -i files long.txt | cut -f 2');
for my $name ('long.jsonl', 'long.csv')
{
	is(run("\$N sign $name | cut -f 2 | tail -n 2"), $signature x 2, "long records of $name");
	is(run("gzip -c $name | \$N sign -i " . $name =~ s/.*\.//r . ' | wc -l'), "3\n", 'compressed');
}

# A report stays as it was until there is another one.
bytes('old.tsv', "old\n" x 100000);
run("\$N dedupe --report old.tsv $_", 2) for 'nowhere.jsonl', 'wrong.csv', '--against nowhere.jsonl a.jsonl', '--against wrong.csv a.jsonl', '--id key a.jsonl', 'a.jsonl foreign.jsonl', '--lexicon nowhere a.jsonl', '- <wrong.csv';
run('$N dedupe --report old.tsv --minhash 3 a.jsonl', 1);
same(slurp("$FOLDER/old.tsv"), "old\n" x 100000, 'the report of before');
run('$N dedupe -t 0.4 --id id --report report texts.jsonl >kept; $N dedupe -t 0.4 --id id --report old.tsv texts.jsonl >kept; cmp old.tsv report');
run('{ timeout 600 $N dedupe -t 0.4 --id id --report pipe texts.jsonl >kept & } && cmp pipe report');
run('$N dedupe --report nowhere/report a.jsonl', 2);
fails("\$N dedupe --output made --report $_ a.jsonl", 1, qr/--report is the file of the output/) for 'made/a.jsonl', './made/../made/a.jsonl';
run('$N dedupe --output made --report made/report a.jsonl; ls made; rm -r made');
fails("\$N dedupe --$_ '' a.jsonl", 1, qr/--$_ names no f/) for 'report', 'output';
# Nor is there one of output that was not written.
run('$N dedupe -t 0.4 --id id --report new.tsv texts.jsonl >/dev/full', 2);
run('$N dedupe -t 0.4 --id id --report old.tsv b.jsonl >/dev/full', 2);
file('many.jsonl', map { qq({"text": "a$_ b$_ c$_ d$_ e$_"}) } 1 .. 5000);
run(q(bash -c "set -o pipefail; $N dedupe --report new.tsv many.jsonl | true || exit 9"), 9);
same(run('cmp old.tsv report; ls | grep -E "^(new|old|report)[.]"'), "old.tsv\n", 'the report of before, and no other');
# It keeps the mode of the file of before, and is written through a link.
is(run('umask 027; chmod 604 old.tsv; ln -s old.tsv link; $N dedupe -t 0.4 --id id --report link texts.jsonl >kept; $N dedupe -t 0.4 --id id --report new.tsv texts.jsonl >kept; '
	. 'cmp new.tsv report; cmp old.tsv report; stat -c "%a %F" old.tsv link new.tsv'), "604 regular file\n777 symbolic link\n640 regular file\n", 'modes');

# Memory is what --memory says, the parser's included; a process takes some for itself.
for my $memory (60, 200)
{
	PostgreSQL::Test::Utils::append_to_file("$FOLDER/most.py", "import resource, subprocess, sys\nprint(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000)\n") if $memory == 60;
	my ($code, $most) = split ' ', run("python3 most.py neardup sign -j 1 -m ${memory}M long.jsonl");

	is($code, $memory < 100 ? 3 : 0, "--memory ${memory}M");
	cmp_ok($most, '<', $memory + 15, 'megabytes are taken');
}

# It is said after some seconds if a family takes minutes: all of these are similar.
file('family.jsonl', map { '{"text": "' . join(' ', 1 .. 60, "own$_") . qq("}\n) } 1 .. 150000);
like(run('{ $N pairs -s "word 1" -j 1 family.jsonl >/dev/null 2>said & }; while kill -0 $! && ! grep minutes said; do sleep 0.1; done; kill $!; wait || true'),
	qr/^neardup: about 1\d{5} values have to be compared with each other, which takes about \d+ minutes; --common, --lexicon or a higher --threshold takes less$/, 'a family');

# ---- What the options are ----

my $help = run('$N --help');
my ($page) = run('cat "$(dirname "$(command -v $N)")/neardup.1"') =~ s/\\-/-/gr =~ /^\.SH OPTIONS\n(.*?)^\.SH/ms;

same(run('$N dedupe --help'), $help, 'help after a command');
like(run('$N sign -V'), qr/^neardup \d/, 'the version after a command');

# Whatever the help names works, the letter as the name, and in no other command than those that it names.
my @wrong;

while ($help =~ /^ +(?:(-\w), +)?(--[a-z-]+) .*\n +((?:[a-z]+(?:, | and |(?=:)))*)/mg)
{
	my ($names, $only) = (join(' ', grep { defined } $1, $2), $3);
	my @got = split /\n/, run("for o in $names; do for c in sign pairs clusters dedupe learn keepers compare; do echo \$c \$o \$(\$N \$c \$o wrong --jobs 0 2>&1 </dev/null); done; done");

	for (@got)
	{
		my ($command) = /^(\w+)/;

		next if $names =~ /help|version/;
		push @wrong, $_ if /is no option/ || (/is an option of/ xor $only ne '' && $only !~ /\b$command\b/);
	}
}
is_deeply(\@wrong, [], 'each command has the options that the help names, and the letters');

# The numbers that these three name are those that the command takes.
for my $option ([ 'sign', 'minhash' ], [ 'pairs', 'threshold' ], [ 'learn', 'entries' ], [ 'learn', 'share' ])
{
	my ($command, $name) = @$option;
	my ($default) = $help =~ /--$name .*\n.*default: ([\d.,]+)$/m;

	same(run("\$N $command --$name $default texts.jsonl"), run("\$N $command texts.jsonl"), "--$name is $default");
	like($page, qr/--$name ".*\n.*\(\Q$default\E\)$/m, 'in the man page');
	like(slurp("$ENV{TESTDIR}/doc/reference/command.md"), qr/--$name\b[^|]*\(.*\Q$default\E/, 'and in the reference');
}

$node->stop;
done_testing();
