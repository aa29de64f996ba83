/*
 * gil: what the bytes of a GIL say, and whether a thread waits for it.
 */
#ifndef PYTOP_PYTHON_GIL_H
#define PYTOP_PYTHON_GIL_H

#include <stdbool.h>

#include "base/bytes.h"
#include "python/layout.h"
#include "target/memory.h"
#include "target/tasks.h"

struct py_gil {
	remote_addr address; /* 0: there is none (free-threaded with the GIL off) */
	remote_addr holder;  /* the thread state that holds it; 0: free */
	bool enabled;
};

/* raw: layout->gil.size bytes read at address. */
void gil_parse(struct py_gil *gil, const struct py_layout *layout, remote_addr address,
	       struct bytes raw);

/* The thread sleeps in a futex that lies inside the GIL's own structure: it waits for it (design 4.3). */
bool gil_waits(const struct py_gil *gil, const struct py_layout *layout,
	       const struct task_activity *activity);

#endif
