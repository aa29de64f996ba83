#!/bin/sh
# The manual page has the options of --help (both come from the table in ui/options.c), each with
# the same letter, name and argument, every key of the help screen (ui/keymap.c) and no other, and the
# version of the program. $PYTOP is the program.
set -u

PYTOP=${PYTOP:-./pytop}
page=${srcdir:-$(dirname "$0")/..}/man/pytop.1
keymap=${srcdir:-$(dirname "$0")/..}/ui/keymap.c

if ! [ -x "$PYTOP" ]; then
	echo "skip man: no program at $PYTOP"
	exit 77
fi

# "-r, --rate HZ" for each option
in_help() {
	sed -n 's/^ *\(-[A-Za-z], \)\{0,1\}\(--[a-z-]*\( [A-Z]\{1,\}\)\{0,1\}\)\( .*\)\{0,1\}$/\1\2/p'
}
in_page() {
	sed -n '/^\.TP/{
		n
		s/\\f[IR]//g
		s/\\-/-/g
		s/"//g
		s/  */ /g
		s/ , /, /
		s/^\.BR\{0,1\} \(-[A-Za-z-].*\)/\1/p
	}'
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

"$PYTOP" --help | in_help | LC_ALL=C sort >"$work/help"
in_page <"$page" | LC_ALL=C sort >"$work/page"
if [ -s "$work/help" ] && diff "$work/help" "$work/page"; then
	echo "ok man: $(wc -l <"$work/help") options"
else
	echo "not ok man: pytop --help (<) and $page (>) differ"
	failed=1
fi

# The labels of the table of keys, and the tags of the section: one key a line.
sed -n 's/.*}, "\([^"]*\)",$/\1/p; s/.*}, "\([^"]*\)", .*/\1/p' "$keymap" |
	sed 's/\\\\/\\/g' | tr ' ' '\n' | LC_ALL=C sort -u >"$work/keys"
sed -n '/^\.SS Keys/,/^\.SH/{ /^\.TP/{
	n
	s/^\.B //
	s/"//g
	s/\\e/\\/g
	s/\\-/-/g
	p
	}
}' "$page" | tr ' ' '\n' | LC_ALL=C sort -u >"$work/tags"
if [ -s "$work/keys" ] && diff "$work/keys" "$work/tags"; then
	echo "ok man: $(wc -l <"$work/keys") keys"
else
	echo "not ok man: the keys of $keymap (<) and those of $page (>) differ"
	failed=1
fi

version=$("$PYTOP" --version | head -n 1)
if grep -q "^\.TH PYTOP 1 .*\"$version\"" "$page"; then
	echo "ok man: $version"
else
	echo "not ok man: the page is not of $version"
	failed=1
fi
exit $failed
