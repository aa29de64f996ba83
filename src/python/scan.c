/*
 * scan: looking through the writable data of an image for what CPython keeps there.
 *
 * The data is read in chunks that overlap by more than the longest thing looked for, so nothing
 * is missed at a border; a chunk that cannot be read is skipped. A word counts as an address
 * only when it lies in a readable mapping, which keeps the number of faulting reads near zero.
 *
 * Called by runtime.c when an image that may be CPython is stripped of names.
 */
#include "python/scan.h"

#include <stdlib.h>
#include <string.h>

#define COOKIE "xdebugpy"
#define CHUNK (256u << 10)
#define OVERLAP 64 /* bytes two chunks share; longer than any version text */
#define BATCH 512  /* candidates checked with one system call */

void scan_open(struct scan *scan, const struct image *image, const struct maps *maps,
	       struct memory *memory)
{
	scan->memory = memory;
	scan->maps = maps;
	scan->range_count = SCAN_RANGES_MAX;
	image_writable(image, scan->ranges, &scan->range_count);
}

/* Called with each chunk; ST_AGAIN: go on. Anything else ends the walk and is its result. */
typedef enum status (*chunk_visitor)(void *context, remote_addr start, struct bytes chunk);

static enum status visit_range(const struct scan *scan, const struct image_range *range,
			       uint8_t *chunk, uint64_t *budget, chunk_visitor visit, void *context)
{
	for (uint64_t at = 0; at < range->size && *budget; at += CHUNK - OVERLAP) {
		size_t size = range->size - at < CHUNK ? (size_t)(range->size - at) : CHUNK;
		enum status status = memory_read(scan->memory, range->address + at, chunk, size);

		*budget -= size < *budget ? size : *budget;
		if (status == ST_OK)
			status = visit(context, range->address + at, (struct bytes){ chunk, size });
		else if (status == ST_FAULT)
			status = ST_AGAIN;
		if (status != ST_AGAIN)
			return status;
		if (size < CHUNK)
			break;
	}
	return ST_AGAIN;
}

static enum status visit_chunks(const struct scan *scan, chunk_visitor visit, void *context)
{
	uint8_t *chunk = malloc(CHUNK);
	uint64_t budget = SCAN_LIMIT;
	enum status status = ST_AGAIN;

	if (!chunk)
		return ST_NO_MEMORY;
	for (size_t i = 0; i < scan->range_count && status == ST_AGAIN; i++)
		status = visit_range(scan, &scan->ranges[i], chunk, &budget, visit, context);
	free(chunk);
	return status;
}

static enum status find_cookie(void *context, remote_addr start, struct bytes chunk)
{
	const uint8_t *hit = memmem(chunk.data, chunk.size, COOKIE, 8);

	while (hit && (start + (size_t)(hit - chunk.data)) % 8) {
		size_t rest = chunk.size - (size_t)(hit + 1 - chunk.data);

		hit = memmem(hit + 1, rest, COOKIE, 8);
	}
	if (!hit)
		return ST_AGAIN;
	*(remote_addr *)context = start + (size_t)(hit - chunk.data);
	return ST_OK;
}

enum status scan_cookie(remote_addr *address, const struct scan *scan)
{
	return visit_chunks(scan, find_cookie, address);
}

/*
 * A decimal number of at most three digits; false when there is none or it is larger than a
 * byte.
 */
static bool take_number(struct cursor *c, uint8_t *number)
{
	unsigned value = 0, digits = 0;

	while (cursor_left(c) && digits < 4) {
		uint8_t byte = c->bytes.data[c->at];

		if (byte < '0' || byte > '9')
			break;
		value = value * 10 + (byte - '0');
		digits++;
		c->at++;
	}
	*number = (uint8_t)value;
	return digits && value <= UINT8_MAX;
}

static bool take_char(struct cursor *c, char wanted)
{
	if (!cursor_left(c) || c->bytes.data[c->at] != (uint8_t)wanted)
		return false;
	c->at++;
	return true;
}

/* "a1", "b2", "rc1" or nothing. */
static bool take_level(struct cursor *c, struct py_version *version)
{
	version->level = 'f';
	if (take_char(c, 'a'))
		version->level = 'a';
	else if (take_char(c, 'b'))
		version->level = 'b';
	else if (take_char(c, 'r'))
		version->level = take_char(c, 'c') ? 'c' : 0;
	else
		return true;
	return version->level && take_number(c, &version->serial);
}

bool scan_version_text(struct py_version *version, struct bytes text)
{
	static const char free_threading[] = "free-threading build";
	struct cursor c = cursor_over(text);
	struct py_version v = { 0 };

	if (!take_number(&c, &v.major) || !take_char(&c, '.') || !take_number(&c, &v.minor) ||
	    !take_char(&c, '.') || !take_number(&c, &v.micro) || !take_level(&c, &v))
		return false;
	(void)take_char(&c, '+');
	if ((v.major != 2 && v.major != 3) || !take_char(&c, ' ') || !cursor_left(&c))
		return false;
	/* (build [compiler |compiler, or the word that a free-threaded build puts before them */
	if (!strchr("([|", c.bytes.data[c.at])) {
		if (!memmem(text.data, text.size, free_threading, sizeof(free_threading) - 1))
			return false;
		v.free_threaded = true;
	}
	*version = v;
	return true;
}

