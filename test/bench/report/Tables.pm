# Tables.pm: the tables of doc/benchmarks.md, in Markdown, from the CSV files of a folder of results.
#
# A table of peers is a list of columns, each with a heading, a way to show values, and the measures of which
# the first that a peer has is shown.  Peers without any value, and columns of which all cells are empty, are left out.
package Tables;
use strict;
use warnings;
use utf8;
use Csv;

my $NONE = '–';

# ---- Ways to show a value -------------------------------------------------------------

# Returns three digits of a number.
sub digits
{
	my ($value) = @_;
	my $size = abs($value);

	return sprintf($size >= 100 ? '%.0f' : $size >= 10 ? '%.1f' : $size >= 0.1 || $size == 0 ? '%.2f' : '%.2g', $value) =~ s/(?<![.\d])(\d+)/grouped($1)/er;
}

# Returns 1234567 as "1,234,567".
sub grouped { return $_[0] =~ s/(\d)(?=(\d{3})+$)/$1,/gr }

sub share { return $_[0] > 0 && $_[0] < 0.0005 ? '< 0.001' : sprintf('%.3f', $_[0]) }

# Of a value and neardup's.
sub ratio
{
	my ($value, $ours) = @_;

	return $NONE if !$ours;
	my $times = $value / $ours;
	return '**' . ($times >= 10 ? grouped(sprintf('%.0f', $times)) : sprintf($times < 1 ? '%.2f' : '%.1f', $times)) . ' ×**';
}

sub text { return $_[0] }

my %SHOW = (digits => \&digits, share => \&share, ratio => \&ratio, text => \&text, about => sub { return '≈ ' . digits($_[0]) }, more => sub { return '> ' . digits($_[0]) });

# ---- Tables of peers ------------------------------------------------------------------

my %COLUMNS = (
	search => [
		['threshold served by', 'text', 'threshold'], ['exact', 'text', 'exact'], ['lookup ms', 'digits', 'search'], ['times neardup', 'ratio', 'search'],
		['95 % within ms', 'digits', 'search p95'], ['recall', 'share', 'recall'], ['precision', 'share', 'precision']],
	nearest => [['ten nearest ms', 'digits', 'nearest'], ['times neardup', 'ratio', 'nearest'], ['95 % within ms', 'digits', 'nearest p95'], ['their recall from 0.4', 'share', 'nearest recall']],
	build => [
		['build s', 'digits', 'build'], ['times neardup', 'ratio', 'build'], ['of which the index s', 'digits', 'index build'],
		['WAL MB', 'digits', 'index build WAL', 'build WAL'], ['memory MB', 'digits', 'index build memory'], ['MB beside the texts', 'digits', 'size'], ['times neardup', 'ratio', 'size']],
	changes => [
		['insert µs', 'digits', 'insert'], ['times neardup', 'ratio', 'insert'], ['insert WAL bytes', 'digits', 'insert WAL'],
		['update of another column µs', 'digits', 'update'], ['its WAL bytes', 'digits', 'update WAL'],
		['vacuum after a third is deleted s', 'digits', 'vacuum'], ['times neardup', 'ratio', 'vacuum'], ['its WAL MB', 'digits', 'vacuum WAL'], ['lookup after it ms', 'digits', 'search after vacuum'],
		['rejects a copy that another session inserts', 'races']],
	sessions => [
		['later lookup ms', 'digits', 'search'], ['first lookup of a session ms', 'digits', 'first search'],
		['first lookup after a restart, files not in memory ms', 'digits', 'cold search'], ['memory of a session MB', 'digits', 'session memory']],
	pairs => [
		['all pairs s', 'digits', 'pairs', 'pairs by searches'], ['times neardup', 'ratio', 'pairs', 'pairs by searches'], ['recall', 'share', 'pairs recall'],
		['precision', 'share', 'pairs precision']],
	simhash => [
		['lookup ms', 'digits', 'search'], ['times neardup', 'ratio', 'search'], ['95 % within ms', 'digits', 'search p95'], ['recall', 'share', 'recall'],
		['build s', 'digits', 'build'], ['times neardup', 'ratio', 'build'], ['MB beside the texts', 'digits', 'size'], ['insert µs', 'digits', 'insert'],
		['times neardup', 'ratio', 'insert'], ['rejects a copy that another session inserts', 'races']],
	libraries => [
		['sign s', 'digits', 'sign'], ['index s', 'digits', 'index', 'index by part'], ['both s', 'digits', 'build'], ['times neardup', 'ratio', 'build'],
		['all pairs s', 'digits', 'pairs', 'pairs by searches'], ['times neardup', 'ratio', 'pairs', 'pairs by searches'], ['recall', 'share', 'pairs recall'],
		['precision', 'share', 'pairs precision'], ['memory MB', 'digits', 'memory'], ['disk MB', 'digits', 'size']],
	'library-lookups' => [
		['lookup ms', 'digits', 'search'], ['times neardup', 'ratio', 'search'], ['95 % within ms', 'digits', 'search p95'], ['without signing ms', 'digits', 'signed search'],
		['by a client ms', 'digits', 'search by a client'], ['recall', 'share', 'recall'], ['precision', 'share', 'precision'],
		['ten nearest ms', 'digits', 'nearest'], ['their recall from 0.4', 'share', 'nearest recall']]);

