# pages.pl: prints pages of unpacked documentation packages as rows for COPY
# (site, label, variant, body).
#
#   perl pages.pl DIRECTORY     DIRECTORY/SITE is a package unpacked by dpkg -x
#
# A page's label is its title: pages with the same title are the same document for
# another architecture or version.  Each page has two variants: "text" is its content
# alone, "framed" is its content inside the menus of its site.  Menus are real ones, the
# texts of all links of all pages, distributed over the sites.  Each site has a header and
# a footer that all its pages share, and links that differ between pages.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;

my ($directory) = @ARGV;
my $HEADER = 60;
my $PER_PAGE = 25;
my $FOOTER = 25;
my (%page, %links);

sub read_page
{
	my ($site, $file) = @_;
	my $html = read_text($file);
	my $content = content_of($html) or return;
	my ($title, $family);

	($title) = $html =~ m{<title>\s*(?:Chapter |Appendix )?(?:[A-Z\d.]+\.\W+)?(.*?)(?: &#8212;.*?| &mdash;.*?| — .*?)?</title>}s or return;
	($family = $site) =~ s/-.*//;
	push @{ $page{$site}{"$family: $title"} }, $content;
	while ($html =~ m{<a\b[^>]*>([^<]{3,60})</a>}g)
	{
		my $link = $1;

		$link =~ s/\s+/ /g;
		$links{$link} = 1 if $link =~ /^[A-Z][a-z]+ [A-Za-z ]+$/;
	}
}

sub pages_of
{
	my ($site) = @_;
	my $docs = (glob("$directory/$site/usr/share/doc/*/"))[0];

	read_page($site, $_) foreach sort(glob("$docs/en/*.html"), glob("$docs/html/*.html"));
}

sub frame
{
	my ($pool, $label, $content) = @_;
	my @changing = map { $pool->[ number("$label $_") % @$pool ] } 1 .. $PER_PAGE;
	my @header = @{$pool}[ 0 .. $HEADER - 1 ];
	my @footer = @{$pool}[ $HEADER .. $HEADER + $FOOTER - 1 ];
	my $item = sub { join('', map { "<li>$_</li>\n" } @_) };

	return $item->(@header) . $content . $item->(@changing) . $item->(@footer);
}

my @sites = map { (split m{/})[-1] } sort(glob("$directory/*"));

pages_of($_) foreach @sites;

my %pool;
my @all = sort { number($a) <=> number($b) || $a cmp $b } keys %links;
push @{ $pool{ $sites[ $_ % @sites ] } }, $all[$_] foreach 0 .. $#all;

foreach my $site (@sites)
{
	die "$site has too few links\n" if @{ $pool{$site} } < $HEADER + $FOOTER + $PER_PAGE;
	foreach my $label (sort keys %{ $page{$site} })
	{
		my @copies = @{ $page{$site}{$label} };

		# A title that occurs twice in a site is not used as a label.
		next if @copies > 1;
		put_row($site, $label, 'text', $copies[0]);
		put_row($site, $label, 'framed', frame($pool{$site}, "$site $label", $copies[0]));
	}
}
