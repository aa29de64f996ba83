/*
 * pytop: the front door of the library. Open a process (or a kept spool), start sampling, ask for
 * snapshots, export, close. All calls come from one thread (the UI's); sampling goes on in others.
 */
#ifndef PYTOP_H
#define PYTOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "export/export.h"
#include "record/sample.h"

struct pytop;

struct pytop_options {
	double rate_hz; /* 0: flat out (max) */
	double jitter_percent;
	double half_life_s;   /* 0: no decay */
	const pid_t *threads; /* record only these kernel tids; NULL: all */
	size_t thread_count;
	bool main_thread_only;
	bool blocking; /* stop the target's threads around each tick */
	bool no_spool;
	const char *spool_dir; /* NULL: unnamed files */
	uint64_t spool_limit;  /* bytes; 0: the default */
	uid_t owner_uid;       /* of files made: the caller's under sudo; (uid_t)-1: leave */
	gid_t owner_gid;
	double refresh_s; /* how often a new snapshot is wanted */
	double start_wait_s; /* how long to wait for an interpreter that is just starting; spawned commands: long */
	bool spawned; /* pid is our child: a shell or shim may exec or fork the interpreter: follow it */
	const volatile int
		*stop; /* not 0: pytop_open() waits no longer: ST_CANCELLED; may be NULL */
};

/*
 * Attach to pid, do not sample yet. On failure *args (may be NULL) is filled for status_sentence(); its strings live until
 * the next call of pytop_open. Waits up to start_wait_s for an interpreter (ST_STARTING after that).
 */
enum status pytop_open(struct pytop **pytop, pid_t pid, const struct pytop_options *options,
		       struct status_args *args) MUST_CHECK;
/* The same over a kept spool: everything in it is read first (half_life_s is 0 then); the target counts as ended. */
enum status pytop_open_spool(struct pytop **pytop, const char *dir,
			     const struct pytop_options *options,
			     struct status_args *args) MUST_CHECK;

/* Start the sampling thread, the writer and the worker. */
enum status pytop_start(struct pytop *p) MUST_CHECK;
/* What status_sentence() needs when pytop_start() failed; valid until the next call. */
void pytop_explain(const struct pytop *p, enum status status, struct status_args *args);
/* Stop sampling and write what is pending; snapshots and exports still work. */
void pytop_stop(struct pytop *p);
/* Stops, waits for nothing but running writes, frees all. */
void pytop_close(struct pytop *p);

/* ---- what is seen --------------------------------------------------------------------------- */

struct pytop_row {
	const char *
		function; /* UTF-8, not escaped; valid until the next pytop_snapshot() or pytop_close() */
	const char *file; /* full path, "" for rows that are not Python's */
	int32_t line;     /* of the definition, or executing (rows by line); 0: none */
	int64_t interpreter;
	uint64_t key; /* the same for the same row in every snapshot: keeps the selection */
	double self[KIND_COUNT], total[KIND_COUNT];     /* percent of one thread's time, decayed */
	double self_s[KIND_COUNT], total_s[KIND_COUNT]; /* seconds since start or reset */
	double gc, exception;                           /* percent, like self */
	uint64_t samples;                               /* thread-samples with it on the stack */
};

struct pytop_thread {
	pid_t tid; /* as /proc shows it outside */
	const char *name;
	int64_t interpreter;
	bool main;
	bool ended;
	enum thread_state state;
	bool holds_gil;
	double percent[KIND_COUNT];
	double seconds[KIND_COUNT];
	double unseen_cpu_s;  /* CPU the kernel counted that no tick saw */
	const char *function; /* leaf */
	const char *file;
	int32_t line;
	int32_t syscall; /* number, -1: none */
};

struct pytop_frame {
	const char *function, *file;
	int32_t line; /* executing */
};

struct pytop_interpreter {
	int64_t id;
	bool has_gil;
	double gil_percent, gil_wait_percent;
};

enum pytop_target_state { PYTOP_LIVE, PYTOP_ENDED, PYTOP_REPLAYED };
enum pytop_log_state { PYTOP_LOG_NONE, PYTOP_LOG_ON, PYTOP_LOG_STOPPED };

struct pytop_header {
	pid_t pid;
	char python[64]; /* "3.13.1" */
	bool free_threaded;
	char name[256];     /* app.py; raw bytes */
	char command[4096]; /* raw bytes */
	uint64_t uptime_s;  /* of the target */
	uint64_t rss_bytes;
	enum pytop_target_state target;
	bool has_exit_status;
	int wait_status; /* as waitpid() gives it */
	bool stopped;    /* SIGSTOP */

	double time_s; /* since sampling started; of the spool: its length */
	double seen_s; /* sum of weights since start or reset */
	double rate_asked_hz, rate_real_hz, rate_mean_hz, rate_min_hz,
		rate_max_hz; /* asked 0: max */
	uint64_t ticks, samples, missed, torn;
	double missed_percent, torn_percent; /* recent */
	double late_p50_us, late_p99_us;
	double tick_mean_us, tick_p99_us; /* CPU time of a tick */
	double self_cpu_percent;          /* pytop's own, all its threads, last second */
	bool spinning;                    /* interval too short to sleep: a core is taken */
	double blocked_percent;           /* --blocking: share of time the target stood still */

	double cpu_percent;    /* of the process */
	double native_percent; /* of it, in threads or moments no Python row accounts for */
	double gc_percent, exception_percent;
	bool has_gil;
	double gil_percent, gil_wait_percent; /* of the busiest interpreter */

