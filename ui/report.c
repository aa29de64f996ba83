/*
 * report: sentences for people, on stderr: nothing here reaches a pipe that a script reads. Names are escaped.
 */
#include "ui/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ui/format.h"

void report_error(enum status status, const struct status_args *args)
{
	char text[2048];

	status_sentence(text, sizeof(text), status, args);
	fprintf(stderr, "pytop: %s\n", text);
	status_hint(text, sizeof(text), status, args);
	if (text[0])
		fprintf(stderr, "%s\n", text);
}

void report_export(const struct pytop_export_state *s)
{
	char path[4096], bytes[16], seconds[16], samples[32];

	format_name(path, sizeof(path), s->result.path, false);
	if (s->status != ST_OK) {
		struct status_args args = { .what = s->result.path, .errnum = s->errnum };
		report_error(s->status, &args);
		return;
	}
	text_bytes(bytes, sizeof(bytes), s->result.bytes);
	text_seconds(seconds, sizeof(seconds), (double)(s->result.to - s->result.from) / 1e9);
	text_grouped(samples, sizeof(samples), s->result.samples);
	fprintf(stderr, "wrote %s (%sB, %s%s, %s samples): %s\n", path, bytes,
		s->result.shortened ? "the last " : "", seconds, samples, s->format->opens_in);
}

void report_waiting(const char *command, bool waits)
{
	char name[64], line[128];

	if (!isatty(STDERR_FILENO))
		return;
	format_name(name, sizeof(name), command, true);
	snprintf(line, sizeof(line), "waiting for a Python interpreter in %s ...", name);
	if (waits)
		fputs(line, stderr);
	else
		fprintf(stderr, "\r%*s\r", (int)strlen(line), "");
}

void report_end(const struct pytop_header *h)
{
	char end[512], name[512];

	if (h->target != PYTOP_ENDED)
		return;
	format_fate(end, sizeof(end), h);
	format_name(name, sizeof(name), h->name, false);
	fprintf(stderr, "%s (%d) %s\n", name, (int)h->pid, end);
}

void report_next(const char *command, bool waits)
{
	char name[512];

	format_name(name, sizeof(name), command, false);
	fprintf(stderr,
		waits ? "%s still runs: waiting for its next Python interpreter\n"
		      : "%s goes on in another Python process: its profile begins anew\n",
		name);
}
