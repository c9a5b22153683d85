# Pages are damaged on disk between two searches of one session.  The second search
# raises an error that names the block, or returns the right answer.  test/fuzz/pages
# does this many thousand times.
use strict;
use warnings;

use Node;
use PostgreSQL::Test::Utils;
use Test::More;

my $damages = $ENV{NEARDUP_LONG} ? 250 : 100;
my $page_size = 8192;
my $info = 24;
my $count_at = $info + 16;
my $kind_at = $info + 18;
my ($documents, $last_kind) = (2, 5);

# With so few buffers, reading a small table by its index evicts all others many times.
my $node = Node->new('living');
$node->init;
# From PostgreSQL 18 on clusters have them, which find damage first.
system_log('pg_checksums', '--disable', '--pgdata', $node->data_dir);
$node->append_conf('postgresql.conf',
	"neardup.background = off\nfsync = off\nshared_buffers = 512kB\nrestart_after_crash = off\njit = off\nbgwriter_lru_maxpages = 0\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION neardup;
	CREATE TABLE base WITH (autovacuum_enabled = off) AS
	SELECT n AS id, to_minhash((SELECT string_agg('w' || hashint4(n / 5 * 1000 + i), ' ') || ' v' || n
		FROM generate_series(1, 60) i)) AS sig
	FROM generate_series(1, 1800) n;
	CREATE INDEX ON base (id);
	CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT * FROM base WHERE id <= 1500;
	CREATE INDEX t_sig ON t USING neardup (sig);
	INSERT INTO t SELECT * FROM base WHERE id > 1500;
	CREATE TABLE pages (id int, filler text) WITH (autovacuum_enabled = off);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT i, repeat('x', 7000) FROM generate_series(1, 500) i;
	CREATE INDEX ON pages (id);
	VACUUM (INDEX_CLEANUP OFF) base, t, pages;
	CHECKPOINT});
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q{SELECT pg_relation_filepath('t_sig')});
my $whole = slurp_file($file);

sub write_at
{
	my ($offset, $bytes) = @_;

	open my $handle, '+<:raw', $file or die "$file: $!";
	seek($handle, $offset, 0);
	print {$handle} $bytes;
	close $handle or die "$file: $!";
	return;
}

# ---- One session -------------------------------------------------------------

my ($in, $out, $session);

sub connect_session
{
	($in, $out) = ('', '');
	$session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
		'<', \$in, '>', \$out, '2>&1', IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return;
}

sub ask
{
	my ($statements) = @_;

	$out = '';
	$in .= "$statements\n\\echo said\n";
	eval { $session->pump until $out =~ /^said$/m; 1 } or return "the session is gone: $out";
	return $out =~ s/^said\n//mr;
}

my $search = q{SELECT md5(string_agg(q.id || ' ' || t.id, ',' ORDER BY q.id, t.id))
	FROM base q, LATERAL (SELECT id FROM t WHERE is_similar(t.sig, q.sig, 0.7)) t WHERE q.id = ANY ('{3, 700, 1400, 1650, 1790}');};
my $forget = 'SELECT count(filler) FROM pages WHERE id > 0;';
my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';

connect_session();
ask($settings);
my $right = ask($search);
like($right, qr/^[0-9a-f]{32}$/, 'the session searches');

# The count of documents on a page exceeds the room of an array.
my ($page) = grep { unpack('S', substr($whole, $_ * $page_size + $kind_at, 2)) == $documents } 0 .. length($whole) / $page_size - 1;
my $scan = q{SET neardup.search = 'scan';} . $search . 'RESET neardup.search;';
is(ask($scan), $right, 'the session scans');
write_at($page * $page_size + $count_at, pack('S', 0xFFFF));
ask($forget);
like(ask($scan), qr/corrupt at block $page: more documents than fit/, 'a count that is too large is an error');
write_at(0, $whole);
ask($forget);
is(ask($scan), $right, 'the repaired page is read again');

$in .= "\\q\n";
eval { $session->finish };

# ---- Any damage, with data checksums -----------------------------------------

# Knuth's MMIX generator, so that every machine has the same damage.
my $seed = 20261122;

sub random
{
	my ($below) = @_;

	{
		use integer;
		$seed = $seed * 6364136223846793005 + 1442695040888963407;
	}
	return ($seed >> 33 & 0x7fffffff) % $below;
}

my @blocks;
for my $block (0 .. length($whole) / $page_size - 1)
{
	push @{ $blocks[ unpack('S', substr($whole, $block * $page_size + $kind_at, 2)) ] }, $block;
}
$node->stop;
system_or_bail('pg_checksums', '--enable', '--pgdata', $node->data_dir);
$node->start;
$whole = slurp_file($file);
connect_session();
ask($settings);
my (@wrong, %seen);
for my $n (1 .. $damages)
{
	my $kind = 1 + $n % $last_kind;
	my $block = $blocks[$kind][ random(scalar @{ $blocks[$kind] }) ];
	# Spare the page's LSN, up to which PostgreSQL would flush WAL; prefer the page's end.
	my $at = $n % 4 == 0 ? $info + random(24) : 8 + random($page_size - 8);
	my $was = substr($whole, $block * $page_size + $at, 1);

	write_at($block * $page_size + $at, $was ^ chr(1 + random(255)));
	ask($forget);
	my $said = ask($n % 3 == 0 ? $scan : $search);
	write_at($block * $page_size + $at, $was);
	if ($said eq $right)
	{
		$seen{right}++;
	}
	elsif ($said =~ /^\S*\s*ERROR: .*(corrupt at block \d|invalid page in block|has layout \d)/m)
	{
		$seen{errors}++;
	}
	else
	{
		push @wrong, "block $block, byte $at: $said";
		last if $said =~ /gone|closed/;
	}
}
is(join("\n", @wrong), '', "$damages pages damaged between two searches of a session");
cmp_ok($seen{errors} // 0, '>', $damages / 10, 'some searches raise an error');
cmp_ok($seen{right} // 0, '>', $damages / 10, 'and some return the right answer');
ask($forget);
is(ask($search), $right, 'the restored index gives the right answer');
$in .= "\\q\n";
eval { $session->finish };

# ---- Vacuum and the metapage ---------------------------------------------------

# The metapage is damaged while vacuum reads; vacuum must not write it as if it were sound.
$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 10 = 0; CHECKPOINT');
($in, $out) = ("SET vacuum_cost_delay = '50ms'; SET vacuum_cost_limit = 1; VACUUM (TRUNCATE OFF, PARALLEL 0) t;\n\\q\n", '');
my $vacuum = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>&1');
$vacuum->pump_nb;
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_progress_vacuum WHERE phase = 'vacuuming indexes')})
  or die 'there is no vacuum';
# The identity of the index, which a search uses.
$node->safe_psql('postgres', $settings . $forget);
write_at(48 + 8, substr($whole, 48 + 8, 1) ^ chr(1));
$node->safe_psql('postgres', $settings . $forget) for 1 .. 3;
$vacuum->finish;
like($out, qr/invalid page in block 0/, 'vacuum does not write a damaged metapage');
my $err;
$node->psql('postgres', q{SELECT neardup_check('t_sig')}, stderr => \$err);
like($err, qr/invalid page in block 0/, 'the damage is still reported');

$node->stop('immediate');
done_testing();
