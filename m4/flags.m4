dnl PYTOP_C_FLAG(VARIABLE, FLAG)
dnl Append FLAG to VARIABLE when the compiler takes it without a warning.
AC_DEFUN([PYTOP_C_FLAG], [
	AC_MSG_CHECKING([whether $CC takes $2])
	pytop_saved_cflags=$CFLAGS
	CFLAGS="$CFLAGS -Werror $2"
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int flag_probe(void); int flag_probe(void) { return 0; }]])],
		[AS_VAR_APPEND([$1], [" $2"])
		AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])])
	CFLAGS=$pytop_saved_cflags
])

dnl PYTOP_LD_FLAG(VARIABLE, FLAG, [CFLAG])
dnl Append FLAG to VARIABLE when a program compiled with CFLAG links with it.
AC_DEFUN([PYTOP_LD_FLAG], [
	AC_MSG_CHECKING([whether $CC links with $2])
	pytop_saved_cflags=$CFLAGS
	pytop_saved_ldflags=$LDFLAGS
	CFLAGS="$CFLAGS $3"
	LDFLAGS="$LDFLAGS -Werror $2"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
		[AS_VAR_APPEND([$1], [" $2"])
		AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])])
	CFLAGS=$pytop_saved_cflags
	LDFLAGS=$pytop_saved_ldflags
])
