/* image: symbols and sections at the addresses they have here, from files, bytes and memory. */
#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include "child.h"
#include "target/image.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

extern const char image_marker[];
const char image_marker[] = "what stands in the file";

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* This program, seen from outside. */
struct self {
	int proc;
	struct maps maps;
	struct memory memory;
	struct image_file *files;
	size_t count;
};

static void look_at(struct self *self, pid_t pid)
{
	self->proc = child_proc(pid);
	memory_open_process(&self->memory, pid, self->proc);
	ck_assert_int_eq(maps_read(&self->maps, self->proc), ST_OK);
	ck_assert_int_eq(image_files(&self->maps, self->proc, &self->files, &self->count), ST_OK);
	ck_assert_uint_gt(self->count, 0);
}

static void look_away(struct self *self)
{
	free(self->files);
	maps_free(&self->maps);
	memory_close(&self->memory);
	close(self->proc);
}

static const struct image_file *file_at(const struct self *self, const void *address)
{
	const struct mapping *m = maps_find(&self->maps, address_of(address));

	ck_assert_ptr_nonnull(m);
	for (size_t i = 0; i < self->count; i++)
		if (self->files[i].first->inode == m->inode &&
		    self->files[i].first->device == m->device)
			return &self->files[i];
	ck_abort_msg("no file at the address");
	return NULL;
}

START_TEST(own_program)
{
	struct self self;
	struct image *image;
	struct image_range range;

	look_at(&self, getpid());
	ck_assert(self.files[0].is_exe);
	ck_assert_ptr_eq(file_at(&self, image_marker), &self.files[0]);
	for (size_t i = 1; i < self.count; i++)
		ck_assert(!self.files[i].is_exe);
	ck_assert_int_eq(image_open(&image, &self.files[0], &self.maps, self.proc, &self.memory),
			 ST_OK);
	ck_assert_int_eq(image_symbol(image, "image_marker", &range), ST_OK);
	ck_assert_uint_eq(range.address, address_of(image_marker));
	ck_assert_uint_ge(range.size, sizeof(image_marker)); /* the sanitizers add a margin */
	struct bytes bytes = image_bytes(image, range.address, sizeof(image_marker));

	ck_assert_uint_eq(bytes.size, sizeof(image_marker));
	ck_assert_mem_eq(bytes.data, image_marker, sizeof(image_marker));
	ck_assert_int_eq(image_section(image, ".rodata", &range), ST_OK);
	ck_assert_uint_ge(address_of(image_marker), range.address);
	ck_assert_uint_lt(address_of(image_marker), range.address + range.size);
	ck_assert_int_eq(image_symbol(image, "image_marke", &range), ST_AGAIN);
	ck_assert_int_eq(image_section(image, ".nothing", &range), ST_AGAIN);
	ck_assert_uint_eq(image_bytes(image, 0, 8).size, 0);
	ck_assert_uint_eq(image_bytes(image, address_of(&self), 8).size, 0);
	ck_assert_uint_eq(image_bytes(image, address_of(image_marker), SIZE_MAX).size, 0);
	image_close(image);
	look_away(&self);
}
END_TEST

START_TEST(writable_ranges)
{
	static int data = 7, bss;
	struct self self;
	struct image *image;
	struct image_range ranges[8];
	size_t count = 8, found = 0, none = 0;

	look_at(&self, getpid());
	ck_assert_int_eq(image_open(&image, &self.files[0], &self.maps, self.proc, &self.memory),
			 ST_OK);
	image_writable(image, ranges, &count);
	for (size_t i = 0; i < count; i++) {
		found += address_of(&data) - ranges[i].address < ranges[i].size;
		found += address_of(&bss) - ranges[i].address < ranges[i].size;
	}
	ck_assert_uint_eq(found, 2);
	image_writable(image, ranges, &none);
	ck_assert_uint_eq(none, 0);
	image_close(image);
	look_away(&self);
}
END_TEST

