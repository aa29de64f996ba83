/*
 * resolver: the cache of code objects, and the doubt about it.
 *
 * Entries are found by address in an open-addressed table. An entry is trusted until its next check is due; checks of all
 * doubted entries of one stack go out as one read. The rules of doubt:
 *  - 3.14+: the interpreter counts dying code objects; a changed count doubts every entry once, and a stack that was read
 *    later than the count doubts its own.
 *  - before: an entry is checked at every use while it is young (ENTRY_YOUNG), then every ten milliseconds or, where there are
 *    so many that this would cost more than a few percent of a core, less often. Once an entry was found replaced, the program
 *    is one that makes code all the time: for CHURN_TIME every entry is checked at every use.
 * An entry read for the first time, or anew, counts for a stack only if the frame lives and still holds that code object
 * afterwards, a leaf with its instruction taken again, a caller with the one it had: else the stack was of an object that is
 * gone or is not any more what it was, and what cannot be named is torn.
 * So is an instruction that is not the code object's: that entry is read anew at once.
 *
 * Invariant: a frame is published under a name only if the name was read from, or checked against, the code object after the
 * frame was seen to use it, or within the trust given above.
 */
#include "resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/alive.h"
#include "python/code.h"
#include "python/identity.h"

#define ENTRY_YOUNG ((nanoseconds)1000 * 1000 * 1000)
#define RECHECK_LEAST ((nanoseconds)10 * 1000 * 1000)
#define RECHECK_MOST ((nanoseconds)200 * 1000 * 1000)
#define RECHECK_SHARE ((nanoseconds)50 * 1000) /* for each entry: a check of one costs ~1 us */
#define CHURN_TIME ((nanoseconds)30 * 1000 * 1000 * 1000)
#define ENTRIES_MAX 65536 /* code objects remembered; then all are forgotten and read anew */
#define LINE_CACHE 8
#define CODE_READ_TRIES 3
#define BOOTSTRAP_FUNCTION "_bootstrap"

struct entry {
	remote_addr code; /* 0: unused */
	func_id function;
	uint32_t names_generation;
	int64_t interpreter;
	nanoseconds born, checked;
	uint64_t checked_deaths; /* the interpreter's count when it was checked */
	uint32_t checked_tick;
	bool is_bootstrap;
	struct code about;
	struct code_identity identity;
	struct {
		int64_t instruction;
		frame_id frame;
	} lines[LINE_CACHE];
};

struct resolver {
	struct py_runtime *runtime;
	struct memory *memory;
	struct names *names;
	struct entry *entries; /* 1 .. entry_count; 0 is none */
	size_t capacity;
	uint32_t entry_count;
	uint32_t *index;     /* of entries, by address; 0: free */
	size_t index_size;   /* a power of two */
	uint32_t generation; /* counts up when entries are forgotten or names renewed */
	uint32_t tick;
	nanoseconds now, churn_until;
	uint64_t deaths; /* of the interpreter being resolved */
	bool counts_deaths;
	nanoseconds recheck; /* of entries that are not young */
	bool read_late;      /* the stack was read again, after the count of deaths */
	const struct py_look *look;
	bool held;          /* the target stands still: what is on a stack stays there */
	remote_addr tstate; /* of the thread being resolved */
	/* work space of one stack: entries to check */
	const struct code_identity *doubted[PY_DEPTH_MAX];
	uint32_t doubted_entry[PY_DEPTH_MAX];
	bool same[PY_DEPTH_MAX];
};

enum status resolver_open(struct resolver **resolver, struct py_runtime *runtime,
			  struct memory *memory, struct names *names)
{
	struct resolver *r = alloc_zero(1, sizeof(*r));
	if (!r)
		return ST_NO_MEMORY;
	r->index_size = 4096;
	r->index = alloc_zero(r->index_size, sizeof(*r->index));
	if (!r->index) {
		free(r);
		return ST_NO_MEMORY;
	}
	r->runtime = runtime;
	r->memory = memory;
	r->names = names;
	r->generation = 1;
	r->counts_deaths = runtime->layout.interp.code_generation != LAYOUT_NONE;
	*resolver = r;
	return ST_OK;
}

