/*
 * spool_files: the segments on disk. Used by the writer thread alone, except spool_files_cut()
 * (see there).
 *
 * With a directory: DIR/lock (flock) and DIR/000001.pts ...; without: unnamed O_TMPFILE files in
 * $TMPDIR, else /var/tmp, else /tmp (not memory-backed), of which nothing is left however pytop
 * dies.
 */
#ifndef PYTOP_RECORD_SPOOL_FILES_H
#define PYTOP_RECORD_SPOOL_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "record/spool.h"

struct spool_files;

/*
 * dir NULL: unnamed files. limit_bytes 0: min(2 GiB, a tenth of the free space). owner: who shall
 * own what is made (the caller under sudo); (uid_t)-1: leave. ST_SPOOL_LOCKED, ST_SPOOL_NOT_EMPTY,
 * ST_SPOOL_PLACE (errno kept).
 */
enum status spool_files_open(struct spool_files **files, const char *dir, uint64_t limit_bytes,
			     uid_t owner_uid, gid_t owner_gid) MUST_CHECK;
void spool_files_close(struct spool_files *files);

/*
 * Append one batch with one write. ST_SPOOL_FULL: the disk is full: cut back to the last whole
 * block, and everything from now on is refused with the same status; what was written stays
 * readable.
 */
enum status spool_files_write(struct spool_files *files,
			      const struct spool_batch *batch) MUST_CHECK;

/*
 * The log as it is after the batches written so far: duplicated descriptors and valid sizes,
 * oldest first.
 */
struct spool_cut {
	struct spool_cut_segment {
		int fd;
		uint64_t size;
		uint32_t number;
	} * segments; /* allocated */
	size_t count;
};
/* In the writer's thread. Freed by the caller, anywhere. */
enum status spool_files_cut(struct spool_files *files, struct spool_cut *cut) MUST_CHECK;
void spool_cut_free(struct spool_cut *cut);
/*
 * The same of a kept directory: its segments, oldest first. ST_SPOOL_EMPTY, ST_SYSTEM (errno
 * kept).
 */
enum status spool_cut_open(struct spool_cut *cut, const char *dir) MUST_CHECK;

/* How big segments should be so that the limit is kept well: for struct spool_options. */
uint64_t spool_files_segment_bytes(const struct spool_files *files);
uint64_t spool_files_bytes(const struct spool_files *files);         /* on disk now */
nanoseconds spool_files_first_tick(const struct spool_files *files); /* oldest kept; 0: none */
const char *spool_files_place(const struct spool_files *files);

/*
 * The terminal is lost: give unnamed segments names in a new directory below keep_in
 * ($XDG_STATE_HOME/pytop/): linked, or copied on another file system. The path of it goes to path.
 */
enum status spool_files_keep(struct spool_files *files, const char *keep_in, char *path,
			     size_t size) MUST_CHECK;

#endif
