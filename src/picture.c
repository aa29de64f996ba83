/*
 * picture: three frames and one atomic word.
 *
 * The word holds the index of the newest complete frame and whether the reader has seen it; publishing and taking are
 * one exchange each, so the screen never costs a tick and a tick never costs the screen. Texts are copied once, when their
 * name is first shown, into pages that are freed only when no frame can point into them any more: a generation of names
 * has its own.
 *
 * A frame is filled over several ticks. First the stacks that wait in the tally when it is begun are spread (no more: new ones
 * come with every tick), then the rows are copied. The tally's sums are scaled; when it rebases them, or is reset, in
 * the middle, the copying begins anew, so that one frame has one scale.
 */
#include "picture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FRAMES 3
#define FRESH 4u
#define ROWS_MAX (1u << 20)
#define TEXT_PAGE 65536

/* Copies of interned strings. */
struct texts {
	const char **by_id; /* of string ids */
	size_t capacity;
	struct text_page {
		struct text_page *next;
		size_t used, size;
		char bytes[];
	} * pages;
	unsigned users; /* frames that point here, and the picture while it is the current one */
};

struct picture {
	const struct names *names;
	struct tally *tally;
	struct picture_frame frames[FRAMES];
	unsigned filling, reading;
	_Atomic unsigned newest;
	bool busy;
	bool settling;
	size_t unsettled; /* stacks that are still to be spread; SIZE_MAX: not known yet */
	double factor;    /* of the tally when its rows were looked at last */
	uint32_t settled; /* the tally's number when the rows began to be copied */
	size_t next_row;
	uint64_t number;
	struct picture_wish wish;
	struct texts *texts;
	uint32_t generation;
};

/* ---- texts ------------------------------------------------------------------------------------- */

static void release_texts(struct texts *t)
{
	if (!t || --t->users > 0)
		return;
	while (t->pages) {
		struct text_page *next = t->pages->next;
		free(t->pages);
		t->pages = next;
	}
	free(t->by_id);
	free(t);
}

static char *page_room(struct texts *t, size_t size)
{
	if (!t->pages || t->pages->size - t->pages->used < size) {
		size_t room = size > TEXT_PAGE ? size : TEXT_PAGE;
		struct text_page *page = malloc(sizeof(*page) + room);
		if (!page)
			return NULL;
		page->used = 0;
		page->size = room;
		page->next = t->pages;
		t->pages = page;
	}
	char *at = t->pages->bytes + t->pages->used;
	t->pages->used += size;
	return at;
}

static const char *text_of(struct picture *p, string_id id)
{
	struct texts *t = p->texts;
	void *by_id = t->by_id;
	size_t size;

	if (id < t->capacity && t->by_id[id])
		return t->by_id[id];
	if (alloc_grow(&by_id, &t->capacity, (size_t)id + 1, NAMES_STRINGS_MAX + 1,
		       sizeof(char *)) != ST_OK)
		return NULL;
	t->by_id = by_id;
	const char *text = names_text(p->names, id, &size);
	char *copy = page_room(t, size + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	t->by_id[id] = copy;
	return copy;
}

static enum status begin_texts(struct picture *p)
{
	if (p->texts && p->generation == names_generation(p->names))
		return ST_OK;
	struct texts *t = alloc_zero(1, sizeof(*t));
	if (!t)
		return ST_NO_MEMORY;
	t->users = 1;
	release_texts(p->texts);
	p->texts = t;
	p->generation = names_generation(p->names);
	return ST_OK;
}

/* ---- life --------------------------------------------------------------------------------------- */

enum status picture_open(struct picture **picture, const struct names *names, struct tally *tally)
{
	struct picture *p = alloc_zero(1, sizeof(*p));
	if (!p)
		return ST_NO_MEMORY;
	p->names = names;
	p->tally = tally;
	p->filling = 0;
	p->reading = 1;
	atomic_init(&p->newest, 2);
	*picture = p;
	return ST_OK;
}

void picture_close(struct picture *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < FRAMES; i++) {
		struct picture_frame *f = &p->frames[i];
		free(f->rows);
		free(f->threads);
		free(f->interpreters);
		free(f->stack);
		release_texts(f->texts);
	}
	release_texts(p->texts);
	free(p);
}

/* ---- the sampler's side ---------------------------------------------------------------------------- */

struct picture_frame *picture_current(struct picture *p)
{
	return &p->frames[p->filling];
}

bool picture_is_busy(const struct picture *p)
{
	return p->busy;
}

