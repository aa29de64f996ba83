/*
 * threadname: the name a program gave to a thread.
 *
 * Before 3.14 the kernel knows nothing of it. But the outermost frame of a threading.Thread
 * runs the method _bootstrap, whose first local, self, is the Thread object, which has its name
 * as _name. So it costs nothing until it is asked for, and works in every version.
 *
 * Called by whoever keeps the threads' names, once a thread and now and then again.
 */
#include "python/threadname.h"

#include "python/attribute.h"
#include "python/unicode.h"

#define NAME_LIMIT 1024

enum status threadname_read(char **name, const struct py_runtime *runtime, struct memory *memory,
			    remote_addr root_frame)
{
	const struct py_layout *layout = &runtime->layout;
	remote_addr thread, value;
	enum status status = ST_BAD_DATA;

	if (!memory_read_u64(memory, root_frame + layout->frame.localsplus, &thread))
		return ST_BAD_DATA;
	thread &= ~(remote_addr)7; /* the tag of 3.14+; objects are aligned to 8 at least */
	if (thread)
		status = attribute_read(&value, layout, memory, thread, "_name");
	if (status == ST_OK)
		status = unicode_read(name, layout, memory, value, NAME_LIMIT);
	return status == ST_FAULT || status == ST_AGAIN ? ST_BAD_DATA : status;
}