static void forget_all(struct resolver *r)
{
	for (uint32_t i = 1; i <= r->entry_count; i++)
		code_free(&r->entries[i].about);
	r->entry_count = 0;
	memset(r->index, 0, r->index_size * sizeof(*r->index));
	r->generation++;
}

void resolver_close(struct resolver *r)
{
	if (!r)
		return;
	forget_all(r);
	free(r->entries);
	free(r->index);
	free(r);
}

void resolved_free(struct resolved *resolved)
{
	free(resolved->frames);
	memset(resolved, 0, sizeof(*resolved));
}

void resolver_tick(struct resolver *r, const struct py_look *look, nanoseconds now, bool held)
{
	r->held = held;
	r->look = look;
	r->now = now;
	r->tick++;
	r->recheck = r->entry_count * RECHECK_SHARE;
	if (r->recheck < RECHECK_LEAST)
		r->recheck = RECHECK_LEAST;
	if (r->recheck > RECHECK_MOST)
		r->recheck = RECHECK_MOST;
}

void resolver_renewed(struct resolver *r)
{
	r->generation++;
}

/* ---- entries --------------------------------------------------------------------------------- */

static size_t slot_of(const struct resolver *r, remote_addr code)
{
	uint64_t h = (code >> 4) * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(h >> 32) & (r->index_size - 1);

	while (r->index[at] && r->entries[r->index[at]].code != code)
		at = (at + 1) & (r->index_size - 1);
	return at;
}

static enum status grow_index(struct resolver *r)
{
	size_t size = r->index_size * 2;
	uint32_t *index = alloc_zero(size, sizeof(*index));
	if (!index)
		return ST_NO_MEMORY;
	free(r->index);
	r->index = index;
	r->index_size = size;
	for (uint32_t i = 1; i <= r->entry_count; i++)
		r->index[slot_of(r, r->entries[i].code)] = i;
	return ST_OK;
}

static enum status add_entry(struct resolver *r, remote_addr code, uint32_t *number)
{
	if (r->entry_count >= ENTRIES_MAX)
		forget_all(r);
	if ((size_t)(r->entry_count + 1) * 2 > r->index_size) {
		enum status status = grow_index(r);
		if (status != ST_OK)
			return status;
	}
	void *items = r->entries;
	enum status status = alloc_grow(&items, &r->capacity, (size_t)r->entry_count + 2,
					ENTRIES_MAX + 1, sizeof(*r->entries));
	r->entries = items;
	if (status != ST_OK)
		return status;
	struct entry *e = &r->entries[r->entry_count + 1];
	memset(e, 0, sizeof(*e));
	e->code = code;
	r->index[slot_of(r, code)] = ++r->entry_count;
	*number = r->entry_count;
	return ST_OK;
}

static void forget_lines(struct entry *e)
{
	for (size_t i = 0; i < LINE_CACHE; i++) {
		e->lines[i].instruction = INT64_MIN;
		e->lines[i].frame = 0;
	}
}

/* Read the code object anew into the entry. On failure the entry is as good as unread (function 0). */
static enum status fill_entry(struct resolver *r, struct entry *e, int64_t interpreter)
{
	enum status status = ST_TORN;

	code_free(&e->about);
	memset(&e->about, 0, sizeof(e->about));
	e->function = 0;
	for (int i = 0; i < CODE_READ_TRIES && status != ST_OK; i++) {
		status = code_read(&e->about, r->runtime, r->memory, e->code);
		if (status != ST_OK)
			continue;
		status = identity_take(&e->identity, &r->runtime->layout, r->memory, e->code,
				       &e->about.print);
		if (status == ST_OK)
			break;
		code_free(&e->about);
		memset(&e->about, 0, sizeof(e->about));
	}
	if (status != ST_OK)
		return status;
	e->interpreter = interpreter;
	e->born = e->checked = r->now;
	e->checked_deaths = r->deaths;
	e->checked_tick = r->tick;
	e->names_generation = 0;
	size_t n = strlen(e->about.function), suffix = sizeof(BOOTSTRAP_FUNCTION) - 1;
	e->is_bootstrap =
		n >= suffix && strcmp(e->about.function + n - suffix, BOOTSTRAP_FUNCTION) == 0;
	forget_lines(e);
	return ST_OK;
}

