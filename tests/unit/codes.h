/*
 * codes: code objects of a made-up target, each with names and a line table of its own at fixed places, so that another one can be
 * put where one was, all pointers the same.
 */
#ifndef PYTOP_TESTS_CODES_H
#define PYTOP_TESTS_CODES_H

#include <stdbool.h>
#include <string.h>

#include "arena.h"
#include "python/code.h"
#include "python/layouts.h"
#include "unit.h"

#define CODES_MAX 16
#define CODES_TYPE (ARENA_START + 0x40u)
#define CODES_TYPE_NAME (ARENA_START + 0x80u)
#define CODES_CODE(i) (ARENA_START + 0x1000u + (i)*0x400u)
#define CODES_FILE(i) (CODES_CODE(i) + 0x100u)
#define CODES_NAME(i) (CODES_CODE(i) + 0x180u)
#define CODES_QUALNAME(i) (CODES_CODE(i) + 0x200u)
#define CODES_TABLE(i) (CODES_CODE(i) + 0x280u)
#define CODES_UNITS 7

struct codes {
	struct arena arena;
	struct py_runtime runtime;
	bool hashed; /* strings know their hash, as interned ones do */
};

static inline void codes_open(struct codes *c, int minor)
{
	struct py_version version = { .major = 3, .minor = (uint8_t)minor, .level = 'f' };

	memset(c, 0, sizeof(*c));
	ck_assert_int_eq(layouts_find(&c->runtime.layout, &version), ST_OK);
	arena_open(&c->arena);
	arena_u64(&c->arena, CODES_TYPE + c->runtime.layout.type.name, CODES_TYPE_NAME);
	arena_put(&c->arena, CODES_TYPE_NAME, "code", 5);
	c->hashed = true;
}

static inline void codes_string(struct codes *c, remote_addr at, const char *text)
{
	const struct py_layout *l = &c->runtime.layout;
	uint64_t hash = 5381;

	for (const char *p = text; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	arena_u64(&c->arena, at + l->text.length, strlen(text));
	arena_u64(&c->arena, at + l->text.length + 8, c->hashed ? hash : UINT64_MAX);
	arena_u32(&c->arena, at + l->text.state, 1u << 2 | 1u << 5 | 1u << 6);
	arena_put(&c->arena, at + l->text.ascii_data, text, strlen(text) + 1);
}

/* Object i: its first instruction on its first line, the next ones on the line after it. */
static inline void codes_put(struct codes *c, unsigned i, const char *name, const char *file,
			     int first_line)
{
	const struct py_layout *l = &c->runtime.layout;
	bool old = l->version.minor < 11;
	const char *dot = strrchr(name, '.');
	/* co_lnotab; 3.10: +2 bytes line 0, +12 line 1; 3.11: one unit line 0, six units line 1 */
	const char *table = l->version.minor < 10 ? "\x02\x01"
			    : old                 ? "\x02\x00\x0c\x01"
						  : "\xe8\x00\xed\x02";

	codes_string(c, CODES_FILE(i), file);
	codes_string(c, CODES_NAME(i), dot ? dot + 1 : name);
	codes_string(c, CODES_QUALNAME(i), name);
	arena_u64(&c->arena, CODES_TABLE(i) + l->bytes.ob_size, l->version.minor < 10 ? 2 : 4);
	arena_u64(&c->arena, CODES_TABLE(i) + l->bytes.ob_size + 8, UINT64_MAX);
	arena_put(&c->arena, CODES_TABLE(i) + l->bytes.data, table, l->version.minor < 10 ? 2 : 4);
	arena_u64(&c->arena, CODES_CODE(i) + l->object.type, CODES_TYPE);
	arena_u64(&c->arena, CODES_CODE(i) + l->code.filename, CODES_FILE(i));
	arena_u64(&c->arena, CODES_CODE(i) + l->code.name, CODES_NAME(i));
	arena_u64(&c->arena, CODES_CODE(i) + l->code.linetable, CODES_TABLE(i));
	arena_u32(&c->arena, CODES_CODE(i) + l->code.firstlineno, (uint32_t)first_line);
	if (old)
		return;
	arena_u64(&c->arena, CODES_CODE(i) + l->code.qualname, CODES_QUALNAME(i));
	arena_u64(&c->arena, CODES_CODE(i) + l->code.ob_size, CODES_UNITS);
	arena_u32(&c->arena, CODES_CODE(i) + l->code.firsttraceable, 0);
}

/* The instruction of a frame, in the unit that frames.h gives: unit n of the code. */
static inline int64_t codes_instruction(const struct codes *c, int n)
{
	const struct py_layout *l = &c->runtime.layout;

	return l->version.minor < 11 ? 2 * n : (int64_t)l->code.code_adaptive + 2 * n;
}

#endif
