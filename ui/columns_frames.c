/*
 * columns_frames: the columns of one thread's stack, leaf first.
 *
 * Invariant: frames have no order but their own, so nothing here sorts.
 *
 * Called through columns_frames by the stack view.
 */
#include "ui/columns.h"

#include <stddef.h>

#include "ui/format.h"

static void print_function(char *out, size_t size, const void *row,
			   const struct columns_context *context)
{
	out[0] = ' ';
	format_name(out + 1, size - 1, ((const struct pytop_frame *)row)->function, context->ascii);
}

static void print_file(char *out, size_t size, const void *row,
		       const struct columns_context *context)
{
	const struct pytop_frame *frame = row;

	format_whole_path(out, size, frame->file, frame->line, context->ascii);
}

static enum column_hue hue_of_function(const void *row)
{
	return *((const struct pytop_frame *)row)->file ? HUE_NAME : HUE_QUIET;
}

static const struct column columns[] = {
	{ "function", " FUNCTION", "the leaf first", 6, 64, 0, true, false, HUE_NAME,
	  hue_of_function, print_function, NULL },
	{ "file", "FILE:LINE", "the line that executes", 14, 1000, 30, true, true, HUE_PLACE, NULL,
	  print_file, NULL },
};

/* A frame has no identity of its own: the same function and line count as the same. */
static uint64_t key(const void *row)
{
	const struct pytop_frame *frame = row;
	uint64_t hash = 14695981039346656037u;

	for (const char *at = frame->function; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 1099511628211u;
	for (const char *at = frame->file; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 1099511628211u;
	return (hash ^ (uint64_t)frame->line) * 1099511628211u;
}

static bool match(const void *row, const char *text)
{
	const struct pytop_frame *frame = row;

	return columns_contains(frame->function, text) || columns_contains(frame->file, text);
}

const struct column_set columns_frames = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.stride = sizeof(struct pytop_frame),
	.key = key,
	.match = match,
};