static enum status find_version(void *context, remote_addr start, struct bytes chunk)
{
	(void)start;
	for (size_t i = 0; i + 1 < chunk.size; i++) {
		size_t left = chunk.size - i;

		if (chunk.data[i + 1] != '.' || (chunk.data[i] != '2' && chunk.data[i] != '3') ||
		    (i && chunk.data[i - 1] != 0))
			continue;
		if (scan_version_text(context, (struct bytes){ chunk.data + i,
							       left < OVERLAP ? left : OVERLAP }))
			return ST_OK;
	}
	return ST_AGAIN;
}

enum status scan_version(struct py_version *version, const struct scan *scan)
{
	return visit_chunks(scan, find_version, version);
}

struct runtime_search {
	const struct scan *scan;
	const struct py_layout *layout;
	remote_addr found;
};

static bool is_address(const struct maps *maps, uint64_t word, uint64_t size)
{
	const struct mapping *mapping = word % 8 ? NULL : maps_find(maps, word);

	return mapping && mapping->readable && mapping->writable && size <= mapping->end - word;
}

/* The interpreter's first thread state names the interpreter as its own. */
static bool owns_thread(const struct runtime_search *s, remote_addr interp)
{
	uint64_t tstate, owner;

	return memory_read_u64(s->scan->memory, interp + s->layout->interp.threads_head, &tstate) &&
	       is_address(s->scan->maps, tstate, s->layout->tstate.size) &&
	       memory_read_u64(s->scan->memory, tstate + s->layout->tstate.interp, &owner) &&
	       owner == interp;
}

/*
 * What the word at slot (the list's head, if this is it) must satisfy: from 3.9 on the
 * interpreter names its runtime. 3.8 has only the thread that names its interpreter, and the
 * next word, which is interpreters.main, must then be such an interpreter too.
 */
static bool is_head(const struct runtime_search *s, remote_addr slot, remote_addr interp)
{
	const struct py_layout *l = s->layout;
	uint64_t value;

	if (!owns_thread(s, interp))
		return false;
	if (l->interp.runtime != LAYOUT_NONE)
		return memory_read_u64(s->scan->memory, interp + l->interp.runtime, &value) &&
		       value == slot - l->runtime.interpreters_head;
	return memory_read_u64(s->scan->memory, slot + 8, &value) &&
	       is_address(s->scan->maps, value, l->interp.size) && owns_thread(s, value);
}

struct candidate {
	remote_addr slot;
	uint64_t interp;
	uint64_t thread;
};

/*
 * Read the first thread of many candidates at once; only those that have one are looked at
 * closely.
 */
static enum status check_candidates(struct runtime_search *s, struct candidate *items, size_t count)
{
	struct memory_piece pieces[BATCH];
	size_t from = 0;

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct memory_piece){ items[i].interp + s->layout->interp.threads_head,
						   &items[i].thread, sizeof(items[i].thread) };
	while (from < count) {
		size_t done = 0;
		enum status status =
			memory_read_batch(s->scan->memory, pieces + from, count - from, &done);

		if (status != ST_OK)
			return status;
		from += done + 1; /* the one after these could not be read */
	}
	for (size_t i = 0; i < count; i++) {
		if (!is_address(s->scan->maps, items[i].thread, s->layout->tstate.size) ||
		    !is_head(s, items[i].slot, items[i].interp))
			continue;
		s->found = items[i].slot - s->layout->runtime.interpreters_head;
		return ST_OK;
	}
	return ST_AGAIN;
}

static enum status find_runtime(void *context, remote_addr start, struct bytes chunk)
{
	struct runtime_search *s = context;
	struct candidate items[BATCH];
	size_t count = 0;
	uint64_t word;

	for (size_t at = -start % 8; bytes_u64(chunk, at, &word); at += 8) {
		enum status status;

		if (!is_address(s->scan->maps, word, s->layout->interp.size))
			continue;
		items[count++] = (struct candidate){ start + at, word, 0 };
		if (count < BATCH)
			continue;
		status = check_candidates(s, items, count);
		if (status != ST_AGAIN)
			return status;
		count = 0;
	}
	return check_candidates(s, items, count);
}

enum status scan_runtime(remote_addr *address, const struct scan *scan,
			 const struct py_layout *layout)
{
	struct runtime_search search = { .scan = scan, .layout = layout };
	enum status status = visit_chunks(scan, find_runtime, &search);

	if (status == ST_OK)
		*address = search.found;
	return status;
}
