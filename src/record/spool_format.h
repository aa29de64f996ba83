/*
 * spool_format: what the bytes of a log mean: format 1, in one place. man/pytop-spool.5 tells it in
 * sentences, block.c, segment.c and the files named spool_ write it, those named replay_ read it.
 *
 * A log is a row of segments, each a file that stands alone: a header, then blocks. Integers are
 * little-endian; varint is LEB128, svarint the same after zigzag. Numbers of strings, functions,
 * frames and stacks are the segment's own, given in the order of their definition from 1 on (0 is
 * none), and defined before their first use. A thread's number is the log's: the same in every
 * segment. Times are of CLOCK_MONOTONIC: nanoseconds in headers, whole microseconds in columns.
 *
 * Payload of a block: the size of each of its kind's columns (varint), in the order of the header's
 * list, then the columns one after another. ROWS has one such set a thread and begins with a
 * directory: threads (varint), then for each its number, its rows, the size of each column
 * (varints); then for each thread its columns.
 */
#ifndef PYTOP_RECORD_SPOOL_FORMAT_H
#define PYTOP_RECORD_SPOOL_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "record/sample.h"

#define SPOOL_MAGIC "pytoplog" /* 8 bytes, no terminator */
#define SPOOL_FORMAT 1
#define SPOOL_BYTE_ORDER 0x01020304
#define SPOOL_BLOCK_MAGIC 0x4b425450 /* "PTBK" */

#define SPOOL_HEADER_MAX (1u << 20) /* a segment's header, strings and columns included */
#define SPOOL_BLOCK_MAX (16u << 20) /* a payload */

/* The fixed part of a segment's header. */
struct spool_header {
	uint8_t magic[8];
	uint32_t format;
	uint32_t byte_order;
	uint32_t bytes;      /* of the whole header */
	uint32_t crc32;      /* zlib's, of what follows in the header */
	uint32_t segment;    /* number in the log, from 1 */
	uint32_t generation; /* of names; counts up when tables were full */
	uint32_t life;       /* of the process; counts up with each exec */
	int32_t pid;
	int64_t wall; /* CLOCK_REALTIME and CLOCK_MONOTONIC at one moment, ns */
	int64_t monotonic;
	int64_t process_started; /* CLOCK_REALTIME, ns */
	uint64_t rate_mhz;       /* asked, in thousandths of 1 Hz; 0: flat out */
	uint32_t jitter_mille;   /* of the interval */
	uint32_t flags;          /* SPOOL_FREE_THREADED */
	uint32_t columns;        /* in the list */
	uint32_t reserved;       /* 0 */
	/* version, name, command: varint size and bytes; then for each column kind, type, name */
};

#define SPOOL_FREE_THREADED 1

static_assert(sizeof(struct spool_header) == 88, "no holes");
static_assert(offsetof(struct spool_header, crc32) == 20, "");
static_assert(offsetof(struct spool_header, segment) == 24, "");
static_assert(offsetof(struct spool_header, wall) == 40, "");
static_assert(offsetof(struct spool_header, rate_mhz) == 64, "");
static_assert(offsetof(struct spool_header, columns) == 80, "");

/* Before each payload. */
struct spool_block {
	uint32_t magic;
	uint8_t kind;  /* enum spool_kind; an unknown one is skipped */
	uint8_t codec; /* enum spool_codec */
	uint16_t reserved;
	uint32_t rows;
	uint32_t bytes; /* of the payload as it is stored */
	uint32_t plain; /* of the payload when decoded */
	uint32_t crc32; /* zlib's, of the payload, continued over this header with this field 0 */
	int64_t first;  /* times of the first and last tick it belongs to */
	int64_t last;
};

static_assert(sizeof(struct spool_block) == 40, "no holes");
static_assert(offsetof(struct spool_block, rows) == 8, "");
static_assert(offsetof(struct spool_block, crc32) == 20, "");
static_assert(offsetof(struct spool_block, first) == 24, "");

enum spool_codec { SPOOL_PLAIN = 0, SPOOL_DEFLATE = 1 /* kept free, not written so far */ };

