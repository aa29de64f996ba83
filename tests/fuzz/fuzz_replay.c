/*
 * A hostile segment of a log: once as it is, and once with its checksums made right, so that what the
 * blocks claim is believed until it is checked. Whatever is replayed must hold together.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "record/block.h"
#include "record/names.h"
#include "record/replay.h"
#include "record/spool_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TICKS_MAX 20000 /* so that one input takes no longer than it must */

static void put_u32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get_u32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Make the checksums of the header and of every block right, as far as their sizes lead. */
static void mend(uint8_t *data, size_t size)
{
	const size_t body = offsetof(struct spool_header, segment),
		     head = sizeof(struct spool_block);
	size_t at;

	if (size < sizeof(struct spool_header))
		return;
	at = get_u32(data + offsetof(struct spool_header, bytes));
	if (at > size || at < body)
		return;
	put_u32(data + offsetof(struct spool_header, crc32),
		(uint32_t)crc32(0, data + body, (uInt)(at - body)));
	while (size - at >= head) {
		uint32_t bytes = get_u32(data + at + offsetof(struct spool_block, bytes));
		uLong crc = crc32(0, NULL, 0);

		if (bytes > size - at - head)
			return;
		put_u32(data + at + offsetof(struct spool_block, crc32), 0);
		crc = crc32(crc, data + at + head, bytes);
		crc = crc32(crc, data + at, head);
		put_u32(data + at + offsetof(struct spool_block, crc32), (uint32_t)crc);
		at += head + bytes;
	}
}

static void check(int holds)
{
	if (!holds)
		abort();
}

static void check_sample(const struct names *names, const struct sample *s)
{
	stack_id stack = s->stack;

	check(s->thread && s->thread <= names_thread_count(names));
	check(s->state < STATE_COUNT && s->cpu_mille <= 1000);
	check(stack <= names_stack_count(names));
	for (; stack; stack = names_stack_at(names, stack)->parent)
		check(names_stack_at(names, stack)->parent < stack);
}

static void play(struct replay *replay)
{
	const struct tick *tick;
	const struct sample *samples;
	nanoseconds before = 0;
	size_t count;

	for (int i = 0; i < TICKS_MAX && replay_next(replay, &tick, &samples, &count) == ST_OK;
	     i++) {
		check(tick->time >= before && tick->weight >= 0 && tick->gap >= 0);
		check(tick->process_cpu >= 0 && tick->interpreter_count <= TICK_INTERPRETERS_MAX);
		before = tick->time;
		for (size_t s = 0; s < count; s++)
			check_sample(replay_names(replay), &samples[s]);
	}
}

static void replay_bytes(const uint8_t *data, size_t size)
{
	int fd = memfd_create("segment", MFD_CLOEXEC);
	struct spool_cut_segment segment = { fd, size, 1 };
	struct spool_cut cut = { &segment, 1 };
	struct replay *replay;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (replay_open_cut(&replay, &cut) == ST_OK) {
		play(replay);
		if (replay_seek(replay, replay_info(replay)->last) == ST_OK)
			play(replay);
		replay_close(replay);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended = malloc(size ? size : 1);

	replay_bytes(data, size);
	if (mended) {
		memcpy(mended, data, size);
		mend(mended, size);
		replay_bytes(mended, size);
	}
	free(mended);
	return 0;
}
