# lib.sh: functions that the tools share.  Bash scripts source it from any folder.
#
# A private server is a relocated copy of a PostgreSQL that is installed, or that setup
# unpacked.  Its programs find their libraries and shared files relative to themselves, so
# 'make install' with its pg_config changes nothing outside.  initdb refuses to run as
# root, so a tool that is run by root runs servers as the user postgres, or nobody.

set -euo pipefail
export LC_ALL=C.UTF-8

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
NPROC=$(nproc 2>/dev/null || echo 2)
MAKE=${MAKE:-make}
# Where setup unpacks a PostgreSQL if none with server headers is installed.
UNPACKED=$TOP/build/postgresql
case ${PG_CONFIG:-} in
	*/*) PG_CONFIG=$(realpath -s "$PG_CONFIG") ;;
esac

# Without the warnings that PostgreSQL's own headers cause.
STRICT_FLAGS="-Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers"

die()
{
	echo "error: $*" >&2
	exit 1
}

is_root()
{
	[ "$(id -u)" = 0 ]
}

# Prints the seconds since the epoch, with fractions.
now()
{
	local t=${EPOCHREALTIME:-$(date +%s.%N)}

	echo "${t/,/.}"
}

elapsed()
{
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}

# Checks that a pg_config has a server that runs, and the headers to build extensions.
#
# Debian's client package has pg_config and pgxs.mk too, so these prove nothing.  An
# unpacked server may lack its libraries after an upgrade of the system.
usable_pg_config()
{
	local bin pgxs headers

	bin=$("$1" --bindir 2>/dev/null) && pgxs=$("$1" --pgxs 2>/dev/null) &&
		headers=$("$1" --includedir-server 2>/dev/null) || return 1
	[ -x "$bin/initdb" ] && "$bin/postgres" --version >/dev/null 2>&1 && [ -f "$pgxs" ] && [ -f "$headers/postgres.h" ]
}

# Prints PG_CONFIG, or if it is not set the newest usable pg_config that is installed, or the unpacked one.
find_pg_config()
{
	local candidate

	if [ -n "${PG_CONFIG:-}" ]; then
		usable_pg_config "$PG_CONFIG" || return 1
		command -v "$PG_CONFIG"
		return
	fi
	for candidate in $(ls -d /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | sort -Vr) pg_config \
		"$UNPACKED"/usr/lib/postgresql/*/bin/pg_config; do
		if usable_pg_config "$candidate"; then
			command -v "$candidate"
			return
		fi
	done
	return 1
}

# copy_below DIR PATH...: copies each PATH to DIR/PATH unless that exists.
#
# All folders below DIR are real folders and not links, so files written there
# cannot land outside.  Links on the way are removed.
copy_below()
{
	local dir=$1 path to part parts

	shift
	for path in "$@"; do
		[ -e "$path" ] || continue
		to=$dir
		IFS=/ read -ra parts <<<"${path#/}"
		for part in "${parts[@]}"; do
			to=$to/$part
			[ ! -L "$to" ] || rm "$to"
		done
		[ -e "$to" ] && continue
		mkdir -p "$(dirname "$to")"
		[ "$(realpath "$(dirname "$to")")/" = "$(dirname "$to")/" ] || die "$to would be outside $dir"
		rm -rf "$to.new"
		cp -RL "$path" "$to.new"
		mv "$to.new" "$to"
	done
}

# Prints the system's Python, which the user that runs the server can start, too; or another one.
system_python()
{
	ls /usr/bin/python3 2>/dev/null || echo python3
}

# python_packages FOLDER LIST [OPTION...]: makes an environment of Python with the packages of a list,
# with some options of pip, unless the folder has it.
python_packages()
{
	local folder=$1 list=$2

	shift 2
	cmp -s "$list" "$folder/packages.txt" && return
	"$(system_python)" -m venv --clear "$folder" && "$folder/bin/pip" install -q "$@" -r "$list" &&
		cp "$list" "$folder/packages.txt"
}