# Returns the peers of files in their order, each a hash of what was measured, with its title.
sub peers
{
	my (@files) = @_;
	my (%peer, @order);

	foreach my $row (map { read_csv($_) } @files)
	{
		push @order, $row->{peer} if !$peer{ $row->{peer} };
		$peer{ $row->{peer} }{title} //= $row->{title};
		$peer{ $row->{peer} }{place} //= $row->{place};
		$peer{ $row->{peer} }{rows} //= $row->{rows};
		$peer{ $row->{peer} }{value}{ $row->{measure} } = $row->{value} if ($row->{value} // '') ne '';
	}
	return \%peer, sort { $peer{$a}{place} <=> $peer{$b}{place} } @order;
}

# Returns what became of two sessions that insert a copy each.
sub races
{
	my ($value) = @_;
	my @how = map { /^copies rejected by (.*)/ ? ($value->{$_} > 0 ? 'yes' : 'no') . ": $1" : () } sort keys %$value;

	return @how ? join('; ', @how) : undef;
}

# Returns a cell, or nothing.
sub cell
{
	my ($column, $value, $ours) = @_;
	my (undef, $show, @measures) = @$column;

	return races($value) if $show eq 'races';
	my ($measure) = grep { defined $value->{$_} } @measures or return;
	my ($beside) = grep { defined $ours->{$_} } @measures;
	$show = $measure =~ /by searches/ ? 'about' : $measure =~ /by part/ ? 'more' : $show if $show eq 'digits';
	return $SHOW{$show}->($value->{$measure}, $beside && $ours->{$beside});
}

# Returns a table of rows of cells.  Columns that only hold numbers are flush right.
sub markdown
{
	my ($headings, @rows) = @_;
	my @used = grep { my $c = $_; !$c || grep { defined $_->[$c] } @rows } 0 .. $#$headings;
	my @right = map { my $c = $_; $c && !grep { defined $_->[$c] && $_->[$c] !~ /^[\d*<>≈–]/ } @rows } 0 .. $#$headings;

	return if !@rows;
	return join('', map { "$_\n" } '| ' . join(' | ', @$headings[@used]) . ' |', '|' . join('|', map { $right[$_] ? '---:' : '---' } @used) . '|',
		map { my $row = $_; '| ' . join(' | ', map { $_ // $NONE } @$row[@used]) . ' |' } @rows) =~ s/^\|  \|/| |/r;
}

# of_peers(COLUMNS, FILE): a table of the peers of a file.
sub of_peers
{
	my ($name, $file) = @_;
	my @columns = @{ $COLUMNS{$name} };
	my ($peer, @order) = peers($file);
	my $ours = $peer->{neardup}{value} // {};
	my @rows = map { my $p = $peer->{$_}; [$p->{title}, map { scalar cell($_, $p->{value}, $ours) } @columns] } @order;

	return markdown(['', map { $_->[0] } @columns], grep { my $row = $_; grep { defined $row->[$_] && $columns[$_ - 1][1] ne 'text' } 1 .. $#$row } @rows);
}

# ---- Other tables ---------------------------------------------------------------------

# Returns a file as it is: numbers with three digits, except those of the first column.
sub plain
{
	my ($folder, $file) = @_;
	my @names = columns_of("$folder/$file");
	my @rows = read_csv("$folder/$file");

	return markdown(\@names, map { my $row = $_; [$row->{ $names[0] }, map { shown($row->{$_}) } @names[1 .. $#names]] } @rows);
}

# Returns a number with three digits, a text as it is, and nothing for an empty cell.
sub shown
{
	my ($value) = @_;

	return undef if ($value // '') eq '';
	return $value =~ /^-?\d+(\.\d+)?(e-?\d+)?$/ ? $value =~ /^\d+$/ ? grouped($value) : digits($value) : $value;
}

# Returns a file turned: a row for each of its columns but the first.
sub turned
{
	my ($folder, $file, $heading) = @_;
	my ($x, @names) = columns_of("$folder/$file");
	my @rows = read_csv("$folder/$file") or return;
	my ($peer) = peers("$folder/peers.csv");
	$peer->{guarded}{title} //= 'neardup, an exclusion constraint at 0.8';

	return markdown([$heading, map { $_->{$x} } @rows], map { my $name = $_; [$peer->{$name}{title} // $name, map { shown($_->{$name}) } @rows] } @names);
}

# Returns the settings of peers and what each gives.
sub settings
{
	my ($folder, $file, @names) = @_;
	my %heading = (title => '', ms => 'lookup ms', kind => 'neighbours');

	return setting_rows(\%heading, \@names, read_csv("$folder/$file"));
}

sub setting_rows
{
	my ($heading, $names, @rows) = @_;

	return markdown([map { $heading->{$_} // $_ } @$names],
		map { my $row = $_; [map { /recall|precision/ && ($row->{$_} // '') ne '' ? share($row->{$_}) : shown($row->{$_}) } @$names] } @rows);
}

# Returns whether a setting is better than another one: at a recall of 0.95 the faster, else that of the greater recall.
sub better
{
	my ($this, $other) = @_;
	my ($a, $b) = map { ($_->{recall} || 0) >= 0.95 } $this, $other;

	return $a && $b ? $this->{ms} < $other->{ms} : $a || $b ? $a : ($this->{recall} || 0) > ($other->{recall} || 0);
}

# Returns the ten nearest, with the best setting of each peer.
sub ten_nearest
{
	my ($folder) = @_;
	my %place = (near => 0, 'none near' => 1, far => 2);
	my (%best, @order);

	foreach my $row (read_csv("$folder/nearest.csv"))
	{
		my $key = join('/', @$row{qw(data kind peer)});
		push @order, $key if !$best{$key};
		$best{$key} = $row if !$best{$key} || better($row, $best{$key});
	}
	my @number = 0 .. $#order;
	my @rows = @best{ @order[sort { $best{ $order[$b] }{data} cmp $best{ $order[$a] }{data} || $place{ $best{ $order[$a] }{kind} } <=> $place{ $best{ $order[$b] }{kind} } || $a <=> $b } @number] };
	return setting_rows({ title => '', ms => 'ten nearest ms', kind => 'neighbours' }, [qw(data kind title setting ms recall)], @rows);
}

# What of BENCH=large is shown.
my $LARGE = qr{^(build s|index MB|ms at \d+$|ms at [246]0, 95|ms at [26]0, again|ms of|pages at \d+$|first search ms at [26]|cold files: ms|private MB after)};

# Returns the figures of BENCH=large, with a column for each number of rows.
sub large
{
	my ($folder) = @_;
	my (%value, %rows, @order);

	foreach my $row (grep { $_->{library} eq 'new' && $_->{what} =~ $LARGE } read_csv("$folder/large.csv"))
	{
		push @order, $row->{what} if !$value{ $row->{what} };
		$value{ $row->{what} }{ $row->{rows} } = $row->{value};
		$rows{ $row->{rows} } = 1;
	}
	my @sizes = sort { $a <=> $b } keys %rows;
	return markdown(['rows', map { grouped($_) } @sizes], map { my $what = $_; [$what, map { $value{$what}{$_} } @sizes] } @order);
}

# Returns what the machine was.
sub machine
{
	my ($folder) = @_;
	my @rows = read_csv("$folder/machine.csv") or return;
	my ($date) = $folder =~ /(\d{4}-\d\d-\d\d)/;

	return markdown(['', ''], ($date ? ['date', $date] : ()), map { [@$_{qw(what value)}] } @rows);
}

# Returns a sentence about the texts of the comparison.
sub texts
{
	my ($folder, $file) = @_;
	my ($peer) = peers($file);
	my $of = $peer->{base}{value} // {};

	return if !defined $of->{'bytes of a text'};
	my %number = map { ($_, grouped(sprintf('%.0f', $of->{$_}))) } grep { /^(bytes|queries|rows to|pairs to)/ } keys %$of;
	return sprintf("%s texts of %s bytes on average (the longest has %s); %s other texts to search for, to which %s rows have a resemblance of 0.8\n"
			. "or more; %s such pairs among the rows.\n",
		grouped($peer->{base}{rows}), @number{ 'bytes of a text', 'bytes of the longest text', 'queries', 'rows to find', 'pairs to find' });
}

# Returns how peers with other measures do at the threshold that suits the truth best, which ran fewer searches, and which were skipped.
sub notes
{
	my ($folder, $file) = @_;
	my ($peer, @order) = peers($file);
	my @notes;

	foreach my $p (grep { defined $peer->{$_}{value}{'best threshold'} } @order)
	{
		my $value = $peer->{$p}{value};
		push @notes, sprintf('%s measures another similarity. At its threshold %s it comes nearest to a resemblance of 0.8: recall %.3f, precision %.3f.',
			$peer->{$p}{title}, 0 + $value->{'best threshold'}, $value->{'recall at best threshold'}, $value->{'precision at best threshold'});
	}
	my ($most) = sort { $b <=> $a } map { $peer->{$_}{value}{'search number'} // 0 } @order;
	my @fewer = grep { ($peer->{$_}{value}{'search number'} // $most) < $most } @order;
	push @notes, "The searches of some ended after the time that the run allows; their recall and precision count the searches that ran: "
		. join('; ', map { sprintf('%s %d of %d', $peer->{$_}{title}, $peer->{$_}{value}{'search number'}, $most) } @fewer) . '.' if @fewer;
	push @notes, "Skipped: $peer->{$_}{title}, because $peer->{$_}{value}{skipped}." foreach grep { defined $peer->{$_}{value}{skipped} } @order;
	return @notes ? join("\n", map { "* $_" } @notes) . "\n" : undef;
}

my %TABLE = (
	machine => \&machine, texts => \&texts, notes => \&notes, large => \&large,
	(map { my $name = $_; ($name => sub { of_peers($name, $_[1]) }) } qw(search nearest build changes sessions pairs)),
	simhash => sub { of_peers('simhash', $_[1] =~ s/peers(?=[^\/]*$)/simhash/r) },
	libraries => sub { of_peers('libraries', $_[1] =~ m{/libraries[^/]*$} ? $_[1] : "$_[0]/libraries.csv") },
	'library-lookups' => sub { of_peers('library-lookups', $_[1] =~ m{/libraries[^/]*$} ? $_[1] : "$_[0]/libraries.csv") },
	thresholds => sub { turned($_[0], 'thresholds.csv', 'lookup ms, at a threshold of') },
	'thresholds-found' => sub { turned($_[0], 'thresholds-found.csv', 'share of what a scan of the signatures finds, at a threshold of') },
	clients => sub { turned($_[0], 'clients.csv', 'rows a second, by so many clients') },
	'spotsigs-sweep' => sub { turned($_[0], 'spotsigs-sweep.csv', 'seconds, at a threshold of') },
	recall => sub { settings($_[0], 'recall.csv', qw(title setting ms recall precision)) },
	'ten-nearest' => \&ten_nearest,
	(map { my $name = $_; ($name => sub { plain($_[0], "$name.csv") }) } qw(yuan-groups spotsigs)));

# Returns a table, or nothing if its figures are missing.  A file may take the place of the folder's peers.csv or libraries.csv.
sub table
{
	my ($name, $folder, $file) = @_;

	return ($TABLE{$name} // die "there is no table $name\n")->($folder, $file // "$folder/peers.csv");
}

1;