static bool in_doubt(const struct resolver *r, const struct entry *e)
{
	if (!e->about.function)
		return false;
	if (r->counts_deaths && e->checked_deaths != r->deaths)
		return true;
	if (e->checked_tick == r->tick)
		return false;
	if (r->counts_deaths)
		return r->read_late;
	return r->now < r->churn_until || r->now - e->born < ENTRY_YOUNG ||
	       r->now - e->checked >= r->recheck;
}

/* ---- names of an entry -------------------------------------------------------------------------- */

static enum status name_function(struct resolver *r, struct entry *e)
{
	struct name_function f = { .line = e->about.first_line, .interpreter = e->interpreter };
	enum status status;

	status = names_string(r->names, e->about.function, strlen(e->about.function), &f.name);
	if (status == ST_OK)
		status = names_string(r->names, e->about.file, strlen(e->about.file), &f.file);
	if (status == ST_OK)
		status = names_function(r->names, &f, &e->function);
	if (status == ST_OK) {
		e->names_generation = names_generation(r->names) + 1;
		forget_lines(e);
	}
	return status;
}

/* The instruction in the unit of the line table; false: not inside this code object. */
static bool unit_of(struct resolver *r, const struct entry *e, const struct py_frame *f,
		    int64_t *unit)
{
	if (e->about.instr_count == 0) {
		*unit = f->instruction;
		return true;
	}
	int64_t offset = f->instruction - e->about.instr_base;
	if (f->tlbc_index > 0) {
		remote_addr base;
		if (code_tlbc_base(&base, &r->runtime->layout, r->memory, f->code, f->tlbc_index) !=
		    ST_OK)
			return false;
		offset = f->instruction - (int64_t)base;
	}
	*unit = offset >> 1;
	/* one unit before the first: a frame that has not begun (3.11, 3.12) */
	return offset >= -2 && *unit < e->about.instr_count;
}

/* The frame id; *frame 0: the frame is one that CPython hides. ST_TORN: the instruction is not the code's. */
static enum status name_frame(struct resolver *r, struct entry *e, const struct py_frame *f,
			      frame_id *frame)
{
	if (e->names_generation != names_generation(r->names) + 1) {
		enum status status = name_function(r, e);
		if (status != ST_OK)
			return status;
	}
	size_t slot = ((uint64_t)f->instruction * 0x9e3779b97f4a7c15u) >> 61;
	if (e->lines[slot].instruction == f->instruction && f->tlbc_index == 0) {
		*frame = e->lines[slot].frame;
		return ST_OK;
	}
	int64_t unit;
	if (!unit_of(r, e, f, &unit))
		return ST_TORN;
	if (e->about.first_traceable > 0 && unit < e->about.first_traceable) {
		*frame = 0;
		return ST_OK;
	}
	enum status status = names_frame(r->names, e->function, code_line(&e->about, unit), frame);
	if (status == ST_OK && f->tlbc_index == 0) {
		e->lines[slot].instruction = f->instruction;
		e->lines[slot].frame = *frame;
	}
	return status;
}

enum status resolver_special(struct resolver *r, const char *name, stack_id below, stack_id *stack)
{
	struct name_function f = { 0 };
	func_id function;
	frame_id frame;
	enum status status = names_string(r->names, name, strlen(name), &f.name);

	if (status == ST_OK)
		status = names_string(r->names, "", 0, &f.file);
	if (status == ST_OK)
		status = names_function(r->names, &f, &function);
	if (status == ST_OK)
		status = names_frame(r->names, function, 0, &frame);
	if (status == ST_OK)
		status = names_stack(r->names, below, frame, stack);
	return status;
}

/* ---- a stack -------------------------------------------------------------------------------------- */

static bool same_frame(const struct resolved_frame *a, const struct py_frame *b)
{
	return a->code == b->code && a->instruction == b->instruction && a->address == b->address &&
	       a->tlbc_index == b->tlbc_index;
}

/*
 * The entry of a frame, read if need be. ST_TORN: the code object is not there any more, or the caller of another frame has
 * gone on to another instruction.
 */
