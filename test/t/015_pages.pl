# A flipped bit in any kind of page never causes a crash or an endless search, and every error
# names the block.  On a server with data checksums no answer is wrong, and neardup_check finds
# every flip; on one without, neardup_check finds every flip that changes an answer.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $flips = $ENV{NEARDUP_LONG} ? 24 : 9;    # of each kind of page

# Page layout, as in src/extension/store/page.h.
my $page_size = 8192;
my $info = 24;
my $contents = 48;
my %info_field = (stamp => [ 0, 4 ], next => [ 4, 4 ], block => [ 8, 4 ], count => [ 16, 2 ],
	kind => [ 18, 2 ], page_id => [ 22, 2 ]);
my @kind_name = ('', 'meta', 'documents', 'root', 'map', 'postings');
my $stride = 64;
my $meta_bytes = 108;

my $node = Node->new('pages');
$node->init;
$node->append_conf('postgresql.conf',
	"neardup.background = off\nfsync = off\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE base AS
	SELECT n AS id, to_minhash((SELECT string_agg('w' || hashint4(n / 5 * 1000 + i), ' ') || ' v' || n
		FROM generate_series(1, 60) i)) AS sig
	FROM generate_series(1, 1800) n;
	CREATE PROCEDURE make(name text) LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('CREATE TABLE %I WITH (autovacuum_enabled = off) AS SELECT * FROM base WHERE id <= 1500', name);
		EXECUTE format('CREATE INDEX %I ON %I USING neardup (sig)', name || '_idx', name);
		EXECUTE format('INSERT INTO %I SELECT * FROM base WHERE id > 1500', name);
		EXECUTE format('DELETE FROM %I WHERE id %% 50 = 7', name);
	END $$;
});

# ---- Flipping ---------------------------------------------------------------

# Knuth's MMIX generator, so that every machine flips the same bits.
my $seed = 20240229;

sub random
{
	my ($below) = @_;

	{
		use integer;
		$seed = $seed * 6364136223846793005 + 1442695040888963407;
	}
	return ($seed >> 33 & 0x7fffffff) % $below;
}

