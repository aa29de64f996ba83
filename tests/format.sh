#!/bin/sh
# Every C file is as clang-format 14 writes it (other versions write some things otherwise).
# tests/format.sh fix rewrites what is not.
set -u

cd "${srcdir:-$(dirname "$0")/..}" || exit 1
for tool in clang-format-14 clang-format none; do
	case $($tool --version 2>/dev/null) in
	*" 14."*) break ;;
	esac
done
if [ $tool = none ]; then
	echo "skip format: no clang-format of version 14"
	exit 77
fi

files=$(find src ui tests -name '*.[ch]' | LC_ALL=C sort)
if [ "${1:-}" = fix ]; then
	# shellcheck disable=SC2086
	exec $tool -i $files
fi

failed=0
for file in $files; do
	if ! $tool "$file" | diff -u "$file" - >/dev/null; then
		$tool "$file" | diff -u "$file" - | head -n 20
		echo "not ok format: $file (tests/format.sh fix mends it)"
		failed=1
	fi
done
[ $failed = 1 ] || echo "ok format: $(echo "$files" | wc -l) files"
exit $failed
