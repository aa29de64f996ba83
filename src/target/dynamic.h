/*
 * dynamic: the dynamic symbols of an ELF image that lies in the target's memory, found through its
 * program headers as the dynamic linker finds them. For files that can no longer be opened.
 */
#ifndef PYTOP_TARGET_DYNAMIC_H
#define PYTOP_TARGET_DYNAMIC_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "target/memory.h"

#define DYNAMIC_SYMBOLS_MAX ((size_t)1 << 20)
#define DYNAMIC_STRINGS_MAX ((size_t)64 << 20)

struct dynamic {
	Elf64_Sym *symbols;
	size_t count;
	char *strings; /* string_size bytes and a NUL behind them */
	size_t string_size;
};

/*
 * Read the tables that the PT_DYNAMIC segment at address describes; bias is what the image was
 * moved by. ST_AGAIN: there are none; ST_BAD_DATA, ST_TOO_BIG, ST_FAULT and memory's other
 * errors.
 */
enum status dynamic_read(struct dynamic *dynamic, struct memory *memory, remote_addr address,
			 size_t size, uint64_t bias) MUST_CHECK;
void dynamic_free(struct dynamic *dynamic);

/* A symbol's name, or "" when it does not lie in the strings. */
const char *dynamic_name(const struct dynamic *dynamic, size_t index);

#endif
