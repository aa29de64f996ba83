/*
 * options: each option is one row: letter, name, argument, default, what it means, and how its argument is read.
 *
 * getopt_long(3) is given its arrays from the rows; --help prints them; tests/man.sh compares them with the manual page.
 */
#include "ui/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ui/columns.h"

#define SHORT_DURATION 60 /* with shorter runs the jitter is bigger */
#define JITTER 30
#define JITTER_SHORT 50
#define FIRST_LONG 256

/* Read an argument into the options; on false *wrong says what would be right. */
typedef bool (*reader)(struct options *o, const char *text, const char **wrong);

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *argument; /* NULL: none */
	const char *help;     /* lines, the default in the end */
	reader read;
};

/* ---- numbers ------------------------------------------------------------------------------------- */

static bool read_number(const char *text, double *value, const char **rest)
{
	char *end;

	errno = 0;
	double v = strtod(text, &end);
	if (end == text || errno || !isfinite(v) || v < 0)
		return false;
	*value = v;
	*rest = end;
	return true;
}

static bool read_seconds(const char *text, double *value)
{
	const char *rest;
	double v;

	if (!read_number(text, &v, &rest) || (*rest && strcmp(rest, "s") != 0) || v > 1e9)
		return false;
	*value = v;
	return true;
}

static bool read_count(const char *text, unsigned long *value)
{
	char *end;

	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (end == text || *end || errno || text[0] == '-')
		return false;
	*value = v;
	return true;
}

static bool read_pid(const char *text, pid_t *pid)
{
	unsigned long v;

	if (!read_count(text, &v) || v == 0 || v > INT32_MAX)
		return false;
	*pid = (pid_t)v;
	return true;
}

/* ---- readers ---------------------------------------------------------------------------------------- */

static bool read_rate(struct options *o, const char *text, const char **wrong)
{
	const char *rest;
	double v;

	*wrong = "a rate like 250, 10k, 10khz, 0.5hz or max (at most 1,000,000 Hz)";
	if (strcasecmp(text, "max") == 0) {
		o->rate_hz = 0;
		return true;
	}
	if (!read_number(text, &v, &rest))
		return false;
	if (strcasecmp(rest, "k") == 0 || strcasecmp(rest, "khz") == 0)
		v *= 1000;
	else if (*rest && strcasecmp(rest, "hz") != 0)
		return false;
	if (v < 0.01 || v > 1e6)
		return false;
	o->rate_hz = v;
	return true;
}

static bool read_jitter(struct options *o, const char *text, const char **wrong)
{
	const char *rest;
	double v;

	*wrong = "a percentage from 0 to 90";
	if (!read_number(text, &v, &rest) || (*rest && strcmp(rest, "%") != 0) || v > 90)
		return false;
	o->jitter_percent = v;
	return true;
}

static bool read_duration(struct options *o, const char *text, const char **wrong)
{
	*wrong = "seconds, more than 0";
	return read_seconds(text, &o->duration_s) && o->duration_s > 0;
}

static bool read_mode(struct options *o, const char *text, const char **wrong)
{
	*wrong = "wall, cpu, gil or wait";
	for (int k = 0; k < KIND_COUNT; k++)
		if (strcmp(text, kind_name((enum kind)k)) == 0) {
			o->mode = (enum kind)k;
			return true;
		}
	return false;
}

static bool read_thread(struct options *o, const char *text, const char **wrong)
{
	*wrong = "the number of a thread, at most 256 of them";
	if (o->thread_count >= OPTIONS_THREADS_MAX || !read_pid(text, &o->threads[o->thread_count]))
		return false;
	o->thread_count++;
	return true;
}

static bool read_main_thread(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->main_thread_only = true;
}

static bool read_output(struct options *o, const char *text, const char **wrong)
{
	*wrong = "the name of a file";
	o->output = text;
	return text[0] != '\0';
}

static bool read_format(struct options *o, const char *text, const char **wrong)
{
	*wrong = "gecko, flamegraph or collapsed";
	o->format = export_format_by_name(text);
	return o->format != NULL;
}

static bool read_whole(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->whole = true;
}

