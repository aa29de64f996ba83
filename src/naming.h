/*
 * naming: what a thread is called: MainThread, its own name, the kernel's, or its number.
 */
#ifndef PYTOP_NAMING_H
#define PYTOP_NAMING_H

#include "base/status.h"
#include "python/runtime.h"
#include "record/names.h"
#include "target/memory.h"
#include "target/tasks.h"

/*
 * The best name of a thread now. task NULL: its kernel name is not known. root_frame: of its outermost Python frame when that
 * is threading's _bootstrap, else 0. ST_NO_MEMORY, ST_TOO_BIG as names_string().
 */
enum status naming_find(struct names *names, const struct py_runtime *runtime,
			struct memory *memory, const struct tasks *tasks, pid_t pid, pid_t tid,
			const struct task *task, remote_addr root_frame,
			string_id *name) MUST_CHECK;

#endif