void picture_begin(struct picture *p, const struct picture_wish *wish)
{
	struct picture_frame *f = picture_current(p);

	if (begin_texts(p) != ST_OK)
		return;
	p->busy = true;
	p->settling = true;
	p->unsettled = SIZE_MAX;
	p->wish = *wish;
	p->next_row = 1;
	if (f->by_line != wish->by_line || f->texts != p->texts || f->generation != p->generation) {
		if (f->rows)
			memset(f->rows, 0, f->row_count * sizeof(*f->rows));
		f->row_count = 0;
		f->settled = 0;
	}
	if (f->texts != p->texts) {
		release_texts(f->texts);
		f->texts = p->texts;
		f->texts->users++;
	}
	f->by_line = wish->by_line;
	f->generation = p->generation;
}

static const struct tally_row *sums_of(const struct picture *p, size_t id)
{
	return p->wish.by_line ? tally_frame(p->tally, (frame_id)id)
			       : tally_function(p->tally, (func_id)id);
}

static enum status copy_row(struct picture *p, struct picture_frame *f, size_t id)
{
	const struct tally_row *sums = sums_of(p, id);
	struct picture_row *row = &f->rows[id];

	if (!sums || sums->samples == 0) {
		row->function = NULL;
		return ST_OK;
	}
	if (row->function && sums->changed < f->settled)
		return ST_OK;
	row->sums = *sums;
	if (row->function)
		return ST_OK;
	const struct name_frame *frame =
		p->wish.by_line ? names_frame_at(p->names, (frame_id)id) : NULL;
	const struct name_function *function =
		names_function_at(p->names, frame ? frame->function : (func_id)id);
	row->line = frame ? frame->line : function->line;
	row->interpreter = function->interpreter;
	row->file = text_of(p, function->file);
	row->function = row->file ? text_of(p, function->name) : NULL;
	return row->function ? ST_OK : ST_NO_MEMORY;
}

static enum status grow_rows(struct picture *p, struct picture_frame *f)
{
	size_t need = 1 + (p->wish.by_line ? names_frame_count(p->names)
					   : names_function_count(p->names));
	void *rows = f->rows;
	enum status status = alloc_grow(&rows, &f->row_capacity, need, ROWS_MAX, sizeof(*f->rows));

	f->rows = rows;
	if (status == ST_OK && need > f->row_count) {
		memset(f->rows + f->row_count, 0, (need - f->row_count) * sizeof(*f->rows));
		f->row_count = need;
	}
	return status;
}

static enum status copy_leaf(struct picture *p, struct pytop_thread *t, stack_id stack)
{
	const struct name_frame *frame =
		names_frame_at(p->names, names_stack_at(p->names, stack)->frame);
	const struct name_function *function = names_function_at(p->names, frame->function);

	t->function = text_of(p, function->name);
	t->file = text_of(p, function->file);
	t->line = frame->line;
	if (function->line > 0) /* a thread may be inside another interpreter than it was born in */
		t->interpreter = function->interpreter;
	return t->function && t->file ? ST_OK : ST_NO_MEMORY;
}

static enum status copy_thread(struct picture *p, struct picture_frame *f, thread_id id)
{
	const struct name_thread *name = names_thread_at(p->names, id);
	const struct tally_thread *sums = tally_thread(p->tally, id);
	void *threads = f->threads;

	enum status status = alloc_grow(&threads, &f->thread_capacity, f->thread_count + 1,
					ROWS_MAX, sizeof(*f->threads));
	f->threads = threads;
	if (status != ST_OK)
		return status;
	if (!sums) /* of a look that came to nothing */
		return ST_OK;
	struct pytop_thread *t = &f->threads[f->thread_count];
	*t = (struct pytop_thread){ .tid = name->tid,
				    .name = text_of(p, name->name),
				    .interpreter = name->interpreter,
				    .main = name->main,
				    .state = (enum thread_state)sums->state,
				    .holds_gil = (sums->flags & SAMPLE_GIL) != 0,
				    .syscall = sums->syscall };
	for (size_t k = 0; k < KIND_COUNT; k++) {
		t->percent[k] = sums->recent.v[k] * tally_factor(p->tally);
		t->seconds[k] = sums->seconds.v[k];
	}
	if (!t->name)
		return ST_NO_MEMORY;
	status = copy_leaf(p, t, sums->stack);
	if (status == ST_OK)
		f->thread_count++;
	return status;
}

static enum status copy_stack(struct picture *p, struct picture_frame *f, stack_id stack)
{
	f->stack_depth = 0;
	while (stack && f->stack_depth < 4096) {
		const struct name_stack *s = names_stack_at(p->names, stack);
		const struct name_frame *frame = names_frame_at(p->names, s->frame);
		const struct name_function *function = names_function_at(p->names, frame->function);
		void *frames = f->stack;
		enum status status = alloc_grow(&frames, &f->stack_capacity, f->stack_depth + 1,
						4096, sizeof(*f->stack));
		f->stack = frames;
		if (status != ST_OK)
			return status;
		struct pytop_frame *to = &f->stack[f->stack_depth++];
		to->function = text_of(p, function->name);
		to->file = text_of(p, function->file);
		to->line = frame->line;
		if (!to->function || !to->file)
			return ST_NO_MEMORY;
		stack = s->parent;
	}
	return ST_OK;
}