enum spool_kind {
	SPOOL_STRINGS = 1,
	SPOOL_FUNCTIONS,
	SPOOL_FRAMES,
	SPOOL_STACKS,
	SPOOL_THREADS,
	SPOOL_TICKS, /* followed by the ROWS of the same ticks */
	SPOOL_ROWS,
	SPOOL_SECOND,
	SPOOL_EVENT,
	SPOOL_END, /* of the segment; no payload */
	SPOOL_KIND_COUNT
};

/*
 * Types of columns: one entry is a varint, an svarint, a byte, a text (varint size and bytes),
 * ...
 */
enum spool_type {
	SPOOL_VARINT = 'u',
	SPOOL_SVARINT = 's',
	SPOOL_BYTE = 'b',
	SPOOL_TEXT = 't',
	SPOOL_INTERPRETERS = 'i' /* see below */
};

/*
 * X(KIND, COLUMN, name, type). The columns of a kind stand together.
 *
 * STACKS parent: how many numbers before this one; 0: it is a root.
 * THREADS: one row when a thread is first used in the segment, another when something changed.
 * born and died in microseconds, died 0: alive. flags 1: the main thread.
 *
 * TICKS head: microseconds since the tick before in this block (the first: since the block's first
 * time) x 4, + 2 when cpu has an entry, + 1 when what has one. what tells which of the columns
 * after it have an entry (SPOOL_WHAT_*); without one, weight is the time since the tick before,
 * gap is that time without the weight, rss and interpreters are as before, missed is 0. A block's
 * first tick always has weight and gap, and the first of a segment what differs from no rss and no
 * interpreters. cpu: microseconds minus those of the weight; without one it is 0. interpreters:
 * their count x 2, + 1 when the id (svarint) of each follows; then of each holder x 8 +
 * SPOOL_GIL_* (varint). native, others: of the process' CPU time, microseconds in threads without Python, and in Python
 * threads that are not recorded; without an entry 0. A log may lack these columns.
 *
 * ROWS step: lower half: which columns have an entry (SPOOL_STEP_*); upper half: ticks since the
 * thread's row before in this block (since the tick before the block's first, for the first), or 0
 * and an entry in skip. What has no entry is as in the thread's row before in this segment, and a
 * row holds until the thread's next. stack: difference to the row before (0 at first). state: enum
 * thread_state + SAMPLE_* flags, or SPOOL_ABSENT: not seen from this tick on, and the thread's
 * next row begins as its first does: at stack 0, cpu 0, no system call. cpu: per mille of the
 * weight as spool_cpu_code(). syscall: its number, -1 for none.
 *
 * SECOND: what the ticks of the blocks before it add up to. gap ... gc in microseconds.
 */
