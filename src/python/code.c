/*
 * code: one code object, read whole.
 *
 * The fixed part is read first and its fingerprint again at the end: what changed in between
 * was not one code object, and nothing of it is given out. Then only the type and what the
 * fields lead to must be believed: lengths are capped where they are read, and a line table
 * that does not hold together (code.replace() accepts any bytes) costs the lines, not the name.
 *
 * Called by the resolver at first sight of an address and when it doubts one. The input is
 * hostile.
 */
#include "python/code.h"

#include <stdlib.h>
#include <string.h>

#include "python/unicode.h"

#define FIXED_MAX 256
#define UNITS_MAX (1 << 28) /* code units of one code object */
#define TLBC_MAX 65536      /* thread-local copies of one code object */

static void grow_to(size_t *size, uint32_t offset, size_t width)
{
	if (offset != LAYOUT_NONE && *size < offset + width)
		*size = offset + width;
}

size_t code_fingerprint_size(const struct py_layout *layout)
{
	size_t size = 0;

	grow_to(&size, layout->object.type, 8);
	grow_to(&size, layout->code.filename, 8);
	grow_to(&size, layout->code.name, 8);
	grow_to(&size, layout->code.qualname, 8);
	grow_to(&size, layout->code.linetable, 8);
	grow_to(&size, layout->code.firstlineno, 4);
	return size;
}

/* A field that may not exist or lie beyond the bytes: 0. */
static uint64_t word_at(struct bytes raw, uint32_t offset)
{
	uint64_t value;

	return offset != LAYOUT_NONE && bytes_u64(raw, offset, &value) ? value : 0;
}

static int32_t int_at(struct bytes raw, uint32_t offset)
{
	uint32_t value;

	return offset != LAYOUT_NONE && bytes_u32(raw, offset, &value) ? (int32_t)value : 0;
}

void code_fingerprint_parse(struct code_fingerprint *print, const struct py_layout *layout,
			    struct bytes raw)
{
	*print = (struct code_fingerprint){
		.type = word_at(raw, layout->object.type),
		.filename = word_at(raw, layout->code.filename),
		.name = word_at(raw, layout->code.name),
		.qualname = word_at(raw, layout->code.qualname),
		.linetable = word_at(raw, layout->code.linetable),
		.first_line = int_at(raw, layout->code.firstlineno),
	};
}

bool code_fingerprint_equal(const struct code_fingerprint *a, const struct code_fingerprint *b)
{
	return a->type == b->type && a->filename == b->filename && a->name == b->name &&
	       a->qualname == b->qualname && a->linetable == b->linetable &&
	       a->first_line == b->first_line;
}

/* PyCode_Type: learnt from its name, then known by its address. */
static enum status check_type(struct py_runtime *runtime, struct memory *memory, remote_addr type)
{
	char text[8];
	uint64_t name;
	enum status status;

	if (runtime->code_type)
		return type == runtime->code_type ? ST_OK : ST_BAD_DATA;
	if (!memory_read_u64(memory, type + runtime->layout.type.name, &name))
		return ST_BAD_DATA;
	status = memory_read_string(memory, name, text, sizeof(text));
	if (status != ST_OK || strcmp(text, "code") != 0)
		return status == ST_ENDED || status == ST_DENIED ? status : ST_BAD_DATA;
	return ST_OK;
}

static enum status read_fixed(struct code *code, const struct py_layout *layout, struct bytes raw)
{
	code_fingerprint_parse(&code->print, layout, raw);
	code->first_line = code->print.first_line;
	if (layout->code.code_adaptive == LAYOUT_NONE)
		return ST_OK;
	code->instr_base = layout->code.code_adaptive;
	code->instr_count = (int64_t)word_at(raw, layout->code.ob_size);
	code->first_traceable = int_at(raw, layout->code.firsttraceable);
	if (code->instr_count <= 0 || code->instr_count > UNITS_MAX)
		return ST_BAD_DATA;
	/* It may lie beyond the end: so CPython marks code of its own that is never to be seen. */
	if (code->first_traceable < 0 || code->first_traceable > UNITS_MAX)
		return ST_BAD_DATA;
	return ST_OK;
}

