# languages.pl: prints the texts of one language as rows for COPY
# (site, label, body).
#
#   perl languages.pl LANGUAGE DIRECTORY...     DIRECTORY is an unpacked package
#
# A site is a package in a version.  Texts with the same label are the same text in
# another site.  The label is what the authors of the text call it in all languages: the
# identifier of a section of the installation guide, the file of a page of GNOME's help,
# the file of messages of Firefox and Thunderbird.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Rows;
use IO::Uncompress::Unzip qw($UnzipError);

my ($language, @directories) = @ARGV;
my $help = $language eq 'en' ? 'C' : $language;

# Sections without an identifier of their own have one that a program made.
sub put_guide
{
	my ($site, $file) = @_;
	my $content = content_of(read_text($file)) or return;
	my ($label) = $content =~ /<a (?:name|id)="([^"]+)"/;

	put_row($site, "guide: $label", $content) if $label && $label !~ /^id[m\d]/;
}

# The authors of a page of help are left out.
sub put_help
{
	my ($site, $file) = @_;
	my $content = read_text($file);
	my ($label) = $file =~ m{([^/]+/[^/]+)\.page$};

	$content =~ s{<(?:\w+:)?credit\b.*?</(?:\w+:)?credit>}{}sg;
	$content =~ s{<(?:license|years|email)\b.*?</(?:license|years|email)>}{}sg;
	put_row($site, "help: $label", $content);
}

# Returns the messages of a file that are in Arabic, without their names and places to fill.
sub messages_of
{
	my ($text) = @_;
	my @messages;

	foreach my $line (split /\n/, $text)
	{
		next if $line =~ /^\s*#|accesskey|commandkey/;
		$line =~ s/^\s*[-.\w]+\s*=//;
		$line =~ s/\{[^{}]*\}//g;
		push @messages, $line if $line =~ /[\xD8-\xDB][\x80-\xBF]/;
	}
	return join("\n", @messages);
}

# Files of the older formats are left out, since many of them became files of this one.
sub put_messages
{
	my ($site, $archive) = @_;
	my $zip = IO::Uncompress::Unzip->new($archive) or die "$archive: $UnzipError";

	for (my $status = 1; $status > 0; $status = $zip->nextStream())
	{
		my $name = $zip->getHeaderInfo()->{Name};
		my $text = do { local $/; <$zip> };

		next if !defined $text || $name !~ s{^.*\blocalization/$language/(.*)\.ftl$}{$1};
		put_row($site, "messages: $name", messages_of($text));
	}
}

foreach my $directory (@directories)
{
	my ($site) = $directory =~ m{([^/]+/[^/]+)/*$};

	put_guide($site, $_) foreach sort glob("$directory/usr/share/doc/installation-guide-*/$language/*.html");
	put_help($site, $_) foreach sort glob("$directory/usr/share/help/$help/*/*.page");
	put_messages($site, $_) foreach sort glob("$directory/usr/lib/*/{,*/}extensions/langpack-$language\@*.xpi");
}
