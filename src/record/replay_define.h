/*
 * replay_define: from the numbers of a segment to the ids of the replay's names. For replay.c and
 * the files beside it.
 */
#ifndef PYTOP_RECORD_REPLAY_DEFINE_H
#define PYTOP_RECORD_REPLAY_DEFINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "record/block.h"
#include "record/names.h"

/* By number in the segment: the id in names. Number 0 is id 0. */
struct replay_ids {
	uint32_t *id;
	size_t count, capacity;
};

struct replay_define {
	struct names *names;
	struct replay_ids strings, functions, frames, stacks;
	/* what stands for all that finds no room in names */
	string_id forgotten_string;
	func_id forgotten_function;
	frame_id forgotten_frame;
	stack_id forgotten_stack;
};

enum status replay_define_open(struct replay_define *d, struct names *names) MUST_CHECK;
void replay_define_close(struct replay_define *d);
/* A new segment: nothing is defined. */
void replay_define_clear(struct replay_define *d);

/*
 * Take a block of STRINGS, FUNCTIONS, FRAMES or STACKS (others: nothing happens). ST_BAD_DATA,
 * ST_NO_MEMORY.
 */
enum status replay_define_block(struct replay_define *d, const struct block_layout *layout,
				const struct spool_block *block, struct bytes payload) MUST_CHECK;

/* The id of a number; false: the segment has not defined it. */
static inline bool replay_id(const struct replay_ids *ids, uint64_t number, uint32_t *id)
{
	if (number >= ids->count)
		return false;
	*id = ids->id[number];
	return true;
}

#endif
