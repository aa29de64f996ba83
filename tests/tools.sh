#!/bin/sh
# Brings the programs that judge pytop's exports: the Firefox Profiler's own client (npm packages, with
# the node they need, in the cache folder) and a headless browser (the distribution's chromium).
#
#   tests/tools.sh            bring what is missing; one line each: "have", "brought" or "skip ...: reason"
#   tests/tools.sh list       print NAME PATH for each of node, profiler-cli, chromium that is there
#
# Exit 0 also when something could not be had; the lines say so, and the tests that need it say skip.
set -u

cache=${PYTOP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pytop-tests}
node=$cache/npm/node_modules/node/bin/node
client=$cache/npm/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js

say() { printf '%s\n' "$*"; }

browser_path() {
	for name in chromium chromium-browser google-chrome; do
		command -v $name && return
	done
	return 1
}

have_client() { [ -r "$client" ] && "$node" --version >/dev/null 2>&1; }

bring_client() {
	if have_client; then
		say "have profiler-cli"
		return
	fi
	if ! command -v npm >/dev/null 2>&1; then
		say "skip profiler-cli: no npm on this machine"
		return
	fi
	mkdir -p "$cache/npm" || return
	if npm install --prefix "$cache/npm" --no-audit --no-fund --no-save --loglevel=error \
	    node@24 @firefox-devtools/profiler-cli </dev/null >"$cache/npm.log" 2>&1 && have_client; then
		say "brought profiler-cli"
	else
		say "skip profiler-cli: npm: $(grep -v '^npm error A complete' "$cache/npm.log" | head -n 1)"
	fi
}

bring_chromium() {
	if browser_path >/dev/null; then
		say "have chromium"
	elif [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
		say "skip chromium: not installed, and only root can with apt-get (apt-get install chromium)"
	elif DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium \
	    </dev/null >"$cache/apt.log" 2>&1 && browser_path >/dev/null; then
		say "brought chromium"
	else
		say "skip chromium: apt-get: $(grep '^E:' "$cache/apt.log" | head -n 1)"
	fi
}

case ${1:-bring} in
bring)
	mkdir -p "$cache" || exit 1
	if command -v flock >/dev/null 2>&1; then
		exec 9>"$cache/.tools-lock"
		flock 9
	fi
	bring_client
	bring_chromium
	;;
list)
	if have_client; then
		say "node $node"
		say "profiler-cli $client"
	fi
	! browser=$(browser_path) || say "chromium $browser"
	;;
*)
	say "usage: $0 [bring|list]" >&2
	exit 2
	;;
esac
