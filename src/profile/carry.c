/*
 * carry: ids of a replay turned into ids that last.
 *
 * Invariant: maps hold what was carried in this generation of the replay's names, 0 for what was
 * not yet; they are emptied when the generation changes. Threads that live through it keep their
 * ids in both, so their map stays and a row is known again by tid and birth.
 *
 * Called by the call tree and the gecko exporter.
 */
#include "profile/carry.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct map {
	uint32_t *ids;
	size_t capacity;
};

struct carry {
	const struct names *from;
	struct names *to;
	uint32_t generation;
	struct map functions, stacks, threads;
	struct map path; /* the stacks on the way to the root that are not carried yet */
	func_id forgotten;
	stack_id forgotten_stack;
};

static enum status plain_function(struct names *to, const char *name, func_id *id)
{
	struct name_function function = { 0 };
	enum status status = names_string(to, name, strlen(name), &function.name);

	if (status == ST_OK)
		status = names_string(to, "", 0, &function.file);
	if (status == ST_OK)
		status = names_function(to, &function, id);
	return status;
}

enum status carry_open(struct carry **carry, const struct names *from, struct names *to)
{
	struct carry *c = calloc(1, sizeof(*c));
	frame_id frame;
	enum status status;

	if (!c)
		return ST_NO_MEMORY;
	c->from = from;
	c->to = to;
	c->generation = names_generation(from);
	status = plain_function(to, NAMES_FORGOTTEN, &c->forgotten);
	if (status == ST_OK)
		status = names_frame(to, c->forgotten, 0, &frame);
	if (status == ST_OK)
		status = names_stack(to, 0, frame, &c->forgotten_stack);
	if (status != ST_OK) {
		carry_close(c);
		return status;
	}
	*carry = c;
	return ST_OK;
}

void carry_close(struct carry *c)
{
	if (!c)
		return;
	free(c->functions.ids);
	free(c->stacks.ids);
	free(c->threads.ids);
	free(c->path.ids);
	free(c);
}

static void forget(struct map *m)
{
	if (m->capacity)
		memset(m->ids, 0, m->capacity * sizeof(*m->ids));
}

bool carry_tick(struct carry *c)
{
	uint32_t generation = names_generation(c->from);

	if (generation == c->generation)
		return false;
	c->generation = generation;
	forget(&c->functions);
	forget(&c->stacks);
	return true;
}

/* Room for id in m; the highest id there can be is max. */
static enum status reach(struct map *m, uint32_t id, size_t max)
{
	void *ids = m->ids;
	enum status status;

	if (id < m->capacity)
		return ST_OK;
	status = alloc_grow(&ids, &m->capacity, (size_t)id + 1, max + 1, sizeof(*m->ids));
	m->ids = ids;
	return status;
}

static enum status carry_string(struct carry *c, string_id from, string_id *to)
{
	size_t size;
	const char *text = names_text(c->from, from, &size);

	return names_string(c->to, text, size, to);
}

static enum status new_function(struct carry *c, func_id from, func_id *to)
{
	struct name_function function = *names_function_at(c->from, from);
	enum status status = carry_string(c, function.name, &function.name);

	function.interpreter = 0;
	if (status == ST_OK)
		status = carry_string(c, function.file, &function.file);
	if (status == ST_OK)
		status = names_function(c->to, &function, to);
	if (status == ST_TOO_BIG) {
		*to = c->forgotten;
		status = ST_OK;
	}
	return status;
}

enum status carry_function(struct carry *c, func_id from, func_id *to)
{
	enum status status = ST_OK;

	if (!from || from > names_function_count(c->from)) {
		*to = c->forgotten;
		return ST_OK;
	}
	status = reach(&c->functions, from, NAMES_FUNCTIONS_MAX);
	if (status == ST_OK && !c->functions.ids[from])
		status = new_function(c, from, &c->functions.ids[from]);
	if (status == ST_OK)
		*to = c->functions.ids[from];
	return status;
}