# private_tree DIR: copies PostgreSQL below DIR, and sets PG_CONFIG and PGBIN to the copy.
private_tree()
{
	local dir from headers what

	mkdir -p "$1"
	dir=$(realpath "$1")
	case ${PG_CONFIG:-} in
		"$dir"/*) return ;;
	esac
	from=$(find_pg_config) || die "no PostgreSQL with server headers; run 'make setup'"
	for what in bindir pkglibdir sharedir includedir-server; do
		copy_below "$dir" "$(realpath -ms "$("$from" --$what)")"
	done
	# Only PostgreSQL's other headers, as the folder may be /usr/include itself.
	for what in pkgincludedir includedir; do
		headers=$(realpath -ms "$("$from" --$what)")
		copy_below "$dir" "$headers"/{internal,libpq} "$headers"/{libpq,pg_config,postgres_ext}*.h
	done
	PGBIN=$dir$("$from" --bindir)
	PG_CONFIG=$PGBIN/pg_config
	for what in bindir pkglibdir sharedir includedir-server; do
		[ "$("$PG_CONFIG" --$what)" = "$dir$("$from" --$what)" ] ||
			die "PostgreSQL at $("$from" --bindir) cannot be relocated"
	done
	export PG_CONFIG PGBIN
}

# Prints the user that runs servers.
server_user()
{
	if ! is_root; then
		id -un
	elif id postgres >/dev/null 2>&1; then
		echo postgres
	else
		echo nobody
	fi
}

# Runs a command as a user that may run a server.  That user must have access to the
# current folder.
as_server()
{
	if is_root; then
		runuser -u "$(server_user)" -- "$@"
	else
		"$@"
	fi
}

# Makes the server's user the owner of a folder.
give_to_server()
{
	if is_root; then
		chown -R "$(server_user)" "$@"
	fi
}

# start_server DIR PORT [SETTING...]: starts a server in DIR/data, which is created if
# needed, with the superuser postgres.  It listens only on a Unix socket in DIR/sock.  Sets the
# PG* variables.
start_server()
{
	local dir=$1 port=$2 setting

	shift 2
	export PGHOST=$dir/sock PGPORT=$port PGDATABASE=postgres
	export PGUSER=postgres
	unset PGSERVICE PGOPTIONS PGSSLMODE PGPASSWORD PGHOSTADDR
	mkdir -p "$dir/sock"
	give_to_server "$dir/sock"
	if [ ! -s "$dir/data/PG_VERSION" ]; then
		mkdir -p "$dir/data"
		give_to_server "$dir/data"
		as_server "$PGBIN/initdb" -D "$dir/data" -E UTF8 --locale=C.UTF-8 -U postgres -A trust -N >"$dir/initdb.log" 2>&1 ||
			{ cat "$dir/initdb.log" >&2; die "initdb failed"; }
		as_server tee -a "$dir/data/postgresql.conf" >/dev/null <<-CONF
			listen_addresses = ''
			unix_socket_directories = '$dir/sock'
			unix_socket_permissions = 0700
			fsync = off
			max_wal_size = '2GB'
			timezone = 'UTC'
		CONF
		for setting in "$@"; do
			echo "$setting" | as_server tee -a "$dir/data/postgresql.conf" >/dev/null
		done
	fi
	[ "$(cat "$dir/data/PG_VERSION")" = "$("$PG_CONFIG" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')" ] ||
		die "$dir/data belongs to another version of PostgreSQL; please remove it"
	as_server "$PGBIN/pg_ctl" -D "$dir/data" status >/dev/null 2>&1 && return
	: >>"$dir/server.log"
	give_to_server "$dir/server.log"
	as_server "$PGBIN/pg_ctl" -D "$dir/data" -l "$dir/server.log" -o "-p $port" -w -t 60 start >/dev/null ||
		{ tail -n 20 "$dir/server.log" >&2; die "the server did not start"; }
}

# Stops the server of DIR, by the pid in its postmaster.pid.
stop_server()
{
	if [ -s "$1/data/postmaster.pid" ]; then
		as_server "$PGBIN/pg_ctl" -D "$1/data" -m fast -w -t 60 stop >/dev/null 2>&1 || true
	fi
}

# Checks that clang-format is the release that the C files are formatted with.
clang_format_is_ours()
{
	clang-format --version 2>/dev/null | grep -q 'version 14\.'
}

# Builds the extension in the source tree and installs it with $PG_CONFIG.
build_and_install()
{
	"$MAKE" -C "$TOP" --no-print-directory -s -j "$NPROC" PG_CONFIG="$PG_CONFIG" with_llvm=no "$@" all
	"$MAKE" -C "$TOP" --no-print-directory -s PG_CONFIG="$PG_CONFIG" with_llvm=no "$@" install
}
