/*
 * hold: stops the target's threads around a tick (--blocking) with PTRACE_SEIZE and
 * PTRACE_INTERRUPT.
 *
 * All calls but hold_open come from one thread (ptrace belongs to the thread that attached).
 * Threads are attached and let go at each tick, so between ticks the target is as if pytop were
 * not there. Signals meant for the target are delivered. When pytop dies the kernel detaches and
 * the threads go on. Calls that a stop interrupts are begun again by the kernel, save those that
 * signal(7) lists (epoll_wait gives EINTR).
 */
#ifndef PYTOP_TARGET_HOLD_H
#define PYTOP_TARGET_HOLD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct hold;

/* ST_ENDED, ST_NO_MEMORY, ST_SYSTEM. Stops nothing yet. */
enum status hold_open(struct hold **hold, pid_t pid, int proc_fd) MUST_CHECK;
/*
 * Stop every thread, those that are born meanwhile too, and wait until they stand still. What waits
 * for a disk is not waited for longer than 10 ms: it runs no code. ST_ENDED; ST_TRACED when another
 * tracer has them; ST_DENIED (errno kept); after a failure all run.
 */
enum status hold_stop(struct hold *hold) MUST_CHECK;
/* Let them run; without hold_stop it does nothing. ST_ENDED: there was none to let go any more. */
enum status hold_continue(struct hold *hold) MUST_CHECK;
/* How long they stood still so far, in ns. */
uint64_t hold_stopped_ns(const struct hold *hold);
/* Lets them run first. */
void hold_close(struct hold *hold);

#endif
