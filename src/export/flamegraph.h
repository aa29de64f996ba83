/*
 * flamegraph: the call tree as one HTML page that needs no network: zoom, search, threads apart
 * or merged, the four kinds of value.
 */
#ifndef PYTOP_EXPORT_FLAMEGRAPH_H
#define PYTOP_EXPORT_FLAMEGRAPH_H

#include "export/export.h"

extern const struct export_format flamegraph_format;

#endif
