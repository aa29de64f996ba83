/*
 * clock: the seconds and nanoseconds of clock_gettime(2) as one number.
 */
#include "clock.h"

nanoseconds clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (nanoseconds)t.tv_sec * 1000000000 + t.tv_nsec;
}