static enum status read_lines(struct code *code, const struct py_layout *layout,
			      struct memory *memory)
{
	struct bytes table = { 0 };
	uint8_t *data;
	enum status status = unicode_read_bytes(&data, &table.size, layout, memory,
						code->print.linetable, CODE_TABLE_LIMIT);

	if (status == ST_TOO_BIG)
		return ST_OK;
	if (status != ST_OK)
		return status;
	table.data = data;
	status = lines_parse(&code->lines, layout->lines_form, table, code->first_line);
	free(data);
	return status == ST_BAD_DATA || status == ST_TOO_BIG ? ST_OK : status;
}

static enum status read_parts(struct code *code, const struct py_layout *layout,
			      struct memory *memory)
{
	remote_addr function = code->print.qualname ? code->print.qualname : code->print.name;
	enum status status =
		unicode_read(&code->file, layout, memory, code->print.filename, CODE_NAME_LIMIT);

	if (status == ST_OK)
		status = unicode_read(&code->function, layout, memory, function, CODE_NAME_LIMIT);
	code->lines.first_line = code->first_line;
	if (status == ST_OK)
		status = read_lines(code, layout, memory);
	return status;
}

/* The object is still what it was when it was first read. */
static enum status check_same(const struct code *code, const struct py_layout *layout,
			      struct memory *memory, remote_addr address)
{
	uint8_t raw[FIXED_MAX];
	struct bytes again = { raw, code_fingerprint_size(layout) };
	struct code_fingerprint print;
	enum status status = memory_read(memory, address, raw, again.size);

	if (status != ST_OK)
		return status == ST_FAULT ? ST_TORN : status;
	code_fingerprint_parse(&print, layout, again);
	return code_fingerprint_equal(&print, &code->print) ? ST_OK : ST_TORN;
}

enum status code_read(struct code *code, struct py_runtime *runtime, struct memory *memory,
		      remote_addr address)
{
	const struct py_layout *layout = &runtime->layout;
	uint8_t raw[FIXED_MAX];
	struct bytes fixed = { raw, layout->code.size };
	struct code read = { 0 };
	enum status status, same;

	if (fixed.size > sizeof(raw) || code_fingerprint_size(layout) > fixed.size)
		return ST_BAD_DATA;
	status = memory_read(memory, address, raw, fixed.size);
	if (status == ST_OK)
		status = read_fixed(&read, layout, fixed);
	if (status == ST_OK)
		status = check_type(runtime, memory, read.print.type);
	if (status != ST_OK)
		return status;
	status = read_parts(&read, layout, memory);
	if (status == ST_OK || status == ST_BAD_DATA || status == ST_FAULT) {
		same = check_same(&read, layout, memory, address);
		if (same != ST_OK)
			status = same;
	}
	if (status != ST_OK) {
		code_free(&read);
		return status;
	}
	runtime->code_type = read.print.type;
	*code = read;
	return ST_OK;
}

void code_free(struct code *code)
{
	free(code->file);
	free(code->function);
	lines_free(&code->lines);
	*code = (struct code){ 0 };
}

int32_t code_line(const struct code *code, int64_t lasti)
{
	return lines_find(&code->lines, lasti);
}

enum status code_tlbc_base(remote_addr *base, const struct py_layout *layout, struct memory *memory,
			   remote_addr code, int32_t index)
{
	uint64_t array, size, entry;

	if (layout->code.tlbc == LAYOUT_NONE || index < 0)
		return ST_BAD_DATA;
	if (index == 0) {
		*base = code + layout->code.code_adaptive;
		return ST_OK;
	}
	if (!memory_read_u64(memory, code + layout->code.tlbc, &array) ||
	    !memory_read_u64(memory, array, &size) || size > TLBC_MAX || (uint64_t)index >= size ||
	    !memory_read_u64(memory, array + 8 + 8 * (uint64_t)index, &entry) || !entry)
		return ST_BAD_DATA;
	*base = entry;
	return ST_OK;
}
