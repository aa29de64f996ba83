/*
 * interps: interpreters in list order, newest first.
 *
 * With a single interpreter, and nothing else to fetch there, the roots are read in one look of ROOTS_EVERY: a piece
 * costs a third of a call, and a second interpreter is seen three looks later at worst.
 *
 * In the steady state the tick's batch holds the head and every interpreter's words; when head, next and id are
 * as they were the list is as it was, else it is walked, one reading an interpreter. The GIL of a version before 3.12
 * is in the runtime; later each interpreter points to one, its own or that of another (a subinterpreter without
 * its own shares the main one's). That pointer lies far from the other words and never changes in an
 * interpreter's life, so it is read when the interpreter is met, and now and then.
 *
 * Called by interp.c.
 */
#include "python/interps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "python/frames.h"

#define WALKS_MAX 4 /* walks of a list that changes under them */
#define ROOTS_EVERY \
	4 /* looks between two readings of the roots, where one interpreter is all there is */
#define GIL_EVERY 64 /* looks between two readings of the pointer to the GIL */
#define GIL_SIZE_MAX 1024

enum status interps_open(struct interps *interps, const struct py_runtime *runtime)
{
	const struct py_layout *l = &runtime->layout;
	const struct {
		struct parts *parts;
		uint32_t offset, size;
	} wanted[] = {
		{ &interps->root_parts, l->runtime.interpreters_head, 8 },
		{ &interps->root_parts, l->runtime.finalizing, 8 },
		{ &interps->root_parts, l->runtime.gil, l->gil.size },
		{ &interps->root_parts, l->runtime.gc_collecting, 4 },
		{ &interps->parts, l->interp.next, 8 },
		{ &interps->parts, l->interp.threads_head, 8 },
		{ &interps->parts, l->interp.id, 8 },
		{ &interps->parts, l->interp.gc_collecting, 4 },
		{ &interps->parts, l->interp.gc_frame, 8 },
		{ &interps->parts, l->interp.gil, l->gil.size },
		{ &interps->parts, l->interp.code_generation, 8 },
		{ &interps->parts, l->interp.runtime, 8 },
	};

	if (l->runtime.interpreters_head == LAYOUT_NONE || l->interp.next == LAYOUT_NONE ||
	    l->interp.threads_head == LAYOUT_NONE || l->gil.size > GIL_SIZE_MAX)
		return ST_BAD_DATA;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (parts_add(wanted[i].parts, wanted[i].offset, wanted[i].size) != ST_OK)
			return ST_BAD_DATA;
	}
	interps->runtime = runtime;
	return ST_OK;
}

void interps_free(struct interps *interps)
{
	free(interps->nodes);
	free(interps->pubs);
	*interps = (struct interps){ 0 };
}

/* The roots hold what every look needs, or an interpreter may have come or gone. */
static bool roots_are_due(const struct interps *interps, uint32_t look)
{
	const struct py_layout *l = &interps->runtime->layout;

	return l->runtime.gil != LAYOUT_NONE || l->runtime.gc_collecting != LAYOUT_NONE ||
	       interps->count != 1 || look % ROOTS_EVERY == 0;
}

void interps_plan(struct interps *interps, struct batch *batch, uint32_t look)
{
	interps->root_piece = BATCH_NO_PIECE;
	if (roots_are_due(interps, look))
		interps->root_piece =
			parts_plan(&interps->root_parts, batch, interps->runtime->address);
	for (size_t i = 0; i < interps->count; i++)
		interps->nodes[i].piece =
			parts_plan(&interps->parts, batch, interps->nodes[i].address);
}

/* The words of one interpreter; false when they were not read or are not those of an interpreter. */
static bool take_words(const struct interps *interps, struct interp_node *node,
		       struct py_interp *pub, const struct batch *batch, uint32_t piece)
{
	const struct py_layout *l = &interps->runtime->layout;
	const struct parts *parts = &interps->parts;

