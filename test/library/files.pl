# The command's files: separators, nested fields, lists of names, records left out, shards, and lines.
use strict;
use warnings;
use utf8;

use Encode ();
use File::Temp ();
use JSON::PP ();
use PostgreSQL::Test::Utils ();
use Test::More;

my $FOLDER = File::Temp::tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;

# Writes bytes to a file of the folder.
sub file
{
	my ($name, @bytes) = @_;

	open my $file, '>:raw', "$FOLDER/$name" or die $!;
	print $file @bytes;
	close $file or die $!;
}

sub slurp { return PostgreSQL::Test::Utils::slurp_file("$FOLDER/" . shift) }

sub slurp_page { return PostgreSQL::Test::Utils::slurp_file("$ENV{TESTDIR}/doc/" . shift) }

# Runs a line of a shell; $N is the command.  Returns what it prints.
sub run
{
	my ($line, $expected) = @_;
	my $out = `cd $FOLDER && N=neardup && { $line
} 2>$FOLDER/error`;

	is($? >> 8, $expected // 0, $line) or diag(slurp('error'));
	return $out;
}

# Runs a line that fails, and checks the message.
sub fails
{
	my ($line, $code, $message) = @_;

	run($line, $code);
	like(slurp('error'), $message, "the message of $line");
}

# Returns id and number of shingles of what sign writes.
sub counts { return join ' ', map { m{^(.*)\t1/word 1/512x1/(\d+)/} ? "$1:$2" : $_ } split /\n/, shift }

# ---- Separators ----

file('s.csv', qq(id;text;x,y\n1;a, b c;\n2;"d; ""e""\ng";,\n));
is(counts(run(q($N sign -s 'word 1' --separator ';' --id id s.csv))), '1:3 2:3', '; between columns');
is(run(q($N sign -s 'word 1' --separator ';' --format records s.csv | sed 's/"1.word.*"/S/')), qq(id;text;x,y;signature\n1;a, b c;;S\n2;"d; ""e""\ng";,;S\n), 'records keep it');
is(run(q($N dedupe --separator ';' s.csv)), slurp('s.csv'), 'in both readings');
file('s.tsv', "id/text\n1/a\\/b\tc\n2/\\N\n");
is(counts(run(q($N sign -s 'word 1' --separator / --id id s.tsv))), '1:3 2:0', 'in TSV');
my $escaped = run(q($N sign -s 'word 1' --separator / --format records s.tsv));
file('e.tsv', $escaped);
is(counts(run(q($N sign -s 'word 1' --separator / --id signature -i tsv e.tsv | sed 's/\t.*//'))), counts(run(q($N sign -s 'word 1' --separator / -i tsv s.tsv | cut -f 2))), 'a signature has it escaped');
fails("\$N sign --separator '$_' s.csv", 1, qr/^neardup: --separator cannot be "\Q$_\E": it is one ASCII character, such as ';'/) for '', 'ab', 'a', '0', '"', '\\', '.';
fails(q($N sign --separator ';' <s.csv), 1, qr/^neardup: --separator is for csv and tsv: name the format with --input$/);
fails(q($N sign -i files --separator ';' s.csv), 1, qr/--separator is for records/);
is(counts(run(q($N sign -s 'word 1' -i csv --separator ';' --id id <s.csv))), '1:3 2:3', 'of standard input');

# ---- Nested fields ----

# What a record gives for a field: the number of words of its text, or a message.
for my $case (
	[ 'data.text', '{"data": {"text": "a b c"}}', 3 ], [ 'data.text', '{"data": {"text": "a b c"}, "data.text": "own"}', 1 ], [ 'data.text', '{"data.text": "own", "data": {"text": "a b c"}}', 1 ],
	[ 'data.text', '{"data": {"text": ["a b"]}, "data.text": null}', 0 ], [ 'data.text', '{"data": "a b", "x": {"data": {"text": "a b"}}}', 0 ], [ 'a.b.c', '{"a": {"b": {"c": "a b", "d": "x"}, "c": "y"}, "c": "z"}', 2 ],
	[ 'a.b.c', '{"a.b": {"c": "a b"}}', 2 ], [ 'messages[].content', '{"messages": [{"role": "user", "content": "a b"}, {"content": null}, {}, 5, {"content": "c", "role": "x"}]}', 3 ],
	[ 'messages[].content', '{"messages": {"content": "a b"}}', 0 ], [ 'messages[].content[].text', '{"messages": [{"content": [{"text": "a"}, {"text": "b"}]}, {"content": [{"text": "c"}]}, {"content": "d"}]}', 3 ],
	[ 'lines[]', '{"lines": ["a b", "c", 7, ["d"]]}', 3 ], [ 'lines[][]', '{"lines": [["a b"], ["c"], "d"]}', 3 ], [ '', '{"": "a"}', 1 ], [ 'x[]', '{"x[]": "own name", "x": ["a b c"]}', 2 ],
	[ 'a.b', '{"a": {"b": "x", "b": "y"}}', 'twice' ], [ 'a.b', '{"a": {"b": 1}, "a": {"b": "y"}}', 'twice' ], [ 'a[].b', '{"a": [{"b": "x", "b": "y"}]}', 'twice' ], [ 'a.b', '{"a.b": "x", "a.b": "y", "a": {"b": "z"}}', 'twice' ])
{
	my ($field, $record, $expected) = @$case;

	file('n.jsonl', qq({"$field": "one"}\n$record\n));
	if ($expected eq 'twice')
	{
		fails("\$N sign --field '$field' n.jsonl", 2, qr/record 2 of "n.jsonl" cannot be read: it has the field of the text twice$/);
		next;
	}
	is(counts(run("\$N sign -s 'word 1' --field '$field' n.jsonl")), "1:1 2:$expected", "$field of $record");
}
file('n.jsonl', map { qq({"meta": {"id": "$_->[0]", "stars": $_->[1]}, "parts": ["a b", "c d e"]}\n) } [ 'x', 1 ], [ 'y', 3 ], [ 'z', 2 ]);
is(run(q($N dedupe --field 'parts[]' --id meta.id --best meta.stars --report r n.jsonl; cut -f 1,2 r)), qq({"meta": {"id": "y", "stars": 3}, "parts": ["a b", "c d e"]}\nx\ty\nz\ty\n), 'a nested id and order');
is(run(q($N sign --field 'parts[]' n.jsonl | head -1)), run('printf "a b\nc d e" >t.txt; $N sign -i files t.txt | sed "s/^t.txt/1/"'), 'texts are joined by a line end');
fails(q($N sign --field 'parts[]' --id 'parts[]' n.jsonl), 2, qr/it has the field of the id twice/);
fails(q($N sign --field parts n.jsonl), 2, qr/no record of "n.jsonl" has a text in the field "parts"/);
fails(q($N sign --field parts.x n.jsonl), 2, qr/no record of "n.jsonl" has a text in the field "parts.x"/);
file('dots.csv', "data.text,id\na b,1\n");
is(counts(run(q($N sign -s 'word 1' --field data.text dots.csv))), '1:2', 'the name of a column');
fails(q($N sign --field data.body dots.csv), 2, qr/could not read "dots.csv": it has no column "data.body"$/);

# ---- Lists of names ----

file("$_.jsonl", qq({"text": "text of @{[ /(.)$/ ]}"}\n)) for 'a', 'b', "c\nd";
my $both = run('$N sign a.jsonl b.jsonl');
is(run("printf '$_' | \$N sign --files-from -"), $both, "a list: $_") for 'a.jsonl\nb.jsonl\n', '\n\na.jsonl\n\nb.jsonl', 'a.jsonl\0b.jsonl\0', 'a.jsonl\0b.jsonl';
is(run('echo b.jsonl >list; $N sign --files-from list a.jsonl'), $both, 'behind the arguments');
is(run('printf "\357\273\277a.jsonl\nb.jsonl\n" >list; $N sign --files-from list'), $both, 'a byte order mark is no part of a name');
is(counts(run(q(printf 'c\nd.jsonl\0a.jsonl' | $N sign -s "word 1" --files-from -))), '1:3 2:3', 'a name with a line end');
is(run('(echo a.jsonl; echo -) >list; $N dedupe --files-from list <b.jsonl'), slurp('a.jsonl') . slurp('b.jsonl'), 'standard input in a list');
fails('printf "\n" | $N sign --files-from -', 2, qr/^neardup: "-" names no file$/);
fails('$N sign --files-from nowhere', 2, qr/could not read "nowhere"/);
fails('echo - | $N sign --files-from -', 1, qr/standard input would be read twice/);
fails('echo nowhere.jsonl | $N dedupe --files-from -', 2, qr/could not read "nowhere.jsonl": No such file/);

# ---- Files with several names ----

# A folder with a real file, links to it and to its folder, and another text.
sub make_links
{
	run('rm -rf links; mkdir -p links/real links/view; cd links; echo "one two three four five six" >real/doc.txt; echo "another text of some words" >other.txt; ln -s ../real/doc.txt view/soft.txt; ln real/doc.txt view/hard.txt; ln -s real linked');
}
make_links();
my @names = ('view/soft.txt', 'real/doc.txt', 'view/hard.txt', 'linked/doc.txt', './real/doc.txt', 'view/soft.txt');
my $left_out = qr/\Aneardup: names that are left out, since another is of the same file: 5\n  "real\/doc.txt" is "view\/soft.txt"\n  "view\/hard.txt" is "view\/soft.txt"\n  "linked\/doc.txt" is "view\/soft.txt"\n  …\n\z/;
is(run("cd links; \$N dedupe --input files --report ../r @names other.txt; cat ../r"), "view/soft.txt\nother.txt\n", 'a file is no duplicate of its own');
like(Encode::decode('UTF-8', slurp('error')), $left_out, 'and the message names it');
is(run("cd links; printf '%s\\n' @names other.txt | \$N dedupe -i files --files-from -"), "view/soft.txt\nother.txt\n", 'names in a list');
is(run("cd links; \$N $_ -i files @names other.txt"), run("cd links; \$N $_ -i files view/soft.txt other.txt"), $_) for 'sign', 'pairs -t 0.01', 'clusters -t 0.01', 'learn --entries 5', 'dedupe --decide signatures';
is(run("cd links; \$N $_ -i files --against view/hard.txt real/doc.txt other.txt"), run("cd links; \$N $_ -i files --against view/hard.txt other.txt"), "$_ with a file of both sides") for 'dedupe', 'pairs -t 0.01';
is(run('cd links; $N dedupe -i files --against "vie*/hard.txt" real/doc.txt other.txt'), "other.txt\n", 'in a pattern');
fails('cd links; $N dedupe -i files --against view/hard.txt real/doc.txt linked/doc.txt', 1, qr/all files are those of --against: nothing would stay$/);
is(run('cd links; $N compare real/doc.txt linked/doc.txt | head -1'), "resemblance\t1\n", 'two names are compared');
file('links/a.jsonl', map { qq({"id": $_, "text": "words that all have and the number $_ alone"}\n) } 1 .. 3);
run('cd links; ln a.jsonl view/a.jsonl; ln -s ../a.jsonl real/b.jsonl; head -1 a.jsonl >c.jsonl');
is(run('cd links; $N dedupe --output ../once a.jsonl view/a.jsonl real/b.jsonl c.jsonl; ls ../once; cat ../once/*.jsonl'), "a.jsonl\nc.jsonl\n" . slurp('links/a.jsonl'), 'one result for it in a folder');
is(run("cd links; \$N $_"), slurp('links/a.jsonl'), $_) for 'dedupe a.jsonl view/a.jsonl', 'dedupe a.jsonl - <view/a.jsonl', 'dedupe --unit line --min-words 1 a.jsonl view/a.jsonl';
is(run('cd links; $N sign --id id a.jsonl real/b.jsonl c.jsonl | cut -f 1 | paste -sd " "'), "1 2 3 1\n", 'later records keep their numbers');
is(run('cd links; $N dedupe --unit line --min-words 1 --against "view/?.jsonl" a.jsonl c.jsonl'), '', 'lines of --against, by a pattern');
run('cd links; $N sign --id id --format copy-binary a.jsonl >1.sig; ln -s 1.sig 2.sig');
is(run('cd links; $N clusters -t 0.1 --signatures "?.sig" | cut -f 1 | paste -sd " "'), "1 2 3\n", 'signatures');
is(run('cd links; $N pairs -t 0.1 --signatures 1.sig >p; $N keepers --signatures "?.sig" p p | cut -f 1 | paste -sd " "'), "1 2 3\n", 'ids of keepers');

# What the report lists can be removed or linked, whatever the names are.
my @odd = ("a b", "a\nb", "-n", "\xC3\xA9'\"", 'c\\d', "x\ty\n");
run('rm -rf odd; mkdir odd');
file("odd/$_->[0]", $_->[1]) for [ 'keeper', "one two three four five\n" ], [ 'near', "One, two three four five\n" ], map { [ $_, "one two three four five\n" ] } @odd;
file('names', map { "$_\0" } reverse('keeper', 'near', @odd));
is(run('cd odd; $N dedupe --input files --null --files-from ../names --report ../pairs'), "x\ty\n\0", 'names with a zero byte behind each');
is(slurp('pairs'), join('', map { "$_\0x\ty\n\0" } reverse('keeper', 'near', @odd[ 0 .. 4 ])), 'pairs of names') or diag(slurp('pairs'));
my ($link) = slurp_page('how-to/training-data.md') =~ /^(xargs -0 .*)$/m;
run("cd odd; $link" =~ s/<\S+$/<..\/pairs/r);
is(run('cd odd; find . -type f -printf "%n\n" | sort | uniq -c | tr -s " "; cat near'), " 1 1\n 7 7\nOne, two three four five\n", 'equal files are linked, and only these');
fails('$N dedupe --null a.jsonl', 1, qr/--null is for --input files$/);

# ---- Blank lines, carriage returns and byte order marks ----

# Only JSONL skips blank lines: one of CSV or TSV is a record, whose first field is empty.
for my $end ("\n", "\r\n")
{
	for my $format ('csv', 'tsv')
	{
		my $rows = join $end, 'text', 'a b c', '', 'd e f', '', '', 'a b c', 'g h i', '';

		file("one.$format", $rows);
		is(counts(run("\$N sign -s 'word 1' one.$format")), '1:3 2:0 3:3 4:0 5:0 6:3 7:3', "empty texts of $format");
		is(run("\$N dedupe --report r one.$format; cut -f 1,2 r"), join($end, 'text', 'a b c', '', 'd e f', '', '', 'g h i', '') . "6\t1\n", 'stay');
		is(run("\$N dedupe --unit line --min-words 1 one.$format"), join($end, 'text', 'a b c', '', 'd e f', '', '', 'g h i', ''), 'with --unit line');
		file("two.$format", $rows =~ s/text/"text" . ($format eq 'csv' ? ',' : "\t") . 'id'/er);
		is(counts(run("\$N sign -s 'word 1' two.$format")), '1:3 2:0 3:3 4:0 5:0 6:3 7:3', 'of several columns');
	}
	my $one = '{"text": "a b"}';
	file('blank.jsonl', join $end, $one, '', " \t", "\r \r", "\r$one", "\t\r $one \r", '');
	is(counts(run(q($N sign -s 'word 1' blank.jsonl))), '1:2 2:2 3:2', 'JSONL');
	is(run('$N dedupe blank.jsonl'), "$one$end", 'one of them stays');
	is(run("\$N sign --format records blank.jsonl | sed 's/1.word.*\"/S/'"), qq({"text": "a b","signature":"S}\n) . qq(\r{"text": "a b","signature":"S}\n) . qq(\t\r {"text": "a b","signature":"S}\n), 'with signatures');
}
is(counts(run('printf "text\n\n" | $N sign -s "word 1" -i tsv --format records | tail -n 1 | sed "s/^\t/1\t/"')), '1:0', 'a signature behind an empty row');

# A byte order mark that came in goes out, before anything else, and not between files.
my $bom = "\xEF\xBB\xBF";
my $good_line = qq({"text": "a b c"}\n);
file('bom.jsonl', $bom . $good_line);
file('mark.jsonl', $bom);
file('bom.csv', "${bom}text\na b c\nd e f\n");
file('plain.csv', "text\na b c\ng h i\n");
file('empty.csv', '');
is(run("\$N $_->[0] | sed 's/1.word.*/S/'"), $bom . $_->[1], "$_->[0] keeps the mark")
	for [ 'dedupe bom.jsonl', $good_line ], [ 'dedupe <bom.jsonl', $good_line ], [ 'dedupe --unit line bom.jsonl', $good_line ], [ 'dedupe mark.jsonl bom.jsonl', $good_line ], [ 'dedupe --unit passage mark.jsonl bom.jsonl', $good_line ], [ 'sign --format records bom.jsonl', qq({"text": "a b c","signature":"S\n) ], [ 'dedupe --against plain.csv bom.csv', "text\nd e f\n" ],
	[ 'sign --format records bom.csv', qq(text,signature\na b c,"S\nd e f,"S\n) ], [ 'dedupe bom.csv plain.csv', "text\na b c\nd e f\ng h i\n" ], [ 'dedupe empty.csv bom.csv', "text\na b c\nd e f\n" ];
is(run('$N dedupe plain.csv bom.csv'), "text\na b c\ng h i\nd e f\n", 'but not behind other records');
is(run('rm -rf marked; gzip -k bom.csv; $N dedupe --output marked plain.csv bom.csv.gz; cat marked/plain.csv; gzip -dc marked/bom.csv.gz'), "text\na b c\ng h i\n${bom}text\nd e f\n", 'in a file of its own');
is(run('cp bom.csv bom.txt; $N dedupe -i files bom.txt'), "bom.txt\n", 'nor before names');

# ---- Records left out ----

my @bad = ('{"text": "a', '[1]', '{"text": "b", "text": "c"}', "{\"text\": \"caf\xE9\"}", '5');
my @good = map { qq({"text": "text number $_ of some", "id": $_}) } 1 .. 9;
my @mixed = map { $_ % 2 ? $good[ $_ / 2 ] : ($bad[ $_ / 2 ] // $good[ $_ / 2 + 1 ]) } 0 .. 15, 17;
file('mixed.jsonl', map { "$_\n" } @mixed);
file('good.jsonl', map { "$_\n" } grep { my $x = $_; !grep { $_ eq $x } @bad } @mixed);
my $message = qr/\Aneardup: records that are left out, since they cannot be read: 5\n  record 1 of "mixed.jsonl" cannot be read: [^\n]+\n  record 3 [^\n]+\n  record 5 [^\n]+\n  …\n\z/;
is(run('$N dedupe --skip-errors mixed.jsonl'), run('$N dedupe good.jsonl'), 'dedupe leaves them out of both readings');
like(Encode::decode('UTF-8', run('{ $N dedupe --skip-errors mixed.jsonl 2>&1 >kept; }')), $message, 'and says so once');
is(run("\$N $_ --id id --skip-errors mixed.jsonl"), run("\$N $_ --id id good.jsonl"), $_) for 'sign', 'pairs -t .1', 'clusters -t .1', 'sign --format records', 'sign --bigint --format copy-binary', 'pairs --shingles';
is(run('$N learn --skip-errors mixed.jsonl'), run('$N learn good.jsonl'), 'learn');
is(run('$N dedupe --skip-errors --against mixed.jsonl good.jsonl'), '', 'in --against');
is(run('cat mixed.jsonl | $N dedupe --skip-errors -j 4 --report r 2>/dev/null; cut -f 1 r'), run('$N dedupe good.jsonl') . "14\n16\n17\n", 'records keep their numbers');
is(run('$N sign --skip-errors good.jsonl 2>&1 >signed'), '', 'nothing to say');
fails('$N dedupe mixed.jsonl', 2, qr/^neardup: record 1 of "mixed.jsonl" cannot be read: a string does not end on its line$/);
fails('printf "1\n2\n" | $N dedupe --skip-errors', 2, qr/be read: 2\n.*no record of "-" has a text/s);
file('ids.jsonl', qq({"id": "x", "text": "a"}\n{"id": 7, "text": "b"}\n));
is(length run('$N sign --id id --bigint --format copy-binary --skip-errors ids.jsonl'), length run('tail -n 1 ids.jsonl | $N sign --id id --bigint --format copy-binary'), 'an id that is no number');
fails('printf "id,text\n1,\"a\n2,b\n" | $N sign -i csv', 2, qr/record 1 of "-" cannot be read: a quote is not closed/);
file('latin.txt', "caf\xE9");
file('utf8.txt', 'coffee');
is(run('$N dedupe -i files --skip-errors latin.txt utf8.txt'), "utf8.txt\n", 'files');
like(slurp('error'), qr/^neardup: records that are left out, since they cannot be read: 1\n  could not read "latin.txt": it is not UTF-8/, 'their names');

# ---- Dropping all ----

file('d.jsonl', map { qq({"id": $_->[0], "text": "$_->[1]"}\n) } [ 1, 'a b c d' ], [ 2, 'e f g h' ], [ 3, 'A b c d' ], [ 4, '' ], [ 5, '' ], [ 6, 'a b c d!' ], [ 7, 'x y z' ]);
is(join(' ', run('$N dedupe --drop all --id id --report r d.jsonl') =~ /"id": (\d)/g), '2 4 5 7', 'of a cluster none stays');
is(slurp('r') =~ s/duplicate\K.*//gr, "1\t1\t1\tduplicate\n3\t1\t1\tduplicate\n6\t1\t1\tduplicate\n", 'the report has all of it');
is(run('$N dedupe --drop others d.jsonl'), run('$N dedupe d.jsonl'), 'the others are the default');
is(join(' ', run('grep 6 d.jsonl >q.jsonl; (cat d.jsonl; grep 7 d.jsonl) | $N dedupe --drop all --against q.jsonl') =~ /"id": (\d)/g), '2 4 5', 'with --against');

# ---- Shards ----

mkdir "$FOLDER/in";
file("in/$_->[0].jsonl", map { qq({"text": "text number $_ of some", "n": $_}\n) } @{ $_->[1] }) for [ 'x', [ 1 .. 50 ] ], [ 'y', [ 40 .. 60 ] ], [ 'z', [ 1 .. 10 ] ];
file('in/empty.jsonl', '');
my @shards = qw(x.jsonl y.jsonl.gz z.jsonl empty.jsonl);
run('gzip in/y.jsonl');
my $zstd = `zstd --version 2>/dev/null` ne '';
if ($zstd)
{
	run('zstd -q --rm in/z.jsonl');
	$shards[2] = 'z.jsonl.zst';
}
my $in = join ' ', map { "in/$_" } @shards;
my $kept = run("\$N dedupe $in");
my %unpack = (gz => 'gzip -dc', zst => 'zstd -dc', jsonl => 'cat');
sub unpacked { return run(join '; ', map { /([^.]*)$/; "$unpack{$1} $_[0]/$_" } @shards) }
is(run("\$N dedupe --output out $in"), '', 'nothing goes to standard output');
is(run('ls -A out'), run('ls in'), 'a file for each');
is(unpacked('out'), $kept, 'which have what stays');
is(run("\$N dedupe out/*"), $kept, 'and can be read') if $zstd;
is(run('cat out/x.jsonl'), slurp('in/x.jsonl'), 'the first as it was');
run("\$N sign --format records --output shards $in");
is(unpacked('shards'), run("\$N sign --format records $in"), 'sign --format records');
file('p.csv', "text,n\r\na b c,1\r\n");
file('q.csv', "text,n\na b c,2\nd e f,3\n");
run('$N dedupe --output columns p.csv q.csv');
is(slurp('columns/p.csv') . slurp('columns/q.csv'), "text,n\r\na b c,1\r\ntext,n\nd e f,3\n", 'each file has the names of columns');
is(run('mkdir all.csv; $N dedupe --output all.csv p.csv; ls all.csv'), "p.csv\n", 'a folder named like a file');
run('ls -A >before');
fails("\$N dedupe --output $_->[0]", $_->[1], $_->[2]) for [ "out $in", 1, qr{"out/empty.jsonl" exists: remove it, or name another folder with --output} ], [ 'in in/x.jsonl', 1, qr{"in/x.jsonl" exists} ],
	[ 'new in/x.jsonl out/x.jsonl', 1, qr/would be one file in --output$/ ], [ 'new <in/x.jsonl', 1, qr/"-" has no name for a file in --output/ ], [ 'new -i files in/x.jsonl', 1, qr/--output is for records, not for --input files/ ],
	[ 'new in/x.jsonl mixed.jsonl', 2, qr/record \d+ of "mixed.jsonl"/ ], [ 'new.jsonl.gz in/x.jsonl', 1, qr/--output is a folder: for one file, write >"new.jsonl.gz"/ ],
	[ 'nowhere/new in/x.jsonl', 2, qr{could not write to "nowhere/new": No such file or directory} ], [ 'a.jsonl in/x.jsonl', 2, qr{could not write to "a.jsonl"} ];
fails('$N sign --output new in/x.jsonl', 1, qr/--output is for sign --format records/);
fails('$N sign --format records --output new in/x.jsonl mixed.jsonl', 2, qr/record \d+ of "mixed.jsonl"/);
run('mkfifo held; timeout 600 $N dedupe --output new --against held in/x.jsonl >ended & until test -d new; do sleep 0.1; done; kill $!; wait $!', 143);
is(run('rm held ended; ls -A'), slurp('before'), 'what does not end well leaves no files');

# ---- Files left out ----

# What cannot be read is left out and told, be it a record, a file, or the end of one.
my @lines = map { my $i = $_; qq({"id": $i, "text": ") . join(' ', map { "w" . ($i * 20 + $_) } 1 .. 20) . qq("}\n) } 1 .. 5000;
my $eight = join '', @lines[ 0 .. 7 ];
file('s1.jsonl', @lines[ 0 .. 2 ]);
file('s3.jsonl', @lines[ 3 .. 7 ]);
run('mkdir folder.jsonl folder; cp s1.jsonl wrong.jsonl.gz; printf "%%PDF-1.4\n" >pdf.jsonl; iconv -f UTF-8 -t UTF-16 s1.jsonl >wide.jsonl; iconv -f UTF-8 -t UTF-16LE s1.jsonl >wide2.jsonl; gzip -kc wide2.jsonl >wide3.jsonl.gz');
for my $case (
	[ 'nowhere.jsonl', 'No such file or directory' ], [ 'folder.jsonl', 'Is a directory' ], [ 'folder', 'Is a directory' ], [ 'wrong.jsonl.gz', 'it is not compressed' ], [ 'pdf.jsonl', "it is PDF; convert it first: pdftotext 'pdf.jsonl'" ],
	[ 'wide.jsonl', "it is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 'wide.jsonl'" ], [ 'wide2.jsonl', "it is UTF-16LE; convert it first: cat 'wide2.jsonl' | iconv -f UTF-16LE -t UTF-8" ],
	[ 'wide3.jsonl.gz', "it is UTF-16LE; convert it first: gzip -dc 'wide3.jsonl.gz' | iconv -f UTF-16LE -t UTF-8" ])
{
	my ($name, $why) = @$case;

	for my $command ('dedupe -j 3', 'dedupe --unit line', 'sign --id id', 'pairs', 'learn', 'dedupe --shingles')
	{
		is(run("\$N $command --skip-errors s1.jsonl $name s3.jsonl"), run("\$N $command s1.jsonl s3.jsonl"), "$command without $name");
		run("\$N $command --skip-errors s1.jsonl $name s3.jsonl");
		like(slurp('error'), qr/^neardup: files that are left out from where they cannot be read: 1\n  could not read "\Q$name": $why\E$/m, 'is told');
	}
	fails("\$N dedupe s1.jsonl $name", 2, qr/^neardup: could not read "\Q$name": $why\E$/);
	fails("\$N dedupe --skip-errors $name", 2, qr/could not read "\Q$name": $why\E\n.*nothing can be read$/s);
	fails("\$N dedupe --skip-errors --against $name s1.jsonl", 2, qr/nothing can be read$/) if $name ne 'folder';
	is(run("\$N dedupe --skip-errors -i files s1.jsonl $name s3.jsonl 2>&1"), qq(neardup: records that are left out, since they cannot be read: 1\n  could not read "$name": $why\ns1.jsonl\ns3.jsonl\n), "$name as a document") if $name !~ /folder$/;
}
fails("\$N compare s1.jsonl wide2.jsonl", 2, qr/it is UTF-16LE/);
is(run('rm -rf out5; $N dedupe --skip-errors --output out5 s1.jsonl nowhere.jsonl s3.jsonl; cat out5/s1.jsonl out5/s3.jsonl; ls -A out5'), $eight . "s1.jsonl\ns3.jsonl\n", 'each file keeps its own, and one that cannot be read leaves none');
is(run('rm -rf out5; $N sign --skip-errors --format records --output out5 wide.jsonl s1.jsonl pdf.jsonl wrong.jsonl.gz; ls -A out5'), "s1.jsonl\n", 'nor does one of another format');
is(run('rm -rf out5; : >void.jsonl; head -c 20 s1.jsonl | gzip | head -c 25 >torn.jsonl.gz; $N dedupe --skip-errors --unit line --output out5 torn.jsonl.gz s1.jsonl void.jsonl; ls -A out5'), "s1.jsonl\nvoid.jsonl\n", 'nor one of which no record can be read; one without records stays');
run('mkdir -p old; printf "text\na b\n" >some.csv');
is(run('$N dedupe --skip-errors old some.csv'), "text\na b\n", 'a folder says no format');

# A shard that is cut counts up to where it can be read.
file('cut.jsonl', @lines);
for my $pack ('gzip', $zstd ? 'zstd -q' : ())
{
	run("$pack -c cut.jsonl >whole; head -c \$((\$(wc -c <whole) / 2)) whole >cut.jsonl.x");
	my $name = $pack eq 'gzip' ? 'cut.jsonl.gz' : 'cut.jsonl.zst';
	run("mv cut.jsonl.x $name");
	fails("\$N dedupe $name", 2, qr/could not read "$name": its end is missing$/);
	for my $command ('dedupe --id id --report r', 'dedupe -j 1 -m 20M', 'dedupe --unit line --min-words 1', 'sign --format records', 'dedupe --decide signatures')
	{
		my $got = run("\$N $command --skip-errors $name s3.jsonl");
		my ($place, $count) = slurp('error') =~ /\Aneardup: files that are left out from where they cannot be read: 1\n  could not read "$name" from byte (\d+) on, behind its record (\d+): its end is missing$/m;

		ok(defined $place, 'its end is told') or diag(slurp('error')), next;
		cmp_ok($count, '>', 1000, 'many records are read');
		is($place, length join('', @lines[ 0 .. $count - 1 ]), 'up to here');
		is($got =~ s/,"signature":"[^"]*"//gr, join('', @lines[ 0 .. $count - 1 ]) . ($command =~ /sign / ? join '', @lines[ 3 .. 7 ] : ''), "$command has what was read of $name");
	}
	is(run("\$N sign -i files --skip-errors $name s1.jsonl | cut -f 1"), "s1.jsonl\n", 'a document that is cut is left out whole');
}
run(q(python3 -c "import gzip; d = bytearray(gzip.compress(open('cut.jsonl', 'rb').read())); d[len(d) // 2] ^= 1; open('bad.jsonl.gz', 'wb').write(d)"));
is(run('$N dedupe --skip-errors bad.jsonl.gz s3.jsonl'), slurp('s3.jsonl'), 'a byte that is wrong may be noticed late');
like(slurp('error'), qr/: 1\n  could not read "bad.jsonl.gz": /, 'so all of the file is left out');
is(run('$N dedupe --skip-errors - s3.jsonl <bad.jsonl.gz'), slurp('s3.jsonl'), 'as standard input');
is(run('cat bad.jsonl.gz | $N dedupe --skip-errors - s3.jsonl'), slurp('s3.jsonl'), 'as a pipe, which is copied');
fails('cat bad.jsonl.gz | $N sign --skip-errors', 2, qr/could not read "-": /);
is(run('$N dedupe --skip-errors -i files bad.jsonl.gz s3.jsonl'), "s3.jsonl\n", 'a document that is damaged is left out');
file('cut.csv', "text,id\na b,1\n\"c\nd\",2\n\"e, 3\nf,4\n");
is(run('$N dedupe --skip-errors cut.csv some.csv 2>&1'), qq(neardup: files that are left out from where they cannot be read: 2\n  could not read "cut.csv" from byte 22 on, behind its record 2: a quote is not closed\n  could not read "some.csv": it has other columns than the files before it\ntext,id\na b,1\n"c\nd",2\n), 'other columns');
is(run('$N sign -s "word 1" --skip-errors cut.csv some.csv | cut -d / -f 1-4'), "1\t1/word 1/512x1/2\n2\t1/word 1/512x1/2\n3\t1/word 1/512x1/2\n", 'a quote that is not closed ends its file');
is(slurp('error'), qq(neardup: files that are left out from where they cannot be read: 1\n  could not read "cut.csv" from byte 22 on, behind its record 2: a quote is not closed\n), 'and says where');
run("rm -f in; head -2 s1.jsonl >few.jsonl; ln -s nowhere dangling.jsonl");
is(run('$N dedupe --skip-errors dangling.jsonl few.jsonl'), join('', @lines[ 0, 1 ]), 'a link to nowhere');
fails('$N dedupe --skip-errors --lexicon nowhere s1.jsonl', 2, qr/could not read "nowhere"/);
fails('$N dedupe --skip-errors --files-from nowhere', 2, qr/could not read "nowhere"/);
# A file that comes, or comes back, between the readings.
fails('rm -f held new.jsonl; mkfifo held; timeout 600 sh -c "exec 3>held; cp s3.jsonl new.jsonl; cat s1.jsonl >&3" >writer 2>&1 & $N dedupe --skip-errors --against held s1.jsonl new.jsonl', 2, qr/"new.jsonl": it has changed since it was read first/);
fails('rm -f held; mkfifo held; timeout 600 sh -c "exec 3>held; rm new.jsonl; cat s1.jsonl >&3" >writer 2>&1 & $N dedupe --skip-errors --against held s1.jsonl new.jsonl', 2, qr/"new.jsonl": it has changed since it was read first/);

# ---- UTF-16 and UTF-32 without a byte order mark ----

my %texts = (Latin => "Divers and drones measure the coral reefs\n", Cyrillic => "Мы измеряем коралловые рифы\n", Greek => "Μετράμε τους υφάλους\n", 'an é' => "é a\n", Hebrew => "אנחנו מודדים שוניות\n", Thai => "เราวัด แนวปะการัง\n", Hindi => "हम प्रवाल भित्तियों को मापते हैं\n");
for my $language (sort keys %texts)
{
	for my $encoding ('UTF-16LE', 'UTF-16BE', 'UTF-32LE', 'UTF-32BE')
	{
		file('wide.txt', Encode::encode($encoding, $texts{$language} x 3));
		fails('$N sign -i files wide.txt', 2, qr/could not read "wide.txt": it is $encoding; convert it first: cat 'wide.txt' \| iconv -f $encoding -t UTF-8$/);
	}
	file('wide.txt', Encode::encode('UTF-16LE', "\x{FEFF}$texts{$language}"));
	run('$N sign -i files - <wide.txt', 2);
	run('gzip -c wide.txt | $N sign -i files -', 2);
	file('wide.txt', Encode::encode('UTF-8', $texts{$language}));
	run('$N sign -i files wide.txt');
}
file('wide.csv', Encode::encode('UTF-16LE', "text,id\na b c,1\n"));
fails('$N dedupe wide.csv', 2, qr/it is UTF-16LE/);
# Texts with zero bytes are texts.
for my $text ("a\0", "hello world\0", "one\0two\0three\0four\0", "a b\0c d\0e f\0", "\0" x 40, "x\n" x 40, "\0\0\0a b", "\t\n" x 30, "\1\2\3 a b c", "a\tb\tc\t\0d\te\t")
{
	file('zeros.txt', $text);
	run('$N sign -i files zeros.txt');
}
is(run('printf "a.jsonl\0b.jsonl\0" >list; $N sign --files-from list'), $both, 'names with a zero byte behind each are a list');
run('mkdir -p z; for i in x y; do cp x.txt z/$i 2>/dev/null || echo "a b $i" >z/$i; done; cd z; printf "x\0y\0" >list; $N sign -i files --files-from list');

# ---- Lines ----

srand(53);
my @words = (qw(menu Home about US contact login the a of), 'é', '海');
my @ends = ('', '.', ' !', '  ', '"', '\\', "\t", ',', ';');

# Returns a line, often one that others have.
sub random_line
{
	my @some = map { $words[ rand @words ] . $ends[ rand @ends ] } 1 .. int rand 4;

	return join ' ', map { rand() < 0.5 ? $_ : uc } @some;
}

sub words_of { return map { lc } shift =~ /[a-z]+|é|É|海/gi }

# What ends a line, more often a line feed.
my @line_ends = (("\n") x 5, "\r", "\r\n", "\x{2028}", "\x{2029}");

sub random_text { return join '', map { random_line() . ($_ > 1 ? $line_ends[ rand @line_ends ] : '') } reverse 1 .. int rand 9 }

# Returns the texts that stay of some, or undef for those that go, as a program of a few lines does it, and what goes: text,
# line, why.  %$others has the lines of --against.
sub expected
{
	my ($least, $others, @texts) = @_;
	my (%seen, @kept, @gone);

	for my $i (0 .. $#texts)
	{
		my @parts = split /(\r\n|[\r\n\x{2028}\x{2029}])/, $texts[$i], -1;
		my @lines = @parts[ grep { $_ % 2 == 0 } 0 .. $#parts ];
		my @why = map { my @w = words_of($_); @w < $least ? '' : $others->{"@w"} ? 'against' : $seen{"@w"}++ ? 'duplicate' : '' } @lines;
		my $text;

		@why = map { $_ || 'empty' } @why if grep({ $_ } @why) && !grep { !$why[$_] && words_of($lines[$_]) } 0 .. $#lines;
		$text = ($text // '') . (defined $text ? $parts[ 2 * $_ - 1 ] : '') . $lines[$_] for grep { !$why[$_] } 0 .. $#lines;
		push @kept, @lines ? $text : '';
		push @gone, map { [ $i, $_ + 1, $why[$_], $lines[$_] ] } grep { $why[$_] } 0 .. $#lines;
	}
	return (\@kept, \@gone);
}

# Writes a string of JSON, with escapes at random.
sub json_string
{
	my %named = ("\n" => [ '\n', '\u000a', '\u000A' ], "\r" => [ '\r', '\u000d', '\u000D' ], '"' => ['\"'], '\\' => [ '\\\\', '\u005c' ], "\t" => ['\t']);

	return '"' . join('', map { my $c = $named{$_}; $c ? $c->[ rand @$c ] : rand() < 0.1 ? sprintf '\u%04x', ord : $_ } split //, shift) . '"';
}

# Compares a report of lines with what it should be; JSON's escapes are those of COPY.
sub same_report
{
	my ($report, @gone) = @_;
	my @rows = map { [ split /\t/, $_, -1 ] } split /\n/, $report;

	is_deeply([ map { [ @$_[ 0 .. 2 ], $json->decode("[\"$_->[3]\"]")->[0] ] } @rows ], \@gone, 'the report');
}

for my $least (1, 2, 3)
{
	my @texts = map { random_text() } 1 .. 400;
	my ($kept, $gone) = expected($least, {}, @texts);
	my @kept = @$kept;
	my @stay = grep { defined $kept[$_] } 0 .. $#texts;
	my $rows = sub { my ($escape) = @_; return map { Encode::encode('UTF-8', "$_\t" . $escape->($texts[$_]) . "\n") } 0 .. $#texts };

	file('l.jsonl', map { Encode::encode('UTF-8', qq({"x": [$_], "text" : ) . json_string($texts[$_]) . qq( , "n": $_}\n)) } 0 .. $#texts);
	my @got = map { $json->decode($_) } split /\n/, run("\$N dedupe --unit line --min-words $least -j 3 l.jsonl");
	is_deeply([ map { $_->{n} } @got ], \@stay, "records that keep a word, of lines of $least words");
	is_deeply([ map { $_->{text} } @got ], [ @kept[@stay] ], 'have what stays');
	my %changed = map { $_->[0] => 1 } @$gone;
	my $lost = grep { $_->[2] ne 'empty' } @$gone;
	my $lines = 0;
	$lines += () = /\r\n|[\r\n\x{2028}\x{2029}]|\z/g for @texts;
	is(slurp('error'), "neardup: lines that went: $lost of $lines; records that lost some: " . keys(%changed) . " of 400; records that kept no word, and went: " . (400 - @stay) . "\n", 'and the counts');
	run("\$N dedupe --unit line --min-words $least --report r l.jsonl");
	same_report(slurp('r'), map { my ($i, @rest) = @$_; [ $i + 1, @rest ] } @$gone);
	my %others = map { join(' ', words_of($_)) => 1 } @words[ 0 .. 3 ], 'about us', 'us contact';
	file('others.jsonl', map { qq({"n": 0, "text": "$_"}\n) } sort keys %others);
	delete @others{ grep { split(/ /, $_) < $least } keys %others };
	($kept, $gone) = expected($least, \%others, @texts);
	is_deeply([ map { $json->decode($_)->{text} } split /\n/, run("\$N dedupe --unit line --min-words $least --against others.jsonl --id n --report r l.jsonl") ], [ grep { defined } @$kept ], 'with --against');
	same_report(slurp('r'), @$gone);
	is(run("\$N dedupe --unit line --min-words 100 l.jsonl"), slurp('l.jsonl'), 'records are as they were otherwise');
	run("rm -rf lines; gzip -fk l.jsonl; \$N dedupe --unit line --min-words $least --output lines l.jsonl.gz");
	is(run('gzip -dc lines/l.jsonl.gz'), run("\$N dedupe --unit line --min-words $least l.jsonl"), 'in a file');

	file('l.csv', "n,text\n", map { Encode::encode('UTF-8', "$_,\"" . $texts[$_] =~ s/"/""/gr . "\"\n") } 0 .. $#texts);
	my $csv = Encode::decode('UTF-8', run("\$N dedupe --unit line --min-words $least l.csv"));
	is($csv, "n,text\n" . join('', map { "$_,\"" . $kept[$_] =~ s/"/""/gr . "\"\n" } @stay), 'CSV');

	my $copy = sub { return shift =~ s/([\\\n\t\r])/{ "\\" => "\\\\", "\n" => "\\n", "\t" => "\\t", "\r" => "\\r" }->{$1}/ger };
	file('l.tsv', "n\ttext\n", $rows->($copy));
	is(Encode::decode('UTF-8', run("\$N dedupe --unit line --min-words $least l.tsv")), "n\ttext\n" . join('', map { "$_\t" . $copy->($kept[$_]) . "\n" } @stay), 'TSV');

	file('m.jsonl', map { Encode::encode('UTF-8', qq({"n": $_, "m": [) . join(', ', map { qq({"c": ) . json_string($_) . '}' } split /\n/, $texts[$_], -1) . "]}\n") } 0 .. $#texts);
	my @nested = map { $json->decode($_) } split /\n/, run("\$N dedupe --unit line --min-words $least --field 'm[].c' m.jsonl");
	is_deeply([ map { $_->{n} } @nested ], \@stay, 'texts of elements');
}
file('l1.jsonl', qq({"text": "Menu"}\n{"text": "one\\nMENU!\\ntwo"}\n));
file('l2.jsonl', qq({"text": "Two\\nthree"}\n{"text": "one"}\n{"text": 5}\n{"x": 1}\n{"text": ""}\n{"text": "\\n--"}\n));
is(run('$N dedupe --unit line --min-words 1 l1.jsonl l2.jsonl'), qq({"text": "Menu"}\n{"text": "one\\ntwo"}\n{"text": "three"}\n{"text": 5}\n{"x": 1}\n{"text": ""}\n{"text": "\\n--"}\n), 'lines of all files');
# XXH3 of both words is b4fe427761566bef.
file('same1.jsonl', qq({"text": "logebmedoildpkig"}\n));
file('same2.jsonl', qq({"text": "lkijiadaicdkfhob"}\n));
is(run('$N dedupe --unit line --min-words 1 same1.jsonl same2.jsonl'), slurp('same1.jsonl') . slurp('same2.jsonl'), 'words of one hash');
is(run('$N dedupe --unit line --min-words 1 --against l1.jsonl l2.jsonl | head -1'), qq({"text": "three"}\n), 'lines of --against go');
is(run('(echo 5; cat l1.jsonl; echo 6) | $N dedupe --unit line --min-words 1 --skip-errors'), run('$N dedupe --unit line --min-words 1 l1.jsonl'), 'with records left out');
is(run('$N dedupe --unit record l2.jsonl'), run('$N dedupe l2.jsonl'), 'records are the default');
fails("\$N dedupe --unit line $_ l1.jsonl", 1, qr/--[a-z]+ is for whole records, not for --unit line/) for '-t 0.5', '--best n', '--shingles', '--drop all', '--scheme "word 1"';

# Elements that end in a carriage return, and line feeds behind it, are lines of their own; a default of five words.
file('ends.jsonl', qq({"m": ["x y\\r", "one", "\\r\\n", "x y\\r\\n\\rend"]}\n{"m": ["a\\rX y\\r\\nb", "\\u2028x Y\\u2029c", "x y\\n"]}\n));
is(run(q($N dedupe --unit line --min-words 2 --field 'm[]' --report r ends.jsonl; cat r)), qq({"m": ["x y\\r", "one", "\\r\\n", "\\rend"]}\n{"m": ["a\\r\\nb", "\\u2029c", ""]}\n1\t6\tduplicate\tx y\n2\t2\tduplicate\tX y\n2\t5\tduplicate\tx Y\n2\t7\tduplicate\tx y\n), 'line ends');
file('tabs.csv', "text\n\"a\tb c\\d e\"\n\"a\tb c\\d e\"\n");
is(run(q($N dedupe --unit line --report r tabs.csv >kept; cat r)), "2\t1\tduplicate\ta\\tb c\\\\d e\n", 'CSV has no escapes');
file('five.jsonl', map { qq({"text": "Yes.\\nof four words here\\nthis line has five words\\n$_"}\n) } 1, 2);
is(run('$N dedupe --unit line --report r five.jsonl; cat r'), qq({"text": "Yes.\\nof four words here\\nthis line has five words\\n1"}\n{"text": "Yes.\\nof four words here\\n2"}\n2\t3\tduplicate\tthis line has five words\n), 'lines of fewer than five words stay');
is(slurp('error'), "neardup: lines that went: 1 of 8; records that lost some: 1 of 2; records that kept no word, and went: 0\n", 'and are counted');
run('$N dedupe --unit line --report nowhere/r five.jsonl', 2);
run('$N dedupe --unit line --report r five.jsonl nowhere.jsonl', 2);

# --mask: records that differ in what changes by itself, as they are written
file('log.jsonl', join '', map { qq({"n": $_, "text": "07:3$_:00 db$_ opened the session 5f3a9c$_ for root and closed it"}\n) } 1 .. 3);
is(run('$N dedupe log.jsonl'), slurp('log.jsonl'), 'dates and ids keep records apart');
is(run("\$N dedupe -j 2 --mask 'date, hex,digits' log.jsonl"), (split /^/, slurp('log.jsonl'))[0], 'without them the first one stays, as it is written');
is(run("\$N $_ --mask digits log.jsonl | sort | tail -n 1"), $_ eq 'pairs' ? "1\t3\t1\n" : "3\t1\t1\t3\n", $_) for 'pairs', 'clusters';
is(run('$N dedupe --unit line --mask digits --field text log.jsonl'), (split /^/, slurp('log.jsonl'))[0], 'lines');
is(run('$N learn --mask date,hex,digits log.jsonl | grep -c .'), "1\n", 'learn');
is(run('$N sign --mask digits log.jsonl | cut -f 2 | sort -u | grep -c .'), "1\n", 'sign');
file('one.txt', "Started at 2026-11-27 10:15:30 by 12ab\n");
file('two.txt', "Started at 2026-11-28 23:59:01 by 98ff\n");
is(run('$N compare --mask date,digits one.txt two.txt | grep -E "^(resemblance|edit)"'), "resemblance\t1\nedit distance\t0\n", 'compare');
fails('$N dedupe --mask ips log.jsonl', 1, qr/cannot mask "ips": write one or more of url, email/);
fails('$N pairs --mask ip --signatures log.jsonl', 1, qr/--mask is for texts, not for --signatures/);

fails('$N dedupe --min-words 2 l1.jsonl', 1, qr/--min-words is for --unit line/);
fails("\$N dedupe --unit line --min-words $_ l1.jsonl", 1, qr/--min-words cannot be "$_"/) for 0, 1.5;
fails('$N dedupe --unit line -i files l1.jsonl', 1, qr/--unit is for records, not for --input files/);
fails('$N dedupe --unit lines l1.jsonl', 1, qr/it is record\|line\|passage$/);

# A distinct line takes about 10 bytes.
file('most.py', "import resource, subprocess, sys\nprint(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1000)\n");
file('many.csv', "text\n", map { "line $_\n" } 1 .. 2000000);
my ($code, $most) = split ' ', run('python3 most.py neardup dedupe --unit line --min-words 1 -j 1 many.csv');
is($code, 0, 'many lines');
cmp_ok($most, '<', 70, 'megabytes are taken');
run('$N dedupe --unit line --min-words 1 -j 1 -m 15M many.csv >out3', 3);

# ---- --common: what many texts have ----

# Thirty topics in one template, each twice and once with a word more; the template alone; a text that many sent.
my $form = join ' ', map { "form$_" } 1 .. 90;
my @pages = ((map { my $topic = join ' ', map { "topic$_" } $_ * 9 .. $_ * 9 + 8; ("$form $topic", "$form $topic", "$form $topic more") } 1 .. 30), $form, $form, ('a text that many sent in the very same words') x 40);

sub write_pages { file(shift, map { '{"site": "' . $_ % 3 . qq(", "text": "$_[$_]"}\n) } 0 .. $#_) }
write_pages('pages.jsonl', @pages);
is(run('$N dedupe pages.jsonl | grep -c .'), "2\n", 'a template swallows its topics');
like(slurp('error'), qr/^neardup: clusters that share a template, and little else: 1, of 92 records; to compare what is their own: neardup dedupe --common 0\.3 pages\.jsonl$/, 'the command says so');
my $topics = run('$N dedupe --common 0.05 pages.jsonl');
is(scalar(split /^/, $topics), 32, 'without the template each topic stays');
is(slurp('error'), "neardup: shingles that many texts have, and are left out: 88\nneardup: texts that have nothing else, and are compared whole: 2\n", 'it says what it left out');
for my $line ('- <pages.jsonl', '-m 10M -j 1 pages.jsonl', '--shingles pages.jsonl', '--source site pages.jsonl', '--against none.jsonl pages.jsonl', '<(gzip -c pages.jsonl)')
{
	file('none.jsonl', qq({"text": "none"}\n));
	is(run("bash -c '\$0 dedupe --common 0.05 $line' \$N"), $topics, "--common: $line");
}
is(run('$N dedupe --against pages.jsonl --common 0.05 pages.jsonl none.jsonl'), qq({"text": "none"}\n), 'a file of --against counts, too');
is(run('$N learn --scheme "word 3" pages.jsonl >lexicon; $N dedupe --lexicon lexicon pages.jsonl | grep -c .'), "32\n", 'with a lexicon, too, what has nothing else is compared whole');
like(slurp('error'), qr/^neardup: texts that have nothing else, and are compared whole: 42$/m, 'and it says so');
fails("\$N dedupe $$_[0]", 1, $$_[1]) for [ '--source site pages.jsonl', qr/^neardup: --source is for --common$/ ], [ '--common 1.5 pages.jsonl', qr/--common cannot be "1.5": it is the share of the distinct texts, above 0, at most 1$/ ],
	[ '--common 0.1 --lexicon lexicon pages.jsonl', qr/--lexicon and --common exclude each other/ ], [ '--common 0.1 --simhash 64 pages.jsonl', qr/--simhash and --common exclude each other/ ],
	[ '--common 0.1 --shingles --multiset pages.jsonl', qr/--common compares sets, not multisets/ ],
	[ '--common 0.1 --unit line pages.jsonl', qr/--common is for whole records/ ], [ '--common 0.1 --signatures pages.jsonl', qr/--common is for records, not for --signatures/ ], [ '--common 0.1 --scheme "spot 1 2" pages.jsonl', qr/a lexicon cannot have scheme "spot 1 2"/ ];

# Returns the clusters of pages, the keeper of each, as a loop over all finds them.
sub stars
{
	my ($share, $threshold, @texts) = @_;
	my (@sets, %seen, %texts_of, %count, %common, @keeper);

	for my $i (0 .. $#texts)
	{
		my @words = split / /, $texts[$i];
		$sets[$i] = { map { ("@words[$_ .. $_ + 2]" => 1) } 0 .. $#words - 2 };
		my $set = join ',', sort keys %{ $sets[$i] };
		for my $source ('', $i % 3)
		{
			next if $seen{"$source:$set"}++;
			$texts_of{$source}++;
			$count{$source}{$_}++ for keys %{ $sets[$i] };
		}
	}
	for my $source (keys %count)
	{
		my $least = $share * $texts_of{$source};
		for (keys %{ $count{$source} }) { $common{$_} = 1 if $count{$source}{$_} >= ($least > 20 ? $least : 20) }
	}
	for my $i (0 .. $#texts)
	{
		my @own = grep { !$common{$_} } keys %{ $sets[$i] };
		$sets[$i] = { map { $_ => 1 } @own } if @own;
		$keeper[$i] = $i;
		for my $j (grep { $keeper[$_] == $_ } 0 .. $i - 1)
		{
			my $both = grep { $sets[$j]{$_} } keys %{ $sets[$i] };
			next if $both < $threshold * (keys(%{ $sets[$i] }) + keys(%{ $sets[$j] }) - $both);
			$keeper[$i] = $j;
			last;
		}
	}
	return join ' ', map { $_ + 1 } @keeper;
}

# Topics, of which each has copies with a few words changed, in some templates.  Returns texts, and the topic of each.
sub plant
{
	my ($topics, $copies, $templates, $length) = @_;
	my @template = map { my $t = $_; join ' ', map { "t${t}w$_" } 1 .. $length } 1 .. $templates;
	my @page;

	for my $topic (1 .. $topics)
	{
		my @words = map { "x" . int rand 400 } 1 .. 60;
		for my $copy (1 .. $copies)
		{
			my @copy = @words;
			$copy[ rand @copy ] = 'y' . int rand 400 for 1 .. $copy - 1;
			push @page, [ $topic, join ' ', @copy[ 0 .. 9 ], ($templates ? $template[ rand @template ] : ()), @copy[ 10 .. $#copy ] ];
		}
	}
	@page = sort { $a->[1] cmp $b->[1] } @page;
	return map { my $i = $_; [ map { $_->[$i] } @page ] } 1, 0;
}

# Returns the keepers that the command finds.
sub keepers_of
{
	my ($options, @texts) = @_;
	my @keeper = (1 .. @texts);

	write_pages('planted.jsonl', @texts);
	for (split /\n/, run("\$N clusters $options planted.jsonl"))
	{
		my ($record, $keeper) = split /\t/;
		$keeper[ $record - 1 ] = $keeper;
	}
	return "@keeper";
}

# Returns the F1 of the pairs in one cluster, of those of one topic.
sub f1
{
	my ($keepers, $topic) = @_;
	my @keeper = split / /, $keepers;
	my ($right, $found, $true) = (0, 0, 0);

	for my $i (0 .. $#keeper)
	{
		for my $j (0 .. $i - 1)
		{
			my ($same, $one) = ($keeper[$i] == $keeper[$j], $topic->[$i] == $topic->[$j]);
			$right++ if $same && $one;
			$found += $same;
			$true += $one;
		}
	}
	return 2 * $right / ($found + $true);
}

srand(79);
for my $case ([ 60, 4, 1, 300 ], [ 60, 4, 3, 300 ], [ 40, 3, 2, 700 ])
{
	my ($texts, $topic) = plant(@$case);
	my ($plain, $common) = map { keepers_of($_, @$texts) } '-t 0.6 --shingles', '-t 0.6 --shingles --common 0.1 --source site';

	is($common, stars(0.1, 0.6, @$texts), 'exactly what a loop over all finds');
	is(keepers_of('-t 0.6 --decide texts --common 0.1 --source site -j 3 -m 9M', @$texts), $common, 'by signatures and texts, too');
	cmp_ok(f1($plain, $topic), '<', 0.15, sprintf 'F1 %.2f in %d templates', f1($plain, $topic), $case->[2]);
	cmp_ok(f1($common, $topic), '>', 0.9, sprintf 'F1 %.2f without them', f1($common, $topic));
}
my ($texts, $topic) = plant(150, 4, 0);
is(keepers_of('-t 0.6 --shingles --common 0.1', @$texts), keepers_of('-t 0.6 --shingles', @$texts), 'an ordinary corpus loses nothing');
run('$N dedupe -t 0.6 planted.jsonl >out3');
is(slurp('error'), '', 'nor is it taken for a template');

# What is taken for a template, and what is not: copies that were edited, drafts that grow, versions of versions.
sub some_words { return map { 'v' . int rand 3000 } 1 .. shift }

sub edited
{
	my ($edits, @words) = @_;

	splice @words, rand @words, int rand 2, rand() < 0.7 ? some_words(1) : () for 1 .. $edits;
	return @words;
}

my @schema = some_words(150);
my @labels = map { [ some_words(8) ] } 1 .. 20;
my @version = some_words(150);
my %kinds = (
	schema => [ 0.7, 1, map { "@schema @{[some_words(12)]}" } 1 .. 60 ],
	forms => [ 0.5, 1, map { join ' ', map { @$_, some_words(1) } @labels } 1 .. 60 ],
	products => [ 0.7, 1, map { join ' ', some_words(4), @schema, some_words(6) } 1 .. 60 ],
	logs => [ 0.3, 1, map { join ' ', 'day', int rand 99, 'hour', int rand 99, 'server handled a request of user', some_words(1), 'in', int rand 999, 'milliseconds status ok cache hit region east path index html bytes sent' } 1 .. 300 ],
	edits => [ 0.6, 0, map { join ' ', edited(6, @schema) } 1 .. 60 ],
	drafts => [ 0.6, 0, map { "@schema[0 .. 89 + $_]" } 1 .. 60 ],
	versions => [ 0.5, 0, map { @version = edited(1, @version); "@version" } 1 .. 60 ],
	copies => [ 0.5, 0, ("@schema") x 60 ]);
for my $kind (sort keys %kinds)
{
	my ($threshold, $is_template, @texts) = @{ $kinds{$kind} };

	write_pages('planted.jsonl', @texts, map { join ' ', some_words(80) } 1 .. 400);
	cmp_ok(run("\$N dedupe -t $threshold planted.jsonl | grep -c ."), '<', @texts / 2 + 400, "$kind are near");
	my ($line) = slurp('error') =~ /^neardup: clusters that share a template, and little else: .*: neardup (dedupe --common \S+ -t $threshold planted\.jsonl)$/;
	is(defined $line, !!$is_template, $kind);
	cmp_ok(run("\$N $line | grep -c ."), '>', @texts * 0.9 + 400, 'the line finds their own parts') if $line;
}

# ---- --without: ids leave kept signatures ----

for my $round (1 .. 6)
{
	my @texts = map { join ' ', map { "w" . int rand 12 } 1 .. 6 } 1 .. 120;
	my @lines = map { qq({"id": "r $_", "text": "$texts[$_]"}\n) } 0 .. $#texts;
	my @gone = grep { rand() < 0.3 } 0 .. $#texts;
	my %gone = map { $_ => 1 } @gone;
	my $how = '-t 0.4' . ($round % 2 ? '' : ' --nearest');

	file('all.jsonl', @lines);
	file('rest.jsonl', @lines[ grep { !$gone{$_} } 0 .. $#texts ]);
	file('gone', map({ "r $_" . ($_ % 2 ? "\n" : "\r\n") } reverse @gone), "\n", 'nobody');
	run("\$N sign --scheme 'word 1' --id id --format copy-binary $_.jsonl >$_.sig") for 'all', 'rest';
	my $clusters = run("\$N clusters --signatures rest.sig $how");
	is(run("\$N clusters --signatures all.sig --without gone $how"), $clusters, 'clusters');
	is(slurp('error'), 'neardup: ids of --without that no record has: 1 of ' . (@gone + 1) . "\n", 'what is not found is counted');
	is(run("\$N pairs -t 0.4 --signatures all.sig >all.pairs; \$N keepers --signatures all.sig --without gone " . ($round % 2 ? '' : '--nearest') . ' all.pairs'), $clusters, 'keepers');
	is(run("\$N pairs --signatures all.sig --without gone -t 0.4"), run('$N pairs --signatures rest.sig -t 0.4'), 'pairs');
	is(run("\$N dedupe --signatures all.sig --without gone $how"), run("\$N dedupe --signatures rest.sig $how"), 'dedupe');
	is(run("\$N dedupe --scheme 'word 1' --against all.sig --without gone all.jsonl"), run("\$N dedupe --scheme 'word 1' --against rest.sig all.jsonl"), 'and of --against');
}
fails("\$N $$_[0]", $$_[1], $$_[2]) for [ 'keepers --without gone all.pairs', 1, qr/--without is for --signatures/ ], [ 'dedupe --without gone all.jsonl', 1, qr/--without is for --signatures/ ],
	[ 'clusters --signatures all.sig --without nowhere', 2, qr/could not read "nowhere"/ ], [ 'clusters --signatures all.sig --without /dev/null', 2, qr/"\/dev\/null" has no id/ ];

# ---- Certificates: a program of its own confirms what went ----

my $verify = "$ENV{TESTDIR}/python/neardup/verify.py";
SKIP:
{
	skip 'the Python package was not built', 1 unless -e $verify;
	my @pool = (map({ "word$_" } 1 .. 30), 'the', 'Straße', 'İstanbul', '海', 'ไทย', "e\x{301}", "\x{1100}\x{1161}", '½', 'ﬁx');

	# Texts, each third of which is an earlier one with few changes, or none.
	sub random_texts
	{
		my @texts;

		for my $i (0 .. 299)
		{
			my @w = $i % 3 == 2 ? split / /, $texts[ rand @texts ] : map { $pool[ rand @pool ] } 1 .. 5 + rand 40;

			$w[ rand @w ] = $pool[ rand @pool ] if $i % 2;
			push @texts, join ' ', @w;
			$texts[-1] =~ s/ /\n/ if $i % 5 == 0;
		}
		return @texts, '', '';
	}
	my @texts = random_texts();
	my $id = 0;
	my $rows = join '', map { Encode::encode('UTF-8', qq({"id": "k) . $id++ . qq(", "score": ) . ($id * 7 % 11) . ', "text": ' . json_string($_) . "}\n") } @texts;

	file('c.jsonl', $rows);
	file('d.csv', "\xEF\xBB\xBFid,text\r\n", map { Encode::encode('UTF-8', "k$_,\"" . $texts[$_] =~ s/"/""/gr . "\"\r\n") } 0 .. $#texts);
	file('d.tsv', "text\tid\n", map { Encode::encode('UTF-8', $texts[$_] =~ s/([\\\n\t])/{ "\\" => "\\\\", "\n" => "\\n", "\t" => "\\t" }->{$1}/ger . "\tk$_\n") } 0 .. $#texts);
	file('held.jsonl', map { Encode::encode('UTF-8', qq({"id": "h$_", "score": 1, "text": ) . json_string($texts[$_]) . "}\n") } 3, 50, 100);
	file('e.jsonl', map { Encode::encode('UTF-8', qq({"n": $_, "data": [) . join(', ', map { qq({"text": ) . json_string($_) . '}' } split(/ (?=word1\d)/, $texts[$_], -1), "the very end\r", "\n") . qq(], "t": "\\u0041"}\n)) } 0 .. $#texts);
	run('gzip -kf c.jsonl; rm -f same.jsonl; ln c.jsonl same.jsonl; (cat d.csv; printf "k,one \"two\" three\n\nx,\"a b\ny,c d\n") >open.csv; sed "s/$/,1/" some.csv >other.csv; sed "s/^/x/; 2,9d" c.jsonl | head -3 >broken; (cat broken; cat c.jsonl; head -c 20 c.jsonl) >broken.jsonl');
	for my $case ('c.jsonl', 'c.jsonl -t 0.5 --id id', 'c.jsonl.gz --id id -s "word 1" -t 0.6', 'c.jsonl --id id -s "char 4"', 'd.csv --id id', 'd.tsv --id id -t 0.5', 'd.tsv', 'c.jsonl --id id --contained 0.7 -t 0.4', 'c.jsonl -t 0.5 --shingles --multiset',
		'c.jsonl -t 0.7 --shingles --containment', 'c.jsonl --id id -t 0.5 --against held.jsonl', 'c.jsonl --id id -t 0.4 --contained 0.9 --against held.jsonl', 'c.jsonl --drop all', 'c.jsonl --unit line --min-words 2', 'd.csv --id id --unit line --min-words 3', 'd.tsv --unit line --min-words 1',
		'c.jsonl --unit line --min-words 2 --against held.jsonl --id id', 'broken.jsonl --skip-errors', 'broken.jsonl --skip-errors --unit line', 'c.jsonl --mask digits -t 0.5', 'c.jsonl -s "word 1" --common 0.5 -t 0.6', 'c.jsonl -s "word 1" --common 0.75 --source score --id id -t 0.6 --against held.jsonl', 'c.jsonl held.jsonl --id id', 'c.jsonl --id id -s "stopword 2" -t 0.3 -j 2 --best score', 'e.jsonl --unit line --min-words 2 --field data[].text',
		'nowhere.jsonl c.jsonl --skip-errors', 'cut.jsonl.gz c.jsonl --skip-errors', 'bad.jsonl.gz c.jsonl --skip-errors', 'same.jsonl c.jsonl --id id', 'empty.csv d.csv --id id', 'open.csv d.csv --skip-errors', 'd.csv other.csv --skip-errors')
	{
		my ($files, $options) = $case =~ /^(\S+(?: [cd]\.\w+| held\.jsonl| other\.csv)?)(.*)/;
		run("\$N dedupe $options --report cert $files >went");
		cmp_ok(run('wc -l <cert'), '>', 2, 'records go');
		like(run('python3 ' . "$verify $files went cert" . ($options =~ s/--shingles//r)), qr/^\d+ records: \d+ in "went"/, "checked: $case");
	}
	run('$N dedupe --id id -t 0.4 --report cert --against held.jsonl c.jsonl >went');
	my $audit = run("python3 $verify -t 0.4 --id id --audit score --against held.jsonl c.jsonl went cert");
	is(eval { my $sum = 0; $sum += $_ foreach $audit =~ /^(\d+) of "\d+" for "(?:\d+|--against)": similarity [01]\.\d{3} to [01]\.\d{3}, median [01]\.\d{3}$/mg; $sum }, $audit =~ /(\d+) removed/ ? $1 : -1,
		'what went, by a field');
	like($audit, qr/ for "--against".*\n {4}[01]\.\d{3} "[^|]*" \| "/, 'with texts to read');
	fails("python3 $verify -t 0.4 --id id --audit none --against held.jsonl c.jsonl went cert", 2, qr/"none"/);
	fails("python3 $verify --unit line --audit score c.jsonl went cert", 2, qr/--audit is of whole records/);
	run('$N dedupe -t 0.5 --decide signatures --report cert c.jsonl >went');
	like(run("python3 $verify -t 0.5 c.jsonl went cert"), qr/; 0 similarities are those of the texts, (\d+) were not looked at; \1 are estimated$/, 'an estimate is one');
	run('$N dedupe -t 0.5 --mask digits --report cert c.jsonl >went');
	like(run("python3 $verify -t 0.5 --mask digits c.jsonl went cert"), qr/; 0 similarities are those of the texts, (\d+) were not looked at; \1 are of masked texts, which is not computed here$/, 'masked texts');
	is(run("python3 $verify -t 0.5 --mask digits - went cert <c.jsonl"), run("python3 $verify -t 0.5 --mask digits c.jsonl went cert"), 'standard input');

	# A folder has a file for each; what another has is not in it.
	run('rm -rf went3; cp c.jsonl.gz c2.jsonl.gz; $N dedupe --skip-errors -t 0.6 --report cert --output went3 held.jsonl nowhere.jsonl c2.jsonl.gz same.jsonl c.jsonl');
	my $folder = "python3 $verify --skip-errors -t 0.6 held.jsonl nowhere.jsonl c2.jsonl.gz same.jsonl c.jsonl went3 cert";
	like(run($folder), qr/^607 records: \d+ in "went3"/, 'a folder');
	run('mv went3/held.jsonl h; mv went3/same.jsonl went3/held.jsonl; mv h went3/same.jsonl');
	fails($folder, 1, qr{record 1 is not in "went3/held.jsonl"});
	if ($zstd)
	{
		my $read = system('python3 -c "import zstandard" 2>/dev/null || python3 -c "import compression.zstd" 2>/dev/null') == 0;

		run('$N dedupe --report cert c.jsonl >went; (head -100 c.jsonl | zstd -q; tail -n +101 c.jsonl | zstd -q) >c.jsonl.zst; zstd -q <went >went.zst');
		like(run("python3 $verify c.jsonl.zst went.zst cert 2>&1", $read ? 0 : 2), $read ? qr/^302 records/ : qr/^neardup.verify: "c.jsonl.zst" is packed by zstd, which Python reads from 3.14 on, or with the package zstandard: install it, or unpack/, 'zstd');
	}
	run('$N dedupe -t 0.5 --id id --against held.jsonl --report cert c.jsonl >went');
	like(run("python3 $verify -t 0.5 --id id --against held.jsonl --sample 5 c.jsonl went cert"), qr/; 5 similarities /, 'a sample');

	# Whatever is changed is found.
	my @kept = split /^/, slurp('went');
	my @report = split /^/, slurp('cert');
	my ($duplicate) = grep { $report[$_] =~ /duplicate/ } 0 .. $#report;
	my ($against) = grep { $report[$_] =~ /against/ } 0 .. $#report;
	my ($removed, $keeper, $similarity) = split /\t/, $report[$duplicate];
	my ($whole) = grep { /"\Q$removed\E"/ } split /^/, $rows;
	my @without = grep { !/"\Q$keeper\E"/ } @kept;
	my $edit = sub { my ($line, $from, $to) = @_; my @r = @report; $r[$line] =~ s/$from/$to/ or die; return @r };
	for my $case (
		[ 'a record lost', [ @kept[ 1 .. $#kept ] ], \@report, 'record 1 is not in' ], [ 'the last one', [ @kept[ 0 .. $#kept - 1 ] ], \@report, 'is not in' ], [ 'a byte', [ $kept[0] =~ s/score/Score/r, @kept[ 1 .. $#kept ] ], \@report, 'record 1 is not in' ],
		[ 'a blank', [ $kept[0] =~ s/: /:/r, @kept[ 1 .. $#kept ] ], \@report, 'record 1 is not in' ], [ 'another order', [ @kept[ 1, 0, 2 .. $#kept ] ], \@report, 'record 1 is not in' ], [ 'one record more', [ @kept, $kept[0] ], \@report, 'is no record of what was read' ],
		[ 'a record that went', [ @kept, $whole ], \@report, 'is no record of what was read' ], [ 'a line of the report less', \@kept, [ @report[ 1 .. $#report ] ], 'is not in' ], [ 'a line twice', \@kept, [ @report, $report[0] ], 'twice' ],
		[ 'another similarity', \@kept, [ $edit->($duplicate, "\t\Q$similarity\E\t", "\t0.987654\t") ], 'have a similarity of' ], [ 'a keeper that is none', \@kept, [ $edit->($duplicate, "\t\Q$keeper\E\t", "\tnobody\t") ], 'there is no record "nobody"' ],
		[ 'a keeper that goes', \@without, [ @report, "$keeper\t" . (split /\t/, $report[$duplicate ? 0 : 1])[0] . "\t1\tduplicate\ttexts\t1\n" ], 'is removed, too' ], [ 'another keeper', \@kept, [ $edit->($duplicate, "\t\Q$keeper\E\t", $keeper eq 'k1' ? "\tk0\t" : "\tk1\t") ], 'have a similarity of|is removed, too' ],
		[ 'a keeper of --against that is none', \@kept, [ $edit->($against, "\th", "\tx") ], 'no record of --against has the id' ])
	{
		my ($name, $out, $report, $message) = @$case;

		file('went2', @$out);
		file('cert2', @$report);
		fails("python3 $verify -t 0.5 --id id c.jsonl went2 cert2 --against held.jsonl", 1, qr/^neardup.verify: .*($message)/);
	}
	fails("python3 $verify -t 0.6 --id id c.jsonl went cert --against held.jsonl", 1, qr/which is below 0.6$/);
	run('printf "\357\273\277" | cat - went >went2');
	fails("python3 $verify -t 0.5 --id id --against held.jsonl c.jsonl went2 cert", 1, qr/"went2" has a byte order mark, and "c.jsonl" has none/);
	fails("python3 $verify --id id nowhere went cert", 2, qr/No such file/);
	# What is named in --against, too, is no source.
	file('again.jsonl', map { qq({"text": "alpha beta gamma delta k$_", "src": "s"}\n) } 1 .. 25);
	file('more.jsonl', (map { qq({"text": "m$_ n$_", "src": "q"}\n) } 1 .. 99), qq({"text": "alpha beta gamma delta", "src": "q"}\n));
	run('$N dedupe -s "word 1" -t 0.5 --common 0.5 --source src -a again.jsonl --report cert again.jsonl more.jsonl >went 2>/dev/null');
	like(run("python3 $verify -s 'word 1' -t 0.5 --common 0.5 --source src -a again.jsonl again.jsonl more.jsonl went cert"), qr/^100 records: 99 in .* 1 removed/, 'sources');
	run('$N dedupe --unit line --min-words 2 --report cert c.jsonl >went');
	@kept = split /^/, slurp('went');
	@report = split /^/, slurp('cert');
	for my $case ([ 'a line that stays', \@kept, [ @report[ 1 .. $#report ] ], '.' ], [ 'a line that goes', \@kept, [ @report, "1\t1\tduplicate\tx\n" ], '.' ], [ 'another reason', \@kept, [ $report[0] =~ s/duplicate/empty/r, @report[ 1 .. $#report ] ], 'should not have gone' ],
		[ 'a text', [ $kept[3] =~ s/word/Word/r, @kept[ 1 .. $#kept ] ], \@report, 'is not in' ], [ 'a line that is none', \@kept, [ @report, "1\t99\tduplicate\tx\n" ], 'has no line 99' ])
	{
		my ($name, $out, $report, $message) = @$case;

		file('went2', @$out);
		file('cert2', @$report);
		fails("python3 $verify --unit line --min-words 2 c.jsonl went2 cert2", 1, qr/^neardup.verify: .*$message/);
	}
	# Nor is a record that lost lines written otherwise.
	run('$N dedupe --unit line --min-words 2 --field data[].text --report cert e.jsonl >went');
	for my $change ('s/: /:/', 's/u0041/u0061/', 's/\\\\u0041/A/', 's/"n": \([0-9]*\)/"n": "\1"/')
	{
		run("sed '$change' went >went2");
		isnt(run('cmp -s went went2; echo $?'), "0\n", "$change changes something");
		fails("python3 $verify --unit line --min-words 2 --field data[].text e.jsonl went2 cert", 1, qr/is not in "went2" as it was/);
	}
}

# ---- Passages ----------------------------------------------------------------------

my @verify = grep { -e } "$ENV{TESTDIR}/python/neardup/verify.py";
is(system("python3 $ENV{TESTDIR}/test/library/test_passages.py 150 @verify >$FOLDER/tests 2>&1"), 0, 'passages are those of all windows') or diag(slurp('tests'));
file('p.jsonl', map { qq({"text": "$_"}\n) } 'a b c', 'b c d', 'c d', 'A, b; c!');
is(run('$N dedupe --unit passage --min-run 2 p.jsonl'), qq({"text": "a b c"}\n{"text": "c d"}\n), 'first copies stay');
is(slurp('error'), "neardup: words that went: 6; records that lost some: 3 of 4; records that kept too few words, and went: 2\n", 'how many went');
is(run('$N dedupe --unit passage --min-run 2 --min-left 2 --mark p.jsonl'), "2\t1\t1\t1\t3\t3\n3\t1\t3\t2\t3\t5\n3" . "\t\\N" x 5 . "\n4\t1\t7\t1\t1\t5\n4" . "\t\\N" x 5 . "\n", 'what would go');
file('bad.jsonl', qq({"text": "a b c"}\n{"text": 1 2}\n{"text": "b c"}\n));
is(run('$N dedupe --unit passage --min-run 2 --skip-errors --mark bad.jsonl'), "3\t1\t3\t1\t3\t5\n3" . "\t\\N" x 5 . "\n", 'records that cannot be read are counted');
# A batch of any words takes little; a record must be in memory, and the error says how much suffices.
file('long.jsonl', map { '{"text": "' . 'a ' x $_ . qq("}\n) } (1000) x 400, 90000, 1000);
file('short.jsonl', map { '{"text": "' . 'a ' x 1000 . qq("}\n) } 1 .. 400);
for my $jobs (1, 2)
{
	my $marked = "\$N dedupe --unit passage --min-run 1 --mark --jobs $jobs";
	is(run("$marked --memory 1M short.jsonl | md5sum"), run("$marked short.jsonl | md5sum"), "rows of one word, $jobs threads");
	fails("$marked --memory 1M long.jsonl", 3, qr/--memory 1000000 does not suffice, since a record is long; --memory \d+M does$/);
	my ($enough) = slurp('error') =~ /(\d+M) does$/;
	is(run("$marked --memory $enough long.jsonl | md5sum"), run("$marked long.jsonl | md5sum"), "$enough suffices");
}
fails('$N dedupe --unit passage --threshold 0.9 p.jsonl', 1, qr/--threshold is for whole records/);
fails('$N dedupe --min-run 9 p.jsonl', 1, qr/--min-run is for --unit passage/);
fails('$N dedupe --unit passage --min-run 2 --min-left 3 p.jsonl', 1, qr/--min-left is at most --min-run/);
fails('$N dedupe --unit passage --mark --report r p.jsonl', 1, qr/--mark writes the report/);
fails('$N dedupe --unit passage --mask url p.jsonl', 1, qr/--mask is not for --unit passage/);

# ---- A terminal -----------------------------------------------------------------

file('most.jsonl', map { qq({"text": "the text of record $_ and of no other one, $_ times"}\n) } 1 .. 40000);
like(run('script -qec "neardup sign -j 1 most.jsonl >out4" /dev/null </dev/null'), qr/\r\d+ records, \d+ MB, \d+ %, \d+:\d\d left\e\[K.*\r40000 records, \d MB\e\[K/s, 'how far, and how long');
is(slurp('error'), '', 'nothing goes elsewhere');

done_testing();
