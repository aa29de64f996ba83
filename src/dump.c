/*
 * dump: every thread's stack once, without sampling: one look by the same observer the sampler uses.
 *
 * States need no history; CPU and percentages stay zero. A stack that could not be held still in one look is looked at again a
 * few times: a dump has the time.
 */
#include "front.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "clock.h"

#define TRIES 20
#define PAUSE_NS (1000 * 1000)
#define FRAMES_MAX (1u << 22)

void front_free_dump(struct pytop *p)
{
	free(p->dump);
	free(p->dump_frames);
	observer_close(p->dump_observer);
	p->dump = NULL;
	p->dump_frames = NULL;
	p->dump_observer = NULL;
	p->dump_count = 0;
}

static bool any_torn(const struct observation *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->samples[i].flags & SAMPLE_TORN)
			return true;
	return false;
}

/*
 * The first look learns the threads (before 3.11 also how to find the kernel's ids), so at least two are made; more while a
 * stack is torn.
 */
static enum status look(struct pytop *p, const struct observation **seen)
{
	struct timespec pause = { 0, PAUSE_NS };
	enum status status = ST_OK;

	for (int i = 0; i < TRIES; i++) {
		struct tick when = { .time = clock_read(CLOCK_MONOTONIC), .weight = PAUSE_NS };
		status = observer_look(p->dump_observer, &when, seen);
		if (status == ST_OK && i > 0 && !any_torn(*seen))
			break;
		if (status != ST_OK && status != ST_FAULT)
			break;
		nanosleep(&pause, NULL);
	}
	return status;
}

static size_t count_frames(const struct pytop *p, const struct observation *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < seen->count; i++)
		for (stack_id s = seen->samples[i].stack; s;
		     s = names_stack_at(p->names, s)->parent)
			n++;
	return n;
}

static void fill_thread(struct pytop *p, struct pytop_dump_thread *to, const struct sample *s,
			struct pytop_frame *frames)
{
	const struct name_thread *name = names_thread_at(p->names, s->thread);

	*to = (struct pytop_dump_thread){
		.thread = { .tid = name->tid,
			    .name = names_text(p->names, name->name, NULL),
			    .interpreter = name->interpreter,
			    .main = name->main,
			    .state = (enum thread_state)s->state,
			    .holds_gil = (s->flags & SAMPLE_GIL) != 0,
			    .syscall = s->syscall },
		.frames = frames,
		.torn = (s->flags & SAMPLE_TORN) != 0,
	};
	for (stack_id id = s->stack; id; id = names_stack_at(p->names, id)->parent) {
		const struct name_frame *f =
			names_frame_at(p->names, names_stack_at(p->names, id)->frame);
		const struct name_function *fn = names_function_at(p->names, f->function);
		frames[to->depth++] =
			(struct pytop_frame){ names_text(p->names, fn->name, NULL),
					      names_text(p->names, fn->file, NULL), f->line };
	}
	if (to->depth > 0) {
		to->thread.function = frames[0].function;
		to->thread.file = frames[0].file;
		to->thread.line = frames[0].line;
		const struct name_frame *leaf =
			names_frame_at(p->names, names_stack_at(p->names, s->stack)->frame);
		if (frames[0].line >
		    0) /* it may be inside another interpreter than it was born in */
			to->thread.interpreter =
				names_function_at(p->names, leaf->function)->interpreter;
		to->truncated = strcmp(frames[to->depth - 1].function, NAMES_TRUNCATED) == 0;
	}
}

enum status pytop_dump(struct pytop *p, const struct pytop_dump_thread **threads, size_t *count)
{
	struct observer_options options = { p->options.threads, p->options.thread_count,
					    p->options.main_thread_only, p->options.blocking };
	const struct observation *seen;

	front_free_dump(p);
	enum status status =
		observer_open(&p->dump_observer, &p->attachment.process, &p->attachment.memory,
			      &p->attachment.runtime, p->names, &options);
	if (status == ST_OK)
		status = look(p, &seen);
	if (status != ST_OK)
		return status;
	size_t frame_count = count_frames(p, seen);
	if (frame_count > FRAMES_MAX)
		return ST_TOO_BIG;
	p->dump = alloc_zero(seen->count + 1, sizeof(*p->dump));
	p->dump_frames = alloc_zero(frame_count + 1, sizeof(*p->dump_frames));
	if (!p->dump || !p->dump_frames)
		return ST_NO_MEMORY;
	size_t used = 0;
	for (size_t i = 0; i < seen->count; i++) {
		fill_thread(p, &p->dump[i], &seen->samples[i], p->dump_frames + used);
		used += p->dump[i].depth;
	}
	p->dump_count = seen->count;
	*threads = p->dump;
	*count = p->dump_count;
	return ST_OK;
}