/* The library's file and its image in memory agree with the linker. */
START_TEST(library_by_file_and_memory)
{
	void *function = dlsym(RTLD_DEFAULT, "elf_begin");
	struct self self;
	struct image *image;
	struct image_range range;

	ck_assert_ptr_nonnull(function);
	look_at(&self, getpid());
	const struct image_file *file = file_at(&self, function);

	if (file->is_exe) {
		printf("skip image library: linked statically\n");
		return;
	}
	ck_assert_int_eq(image_open(&image, file, &self.maps, self.proc, &self.memory), ST_OK);
	ck_assert_int_eq(image_symbol(image, "elf_begin", &range), ST_OK);
	ck_assert_uint_eq(range.address, address_of(function));
	uint64_t bias = image_bias(image);

	image_close(image);
	ck_assert_int_eq(image_open_memory(&image, &self.memory, file->first->start), ST_OK);
	ck_assert_uint_eq(image_bias(image), bias);
	ck_assert_int_eq(image_symbol(image, "elf_begin", &range), ST_OK);
	ck_assert_uint_eq(range.address, address_of(function));
	ck_assert_int_eq(image_symbol(image, "malloc", &range), ST_AGAIN);
	ck_assert_int_eq(image_section(image, ".text", &range), ST_AGAIN);
	ck_assert_uint_eq(image_bytes(image, address_of(function), 8).size, 0);
	image_close(image);
	look_away(&self);
}
END_TEST

static char copy_path[] = "/tmp/pytop-image-XXXXXX";

/* A copy of a program, running, whose file was deleted and replaced by another. */
static pid_t start_deleted(void)
{
	char command[256];
	int fd = mkstemp(copy_path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	snprintf(command, sizeof(command), "cp \"$(command -v sleep)\" %s && chmod 700 %s",
		 copy_path, copy_path);
	ck_assert_int_eq(system(command), 0);
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(copy_path, copy_path, "1000", (char *)NULL);
		_exit(1);
	}
	snprintf(command, sizeof(command), "/proc/%d/exe", (int)pid);
	for (char link[256] = ""; strcmp(link, copy_path) != 0;) {
		ssize_t n = readlink(command, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		usleep(1000);
	}
	unlink(copy_path);
	snprintf(command, sizeof(command), "cp /bin/sh %s", copy_path);
	ck_assert_int_eq(system(command), 0);
	return pid;
}

START_TEST(deleted_program)
{
	pid_t pid = start_deleted();
	struct self self;
	struct image *image;
	struct image_range range;
	uint8_t there[16];

	look_at(&self, pid);
	ck_assert(self.files[0].is_exe);
	ck_assert(self.files[0].first->deleted);
	ck_assert_str_eq(self.files[0].path, copy_path);
	ck_assert_int_eq(image_open(&image, &self.files[0], &self.maps, self.proc, &self.memory),
			 ST_OK);
	ck_assert_int_eq(image_section(image, ".text", &range), ST_OK);
	ck_assert_int_eq(memory_read(&self.memory, range.address, there, 16), ST_OK);
	struct bytes bytes = image_bytes(image, range.address, 16);

	ck_assert_uint_eq(bytes.size, 16);
	ck_assert_mem_eq(bytes.data, there, 16);
	image_close(image);
	look_away(&self);
	child_end(pid);
	unlink(copy_path);
}
END_TEST

/* A small whole ELF file: one segment, a symbol table, and the sections' names. */
struct tiny {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Sym symbols[4];
	char strings[16]; /* "", "one", "two", "none" */
	char names[24];   /* "", ".dynsym", ".mark", */
	Elf64_Shdr sections[5];
};

static struct tiny make_tiny(void)
{
	struct tiny t = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = MACHINE,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct tiny, segment),
			    .e_shoff = offsetof(struct tiny, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 5,
			    .e_shstrndx = 3 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_W | PF_X,
			     .p_vaddr = 0x1000,
			     .p_filesz = sizeof(struct tiny),
			     .p_memsz = 0x5000 },
		.symbols = { [1] = { 1, STT_OBJECT, 0, 4, 0x1100, 24 },
			     [2] = { 5, STT_OBJECT, 0, SHN_UNDEF, 0x1200, 8 },
			     [3] = { 60000, STT_OBJECT, 0, 4, 0x1300, 8 } },
		.strings = "\0one\0two\0none",
		.names = "\0.dynsym\0.mark",
	};
	t.sections[1] = (Elf64_Shdr){ .sh_name = 1,
				      .sh_type = SHT_DYNSYM,
				      .sh_flags = SHF_ALLOC,
				      .sh_offset = offsetof(struct tiny, symbols),
				      .sh_size = sizeof(t.symbols),
				      .sh_link = 2,
				      .sh_entsize = sizeof(Elf64_Sym) };
	t.sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct tiny, strings),
				      .sh_size = sizeof(t.strings) };
	t.sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct tiny, names),
				      .sh_size = sizeof(t.names) };
	t.sections[4] = (Elf64_Shdr){ .sh_name = 9,
				      .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC,
				      .sh_addr = 0x1100,
				      .sh_offset = 0x100,
				      .sh_size = 32 };
	return t;
}