static bool read_with_arguments(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->with_arguments = true;
}

static bool read_spool(struct options *o, const char *text, const char **wrong)
{
	*wrong = "the name of a directory";
	o->spool_dir = text;
	return text[0] != '\0';
}

static bool read_spool_limit(struct options *o, const char *text, const char **wrong)
{
	static const char units[] = "kmgt";
	const char *rest;
	double v;

	*wrong = "a size like 500M or 2G, at least 1M";
	if (!read_number(text, &v, &rest))
		return false;
	if (*rest) {
		const char *unit = strchr(units, *rest | 0x20);
		if (!unit || !*unit ||
		    (rest[1] && strcasecmp(rest + 1, "b") && strcasecmp(rest + 1, "ib")))
			return false;
		for (const char *u = units; u <= unit; u++)
			v *= 1024;
	}
	if (v < 1024 * 1024 || v > 1e18)
		return false;
	o->spool_limit = (uint64_t)v;
	return true;
}

static bool read_no_spool(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->no_spool = true;
}

static bool read_open(struct options *o, const char *text, const char **wrong)
{
	*wrong = "the directory of a kept spool";
	o->open_dir = text;
	return text[0] != '\0';
}

static bool read_batch(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->batch = true;
}

static bool read_interval(struct options *o, const char *text, const char **wrong)
{
	*wrong = "seconds, from 0.05 to 3600";
	return read_seconds(text, &o->interval_s) && o->interval_s >= 0.05 && o->interval_s <= 3600;
}

static bool read_iterations(struct options *o, const char *text, const char **wrong)
{
	*wrong = "a number, at least 1";
	return read_count(text, &o->iterations) && o->iterations > 0;
}

static bool read_json(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->json = true;
}

static bool read_rows(struct options *o, const char *text, const char **wrong)
{
	*wrong = "function or line";
	o->by_line = strcmp(text, "line") == 0;
	return o->by_line || strcmp(text, "function") == 0;
}

static bool read_limit(struct options *o, const char *text, const char **wrong)
{
	*wrong = "a number of rows, at least 1";
	return read_count(text, &o->limit) && o->limit > 0;
}

static bool read_dump(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->dump = true;
}

static bool read_sort(struct options *o, const char *text, const char **wrong)
{
	static char names[512];

	if (columns_find(&columns_functions, text)) {
		o->sort = text;
		return true;
	}
	names[0] = '\0';
	for (size_t i = 0; i < columns_functions.count; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "one of ",
			 columns_functions.columns[i].name);
	}
	*wrong = names;
	return false;
}

static bool read_filter(struct options *o, const char *text, const char **wrong)
{
	(void)wrong;
	o->filter = text;
	return true;
}

static bool read_half_life(struct options *o, const char *text, const char **wrong)
{
	*wrong = "seconds; 0: no decay";
	return read_seconds(text, &o->half_life_s);
}

static bool read_hide_idle(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->hide_idle = true;
}

static bool read_blocking(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	return o->blocking = true;
}

static bool read_version(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	o->action = ACTION_VERSION;
	return true;
}

static bool read_help(struct options *o, const char *text, const char **wrong)
{
	(void)text, (void)wrong;
	o->action = ACTION_HELP;
	return true;
}

