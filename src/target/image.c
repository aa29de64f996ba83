/*
 * image: what an ELF file says of itself, at the addresses it has in the target.
 *
 * Two things stand behind an image: libelf over a descriptor or over bytes, or the dynamic
 * symbols found in memory. Invariant: elf is NULL in the second case alone; segments are copied
 * once, at the opening; what is asked later is looked up in libelf, which checks each offset
 * against the file's size, and the number of things looked at is capped here. An address that
 * comes out is still only the file's claim: whoever reads there finds out. Called by python/ at
 * the start, never in a tick.
 */
#include "target/image.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "target/dynamic.h"

#define LOADS_MAX 64
#define HEADERS_MAX 256
#define SECTIONS_MAX 65536
#define SYMBOLS_MAX ((size_t)4 << 20)

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#elif defined(__riscv)
#define MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define MACHINE EM_PPC64
#else
#error "unknown machine: name its EM_ number here"
#endif

struct segment {
	uint64_t offset, address, file_size, memory_size;
	bool writable, executable;
};

struct image {
	Elf *elf;
	int fd;     /* -1: none */
	char *copy; /* of the bytes, for image_open_bytes */
	uint64_t bias;
	struct segment loads[LOADS_MAX];
	size_t load_count;
	struct dynamic dynamic;
};

static void add_load(struct image *image, const Elf64_Phdr *header)
{
	if (header->p_type != PT_LOAD || image->load_count == LOADS_MAX)
		return;
	image->loads[image->load_count++] = (struct segment){
		.offset = header->p_offset,
		.address = header->p_vaddr,
		.file_size = header->p_filesz,
		.memory_size = header->p_memsz,
		.writable = header->p_flags & PF_W,
		.executable = header->p_flags & PF_X,
	};
}

static bool is_ours(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == MACHINE &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/* Take over elf (NULL: it could not be opened) and what is behind it. */
static enum status adopt(struct image *image, Elf *elf)
{
	GElf_Ehdr header;
	GElf_Phdr segment;
	size_t count;

	image->elf = elf;
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    !is_ours(&header) || elf_getphdrnum(elf, &count) != 0)
		return ST_BAD_DATA;
	for (size_t i = 0; i < count && i < HEADERS_MAX; i++)
		if (gelf_getphdr(elf, (int)i, &segment))
			add_load(image, &segment);
	return image->load_count > 0 ? ST_OK : ST_BAD_DATA;
}

static struct image *new_image(void)
{
	struct image *image = alloc_zero(1, sizeof(*image));

	if (image)
		image->fd = -1;
	return image;
}

/* The end of every opening: hand it out, or take it back. */
static enum status finish(struct image **image, struct image *opened, enum status status)
{
	if (status == ST_OK)
		*image = opened;
	else
		image_close(opened);
	return status;
}

enum status image_open_bytes(struct image **image, struct bytes file, uint64_t bias)
{
	struct image *opened = new_image();

	if (!opened)
		return ST_NO_MEMORY;
	if (file.size > IMAGE_SIZE_LIMIT)
		return finish(image, opened, ST_TOO_BIG);
	opened->bias = bias;
	opened->copy = alloc_zero(file.size, 1);
	if (!opened->copy)
		return finish(image, opened, ST_NO_MEMORY);
	if (file.size > 0)
		memcpy(opened->copy, file.data, file.size);
	if (elf_version(EV_CURRENT) == EV_NONE || file.size < sizeof(Elf64_Ehdr))
		return finish(image, opened, ST_BAD_DATA);
	return finish(image, opened, adopt(opened, elf_memory(opened->copy, file.size)));
}

enum status image_open_fd(struct image **image, int fd)
{
	struct image *opened;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return ST_SYSTEM;
	if (!S_ISREG(st.st_mode))
		return ST_BAD_DATA;
	if (st.st_size > (off_t)IMAGE_SIZE_LIMIT)
		return ST_TOO_BIG;
	opened = new_image();
	if (!opened)
		return ST_NO_MEMORY;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return finish(image, opened, ST_BAD_DATA);
	enum status status = adopt(opened, elf_begin(fd, ELF_C_READ, NULL));

	if (status == ST_OK)
		opened->fd = fd;
	return finish(image, opened, status);
}

/* Segments and the place of the dynamic one, from the program headers in memory. */
static enum status read_headers(struct image *image, struct memory *memory, remote_addr address,
				Elf64_Phdr *dynamic)
{
	Elf64_Ehdr header;
	enum status status = memory_read(memory, address, &header, sizeof(header));

	if (status != ST_OK)
		return status;
	if (!is_ours(&header) || header.e_phentsize != sizeof(Elf64_Phdr))
		return ST_BAD_DATA;
	for (unsigned i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
		Elf64_Phdr segment;

		status = memory_read(memory, address + header.e_phoff + i * sizeof(segment),
				     &segment, sizeof(segment));
		if (status != ST_OK)
			return status;
		add_load(image, &segment);
		if (segment.p_type == PT_DYNAMIC)
			*dynamic = segment;
	}
	return image->load_count > 0 ? ST_OK : ST_BAD_DATA;
}

enum status image_open_memory(struct image **image, struct memory *memory, remote_addr address)
{
	struct image *opened = new_image();
	Elf64_Phdr dynamic = { 0 };

	if (!opened)
		return ST_NO_MEMORY;
	enum status status = read_headers(opened, memory, address, &dynamic);

