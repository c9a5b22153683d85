# roots.sh: separate Debian systems, made with debootstrap and chroot.  Source it after
# lib.sh.
#
# A root is removed after use.  Files that take long to fetch or build are kept in
# $ROOTS.  Commands run in their own namespaces, so their processes and mounts vanish
# when they end or reach their time limit.
#
#   NEARDUP_ROOTS    the folder for files that are kept; default: /var/tmp/neardup-roots
#   NEARDUP_MIRROR   a Debian mirror; default: that of this machine's apt

ROOTS=${NEARDUP_ROOTS:-/var/tmp/neardup-roots}

need_roots()
{
	local program

	is_root || die "debootstrap and chroot need root; please run this as root"
	for program in debootstrap unshare git; do
		command -v $program >/dev/null || die "please install $program"
	done
	mkdir -p "$ROOTS"
}

# apt_uri LABEL: prints the address from which apt gets Debian's archive of that label.
apt_uri()
{
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null |
		sed -n "s/^Debian|$1|//p" | head -n 1
}

# apt_sources SUITE: prints a root's sources.list.
apt_sources()
{
	local security

	echo "deb $MIRROR $1 main"
	echo "deb-src $MIRROR $1 main"
	security=$(apt_uri Debian-Security)
	# Only supported releases have security updates.
	case $1 in
		bookworm | trixie) [ -z "$security" ] || echo "deb $security $1-security main" ;;
	esac
}

# base_root SUITE: runs debootstrap unless that was done before.  Takes about a minute.
base_root()
{
	local root script=

	[ -e "$ROOTS/$1.tar" ] && return
	MIRROR=${NEARDUP_MIRROR:-$(apt_uri Debian)}
	[ -n "$MIRROR" ] || die "this machine's apt has no Debian mirror; please set NEARDUP_MIRROR"
	[ -e "/usr/share/debootstrap/scripts/$1" ] || script=/usr/share/debootstrap/scripts/sid
	root=$(mktemp -d "$ROOTS/base.XXXXXX")
	echo "debootstrap $1" >&2
	timeout 1800 debootstrap --variant=minbase --include=ca-certificates "$1" "$root" "$MIRROR" $script >"$ROOTS/$1.log" 2>&1 ||
		{ tail -n 20 "$ROOTS/$1.log" >&2; die "debootstrap $1 failed"; }
	apt_sources "$1" >"$root/etc/apt/sources.list"
	rm -f "$root"/var/cache/apt/archives/*.deb
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod 755 "$root/usr/sbin/policy-rc.d"
	apt-config dump --format '%F "%v";%n' Acquire | grep -E '^Acquire::(http|https|Check-)' >"$root/etc/apt/apt.conf.d/99machine" || true
	chmod 755 "$root"
	tar -C "$root" -cf "$ROOTS/$1.tar.new" .
	mv "$ROOTS/$1.tar.new" "$ROOTS/$1.tar"
	rm -rf "$root"
}

# new_root SUITE DIR: makes a fresh root in DIR, with the packages fetched before.
new_root()
{
	base_root "$1"
	rm -rf "$2"
	mkdir -p "$2" "$ROOTS/packages-$1"
	tar -C "$2" -xf "$ROOTS/$1.tar"
	chmod 755 "$2"
	find "$ROOTS/packages-$1" -name '*.deb' -exec cp -lt "$2/var/cache/apt/archives" {} +
	echo 'APT::Keep-Downloaded-Packages "true";' >"$2/etc/apt/apt.conf.d/99keep"
	cp -L /etc/resolv.conf /etc/hosts "$2/etc/"
}

# drop_root SUITE DIR: removes a root but keeps the packages that it fetched.
drop_root()
{
	[ -d "$2" ] || return 0
	find "$2/var/cache/apt/archives" -name '*.deb' -links 1 -exec mv -nt "$ROOTS/packages-$1" {} + 2>/dev/null || true
	rm -rf --one-file-system "$2"
}

# in_root DIR SECONDS COMMAND...: runs a command as root in a root, in its own namespaces.
#
# It runs in the background, so that this shell can handle signals meanwhile.
in_root()
{
	local dir=$1 seconds=$2 status=0

	shift 2
	timeout -k 10 "$seconds" unshare --mount --pid --ipc --uts --fork --kill-child --propagation private \
		bash -c '
			set -e
			root=$1
			mount -t proc proc "$root/proc"
			mount -t sysfs -o ro sysfs "$root/sys" || true
			mount -t tmpfs tmpfs "$root/dev/shm"
			mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
			shift
			chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
				HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
		' in_root "$dir" "$@" &
	IN_ROOT=$!
	wait "$IN_ROOT" || status=$?
	IN_ROOT=
	return $status
}

# Ends the command that runs in a root; for traps.
end_in_root()
{
	[ -z "${IN_ROOT:-}" ] || { kill "$IN_ROOT"; wait "$IN_ROOT"; } 2>/dev/null || true
}

# install_in DIR PACKAGE...: installs packages with apt, without recommended ones.
install_in()
{
	local dir=$1

	shift
	in_root "$dir" 1800 sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@"
}

# clone_into DIR PATH: clones this repository to PATH in the root DIR.
clone_into()
{
	git -C "$TOP" rev-parse -q --verify HEAD >/dev/null || die "$TOP is not a git repository"
	git clone -q --no-hardlinks "$TOP" "$1$2"
}
