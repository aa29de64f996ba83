/*
 * resolver: turns a stack of addresses into a stack id: code address + instruction -> frame id.
 *
 * It reads names and lines at first sight only, and knows when to doubt what it has read: a code object dies, and its
 * address is given to another. 3.14 and later count the deaths; before, what is young or lives among the dying is looked
 * at in every tick in which it is used, the rest about every ten milliseconds.
 */
#ifndef PYTOP_RESOLVER_H
#define PYTOP_RESOLVER_H

#include "base/status.h"
#include "python/interp.h"
#include "python/runtime.h"
#include "record/names.h"
#include "target/memory.h"

struct resolver;

enum status resolver_open(struct resolver **resolver, struct py_runtime *runtime,
			  struct memory *memory, struct names *names) MUST_CHECK;
void resolver_close(struct resolver *r);

/* A tick begins; interpreters as just looked at. held: the target stands still until the tick is done. */
void resolver_tick(struct resolver *r, const struct py_look *look, nanoseconds now, bool held);

/* What a thread's last stack was, from the root; kept by the caller with the thread. */
struct resolved {
	struct resolved_frame {
		remote_addr code, address;
		int64_t instruction;
		int32_t tlbc_index;
		stack_id stack; /* of the frames from the root up to this one */
		uint32_t entry; /* of the code object */
	} * frames;
	size_t capacity;
	uint32_t depth;
	stack_id
		base; /* the frames rest on: 0, or another thread state's stack of the same thread */
	stack_id stack;      /* the whole, with <torn> and the like */
	uint32_t generation; /* of names and of the resolver, when it was resolved */
	/* until when, and at which count of dead code objects, none of its entries is in doubt */
	nanoseconds doubt_due;
	uint64_t settled_deaths;
	remote_addr
		root_frame; /* address of the outermost frame, when its function is threading's _bootstrap; else 0 */
};
void resolved_free(struct resolved *resolved);

/*
 * The stack id of a thread's stack. base: what it stands on (see above), usually 0. Never fails for reasons of the target: what
 * cannot be named honestly is <torn>. *torn (may be NULL): whether the sample must be counted as torn.
 * ST_NO_MEMORY; ST_TOO_BIG: names are full, renew them and call again.
 */
enum status resolver_stack(struct resolver *r, struct resolved *resolved,
			   const struct py_thread *thread, int64_t interpreter, stack_id base,
			   stack_id *stack, bool *torn) MUST_CHECK;

/* One frame that is not Python's, NAMES_GC and the like, on top of a stack. */
enum status resolver_special(struct resolver *r, const char *name, stack_id below,
			     stack_id *stack) MUST_CHECK;

/* Names were renewed: ids must be asked for anew. */
void resolver_renewed(struct resolver *r);

#endif
