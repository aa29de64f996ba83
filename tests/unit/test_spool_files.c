/*
 * The files of the log: what may be where, who may write, what goes first when there is too much,
 * and what is left when the disk is full or the terminal is lost.
 */
#include "record_log.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static struct spool_files *opened(const char *dir, uint64_t limit)
{
	struct spool_files *files;

	ck_assert_int_eq(spool_files_open(&files, dir, limit, (uid_t)-1, (gid_t)-1), ST_OK);
	return files;
}

static int open_error(const char *dir)
{
	struct spool_files *files = NULL;
	enum status st = spool_files_open(&files, dir, 0, (uid_t)-1, (gid_t)-1);

	ck_assert_ptr_null(files);
	return (int)st;
}

static size_t entries_of(const char *dir)
{
	DIR *entries = opendir(dir);
	size_t count = 0;

	for (struct dirent *e; (e = readdir(entries));)
		count += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(entries);
	return count;
}

static void write_batch(struct spool_files *files, uint32_t segment, size_t size,
			enum status wanted)
{
	struct spool_batch batch = { .segment = segment,
				     .first_tick = segment,
				     .last_tick = segment };

	buffer_init(&batch.data, 1 << 20);
	for (size_t i = 0; i < size; i++)
		buffer_u8(&batch.data, (uint8_t)segment);
	ck_assert_int_eq(spool_files_write(files, &batch), wanted);
	buffer_free(&batch.data);
}

START_TEST(test_directory_rules)
{
	char *dir = log_directory(), path[200];
	struct spool_files *files = opened(dir, 0);

	ck_assert_str_eq(spool_files_place(files), dir);
	ck_assert_int_eq(open_error(dir), ST_SPOOL_LOCKED);
	write_batch(files, 1, 100, ST_OK);
	ck_assert_int_eq(open_error(dir), ST_SPOOL_LOCKED);
	spool_files_close(files);
	ck_assert_int_eq(open_error(dir), ST_SPOOL_NOT_EMPTY);
	snprintf(path, sizeof(path), "%s/none/log", dir);
	ck_assert_int_eq(open_error(path), ST_SPOOL_PLACE);
	ck_assert_int_eq(errno, ENOENT);
	snprintf(path, sizeof(path), "%s/000001.pts", dir);
	ck_assert_int_eq(open_error(path), ST_SPOOL_PLACE);
	ck_assert_int_eq(errno, ENOTDIR);
	ck_assert_int_eq(unlink(path), 0);
	/* A lock that nobody holds does no harm; a directory that is not there is made. */
	spool_files_close(opened(dir, 0));
	log_remove(dir);
	dir = strdup("/tmp/pytop-test-made");
	spool_files_close(opened(dir, 0));
	log_remove(dir);
}
END_TEST

/* 10 segments of 1,000 bytes within 3,500: the last three stay, and who read the first reads on. */
START_TEST(test_limit)
{
	char *dir = log_directory(), byte;
	struct spool_files *files = opened(dir, 3500);
	struct spool_cut early, late;

	write_batch(files, 1, 500, ST_OK);
	write_batch(files, 1, 500, ST_OK);
	ck_assert_int_eq(spool_files_cut(files, &early), ST_OK);
	for (uint32_t segment = 2; segment <= 10; segment++) {
		write_batch(files, segment, 1000, ST_OK);
		ck_assert_uint_le(spool_files_bytes(files), 3500);
	}
	ck_assert_uint_eq(spool_files_bytes(files), 3000);
	ck_assert_int_eq(spool_files_first_tick(files), 8);
	ck_assert_uint_eq(entries_of(dir), 4);
	ck_assert_int_eq(spool_files_cut(files, &late), ST_OK);
	ck_assert_uint_eq(late.count, 3);
	ck_assert_uint_eq(late.segments[0].number, 8);
	ck_assert_uint_eq(early.count, 1);
	ck_assert_uint_eq(early.segments[0].size, 1000);
	ck_assert_int_eq(pread(early.segments[0].fd, &byte, 1, 999), 1);
	ck_assert_int_eq(byte, 1);
	spool_cut_free(&early);
	spool_cut_free(&late);
	spool_files_close(files);
	log_remove(dir);
}
END_TEST

START_TEST(test_segment_bytes)
{
	struct spool_files *files = opened(NULL, UINT64_C(1) << 40);

	ck_assert_uint_eq(spool_files_segment_bytes(files), 32 << 20);
	spool_files_close(files);
	files = opened(NULL, 8 << 20);
	ck_assert_uint_eq(spool_files_segment_bytes(files), 1 << 20);
	spool_files_close(files);
}
END_TEST