	uint32_t thread_count;
	uint32_t threads_by_state[STATE_COUNT];

	enum pytop_log_state log;
	uint64_t log_bytes;
	double log_from_s;     /* time_s of the oldest tick kept */
	int64_t log_from_wall; /* seconds since the epoch */
	char log_place[512];
	uint64_t log_lost_ticks;
	/* why it stopped, and when; ST_OK, 0: it did not */
	enum status log_status;
	int log_errnum;
	double log_stopped_s;     /* time_s */
	int64_t log_stopped_wall; /* seconds since the epoch */

	pid_t busy_child; /* a Python child that is busier than this idle target; 0: none */
	double busy_child_percent;
	uint32_t execs;   /* times the process became another program since */
	enum status end;  /* why sampling ended by itself; ST_OK: it did not */
	char became[256]; /* what the process runs now that it is no Python to read; raw bytes */
};

struct pytop_snapshot {
	uint64_t number; /* counts up; equal: nothing new */
	struct pytop_header header;
	const struct pytop_row *rows; /* by function or by line, any order */
	size_t row_count;
	const struct pytop_thread *threads; /* living first, in order of birth */
	size_t thread_count;
	const struct pytop_interpreter *interpreters;
	size_t interpreter_count;
	pid_t stack_tid;                 /* whose stack follows; 0: none */
	const struct pytop_frame *stack; /* leaf first */
	size_t stack_depth;
};

/*
 * The newest picture, at once, without waiting for the sampler. All it points to is valid until the next call.
 */
enum status pytop_snapshot(struct pytop *p, const struct pytop_snapshot **snapshot) MUST_CHECK;

/* A descriptor that becomes readable when a new snapshot, an export's progress or the target's end is there. */
int pytop_event_fd(const struct pytop *p);
/* Ask for a snapshot now rather than at the next refresh. */
void pytop_wake(struct pytop *p);

/* ---- settings, any time ---------------------------------------------------------------------- */

void pytop_set_half_life(struct pytop *p, double seconds);
void pytop_set_refresh(struct pytop *p, double seconds);
void pytop_set_rows_by_line(struct pytop *p, bool by_line);
/* Whose stack the snapshots carry (of a kept spool: its last one); 0: none. */
void pytop_watch_thread(struct pytop *p, pid_t tid);
void pytop_reset(struct pytop *p);

/* ---- exports --------------------------------------------------------------------------------- */

struct pytop_export_state {
	bool running;
	double done;   /* 0..1 */
	bool finished; /* result and status are those of the last export; cleared by the next start */
	enum status status;
	int errnum;
	const struct export_format *format;
	struct export_result result;
};

/*
 * Begin writing; returns at once. path NULL: a name of pytop's own. options->from/to are seconds of time_s turned into log time
 * by pytop_log_time(). ST_BUSY, ST_NO_LOG.
 */
enum status pytop_export(struct pytop *p, const struct export_format *format, const char *path,
			 const struct export_options *options) MUST_CHECK;
void pytop_export_state(struct pytop *p, struct pytop_export_state *state);
void pytop_export_cancel(struct pytop *p);
/* Wait for it to end (batch, -o). */
void pytop_export_wait(struct pytop *p);
nanoseconds pytop_log_time(const struct pytop *p, double time_s);

/* The terminal is lost: keep the unnamed log below the user's state directory; path gets where. */
enum status pytop_keep_log(struct pytop *p, char *path, size_t size) MUST_CHECK;
/*
 * How many such logs there are that were not told of before; newest gets the path of the newest ("": none). They are marked
 * as told.
 */
size_t pytop_kept_logs(char *newest, size_t size);

/* ---- once, without sampling -------------------------------------------------------------------- */

struct pytop_dump_thread {
	struct pytop_thread thread;
	const struct pytop_frame *frames; /* leaf first */
	size_t depth;
	bool torn, truncated;
};
/* Every thread's stack now. Valid until the next dump or pytop_close(). Not after pytop_start(). */
enum status pytop_dump(struct pytop *p, const struct pytop_dump_thread **threads,
		       size_t *count) MUST_CHECK;
/* The header without sampling. */
void pytop_header(struct pytop *p, struct pytop_header *header);

/* ---- choosing a process ------------------------------------------------------------------------- */

struct pytop_process {
	pid_t pid;
	char python[64]; /* "3.13", "" when it may not be read */
	bool readable;
	uid_t uid;
	char command[1024]; /* raw bytes */
	uint64_t cpu_ns;    /* so far: the picker shows the difference between two lists */
	uint64_t rss_bytes;
	uint32_t thread_count;
	uint64_t start_time_ns; /* CLOCK_REALTIME */
};
/* Running Python processes, by pid; *list allocated, freed by the caller. Pid 0 as parent: all; else only descendants of it. */
enum status pytop_processes(pid_t parent, struct pytop_process **list, size_t *count) MUST_CHECK;

/*
 * Has a spawned command, or what it started, become Python? *pid says which. Zeroed watch before the first call; a descendant
 * is believed when it has lived for a moment, so ask again now and then. ST_AGAIN: not now; ST_ENDED: no more.
 */
struct pytop_watch {
	pid_t pid;
	double since_s;
};
enum status pytop_find_python(pid_t command, struct pytop_watch *watch, pid_t *pid) MUST_CHECK;

/* Start a command, output to a file or /dev/null: -1 inherited. */
enum status pytop_spawn(char *const argv[], int output_fd, pid_t *pid,
			struct status_args *args) MUST_CHECK;

#endif
