/* files: inside the target's root, regular files only. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "refuse.h"
#include "target/files.h"

static char root[64];

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void link_to(const char *to, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	ck_assert_int_eq(symlink(to, path), 0);
}

/* A root with a file in it, links that would lead out of it, and a fifo. */
static void make_root(void)
{
	char path[256];

	strcpy(root, "/tmp/pytop-files-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/etc", root);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	write_file("/etc/passwd", "inside");
	write_file("/a.py", "source");
	link_to("/etc/passwd", "/absolute");
	link_to("../../../../../../etc/passwd", "/relative");
	link_to("a.py", "/near");
	snprintf(path, sizeof(path), "%s/fifo", root);
	ck_assert_int_eq(mkfifo(path, 0666), 0);
}

static void remove_root(void)
{
	static const char *const names[] = { "/etc/passwd", "/etc",  "/a.py", "/absolute",
					     "/relative",   "/near", "/fifo", "" };
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, names[i]);
		ck_assert_int_eq(remove(path), 0);
	}
}

/* 'y': as it should be, 'n': no right to change the root. */
static void live_in_root(int ready, void *context)
{
	char *may = context;

	*may = chroot(root) == 0 && chdir("/") == 0 ? 'y' : 'n';
	child_sleeper(ready, NULL);
}

static void check_text(int proc, const char *path, const char *text)
{
	char buf[64] = "";
	int fd = -1;

	ck_assert_int_eq(files_open(proc, path, &fd), ST_OK);
	ck_assert_int_ge(read(fd, buf, sizeof(buf) - 1), 0);
	ck_assert_str_eq(buf, text);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
}

/* Everything that holds with and without openat2. */
static void check_kinds(int proc)
{
	int fd = -7;

	check_text(proc, "/a.py", "source");
	check_text(proc, "a.py", "source");
	check_text(proc, "//etc/./passwd", "inside");
	ck_assert_int_eq(files_open(proc, "/fifo", &fd), ST_BAD_DATA);
	ck_assert_int_eq(files_open(proc, "/etc", &fd), ST_BAD_DATA);
	ck_assert_int_eq(files_open(proc, "/nothing", &fd), ST_SYSTEM);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_ne(files_open(proc, "", &fd), ST_OK);
	ck_assert_int_eq(fd, -7);
}

START_TEST(inside_the_root)
{
	char *may = child_share(1);

	make_root();
	pid_t pid = child_start(live_in_root, may);

	if (*may == 'y') {
		int proc = child_proc(pid);

		check_kinds(proc);
		check_text(proc, "/absolute", "inside");
		check_text(proc, "/relative", "inside");
		check_text(proc, "../../etc/passwd", "inside");
		check_text(proc, "/near", "source");
	} else {
		printf("skip files inside_the_root: may not chroot\n");
	}
	child_end(pid);
	remove_root();
}
END_TEST

static void check_by_hand(unsigned errnum)
{
	char *may = child_share(1);
	int fd = -1;

	make_root();
	pid_t pid = child_start(live_in_root, may);

	if (*may == 'y' && refuse_call(SYS_openat2, errnum)) {
		int proc = child_proc(pid);

		check_kinds(proc);
		ck_assert_int_eq(files_open(proc, "/absolute", &fd), ST_SYSTEM);
		ck_assert_int_eq(errno, ELOOP);
		ck_assert_int_eq(files_open(proc, "/relative", &fd), ST_SYSTEM);
		ck_assert_int_eq(files_open(proc, "../../etc/passwd", &fd), ST_SYSTEM);
	} else {
		printf("skip files by_hand: may not chroot, or filter system calls\n");
	}
	child_end(pid);
	remove_root();
}

START_TEST(by_hand)
{
	check_by_hand(ENOSYS);
}
END_TEST

START_TEST(by_hand_when_filtered)
{
	check_by_hand(EPERM);
}
END_TEST

START_TEST(ended)
{
	pid_t pid = child_start(child_sleeper, NULL);
	int proc = child_proc(pid);
	int fd;

	child_end(pid);
	ck_assert_int_eq(files_open(proc, "/etc/passwd", &fd), ST_ENDED);
}
END_TEST

UNIT_MAIN("files", inside_the_root, by_hand, by_hand_when_filtered, ended)
