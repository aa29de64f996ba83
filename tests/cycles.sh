#!/bin/sh
# No two objects of libpytop.a need each other, directly or around a corner: who defines what and
# who needs it, by nm, must sort by tsort. $LIBPYTOP_OBJECTS are the objects (make check sets it).
set -u

NM=${NM:-nm}
CC=${CC:-cc}

# needs OBJECT...: "A B" for each object A that needs a symbol that object B defines
needs() {
	for object in "$@"; do
		$NM -g -P "$object" | awk -v object="$object" '{ print object, $1, $2 }'
	done | awk '
	$3 == "U" || $3 == "w" { needed[$1, $2] = 1; next }
	{ home[$2] = $1 }
	END {
		for (pair in needed) {
			split(pair, part, SUBSEP)
			if (part[2] in home && home[part[2]] != part[1])
				print part[1], home[part[2]]
		}
	}' | LC_ALL=C sort -u
}

# cycles OBJECT...: the circles, nothing when there are none
cycles() { needs "$@" | tsort 2>&1 >/dev/null | sed 's/^tsort: //'; }

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# An egg needs its hen, and the hen the farm, which needs the egg.
for pair in egg:hen hen:farm farm:egg; do
	printf 'int %s(void);\nint %s(void);\nint %s(void) { return %s(); }\n' \
		"${pair%:*}" "${pair#*:}" "${pair%:*}" "${pair#*:}" >"$work/${pair%:*}.c"
	$CC -c -o "$work/${pair%:*}.o" "$work/${pair%:*}.c" || exit 1
done
if [ -n "$(cycles "$work/egg.o" "$work/hen.o" "$work/farm.o")" ] &&
   [ -z "$(cycles "$work/egg.o" "$work/hen.o")" ]; then
	echo "ok cycles: a circle is noticed"
else
	echo "not ok cycles: a circle went unnoticed, or a line was taken for one"
	failed=1
fi

objects=${LIBPYTOP_OBJECTS-$(find src -name '*.o')}
# shellcheck disable=SC2086
set -- $objects
found=
[ $# = 0 ] || found=$(cycles "$@")
if [ -z "$found" ]; then
	echo "ok cycles: $# objects, none needs itself around a corner"
else
	printf '%s\nnot ok cycles: these objects need each other\n' "$found"
	failed=1
fi
exit $failed
