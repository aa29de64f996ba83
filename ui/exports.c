/*
 * exports: writing a profile while one looks on.
 *
 * Invariant: nothing here waits: the library writes in a thread of its own, and is asked how far
 * it is whenever the screen wakes up.
 *
 * Called by commands to begin and cancel, by loop to look and draw.
 */
#include "ui/exports.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "ui/format.h"
#include "ui/screen.h"

#define NS_PER_S 1e9

static void say_failure(struct ui *ui, enum status status, const char *path, int errnum)
{
	notice_status(&ui->notice, status, &(struct status_args){ .what = path, .errnum = errnum });
}

void exports_begin(struct ui *ui, const struct export_format *format, bool whole)
{
	struct export_options options = {
		.kind = ui->context.mode,
		.whole = whole,
		.with_arguments = ui->options->with_arguments,
		.owner_uid = ui->options->owner_uid,
		.owner_gid = ui->options->owner_gid,
	};
	enum status status;

	if (!format) {
		notice_say(&ui->notice, ui->now_ms, "nothing was written yet: g, f or c first");
		return;
	}
	status = pytop_export(ui->pytop, format, NULL, &options);
	if (status) {
		say_failure(ui, status, NULL, 0);
		return;
	}
	ui->last_format = format;
	ui->exporting = true;
	ui->quit_asked = false;
	ui->export_done = 0;
	notice_clear(&ui->notice);
}

void exports_cancel(struct ui *ui)
{
	if (ui->exporting)
		pytop_export_cancel(ui->pytop);
}

/* Where the file is, when it is not where one would look for it. */
static const char *elsewhere(const char *path)
{
	char here[PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (!slash || (path[0] == '.' && slash == path + 1))
		return "";
	if (getcwd(here, sizeof(here)) && strlen(here) == (size_t)(slash - path) &&
	    strncmp(here, path, (size_t)(slash - path)) == 0)
		return "";
	return "\t(cannot write here)";
}

/* Since when, by the clock on the wall: what is left out of the log must be said. */
static void say_since(const struct ui *ui, const struct export_result *result, char *out,
		      size_t size)
{
	const struct pytop_header *header = &ui->picture->header;
	nanoseconds start = pytop_log_time(ui->pytop, header->log_from_s);
	char clock[32];

	out[0] = '\0';
	if (!result->shortened)
		return;
	format_clock(clock, sizeof(clock),
		     header->log_from_wall + (int64_t)((double)(result->from - start) / NS_PER_S),
		     (int64_t)time(NULL));
	snprintf(out, size, "\tsince %s only: W writes the whole log", clock);
}

static void say_success(struct ui *ui, const struct pytop_export_state *state)
{
	const struct export_result *result = &state->result;
	const char *home = getenv("HOME"), *tilde = "", *path = result->path;
	char name[4200], bytes[16], length[16], samples[32], since[96] = "";

	if (home && *home && strncmp(path, home, strlen(home)) == 0 && path[strlen(home)] == '/') {
		path += strlen(home);
		tilde = "~";
	}
	if (strncmp(path, "./", 2) == 0)
		path += 2;
	format_name(name, sizeof(name), path, ui->context.ascii);
	text_bytes(bytes, sizeof(bytes), result->bytes);
	text_seconds(length, sizeof(length), (double)(result->to - result->from) / NS_PER_S);
	text_grouped(samples, sizeof(samples), result->samples);
	if (ui->picture)
		say_since(ui, result, since, sizeof(since));
	notice_keep(&ui->notice, "wrote %s%s\t%sB\tlast %s\t%s samples%s%s\t%s", tilde, name, bytes,
		    length, samples, elsewhere(result->path), since,
		    state->format ? state->format->opens_in : "");
}

static void remember(struct loop_result *result, const char *path)
{
	char *copy = NULL;

	if (result->file_count + 1 < LOOP_FILES_MAX)
		copy = alloc_string(path, strlen(path));
	if (copy)
		result->files[result->file_count++] = copy;
}

bool exports_update(struct ui *ui)
{
	struct pytop_export_state state;

	if (!ui->exporting)
		return false;
	pytop_export_state(ui->pytop, &state);
	if (!state.finished) {
		bool changed = (int)(state.done * 1000) != (int)(ui->export_done * 1000);

		ui->export_done = state.done;
		return changed;
	}
	ui->exporting = false;
	if (ui->quit_asked) {
		ui->result->end = LOOP_QUIT;
		ui->done = true;
	}
	if (state.status == ST_OK) {
		remember(ui->result, state.result.path);
		say_success(ui, &state);
	} else if (state.status == ST_CANCELLED) {
		notice_say(&ui->notice, ui->now_ms, "cancelled: nothing was written");
	} else {
		say_failure(ui, state.status, state.result.path, state.errnum);
	}
	return true;
}

void exports_draw(const struct ui *ui, int y)
{
	char label[64], bar[256], percent[16];
	int width = screen_width(), x = 1, room;

	snprintf(label, sizeof(label), "writing %s ",
		 ui->last_format ? ui->last_format->name : "a profile");
	snprintf(percent, sizeof(percent), " %3d%%", (int)(ui->export_done * 100));
	x += screen_text(y, x, width - 2, THEME_STRONG, label);
	room = width - x - (int)strlen(percent) - 1 - (width > 50 ? 14 : 0);
	if (room > 60)
		room = 60;
	if (room > 4) {
		format_bar(bar, sizeof(bar), (unsigned)room, ui->export_done, screen_ascii_bars(),
			   NULL);
		x += screen_text(y, x, room, THEME_CPU, bar);
	}
	x += screen_text(y, x, width - x, THEME_STRONG, percent);
	screen_text(y, x + 2, width - x - 2, THEME_QUIET, "Esc cancels");
}
