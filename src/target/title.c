/*
 * title: what a program is called on the screen and in profiles, from its command line.
 *
 * Invariant: the result is a plain last part of one argument, never an argument that follows it:
 * what comes after the script's name may be a secret. Called by process_info.
 */
#include <string.h>

#include "target/process.h"

/* Take the next argument out of a command line; false at its end. */
static bool next_argument(struct bytes *cmdline, struct bytes *argument)
{
	if (cmdline->size == 0)
		return false;
	const uint8_t *nul = memchr(cmdline->data, '\0', cmdline->size);
	size_t n = nul ? (size_t)(nul - cmdline->data) : cmdline->size;

	*argument = (struct bytes){ cmdline->data, n };
	if (nul)
		n++;
	*cmdline = (struct bytes){ cmdline->data + n, cmdline->size - n };
	return true;
}

static bool begins(struct bytes text, const char *with)
{
	size_t n = strlen(with);

	return text.size >= n && memcmp(text.data, with, n) == 0;
}

static bool ends(struct bytes text, const char *with)
{
	size_t n = strlen(with);

	return text.size > n && memcmp(text.data + text.size - n, with, n) == 0;
}

/* The last part of a path; "/" and "/." at its end do not count. */
static struct bytes last_part(struct bytes path)
{
	while (ends(path, "/") || ends(path, "/."))
		path.size--;
	const uint8_t *slash = path.size > 0 ? memrchr(path.data, '/', path.size) : NULL;

	if (!slash || path.size == 1)
		return path;
	size_t n = (size_t)(slash + 1 - path.data);

	return (struct bytes){ slash + 1, path.size - n };
}

/* x/__main__.py is known as x. */
static struct bytes script_name(struct bytes path)
{
	struct bytes name = last_part(path);

	if (name.size < path.size && name.size == 11 && begins(name, "__main__.py"))
		return last_part((struct bytes){ path.data, path.size - name.size });
	return name;
}

/*
 * An interpreter's option: a cluster of letters, of which c and m end the options and W, X take a
 * value. Sets *name when it is -c or -m.
 */
static void take_option(struct bytes option, struct bytes *cmdline, struct bytes *name)
{
	if (begins(option, "--check-hash-based-pycs") && option.size == 23) {
		next_argument(cmdline, &option);
		return;
	}
	if (option.size > 1 && option.data[1] == '-')
		return;
	for (size_t i = 1; i < option.size; i++) {
		struct bytes value = { option.data + i + 1, option.size - i - 1 };

		switch (option.data[i]) {
		case 'c':
			*name = (struct bytes){ (const uint8_t *)"-c", 2 };
			return;
		case 'm':
			if (value.size > 0 || next_argument(cmdline, &value))
				*name = value;
			return;
		case 'W':
		case 'X':
			if (value.size == 0)
				next_argument(cmdline, &value);
			return;
		}
	}
}

/* What an interpreter was told to run; empty: nothing, it is interactive. */
static struct bytes find_program(struct bytes cmdline)
{
	struct bytes argument, name = { 0 };

	while (name.size == 0 && next_argument(&cmdline, &argument)) {
		if (argument.size > 1 && argument.data[0] == '-')
			take_option(argument, &cmdline, &name);
		else if (argument.size > 0)
			name = script_name(argument);
	}
	return name;
}

void process_name_parse(char *name, size_t size, struct bytes cmdline)
{
	struct bytes first = { 0 }, found = { 0 };

	next_argument(&cmdline, &first);
	if (memchr(first.data ? first.data : (const uint8_t *)"", ' ', first.size))
		found = first; /* a title that the program wrote over its arguments */
	else
		found = last_part(first);
	if (begins(found, "python") || begins(found, "pypy") || begins(found, "graalpy")) {
		struct bytes program = find_program(cmdline);

		if (program.size > 0)
			found = program;
	}
	if (size == 0)
		return;
	size_t n = found.size < size - 1 ? found.size : size - 1;

	if (n > 0)
		memcpy(name, found.data, n);
	name[n] = '\0';
}
