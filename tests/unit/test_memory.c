/* memory: pieces, what stops a batch, recorded images, and the way around a refused call. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "child.h"
#include "refuse.h"
#include "target/memory.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static const uint8_t low[] = "0123456789";
static const uint8_t high[] = "abcdef";

/* Two regions that touch, and one apart. */
static const struct memory_region regions[] = {
	{ 1000, { low, 10 } },
	{ 1010, { high, 6 } },
	{ 5000, { low, 4 } },
};

/* Two pages with nothing behind them. (The file in /proc reads what is merely protected.) */
static char *two_pages(void)
{
	char *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(at != MAP_FAILED);
	ck_assert_int_eq(munmap(at + 2 * PAGE, PAGE), 0);
	for (size_t i = 0; i < 2 * PAGE; i++)
		at[i] = (char)(i * 7 + i / 256 + 1);
	return at;
}

static remote_addr address_of(const void *p)
{
	return (remote_addr)(uintptr_t)p;
}

static void open_self(struct memory *m)
{
	memory_open_process(m, getpid(), child_proc(getpid()));
}

START_TEST(recorded_regions)
{
	struct memory m;
	char buf[32] = "";
	uint64_t v = 77;

	memory_open_image(&m, regions, 3);
	ck_assert_int_eq(memory_read(&m, 1002, buf, 3), ST_OK);
	ck_assert_mem_eq(buf, "234", 3);
	ck_assert_int_eq(memory_read(&m, 1008, buf, 4), ST_OK);
	ck_assert_mem_eq(buf, "89ab", 4);
	ck_assert_int_eq(memory_read(&m, 1000, buf, 16), ST_OK);
	ck_assert_int_eq(memory_read(&m, 1000, buf, 17), ST_FAULT);
	ck_assert_int_eq(memory_read(&m, 999, buf, 1), ST_FAULT);
	ck_assert_int_eq(memory_read(&m, 5004, buf, 1), ST_FAULT);
	ck_assert_int_eq(memory_read(&m, UINT64_MAX, buf, 2), ST_FAULT);
	ck_assert_int_eq(memory_read(&m, 1, buf, 0), ST_OK);
	ck_assert(memory_read_u64(&m, 1000, &v));
	ck_assert_mem_eq(&v, "01234567", 8);
	ck_assert(!memory_read_u64(&m, 5000, &v));
	ck_assert_mem_eq(&v, "01234567", 8);
	memory_close(&m);
}
END_TEST

START_TEST(recorded_batch)
{
	struct memory m;
	char a[4], b[4], c[4];
	const struct memory_piece pieces[] = { { 1000, a, 4 }, { 4999, b, 2 }, { 5000, c, 4 } };
	size_t done = 99;

	memory_open_image(&m, regions, 3);
	ck_assert_int_eq(memory_read_batch(&m, pieces, 3, &done), ST_OK);
	ck_assert_uint_eq(done, 1);
	ck_assert_int_eq(memory_read_batch(&m, pieces + 2, 1, &done), ST_OK);
	ck_assert_uint_eq(done, 1);
	ck_assert_mem_eq(c, "0123", 4);
	ck_assert_int_eq(memory_read_batch(&m, pieces, 0, &done), ST_OK);
	ck_assert_uint_eq(done, 0);
}
END_TEST

/* What a batch has to do, whatever reads the process. */
static void check_process(struct memory *m)
{
	char *pages = two_pages();
	char a[64], b[64], all[128];
	size_t done = 99;
	const struct memory_piece stops[] = {
		{ address_of(pages), a, 64 },
		{ address_of(pages + PAGE), b, 64 },
		{ address_of(pages + 2 * PAGE - 8), all, 16 },
		{ address_of(pages), all, 8 },
	};
	/* Neighbours here are far apart there, and the other way round. */
	const struct memory_piece joined[] = {
		{ address_of(pages + PAGE), all, 8 },
		{ address_of(pages), all + 8, 0 },
		{ address_of(pages), all + 8, 100 },
		{ address_of(pages + 100), a, 4 },
	};

	ck_assert_int_eq(memory_read_batch(m, stops, 4, &done), ST_OK);
	ck_assert_uint_eq(done, 2);
	ck_assert_mem_eq(a, pages, 64);
	ck_assert_mem_eq(b, pages + PAGE, 64);
	ck_assert_int_eq(memory_read_batch(m, stops + 2, 2, &done), ST_OK);
	ck_assert_uint_eq(done, 0);
	ck_assert_int_eq(memory_read_batch(m, joined, 4, &done), ST_OK);
	ck_assert_uint_eq(done, 4);
	ck_assert_mem_eq(all, pages + PAGE, 8);
	ck_assert_mem_eq(all + 8, pages, 100);
	ck_assert_mem_eq(a, pages + 100, 4);
	ck_assert_int_eq(memory_read(m, address_of(pages + 2 * PAGE), a, 1), ST_FAULT);
	ck_assert_int_eq(memory_read(m, UINT64_MAX - 7, a, 8), ST_FAULT);
	ck_assert_int_eq(memory_read(m, 0, a, 8), ST_FAULT);
}

