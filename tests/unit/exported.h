/*
 * exported: a folder of a test's own, a recording written into it, and what the file then holds.
 */
#ifndef PYTOP_TESTS_EXPORTED_H
#define PYTOP_TESTS_EXPORTED_H

#include <dirent.h>
#include <sys/stat.h>
#include <zlib.h>

#include "export/export.h"
#include "recording.h"

static const struct export_options exported_options = { .kind = KIND_WALL,
							.owner_uid = (uid_t)-1,
							.owner_gid = (gid_t)-1 };

/* A fresh folder; each case runs in a process of its own, which ends in it. */
static inline void exported_folder(char path[64])
{
	strcpy(path, "/tmp/pytop-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(path));
	ck_assert_int_eq(chdir(path), 0);
}

static inline size_t exported_files(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	return n;
}

static inline void exported_remove(const char *path)
{
	DIR *dir = opendir(path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	ck_assert_int_eq(rmdir(path), 0);
}

/* The whole of a file, unpacked when it is packed, terminated; freed by the caller. */
static inline char *exported_read(const char *path, size_t *size)
{
	gzFile file = gzopen(path, "rb");
	size_t capacity = 1 << 16;
	char *text = malloc(capacity);
	int n;

	ck_assert_ptr_nonnull(file);
	*size = 0;
	while ((n = gzread(file, text + *size, (unsigned)(capacity - *size - 1))) > 0) {
		*size += (size_t)n;
		if (*size + 1 == capacity)
			text = realloc(text, capacity *= 2);
	}
	ck_assert_int_eq(n, 0);
	gzclose(file);
	text[*size] = '\0';
	return text;
}

static inline void exported_write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

/* The recording in the format that path names. */
static inline char *exported_text(struct recording *r, const char *path,
				  const struct export_options *options,
				  struct export_result *result)
{
	const struct export_format *format = export_format_by_path(path);
	size_t size;

	ck_assert_ptr_nonnull(format);
	ck_assert_int_eq(
		export_write(format, recording_replay(r), path, options, result, NULL, NULL),
		ST_OK);
	return exported_read(path, &size);
}

#endif