	if (!parts_find(parts, batch, piece, l->interp.next, 8) ||
	    !parts_find(parts, batch, piece, l->interp.threads_head, 8))
		return false;
	if (l->interp.runtime != LAYOUT_NONE &&
	    parts_u64(parts, batch, piece, l->interp.runtime) != interps->runtime->address)
		return false;
	node->next = parts_u64(parts, batch, piece, l->interp.next);
	node->head = parts_u64(parts, batch, piece, l->interp.threads_head);
	pub->address = node->address;
	pub->id = (int64_t)parts_u64(parts, batch, piece, l->interp.id);
	pub->gc_collecting = parts_u32(parts, batch, piece, l->interp.gc_collecting) != 0;
	pub->gc_frame = pub->gc_collecting ? parts_u64(parts, batch, piece, l->interp.gc_frame) : 0;
	pub->code_generation = parts_u64(parts, batch, piece, l->interp.code_generation);
	if (l->interp.gil != LAYOUT_NONE && node->gil_address == node->address + l->interp.gil) {
		const uint8_t *raw = parts_find(parts, batch, piece, l->interp.gil, l->gil.size);

		gil_parse(&pub->gil, l, node->gil_address,
			  (struct bytes){ raw, raw ? l->gil.size : 0 });
	}
	return true;
}

/* All is as it was, and the words are taken. */
static bool take_known(struct interps *interps, const struct batch *batch, remote_addr head)
{
	remote_addr expected = head;

	for (size_t i = 0; i < interps->count; i++) {
		struct interp_node *node = &interps->nodes[i];
		struct py_interp *pub = &interps->pubs[i];
		int64_t id = pub->id;

		if (node->address != expected ||
		    !take_words(interps, node, pub, batch, node->piece) || pub->id != id)
			return false;
		expected = node->next;
	}
	return expected == 0;
}

/* The interpreter is appended; one that was known keeps its threads. */
static enum status append(struct interps *list, const struct interps *known, remote_addr address)
{
	void *nodes = list->nodes;
	void *pubs = list->pubs;
	enum status status = alloc_grow(&nodes, &list->node_capacity, list->count + 1, INTERP_LIMIT,
					sizeof(*list->nodes));

	list->nodes = nodes;
	if (status == ST_OK)
		status = alloc_grow(&pubs, &list->pub_capacity, list->count + 1, INTERP_LIMIT,
				    sizeof(*list->pubs));
	list->pubs = pubs;
	if (status != ST_OK)
		return status;
	struct interp_node *node = &list->nodes[list->count];

	*node = (struct interp_node){ .address = address, .piece = BATCH_NO_PIECE };
	list->pubs[list->count++] = (struct py_interp){ .address = address };
	node->unlisted = true;
	for (size_t i = 0; i < known->count; i++) {
		if (known->nodes[i].address == address) {
			node->first = known->nodes[i].first;
			node->count = known->nodes[i].count;
		}
	}
	return ST_OK;
}

static bool is_listed(const struct interps *list, remote_addr address)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->nodes[i].address == address)
			return true;
	}
	return false;
}

/* One walk; ST_TORN when the list changed under it. */
static enum status walk(struct interps *list, const struct interps *known, struct batch *follow,
			struct memory *memory)
{
	uint32_t head_offset = list->runtime->layout.runtime.interpreters_head;
	remote_addr address = 0;
	enum status status = memory_read(memory, list->runtime->address + head_offset, &address, 8);

	list->count = 0;
	while (status == ST_OK && address) {
		uint32_t piece;

		if (!frames_address_fits(address) || is_listed(list, address))
			return ST_TORN;
		status = append(list, known, address);
		if (status != ST_OK)
			break;
		struct interp_node *node = &list->nodes[list->count - 1];

		batch_clear(follow);
		piece = parts_plan(&list->parts, follow, address);
		status = batch_read(follow, memory);
		if (status == ST_OK &&
		    !take_words(list, node, &list->pubs[list->count - 1], follow, piece))
			status = ST_TORN;
		address = node->next;
	}
	return status == ST_TOO_BIG ? ST_OK : status;
}

static enum status relist(struct interps *interps, struct batch *follow, struct memory *memory)
{
	struct interps list = *interps;
	enum status status = ST_TORN;

	list.nodes = NULL;
	list.pubs = NULL;
	list.count = list.node_capacity = list.pub_capacity = 0;
	for (unsigned i = 0; i < WALKS_MAX && status == ST_TORN; i++)
		status = walk(&list, interps, follow, memory);
	if (status != ST_OK) {
		interps_free(&list);
		return status == ST_TORN ? ST_FAULT : status;
	}
	free(interps->nodes);
	free(interps->pubs);
	*interps = list;
	return ST_OK;
}