#define SPOOL_COLUMN_TABLE(X) \
	X(STRINGS, TEXT, "text", SPOOL_TEXT) \
	X(FUNCTIONS, NAME, "name", SPOOL_VARINT) \
	X(FUNCTIONS, FILE, "file", SPOOL_VARINT) \
	X(FUNCTIONS, LINE, "line", SPOOL_SVARINT) \
	X(FUNCTIONS, INTERPRETER, "interpreter", SPOOL_SVARINT) \
	X(FRAMES, FUNCTION, "function", SPOOL_VARINT) \
	X(FRAMES, LINE, "line", SPOOL_SVARINT) \
	X(STACKS, PARENT, "parent", SPOOL_VARINT) \
	X(STACKS, FRAME, "frame", SPOOL_VARINT) \
	X(THREADS, ID, "thread", SPOOL_VARINT) \
	X(THREADS, TID, "tid", SPOOL_SVARINT) \
	X(THREADS, NAME, "name", SPOOL_VARINT) \
	X(THREADS, INTERPRETER, "interpreter", SPOOL_SVARINT) \
	X(THREADS, BORN, "born", SPOOL_SVARINT) \
	X(THREADS, DIED, "died", SPOOL_SVARINT) \
	X(THREADS, FLAGS, "flags", SPOOL_VARINT) \
	X(TICKS, HEAD, "head", SPOOL_VARINT) \
	X(TICKS, CPU, "cpu", SPOOL_SVARINT) \
	X(TICKS, WHAT, "what", SPOOL_BYTE) \
	X(TICKS, WEIGHT, "weight", SPOOL_VARINT) \
	X(TICKS, GAP, "gap", SPOOL_VARINT) \
	X(TICKS, RSS, "rss", SPOOL_VARINT) \
	X(TICKS, MISSED, "missed", SPOOL_VARINT) \
	X(TICKS, INTERPRETERS, "interpreters", SPOOL_INTERPRETERS) \
	X(TICKS, NATIVE, "native", SPOOL_VARINT) \
	X(TICKS, OTHERS, "others", SPOOL_VARINT) \
	X(ROWS, STEP, "step", SPOOL_BYTE) \
	X(ROWS, SKIP, "skip", SPOOL_VARINT) \
	X(ROWS, STACK, "stack", SPOOL_SVARINT) \
	X(ROWS, STATE, "state", SPOOL_BYTE) \
	X(ROWS, CPU, "cpu", SPOOL_VARINT) \
	X(ROWS, SYSCALL, "syscall", SPOOL_SVARINT) \
	X(SECOND, START, "start", SPOOL_SVARINT) \
	X(SECOND, TICKS, "ticks", SPOOL_VARINT) \
	X(SECOND, MISSED, "missed", SPOOL_VARINT) \
	X(SECOND, TORN, "torn", SPOOL_VARINT) \
	X(SECOND, SAMPLES, "samples", SPOOL_VARINT) \
	X(SECOND, ROWS, "rows", SPOOL_VARINT) \
	X(SECOND, GAP, "gap", SPOOL_VARINT) \
	X(SECOND, CPU, "cpu", SPOOL_VARINT) \
	X(SECOND, HELD, "held", SPOOL_VARINT) \
	X(SECOND, WAITED, "waited", SPOOL_VARINT) \
	X(SECOND, GC, "gc", SPOOL_VARINT) \
	X(EVENT, EVENT, "event", SPOOL_VARINT) \
	X(EVENT, AT, "at", SPOOL_SVARINT) \
	X(EVENT, TEXT, "text", SPOOL_TEXT)

enum spool_column {
#define X(kind, column, name, type) SPOOL_##kind##_##column,
	SPOOL_COLUMN_TABLE(X)
#undef X
		SPOOL_COLUMN_COUNT
};

/* TICKS what */
#define SPOOL_WHAT_WEIGHT 1
#define SPOOL_WHAT_GAP 2
#define SPOOL_WHAT_RSS 4
#define SPOOL_WHAT_MISSED 8
#define SPOOL_WHAT_INTERPRETERS 16
#define SPOOL_WHAT_NATIVE 32
#define SPOOL_WHAT_OTHERS 64

/* TICKS interpreters */
#define SPOOL_GIL_LOCKED 1
#define SPOOL_GIL_EXISTS 2
#define SPOOL_GIL_GC 4

/* ROWS step */
#define SPOOL_STEP_STACK 1
#define SPOOL_STEP_STATE 2
#define SPOOL_STEP_CPU 4
#define SPOOL_STEP_SYSCALL 8
#define SPOOL_STEP_TICKS_SHIFT 4
#define SPOOL_STEP_TICKS_MAX 15

/* ROWS state: the lower half when the thread is not seen; the upper half is 0 then. */
#define SPOOL_ABSENT 0x0f

static_assert(STATE_COUNT < SPOOL_ABSENT, "states fit into half a byte");

/* Threads spin or sleep, so what is near 0 and near 1000 fits into one byte. */
static inline uint32_t spool_cpu_code(uint32_t mille)
{
	return mille <= 500 ? mille * 2 : (1000 - mille) * 2 + 1;
}

static inline uint32_t spool_cpu_mille(uint64_t code)
{
	return (uint32_t)(code & 1 ? 1000 - code / 2 : code / 2);
}

#endif