/* ---- the table ---------------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	{ 'r', "rate", "HZ", "samples a second: 250, 10k, 10khz, 0.5hz, max (1000)", read_rate },
	{ 0, "jitter", "PCT", "draw each interval from +-PCT %; 0: fixed (30; 50 with -d < 60)",
	  read_jitter },
	{ 'd', "duration", "SECS", "end after SECS, and write what was asked", read_duration },
	{ 'm', "mode", "KIND", "wall, cpu, gil or wait: what TOTAL%, SELF and TOTAL count (cpu)",
	  read_mode },
	{ 't', "thread", "TID", "record this thread only; may be repeated", read_thread },
	{ 'M', "main-thread", NULL, "record the main thread only", read_main_thread },
	{ 'o', "output", "FILE", "write a profile at the end", read_output },
	{ 'f', "format", "NAME", "its format: gecko, flamegraph, collapsed (told by FILE's suffix)",
	  read_format },
	{ 0, "whole", NULL, "write all of a long log, not its last two million rows", read_whole },
	{ 0, "with-arguments", NULL, "write the target's whole command line into profiles",
	  read_with_arguments },
	{ 0, "spool", "DIR", "keep the log in DIR (empty or absent)", read_spool },
	{ 0, "spool-limit", "SIZE", "bound the log (2G, or a tenth of the free space)",
	  read_spool_limit },
	{ 0, "no-spool", NULL, "keep no log: no exports", read_no_spool },
	{ 0, "open", "SPOOL", "show a kept log instead of a process", read_open },
	{ 'b', "batch", NULL, "print the table as text, refresh by refresh", read_batch },
	{ 'i', "interval", "SECS", "seconds between refreshes, also the screen's (1)",
	  read_interval },
	{ 'n', "iterations", "N", "end after N refreshes (endless)", read_iterations },
	{ 0, "json", NULL, "with --batch or --dump: print JSON", read_json },
	{ 0, "rows", "WHAT", "rows are of each function or line (function)", read_rows },
	{ 0, "limit", "N", "print at most N rows (20; JSON: 100)", read_limit },
	{ 0, "dump", NULL, "print every thread's stack once and exit", read_dump },
	{ 0, "sort", "COL", "sort by a column (the mode's)", read_sort },
	{ 0, "filter", "TEXT", "show only rows that contain TEXT", read_filter },
	{ 0, "half-life", "SECS", "how fast the past fades; 0: never (10)", read_half_life },
	{ 0, "hide-idle", NULL, "leave out rows that only waited", read_hide_idle },
	{ 0, "blocking", NULL, "stop the target's threads around each sample (ptrace)",
	  read_blocking },
	{ 'V', "version", NULL, "print the version", read_version },
	{ 'h', "help", NULL, "print this", read_help },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

void options_print_help(FILE *out)
{
	fputs("Usage: pytop [OPTION]... PID\n"
	      "       pytop [OPTION]... -- COMMAND [ARG]...\n"
	      "       pytop [OPTION]... --open SPOOL\n"
	      "       pytop\n"
	      "Show live which functions of a running Python process burn the CPU, hold the GIL\n"
	      "and wait for it. Without PID: choose from the running Python processes.\n\n",
	      out);
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *r = &rows[i];
		char letter[8] = "    ", name[40];
		if (r->letter)
			snprintf(letter, sizeof(letter), "-%c, ", r->letter);
		snprintf(name, sizeof(name), "--%s%s%s", r->name, r->argument ? " " : "",
			 r->argument ? r->argument : "");
		fprintf(out, "  %s%-20s %s\n", letter, name, r->help);
	}
	fputs("\nExit status: 0 done; 1 it could not be done; 2 wrong usage.\n", out);
}

static void fill_getopt(struct option long_options[ROWS + 1], char short_options[ROWS * 2 + 2])
{
	size_t used = 0;

	short_options[used++] = ':';
	for (size_t i = 0; i < ROWS; i++) {
		long_options[i] =
			(struct option){ rows[i].name,
					 rows[i].argument ? required_argument : no_argument, NULL,
					 FIRST_LONG + (int)i };
		if (!rows[i].letter)
			continue;
		short_options[used++] = rows[i].letter;
		if (rows[i].argument)
			short_options[used++] = ':';
	}
	long_options[ROWS] = (struct option){ NULL, 0, NULL, 0 };
	short_options[used] = '\0';
}

static const struct option_row *row_of(int c)
{
	if (c >= FIRST_LONG && c < FIRST_LONG + (int)ROWS)
		return &rows[c - FIRST_LONG];
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter && rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static enum status parse_one(struct options *o, int c, char *argv[], char *message, size_t size)
{
	const struct option_row *row = row_of(c == ':' ? optopt : c);
	const char *wrong = "";

	if (c == ':')
		snprintf(message, size, "--%s needs an argument: %s", row ? row->name : "?",
			 row ? row->argument : "?");
	else if (!row && optopt && optopt < FIRST_LONG)
		snprintf(message, size, "there is no option -%c", optopt);
	else if (!row && optopt)
		snprintf(message, size, "option %s takes no argument", argv[optind - 1]);
	else if (!row)
		snprintf(message, size, "there is no option %s, or it stands for several",
			 argv[optind - 1]);
	else if (!row->read(o, optarg, &wrong))
		snprintf(message, size, "--%s %s: it takes %s", row->name, optarg ? optarg : "",
			 wrong);
	else
		return ST_OK;
	return ST_USAGE;
}

/* Options that contradict each other. NULL: none do. */
static const char *contradiction(const struct options *o)
{
	if ((o->pid != 0) + (o->command != NULL) + (o->open_dir != NULL) > 1)
		return "give one of PID, -- COMMAND and --open";
	if (o->batch && o->dump)
		return "--batch and --dump exclude each other";
	if (o->json && !o->batch && !o->dump)
		return "--json needs --batch or --dump";
	if (o->no_spool && o->spool_dir)
		return "--spool and --no-spool exclude each other";
	if (o->no_spool && o->output)
		return "-o needs the log: leave out --no-spool";
	if (o->format && !o->output)
		return "-f needs -o FILE";
	if (o->dump && (o->open_dir || o->output))
		return "--dump shows a living process: it goes with neither --open nor -o";
	if (o->open_dir && (o->spool_dir || o->blocking || o->thread_count || o->main_thread_only))
		return "--open shows a kept log: --spool, --blocking, -t and -M do not go with it";
	if (o->thread_count && o->main_thread_only)
		return "-t and -M exclude each other";
	return NULL;
}

