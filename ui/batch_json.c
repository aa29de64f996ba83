/*
 * batch_json: the contract of the command line's JSON, in one place. Percentages have three decimals, seconds six.
 */
#include "ui/batch_json.h"

#include <stdio.h>

#include "base/json.h"
#include "ui/format.h"
#include "ui/output.h"

#define DECIMALS 3
#define DECIMALS_S 6

static void number(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v, DECIMALS);
}

static void count(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_uint(j, v);
}

static void text(struct json *j, const char *key, const char *v)
{
	json_key(j, key);
	json_string(j, v);
}

static void boolean(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

/* A number that may not exist. */
static void number_if(struct json *j, const char *key, bool exists, double v)
{
	json_key(j, key);
	if (exists)
		json_double(j, v, DECIMALS);
	else
		json_null(j);
}

/* A kept log does not hold how pytop itself did, and without a tick it did nothing. */
static bool is_known(const struct pytop_header *h)
{
	return h->target != PYTOP_REPLAYED && h->ticks;
}

static void write_rate(struct json *j, const struct pytop_header *h)
{
	json_key(j, "rate_hz");
	json_object(j);
	number_if(j, "asked", h->rate_asked_hz > 0, h->rate_asked_hz);
	number(j, "real", h->rate_real_hz);
	number(j, "mean", h->rate_mean_hz);
	number_if(j, "min", is_known(h), h->rate_min_hz);
	number_if(j, "max", is_known(h), h->rate_max_hz);
	json_object_end(j);
}

static void write_pace(struct json *j, const struct pytop_header *h)
{
	count(j, "ticks", h->ticks);
	count(j, "samples", h->samples);
	count(j, "missed", h->missed);
	count(j, "torn", h->torn);
	json_key(j, "late_us");
	json_object(j);
	number_if(j, "p50", is_known(h), h->late_p50_us);
	number_if(j, "p99", is_known(h), h->late_p99_us);
	json_object_end(j);
	json_key(j, "sample_us");
	json_object(j);
	number_if(j, "mean", is_known(h), h->tick_mean_us);
	number_if(j, "p99", is_known(h), h->tick_p99_us);
	json_object_end(j);
	number_if(j, "self_cpu_percent", is_known(h), h->self_cpu_percent);
}

static void write_log(struct json *j, const struct pytop_header *h)
{
	static const char *const states[] = {
		[PYTOP_LOG_NONE] = "none", [PYTOP_LOG_ON] = "on", [PYTOP_LOG_STOPPED] = "stopped"
	};

	char reason[256];

	json_key(j, "log");
	json_object(j);
	count(j, "bytes", h->log_bytes);
	number(j, "from_s", h->log_from_s);
	text(j, "state", states[h->log]);
	json_key(j, "reason");
	if (h->log == PYTOP_LOG_STOPPED) {
		format_log_stop(reason, sizeof(reason), h->log_status, h->log_errnum);
		json_string(j, reason);
	} else {
		json_null(j);
	}
	number_if(j, "stopped_s", h->log == PYTOP_LOG_STOPPED, h->log_stopped_s);
	json_object_end(j);
}

static void write_interpreter(struct json *j, const struct pytop_interpreter *in)
{
	json_object(j);
	json_key(j, "id");
	json_int(j, in->id);
	number_if(j, "gil_percent", in->has_gil, in->gil_percent);
	number_if(j, "gil_wait_percent", in->has_gil, in->gil_wait_percent);
	json_object_end(j);
}

static void write_thread(struct json *j, const struct pytop_thread *t, bool has_gil)
{
	json_object(j);
	json_key(j, "tid");
	json_int(j, t->tid);
	text(j, "name", t->name);
	json_key(j, "interpreter");
	json_int(j, t->interpreter);
	boolean(j, "main", t->main);
	text(j, "state", state_name(t->state));
	boolean(j, "gil", t->holds_gil);
	number(j, "cpu_percent", t->percent[KIND_CPU]);
	number_if(j, "gil_percent", has_gil, t->percent[KIND_GIL]);
	number_if(j, "wait_percent", has_gil, t->percent[KIND_WAIT]);
	text(j, "function", t->function);
	json_object_end(j);
}

static void write_kinds(struct json *j, const char *key, const double v[KIND_COUNT])
{
	json_key(j, key);
	json_object(j);
	for (int k = 0; k < KIND_COUNT; k++)
		number(j, kind_name((enum kind)k), v[k]);
	json_object_end(j);
}

static void write_row(struct json *j, const struct pytop_row *r, enum kind mode)
{
	json_object(j);
	text(j, "function", r->function);
	text(j, "file", r->file);
	json_key(j, "line");
	json_int(j, r->line);
	json_key(j, "interpreter");
	json_int(j, r->interpreter);
	write_kinds(j, "self", r->self);
	write_kinds(j, "total", r->total);
	json_key(j, "self_s");
	json_double(j, r->self_s[mode], DECIMALS_S);
	json_key(j, "total_s");
	json_double(j, r->total_s[mode], DECIMALS_S);
	json_object_end(j);
}

enum status batch_json_print(const struct pytop_snapshot *s, enum kind mode,
			     const struct pytop_row *const *rows, size_t row_count)
{
	const struct pytop_header *h = &s->header;
	struct json j;

	json_open(&j, output_json, stdout);
	json_object(&j);
	number(&j, "time_s", h->time_s);
	json_key(&j, "pid");
	json_int(&j, h->pid);
	text(&j, "python", h->python);
	boolean(&j, "free_threaded", h->free_threaded);
	json_key(&j, "became");
	if (h->became[0])
		json_string(&j, h->became);
	else
		json_null(&j);
	write_rate(&j, h);
	write_pace(&j, h);
	number(&j, "cpu_percent", h->cpu_percent);
	number_if(&j, "gil_percent", h->has_gil, h->gil_percent);
	number_if(&j, "gil_wait_percent", h->has_gil, h->gil_wait_percent);
	number(&j, "gc_percent", h->gc_percent);
	number(&j, "exception_percent", h->exception_percent);
	write_log(&j, h);
	json_key(&j, "interpreters");
	json_array(&j);
	for (size_t i = 0; i < s->interpreter_count; i++)
		write_interpreter(&j, &s->interpreters[i]);
	json_array_end(&j);
	json_key(&j, "threads");
	json_array(&j);
	for (size_t i = 0; i < s->thread_count; i++)
		write_thread(&j, &s->threads[i], h->has_gil);
	json_array_end(&j);
	json_key(&j, "functions");
	json_array(&j);
	for (size_t i = 0; i < row_count; i++)
		write_row(&j, rows[i], mode);
	json_array_end(&j);
	json_object_end(&j);
	json_newline(&j);
	return json_close(&j);
}
