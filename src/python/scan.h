/*
 * scan: finds CPython by content where no symbol or section names it: the cookie of 3.13+, the
 * text that sys.version is made of, and, for older versions, the list of interpreters by its
 * self-consistency. Only writable data of one image is looked through, at most SCAN_LIMIT bytes
 * of it.
 */
#ifndef PYTOP_PYTHON_SCAN_H
#define PYTOP_PYTHON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/status.h"
#include "python/layout.h"
#include "target/image.h"
#include "target/maps.h"
#include "target/memory.h"

#define SCAN_LIMIT (64u << 20)
#define SCAN_RANGES_MAX 16

/* Where to look: the writable ranges of an image. */
struct scan {
	struct memory *memory;
	const struct maps *maps;
	struct image_range ranges[SCAN_RANGES_MAX];
	size_t range_count;
};

void scan_open(struct scan *scan, const struct image *image, const struct maps *maps,
	       struct memory *memory);

/* All three: ST_AGAIN when there is none; ST_ENDED, ST_DENIED, ST_NO_MEMORY. */

/* The address of the 8 bytes "xdebugpy", which begin _PyRuntime from 3.13 on. */
enum status scan_cookie(remote_addr *address, const struct scan *scan) MUST_CHECK;

/*
 * The version from the buffer of Py_GetVersion(), which is filled early in every interpreter's
 * start.
 */
enum status scan_version(struct py_version *version, const struct scan *scan) MUST_CHECK;

/* _PyRuntime of a version before 3.13, by its list of interpreters. */
enum status scan_runtime(remote_addr *address, const struct scan *scan,
			 const struct py_layout *layout) MUST_CHECK;

/*
 * Parse what Py_GetVersion() says, at the start of text: "3.8.18 (default, ...", "3.12.0rc1+
 * (heads/...". False when text does not begin like that.
 */
bool scan_version_text(struct py_version *version, struct bytes text);

#endif
