/*
 * carry: ids of a replay turned into ids that last.
 *
 * A replay's names may begin a new generation while it runs, after which the ids before mean
 * nothing. Who adds up over the whole of it has names of its own and carries into them what it
 * meets: functions (equal by name, file and line, whatever the interpreter), frames, stacks and
 * threads. What does not fit in their caps becomes NAMES_FORGOTTEN.
 */
#ifndef PYTOP_PROFILE_CARRY_H
#define PYTOP_PROFILE_CARRY_H

#include <stddef.h>

#include "base/status.h"
#include "record/names.h"

struct carry;

/* Both are borrowed. ST_NO_MEMORY. */
enum status carry_open(struct carry **carry, const struct names *from, struct names *to) MUST_CHECK;
void carry_close(struct carry *c); /* NULL is fine */

/* To be called before ids of a new tick are carried: sees a new generation. True: there is one. */
bool carry_tick(struct carry *c);

/*
 * The same thing in the names that last. A function that is none becomes NAMES_FORGOTTEN, a stack
 * that is none 0. ST_NO_MEMORY.
 */
enum status carry_function(struct carry *c, func_id from, func_id *to) MUST_CHECK;
enum status carry_stack(struct carry *c, stack_id from, stack_id *to) MUST_CHECK;

/*
 * Threads get ids 1, 2, ... in the order they are met. ST_TOO_BIG: more than NAMES_THREADS_MAX;
 * ST_BAD_DATA: no such thread. carry_threads brings names and ends of life up to date: called at
 * the end.
 */
enum status carry_thread(struct carry *c, thread_id from, thread_id *to) MUST_CHECK;
enum status carry_threads(struct carry *c) MUST_CHECK;

/* NAMES_FORGOTTEN in the names that last. */
func_id carry_forgotten(const struct carry *c);

#endif
