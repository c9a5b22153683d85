# The private copy of PostgreSQL that the tools work in has no links to the original,
# and is made only of a PostgreSQL with server headers.
use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

my $tools = abs_path('test/tools');
my $base = abs_path(tempdir(CLEANUP => 1));
my $real = "$base/machine";

sub write_file
{
	my ($path, $text) = @_;

	make_path(dirname($path));
	open my $file, '>', $path or die "$path: $!";
	print $file $text;
	close $file;
	chmod 0755, $path;
}

# A pg_config like Debian's, which finds its folders relative to its own place.
sub make_machine
{
	write_file("$real/usr/lib/postgresql/99/bin/pg_config", <<'SH');
#!/bin/sh
root=$(realpath "$0")
root=${root%/usr/lib/postgresql/99/bin/pg_config}
case $1 in
	--bindir) echo $root/usr/lib/postgresql/99/bin ;;
	--pkglibdir) echo $root/usr/lib/postgresql/99/lib ;;
	--sharedir) echo $root/usr/share/postgresql/99 ;;
	--includedir | --pkgincludedir) echo $root/usr/include/postgresql ;;
	--includedir-server) echo $root/usr/include/postgresql/99/server ;;
	--pgxs) echo $root/usr/lib/postgresql/99/lib/pgxs.mk ;;
esac
SH
	write_file("$real/usr/lib/postgresql/99/bin/$_", "#!/bin/sh\n") for qw(postgres initdb);
	write_file("$real/usr/lib/postgresql/99/lib/pgxs.mk", '');
	write_file("$real/usr/share/postgresql/99/postgres.bki", '');
	write_file("$real/usr/include/postgresql/$_", '') for qw(libpq-fe.h internal/c.h);
}

# Runs a few lines of bash with lib.sh.  Returns the output and whether they succeeded.
sub tools
{
	my ($lines) = @_;
	local $ENV{PG_CONFIG} = "$real/usr/lib/postgresql/99/bin/pg_config";

	write_file("$base/script", "source $tools/lib.sh\n$lines\n");
	my $said = `bash $base/script 2>&1`;
	return ($? == 0, $said);
}

sub listing
{
	my ($folder) = @_;

	return scalar `find $folder -printf '%p %y %s %l\n' | sort`;
}

make_machine();
my $before = listing($real);
my ($well, $said) = tools('usable_pg_config "$PG_CONFIG"');
ok(!$well, 'a server without headers is not usable, though pgxs.mk is there');
($well, $said) = tools("private_tree $base/without");
ok(!$well, 'no private copy is made of it');
like($said, qr/server headers/, 'the message says what is missing');
is(listing($real), $before, 'nothing is left behind');

write_file("$real/usr/include/postgresql/99/server/postgres.h", "headers\n");
$before = listing($real);
($well, $said) = tools("private_tree $base/pg\necho made \$PG_CONFIG");
ok($well, 'with headers a private tree is made') or diag($said);
like($said, qr{^made $base/pg\Q$real\E/usr/lib/postgresql/99/bin/pg_config$}m, 'with a pg_config of its own');
ok(-f "$base/pg$real/usr/include/postgresql/$_", "it has $_") for qw(99/server/postgres.h libpq-fe.h internal/c.h);
is(`find $base/pg -type l`, '', 'the copy has no links');
($well, $said) = tools("private_tree $base/pg\nprivate_tree $base/pg\necho made \$PG_CONFIG");
like($said, qr{^made $base/pg\Q$real\E/usr/lib}m, 'a second call finds the copy');

# A copy in which one folder is a link to the original, so that files written below it
# would land there.
make_path("$base/old$real/usr/include");
symlink("$real/usr/include/postgresql", "$base/old$real/usr/include/postgresql") or die $!;
($well, $said) = tools("private_tree $base/old");
ok($well, 'a tree with a link to the machine is mended') or diag($said);
is(`find $base/old -type l`, '', 'the links are gone');
write_file("$base/old$real/usr/include/postgresql/99/server/extension/new.h", '');
is(listing($real), $before, 'files written to the copy do not reach the original');

done_testing();