static enum status find_entry(struct resolver *r, struct py_frame *f, bool is_leaf,
			      int64_t interpreter, uint32_t *number)
{
	uint32_t found = r->index[slot_of(r, f->code)];
	int64_t instruction = f->instruction;
	enum status status = ST_OK;

	if (!found)
		status = add_entry(r, f->code, &found);
	if (status != ST_OK)
		return status;
	struct entry *e = &r->entries[found];
	if (!e->about.function || e->interpreter != interpreter) {
		status = fill_entry(r, e, interpreter);
		if (status == ST_NO_MEMORY || status == ST_ENDED || status == ST_DENIED)
			return status;
		if (status == ST_OK && !r->held &&
		    !alive_frame(f, &r->runtime->layout, r->memory, r->tstate, &e->identity))
			status = ST_TORN;
		if (status != ST_OK || (f->instruction != instruction && !is_leaf))
			return ST_TORN;
	}
	*number = found;
	return ST_OK;
}

/* It turned out to be another code object: find_entry reads it anew, and no remembered stack may rest on it. */
static void empty_entry(struct resolver *r, struct entry *e)
{
	code_free(&e->about);
	memset(&e->about, 0, sizeof(e->about));
	r->churn_until = r->now + CHURN_TIME;
	r->generation++;
}

/* When an entry that is not in doubt now will be: at the next use (0), after a time, or with the next death. */
static nanoseconds doubt_due(const struct resolver *r, const struct entry *e)
{
	if (r->counts_deaths)
		return INT64_MAX;
	if (r->now < r->churn_until || r->now - e->born < ENTRY_YOUNG)
		return 0;
	return e->checked + r->recheck;
}

/* Look at all entries of the stack that are in doubt, in one read; replaced ones are emptied. */
static enum status check_doubted(struct resolver *r, struct resolved *d,
				 const struct py_stack *stack)
{
	size_t n = 0;

	d->doubt_due = INT64_MAX;
	d->settled_deaths = r->deaths;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t found = r->index[slot_of(r, stack->frames[i].code)];
		struct entry *e = found ? &r->entries[found] : NULL;
		nanoseconds due = e ? doubt_due(r, e) : 0;
		if (due < d->doubt_due)
			d->doubt_due = due;
		if (!e || !in_doubt(r, e))
			continue;
		e->checked = r->now;
		e->checked_tick = r->tick;
		e->checked_deaths = r->deaths;
		r->doubted[n] = &e->identity;
		r->doubted_entry[n++] = found;
	}
	if (n == 0)
		return ST_OK;
	enum status status = identity_check(r->doubted, r->same, n, &r->runtime->layout, r->memory);
	for (size_t i = 0; i < n && status == ST_OK; i++)
		if (!r->same[i])
			empty_entry(r, &r->entries[r->doubted_entry[i]]);
	return status;
}

/* Entry and frame id of a frame. ST_TORN: what it ran is not there any more. */
static enum status resolve_frame(struct resolver *r, struct py_frame *f, bool is_leaf,
				 int64_t interpreter, uint32_t *number, frame_id *frame)
{
	enum status status = find_entry(r, f, is_leaf, interpreter, number);

	if (status != ST_OK)
		return status;
	struct entry *e = &r->entries[*number];
	status = name_frame(r, e, f, frame);
	if (status != ST_TORN || e->checked_tick == r->tick)
		return status;
	empty_entry(r, e);
	status = find_entry(r, f, is_leaf, interpreter, number);
	return status == ST_OK ? name_frame(r, e, f, frame) : status;
}

/* Frames from the root that are what they were, and their stack. */
static uint32_t common_root(const struct resolver *r, const struct resolved *d,
			    const struct py_stack *s, stack_id base)
{
	uint32_t n = 0, most = d->depth < s->depth ? d->depth : s->depth;

	if (d->generation != r->generation || d->base != base)
		return 0;
	while (n < most && same_frame(&d->frames[n], &s->frames[s->depth - 1 - n]))
		n++;
	return n;
}

