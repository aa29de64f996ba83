/* Whether the code object at an address is still the one that was read there: each thing that may change, one at a time. */
#include "codes.h"

#include "python/identity.h"

static const int minors[] = { 8, 9, 10, 11, 12 };

#define FOR_EACH_VERSION(c) \
	for (size_t v = 0; v < sizeof(minors) / sizeof(minors[0]); v++) \
		for (bool once = (codes_open(c, minors[v]), true); once; once = false)

static struct codes c;

static void take(struct code_identity *id, remote_addr code)
{
	struct code about = { 0 };

	ck_assert_int_eq(code_read(&about, &c.runtime, &c.arena.memory, code), ST_OK);
	ck_assert_int_eq(identity_take(id, &c.runtime.layout, &c.arena.memory, code, &about.print),
			 ST_OK);
	code_free(&about);
}

static bool is_same(const struct code_identity *id)
{
	bool same = false;

	ck_assert_int_eq(identity_check(&id, &same, 1, &c.runtime.layout, &c.arena.memory), ST_OK);
	return same;
}

START_TEST(unchanged)
{
	FOR_EACH_VERSION(&c)
	{
		struct code_identity id;

		codes_put(&c, 0, "C.f", "a.py", 10);
		take(&id, CODES_CODE(0));
		ck_assert(is_same(&id));
		/* what a code object does while it lives: its bytes' hash is computed, its code warms up */
		arena_u64(&c.arena, CODES_TABLE(0) + c.runtime.layout.bytes.ob_size + 8, 77);
		arena_u64(&c.arena, CODES_CODE(0), 12);
		ck_assert(is_same(&id));
	}
}
END_TEST

/* Another one at the very same addresses, all pointers equal: what a free list makes of exec() in a loop. */
START_TEST(another_in_its_place)
{
	static const struct {
		const char *name, *file;
		int line;
	} others[] = { { "C.g", "a.py", 10 },
		       { "C.f", "b.py", 10 },
		       { "C.f", "a.py", 11 },
		       { "C.ff", "a.py", 10 },
		       { "C.f", "a.pyc", 10 } };

	FOR_EACH_VERSION(&c)
	{
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			for (int hashed = 0; hashed < 2; hashed++) {
				struct code_identity id;

				c.hashed = hashed;
				codes_put(&c, 0, "C.f", "a.py", 10);
				take(&id, CODES_CODE(0));
				codes_put(&c, 0, others[i].name, others[i].file, others[i].line);
				ck_assert(!is_same(&id));
				codes_put(&c, 0, "C.f", "a.py", 10);
				ck_assert(is_same(&id));
			}
		}
	}
}
END_TEST

START_TEST(another_table)
{
	FOR_EACH_VERSION(&c)
	{
		struct code_identity id;
		remote_addr data = CODES_TABLE(0) + c.runtime.layout.bytes.data;

		codes_put(&c, 0, "C.f", "a.py", 10);
		take(&id, CODES_CODE(0));
		c.arena.bytes[data - ARENA_START + 1] ^= 1;
		ck_assert(!is_same(&id));
		c.arena.bytes[data - ARENA_START + 1] ^= 1;
		arena_u64(&c.arena, CODES_TABLE(0) + c.runtime.layout.bytes.ob_size, 1);
		ck_assert(!is_same(&id));
	}
}
END_TEST

START_TEST(other_objects)
{
	FOR_EACH_VERSION(&c)
	{
		const struct py_layout *l = &c.runtime.layout;
		const uint32_t words[] = { l->object.type, l->code.filename, l->code.name,
					   l->code.linetable, l->code.qualname };

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			struct code_identity id;

			if (words[i] == LAYOUT_NONE)
				continue;
			codes_put(&c, 0, "C.f", "a.py", 10);
			codes_put(&c, 1, "C.f", "a.py", 10);
			take(&id, CODES_CODE(0));
			arena_u64(&c.arena, CODES_CODE(0) + words[i], CODES_NAME(1));
			ck_assert(!is_same(&id));
		}
	}
}
END_TEST

/* What it pointed to cannot be read any more, or never could. */
START_TEST(gone)
{
	FOR_EACH_VERSION(&c)
	{
		struct code_identity id, unread;

		codes_put(&c, 0, "C.f", "a.py", 10);
		take(&id, CODES_CODE(0));
		unread = id;
		arena_u64(&c.arena, CODES_CODE(0) + c.runtime.layout.code.filename, 0x7000);
		ck_assert(!is_same(&id));
		unread.code = 0x7000;
		ck_assert(!is_same(&unread));
	}
}
END_TEST

START_TEST(taken_too_late)
{
	FOR_EACH_VERSION(&c)
	{
		struct code_identity id = { .code = 1 };
		struct code about = { 0 };

		codes_put(&c, 0, "C.f", "a.py", 10);
		ck_assert_int_eq(code_read(&about, &c.runtime, &c.arena.memory, CODES_CODE(0)),
				 ST_OK);
		codes_put(&c, 0, "C.f", "a.py", 20);
		ck_assert_int_eq(identity_take(&id, &c.runtime.layout, &c.arena.memory,
					       CODES_CODE(0), &about.print),
				 ST_TORN);
		ck_assert_uint_eq(id.code, 1);
		code_free(&about);
	}
}
END_TEST

/* Many at once, some of them gone: each has its own verdict. */
START_TEST(many)
{
	FOR_EACH_VERSION(&c)
	{
		static struct code_identity ids[CODES_MAX];
		const struct code_identity *list[CODES_MAX * 10];
		bool same[CODES_MAX * 10];
		size_t n = sizeof(list) / sizeof(list[0]);

		for (unsigned i = 0; i < CODES_MAX; i++) {
			codes_put(&c, i, "C.f", "a.py", (int)i);
			take(&ids[i], CODES_CODE(i));
		}
		for (unsigned i = 0; i < CODES_MAX; i += 3)
			codes_put(&c, i, "C.g", "a.py", (int)i);
		arena_u64(&c.arena, CODES_CODE(1) + c.runtime.layout.code.linetable, 8);
		for (size_t i = 0; i < n; i++)
			list[i] = &ids[i % CODES_MAX];
		ck_assert_int_eq(identity_check(list, same, n, &c.runtime.layout, &c.arena.memory),
				 ST_OK);
		for (size_t i = 0; i < n; i++)
			ck_assert_int_eq(same[i], i % CODES_MAX % 3 != 0 && i % CODES_MAX != 1);
	}
}
END_TEST

UNIT_MAIN("identity", unchanged, another_in_its_place, another_table, other_objects, gone,
	  taken_too_late, many)
