/*
 * runtime: from a process to the CPython inside it.
 *
 * Every mapped file that may hold an interpreter is a candidate: the exe, then what is named
 * libpython*, then any file that defines _PyRuntime; last, by content, what is stripped of all
 * names. A candidate counts only when proof.c finds a living interpreter there, so that of two
 * copies (an exe and a library) the living one is taken, and garbage never. What is there but
 * not alive yet is ST_STARTING; the caller comes back.
 *
 * Called once a target by the sampler, and a little of it by the picker. tids: by the reader of
 * old versions.
 */
#include "python/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "python/layouts.h"
#include "python/offsets.h"
#include "python/proof.h"
#include "python/scan.h"
#include "target/image.h"

/* One search through a process. */
struct search {
	int proc_fd;
	struct memory *memory;
	struct maps maps;
	struct image_file *files;
	size_t file_count;

	struct py_runtime runtime; /* of the candidate being looked at */
	enum status status;        /* the best of the candidates that failed */
	char what[64];             /* and its version */
};

void runtime_version_text(char *buf, size_t size, const struct py_version *version)
{
	const char *level = version->level == 'a'   ? "a"
			    : version->level == 'b' ? "b"
			    : version->level == 'c' ? "rc"
						    : NULL;
	char serial[8] = "";

	if (level)
		snprintf(serial, sizeof(serial), "%s%u", level, version->serial);
	snprintf(buf, size, "%u.%u.%u%s%s%s", version->major, version->minor, version->micro,
		 serial, version->free_threaded ? " free-threaded" : "",
		 version->debug ? " debug" : "");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* PY_VERSION_HEX, which from 3.11 on stands in the image as the constant Py_Version. */
static bool version_from_image(struct py_version *version, const struct image *image)
{
	struct image_range range;
	struct bytes bytes;
	uint32_t hex;
	unsigned level;

	if (image_symbol(image, "Py_Version", &range) != ST_OK)
		return false;
	bytes = image_bytes(image, range.address, sizeof(hex));
	if (!bytes_u32(bytes, 0, &hex))
		return false;
	level = hex >> 4 & 15;
	*version = (struct py_version){
		.major = (uint8_t)(hex >> 24),
		.minor = (uint8_t)(hex >> 16),
		.micro = (uint8_t)(hex >> 8),
		.level = level == 0xa   ? 'a'
			 : level == 0xb ? 'b'
			 : level == 0xc ? 'c'
					: 'f',
		.serial = hex & 15,
	};
	return version->major == 3;
}

/* Before 3.13: from the image, else from the text that the interpreter makes as it starts. */
static enum status find_version(const struct search *s, const struct image *image,
				struct py_version *version)
{
	struct scan scan;

	if (version_from_image(version, image))
		return ST_OK;
	scan_open(&scan, image, &s->maps, s->memory);
	return scan_version(version, &scan);
}

static enum status find_layout(struct search *s, const struct image *image)
{
	struct py_layout *layout = &s->runtime.layout;
	uint8_t raw[OFFSETS_SIZE];
	struct bytes table = { raw, sizeof(raw) };
	struct py_version version;
	enum status status = memory_read(s->memory, s->runtime.address, raw, sizeof(raw));

	if (status == ST_FAULT)
		table.size = 0;
	else if (status != ST_OK)
		return status;
	if (offsets_version(&version, table) == ST_OK) {
		status = offsets_parse(layout, table);
	} else {
		status = find_version(s, image, &version);
		if (status == ST_AGAIN)
			return ST_STARTING;
		if (status == ST_OK)
			status = layouts_find(layout, &version);
	}
	if (status == ST_OK || status == ST_UNSUPPORTED_VERSION)
		runtime_version_text(s->runtime.version_text, sizeof(s->runtime.version_text),
				     &version);
	return status;
}

/* Is there an interpreter whose _PyRuntime is at address? */
static enum status try_address(struct search *s, const struct image *image, remote_addr address)
{
	enum status status;

	s->runtime = (struct py_runtime){ .address = address, .tid_offset = LAYOUT_NONE };
	status = find_layout(s, image);
	if (status != ST_OK)
		return status;
	if (s->runtime.layout.version.free_threaded)
		return ST_UNSUPPORTED_BUILD; /* lines and states are not ready for it */
	s->runtime.interp_head = address + s->runtime.layout.runtime.interpreters_head;
	return proof_find(&s->runtime, s->memory);
}

/* 2.7 to 3.6 have no _PyRuntime, only functions that reach static variables. */
static enum status try_ancient(struct search *s, const struct image *image)
{
	struct image_range range;
	struct py_version version;
	enum status status = image_symbol(image, "PyInterpreterState_Head", &range);

	if (status != ST_OK)
		return status;
	status = find_version(s, image, &version);
	if (status == ST_AGAIN)
		return ST_STARTING;
	if (status != ST_OK)
		return status;
	runtime_version_text(s->runtime.version_text, sizeof(s->runtime.version_text), &version);
	return ST_UNSUPPORTED_VERSION;
}

static enum status try_names(struct search *s, const struct image *image)
{
	struct image_range range;

	if (image_section(image, ".PyRuntime", &range) == ST_OK ||
	    image_symbol(image, "_PyRuntime", &range) == ST_OK)
		return try_address(s, image, range.address);
	return try_ancient(s, image);
}

static enum status try_content(struct search *s, const struct image *image)
{
	struct py_version version;
	struct py_layout layout;
	struct scan scan;
	remote_addr address;
	enum status status;

	scan_open(&scan, image, &s->maps, s->memory);
	status = scan_cookie(&address, &scan);
	if (status == ST_OK)
		return try_address(s, image, address);
	if (status == ST_AGAIN)
		status = scan_version(&version, &scan);
	if (status != ST_OK)
		return status;
	s->runtime = (struct py_runtime){ .tid_offset = LAYOUT_NONE };
	runtime_version_text(s->runtime.version_text, sizeof(s->runtime.version_text), &version);
	status = layouts_find(&layout, &version);
	if (status == ST_OK)
		status = scan_runtime(&address, &scan, &layout);
	if (status == ST_OK)
		return try_address(s, image, address);
	return status == ST_AGAIN ? ST_STARTING : status;
}

/* Before 3.8 there will be no support; after it there may be. */
static enum status name_version(const struct search *s, enum status status)
{
	unsigned major, minor;

	if (status == ST_UNSUPPORTED_VERSION &&
	    sscanf(s->runtime.version_text, "%u.%u", &major, &minor) == 2 &&
	    (major < 3 || (major == 3 && minor < 8)))
		return ST_OLD_VERSION;
	return status;
}

/* Keep the failure that says most; true when the search is over. */
static bool settle(struct search *s, enum status status)
{
	switch (status) {
	case ST_OK:
	case ST_ENDED:
	case ST_DENIED:
	case ST_NO_MEMORY:
		s->status = status;
		return true;
	case ST_STARTING:
	case ST_UNSUPPORTED_VERSION:
	case ST_UNSUPPORTED_BUILD:
		if (s->status != ST_STARTING)
			s->status = name_version(s, status);
		memcpy(s->what, s->runtime.version_text, sizeof(s->what));
		return false;
	default:
		return false; /* not Python, or not an ELF file of ours */
	}
}

typedef enum status (*image_trier)(struct search *s, const struct image *image);

static bool try_file(struct search *s, const struct image_file *file, image_trier try)
{
	struct image *image;
	enum status status = image_open(&image, file, &s->maps, s->proc_fd, s->memory);
	int errnum;
	bool over;

	/*
	 * An image that cannot be opened is not the target that refuses: memory and maps say
	 * that.
	 */
	if (status != ST_OK)
		return settle(s, status == ST_ENDED ? status : ST_AGAIN);
	over = settle(s, try(s, image));
	errnum = errno;
	image_close(image);
	errno = errnum;
	return over;
}

static bool is_named_python(const struct image_file *file)
{
	return file->is_exe || strncmp(base_name(file->path), "libpython", 9) == 0;
}

/* python, python3, python3.14t, python3-dbg: what distributions call the interpreter itself. */
static bool is_interpreter_name(const char *name)
{
	if (strncmp(name, "python", 6))
		return false;
	name += 6;
	name += strspn(name, "0123456789.");
	name += strspn(name, "dmtu");
	return !*name || strcmp(name, "-dbg") == 0;
}

static bool is_surely_python(const struct image_file *file)
{
	const char *name = base_name(file->path);

	return file->is_exe ? is_interpreter_name(name) : is_named_python(file);
}

/* The other Pythons, by what their images are called. */
static enum status find_foreign(const struct search *s)
{
	for (size_t i = 0; i < s->file_count; i++) {
		const char *name = base_name(s->files[i].path);

		if (strncmp(name, "libpypy", 7) == 0 ||
		    (s->files[i].is_exe && strncmp(name, "pypy", 4) == 0))
			return ST_IS_PYPY;
		if (strncmp(name, "libpythonvm", 11) == 0 || strstr(name, "graalpy"))
			return ST_IS_GRAALPY;
	}
	return ST_OK;
}

/* A 32-bit exe: its ELF header says so where it is mapped. */
static bool is_32_bit(const struct search *s)
{
	uint8_t ident[5];

	return s->file_count && s->files[0].is_exe &&
	       memory_read(s->memory, s->files[0].first->start, ident, sizeof(ident)) == ST_OK &&
	       memcmp(ident,
		      "\x7f"
		      "ELF",
		      4) == 0 &&
	       ident[4] == 1;
}

/* Nothing was found at all: what is it then? */
static enum status judge(const struct search *s)
{
	uint8_t byte;

	if (!s->file_count)
		return ST_STARTING; /* in the middle of an exec */
	/* a process of which only the maps may be read tells nothing */
	if (memory_read(s->memory, s->files[0].first->start, &byte, 1) == ST_DENIED)
		return ST_DENIED;
	if (is_32_bit(s))
		return ST_IS_32_BIT;
	if (s->file_count && s->files[0].is_exe && is_interpreter_name(base_name(s->files[0].path)))
		return ST_STARTING; /* its library is not mapped yet */
	return ST_NOT_PYTHON;
}

static enum status search_files(struct search *s, bool thorough)
{
	s->status = find_foreign(s);
	if (s->status != ST_OK)
		return s->status;
	s->status = ST_NOT_PYTHON;
	for (size_t i = 0; i < s->file_count; i++)
		if (is_named_python(&s->files[i]) && try_file(s, &s->files[i], try_names))
			return s->status;
	for (size_t i = 0; i < s->file_count && thorough && s->status == ST_NOT_PYTHON; i++)
		if (!is_named_python(&s->files[i]) && try_file(s, &s->files[i], try_names))
			return s->status;
	for (size_t i = 0; i < s->file_count && s->status == ST_NOT_PYTHON; i++)
		if ((thorough || is_surely_python(&s->files[i])) &&
		    try_file(s, &s->files[i], try_content))
			return s->status;
	return s->status == ST_NOT_PYTHON ? judge(s) : s->status;
}

static enum status search(struct search *s, bool thorough)
{
	enum status status = maps_read(&s->maps, s->proc_fd);
	int errnum;

	if (status != ST_OK)
		return status;
	status = image_files(&s->maps, s->proc_fd, &s->files, &s->file_count);
	if (status == ST_OK) {
		status = search_files(s, thorough);
		if (status == ST_NOT_PYTHON && s->file_count)
			snprintf(s->what, sizeof(s->what), "%s", base_name(s->files[0].path));
	}
	errnum = errno;
	free(s->files);
	maps_free(&s->maps);
	errno = errnum;
	return status;
}

enum status runtime_find(struct py_runtime *runtime, int proc_fd, struct memory *memory, char *what,
			 size_t what_size)
{
	struct search s = { .proc_fd = proc_fd, .memory = memory };
	enum status status = search(&s, true);

	if (status == ST_OK)
		*runtime = s.runtime;
	else if (what && what_size)
		snprintf(what, what_size, "%s", s.what);
	return status;
}

enum status runtime_probe(struct py_version *version, int proc_fd, struct memory *memory)
{
	struct search s = { .proc_fd = proc_fd, .memory = memory };
	enum status status = search(&s, false);

	if (status == ST_STARTING)
		return ST_NOT_PYTHON;
	if (status == ST_OK)
		*version = s.runtime.layout.version;
	return status;
}

#define PTHREAD_SIZE 2048 /* of a control block looked through */
#define PTHREADS_TRIED 64

#if defined(__aarch64__)
#define TID_USUAL 208 /* glibc */
#else
#define TID_USUAL 720 /* glibc, x86-64 */
#endif

static int compare_tids(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

/*
 * How many different threads the words at one offset name. Different ones: old C libraries also
 * keep the process id in every block.
 */
static size_t count_tids(const uint8_t *blocks, size_t count, uint32_t offset, const int32_t *tids,
			 size_t m)
{
	int32_t seen[PTHREADS_TRIED];
	size_t different = 0;

	for (size_t i = 0; i < count; i++) {
		size_t known = 0;
		int32_t tid;

		memcpy(&tid, blocks + i * PTHREAD_SIZE + offset, sizeof(tid));
		if (!bsearch(&tid, tids, m, sizeof(tid), compare_tids))
			continue;
		while (known < different && seen[known] != tid)
			known++;
		if (known == different)
			seen[different++] = tid;
	}
	return different;
}

static size_t read_blocks(struct memory *memory, const uint64_t *pthreads, size_t n,
			  uint8_t *blocks)
{
	size_t count = 0;

	for (size_t i = 0; i < n && count < PTHREADS_TRIED; i++)
		if (memory_read(memory, pthreads[i], blocks + count * PTHREAD_SIZE, PTHREAD_SIZE) ==
		    ST_OK)
			count++;
	return count;
}

enum status runtime_learn_tid(struct py_runtime *runtime, struct memory *memory,
			      const uint64_t *pthreads, size_t n, const int32_t *tids, size_t m)
{
	uint8_t *blocks = malloc((size_t)PTHREADS_TRIED * PTHREAD_SIZE);
	int32_t *sorted = malloc((m ? m : 1) * sizeof(*sorted));
	uint32_t found = TID_USUAL;
	size_t count, best;

	if (!blocks || !sorted) {
		free(blocks);
		free(sorted);
		return ST_NO_MEMORY;
	}
	if (m)
		memcpy(sorted, tids, m * sizeof(*sorted));
	qsort(sorted, m, sizeof(*sorted), compare_tids);
	count = read_blocks(memory, pthreads, n, blocks);
	best = count_tids(blocks, count, TID_USUAL, sorted, m);
	for (uint32_t offset = 0; offset < PTHREAD_SIZE; offset += 4) {
		size_t different = count_tids(blocks, count, offset, sorted, m);

		if (different > best) {
			best = different;
			found = offset;
		}
	}
	free(blocks);
	free(sorted);
	if (!best)
		return ST_AGAIN;
	runtime->tid_offset = found;
	return ST_OK;
}