START_TEST(process_batch)
{
	struct memory m;

	open_self(&m);
	check_process(&m);
	ck_assert_int_eq(m.mem_fd, -1);
	memory_close(&m);
}
END_TEST

START_TEST(one_call_up_to_the_limit)
{
	static struct memory_piece pieces[3000];
	static uint32_t from[3000], to[3000];
	struct memory m;
	size_t done = 0;

	open_self(&m);
	for (uint32_t i = 0; i < 3000; i++) {
		from[i] = i * 3 + 1;
		pieces[i] = (struct memory_piece){ address_of(&from[2999 - i]), &to[i], 4 };
	}
	ck_assert_int_eq(memory_read_batch(&m, pieces, MEMORY_PIECES_MAX, &done), ST_OK);
	ck_assert_uint_eq(done, MEMORY_PIECES_MAX);
	ck_assert_uint_eq(m.calls, 1);
	ck_assert_int_eq(memory_read_batch(&m, pieces, 3000, &done), ST_OK);
	ck_assert_uint_eq(done, 3000);
	ck_assert_uint_eq(m.calls, 4);
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(to[i], from[2999 - i]);
	pieces[2000].remote = 8;
	ck_assert_int_eq(memory_read_batch(&m, pieces, 3000, &done), ST_OK);
	ck_assert_uint_eq(done, 2000);
}
END_TEST

START_TEST(strings)
{
	char *pages = two_pages();
	char buf[8192];
	struct memory m;

	open_self(&m);
	memset(pages, 'x', 2 * PAGE);
	strcpy(pages + 2 * PAGE - 6, "hello");
	ck_assert_int_eq(memory_read_string(&m, address_of(pages + 2 * PAGE - 6), buf, 8192),
			 ST_OK);
	ck_assert_str_eq(buf, "hello");
	ck_assert_int_eq(memory_read_string(&m, address_of(pages + 2 * PAGE - 6), buf, 6), ST_OK);
	ck_assert_int_eq(memory_read_string(&m, address_of(pages + 2 * PAGE - 6), buf, 5),
			 ST_TOO_BIG);
	ck_assert_int_eq(memory_read_string(&m, address_of(pages + PAGE - 500), buf, 8192), ST_OK);
	ck_assert_uint_eq(strlen(buf), PAGE + 500 - 1);
	pages[2 * PAGE - 1] = 'x';
	ck_assert_int_eq(memory_read_string(&m, address_of(pages + 2 * PAGE - 6), buf, 8192),
			 ST_FAULT);
	ck_assert_int_eq(memory_read_string(&m, address_of(pages), buf, 0), ST_TOO_BIG);
}
END_TEST

START_TEST(process_ended)
{
	pid_t pid = child_start(child_sleeper, NULL);
	struct memory m;
	char buf[8];

	memory_open_process(&m, pid, child_proc(pid));
	ck_assert_int_eq(memory_read(&m, address_of(low), buf, 8), ST_OK);
	ck_assert_mem_eq(buf, low, 8);
	child_end(pid);
	ck_assert_int_eq(memory_read(&m, address_of(low), buf, 8), ST_ENDED);
	memory_close(&m);
}
END_TEST

static void check_refused(unsigned errnum)
{
	struct memory m;
	char buf[8];

	open_self(&m);
	if (!refuse_call(SYS_process_vm_readv, errnum)) {
		printf("skip memory: no filters of system calls here\n");
		return;
	}
	check_process(&m);
	ck_assert_int_ge(m.mem_fd, 0);
	memory_close(&m);

	/* Without a /proc to fall back to the first reason is given. */
	memory_open_process(&m, getpid(), -1);
	ck_assert_int_eq(memory_read(&m, address_of(low), buf, 8),
			 errnum == EPERM ? ST_DENIED : ST_SYSTEM);
	ck_assert_int_eq(errno, (int)errnum);
}

START_TEST(call_refused)
{
	check_refused(EPERM);
}
END_TEST

START_TEST(call_missing)
{
	check_refused(ENOSYS);
}
END_TEST

UNIT_MAIN("memory", recorded_regions, recorded_batch, process_batch, one_call_up_to_the_limit,
	  strings, process_ended, call_refused, call_missing)
