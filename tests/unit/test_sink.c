/*
 * sink: a file appears whole or not at all, whatever goes wrong on the way.
 */
#include "export/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "exported.h"
#include "refuse.h"

#define NOBODY ((uid_t)-1), ((gid_t)-1)

static struct export_sink *open_sink(const char *path)
{
	struct export_sink *sink;

	ck_assert_int_eq(sink_open(&sink, path, NOBODY), ST_OK);
	return sink;
}

START_TEST(appears_on_commit)
{
	char folder[64];
	struct export_sink *sink;
	uint64_t bytes;
	size_t size;
	char *text;

	exported_folder(folder);
	exported_write_text("a.txt", "old");
	ck_assert_int_eq(chmod("a.txt", 0640), 0);
	sink = open_sink("a.txt");
	ck_assert_int_eq(sink_write(sink, "new text", 8), ST_OK);
	text = exported_read("a.txt", &size);
	ck_assert_str_eq(text, "old");
	free(text);
	ck_assert_int_eq(sink_commit(sink, &bytes), ST_OK);
	ck_assert_uint_eq(bytes, 8);
	text = exported_read("a.txt", &size);
	ck_assert_str_eq(text, "new text");
	free(text);
	ck_assert_uint_eq(exported_files(folder), 1);

	struct stat st;

	ck_assert_int_eq(stat("a.txt", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
	exported_remove(folder);
}
END_TEST

START_TEST(abandoned_leaves_nothing)
{
	char folder[64];
	struct export_sink *sink;
	size_t size;
	char *text;

	exported_folder(folder);
	exported_write_text("b.json.gz", "old");
	sink = open_sink("b.json.gz");
	ck_assert_uint_eq(exported_files(folder), 1);
	ck_assert_int_eq(sink_write(sink, "new", 3), ST_OK);
	errno = ENOSPC;
	sink_abandon(sink);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(exported_files(folder), 1);
	text = exported_read("b.json.gz", &size);
	ck_assert_str_eq(text, "old");
	free(text);
	exported_remove(folder);
}
END_TEST

static void write_whole(const char *path, const char *text)
{
	struct export_sink *sink = open_sink(path);
	uint64_t bytes;

	ck_assert_int_eq(sink_write(sink, text, strlen(text)), ST_OK);
	ck_assert_int_eq(sink_commit(sink, &bytes), ST_OK);
}

static void expect_text(const char *path, const char *expected)
{
	size_t size;
	char *text = exported_read(path, &size);

	ck_assert_str_eq(text, expected);
	free(text);
}

/* A file system that has no files without a name: then a temporary name, which goes in every case. */
static void no_unnamed_files(void)
{
	/* openat with O_TMPFILE: only its flags tell it */
	ck_assert(refuse_flags(SYS_openat, 2, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP));
}

START_TEST(by_a_temporary_name)
{
	char folder[64];

	exported_folder(folder);
	no_unnamed_files();
	exported_write_text("b.txt", "old");
	struct export_sink *sink = open_sink("b.txt");

	ck_assert_uint_eq(exported_files(folder), 2);
	sink_abandon(sink);
	ck_assert_uint_eq(exported_files(folder), 1);
	expect_text("b.txt", "old");
	write_whole("b.txt", "new");
	expect_text("b.txt", "new");
	write_whole("c.txt", "other");
	expect_text("c.txt", "other");
	ck_assert_uint_eq(exported_files(folder), 2);
	exported_remove(folder);
}
END_TEST

/* A link is written through, however many there are, and whether its file is there or not. */
START_TEST(links_are_followed)
{
	char folder[64];
	struct export_sink *sink;
	struct stat st;

	exported_folder(folder);
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	exported_write_text("sub/real.txt", "old");
	ck_assert_int_eq(symlink("real.txt", "sub/near.txt"), 0);
	ck_assert_int_eq(symlink("sub/near.txt", "far.txt"), 0);
	write_whole("far.txt", "new");
	ck_assert_int_eq(lstat("far.txt", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(lstat("sub/near.txt", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	expect_text("sub/real.txt", "new");

	ck_assert_int_eq(symlink("sub/later.txt", "dangling.txt"), 0);
	write_whole("dangling.txt", "there");
	expect_text("sub/later.txt", "there");

	ck_assert_int_eq(symlink("round.txt", "round.txt"), 0);
	ck_assert_int_eq(sink_open(&sink, "round.txt", NOBODY), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, ELOOP);
	ck_assert_int_eq(unlink("sub/real.txt"), 0);
	ck_assert_int_eq(unlink("sub/near.txt"), 0);
	ck_assert_int_eq(unlink("sub/later.txt"), 0);
	ck_assert_int_eq(rmdir("sub"), 0);
	exported_remove(folder);
}
END_TEST

/* Where everybody may leave a link, a stranger's is not followed. */
START_TEST(links_of_strangers)
{
	char folder[64];
	struct export_sink *sink;

	if (geteuid() != 0) {
		printf("skip sink links_of_strangers: not root\n");
		return;
	}
	exported_folder(folder);
	exported_write_text("real.txt", "old");
	ck_assert_int_eq(symlink("real.txt", "link.txt"), 0);
	ck_assert_int_eq(lchown("link.txt", 65534, 65534), 0);
	ck_assert_int_eq(chmod(".", 01777), 0);
	ck_assert_int_eq(sink_open(&sink, "link.txt", NOBODY), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_int_eq(sink_open(&sink, "link.txt", 65534, 65534), ST_OK);
	sink_abandon(sink);
	expect_text("real.txt", "old");
	exported_remove(folder);
}
END_TEST

/* Inflate by hand: the member must end where the file does. */
START_TEST(gzip_is_one_member)
{
	enum { PARTS = 5000 };
	char folder[64], part[100];
	struct export_sink *sink;
	uint64_t bytes;
	unsigned char *packed, *plain = malloc(PARTS * sizeof(part) + 1);
	z_stream z = { 0 };
	struct stat st;
	int fd;

	exported_folder(folder);
	sink = open_sink("c.json.gz");
	for (int i = 0; i < PARTS; i++) {
		for (size_t k = 0; k < sizeof(part); k++)
			part[k] = (char)((i * 2654435761u >> (k % 24)) ^ k);
		memcpy(plain + (size_t)i * sizeof(part), part, sizeof(part));
		ck_assert_int_eq(sink_write(sink, part, sizeof(part)), ST_OK);
	}
	ck_assert_int_eq(sink_commit(sink, &bytes), ST_OK);
	fd = open("c.json.gz", O_RDONLY);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, bytes);
	packed = malloc(bytes);
	ck_assert_int_eq(read(fd, packed, bytes), (ssize_t)bytes);
	close(fd);

	unsigned char *out = malloc(PARTS * sizeof(part) + 1);

	ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = packed;
	z.avail_in = (uInt)bytes;
	z.next_out = out;
	z.avail_out = PARTS * sizeof(part) + 1;
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	ck_assert_uint_eq(z.total_out, PARTS * sizeof(part));
	ck_assert_int_eq(memcmp(out, plain, z.total_out), 0);
	inflateEnd(&z);
	free(out);
	free(packed);
	free(plain);
	exported_remove(folder);
}
END_TEST

START_TEST(places_that_cannot_be)
{
	char folder[64], in_nothing[128], is_folder[128];
	struct export_sink *sink = NULL;

	exported_folder(folder);
	snprintf(in_nothing, sizeof(in_nothing), "%s/none/x.txt", folder);
	ck_assert_int_eq(sink_open(&sink, in_nothing, NOBODY), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, ENOENT);
	snprintf(is_folder, sizeof(is_folder), "%s/", folder);
	ck_assert_int_eq(sink_open(&sink, is_folder, NOBODY), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, EISDIR);
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(sink_open(&sink, "sub", NOBODY), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, EISDIR);
	ck_assert_int_eq(rmdir("sub"), 0);
	ck_assert_ptr_null(sink);
	ck_assert_uint_eq(exported_files(folder), 0);
	exported_remove(folder);
}
END_TEST

/* As on a full disk: writing stops in the middle. */
START_TEST(no_room)
{
	char folder[64], block[4096] = { 1 };
	struct rlimit limit = { 200000, 200000 };
	struct export_sink *sink;
	enum status status = ST_OK;

	exported_folder(folder);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	sink = open_sink("d.txt");
	for (int i = 0; i < 100 && status == ST_OK; i++)
		status = sink_write(sink, block, sizeof(block));
	ck_assert_int_eq(status, ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, EFBIG);
	sink_abandon(sink);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_uint_eq(exported_files(folder), 0);
	exported_remove(folder);
}
END_TEST

START_TEST(full_device)
{
	struct export_sink *sink;
	uint64_t bytes = 7;
	struct stat st;

	if (access("/dev/full", W_OK))
		return;
	sink = open_sink("/dev/full");
	ck_assert_int_eq(sink_write(sink, "x", 1), ST_OK);
	ck_assert_int_eq(sink_commit(sink, &bytes), ST_CANNOT_WRITE);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_uint_eq(bytes, 7);
	ck_assert_int_eq(stat("/dev/full", &st), 0);
	ck_assert(S_ISCHR(st.st_mode)); /* it was not replaced by a file */
}
END_TEST

/* A pipe takes what it is given, in order. */
START_TEST(straight_into_a_pipe)
{
	int ends[2], out = dup(STDOUT_FILENO);
	struct export_sink *sink;
	uint64_t bytes;
	char text[16] = "";

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	sink = open_sink("-");
	ck_assert_int_eq(sink_json(sink, "piped", 5), ST_OK);
	ck_assert_int_eq(sink_commit(sink, &bytes), ST_OK);
	dup2(out, STDOUT_FILENO);
	close(ends[1]);
	ck_assert_int_eq(read(ends[0], text, sizeof(text)), 5);
	ck_assert_str_eq(text, "piped");
	ck_assert_uint_eq(bytes, 5);
	close(ends[0]);
	close(out);
}
END_TEST

UNIT_MAIN("sink", appears_on_commit, abandoned_leaves_nothing, by_a_temporary_name,
	  links_are_followed, links_of_strangers, gzip_is_one_member, places_that_cannot_be,
	  no_room, full_device, straight_into_a_pipe)
