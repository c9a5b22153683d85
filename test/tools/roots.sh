# roots.sh: Debian systems of their own, by debootstrap and chroot.  Sourced after lib.sh.
#
# A root is thrown away after use; what takes long to fetch or to build is kept
# in $ROOTS.  Commands run in namespaces of their own: when they end, or their
# time does, their processes and mounts are gone.
#
#   NEARDUP_ROOTS    the folder to keep things in, /var/tmp/neardup-roots unless told
#   NEARDUP_MIRROR   a Debian mirror; that of this machine's apt unless told

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

# apt_uri LABEL: where this machine's apt has Debian's archive of that label from.
apt_uri()
{
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null |
		sed -n "s/^Debian|$1|//p" | head -n 1
}

# apt_sources SUITE: what a root's sources.list says.
apt_sources()
{
	local security

	echo "deb $MIRROR $1 main"
	echo "deb-src $MIRROR $1 main"
	security=$(apt_uri Debian-Security)
	# Not of what has no support yet, or none any more.
	case $1 in
		bookworm | trixie) [ -z "$security" ] || echo "deb $security $1-security main" ;;
	esac
}

# base_root SUITE: debootstrap it, if that was not done yet.  About a minute.
base_root()
{
	local root script=

	[ -e "$ROOTS/$1.tar" ] && return
	MIRROR=${NEARDUP_MIRROR:-$(apt_uri Debian)}
	[ -n "$MIRROR" ] || die "this machine's apt knows no Debian mirror; please name one in NEARDUP_MIRROR"
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

# new_root SUITE DIR: a fresh root in DIR, with the packages that were once fetched.
new_root()
{
	base_root "$1"
	rm -rf "$2"
	mkdir -p "$2" "$ROOTS/packages-$1"
	tar -C "$2" -xf "$ROOTS/$1.tar"
	chmod 755 "$2"
	find "$ROOTS/packages-$1" -name '*.deb' -exec cp -lt "$2/var/cache/apt/archives" {} +
	cp -L /etc/resolv.conf /etc/hosts "$2/etc/"
}

# drop_root SUITE DIR: away with it, but for the packages that it fetched.
drop_root()
{
	[ -d "$2" ] || return 0
	find "$2/var/cache/apt/archives" -name '*.deb' -links 1 -exec mv -nt "$ROOTS/packages-$1" {} + 2>/dev/null || true
	rm -rf --one-file-system "$2"
}

# in_root DIR SECONDS COMMAND...: as root in the root, in namespaces of its own.
#
# In the background, so that a signal to this shell need not wait for its end.
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

# End what runs in a root, for a trap.
end_in_root()
{
	[ -z "${IN_ROOT:-}" ] || { kill "$IN_ROOT"; wait "$IN_ROOT"; } 2>/dev/null || true
}

# install_in DIR PACKAGE...: by apt, without what is only recommended.
install_in()
{
	local dir=$1

	shift
	in_root "$dir" 1800 sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@"
}

# clone_into DIR PATH: the committed tree, to PATH in the root DIR.
clone_into()
{
	git -C "$TOP" rev-parse -q --verify HEAD >/dev/null || die "$TOP is no git repository"
	git clone -q --no-hardlinks "$TOP" "$1$2"
}