static void read_gil(struct interps *interps, size_t i, struct memory *memory)
{
	const struct py_layout *l = &interps->runtime->layout;
	remote_addr address = interps->nodes[i].gil_address;
	uint8_t raw[GIL_SIZE_MAX];

	if (address && memory_read(memory, address, raw, l->gil.size) != ST_OK)
		address = 0;
	gil_parse(&interps->pubs[i].gil, l, address, (struct bytes){ raw, l->gil.size });
}

/* The GIL of an interpreter that has none inside itself: mostly that of the oldest. */
static void share_gil(struct interps *interps, size_t i, struct memory *memory)
{
	uint32_t own = interps->runtime->layout.interp.gil;

	for (size_t k = interps->count; k-- > 0;) {
		if (interps->nodes[i].gil_address == interps->nodes[k].address + own &&
		    interps->nodes[k].gil_address == interps->nodes[i].gil_address) {
			interps->pubs[i].gil = interps->pubs[k].gil;
			return;
		}
	}
	read_gil(interps, i, memory);
}

/* 3.12+: each interpreter points to its GIL. fresh: the interpreters were not read with the tick's batch. */
static void take_gil(struct interps *interps, size_t i, struct memory *memory, uint32_t look,
		     bool fresh)
{
	const struct py_layout *l = &interps->runtime->layout;
	struct interp_node *node = &interps->nodes[i];
	remote_addr known = node->gil_address;

	if ((!known || (look + i) % GIL_EVERY == 0) &&
	    !memory_read_u64(memory, node->address + l->interp.ceval_gil, &node->gil_address))
		node->gil_address = 0;
	if (fresh || node->gil_address != known)
		read_gil(interps, i, memory);
	else if (node->gil_address != node->address + l->interp.gil)
		share_gil(interps, i, memory);
}

static void take_gils(struct interps *interps, const struct batch *batch, struct memory *memory,
		      uint32_t look, bool fresh)
{
	const struct py_layout *l = &interps->runtime->layout;
	const uint8_t *raw = parts_find(&interps->root_parts, batch, interps->root_piece,
					l->runtime.gil, l->gil.size);
	remote_addr address = interps->runtime->address + l->runtime.gil;

	for (size_t i = 0; i < interps->count; i++) {
		if (raw)
			gil_parse(&interps->pubs[i].gil, l, address,
				  (struct bytes){ raw, l->gil.size });
		else if (l->interp.ceval_gil != LAYOUT_NONE && l->interp.gil != LAYOUT_NONE)
			take_gil(interps, i, memory, look, fresh);
	}
}

/* The roots, when this look's batch has them: the newest interpreter, and whether all is going down. */
static enum status take_roots(struct interps *interps, const struct batch *batch, remote_addr *head)
{
	const struct py_layout *l = &interps->runtime->layout;
	const struct parts *parts = &interps->root_parts;
	uint32_t piece = interps->root_piece;

	if (piece == BATCH_NO_PIECE) {
		*head = interps->nodes[0].address;
		return ST_OK;
	}
	if (!parts_find(parts, batch, piece, l->runtime.interpreters_head, 8))
		return ST_FAULT;
	*head = parts_u64(parts, batch, piece, l->runtime.interpreters_head);
	interps->finalizing = !*head || parts_u64(parts, batch, piece, l->runtime.finalizing) != 0;
	return ST_OK;
}

enum status interps_take(struct interps *interps, const struct batch *batch, struct batch *follow,
			 struct memory *memory, uint32_t look, bool *relisted)
{
	uint32_t gc_at = interps->runtime->layout.runtime.gc_collecting;
	remote_addr head = 0;
	enum status status = take_roots(interps, batch, &head);

	*relisted = false;
	if (status == ST_OK && !take_known(interps, batch, head)) {
		status = relist(interps, follow, memory);
		*relisted = true;
	}
	if (status != ST_OK)
		return status;
	interps->finalizing |= interps->count == 0;
	take_gils(interps, batch, memory, look, *relisted);
	for (size_t i = 0; i < interps->count && gc_at != LAYOUT_NONE; i++)
		interps->pubs[i].gc_collecting =
			parts_u32(&interps->root_parts, batch, interps->root_piece, gc_at) != 0;
	return ST_OK;
}
