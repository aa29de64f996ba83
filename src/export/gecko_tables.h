/*
 * gecko_tables: the tables that all threads of a Gecko file share: strings, functions, frames,
 * stacks, and the numbers that depend on the version of the format.
 */
#ifndef PYTOP_EXPORT_GECKO_TABLES_H
#define PYTOP_EXPORT_GECKO_TABLES_H

#include "base/json.h"
#include "export/gecko_states.h"
#include "profile/carry.h"
#include "record/names.h"

/*
 * The version of the processed profile format that is written. With another number the flags
 * columns of gecko_tables.c change (before 71 frames and before 75 functions had nulls instead),
 * nothing else.
 */
#define GECKO_VERSION 75

struct gecko_tables {
	const struct names *from; /* the replay's */
	struct names *
		names; /* ids here are indexes of the file's tables, plus 1; strings: as they are */
	struct carry *carry;
	bool free_threaded;
	string_id gc_name, marker_names[GECKO_MARK_COUNT];
	frame_id leaves[STATE_COUNT], gc_leaf; /* 0: none */
};

/* ST_NO_MEMORY. */
enum status gecko_tables_open(struct gecko_tables *t, const struct names *from,
			      bool free_threaded) MUST_CHECK;
void gecko_tables_close(struct gecko_tables *t);

/*
 * The stack of a thread-sample, with the frame that stands for its state: an id of names; 0:
 * none.
 */
enum status gecko_tables_stack(struct gecko_tables *t, const struct sample *s,
			       stack_id *stack) MUST_CHECK;

/* "shared" of the document. Nothing may be carried or interned after. ST_NO_MEMORY. */
enum status gecko_tables_write(struct gecko_tables *t, struct json *j) MUST_CHECK;

#endif
