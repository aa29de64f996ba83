/*
 * process: another process, held so that a reused number is never mistaken for it.
 *
 * A pidfd says for sure when it is gone; the start time (field 22 of /proc/PID/stat) tells two
 * lives of a number apart; the end of its address space tells an exec. Knows
 * Linux, has never heard of Python.
 */
#ifndef PYTOP_TARGET_PROCESS_H
#define PYTOP_TARGET_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/status.h"

struct process {
	pid_t pid;
	int pidfd;   /* -1 where the kernel has none (before 5.3) */
	int proc_fd; /* O_PATH directory /proc/PID: survives reuse of the number as an error */
	uint64_t start_time; /* clock ticks since boot */
	int stat_fd;         /* /proc/PID/stat, kept open for process_usage */
	int space_fd; /* /proc/PID/mem of this life, never read: tells an exec; -1: no right */
};

/*
 * Hold process pid. ST_NO_PROCESS, ST_IS_THREAD (process_of_thread says of whom), ST_IS_SELF,
 * ST_IS_KERNEL, ST_IS_ZOMBIE, ST_SYSTEM.
 */
enum status process_open(struct process *p, pid_t pid) MUST_CHECK;
void process_close(struct process *p);

/* The absolute path of our own program, or "pytop" where it cannot be told. */
void process_own_path(char *path, size_t size);

/* The process that thread tid belongs to; tid itself for a main thread, 0 when there is none. */
pid_t process_of_thread(pid_t tid);

/* Which process traces thread (or process) tid; 0: none does, or it cannot be told. */
pid_t process_tracer(pid_t tid);

/* The kernel's name of process pid, raw bytes; "" where it is gone. */
void process_comm(pid_t pid, char *name, size_t size);

/* Does thread tid belong to it now? */
bool process_has_thread(const struct process *p, pid_t tid);

/* ST_OK while it lives; ST_ENDED once it is gone or a zombie. One poll(): cheap. */
enum status process_alive(const struct process *p) MUST_CHECK;

/*
 * Did it exec since process_open or the last call that said so? Then all addresses are void: maps,
 * memory, images and tasks are to be opened anew. Two system calls; false when it cannot be told.
 */
bool process_executed(struct process *p);

/* How it ended, as waitpid() gives it: known for our own children only (else false). */
bool process_exit_status(struct process *p, int *wait_status);

struct process_info {
	char command[4096]; /* argv joined by spaces, raw bytes; [comm] when it has none */
	char name[256];     /* for titles: app.py, json.tool, -c, the folder that "." is; else
			     * argv[0]'s last part */
	char executable[4096];
	pid_t parent;
	uid_t uid;
	uint64_t start_time_ns; /* CLOCK_REALTIME at which it started */
	bool is_32_bit;
	bool other_pid_namespace;
};
enum status process_info(const struct process *p, struct process_info *info) MUST_CHECK;

/*
 * The title of a program from its cmdline (arguments that each end with a NUL): the script of
 * `python x.py`, the module of -m, "-c" and "-" as they are, else the last part of argv[0]. Raw
 * bytes.
 */
void process_name_parse(char *name, size_t size, struct bytes cmdline);

/* What proc(5) says in /proc/PID/stat, parsed after the LAST ')'. */
struct process_stat {
	char state;
	pid_t parent, session;
	uint64_t flags, cpu_ticks; /* utime + stime, in clock ticks */
	uint32_t thread_count;
	uint64_t start_time, rss_pages;
};
bool process_stat_parse(struct bytes text, struct process_stat *stat);

struct process_usage {
	uint64_t cpu_ns; /* user + system of all threads, see below */
	uint64_t rss_bytes;
	uint32_t thread_count;
	char run_state; /* R S D T t Z ... of the main thread */
};
/*
 * cpu_ns comes from the process CPU clock (clock_getcpuclockid + clock_gettime) where the kernel
 * gives it, which is exact to the nanosecond; else from stat. Source: proc(5).
 */
enum status process_usage(const struct process *p, struct process_usage *usage) MUST_CHECK;

/* Only the CPU clock, ~0.3 us: what a tick can afford. */
enum status process_cpu_ns(const struct process *p, uint64_t *cpu_ns) MUST_CHECK;

/*
 * Direct children, what lost its parent in a session that pid leads, and the children of these
 * (breadth first), at most *count; *count gets how many were stored. pid may have ended.
 */
enum status process_children(pid_t pid, pid_t *children, size_t *count) MUST_CHECK;

/*
 * Every process number there is, ascending; *pids is allocated, freed by the caller; at most
 * 2^22.
 */
enum status process_list(pid_t **pids, size_t *count) MUST_CHECK;

/*
 * Why reading pid failed with errnum (EPERM/EACCES ...): one of ST_DENIED_*; what (may be NULL)
 * gets the text for {what}: owner's name, ptrace_scope's value. Looks at owner, yama, dumpable,
 * capabilities, container.
 */
enum status process_denied(pid_t pid, int errnum, char *what, size_t what_size);

/*
 * Start a command as our child. stdout and stderr go to output_fd (-1: inherited), stdin to
 * /dev/null unless keep_stdin. It leads a session of its own: the terminal's ^C reaches pytop
 * alone, and it can neither read the terminal nor be stopped by trying; kill(-pid) reaches it and
 * its children. pytop's end does not end it. Signals are as a shell gives them. *errnum is why
 * with ST_NO_COMMAND (exec's own reason) and ST_SYSTEM. PR_SET_PTRACER is not needed: a
 * descendant may be read under yama 1.
 */
struct spawn_options {
	int output_fd;
	bool keep_stdin;
};
enum status process_spawn(char *const argv[], const struct spawn_options *options, pid_t *pid,
			  int *errnum) MUST_CHECK;

#endif
