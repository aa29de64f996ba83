/*
 * image: an ELF file that is mapped in the target: its symbols, sections and load bias.
 *
 * The very file that is mapped is opened: /proc/PID/map_files (needs rights), else the exe link,
 * else the path inside the target's root when it is the same file by device and inode, or by its
 * first page; else the dynamic symbols come from memory. The parser (libelf) takes bytes or a
 * descriptor, which is read, never mapped: a file that shrinks meanwhile gives an error and no
 * signal.
 */
#ifndef PYTOP_TARGET_IMAGE_H
#define PYTOP_TARGET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "target/maps.h"
#include "target/memory.h"

#define IMAGE_SIZE_LIMIT (1u << 30)

struct image;

struct image_range {
	uint64_t address; /* in the target (bias added) */
	uint64_t size;
};

/* One file mapped in the process; pointers into struct maps. */
struct image_file {
	const struct mapping *first; /* the lowest mapping of the group that holds the code */
	const char *path;
	bool is_exe;
};

#define IMAGE_FILES_MAX 4096

/*
 * Every distinct file with an executable mapping, ascending, but the program's own file first;
 * *files is allocated, freed by the caller; at most IMAGE_FILES_MAX.
 */
enum status image_files(const struct maps *maps, int proc_fd, struct image_file **files,
			size_t *count) MUST_CHECK;

/*
 * Open the ELF file behind a mapping. ST_BAD_DATA: not a program or library of this machine, in
 * 64 bits; ST_TOO_BIG; memory's errors where only memory is left to be read.
 */
enum status image_open(struct image **image, const struct image_file *file, const struct maps *maps,
		       int proc_fd, struct memory *memory) MUST_CHECK;
/* The same over bytes, which are copied; bias is what is added to the file's addresses. */
enum status image_open_bytes(struct image **image, struct bytes file, uint64_t bias) MUST_CHECK;
/*
 * The same over a regular file; fd becomes the image's with ST_OK alone. The bias is 0 until it
 * is set.
 */
enum status image_open_fd(struct image **image, int fd) MUST_CHECK;
/*
 * The same over what is in memory, with the ELF header at address: dynamic symbols and segments, no
 * sections and no file's bytes.
 */
enum status image_open_memory(struct image **image, struct memory *memory,
			      remote_addr address) MUST_CHECK;
void image_close(struct image *image);

/* Work out the bias from where the file is mapped; ST_BAD_DATA when no mapping fits a segment. */
enum status image_set_bias(struct image *image, const struct image_file *file,
			   const struct maps *maps) MUST_CHECK;
uint64_t image_bias(const struct image *image);

/* A defined symbol of .dynsym or .symtab, by its exact name; ST_AGAIN when there is none. */
enum status image_symbol(const struct image *image, const char *name,
			 struct image_range *range) MUST_CHECK;
/* A section by name; ST_AGAIN when there is none. */
enum status image_section(const struct image *image, const char *name,
			  struct image_range *range) MUST_CHECK;
/*
 * The bytes of the file at a (biased) address as the file has them, for constants in .rodata; at
 * most IMAGE_BYTES_MAX. Empty when the file has none there. They live as long as the image.
 */
#define IMAGE_BYTES_MAX (1u << 20)
struct bytes image_bytes(const struct image *image, uint64_t address, size_t size);

/* The writable PT_LOAD ranges (data and bss) as addresses in the target; at most *count are stored;
 * *count gets how many were. */
void image_writable(const struct image *image, struct image_range *ranges, size_t *count);

#endif
