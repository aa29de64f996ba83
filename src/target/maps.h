/*
 * maps: what is mapped where, from the text of /proc/PID/maps. The parser takes bytes.
 */
#ifndef PYTOP_TARGET_MAPS_H
#define PYTOP_TARGET_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

#define MAPS_LIMIT 262144 /* mappings; more are left out and truncated is set */

struct mapping {
	uint64_t start, end; /* [start, end) */
	uint64_t offset;     /* in the file */
	uint64_t inode;
	uint32_t device; /* maps_device(major, minor); 0: no file, or one of no device */
	bool readable, writable, executable, shared;
	bool deleted;     /* the name ended in " (deleted)" */
	const char *path; /* "": anonymous; unescaped (\012), without " (deleted)"; in maps.paths */
};

struct maps {
	struct mapping *items; /* ascending */
	size_t count;
	bool truncated;
	char *paths; /* what the items' paths point into */
};

/*
 * A device number as struct mapping has it: 12 bits of major, 20 of minor, as the kernel packs
 * it.
 */
uint32_t maps_device(unsigned major, unsigned minor);

/* Lines that are no mappings, or do not ascend, are skipped. ST_NO_MEMORY. */
enum status maps_parse(struct maps *maps, struct bytes text) MUST_CHECK;
/* Reads /proc/PID/maps whole. ST_ENDED, ST_DENIED (errno kept), ST_SYSTEM, ST_NO_MEMORY. */
enum status maps_read(struct maps *maps, int proc_fd) MUST_CHECK;
void maps_free(struct maps *maps);

/* The mapping that holds address, or NULL. */
const struct mapping *maps_find(const struct maps *maps, uint64_t address);

#endif
