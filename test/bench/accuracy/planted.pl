# planted.pl: prints made-up texts of many kinds as rows for COPY (corpus, label, body).
#
#   perl planted.pl [KIND ...]
#
# Two texts are the same if their labels are equal.  Each kind has another reason why texts are
# similar, and another one why similar texts are not the same.  The same texts come out in each run.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;

my @SYLLABLES = map { my $c = $_; map { "$c$_" } qw(a e i o u) } qw(b d f g h k l m n p r s t v z br st tr);

sub one_of { return $_[ int(rand @_) ] }
sub between { return $_[0] + int(rand($_[1] - $_[0] + 1)) }

# The words of a language: few are frequent, most are rare.
my @words;
sub make_words { @words = map { join('', map { one_of(@SYLLABLES) } 1 .. between(1, 4)) } 1 .. 6000 }
sub word { return $words[ int(6000**rand() - 1) ] }
sub words { return map { word() } 1 .. $_[0] }
sub sentence { return ucfirst(join(' ', words(between(5, 18)))) . '.' }
sub sentences { return map { sentence() } 1 .. $_[0] }

# Replaces a share of the elements by others.
sub replaced { my ($share, $other, @of) = @_; return map { rand() < $share ? $other->() : $_ } @of }
sub dropped { my ($share, @of) = @_; return grep { rand() >= $share } @of }
sub shuffled { my %at = map { $_ => rand() } 0 .. $#_; return @_[ sort { $at{$a} <=> $at{$b} } 0 .. $#_ ] }

# Makes a share of the characters wrong.
sub misread { my ($share, $text) = @_; $text =~ s/([a-z])/rand() < $share ? one_of('', 'e', 'c', 'rn', 'l') : $1/ge; return $text }

my %kind = (
	# Copies with a few new words; people call a tenth of them different.
	copies => sub { my ($put) = @_;
		foreach my $t (1 .. 120) {
			my @text = words(100);
			$put->($t, @text);
			$put->(rand() < 0.1 ? "other $t" : $t, replaced(0.01 + rand(0.05), \&word, @text));
		} },
	# Versions of which 5 to 95 words of 100 are new; up to 60 they are the same.
	versions => sub { my ($put) = @_;
		foreach my $t (1 .. 150) {
			my @text = words(120);
			$put->($t, @text);
			next if $t % 2;
			my $new = 0.05 + rand(0.9);
			$put->($new < 0.6 ? $t : "other $t", replaced($new, \&word, @text));
		} },
	# Titles of a series, which differ in a number.
	serials => sub { my ($put) = @_;
		foreach my $t (1 .. 40) {
			my @title = words(between(4, 9));
			foreach my $n (1 .. between(1, 4)) {
				$put->("$t $n", @title, 'part', $n);
				$put->("$t $n", dropped(0.15, @title), 'pt', $n) if rand() < 0.6;
			}
		} },
	# Articles of one event share sentences.
	news => sub { my ($put) = @_;
		foreach my $t (1 .. 70) {
			my @agency = sentences(12);
			my $share = rand(0.9);
			foreach my $n (1 .. one_of(1, 1, 2, 3, 5, 7)) { $put->($t, replaced($share, \&sentence, @agency)) }
		} },
	# Twelve pairs of copies among 360 texts.
	rare => sub { my ($put) = @_;
		foreach my $t (1 .. 360) {
			my @text = sentences(between(3, 8));
			$put->($t, @text);
			$put->($t, replaced(0.1 + rand(0.3), \&sentence, @text)) if $t <= 12;
		} },
	# Parts of a text, and texts that quote a little of it.
	excerpts => sub { my ($put) = @_;
		foreach my $t (1 .. 100) {
			my @text = sentences(20);
			my $from = between(0, 12);
			$put->($t, @text);
			$put->($t, @text[ $from .. $from + between(3, 7) ], sentences(between(0, 2))) if rand() < 0.6;
			$put->("quotes $t", @text[ 0, 1 ], sentences(between(6, 12))) if rand() < 0.4;
		} },
	# Scans with one to fifteen wrong characters of a hundred.
	scans => sub { my ($put) = @_;
		foreach my $t (1 .. 130) {
			my $text = join(' ', sentences(between(2, 6)));
			$put->($t, $text);
			$put->($t, misread(0.01 + rand(0.14), $text)) if rand() < 0.5;
		} },
	# Forms that are filled in, some of them twice.
	forms => sub { my ($put) = @_;
		my @form = map { [ words(12) ] } 1 .. 10;
		foreach my $t (1 .. 140) {
			my @filled = map { [ words(between(1, 5)) ] } @form;
			foreach my $n (1 .. one_of(1, 1, 2, 2, 3)) {
				$put->($t, map { (@{ $form[$_] }, replaced(0.25 * ($n > 1), \&word, @{ $filled[$_] })) } 0 .. 9);
			}
		} },
	# Offers of models in colours and sizes.
	offers => sub { my ($put) = @_;
		my @feature = map { join(' ', words(4)) } 1 .. 120;
		foreach my $t (1 .. 40) {
			my ($name, @has) = (uc(word()) . '-' . between(10, 990), map { one_of(@feature) } 1 .. 5);
			foreach my $colour ((shuffled(qw(black white red blue green)))[ 0 .. between(0, 3) ]) {
				$put->("$t $colour", $name, $colour, @has);
				$put->("$t $colour", 'new', $name, one_of(@has), one_of(@has), 'in', $colour) if rand() < 0.6;
			}
		} },
	# Mail: replies quote a part of what they answer, and copies go to several lists.
	mail => sub { my ($put) = @_;
		foreach my $t (1 .. 80) {
			my @text = sentences(between(4, 14));
			$put->($t, @text);
			$put->($t, 'Fwd:', @text, 'Sent from', words(3)) if rand() < 0.4;
			$put->("reply $t", sentences(between(1, 8)), dropped(rand(), @text)) if rand() < 0.7;
		} },
	# Functions over few names; clones are renamed, lines are added.
	code => sub { my ($put) = @_;
		my @name = words(60);
		foreach my $t (1 .. 120) {
			my @line = map { one_of('if (', 'for (', 'return ', '') . join(one_of(' + ', ' = ', ', '), map { one_of(@name) } 1 .. between(2, 4)) . one_of(');', ';') } 1 .. between(6, 25);
			$put->($t, @line);
			next if rand() < 0.5;
			my ($from, $to) = (one_of(@name), one_of(@name));
			$put->($t, map { s/\b$from\b/$to/gr } dropped(0.1, replaced(rand(0.4), sub { one_of(@name) . '();' }, @line)));
		} },
	# Records of two sources with gaps, in another order.
	records => sub { my ($put) = @_;
		my @place = map { join(' ', words(2)) } 1 .. 40;
		foreach my $t (1 .. 160) {
			my @field = (ucfirst(word()), ucfirst(word()) . word(), between(1, 200), one_of(@place), between(10000, 99999), word() . '@' . word());
			$put->($t, @field);
			$put->($t, dropped(0.2, map { rand() < 0.15 ? misread(0.3, $_) : $_ } @field[ 1, 0, 3, 2, 4, 5 ])) if rand() < 0.5;
		} },
	# Sentences in another order, some left out.
	shuffles => sub { my ($put) = @_;
		foreach my $t (1 .. 120) {
			my @text = sentences(between(8, 16));
			my $lost = rand(0.9);
			$put->($t, @text);
			$put->($lost < 0.5 ? $t : "other $t", shuffled(dropped($lost, @text))) if rand() < 0.7;
		} },
	# Nearly equal texts, two of five of which a code tells apart.
	codes => sub { my ($put) = @_;
		foreach my $t (1 .. 100) {
			my @text = words(between(20, 60));
			my $code = sub { 'order ' . between(1000, 9999) };
			my $first = $code->();
			$put->($t, $first, @text);
			rand() < 0.4 ? $put->("other $t", $code->(), @text) : $put->($t, $first, replaced(0.08, \&word, @text));
		} },
	# Twelve templates with slots; the same if half of the slots are.
	templates => sub { my ($put) = @_;
		my @template = map { [ map { [ words(between(3, 8)) ] } 1 .. 8 ] } 1 .. 12;
		foreach my $t (1 .. 110) {
			my $of = one_of(@template);
			my @slot = map { [ words(2) ] } 1 .. 8;
			my $new = rand();
			$put->($t, map { (@{ $of->[$_] }, @{ $slot[$_] }) } 0 .. 7);
			$put->($new < 0.5 ? $t : "other $t", map { (@{ $of->[$_] }, rand() < $new ? words(2) : @{ $slot[$_] }) } 0 .. 7);
		} },
	# Chains of versions, cut where much changed at once.
	chains => sub { my ($put) = @_;
		foreach my $t (1 .. 40) {
			my (@text, $part) = sentences(15);
			foreach my $n (1 .. between(2, 9)) {
				my $new = one_of(0.05, 0.1, 0.2, 0.6);
				@text = replaced($new, \&sentence, @text);
				$part = "$t $n" if $n == 1 || $new > 0.5;
				$put->($part, @text);
			}
		} },
	# Other words for a third to two thirds of them.
	synonyms => sub { my ($put) = @_;
		my %other = map { ($_ => word()) } @words;
		foreach my $t (1 .. 130) {
			my @text = words(between(30, 120));
			my $share = 0.2 + rand(0.5);
			$put->($t, @text);
			$put->($t, map { rand() < $share ? $other{$_} : $_ } @text) if rand() < 0.5;
		} },
	# Nearly equal texts, half of which are called different.
	twins => sub { my ($put) = @_;
		foreach my $t (1 .. 130) {
			my @text = words(between(10, 80));
			$put->($t, @text);
			$put->(rand() < 0.5 ? "other $t" : $t, replaced(rand(0.1), \&word, @text));
		} },
	# The more words are new, the more are called different, without a border.
	slopes => sub { my ($put) = @_;
		foreach my $t (1 .. 140) {
			my @text = words(90);
			my $new = rand();
			$put->($t, @text);
			$put->(rand() < $new ? "other $t" : $t, replaced($new, \&word, @text));
		} },
	# Versions whose judges disagree: a quarter of the labels say the opposite.
	disputed => sub { my ($put) = @_;
		foreach my $t (1 .. 140) {
			my @text = words(80);
			my $new = rand();
			$put->($t, @text);
			$put->(($new < 0.4) != (rand() < 0.25) ? $t : "other $t", replaced($new, \&word, @text));
		} });

foreach my $name (@ARGV ? @ARGV : sort keys %kind)
{
	srand(number("planted $name"));
	make_words();
	$kind{$name}->(sub { my ($label, @text) = @_; put_row("planted, $name", $label, join(' ', @text)) });
}
