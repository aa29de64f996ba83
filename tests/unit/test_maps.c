/* maps: the text of /proc/PID/maps, as the kernel writes it and as nobody should. */
#include <string.h>

#include "child.h"
#include "target/maps.h"

static struct bytes text_of(const char *s)
{
	return (struct bytes){ (const uint8_t *)s, strlen(s) };
}

static struct maps parse(const char *s)
{
	struct maps maps;

	ck_assert_int_eq(maps_parse(&maps, text_of(s)), ST_OK);
	return maps;
}

static const char usual[] =
	"555500000000-555500001000 r--p 00000000 fe:01 18500                      /usr/bin/p y\n"
	"555500001000-555500003000 r-xp 00001000 fe:01 18500                      /usr/bin/p y\n"
	"555500003000-555500004000 rw-s 00003000 103:100002 99  /tmp/a\\012b (deleted)\n"
	"7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
	"7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

START_TEST(usual_text)
{
	struct maps maps = parse(usual);
	const struct mapping *m = maps.items;

	ck_assert_uint_eq(maps.count, 6);
	ck_assert(!maps.truncated);
	ck_assert_uint_eq(m[0].start, 0x555500000000);
	ck_assert_uint_eq(m[0].end, 0x555500001000);
	ck_assert(m[0].readable && !m[0].writable && !m[0].executable && !m[0].shared);
	ck_assert_str_eq(m[0].path, "/usr/bin/p y");
	ck_assert_uint_eq(m[0].inode, 18500);
	ck_assert_uint_eq(m[0].device, maps_device(0xfe, 1));
	ck_assert(m[1].executable && m[1].offset == 0x1000);
	ck_assert_ptr_eq(m[0].path, m[1].path);
	ck_assert(m[2].shared && m[2].writable && m[2].deleted);
	ck_assert_str_eq(m[2].path, "/tmp/a\nb");
	ck_assert_uint_eq(m[2].device, maps_device(0x103, 0x100002 & 0xfffff));
	ck_assert_str_eq(m[3].path, "");
	ck_assert_str_eq(m[4].path, "[stack]");
	ck_assert(!m[4].deleted);
	ck_assert_uint_eq(m[5].start, 0xffffffffff600000);
	maps_free(&maps);
}
END_TEST

START_TEST(find)
{
	struct maps maps = parse(usual);

	ck_assert_ptr_eq(maps_find(&maps, 0x555500000000), &maps.items[0]);
	ck_assert_ptr_eq(maps_find(&maps, 0x555500000fff), &maps.items[0]);
	ck_assert_ptr_eq(maps_find(&maps, 0x555500001000), &maps.items[1]);
	ck_assert_ptr_null(maps_find(&maps, 0x555500004000));
	ck_assert_ptr_null(maps_find(&maps, 0));
	ck_assert_ptr_null(maps_find(&maps, UINT64_MAX));
	ck_assert_ptr_eq(maps_find(&maps, 0xffffffffff600fff), &maps.items[5]);
	maps_free(&maps);
}
END_TEST

START_TEST(bad_lines)
{
	struct maps maps = parse("garbage\n"
				 "\n"
				 "2000-1000 r--p 0 0:0 0\n"
				 "1000-2000 r--p 00000000 00:00 0\n"
				 "1800-2800 r--p 00000000 00:00 0 overlaps\n"
				 "3000-4000 r-\n"
				 "3000-4000 r--p zz 00:00 0\n"
				 "5000-6000 rwxs 00000010 08:01 7 /last (deleted)");

	ck_assert_uint_eq(maps.count, 2);
	ck_assert_uint_eq(maps.items[0].start, 0x1000);
	ck_assert_uint_eq(maps.items[1].inode, 7);
	ck_assert_str_eq(maps.items[1].path, "/last");
	maps_free(&maps);
	maps = parse("");
	ck_assert_uint_eq(maps.count, 0);
	ck_assert_ptr_null(maps_find(&maps, 5));
	maps_free(&maps);
}
END_TEST

/* An anonymous thing may be called "x (deleted)": only a file can be. */
START_TEST(deleted_needs_a_file)
{
	struct maps maps = parse("1000-2000 r--p 0 00:00 0 [anon: (deleted)\n"
				 "2000-3000 r--p 0 00:01 9 (deleted)\n"
				 "3000-4000 r--p 0 00:01 9  (deleted)\n");

	ck_assert_uint_eq(maps.count, 3);
	ck_assert(!maps.items[0].deleted);
	ck_assert(!maps.items[1].deleted);
	maps_free(&maps);
}
END_TEST

START_TEST(every_cut)
{
	size_t size = strlen(usual);

	for (size_t n = 0; n <= size; n++) {
		char *copy = malloc(n ? n : 1);
		struct maps maps;

		memcpy(copy, usual, n);
		ck_assert_int_eq(maps_parse(&maps, (struct bytes){ (uint8_t *)copy, n }), ST_OK);
		ck_assert_uint_le(maps.count, 6);
		maps_free(&maps);
		free(copy);
	}
}
END_TEST

START_TEST(too_many)
{
	size_t lines = MAPS_LIMIT + 10;
	char *text = malloc(lines * 40);
	size_t size = 0;
	struct maps maps;

	for (size_t i = 0; i < lines; i++)
		size += (size_t)sprintf(text + size, "%zx-%zx r--p 0 0:0 0\n", i * 4096 + 4096,
					i * 4096 + 8192);
	ck_assert_int_eq(maps_parse(&maps, (struct bytes){ (uint8_t *)text, size }), ST_OK);
	ck_assert_uint_eq(maps.count, MAPS_LIMIT);
	ck_assert(maps.truncated);
	maps_free(&maps);
	free(text);
}
END_TEST

START_TEST(own_maps)
{
	int proc = child_proc(getpid());
	struct maps maps;
	int on_stack = 0;

	ck_assert_int_eq(maps_read(&maps, proc), ST_OK);
	const struct mapping *code = maps_find(&maps, (uint64_t)(uintptr_t)&parse);
	const struct mapping *stack = maps_find(&maps, (uint64_t)(uintptr_t)&on_stack);

	ck_assert_ptr_nonnull(code);
	ck_assert(code->executable && !code->writable && code->path[0] == '/');
	ck_assert_ptr_nonnull(stack);
	ck_assert(stack->writable);
	maps_free(&maps);
}
END_TEST

START_TEST(ended)
{
	pid_t pid = child_start(child_sleeper, NULL);
	int proc = child_proc(pid);
	struct maps maps;

	child_end(pid);
	ck_assert_int_eq(maps_read(&maps, proc), ST_ENDED);
}
END_TEST

UNIT_MAIN("maps", usual_text, find, bad_lines, deleted_needs_a_file, every_cut, too_many, own_maps,
	  ended)
