/*
 * output: the few things every printer of stdout needs.
 */
#include "ui/output.h"

#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status output_json(void *file, const char *text, size_t size)
{
	return fwrite(text, 1, size, file) == size ? ST_OK : ST_CANNOT_WRITE;
}

enum status output_flush(void)
{
	return fflush(stdout) == 0 && !ferror(stdout) ? ST_OK : ST_CANNOT_WRITE;
}

bool output_is_closed(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

bool output_is_ascii(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
