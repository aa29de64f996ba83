#!/bin/sh
# Brings Debian's own interpreters into a cache folder, and lists every real CPython at hand.
#
#   tests/pythons.sh          fetch what is missing; one line each: "have", "brought" or "skip ...: reason"
#   tests/pythons.sh list     one line for each interpreter found: NAME VERSION COMMAND...
#
# Each suite gets a small root of its own (its libc too), made of the packages that its interpreters
# need and nothing that has to be configured, so that neither root nor a minute's bootstrap is needed.
# The cache is ${PYTOP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pytop-tests}/pythons. A root is
# unpacked beside its name and renamed when complete: an interrupted run leaves nothing half-made.
# Exit 0 also when suites were skipped; the lines say so.
set -u

cache=${PYTOP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pytop-tests}/pythons

# suite: the packages wanted from it
suites='bullseye: python3.9 python2.7
bookworm: python3.11
trixie: python3.13
sid: python3.14 python3.15'

say() { printf '%s\n' "$*"; }

# The Debian mirror that apt is set up with; else the default of debootstrap.
mirror() {
	if [ -n "${PYTOP_TEST_MIRROR:-}" ]; then
		say "$PYTOP_TEST_MIRROR"
		return
	fi
	found=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | awk '$1 == "Debian" && $2 == "main" && $3 ~ /\/debian\/?$/ { print $3; exit }')
	say "${found:-http://deb.debian.org/debian}"
}

# apt, with all of its state in $work and none of the machine's
private_apt() {
	apt-get -qq -y -o Dir::State="$work/state" -o Dir::State::status="$work/status" \
		-o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
		-o Dir::Cache::archives="$work/debs" -o Dir::Etc::sourcelist="$work/sources" \
		-o Dir::Etc::sourceparts="$work/none" -o Dir::Etc::preferencesparts="$work/none" \
		-o Dir::Etc::preferences="$work/none" -o APT::Install-Recommends=0 \
		-o APT::Default-Release= -o Acquire::Languages=none -o Acquire::Retries=3 \
		-o Acquire::http::Timeout=60 -o APT::Sandbox::User= \
		-o APT::Update::Post-Invoke-Success=: "$@"
}

# unpack_root DIR: every fetched package into DIR, through the links of a merged /usr
unpack_root() {
	mkdir -p "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" "$1/usr/lib64" "$1/dev" "$1/proc" "$1/tmp" || return 1
	for link in bin sbin lib lib64; do
		ln -s "usr/$link" "$1/$link" || return 1
	done
	for deb in "$work"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -k --keep-directory-symlink --no-same-owner -C "$1" -f - \
			    --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' \
			    --exclude='./usr/share/man/*' --exclude='./usr/share/perl/*' \
			    --exclude='./usr/lib/*/perl/*' 2>"$work/tar.log" || return 1
	done
	chmod 1777 "$1/tmp"
	mknod -m 666 "$1/dev/null" c 1 3 2>/dev/null || : >"$1/dev/null"
}

# bring SUITE PACKAGE...: one line says what came of it
bring() {
	suite=$1
	shift
	root=$cache/$suite
	if [ "$(cat "$root/.packages" 2>/dev/null)" = "$*" ]; then
		say "have $suite: $*"
		return
	fi
	work=$cache/.work-$suite
	rm -rf "$work" "$root"
	mkdir -p "$work/state" "$work/lists/partial" "$work/cache" "$work/debs/partial" "$work/none"
	: >"$work/status"
	say "deb [signed-by=$keyring target=Packages] $(mirror) $suite main" >"$work/sources"
	if ! private_apt update >"$work/log" 2>&1; then
		say "skip $suite: no package list ($(tail -n 1 "$work/log"))"
	elif ! private_apt --download-only install "$@" >"$work/log" 2>&1; then
		say "skip $suite: $* not to be had ($(grep '^E:' "$work/log" | head -n 1))"
	elif ! unpack_root "$work/root"; then
		say "skip $suite: cannot unpack ($(head -n 1 "$work/tar.log" 2>/dev/null))"
	else
		say "$*" >"$work/root/.packages"
		mv "$work/root" "$root" && say "brought $suite: $*"
	fi
	rm -rf "$work"
}

bring_all() {
	for tool in apt-get dpkg-deb tar flock; do
		if ! command -v $tool >/dev/null 2>&1; then
			say "skip all suites: this machine has no $tool"
			return
		fi
	done
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	if [ ! -r $keyring ]; then
		say "skip all suites: no $keyring (apt-get install debian-archive-keyring)"
		return
	fi
	mkdir -p "$cache" || exit 1
	exec 9>"$cache/.lock"
	flock 9
	say "$suites" | while read -r suite packages; do
		# shellcheck disable=SC2086
		bring "${suite%:}" $packages
	done
}

# What an interpreter says of itself: the version of a CPython with a GIL and without Py_DEBUG, or nothing
ask='import sys, platform, sysconfig
if platform.python_implementation() == "CPython" and not hasattr(sys, "gettotalrefcount") \
   and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.stdout.write("%d.%d.%d %s\n" % (tuple(sys.version_info[:3]) + (sys.executable,)))'

# list_host PREFIX COMMAND: a line for an interpreter of this root, unless its file was listed before
list_host() {
	answer=$("$2" -c "$ask" 2>/dev/null </dev/null) || return 0
	[ -n "$answer" ] || return 0
	version=${answer%% *}
	file=$(readlink -f "${answer#* }") || return 0
	case $seen in *"|$file|"*) return ;; esac
	seen="$seen|$file|"
	case $file in
	"$pyenv"/*) say "pyenv-$version $version $file" ;;
	*) say "$1-$version $version $file" ;;
	esac
}

# list_root SUITE: lines for the interpreters of one cached root
list_root() {
	root=$cache/$1
	if [ "$(id -u)" = 0 ]; then
		enter="chroot $root"
	else
		enter="unshare -r --root=$root"
	fi
	for package in $(cat "$root/.packages"); do
		# shellcheck disable=SC2086
		answer=$($enter /usr/bin/"$package" -c "$ask" 2>/dev/null </dev/null) || answer=
		if [ -n "$answer" ]; then
			version=${answer%% *}
			say "$1-$version $version $enter ${answer#* }"
		else
			say "skip $1: $package does not run here" >&2
		fi
	done
}

list_all() {
	seen=
	pyenv=$(readlink -f "${PYENV_ROOT:-$HOME/.pyenv}" 2>/dev/null)
	pyenv=${pyenv:-/nonexistent}
	old_ifs=$IFS
	IFS=:
	for dir in $PATH; do
		IFS=$old_ifs
		for file in "$dir"/python3 "$dir"/python3.[0-9] "$dir"/python3.[0-9][0-9]; do
			[ -x "$file" ] || continue
			case $file in */shims/*) continue ;; esac    # pyenv's are listed below, by their own files
			list_host path "$file"
		done
	done
	IFS=$old_ifs
	for file in "$pyenv"/versions/*/bin/python; do
		[ -x "$file" ] && list_host pyenv "$file"
	done
	for file in "$cache"/*/.packages; do
		[ -r "$file" ] || continue
		file=${file%/.packages}
		list_root "${file##*/}"
	done
}

case ${1:-bring} in
bring) bring_all ;;
list) list_all ;;
*)
	say "usage: $0 [bring|list]" >&2
	exit 2
	;;
esac
