/*
 * gecko: a profile for the Firefox Profiler (profiler.firefox.com): a "processed profile" document.
 */
#ifndef PYTOP_EXPORT_GECKO_H
#define PYTOP_EXPORT_GECKO_H

#include "export/export.h"

extern const struct export_format gecko_format;

#endif
