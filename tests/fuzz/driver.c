/*
 * The main of a fuzzer that is run as a test: it feeds the fuzzer's corpus, one file after
 * another, to LLVMFuzzerTestOneInput and says ok for each. A crash, a sanitizer's report or an
 * abort is the failure. Called fuzz_NOUN it takes tests/fuzz/corpus/NOUN/ of $srcdir; files and
 * directories may be named instead. `make fuzz NOUN=...` links libFuzzer in its place.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CORPUS_FILE_MAX = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feed one file. A copy of exactly its size lets the address sanitizer see the first byte too far. */
static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat st;

	if (!file || fstat(fileno(file), &st) || st.st_size > CORPUS_FILE_MAX) {
		printf("not ok %s: cannot be read\n", path);
		if (file)
			fclose(file);
		return 1;
	}

	size_t size = (size_t)st.st_size;
	uint8_t *data = malloc(size ? size : 1);
	int failed = !data || fread(data, 1, size, file) != size;

	fclose(file);
	if (!failed)
		LLVMFuzzerTestOneInput(data, size);
	free(data);
	printf("%s %s\n", failed ? "not ok" : "ok", path);
	fflush(stdout);
	return failed;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Feed a file, or each file of a directory in the order of their names. An empty one is a failure. */
static int run_path(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_visible, alphasort);
	int failed = count == 0;

	if (count < 0)
		return run_file(path);
	if (failed)
		printf("not ok %s: no files\n", path);
	for (int i = 0; i < count; i++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		failed |= run_file(file);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

/* The corpus of the program's own name: .../fuzz_NOUN -> $srcdir/tests/fuzz/corpus/NOUN */
static int run_own_corpus(const char *program)
{
	const char *srcdir = getenv("srcdir");
	const char *noun = strstr(program, "fuzz_");
	char path[PATH_MAX];

	for (const char *next = noun; next; next = strstr(next + 1, "fuzz_"))
		noun = next;
	if (!noun) {
		printf("not ok %s: its name is not fuzz_NOUN\n", program);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", noun + 5);
	return run_path(path);
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2)
		return run_own_corpus(argv[0]);
	for (int i = 1; i < argc; i++)
		failed |= run_path(argv[i]);
	return failed;
}