/* One stack whose parent is carried. */
static enum status new_stack(struct carry *c, stack_id from, stack_id parent, stack_id *to)
{
	struct name_frame frame = *names_frame_at(c->from, names_stack_at(c->from, from)->frame);
	frame_id id;
	enum status status = carry_function(c, frame.function, &frame.function);

	if (status == ST_OK)
		status = names_frame(c->to, frame.function, frame.line, &id);
	if (status == ST_OK)
		status = names_stack(c->to, parent, id, to);
	if (status == ST_TOO_BIG) {
		*to = parent ? parent : c->forgotten_stack;
		status = ST_OK;
	}
	return status;
}

/*
 * Fill path with from and the stacks above it that are not carried; *parent: the first that is,
 * carried. A parent's id is always smaller: whatever the file says, the walk ends.
 */
static enum status climb(struct carry *c, stack_id from, size_t *depth, stack_id *parent)
{
	size_t n = 0;

	for (*parent = 0; from; n++) {
		stack_id above = names_stack_at(c->from, from)->parent;
		void *ids = c->path.ids;
		enum status status = reach(&c->stacks, from, NAMES_STACKS_MAX);

		if (status == ST_OK && c->stacks.ids[from]) {
			*parent = c->stacks.ids[from];
			break;
		}
		if (status == ST_OK)
			status = alloc_grow(&ids, &c->path.capacity, n + 1, NAMES_STACKS_MAX,
					    sizeof(*c->path.ids));
		if (status != ST_OK)
			return status;
		c->path.ids = ids;
		c->path.ids[n] = from;
		from = above < from ? above : 0;
	}
	*depth = n;
	return ST_OK;
}

enum status carry_stack(struct carry *c, stack_id from, stack_id *to)
{
	stack_id parent = 0;
	size_t depth = 0;
	enum status status = ST_OK;

	if (from > names_stack_count(c->from))
		from = 0;
	if (from && from < c->stacks.capacity && c->stacks.ids[from]) {
		*to = c->stacks.ids[from];
		return ST_OK;
	}
	status = climb(c, from, &depth, &parent);
	while (status == ST_OK && depth) {
		stack_id *id = &c->stacks.ids[c->path.ids[--depth]];

		status = new_stack(c, c->path.ids[depth], parent, id);
		parent = *id;
	}
	if (status == ST_OK)
		*to = parent;
	return status;
}

static enum status new_thread(struct carry *c, thread_id from, thread_id *to)
{
	struct name_thread thread = *names_thread_at(c->from, from);
	enum status status = carry_string(c, thread.name, &thread.name);

	if (status == ST_TOO_BIG)
		status = names_string(c->to, "", 0, &thread.name);
	if (status == ST_OK)
		status = names_thread(c->to, &thread, to);
	return status;
}

enum status carry_thread(struct carry *c, thread_id from, thread_id *to)
{
	enum status status;

	if (!from || from > names_thread_count(c->from))
		return ST_BAD_DATA;
	status = reach(&c->threads, from, names_thread_count(c->from));
	if (status == ST_OK && !c->threads.ids[from])
		status = new_thread(c, from, &c->threads.ids[from]);
	if (status == ST_OK)
		*to = c->threads.ids[from];
	return status;
}

enum status carry_threads(struct carry *c)
{
	for (thread_id from = 0; from < c->threads.capacity; from++) {
		const struct name_thread *now = names_thread_at(c->from, from);
		thread_id to = c->threads.ids[from];
		const struct name_thread *then = names_thread_at(c->to, to);
		string_id name;
		enum status status;

		if (!to || now->tid != then->tid || now->born != then->born)
			continue;
		status = carry_string(c, now->name, &name);
		if (status == ST_OK)
			names_thread_renamed(c->to, to, name);
		else if (status != ST_TOO_BIG)
			return status;
		if (now->died)
			names_thread_died(c->to, to, now->died);
	}
	return ST_OK;
}

func_id carry_forgotten(const struct carry *c)
{
	return c->forgotten;
}