static enum status copy_interpreters(struct picture *p, struct picture_frame *f)
{
	size_t n = tally_interpreter_count(p->tally);
	void *items = f->interpreters;
	enum status status =
		alloc_grow(&items, &f->interpreter_capacity, n, ROWS_MAX, sizeof(*f->interpreters));

	f->interpreters = items;
	if (status != ST_OK)
		return status;
	for (size_t i = 0; i < n; i++) {
		const struct tally_interpreter *in = tally_interpreter_at(p->tally, i);
		f->interpreters[i] = (struct pytop_interpreter){
			.id = in->id,
			.has_gil = in->has_gil,
			.gil_percent = in->held * tally_factor(p->tally),
			.gil_wait_percent = in->waited * tally_factor(p->tally),
		};
	}
	f->interpreter_count = n;
	return ST_OK;
}

static enum status copy_threads(struct picture *p, struct picture_frame *f,
				const struct sample *samples, size_t count)
{
	enum status status = ST_OK;

	f->thread_count = 0;
	f->stack_depth = 0;
	f->stack_tid = 0;
	for (size_t i = 0; status == ST_OK && i < count; i++) {
		const struct name_thread *name = names_thread_at(p->names, samples[i].thread);
		status = copy_thread(p, f, samples[i].thread);
		if (status == ST_OK && p->wish.stack_tid && name->tid == p->wish.stack_tid) {
			f->stack_tid = name->tid;
			status = copy_stack(p, f, samples[i].stack);
		}
	}
	return status;
}

static void settle(struct picture *p, size_t rows)
{
	size_t now = rows < p->unsettled ? rows : p->unsettled;
	size_t left = tally_settle(p->tally, now);

	p->unsettled = p->unsettled == SIZE_MAX ? left : p->unsettled - now;
	p->settling = p->unsettled > 0;
	p->settled = tally_settles(p->tally);
	p->factor = tally_factor(p->tally);
}

/* W only grows, so percent of a sum only shrinks: unless everything was scaled anew, or begun anew. */
static bool is_rescaled(struct picture *p)
{
	double before = p->factor;

	p->factor = tally_factor(p->tally);
	return p->factor > before || (p->factor <= 0 && before > 0);
}

static void copy_whole(struct picture_frame *f, const struct tally_whole *whole)
{
	f->native = whole->native;
	f->native_s = whole->native_s;
	f->others = whole->others;
	f->others_s = whole->others_s;
	f->unseen = whole->unseen;
	f->unseen_s = whole->unseen_s;
}

static enum status work(struct picture *p, size_t rows, const struct sample *samples, size_t count,
			bool *complete)
{
	struct picture_frame *f = picture_current(p);
	enum status status;

	if (p->settling) {
		settle(p, rows);
		return ST_OK;
	}
	if (is_rescaled(p)) {
		p->next_row = 1;
		f->settled = 0;
	}
	status = grow_rows(p, f);
	for (; status == ST_OK && rows > 0 && p->next_row < f->row_count; rows--)
		status = copy_row(p, f, p->next_row++);
	if (status != ST_OK || p->next_row < f->row_count)
		return status;
	status = copy_threads(p, f, samples, count);
	if (status == ST_OK)
		status = copy_interpreters(p, f);
	f->factor = tally_factor(p->tally);
	copy_whole(f, tally_whole(p->tally));
	*complete = status == ST_OK;
	return status;
}

enum status picture_work(struct picture *p, size_t rows, const struct sample *samples, size_t count,
			 bool *complete)
{
	*complete = false;
	if (!p->busy)
		return ST_OK;
	enum status status = p->generation == names_generation(p->names)
				     ? work(p, rows, samples, count, complete)
				     : ST_TOO_BIG;
	if (status != ST_OK)
		p->busy = false;
	/* renewed in the middle: the next one begins anew */
	return status == ST_TOO_BIG ? ST_OK : status;
}

void picture_publish(struct picture *p)
{
	picture_current(p)->number = ++p->number;
	picture_current(p)->settled = p->settled;
	p->filling = atomic_exchange(&p->newest, p->filling | FRESH) & ~FRESH;
	p->busy = false;
}

/* ---- the reader's side ------------------------------------------------------------------------------- */

const struct picture_frame *picture_take(struct picture *p)
{
	if (atomic_load(&p->newest) & FRESH)
		p->reading = atomic_exchange(&p->newest, p->reading) & ~FRESH;
	return &p->frames[p->reading];
}
