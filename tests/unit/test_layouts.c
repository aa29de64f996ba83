/*
 * The rows of the versions that do not tell: found by version, whole, and consistent with
 * themselves.
 */
#include "unit.h"

#include <stdint.h>

#include "python/layouts.h"

static struct py_version version_of(int minor)
{
	return (struct py_version){ .major = 3, .minor = (uint8_t)minor, .micro = 4, .level = 'f' };
}

static struct py_layout layout_of(int minor)
{
	struct py_version version = version_of(minor);
	struct py_layout layout;

	ck_assert_int_eq(layouts_find(&layout, &version), ST_OK);
	return layout;
}

START_TEST(each_version)
{
	static const struct {
		int minor;
		enum py_frame_form frames;
		enum py_lines_form lines;
		uint32_t head, threads, code_name, lasti;
	} wanted[] = {
		{ 8, PY_FRAME_OBJECT, PY_LINES_LNOTAB, 32, 8, 112, 104 },
		{ 9, PY_FRAME_OBJECT, PY_LINES_LNOTAB, 32, 8, 112, 104 },
		{ 10, PY_FRAME_OBJECT, PY_LINES_310, 32, 8, 112, 96 },
		{ 11, PY_FRAME_PREV_INSTR, PY_LINES_311, 40, 16, 120, 56 },
		{ 12, PY_FRAME_PREV_INSTR, PY_LINES_311, 40, 72, 120, 56 },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct py_layout l = layout_of(wanted[i].minor);

		ck_assert_int_eq(l.version.minor, wanted[i].minor);
		ck_assert_int_eq(l.version.micro, 4);
		ck_assert_int_eq(l.frame_form, wanted[i].frames);
		ck_assert_int_eq(l.lines_form, wanted[i].lines);
		ck_assert_uint_eq(l.runtime.interpreters_head, wanted[i].head);
		ck_assert_uint_eq(l.interp.threads_head, wanted[i].threads);
		ck_assert_uint_eq(l.code.name, wanted[i].code_name);
		ck_assert_uint_eq(l.frame.lasti, wanted[i].lasti);
	}
}
END_TEST

/* A field that a row forgot would be 0; these are the only places where 0 is an offset. */
START_TEST(no_field_forgotten)
{
	for (int minor = 8; minor <= 12; minor++) {
		struct py_layout l = layout_of(minor);
		const uint32_t fields[] = {
			l.runtime.interpreters_head,
			l.runtime.finalizing,
			l.runtime.gil,
			l.runtime.gc_collecting,
			l.runtime.tstate_current,
			l.runtime.size,
			l.interp.threads_head,
			l.interp.id,
			l.interp.gc_collecting,
			l.interp.gc_frame,
			l.interp.finalizing,
			l.interp.ceval_gil,
			l.interp.gil,
			l.interp.code_generation,
			l.interp.tlbc_generation,
			l.interp.runtime,
			l.interp.size,
			l.gil.last_holder,
			l.gil.locked,
			l.gil.enabled,
			l.gil.size,
			l.tstate.next,
			l.tstate.interp,
			l.tstate.thread_id,
			l.tstate.native_thread_id,
			l.tstate.status,
			l.tstate.state,
			l.tstate.frame,
			l.tstate.cframe,
			l.tstate.current_frame,
			l.tstate.base_frame,
			l.tstate.datastack_chunk,
			l.tstate.datastack_top,
			l.tstate.holds_gil,
			l.tstate.gil_requested,
			l.tstate.curexc,
			l.tstate.exc_info,
			l.tstate.size,
			l.err_item.previous_item,
			l.frame.previous,
			l.frame.lasti,
			l.frame.owner,
			l.frame.localsplus,
			l.frame.tlbc_index,
			l.frame.stackpointer,
			l.frame.size,
			l.owner_skip,
			l.code.ob_size,
			l.code.filename,
			l.code.name,
			l.code.qualname,
			l.code.linetable,
			l.code.firstlineno,
			l.code.code_adaptive,
			l.code.tlbc,
			l.code.firsttraceable,
			l.code.nlocalsplus,
			l.code.stacksize,
			l.code.framesize,
			l.code.size,
			l.object.size,
			l.object.type,
			l.type.name,
			l.type.flags,
			l.type.basicsize,
			l.type.dictoffset,
			l.type.cached_keys,
			l.type.dict_back,
			l.text.length,
			l.text.state,
			l.text.ascii_data,
			l.text.compact_data,
			l.text.legacy_data,
			l.bytes.ob_size,
			l.bytes.data,
			l.dict.keys,
			l.dict.values,
		};

		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			ck_assert_msg(fields[i], "3.%d: field %zu", minor, i);
	}
}
END_TEST

static void covers(uint32_t size, uint32_t offset, uint32_t width)
{
	ck_assert_msg(offset == LAYOUT_NONE || offset + width <= size, "%u + %u > %u", offset,
		      width, size);
}

START_TEST(sizes_cover_their_fields)
{
	for (int minor = 8; minor <= 12; minor++) {
		struct py_layout l = layout_of(minor);

		covers(l.runtime.size, l.runtime.interpreters_head, 8);
		covers(l.runtime.size, l.runtime.gil, l.gil.size);
		covers(l.runtime.size, l.runtime.gc_collecting, 4);
		covers(l.runtime.size, l.runtime.tstate_current, 8);
		covers(l.interp.size, l.interp.threads_head, 8);
		covers(l.interp.size, l.interp.gc_collecting, 4);
		covers(l.interp.size, l.interp.gil, l.gil.size);
		covers(l.tstate.size, l.tstate.thread_id, 8);
		covers(l.tstate.size, l.tstate.native_thread_id, 8);
		covers(l.tstate.size, l.tstate.datastack_top, 8);
		covers(l.tstate.size, l.tstate.exc_info, 8);
		covers(l.frame.size, l.frame.lasti, 8);
		covers(l.frame.size, l.frame.owner, 1);
		covers(l.code.size, l.code.linetable, 8);
		covers(l.code.size, l.code.qualname, 8);
		covers(l.code.size, l.code.firsttraceable, 4);
		ck_assert_uint_le(l.code.size, 256);
	}
}
END_TEST

START_TEST(refused)
{
	struct py_version v = version_of(12);
	struct py_layout l;

	v.free_threaded = true;
	ck_assert_int_eq(layouts_find(&l, &v), ST_UNSUPPORTED_VERSION);
	v = version_of(12);
	v.level = 'b';
	ck_assert_int_eq(layouts_find(&l, &v), ST_UNSUPPORTED_VERSION);
	v.level = 'c';
	ck_assert_int_eq(layouts_find(&l, &v), ST_OK);
	v = version_of(13);
	ck_assert_int_eq(layouts_find(&l, &v), ST_UNSUPPORTED_VERSION);
	v = version_of(8);
	v.major = 2;
	ck_assert_int_eq(layouts_find(&l, &v), ST_UNSUPPORTED_VERSION);
}
END_TEST

UNIT_MAIN("layouts", each_version, no_field_forgotten, sizes_cover_their_fields, refused)
