/*
 * code: what a code object says of itself: file, names, first line, line table; and a
 * fingerprint by which a later look can tell that the address has been given to another code
 * object.
 */
#ifndef PYTOP_PYTHON_CODE_H
#define PYTOP_PYTHON_CODE_H

#include "base/bytes.h"
#include "base/status.h"
#include "python/lines.h"
#include "python/runtime.h"
#include "target/memory.h"

#define CODE_NAME_LIMIT 65536       /* bytes of UTF-8 of one name */
#define CODE_TABLE_LIMIT (1u << 24) /* bytes of one line table */

/* The words of a code object that do not change while it lives. */
struct code_fingerprint {
	remote_addr type, filename, name, qualname, linetable;
	int32_t first_line;
};

/* How many bytes from the object's start hold the fingerprint (<= 256). */
size_t code_fingerprint_size(const struct py_layout *layout);
/* From the raw start of the object. */
void code_fingerprint_parse(struct code_fingerprint *print, const struct py_layout *layout,
			    struct bytes raw);
bool code_fingerprint_equal(const struct code_fingerprint *a, const struct code_fingerprint *b);

struct code {
	struct code_fingerprint print;
	char *file;     /* UTF-8, U+FFFD for what is not; allocated */
	char *function; /* qualified name where the version has one, else the name */
	int32_t first_line;
	int64_t instr_base;  /* 3.11+: offset of the first instruction in the object; 0 before */
	int64_t instr_count; /* code units; 0: unknown (before 3.11) */
	int32_t first_traceable; /* units; frames before it are hidden by CPython itself; 0: none */
	struct lines lines;
};

/*
 * Read it whole: first the fixed part, then the strings, the table, and the fixed part again:
 * ST_TORN when it changed in between. ST_BAD_DATA when it is not a code object (type's tp_name
 * is not "code"). runtime->code_type is learnt at the first success.
 */
enum status code_read(struct code *code, struct py_runtime *runtime, struct memory *memory,
		      remote_addr address) MUST_CHECK;
void code_free(struct code *code);

/* The line of an instruction as frames.h gives it (already in the unit of the table). */
int32_t code_line(const struct code *code, int64_t lasti);

/* 3.14t+: base addresses of the thread-local copies; index from the frame. ST_BAD_DATA. */
enum status code_tlbc_base(remote_addr *base, const struct py_layout *layout, struct memory *memory,
			   remote_addr code, int32_t index) MUST_CHECK;

#endif
