/*
 * collapsed: one line a stack, "frame;frame;frame count", root first: what flamegraph.pl and
 * speedscope read.
 *
 * The first frame is the thread, "NAME (TID)"; the others are "FUNCTION (FILE:LINE)" with the
 * file's own name without its folders and the line of the definition, or just the name of what is
 * not Python ("<GC>"). The count is the asked kind's time in units of the asked interval,
 * rounded; stacks that round to 0 are left out. In names ';' becomes ',', and what is not safe to
 * print is escaped.
 */
#ifndef PYTOP_EXPORT_COLLAPSED_H
#define PYTOP_EXPORT_COLLAPSED_H

#include "export/export.h"

extern const struct export_format collapsed_format;

#endif
