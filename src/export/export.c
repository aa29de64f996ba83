/*
 * export: the table of formats, and one of them written to a file.
 *
 * Invariant: result is filled only when the file stands complete under its name. A format knows
 * neither the path nor how the file comes to be; this file knows nothing of what is inside.
 *
 * Called by the worker's thread and, for a path, by whoever asks for an export.
 */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "export/collapsed.h"
#include "export/flamegraph.h"
#include "export/gecko.h"
#include "export/sink.h"

#define NAME_MAX_BYTES 100 /* of the script's name in a file's name */
#define SAME_SECOND_MAX 99 /* files of one second that are told apart */

const struct export_format *const export_formats[] = { &gecko_format, &flamegraph_format,
						       &collapsed_format, NULL };

const struct export_format *export_format_by_name(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (!strcmp(export_formats[i]->name, name))
			return export_formats[i];
	return NULL;
}

/* path ends in one of the space-separated suffixes, after at least one character of a name. */
static bool ends_in(const char *path, const char *suffixes)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t length = strlen(base);

	while (*suffixes) {
		size_t n = strcspn(suffixes, " ");

		if (length > n && !strncasecmp(base + length - n, suffixes, n))
			return true;
		suffixes += n + strspn(suffixes + n, " ");
	}
	return false;
}

const struct export_format *export_format_by_path(const char *path)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (ends_in(path, export_formats[i]->suffixes))
			return export_formats[i];
	return NULL;
}

enum status export_write(const struct export_format *format, struct replay *replay,
			 const char *path, const struct export_options *options,
			 struct export_result *result, export_progress progress, void *context)
{
	struct export_result done = { 0 };
	struct export_sink *sink;
	enum status status;

	if (strlen(path) >= sizeof(done.path)) {
		errno = ENAMETOOLONG;
		return ST_CANNOT_WRITE;
	}
	strcpy(done.path, path);
	status = sink_open(&sink, path, options->owner_uid, options->owner_gid);
	if (status != ST_OK)
		return status;
	status = format->write(sink, replay, options, &done, progress, context);
	if (status == ST_OK && progress && !progress(context, 1))
		status = ST_CANCELLED;
	if (status == ST_OK)
		status = sink_commit(sink, &done.bytes);
	else
		sink_abandon(sink);
	if (status == ST_OK)
		*result = done;
	return status;
}

/*
 * The script's name as part of a file's name: what is not a letter, digit or harmless becomes
 * '_'.
 */
static void plain_name(char *out, size_t size, const char *name)
{
	size_t at = 0, left = strlen(name);

	while (left) {
		uint32_t c;
		size_t n = text_decode(name, left, &c);
		bool keep = c >= 0x80 ? text_is_safe(c)
				      : strchr("._+-", (int)c) || (c >= '0' && c <= '9') ||
						(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!at && (c == '.' || c == '-'))
			keep = false;
		if (at + n >= size)
			break;
		memcpy(out + at, keep ? name : "_", keep ? n : 1);
		at += keep ? n : 1;
		name += n;
		left -= n;
	}
	out[at] = '\0';
	if (!at)
		snprintf(out, size, "python");
}

/* Tried, not asked: for root access() says yes where nothing can be made. */
static bool can_write(const char *folder)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/.pytop-%ld.part", folder, (long)getpid());
	int fd = -1;

	if (n > 0 && (size_t)n < sizeof(path))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	close(fd);
	unlink(path);
	return true;
}

/* A folder that can be written: "" for the current one. */
static const char *find_folder(void)
{
	const char *tmpdir = getenv("TMPDIR");
	const char *const folders[] = { ".", getenv("HOME"), tmpdir && *tmpdir ? tmpdir : "/tmp" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (folders[i] && *folders[i] && can_write(folders[i]))
			return i ? folders[i] : "";
	return NULL;
}

enum status export_path(char *path, size_t size, const struct export_format *format,
			const char *name, pid_t pid, int64_t wall_seconds, bool *elsewhere)
{
	const char *folder = find_folder();
	char plain[NAME_MAX_BYTES], when[32] = "";
	time_t seconds = (time_t)wall_seconds;
	struct stat there;
	struct tm tm;

	if (!folder)
		return ST_NOWHERE_TO_WRITE;
	plain_name(plain, sizeof(plain), name);
	if (localtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		char again[16] = "";
		int n;

		if (i > 1)
			snprintf(again, sizeof(again), "-%d", i);
		n = snprintf(path, size, "%s%s%s-%ld-%s%s%s", folder, *folder ? "/" : "", plain,
			     (long)pid, when, again, format->suffix);
		if (n < 0 || (size_t)n >= size)
			return ST_TOO_BIG;
		if (lstat(path, &there))
			break;
	}
	*elsewhere = *folder != '\0';
	return ST_OK;
}