static enum status open_tiny(struct image **image, const struct tiny *t, size_t size)
{
	return image_open_bytes(image, (struct bytes){ (const uint8_t *)t, size }, 0x70000000);
}

START_TEST(bytes)
{
	struct tiny t = make_tiny();
	struct image *image;
	struct image_range range;

	ck_assert_int_eq(open_tiny(&image, &t, sizeof(t)), ST_OK);
	ck_assert_int_eq(image_symbol(image, "one", &range), ST_OK);
	ck_assert_uint_eq(range.address, 0x70001100);
	ck_assert_uint_eq(range.size, 24);
	ck_assert_int_eq(image_symbol(image, "two", &range), ST_AGAIN);
	ck_assert_int_eq(image_section(image, ".mark", &range), ST_OK);
	ck_assert_uint_eq(range.address, 0x70001100);
	ck_assert_uint_eq(range.size, 32);
	struct bytes whole = image_bytes(image, 0x70001000, sizeof(t));

	ck_assert_uint_eq(whole.size, sizeof(t));
	ck_assert_mem_eq(whole.data, &t, sizeof(t));
	ck_assert_uint_eq(image_bytes(image, 0x70001001, sizeof(t)).size, 0);
	ck_assert_uint_eq(image_bytes(image, 0x70000fff, 1).size, 0);
	image_close(image);
}
END_TEST

START_TEST(not_ours)
{
	struct tiny t = make_tiny();
	struct image *image;

	t.header.e_machine = EM_S390;
	ck_assert_int_eq(open_tiny(&image, &t, sizeof(t)), ST_BAD_DATA);
	t = make_tiny();
	t.header.e_ident[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(open_tiny(&image, &t, sizeof(t)), ST_BAD_DATA);
	t = make_tiny();
	t.header.e_type = ET_CORE;
	ck_assert_int_eq(open_tiny(&image, &t, sizeof(t)), ST_BAD_DATA);
	t = make_tiny();
	t.segment.p_type = PT_NOTE;
	ck_assert_int_eq(open_tiny(&image, &t, sizeof(t)), ST_BAD_DATA);
	ck_assert_int_eq(image_open_bytes(&image, (struct bytes){ 0 }, 0), ST_BAD_DATA);
	int fd = open("/dev/null", O_RDONLY);

	ck_assert_int_eq(image_open_fd(&image, fd), ST_BAD_DATA);
	close(fd);
}
END_TEST

/* Use all of an image; what it says does not matter. */
static void use(struct image *image)
{
	struct image_range range, ranges[4];
	size_t count = 4;

	image_writable(image, ranges, &count);
	(void)!image_symbol(image, "no such", &range);
	(void)!image_section(image, "no such", &range);
	(void)image_bytes(image, 0x70001000, 64);
	image_close(image);
}

START_TEST(every_cut_and_every_byte)
{
	struct tiny t = make_tiny();
	struct image *image;

	for (size_t n = 0; n < sizeof(t); n++)
		if (open_tiny(&image, &t, n) == ST_OK)
			use(image);
	for (size_t n = 0; n < sizeof(t); n++) {
		struct tiny bad = make_tiny();

		((uint8_t *)&bad)[n] = 0xff;
		if (open_tiny(&image, &bad, sizeof(bad)) == ST_OK)
			use(image);
	}
}
END_TEST

START_TEST(memory_that_lies)
{
	struct tiny t = make_tiny();
	struct memory_region region = { 0x5000, { (const uint8_t *)&t, sizeof(t) } };
	struct memory memory;
	struct image *image;

	memory_open_image(&memory, &region, 1);
	ck_assert_int_eq(image_open_memory(&image, &memory, 0x5000), ST_OK);
	ck_assert_uint_eq(image_bias(image), 0x4000);
	use(image);
	t.segment.p_type = PT_DYNAMIC;
	ck_assert_int_eq(image_open_memory(&image, &memory, 0x5000), ST_BAD_DATA);
	t.header.e_phoff = UINT64_MAX - 4;
	ck_assert_int_eq(image_open_memory(&image, &memory, 0x5000), ST_FAULT);
	ck_assert_int_eq(image_open_memory(&image, &memory, 0x9000), ST_FAULT);
}
END_TEST

UNIT_MAIN("image", own_program, writable_ranges, library_by_file_and_memory, deleted_program, bytes,
	  not_ours, every_cut_and_every_byte, memory_that_lies)