	for (size_t i = 0; status == ST_OK && i < opened->load_count; i++)
		if (opened->loads[i].offset == 0)
			opened->bias = address - opened->loads[i].address;
	if (status == ST_OK && dynamic.p_type == PT_DYNAMIC)
		status = dynamic_read(&opened->dynamic, memory, opened->bias + dynamic.p_vaddr,
				      dynamic.p_memsz, opened->bias);
	return finish(image, opened, status == ST_AGAIN ? ST_OK : status);
}

void image_close(struct image *image)
{
	if (!image)
		return;
	if (image->elf)
		elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->copy);
	dynamic_free(&image->dynamic);
	free(image);
}

/* Does this mapping hold the beginning of this segment or a part of it? */
static bool holds(const struct mapping *mapping, const struct segment *load)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t end;

	if (__builtin_add_overflow(load->offset, load->file_size, &end))
		return false;
	return mapping->offset >= (load->offset & ~(page - 1)) && mapping->offset < end;
}

/* The code decides; data only where no code is mapped from the file (text moved to huge pages). */
static bool find_bias(struct image *image, const struct image_file *file, const struct maps *maps,
		      bool executable)
{
	const struct mapping *end = maps->items + maps->count;

	for (const struct mapping *m = file->first; m < end; m++) {
		if (m->inode != file->first->inode || m->device != file->first->device ||
		    m->executable != executable)
			continue;
		for (size_t i = 0; i < image->load_count; i++) {
			const struct segment *load = &image->loads[i];

			if (load->executable != executable || !holds(m, load))
				continue;
			image->bias = m->start - m->offset + load->offset - load->address;
			return true;
		}
	}
	return false;
}

enum status image_set_bias(struct image *image, const struct image_file *file,
			   const struct maps *maps)
{
	if (find_bias(image, file, maps, true) || find_bias(image, file, maps, false))
		return ST_OK;
	return ST_BAD_DATA;
}

uint64_t image_bias(const struct image *image)
{
	return image->bias;
}

static bool is_definition(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && type != STT_TLS &&
	       type != STT_SECTION && type != STT_FILE;
}

static void set_range(struct image_range *range, const struct image *image, uint64_t address,
		      uint64_t size)
{
	*range = (struct image_range){ image->bias + address, size };
}

/* Look for the symbol in one symbol table. */
static bool find_in_table(const struct image *image, Elf_Scn *section, const GElf_Shdr *header,
			  const char *name, struct image_range *range)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;

	for (size_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			return false;
		if (!is_definition(&symbol))
			continue;
		const char *found = elf_strptr(image->elf, header->sh_link, symbol.st_name);

		if (found && strcmp(found, name) == 0) {
			set_range(range, image, symbol.st_value, symbol.st_size);
			return true;
		}
	}
	return false;
}

static bool find_in_dynamic(const struct image *image, const char *name, struct image_range *range)
{
	for (size_t i = 0; i < image->dynamic.count; i++) {
		const Elf64_Sym *symbol = &image->dynamic.symbols[i];

		if (is_definition(symbol) && strcmp(dynamic_name(&image->dynamic, i), name) == 0) {
			set_range(range, image, symbol->st_value, symbol->st_size);
			return true;
		}
	}
	return false;
}

enum status image_symbol(const struct image *image, const char *name, struct image_range *range)
{
	Elf_Scn *section = NULL;

	if (!image->elf)
		return find_in_dynamic(image, name, range) ? ST_OK : ST_AGAIN;
	for (size_t i = 0; i < SECTIONS_MAX && (section = elf_nextscn(image->elf, section)); i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
			continue;
		if (find_in_table(image, section, &header, name, range))
			return ST_OK;
	}
	return ST_AGAIN;
}

enum status image_section(const struct image *image, const char *name, struct image_range *range)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (!image->elf || elf_getshdrstrndx(image->elf, &names) != 0)
		return ST_AGAIN;
	for (size_t i = 0; i < SECTIONS_MAX && (section = elf_nextscn(image->elf, section)); i++) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		const char *found = elf_strptr(image->elf, names, header.sh_name);

		if (found && strcmp(found, name) == 0) {
			set_range(range, image, header.sh_addr, header.sh_size);
			return ST_OK;
		}
	}
	return ST_AGAIN;
}

struct bytes image_bytes(const struct image *image, uint64_t address, size_t size)
{
	uint64_t at = address - image->bias;

	if (!image->elf || size == 0 || size > IMAGE_BYTES_MAX)
		return (struct bytes){ 0 };
	for (size_t i = 0; i < image->load_count; i++) {
		const struct segment *load = &image->loads[i];
		uint64_t into = at - load->address;

		if (at < load->address || into >= load->file_size ||
		    size > load->file_size - into || load->offset > IMAGE_SIZE_LIMIT ||
		    into > IMAGE_SIZE_LIMIT)
			continue;
		Elf_Data *data = elf_getdata_rawchunk(image->elf, (int64_t)(load->offset + into),
						      size, ELF_T_BYTE);

		if (data && data->d_buf && data->d_size >= size)
			return (struct bytes){ data->d_buf, size };
	}
	return (struct bytes){ 0 };
}

void image_writable(const struct image *image, struct image_range *ranges, size_t *count)
{
	size_t stored = 0;

	for (size_t i = 0; i < image->load_count && stored < *count; i++)
		if (image->loads[i].writable)
			set_range(&ranges[stored++], image, image->loads[i].address,
				  image->loads[i].memory_size);
	*count = stored;
}
