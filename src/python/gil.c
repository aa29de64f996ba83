/*
 * gil: who holds the GIL, from its bytes, and who waits for it, from what a thread does in the kernel.
 *
 * last_holder outlives the release: it counts only while locked is 1 (-1: not created yet). In a free-threaded build
 * the first word says whether there is a GIL at all. A waiter sleeps in the futex of gil->cond, and one that was asked
 * to let go in that of gil->switch_cond: both lie in the structure. Source: Python/ceval_gil.c (3.2 to 3.15),
 * Include/internal/pycore_gil.h.
 *
 * Called by interp.c (bytes) and by whoever gives threads their state.
 */
#include "python/gil.h"

void gil_parse(struct py_gil *gil, const struct py_layout *layout, remote_addr address,
	       struct bytes raw)
{
	uint64_t holder = 0;
	uint32_t locked = 0;
	uint32_t enabled = 1;

	*gil = (struct py_gil){ 0 };
	if (!address || layout->gil.size == LAYOUT_NONE)
		return;
	if (layout->gil.enabled != LAYOUT_NONE && !bytes_u32(raw, layout->gil.enabled, &enabled))
		return;
	if (!enabled)
		return;
	gil->address = address;
	gil->enabled = true;
	if (bytes_u32(raw, layout->gil.locked, &locked) && locked == 1 &&
	    bytes_u64(raw, layout->gil.last_holder, &holder))
		gil->holder = holder;
}

bool gil_waits(const struct py_gil *gil, const struct py_layout *layout,
	       const struct task_activity *activity)
{
	return gil->enabled && gil->address && activity->doing == TASK_FUTEX &&
	       activity->argument0 - gil->address < layout->gil.size;
}
