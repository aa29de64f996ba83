/*
 * snapshot: the newest picture, in the terms of the front door.
 *
 * The sampler's frame holds sums as the tally keeps them; here, in the reader's thread, they become percentages, and the CPU that
 * no Python row accounts for becomes a row of its own, so that header and table agree.
 */
#include "front.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

#define ROWS_MAX (1u << 20)
#define REST 3
#define KEY_REST UINT64_MAX

void front_free_snapshot(struct pytop *p)
{
	free(p->rows);
}

static void fill_row(struct pytop_row *to, const struct picture_row *from, double factor,
		     uint64_t key)
{
	*to = (struct pytop_row){ .function = from->function,
				  .file = from->file,
				  .line = from->line,
				  .interpreter = from->interpreter,
				  .key = key,
				  .gc = from->sums.gc * factor,
				  .exception = from->sums.exception * factor,
				  .samples = from->sums.samples };
	for (size_t k = 0; k < KIND_COUNT; k++) {
		to->self[k] = from->sums.self.v[k] * factor;
		to->total[k] = from->sums.total.v[k] * factor;
		to->self_s[k] = from->sums.self_s.v[k];
		to->total_s[k] = from->sums.total_s.v[k];
	}
}

/* CPU of the process that belongs to no function. */
static size_t add_rest(struct pytop_row *to, const struct picture_frame *f)
{
	const struct {
		const char *name;
		double recent, seconds;
	} rest[REST] = { { NAMES_NATIVE, f->native, f->native_s },
			 { NAMES_OTHERS, f->others, f->others_s },
			 { NAMES_UNSEEN, f->unseen, f->unseen_s } };
	size_t n = 0;

	for (size_t i = 0; i < REST; i++) {
		if (rest[i].seconds <= 0)
			continue;
		struct pytop_row *row = &to[n++];
		*row = (struct pytop_row){ .function = rest[i].name,
					   .file = "",
					   .key = KEY_REST - i };
		row->self[KIND_CPU] = row->total[KIND_CPU] = rest[i].recent * f->factor;
		row->self_s[KIND_CPU] = row->total_s[KIND_CPU] = rest[i].seconds;
	}
	return n;
}

static enum status fill_rows(struct pytop *p, const struct picture_frame *f)
{
	void *rows = p->rows;
	enum status status = alloc_grow(&rows, &p->row_capacity, f->row_count + REST,
					ROWS_MAX + REST, sizeof(*p->rows));
	size_t n = 0;

	p->rows = rows;
	if (status != ST_OK)
		return status;
	for (size_t id = 1; id < f->row_count; id++)
		if (f->rows[id].function)
			fill_row(&p->rows[n++], &f->rows[id], f->factor,
				 id | (uint64_t)f->by_line << 32);
	n += add_rest(&p->rows[n], f);
	p->snapshot.rows = p->rows;
	p->snapshot.row_count = n;
	return ST_OK;
}

static void add_end(struct pytop *p, struct pytop_header *header)
{
	if (header->target != PYTOP_ENDED)
		return;
	if (!p->has_exit_status)
		p->has_exit_status = process_exit_status(&p->attachment.process, &p->wait_status);
	header->has_exit_status = p->has_exit_status;
	header->wait_status = p->wait_status;
}

enum status pytop_snapshot(struct pytop *p, const struct pytop_snapshot **snapshot)
{
	const struct picture_frame *f = picture_take(p->picture);
	struct pytop_snapshot *s = &p->snapshot;
	uint64_t ignored;
	ssize_t n = read(p->event_fd, &ignored, sizeof(ignored));

	(void)n; /* empty: asked without an event */
	if (f->number != s->number) {
		s->row_count = s->thread_count = s->interpreter_count = s->stack_depth = 0;
		enum status status = fill_rows(p, f);
		if (status != ST_OK)
			return status;
		s->number = f->number;
		s->header = f->header;
		s->threads = f->threads;
		s->thread_count = f->thread_count;
		s->interpreters = f->interpreters;
		s->interpreter_count = f->interpreter_count;
		s->stack = f->stack;
		s->stack_depth = f->stack_depth;
		s->stack_tid = f->stack_tid;
	}
	if (p->sampler && sampler_ended(p->sampler) != ST_OK)
		s->header.target = PYTOP_ENDED;
	add_end(p, &s->header);
	front_scout(p, &s->header);
	*snapshot = s;
	return ST_OK;
}

void pytop_set_rows_by_line(struct pytop *p, bool by_line)
{
	p->by_line = by_line;
	if (p->sampler)
		sampler_wish_by_line(p->sampler, by_line);
	else if (p->replay)
		front_show_spool(p);
}

void pytop_header(struct pytop *p, struct pytop_header *header)
{
	struct process_usage usage;

	memset(header, 0, sizeof(*header));
	headline_target(header, &p->attachment);
	if (process_usage(&p->attachment.process, &usage) == ST_OK) {
		header->rss_bytes = usage.rss_bytes;
		header->thread_count = usage.thread_count;
	}
}
