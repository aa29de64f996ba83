/*
 * gecko_states: how the states of a thread look in the Firefox Profiler: their categories, the
 * leaf frames that stand for them in stacks, and the interval markers.
 */
#ifndef PYTOP_EXPORT_GECKO_STATES_H
#define PYTOP_EXPORT_GECKO_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "record/sample.h"

/*
 * X(NAME, name, colour, subcategories after "Other", space-separated, '_' for a space). A category
 * named Idle is drawn light and can be filtered away; the first grey one is the default.
 */
#define GECKO_CATEGORY_TABLE(X) \
	X(OTHER, "Other", "grey", "") \
	X(IDLE, "Idle", "transparent", "Sleep Poll Suspended Stopped") \
	X(PYTHON, "Python", "yellow", "Running") \
	X(NATIVE, "Native", "blue", "Running_without_the_GIL") \
	X(GC, "GC", "orange", "") \
	X(GIL_WAIT, "GIL wait", "red", "") \
	X(LOCK, "Lock", "brown", "") \
	X(IO, "I/O", "lightblue", "Disk") \
	X(GIL, "GIL", "green", "") \
	X(CPU, "CPU", "purple", "") \
	X(EXCEPTION, "Exception", "lightred", "") \
	X(PYTOP, "pytop", "darkgrey", "")
enum gecko_category {
#define X(name, text, color, subcategories) GECKO_##name,
	GECKO_CATEGORY_TABLE(X)
#undef X
		GECKO_CATEGORY_COUNT
};

enum gecko_marker {
	GECKO_MARK_GIL,
	GECKO_MARK_GIL_WAIT,
	GECKO_MARK_CPU,
	GECKO_MARK_PYTHON,
	GECKO_MARK_NATIVE,
	GECKO_MARK_RUNNING,
	GECKO_MARK_LOCK,
	GECKO_MARK_SLEEP,
	GECKO_MARK_POLL,
	GECKO_MARK_IO,
	GECKO_MARK_DISK,
	GECKO_MARK_SUSPENDED,
	GECKO_MARK_STOPPED,
	GECKO_MARK_GC,
	GECKO_MARK_EXCEPTION,
	GECKO_MARK_COUNT
};

/* What a marker is called, the name of its schema, its colour in the marker chart, its category. */
struct gecko_marker_look {
	const char *name, *type, *color, *description;
	enum gecko_category category;
};
const struct gecko_marker_look *gecko_marker_look(enum gecko_marker marker);

/* The markers that a thread-sample lies in, as bits 1 << enum gecko_marker. */
uint32_t gecko_markers_of(const struct sample *s, bool free_threaded);

/*
 * The frame that stands for a state below the stack; name NULL: none (the stack's own leaf was
 * running).
 */
struct gecko_leaf {
	const char *name;
	enum gecko_category category;
	unsigned subcategory;
};
struct gecko_leaf gecko_leaf_of(enum thread_state state, bool free_threaded);
struct gecko_leaf gecko_leaf_gc(void);

/* The lists of meta. */
void gecko_write_categories(struct json *j);
void gecko_write_schema(struct json *j);

#endif
