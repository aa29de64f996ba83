/*
 * dump: one look, printed whole and only when it is whole: leaf first, as a traceback read from the bottom.
 */
#include "ui/dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "ui/format.h"
#include "ui/output.h"

static void write_frame(struct json *j, const struct pytop_frame *f)
{
	json_object(j);
	json_key(j, "function");
	json_string(j, f->function);
	json_key(j, "file");
	json_string(j, f->file);
	json_key(j, "line");
	json_int(j, f->line);
	json_object_end(j);
}

static void write_thread(struct json *j, const struct pytop_dump_thread *t)
{
	json_object(j);
	json_key(j, "tid");
	json_int(j, t->thread.tid);
	json_key(j, "name");
	json_string(j, t->thread.name);
	json_key(j, "interpreter");
	json_int(j, t->thread.interpreter);
	json_key(j, "main");
	json_bool(j, t->thread.main);
	json_key(j, "state");
	json_string(j, state_name(t->thread.state));
	json_key(j, "gil");
	json_bool(j, t->thread.holds_gil);
	json_key(j, "frames");
	json_array(j);
	for (size_t i = 0; i < t->depth; i++)
		write_frame(j, &t->frames[i]);
	json_array_end(j);
	json_object_end(j);
}

static enum status print_json(const struct pytop_header *h, const struct pytop_dump_thread *threads,
			      size_t count)
{
	struct json j;

	json_open(&j, output_json, stdout);
	json_object(&j);
	json_key(&j, "pid");
	json_int(&j, h->pid);
	json_key(&j, "python");
	json_string(&j, h->python);
	json_key(&j, "free_threaded");
	json_bool(&j, h->free_threaded);
	json_key(&j, "threads");
	json_array(&j);
	for (size_t i = 0; i < count; i++)
		write_thread(&j, &threads[i]);
	json_array_end(&j);
	json_object_end(&j);
	json_newline(&j);
	return json_close(&j);
}

static void print_thread(const struct pytop_dump_thread *t, bool ascii)
{
	char name[1024], place[4200];

	format_name(name, sizeof(name), t->thread.name, ascii);
	printf("\nThread %d \"%s\" (%s%s)\n", (int)t->thread.tid, name, state_name(t->thread.state),
	       t->thread.holds_gil && t->thread.state != STATE_GIL ? ", gil" : "");
	for (size_t i = 0; i < t->depth; i++) {
		format_name(name, sizeof(name), t->frames[i].function, ascii);
		format_whole_path(place, sizeof(place), t->frames[i].file, t->frames[i].line,
				  ascii);
		printf("    %s%s%s%s\n", name, place[0] ? " (" : "", place, place[0] ? ")" : "");
	}
}

enum status dump_run(struct pytop *p, bool json, bool ascii)
{
	const struct pytop_dump_thread *threads;
	struct pytop_header header;
	size_t count;
	char command[8192];
	enum status status = pytop_dump(p, &threads, &count);

	if (status != ST_OK)
		return status;
	pytop_header(p, &header);
	if (json)
		return print_json(&header, threads, count);
	format_name(command, sizeof(command), header.command, ascii);
	printf("Process %d: %s\nCPython %s\n", (int)header.pid, command, header.python);
	for (size_t i = 0; i < count; i++)
		print_thread(&threads[i], ascii);
	return output_flush();
}