/* A file that cannot grow stands for a full disk: what did not fit is cut away, what did stays. */
START_TEST(test_full)
{
	char *dir = log_directory();
	struct spool_files *files = opened(dir, 0);
	struct rlimit limit = { 1500, RLIM_INFINITY };
	struct spool_cut cut;
	struct stat file;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	write_batch(files, 1, 1000, ST_OK);
	write_batch(files, 1, 1000, ST_SPOOL_FULL);
	write_batch(files, 1, 10, ST_SPOOL_FULL);
	write_batch(files, 2, 10, ST_SPOOL_FULL);
	ck_assert_uint_eq(spool_files_bytes(files), 1000);
	ck_assert_int_eq(spool_files_cut(files, &cut), ST_OK);
	ck_assert_uint_eq(cut.count, 1);
	ck_assert_uint_eq(cut.segments[0].size, 1000);
	ck_assert_int_eq(fstat(cut.segments[0].fd, &file), 0);
	ck_assert_int_eq(file.st_size, 1000);
	spool_cut_free(&cut);
	spool_files_close(files);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	log_remove(dir);
}
END_TEST

/* Unnamed files leave nothing, unless they are kept: then the log can be read from there. */
START_TEST(test_unnamed_and_kept)
{
	char *dir = log_directory(), *keep = log_directory(), state[200], path[300], *text;
	const struct spool_options options = { .segment_bytes = 20000, .flush_time = 100000000 };
	static struct log_program p;
	struct spool *spool;
	struct spool_files *files;
	struct spool_cut cut;
	struct replay *r;
	char *live;

	setenv("TMPDIR", dir, 1);
	files = opened(NULL, 0);
	ck_assert_str_eq(spool_files_place(files), dir);
	log_open(&p, 21, NULL);
	ck_assert_int_eq(spool_open(&spool, &log_about, &options, p.names), ST_OK);
	for (int i = 0; i < 2000; i++) {
		log_next(&p);
		ck_assert_int_eq(spool_tick(spool, &p.tick, p.samples, p.count), ST_OK);
		log_drain(spool, files);
	}
	spool_seal(spool);
	log_drain(spool, files);
	ck_assert_uint_eq(entries_of(dir), 0);
	ck_assert_int_eq(spool_files_cut(files, &cut), ST_OK);
	ck_assert_uint_gt(cut.count, 3);
	ck_assert_int_eq(replay_open_cut(&r, &cut), ST_OK);
	live = log_replayed(r);
	replay_close(r);
	snprintf(state, sizeof(state), "%s/state/pytop", keep);
	ck_assert_int_eq(spool_files_keep(files, state, path, sizeof(path)), ST_OK);
	spool_cut_free(&cut);
	spool_files_close(files);
	ck_assert_uint_eq(entries_of(dir), 0);
	text = log_replay_dir(path);
	ck_assert_str_eq(text, live);
	ck_assert_uint_gt(strlen(text), 100000);
	spool_close(spool);
	log_close(&p);
	free(text);
	free(live);
	log_remove(strdup(path));
	ck_assert_int_eq(rmdir(state), 0);
	*strrchr(state, '/') = '\0';
	ck_assert_int_eq(rmdir(state), 0);
	log_remove(keep);
	log_remove(dir);
}
END_TEST

/* Copied when a link is not possible: onto another file system. */
START_TEST(test_kept_elsewhere)
{
	char path[300], byte;
	struct spool_files *files;
	struct stat here, there;
	int fd;

	unsetenv("TMPDIR");
	files = opened(NULL, 0);
	if (stat(spool_files_place(files), &here) || stat("/dev/shm", &there) ||
	    here.st_dev == there.st_dev || access("/dev/shm", W_OK)) {
		spool_files_close(files);
		return;
	}
	write_batch(files, 7, 100000, ST_OK);
	ck_assert_int_eq(spool_files_keep(files, "/dev/shm/pytop-test-kept", path, sizeof(path)),
			 ST_OK);
	spool_files_close(files);
	fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	fd = openat(fd, "000007.pts", O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(lseek(fd, 0, SEEK_END), 100000);
	ck_assert_int_eq(pread(fd, &byte, 1, 99999), 1);
	ck_assert_int_eq(byte, 7);
	close(fd);
	log_remove(strdup(path));
	ck_assert_int_eq(rmdir("/dev/shm/pytop-test-kept"), 0);
}
END_TEST

UNIT_MAIN("spool_files", test_directory_rules, test_limit, test_segment_bytes, test_full,
	  test_unnamed_and_kept, test_kept_elsewhere)
