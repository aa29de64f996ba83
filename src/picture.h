/*
 * picture: what the screen is given: copies of the tally's rows, made by the sampler between ticks, in slices, changed rows
 * only, and handed over without either side waiting for the other.
 *
 * Three frames go round: one is drawn from (the reader's), one is complete and the newest, one is being filled.
 */
#ifndef PYTOP_PICTURE_H
#define PYTOP_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "pytop.h"
#include "record/names.h"
#include "record/tally.h"

struct picture;

/* One function, or one line: sums as the tally keeps them; percent = sum * frame's factor. */
struct picture_row {
	const char *function, *file; /* owned by the picture; NULL function: no such row */
	int32_t line;
	int64_t interpreter;
	struct tally_row sums;
};

struct picture_frame {
	uint64_t number; /* counts up by one a publication */
	bool by_line;
	double factor;
	/* CPU of the process that no row accounts for, as in tally_whole */
	double native, native_s, others, others_s, unseen, unseen_s;
	struct pytop_header header;
	struct picture_row *rows; /* by id: function or frame */
	size_t row_count, row_capacity;
	struct pytop_thread *threads; /* in the order of the newest tick's samples */
	size_t thread_count, thread_capacity;
	struct pytop_interpreter *interpreters;
	size_t interpreter_count, interpreter_capacity;
	struct pytop_frame *stack; /* of the watched thread, leaf first */
	size_t stack_depth, stack_capacity;
	pid_t stack_tid;
	/* the picture's own */
	uint32_t settled, generation;
	struct texts *texts;
};

enum status picture_open(struct picture **picture, const struct names *names,
			 struct tally *tally) MUST_CHECK;
void picture_close(struct picture *p);

/* ---- the sampler's side */

struct picture_wish {
	bool by_line;
	pid_t stack_tid; /* 0: none */
};
/* Begin a new frame. */
void picture_begin(struct picture *p, const struct picture_wish *wish);
bool picture_is_busy(const struct picture *p);
/*
 * Do a slice of the work: at most so many rows. *complete: all rows are in, and the header alone is missing. samples are those of
 * the newest tick: the threads that live. ST_NO_MEMORY drops the frame.
 */
enum status picture_work(struct picture *p, size_t rows, const struct sample *samples, size_t count,
			 bool *complete) MUST_CHECK;
/* The frame being filled, for whoever adds the header. */
struct picture_frame *picture_current(struct picture *p);
/* The header and the rest are in: hand it over. */
void picture_publish(struct picture *p);

/* ---- the reader's side */

/* The newest frame; the one given before is given back. Never NULL: number 0 is an empty one. */
const struct picture_frame *picture_take(struct picture *p);

#endif