/* What follows "--" is the command, its options included; what stands before is ours. */
static enum status take_command(struct options *o, int *argc, char *argv[], char *message,
				size_t size)
{
	int dashes = 1;

	while (dashes < *argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	if (dashes == *argc)
		return ST_OK;
	if (dashes + 1 == *argc) {
		snprintf(message, size, "-- needs a command");
		return ST_USAGE;
	}
	o->command = argv + dashes + 1;
	*argc = dashes;
	return ST_OK;
}

static enum status take_pid(struct options *o, int argc, char *argv[], char *message, size_t size)
{
	if (optind < argc && !read_pid(argv[optind], &o->pid))
		snprintf(message, size, "%s is not a process number (a command comes after --)",
			 argv[optind]);
	else if (optind + 1 < argc)
		snprintf(message, size, "%s: there can be only one PID", argv[optind + 1]);
	else
		return ST_OK;
	return ST_USAGE;
}

enum status options_parse(struct options *options, int argc, char *argv[], char *message,
			  size_t message_size)
{
	struct option long_options[ROWS + 1];
	char short_options[ROWS * 2 + 2];
	struct options o = { .rate_hz = 1000,
			     .jitter_percent = -1,
			     .mode = KIND_CPU,
			     .interval_s = 1,
			     .half_life_s = 10 };
	int c;
	enum status status = take_command(&o, &argc, argv, message, message_size);

	if (status != ST_OK)
		return status;
	fill_getopt(long_options, short_options);
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		status = parse_one(&o, c, argv, message, message_size);
		if (status != ST_OK)
			return status;
		if (o.action != ACTION_RUN) {
			*options = o;
			return ST_OK;
		}
	}
	status = take_pid(&o, argc, argv, message, message_size);
	if (status != ST_OK)
		return status;
	const char *wrong = contradiction(&o);
	if (wrong) {
		snprintf(message, message_size, "%s", wrong);
		return ST_USAGE;
	}
	if (o.output && !o.format) {
		o.format = export_format_by_path(o.output);
		if (!o.format) {
			snprintf(message, message_size,
				 "the suffix of %s names no format: use .json.gz, .html or .txt, "
				 "or -f NAME",
				 o.output);
			return ST_USAGE;
		}
	}
	if (o.jitter_percent < 0)
		o.jitter_percent =
			o.duration_s > 0 && o.duration_s < SHORT_DURATION ? JITTER_SHORT : JITTER;
	*options = o;
	return ST_OK;
}
