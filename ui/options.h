/*
 * options: the command line. One table: parsing, --help and the check of the man page derive from it.
 */
#ifndef PYTOP_UI_OPTIONS_H
#define PYTOP_UI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "pytop.h"

#define OPTIONS_THREADS_MAX 256

enum options_action { ACTION_RUN, ACTION_HELP, ACTION_VERSION };

struct options {
	enum options_action action;
	/* what is profiled: exactly one of these, or none (the picker) */
	pid_t pid;            /* 0: not given */
	char **command;       /* after "--"; NULL: none */
	const char *open_dir; /* --open */

	double rate_hz; /* 0: max */
	double jitter_percent;
	double duration_s; /* 0: none */
	enum kind mode;
	pid_t threads[OPTIONS_THREADS_MAX];
	size_t thread_count;
	bool main_thread_only;
	const char *output;                 /* NULL: none */
	const struct export_format *format; /* of output; told by its suffix unless named */
	bool whole, with_arguments;
	const char *spool_dir;
	uint64_t spool_limit;
	bool no_spool;
	bool batch, json, dump, by_line;
	double interval_s;
	unsigned long iterations; /* 0: endless */
	unsigned long limit;      /* rows; 0: the default of what is printed */
	const char *sort, *filter;
	double half_life_s;
	bool hide_idle, blocking;
};

/*
 * ST_USAGE: message says what is wrong. Strings of options point into argv.
 */
enum status options_parse(struct options *options, int argc, char *argv[], char *message,
			  size_t message_size) MUST_CHECK;

void options_print_help(FILE *out);

#endif
