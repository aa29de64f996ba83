#!/bin/sh
# The include table of src/README.md, checked: a file that includes what its room may not see is a
# failure, and so is a /proc path written outside target, an include without its room, and a circle
# of headers. With a folder as argument, that tree is checked instead of this one.
set -u

# room: what it may include besides itself
may='base:
target: base
python: target base
record: base
profile: record base
export: profile record base
front: target python record profile export base
ui: pytop.h base profile/flat.h profile/tree.h export/export.h'

# header: the rooms or files that alone may include it
alone='gelf.h: target
libelf.h: target
elf.h: target
sys/uio.h: target
sys/ptrace.h: target
zlib.h: record export
pthread.h: sampler.c worker.c
curses.h: ui
ncurses.h: ui
term.h: ui'

sources() { (cd "$1" && find src ui -name '*.[ch]' | LC_ALL=C sort); }

# includes ROOT: FILE ROOM LINE HEADER KIND for each include; KIND is system, quoted or proc
includes() {
	sources "$1" | (cd "$1" && xargs awk '
	FNR == 1 {
		n = split(FILENAME, part, "/")
		room = part[1] == "ui" ? "ui" : n > 2 ? part[2] : "front"
	}
	/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
		kind = index($0, "<") ? "system" : "quoted"
		match($0, /[<"][^>"]*[>"]/)
		print FILENAME, room, FNR, substr($0, RSTART + 1, RLENGTH - 2), kind
		next
	}
	index($0, "\"/proc") { print FILENAME, room, FNR, "/proc", "proc" }')
}

# check_table ROOT: one line for each include that breaks the table; the last says how many stood
check_table() {
	includes "$1" | awk -v may="$may" -v alone="$alone" '
	BEGIN {
		n = split(may, rows, "\n")
		for (i = 1; i <= n; i++) {
			split(rows[i], half, ":")
			known[half[1]] = 1
			m = split(half[2], seen, " ")
			for (j = 1; j <= m; j++)
				allowed[half[1], seen[j]] = 1
		}
		n = split(alone, rows, "\n")
		for (i = 1; i <= n; i++) {
			split(rows[i], half, ":")
			owners[half[1]] = half[2] " "
		}
	}
	function bad(why) { print $1 ":" $3 ": " why; broken++ }
	{ file = $1; sub(/.*\//, "", file) }
	!($2 in known) { bad("no such room: " $2); next }
	$5 == "proc" { if ($2 != "target") bad("only target may open /proc"); next }
	$5 == "system" {
		if ($4 in owners && !index(owners[$4], " " $2 " ") && !index(owners[$4], " " file " "))
			bad("<" $4 "> belongs to" owners[$4])
		next
	}
	{
		room = $4
		if (!sub(/\/[^\/]*$/, "", room))
			room = "front"
		if (room == $2 || ($2, room) in allowed || ($2, $4) in allowed)
			next
		bad((room in known) ? $2 " may not include " $4 : "include it with its room: " $4)
	}
	END { exit broken > 0 }'
}

# check_headers ROOT: the circles that headers form by including each other
check_headers() {
	includes "$1" | awk '$5 == "quoted" && $1 ~ /\.h$/ {
		from = $1
		sub(/^src\//, "", from)
		print from, $4
	}' | tsort 2>&1 >/dev/null
}

# expect_bad FILE LINE [FILE LINE]: a tree that holds only this must be found broken
expect_bad() {
	fixture=$(mktemp -d) || exit 1
	told="$*"
	while [ $# -gt 0 ]; do
		mkdir -p "$fixture/$(dirname "$1")" "$fixture/ui" "$fixture/src"
		printf '%s\n' "$2" >"$fixture/$1"
		shift 2
	done
	if check_table "$fixture" >/dev/null && [ -z "$(check_headers "$fixture")" ]; then
		echo "not ok rooms: went unnoticed: $told"
		failed=1
	fi
	rm -rf "$fixture"
}

failed=0
root=${1:-${srcdir:-$(dirname "$0")/..}}

expect_bad src/base/text.c '#include "target/maps.h"'
expect_bad src/record/tally.c '#include "python/frames.h"'
expect_bad src/python/frames.c '#include <sys/uio.h>'
expect_bad src/python/frames.c 'open("/proc/1/maps");'
expect_bad src/resolver.c '#include <pthread.h>'
expect_bad src/target/maps.c '#include "maps.h"'
expect_bad src/base/text.h '#include "base/json.h"' src/base/json.h '#include "base/text.h"'
expect_bad ui/table.c '#include "record/tally.h"'
[ $failed = 0 ] && echo "ok rooms: each kind of trespass is noticed"

for check in table headers; do
	if found=$(check_$check "$root") && [ -z "$found" ]; then
		echo "ok rooms: the $check of $(sources "$root" | wc -l) files"
	else
		printf '%s\nnot ok rooms: %s\n' "$found" "$check"
		failed=1
	fi
done
exit $failed
