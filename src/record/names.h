/*
 * names: interning: strings, functions, frames and stacks get small numbers, and threads a row
 * each.
 *
 * Written by one thread (the sampler, or a replay). Flat arrays, each with an open-addressed index
 * (record/index.h), which start small; threads are pages (record/pages.h). Ids start at 1; 0 is
 * none. All tables have caps; a full one starts a new generation: names_renew() forgets stacks and
 * frames (and more when it must) and counts generation up; whoever keeps ids must look at it.
 */
#ifndef PYTOP_RECORD_NAMES_H
#define PYTOP_RECORD_NAMES_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "record/sample.h"

#define NAMES_STRINGS_MAX 262144
#define NAMES_STRING_BYTES_MAX (48u << 20)
#define NAMES_FUNCTIONS_MAX 131072
#define NAMES_FRAMES_MAX 524288
#define NAMES_STACKS_MAX 524288
#define NAMES_THREADS_MAX 65536 /* threads that are alive, or died in this generation */
#define NAMES_STRING_MAX 4096   /* bytes of one string; a longer one is cut between characters */

/*
 * Functions that are not Python's; they are ordinary functions with file "" and line 0 (design
 * part 5).
 */
#define NAMES_TORN "<torn>"
#define NAMES_TRUNCATED "<truncated>"
#define NAMES_GC "<GC>"
#define NAMES_NO_PYTHON "<no python>"
#define NAMES_NATIVE "<native threads>"
#define NAMES_OTHERS "<other threads>" /* Python threads that are not recorded */
#define NAMES_UNSEEN "<unseen>"        /* CPU used in moments no thread-sample saw */
#define NAMES_FORGOTTEN "<forgotten>"  /* what fell out of full tables */

struct name_function {
	string_id name, file;
	int32_t line;        /* of the definition; 0: none */
	int64_t interpreter; /* interpreter id */
};
struct name_frame {
	func_id function;
	int32_t line; /* executing */
};
struct name_stack {
	stack_id parent; /* towards the root; 0: this is the root */
	frame_id frame;
};
struct name_thread {
	pid_t tid;
	string_id name;
	int64_t interpreter;
	bool main;
	nanoseconds born, died; /* first seen; died 0: alive */
};

struct names;

enum status names_open(struct names **names) MUST_CHECK;
void names_close(struct names *names);

/*
 * Each gives the id of what may already be there. ST_TOO_BIG: a table is full, names_renew() is
 * due.
 */
enum status names_string(struct names *n, const char *s, size_t size, string_id *id) MUST_CHECK;
enum status names_function(struct names *n, const struct name_function *f, func_id *id) MUST_CHECK;
enum status names_frame(struct names *n, func_id function, int32_t line, frame_id *id) MUST_CHECK;
enum status names_stack(struct names *n, stack_id parent, frame_id frame, stack_id *id) MUST_CHECK;
/*
 * A new thread row (never shared, even for the same tid). Its id is never given again, in no
 * generation.
 */
enum status names_thread(struct names *n, const struct name_thread *t, thread_id *id) MUST_CHECK;
void names_thread_renamed(struct names *n, thread_id id, string_id name);
void names_thread_died(struct names *n, thread_id id, nanoseconds at);

/*
 * Look up; id must be one that was given in this generation (else the row of id 0, all zero, ""
 * ).
 */
const char *names_text(const struct names *n, string_id id, size_t *size);
const struct name_function *names_function_at(const struct names *n, func_id id);
const struct name_frame *names_frame_at(const struct names *n, frame_id id);
const struct name_stack *names_stack_at(const struct names *n, stack_id id);
const struct name_thread *names_thread_at(const struct names *n, thread_id id);

/*
 * How many there are (ids 1 .. count). Threads: the highest id; rows of a past generation's
 * dead are empty.
 */
size_t names_string_count(const struct names *n);
size_t names_function_count(const struct names *n);
size_t names_frame_count(const struct names *n);
size_t names_stack_count(const struct names *n);
size_t names_thread_count(const struct names *n);

/*
 * Start a new generation. Threads alive keep their rows (ids unchanged). *kept (may be NULL) says
 * whether functions and strings kept their ids (only frames and stacks were full) or were
 * forgotten too.
 */
void names_renew(struct names *n, bool *functions_kept);
uint32_t names_generation(const struct names *n);

#endif
