/*
 * Looks at a made-up CPython (tests/unit/world.h) whose bytes are changed between them. The first byte chooses the form;
 * then come changes of four bytes: where (two, little-endian), what, how. How: bit 0, a look follows; bit 1, write
 * a word that is an address in the image instead of flipping bits; bit 2, the threads sleep or wake up.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "python/interp.h"
#include "tests/unit/world.h"

#define LOOKS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct world world;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Two interpreters, five threads, generators, a second chunk. */
static void build(enum world_form form)
{
	world_open(&world, form);
	for (unsigned i = 0; i < 3; i++) {
		world_thread(&world, i, 0, i ? WORLD_TSTATE(i - 1) : 0);
		world_stack(&world, i, 3 + i, 10 * i);
	}
	world_head(&world, 0, WORLD_TSTATE(2));
	for (unsigned i = 3; i < 5; i++) {
		world_thread(&world, i, 1, i > 3 ? WORLD_TSTATE(i - 1) : 0);
		world_stack(&world, i, form == WORLD_OBJECTS ? 0 : 20, 10 * i);
	}
	world_head(&world, 1, WORLD_TSTATE(4));
	arena_u64(&world.arena, WORLD_INTERP(1), WORLD_INTERP(0));
	arena_u64(&world.arena, WORLD_INTERP(1) + 16, 1);
	arena_u64(&world.arena, WORLD_INTERP(1) + 32, WORLD_INTERP(0) + 64);
	arena_u64(&world.arena, WORLD_RUNTIME + 8, WORLD_INTERP(1));
	world_frame(&world, WORLD_HEAP(2), world_slot(&world, 0, 2), 80, 2, 1);
	world_leaf(&world, 0, WORLD_HEAP(2));
	world_gil(&world, 0, 1);
	if (form == WORLD_OBJECTS)
		return;
	arena_u64(&world.arena, WORLD_CHUNK(5), WORLD_CHUNK(4));
	arena_u64(&world.arena, WORLD_CHUNK(5) + 8, WORLD_CHUNK_SIZE);
	world_frame(&world, world_slot(&world, 5, 0), world_slot(&world, 4, 19), 90, 2, 0);
	world_leaf(&world, 4, world_slot(&world, 5, 0));
	arena_u64(&world.arena, WORLD_TSTATE(4) + 32, WORLD_CHUNK(5));
	arena_u64(&world.arena, WORLD_TSTATE(4) + 40, world_slot(&world, 5, 1));
	arena_u64(&world.arena, WORLD_TSTATE(4) + 48, WORLD_CHUNK(5) + WORLD_CHUNK_SIZE);
}

static void check_stack(const struct py_stack *stack)
{
	expect(stack->depth <= PY_DEPTH_MAX && stack->kept <= stack->depth);
	expect(stack->tries <= PY_READS_MAX + 32);
	if (stack->state == PY_STACK_NONE)
		expect(stack->depth == 0);
	if (stack->state == PY_STACK_GOOD)
		expect(stack->depth > 0);
	for (uint32_t k = 0; k < stack->depth; k++) {
		expect(frames_address_fits(stack->frames[k].code));
		expect(frames_address_fits(stack->frames[k].address));
	}
}

static void check(const struct py_look *look)
{
	expect(look->interp_count <= INTERP_LIMIT && look->thread_count <= INTERP_THREAD_LIMIT);
	for (size_t i = 0; i < look->thread_count; i++) {
		expect(look->threads[i]->interp < look->interp_count);
		check_stack(&look->threads[i]->stack);
		for (size_t k = 0; k < i; k++)
			expect(look->threads[k]->tstate != look->threads[i]->tstate);
	}
	for (size_t i = 0; i < look->gone_count; i++)
		expect(look->gone[i]->tstate != 0);
}

static void change(const uint8_t *record)
{
	size_t at = (record[0] | (size_t)record[1] << 8) % ARENA_SIZE;
	uint64_t word = ARENA_START + record[2] * 0x40u + (record[3] >> 4) * 0x1000u;

	if (record[3] & 2)
		arena_u64(&world.arena, ARENA_START + (at & ~(size_t)7), word);
	else
		world.arena.bytes[at] ^= record[2];
}

static const struct py_look *look_once(struct interp_reader *reader)
{
	const struct py_look *look = NULL;
	enum status status = interp_look(reader, &look);

	expect(status == ST_OK || status == ST_FAULT);
	if (status != ST_OK)
		return NULL;
	check(look);
	return look;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct interp_reader *reader;
	unsigned looks = 0;

	if (size == 0)
		return 0;
	build((enum world_form)(data[0] % 3));
	expect(interp_open(&reader, &world.runtime, &world.arena.memory) == ST_OK);

	const struct py_look *look = look_once(reader);

	expect(look && look->thread_count == 5);
	for (size_t at = 1; at + 4 <= size && looks < LOOKS_MAX; at += 4) {
		uint8_t how = data[at + 3];

		change(data + at);
		for (size_t i = 0; look && (how & 4) && i < look->thread_count; i++)
			look->threads[i]->asleep = !look->threads[i]->asleep;
		if (how & 1) {
			look = look_once(reader);
			looks++;
		}
	}
	interp_close(reader);
	return 0;
}