/* Resolve frames n .. depth (counted from the root) on top of what is there. ST_TORN: cut at d->depth. */
static enum status resolve_from(struct resolver *r, struct resolved *d, const struct py_stack *s,
				int64_t interpreter, uint32_t n)
{
	stack_id stack = n > 0 ? d->frames[n - 1].stack : d->base;

	d->depth = n;
	for (; n < s->depth; n++) {
		struct py_frame *f = &s->frames[s->depth - 1 - n];
		frame_id frame;
		uint32_t number;
		enum status status =
			resolve_frame(r, f, n + 1 == s->depth, interpreter, &number, &frame);
		if (status == ST_OK && frame != 0)
			status = names_stack(r->names, stack, frame, &stack);
		if (status != ST_OK)
			return status;
		if (n == 0)
			d->root_frame = r->entries[number].is_bootstrap ? f->address : 0;
		d->frames[n] = (struct resolved_frame){ f->code,       f->address, f->instruction,
							f->tlbc_index, stack,      number };
		d->depth = n + 1;
	}
	return ST_OK;
}

static enum status make_room(struct resolved *d, size_t depth)
{
	void *frames = d->frames;
	enum status status =
		alloc_grow(&frames, &d->capacity, depth + 1, PY_DEPTH_MAX + 1, sizeof(*d->frames));

	d->frames = frames;
	return status;
}

/* What rests below the frames: nothing, or <truncated> where the root end was not read. */
static enum status find_base(struct resolver *r, const struct py_stack *s, stack_id base,
			     stack_id *below)
{
	*below = base;
	return s->truncated ? resolver_special(r, NAMES_TRUNCATED, base, below) : ST_OK;
}

/* Nothing that this stack rests on can be in doubt now. */
static bool is_settled(const struct resolver *r, const struct resolved *d)
{
	return r->now < d->doubt_due &&
	       (!r->counts_deaths || (d->settled_deaths == r->deaths && !r->read_late));
}

static enum status resolve_good(struct resolver *r, struct resolved *d, const struct py_stack *s,
				int64_t interpreter, stack_id base, bool *torn)
{
	stack_id below = 0;
	enum status status = find_base(r, s, base, &below);
	if (status == ST_OK && is_settled(r, d) && !*torn && s->depth == d->depth &&
	    common_root(r, d, s, below) == d->depth)
		return ST_OK;
	if (status == ST_OK)
		status = make_room(d, s->depth);
	if (status == ST_OK)
		status = check_doubted(r, d, s);
	if (status != ST_OK)
		return status;
	uint32_t n = common_root(r, d, s, below);
	if (n == s->depth && n == d->depth && !*torn)
		return ST_OK;
	d->base = below;
	status = resolve_from(r, d, s, interpreter, n);
	if (status == ST_TORN) {
		*torn = true;
		status = ST_OK;
	}
	if (status != ST_OK) {
		d->generation = 0;
		return status;
	}
	d->generation = *torn ? 0 : r->generation;
	d->stack = d->depth > 0 ? d->frames[d->depth - 1].stack : d->base;
	return *torn ? resolver_special(r, NAMES_TORN, d->stack, &d->stack) : ST_OK;
}

enum status resolver_stack(struct resolver *r, struct resolved *d, const struct py_thread *thread,
			   int64_t interpreter, stack_id base, stack_id *stack, bool *torn)
{
	const struct py_stack *s = &thread->stack;
	bool is_torn = s->state == PY_STACK_TORN;
	enum status status;

	r->deaths = r->look->interps[thread->interp].code_generation;
	r->tstate = thread->tstate;
	r->read_late = s->tries > 1;
	if (s->state == PY_STACK_UNCHANGED && d->generation == r->generation && d->stack &&
	    d->depth == s->depth) {
		/* it has not run, so its code objects are alive: it holds them */
		*stack = d->stack;
		return ST_OK;
	}
	if (s->state == PY_STACK_NONE || (s->depth == 0 && !is_torn)) {
		d->depth = 0;
		d->generation = 0;
		d->root_frame = 0;
		if (base)
			d->stack = base;
		else if ((status = resolver_special(r, NAMES_NO_PYTHON, 0, &d->stack)) != ST_OK)
			return status;
	} else {
		status = resolve_good(r, d, s, interpreter, base, &is_torn);
		if (status != ST_OK)
			return status;
	}
	*stack = d->stack;
	if (torn)
		*torn = is_torn;
	return ST_OK;
}
