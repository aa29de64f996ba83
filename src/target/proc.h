/*
 * proc: the small text files of /proc: read whole into the caller's buffer, and taken apart.
 */
#ifndef PYTOP_TARGET_PROC_H
#define PYTOP_TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

/* What an errno of /proc means: ST_ENDED (ENOENT, ESRCH), ST_DENIED (EPERM, EACCES), ST_SYSTEM. */
enum status proc_status(int errnum);

/*
 * Read name inside the directory dir_fd (an absolute name stands for itself); at most size - 1
 * bytes, and a NUL behind them. *text lies in buf. Errors as proc_status, errno kept.
 */
enum status proc_read(int dir_fd, const char *name, char *buf, size_t size,
		      struct bytes *text) MUST_CHECK;
/* The same, from its start, of a file that is kept open. */
enum status proc_reread(int fd, char *buf, size_t size, struct bytes *text) MUST_CHECK;

/* The part behind "KEY:" of a file like status, up to the end of its line; empty: not there. */
struct bytes proc_field(struct bytes text, const char *key);

/* The next number in decimal, after blanks; false at the end or at anything else. */
bool proc_number(struct bytes *text, uint64_t *v);
/* The next number in hexadecimal, "0x" before it or not. */
bool proc_hex(struct bytes *text, uint64_t *v);

/* What follows the last ')' of a stat file: "S 1 2 ..."; empty: there is none. */
struct bytes proc_after_name(struct bytes text);

#endif