# Returns the kind of each page of an index; pages of the tail are a kind of their own.
sub kinds_of
{
	my ($bytes) = @_;
	my @kinds;

	for my $block (0 .. length($bytes) / $page_size - 1)
	{
		push @kinds, $kind_name[ unpack('S', substr($bytes, $block * $page_size + $info + 18, 2)) ];
	}
	# The tail's pages follow those of the segment that the build made.
	for my $block (reverse 0 .. $#kinds)
	{
		last if $kinds[$block] ne 'documents';
		$kinds[$block] = 'tail';
	}
	return @kinds;
}

# Returns an offset on a page of a kind where a bit matters, and what lies there.
sub choose
{
	my ($kind, $page, $n) = @_;
	my $count = unpack('S', substr($page, $info + 16, 2));
	my $is_documents = $kind eq 'documents' || $kind eq 'tail';
	my @fields = $kind eq 'meta' ? qw(kind page_id) : qw(stamp kind page_id block);

	push @fields, 'count' if $kind ne 'meta';
	# The last page's next block is set when there is another page.
	push @fields, 'next' if $kind eq 'tail' && unpack('L', substr($page, $info + 4, 4)) != 0xffffffff;
	if ($n % 3 == 0)
	{
		my $field = $fields[ $n / 3 % @fields ];
		return ($info + $info_field{$field}[0] + random($info_field{$field}[1]), "info's $field");
	}
	return (12 + random(4), 'header') if $is_documents && $n % 6 == 1;
	return ($page_size - 6 * $count + random(6 * $count), 'payload') if $is_documents && $n % 6 == 2;
	return ($contents + random($stride * $count), 'payload') if $is_documents;
	return ($contents + random($kind eq 'meta' ? $meta_bytes : $page_size - $contents), 'payload');
}

# Flips a bit in a page of a kind.  The highest bit of a TID only marks it dead.
sub flip
{
	my ($file, $kind, $n) = @_;
	my $bytes = slurp_file($file);
	my @kinds = kinds_of($bytes);
	my @blocks = grep { $kinds[$_] eq $kind } 0 .. $#kinds;
	my $block = $blocks[ random(scalar @blocks) ];
	my ($offset, $what) = choose($kind, substr($bytes, $block * $page_size, $page_size), $n);
	my $mask = 1 << random(7);

	substr($bytes, $block * $page_size + $offset, 1) ^= chr($mask);
	open my $handle, '+<:raw', $file or die "$file: $!";
	print {$handle} $bytes;
	close $handle or die "$file: $!";
	return { kind => $kind, what => $what, place => "block $block, byte $offset, mask $mask: ${kind}'s $what" };
}

# ---- Asking -----------------------------------------------------------------

my $search = q{SELECT 'near ' || md5(string_agg(q.id || ' ' || t.id, ',' ORDER BY q.id, t.id))
	FROM base q, LATERAL (SELECT id FROM %s t WHERE is_similar(t.sig, q.sig, 0.7)) t WHERE q.id % 40 = 3;};
my $order = q{SELECT 'order ' || md5(string_agg(q.id || ' ' || t.d, ',' ORDER BY q.id, t.d))
	FROM base q, LATERAL (SELECT t.sig <~> q.sig AS d FROM %s t ORDER BY t.sig <~> q.sig LIMIT 20) t WHERE q.id % 300 = 3;};
my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;';

sub ask
{
	my ($table, $statements) = @_;
	my ($out, $err);

	$statements =~ s/%s/$table/g;
	my $status = $node->psql('postgres', "$settings $statements", stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($status, $out, $err);
}

my @names;
for my $kind (qw(meta documents tail root map postings))
{
	push @names, map { "${kind}_$_" } 1 .. $flips;
}
$node->safe_psql('postgres', join("\n", map { "CALL make('$_');" } 'whole', @names) . "$Node::PASS_HORIZON VACUUM;");
my %file = map { split /\|/ } split /\n/, $node->safe_psql('postgres',
	q{SELECT relname || '|' || pg_relation_filepath(oid) FROM pg_class WHERE relname LIKE '%\_idx'});
my (undef, $expected, $complaints) = ask('whole', "$search $order");
is($complaints, '', 'the intact index answers');
my ($near) = $expected =~ /(near \S+)/;
my ($ordered) = $expected =~ /(order \S+)/;

$node->stop;
like(join(' ', sort { $a cmp $b } kinds_of(slurp_file($node->data_dir . '/' . $file{whole_idx}))),
	qr/documents.*map.*meta.*postings.*root.*tail/, 'the index has pages of all kinds');
my %flipped;
# The metapage tells that an index has the layout of another version.
my $names_block =
  qr/corrupt at block \d|invalid page in block \d|could not read blocks? \d|target block \d|has layout \d|index "\w+" holds /;

# Searches each index with a flipped bit, and more; returns what went wrong.  An answer is right, or
# an error; if it may be `wrong`, neardup_check must find the flip.
sub failures
{
	my ($more, $may_be_wrong) = @_;
	my %failed = map { $_ => [] } 'crash', 'error', 'rows', 'check';

	for my $name (@names)
	{
		my ($status, $out, $err) = ask($name, "$search $order $more");
		my (undef, undef, $complaint) = ask($name, q{SELECT neardup_check('%s_idx');});
		my $found = $complaint =~ /$names_block|for a row of its table/;
		my $is_wrong = ($out =~ /(near .*)/ && $1 ne $near) || ($out =~ /(order .*)/ && $1 ne $ordered);
		my $where = "$name ($flipped{$name}{place})";

		push @{ $failed{crash} }, $where if $status != 0;
		push @{ $failed{error} }, map { "$where: $_" } grep { !/$names_block/ } $err =~ /ERROR: .*/g;
		push @{ $failed{rows} }, $where if $is_wrong && !($may_be_wrong && $found);
		push @{ $failed{check} }, $where if !$found && !$may_be_wrong;
	}
	return map { $_ => join "\n", @{ $failed{$_} } } keys %failed;
}

# From PostgreSQL 18 on clusters have data checksums.  They fit all pages but those with a flip.
for my $mode ('--enable', '--disable')
{
	my $checksums = $mode eq '--enable';

	system_log('pg_checksums', $mode, '--pgdata', $node->data_dir);
	if ($checksums)
	{
		$flipped{$_} = flip($node->data_dir . '/' . $file{ $_ . '_idx' }, /(.*)_(.*)/) for @names;
	}
	$node->start;
	my %failed = failures($checksums ? '' : 'INSERT INTO %s SELECT * FROM base WHERE id = 9; VACUUM %s;', !$checksums);
	my $server = $checksums ? 'with data checksums' : 'without data checksums';

	is($failed{crash}, '', "$server: no flip breaks the connection");
	is($failed{error}, '', "$server: every error names the block");
	is($failed{rows}, '', $checksums ? 'no answer is wrong' : 'neardup_check finds what makes an answer wrong');
	is($failed{check}, '', 'and neardup_check finds every flip') if $checksums;
	$node->stop;
}
done_testing();
