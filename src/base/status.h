/*
 * status: every error pytop knows, each with a name, a sentence and a hint, in one table.
 *
 * Functions that can fail return enum status; their results are untouched on failure. src/ never
 * prints: the sentence is formatted by whoever owns the screen or stderr.
 */
#ifndef PYTOP_BASE_STATUS_H
#define PYTOP_BASE_STATUS_H

#include <stddef.h>
#include <sys/types.h>

#define MUST_CHECK __attribute__((warn_unused_result))

/*
 * X(NAME, sentence, hint). In both, {pid}, {what} (a path, a version, a command ...), {errno} (the
 * text of the system's error) and {self} (pytop's own absolute path, quoted where a shell would
 * split it) are replaced.
 */
/* clang-format off */
#define STATUS_TABLE(X) \
	X(OK, "no error", "") \
	X(NO_MEMORY, "out of memory", "close other programs, or lower the limits") \
	X(TOO_BIG, "{what} is bigger than pytop accepts", "") \
	X(OVERRUN, "data ends before it should: {what}", "") \
	X(BAD_DATA, "{what} does not hold together", "") \
	X(TORN, "the target moved while it was read", "") \
	X(FAULT, "an address of process {pid} could not be read", "") \
	X(AGAIN, "not ready yet", "") \
	X(CANCELLED, "cancelled", "") \
	X(SYSTEM, "{what}: {errno}", "") \
	X(USAGE, "{what}", "see pytop --help") \
	X(NO_PROCESS, "no process {pid}", \
	  "run pytop without arguments to choose from the running Python processes") \
	X(ENDED, "process {pid} has ended", "") \
	X(IS_THREAD, "{pid} is a thread of process {what}", "run: {self} {what}") \
	X(IS_SELF, "process {pid} is pytop itself", "give the number of a Python process") \
	X(IS_KERNEL, "process {pid} is a thread of the kernel", "give the number of a Python process") \
	X(IS_ZOMBIE, "process {pid} has ended and waits for its parent to notice", "") \
	X(NOT_PYTHON, "process {pid} ({what}) is not a CPython process", \
	  "run pytop without arguments to choose from the running Python processes") \
	X(NOT_PYTHON_CHILDREN, "process {pid} is not Python, but these children are: {what}", \
	  "give one of their numbers") \
	X(IS_PYPY, "process {pid} runs PyPy, which pytop cannot read", \
	  "pytop reads CPython 3.8 and later") \
	X(IS_GRAALPY, "process {pid} runs GraalPy, which pytop cannot read", \
	  "pytop reads CPython 3.8 and later") \
	X(IS_32_BIT, "process {pid} is a 32-bit process, which pytop cannot read", \
	  "only 64-bit processes can be profiled") \
	X(UNSUPPORTED_VERSION, "process {pid} runs CPython {what}, which this pytop does not support", \
	  "a newer pytop may") \
	X(OLD_VERSION, "process {pid} runs CPython {what}, which pytop does not support", \
	  "pytop reads CPython 3.8 and later") \
	X(UNSUPPORTED_BUILD, "process {pid} runs CPython {what}: this build is not supported", "") \
	X(STARTING, "process {pid}: its Python interpreter did not finish starting", \
	  "try again in a moment") \
	X(DENIED_OWNER, "process {pid} belongs to {what}, and only its owner or root may read it", \
	  "run: sudo {self} {pid}") \
	X(DENIED_YAMA, \
	  "the kernel lets you read only your own children (kernel.yama.ptrace_scope = {what})", \
	  "run: sudo {self} {pid}, or start it with: {self} -- COMMAND") \
	X(DENIED_YAMA_OFF, "the kernel forbids reading any process (kernel.yama.ptrace_scope = 3)", \
	  "it can only be changed by a reboot with another value") \
	X(DENIED_DUMPABLE, \
	  "process {pid} has made itself unreadable (it is not dumpable: set-uid or PR_SET_DUMPABLE)", \
	  "run: sudo {self} {pid}") \
	X(DENIED_CAPABILITY, "process {pid} has capabilities that you lack", "run: sudo {self} {pid}") \
	X(DENIED_CONTAINER, "this container may not read other processes (no CAP_SYS_PTRACE)", \
	  "start the container with --cap-add=SYS_PTRACE, or run pytop on the host") \
	X(DENIED_NAMESPACE, "process {pid} lies outside this user namespace, in which alone you have rights", \
	  "run {self} {pid} outside of it: on the host, or not under unshare or rootless containers") \
	X(DENIED_TO_ROOT, "reading process {pid} was refused, although you may read any: {errno}", \
	  "a security module, a seccomp filter or the kernel's lockdown forbids it: run pytop on the host, or lift that") \
	X(DENIED, "reading process {pid} was refused: {errno}", "run: sudo {self} {pid}") \
	X(TRACED, "process {pid} is already traced by process {what}, so it cannot be stopped as well", \
	  "end that tracer, or leave out --blocking: {self} {pid}") \
	X(NO_THREAD, "process {pid} has no thread {what}", \
	  "see its threads with: {self} --dump {pid}") \
	X(NO_COMMAND, "cannot run {what}: {errno}", "check the name and the PATH") \
	X(COMMAND_NOT_PYTHON, "{what} ended before a Python interpreter appeared in it", \
	  "a child of it counts when it lives for more than a moment (0.3 s)") \
	X(NO_TERMINAL, "there is no terminal to draw on", \
	  "use --batch, --dump, or -d SECONDS with -o FILE") \
	X(NO_PYTHONS, "no running Python process that you may read was found", \
	  "run: sudo {self}, or start one with: {self} -- COMMAND") \
	X(CANNOT_WRITE, "cannot write {what}: {errno}", "name another file with -o") \
	X(NOWHERE_TO_WRITE, "neither the current directory, HOME nor TMPDIR can be written", \
	  "name a file with -o") \
	X(UNKNOWN_FORMAT, "the suffix of {what} names no format", \
	  "use .json.gz, .html or .txt, or name the format with -f") \
	X(NO_SAMPLES, "nothing was recorded yet", "") \
	X(NO_LOG, "there is no log to export from (--no-spool)", "start pytop without --no-spool") \
	X(SPOOL_LOCKED, "the spool {what} is in use by another pytop", "name another directory") \
	X(SPOOL_NOT_EMPTY, "the directory {what} is not empty", "name an empty or absent directory") \
	X(SPOOL_PLACE, "the log cannot be kept in {what}: {errno}", \
	  "name a directory with --spool, or use --no-spool") \
	X(SPOOL_FULL, "the disk is full: the log stopped", "free some space, then restart pytop") \
	X(SPOOL_FORMAT, "{what} is not a spool of a format that this pytop reads", "") \
	X(SPOOL_EMPTY, "{what} holds no samples", "") \
	X(BUSY, "another export is being written", "wait for it, or press Esc to cancel it")

enum status {
#define X(name, sentence, hint) ST_##name,
	STATUS_TABLE(X)
#undef X
	ST_COUNT
};
/* clang-format on */

/* What fills the places of a sentence. Strings are borrowed, may be NULL, and are escaped. */
struct status_args {
	pid_t pid;
	const char *what;
	const char *self;
	int errnum;
};

/* "NO_PROCESS"; never NULL, also for a number outside the table. */
const char *status_name(enum status status);

/* Write the sentence, or the hint ("" when there is none), cut at size, always terminated. */
void status_sentence(char *buf, size_t size, enum status status, const struct status_args *args);
void status_hint(char *buf, size_t size, enum status status, const struct status_args *args);

#endif
