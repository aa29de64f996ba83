/*
 * clock: one clock of the system, in nanoseconds. For those who may read one; everyone else is told now.
 */
#ifndef PYTOP_CLOCK_H
#define PYTOP_CLOCK_H

#include <time.h>

#include "record/sample.h"

nanoseconds clock_read(clockid_t clock);

#endif
