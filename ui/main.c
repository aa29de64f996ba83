/*
 * main: from the command line to what it asks for, and the exit status.
 *
 * 0: done, also when the target ended or a signal said to stop; 1: it could not be done, with a sentence and a cure; 2: wrong usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pytop.h"
#include "ui/batch.h"
#include "ui/child.h"
#include "ui/dump.h"
#include "ui/loop.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/picker.h"
#include "ui/report.h"

#define EXIT_USAGE 2
#define START_WAIT_S 1.0

static volatile int stop_asked;

/* What is looked at: a process, or one after the other of a command. */
struct watch {
	const struct options *options;
	struct pytop *pytop;
	struct child child;
	pid_t switch_to; /* the user wants that one instead; 0: none */
	bool goes_on;    /* the run ended so that another process may follow */
	bool told_end;
	double began_s;
	unsigned long printed;
	unsigned processes;
	char spool_dir[PATH_MAX];
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of -d. */
static double time_left(const struct watch *w)
{
	double left = w->began_s + w->options->duration_s - seconds_now();

	return left > 0 ? left : 0;
}

static void on_signal(int number)
{
	(void)number;
	stop_asked = 1;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction before;
		sigaction(numbers[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
}

/* Under sudo what is written belongs to the caller. */
static void find_owner(uid_t *uid, gid_t *gid)
{
	const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");

	*uid = (uid_t)-1;
	*gid = (gid_t)-1;
	if (geteuid() != 0 || !sudo_uid || !sudo_gid)
		return;
	*uid = (uid_t)strtoul(sudo_uid, NULL, 10);
	*gid = (gid_t)strtoul(sudo_gid, NULL, 10);
}

static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Without a screen: only sampled for a file, or only a kept log written as one. */
static bool is_quiet(const struct options *o)
{
	return !o->batch && (o->duration_s > 0 || o->open_dir) && o->output && !has_terminal();
}

static bool wants_screen(const struct options *o)
{
	return !o->batch && !o->dump && !is_quiet(o);
}

static void fill_attach(const struct options *o, struct pytop_options *a)
{
	*a = (struct pytop_options){
		.rate_hz = o->rate_hz,
		.jitter_percent = o->jitter_percent,
		.half_life_s = o->half_life_s,
		.threads = o->thread_count ? o->threads : NULL,
		.thread_count = o->thread_count,
		.main_thread_only = o->main_thread_only,
		.blocking = o->blocking,
		.no_spool = o->no_spool,
		.spool_dir = o->spool_dir,
		.spool_limit = o->spool_limit,
		.refresh_s = o->interval_s,
		.start_wait_s = o->command ? -1 : START_WAIT_S,
		.spawned = o->command != NULL,
		.stop = &stop_asked,
	};
	find_owner(&a->owner_uid, &a->owner_gid);
}

static int fail(enum status status, struct status_args *args)
{
	report_error(status, args);
	return status == ST_USAGE ? EXIT_USAGE : EXIT_FAILURE;
}

/* Told at once, rather than when the sampling is over. */
static bool can_write(const char *path)
{
	char directory[PATH_MAX], real[PATH_MAX];

	if (strcmp(path, "-") == 0)
		return true;
	if (realpath(path, real)) /* a link is written through */
		path = real;
	const char *slash = strrchr(path, '/');
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	return faccessat(AT_FDCWD, directory, W_OK, AT_EACCESS) == 0;
}

/* -o: what was seen is written, however the run ended. */
static int write_output(struct pytop *p, const struct options *o)
{
	struct export_options options = { .kind = o->mode,
					  .whole = o->whole,
					  .with_arguments = o->with_arguments };
	struct pytop_export_state state;

	pytop_stop(p);
	if (!o->output)
		return EXIT_SUCCESS;
	enum status status = pytop_export(p, o->format, o->output, &options);
	if (status != ST_OK) {
		struct status_args args = { .what = o->output };
		return fail(status, &args);
	}
	pytop_export_wait(p);
	pytop_export_state(p, &state);
	if (state.status == ST_CANNOT_WRITE && strcmp(o->output, "-") == 0 && output_is_closed())
		return EXIT_SUCCESS;
	report_export(&state);
	return state.status == ST_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static enum status run_batch(struct watch *w)
{
	const struct options *o = w->options;
	struct batch_options options = {
		.mode = o->mode,
		.sort = o->sort,
		.filter = o->filter,
		.json = o->json,
		.hide_idle = o->hide_idle,
		.ascii = output_is_ascii(),
		.quiet = is_quiet(o),
		.interval_s = o->interval_s,
		.duration_s = o->duration_s,
		.iterations = o->iterations,
		.limit = o->limit,
		.printed = &w->printed,
	};

	if (o->iterations)
		options.iterations = o->iterations - w->printed;
	if (o->duration_s > 0)
		options.duration_s = time_left(w);
	return batch_run(w->pytop, &options, &stop_asked);
}

static enum status run_screen(struct watch *w)
{
	const struct options *o = w->options;
	struct ui_options options = {
		.mode = o->mode,
		.sort = o->sort,
		.filter = o->filter,
		.hide_idle = o->hide_idle,
		.by_line = o->by_line,
		.refresh_s = o->interval_s,
		.half_life_s = o->open_dir ? 0 : o->half_life_s,
		.duration_s = o->duration_s > 0 ? time_left(w) : 0,
		.with_arguments = o->with_arguments,
		.goes_on = o->command ? child_goes_on : NULL,
		.goes_on_context = &w->child,
	};
	struct loop_result result;

	find_owner(&options.owner_uid, &options.owner_gid);
	enum status status = loop_run(w->pytop, &options, &result);
	if (status != ST_OK)
		return status;
	if (result.last_rows)
		fputs(result.last_rows, stdout);
	for (size_t i = 0; i < result.file_count; i++)
		printf("wrote %s\n", result.files[i]);
	if (result.kept_log[0])
		printf("the log is kept: pytop --open %s\n", result.kept_log);
	if (result.end == LOOP_SWITCH)
		w->switch_to = result.switch_to;
	w->goes_on = result.end == LOOP_NEXT;
	loop_result_free(&result);
	return output_flush();
}

/* One process, from the start of the sampling to its end, or ours. */
static enum status run_once(struct watch *w)
{
	const struct options *o = w->options;
	pytop_set_rows_by_line(w->pytop, o->by_line);
	enum status status = o->open_dir ? ST_OK : pytop_start(w->pytop);

	w->goes_on = !wants_screen(o);
	if (status == ST_OK)
		status = wants_screen(o) ? run_screen(w) : run_batch(w);
	/* like top | head: who read has read enough */
	if (status == ST_CANNOT_WRITE && output_is_closed()) {
		w->goes_on = false;
		return ST_OK;
	}
	return status;
}

/* Not when it still is what it was, and only could not be read any longer. */
static bool is_gone(const struct pytop_header *h)
{
	return h->target == PYTOP_ENDED && (h->end == ST_ENDED || h->end == ST_OK || h->became[0]);
}

static bool has_time(const struct watch *w)
{
	const struct options *o = w->options;

	return !stop_asked && (!o->iterations || w->printed < o->iterations) &&
	       (o->duration_s <= 0 || time_left(w) > 0);
}

/* A log that has a name of its own gets another for each process. */
static void name_next_log(struct watch *w, struct pytop_options *attach)
{
	if (!attach->spool_dir)
		return;
	snprintf(w->spool_dir, sizeof(w->spool_dir), "%s-%u", attach->spool_dir, ++w->processes);
	attach->spool_dir = w->spool_dir;
}

/* The Python in a command has ended: true when there is another, which then takes its place. */
static bool go_on(struct watch *w)
{
	const struct options *o = w->options;
	const struct pytop_snapshot *s;
	struct pytop_options attach;
	struct status_args args;
	struct pytop *next;

	if (!o->command || !w->goes_on || w->switch_to || !has_time(w) ||
	    pytop_snapshot(w->pytop, &s) != ST_OK || !is_gone(&s->header))
		return false;
	fill_attach(o, &attach);
	name_next_log(w, &attach);
	attach.spawned = !wants_screen(o);
	attach.start_wait_s = wants_screen(o)     ? START_WAIT_S
			      : o->duration_s > 0 ? time_left(w)
						  : -1;
	pytop_stop(w->pytop);
	report_end(&s->header);
	w->told_end = true;
	if (attach.spawned && !child_has_ended(&w->child))
		report_next(o->command[0], true);
	if (pytop_open(&next, attach.spawned ? w->child.pid : w->child.next, &attach, &args) !=
	    ST_OK)
		return false;
	report_next(o->command[0], false);
	w->told_end = false;
	pytop_close(w->pytop);
	w->pytop = next;
	return true;
}

/* Everything after the process (or the log) is open. */
static int run(struct watch *w)
{
	const struct options *o = w->options;
	const struct pytop_snapshot *s;
	enum status status;

	do
		status = o->dump ? dump_run(w->pytop, o->json, output_is_ascii()) : run_once(w);
	while (status == ST_OK && !o->dump && go_on(w));
	if (status == ST_CANNOT_WRITE && output_is_closed())
		return EXIT_SUCCESS;
	if (status != ST_OK) {
		struct status_args args;

		pytop_explain(w->pytop, status, &args);
		if (status == ST_CANNOT_WRITE)
			args.what = "standard output";
		return fail(status, &args);
	}
	if (o->dump)
		return EXIT_SUCCESS;
	int code = write_output(w->pytop, o);
	if (!w->told_end && pytop_snapshot(w->pytop, &s) == ST_OK)
		report_end(&s->header);
	return code;
}

static int run_target(struct options *o, pid_t *switch_to)
{
	struct pytop_options attach;
	struct status_args args = { .what = "" };
	struct watch w = { .options = o, .processes = 1 };
	enum status status = ST_OK;
	int code;

	fill_attach(o, &attach);
	if (o->command) {
		status = child_start(&w.child, o->command, wants_screen(o), &args);
		o->pid = w.child.pid;
	}
	if (status == ST_OK && o->command)
		report_waiting(o->command[0], true);
	if (status == ST_OK)
		status = o->open_dir ? pytop_open_spool(&w.pytop, o->open_dir, &attach, &args)
				     : pytop_open(&w.pytop, o->pid, &attach, &args);
	if (o->command)
		report_waiting(o->command[0], false);
	w.began_s = seconds_now();
	if (status == ST_COMMAND_NOT_PYTHON)
		args.what = o->command[0];
	if (status == ST_OK)
		code = run(&w);
	else
		code = status == ST_CANCELLED ? EXIT_SUCCESS : fail(status, &args);
	*switch_to = w.switch_to;
	pytop_close(w.pytop);
	child_end(&w.child);
	return code;
}

static int choose_target(struct options *o)
{
	struct status_args args = { .self = NULL };
	enum status status = picker_run(&o->pid);

	if (status == ST_CANCELLED)
		exit(EXIT_SUCCESS);
	return status == ST_OK ? EXIT_SUCCESS : fail(status, &args);
}

int main(int argc, char *argv[])
{
	struct options o;
	char message[1024];

	setlocale(LC_CTYPE, "");
	enum status status = options_parse(&o, argc, argv, message, sizeof(message));
	if (status != ST_OK) {
		struct status_args args = { .what = message };
		return fail(status, &args);
	}
	if (o.action == ACTION_HELP || o.action == ACTION_VERSION) {
		if (o.action == ACTION_HELP)
			options_print_help(stdout);
		else
			puts("pytop " PACKAGE_VERSION);
		return output_flush() == ST_OK || output_is_closed() ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	catch_signals();
	if (o.output && !can_write(o.output)) {
		struct status_args args = { .what = o.output, .errnum = errno };
		return fail(ST_CANNOT_WRITE, &args);
	}
	if (wants_screen(&o) && !has_terminal())
		return fail(ST_NO_TERMINAL, NULL);
	int code = EXIT_SUCCESS;
	if (!o.pid && !o.command && !o.open_dir)
		code = choose_target(&o);
	while (code == EXIT_SUCCESS) {
		pid_t switch_to = 0;
		code = run_target(&o, &switch_to);
		if (!switch_to)
			break;
		o.pid = switch_to;
		o.command = NULL;
		o.thread_count = 0; /* they were the other's */
	}
	return code;
}
