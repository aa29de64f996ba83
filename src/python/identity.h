/*
 * identity: whether the code object at an address is still the one that was read there.
 *
 * A freed code object's memory is given to the next one at once, and so are its strings' and its table's: equal
 * pointers prove nothing. So the fixed part is compared together with the first bytes of what it points to.
 */
#ifndef PYTOP_PYTHON_IDENTITY_H
#define PYTOP_PYTHON_IDENTITY_H

#include <stdbool.h>

#include "base/status.h"
#include "python/code.h"
#include "python/layout.h"
#include "target/memory.h"

#define IDENTITY_PARTS 4 /* file name, name, qualified name, line table */
#define IDENTITY_PART_SIZE 64
#define IDENTITY_FIXED_SIZE 256

struct code_identity {
	remote_addr code;
	struct code_fingerprint print;
	remote_addr part[IDENTITY_PARTS]; /* 0: none */
	size_t size[IDENTITY_PARTS];      /* how much of it is compared */
	uint8_t bytes[IDENTITY_PARTS][IDENTITY_PART_SIZE];
};

/* Take it, of a code object just read: print is what code_read() saw. ST_TORN when the object is no longer that. */
enum status identity_take(struct code_identity *identity, const struct py_layout *layout,
			  struct memory *memory, remote_addr code,
			  const struct code_fingerprint *print) MUST_CHECK;

/* Look again at count of them, in one system call for a hundred or so: same[i] says whether it is still that object. */
enum status identity_check(const struct code_identity *const *identities, bool *same, size_t count,
			   const struct py_layout *layout, struct memory *memory) MUST_CHECK;

#endif
