/*
 * gecko_states: tables: categories, leaf frames and markers of the states.
 *
 * Markers are not recorded: an interval is a run of thread-samples that share a bit of
 * gecko_markers_of(). Types avoid the names that the Firefox Profiler treats specially (Network,
 * FileIO, GCMajor ...).
 *
 * Called by the other gecko_*.c.
 */
#include "export/gecko_states.h"

#include <string.h>

#define BIT(marker) (UINT32_C(1) << (marker))
#define ON_CPU_MILLE 500 /* from here on a thread-sample counts as "On CPU" */

struct category {
	const char *name, *color, *subcategories;
};

static const struct category categories[GECKO_CATEGORY_COUNT] = {
#define X(name, text, color, subcategories) { text, color, subcategories },
	GECKO_CATEGORY_TABLE(X)
#undef X
};

static const struct gecko_marker_look looks[GECKO_MARK_COUNT] = {
	[GECKO_MARK_GIL] = { "Has GIL", "GIL", "green", "The thread holds the GIL.", GECKO_GIL },
	[GECKO_MARK_GIL_WAIT] = { "Waiting for GIL", "GILWait", "red",
				  "The thread could run, but another one holds the GIL.",
				  GECKO_GIL_WAIT },
	[GECKO_MARK_CPU] = { "On CPU", "OnCPU", "purple",
			     "The thread used at least half of the time of each sample on a CPU.",
			     GECKO_CPU },
	[GECKO_MARK_PYTHON] = { "Python code", "PythonCode", "yellow",
				"The thread runs with the GIL: Python code, or native code called "
				"from it that keeps the GIL.",
				GECKO_PYTHON },
	[GECKO_MARK_NATIVE] = { "Native code", "NativeCode", "blue",
				"The thread runs without the GIL: native code that has released it "
				"(compression, hashing, numeric libraries ...).",
				GECKO_NATIVE },
	[GECKO_MARK_RUNNING] = { "Running", "Running", "yellow",
				 "The thread runs, Python or native code: this interpreter has no "
				 "GIL that would tell them apart.",
				 GECKO_PYTHON },
	[GECKO_MARK_LOCK] = { "Lock", "LockWait", "magenta",
			      "The thread waits for a lock (a futex other than the GIL's).",
			      GECKO_LOCK },
	[GECKO_MARK_SLEEP] = { "Sleep", "Sleep", "grey", "The thread sleeps for a set time.",
			       GECKO_IDLE },
	[GECKO_MARK_POLL] = { "Poll", "Poll", "grey",
			      "The thread waits for one of several files or sockets (epoll, poll, "
			      "select).",
			      GECKO_IDLE },
	[GECKO_MARK_IO] = { "I/O", "InputOutput", "teal",
			    "The thread waits inside a read, write, accept or the like.",
			    GECKO_IO },
	[GECKO_MARK_DISK] = { "Disk", "DiskWait", "teal",
			      "The thread waits for a disk; nothing can interrupt it.", GECKO_IO },
	[GECKO_MARK_SUSPENDED] = { "Suspended", "Suspended", "grey",
				   "The thread is parked while the interpreter stops the world.",
				   GECKO_IDLE },
	[GECKO_MARK_STOPPED] = { "Stopped", "Stopped", "ink",
				 "The thread was stopped by a signal or a debugger.", GECKO_IDLE },
	[GECKO_MARK_GC] = { "GC", "GarbageCollection", "orange",
			    "The thread collects garbage for its interpreter.", GECKO_GC },
	[GECKO_MARK_EXCEPTION] = { "Exception", "ExceptionHandling", "purple",
				   "The thread raises or handles an exception.", GECKO_EXCEPTION },
};

const struct gecko_marker_look *gecko_marker_look(enum gecko_marker marker)
{
	return &looks[marker];
}

static uint32_t state_marker(enum thread_state state, bool free_threaded)
{
	switch (state) {
	case STATE_GIL:
		return BIT(GECKO_MARK_GIL) | BIT(GECKO_MARK_PYTHON);
	case STATE_RUNNING:
		return free_threaded ? BIT(GECKO_MARK_RUNNING) : BIT(GECKO_MARK_NATIVE);
	case STATE_GIL_WAIT:
		return BIT(GECKO_MARK_GIL_WAIT);
	case STATE_SUSPENDED:
		return BIT(GECKO_MARK_SUSPENDED);
	case STATE_LOCK:
		return BIT(GECKO_MARK_LOCK);
	case STATE_SLEEP:
		return BIT(GECKO_MARK_SLEEP);
	case STATE_POLL:
		return BIT(GECKO_MARK_POLL);
	case STATE_IO:
		return BIT(GECKO_MARK_IO);
	case STATE_DISK:
		return BIT(GECKO_MARK_DISK);
	case STATE_STOPPED:
		return BIT(GECKO_MARK_STOPPED);
	default:
		return 0;
	}
}

uint32_t gecko_markers_of(const struct sample *s, bool free_threaded)
{
	uint32_t bits = state_marker((enum thread_state)s->state, free_threaded);

	if (s->flags & SAMPLE_GIL)
		bits |= BIT(GECKO_MARK_GIL);
	if (s->cpu_mille >= ON_CPU_MILLE)
		bits |= BIT(GECKO_MARK_CPU);
	if (s->flags & SAMPLE_GC)
		bits |= BIT(GECKO_MARK_GC);
	if (s->flags & SAMPLE_EXCEPTION)
		bits |= BIT(GECKO_MARK_EXCEPTION);
	return bits;
}

struct gecko_leaf gecko_leaf_of(enum thread_state state, bool free_threaded)
{
	static const struct gecko_leaf leaves[STATE_COUNT] = {
		[STATE_UNKNOWN] = { "(unknown)", GECKO_OTHER, 0 },
		[STATE_GIL] = { NULL, GECKO_PYTHON, 1 },
		[STATE_RUNNING] = { "(native code)", GECKO_NATIVE, 1 },
		[STATE_GIL_WAIT] = { "(waiting for GIL)", GECKO_GIL_WAIT, 0 },
		[STATE_SUSPENDED] = { "(suspended)", GECKO_IDLE, 3 },
		[STATE_LOCK] = { "(lock)", GECKO_LOCK, 0 },
		[STATE_SLEEP] = { "(sleep)", GECKO_IDLE, 1 },
		[STATE_POLL] = { "(poll)", GECKO_IDLE, 2 },
		[STATE_IO] = { "(I/O)", GECKO_IO, 0 },
		[STATE_DISK] = { "(disk)", GECKO_IO, 1 },
		[STATE_STOPPED] = { "(stopped)", GECKO_IDLE, 4 },
	};

	if (state == STATE_RUNNING && free_threaded)
		state = STATE_GIL;
	return leaves[state < STATE_COUNT ? state : STATE_UNKNOWN];
}

struct gecko_leaf gecko_leaf_gc(void)
{
	return (struct gecko_leaf){ "(garbage collection)", GECKO_GC, 0 };
}

static void write_subcategories(struct json *j, const char *words)
{
	json_array(j);
	json_string(j, "Other");
	while (*words) {
		size_t n = strcspn(words, " ");
		char text[64];

		for (size_t i = 0; i < n && i < sizeof(text); i++)
			text[i] = (char)(words[i] == '_' ? ' ' : words[i]);
		json_string_n(j, text, n < sizeof(text) ? n : sizeof(text));
		words += n + strspn(words + n, " ");
	}
	json_array_end(j);
}

void gecko_write_categories(struct json *j)
{
	json_array(j);
	for (int i = 0; i < GECKO_CATEGORY_COUNT; i++) {
		json_object(j);
		json_key(j, "name");
		json_string(j, categories[i].name);
		json_key(j, "color");
		json_string(j, categories[i].color);
		json_key(j, "subcategories");
		write_subcategories(j, categories[i].subcategories);
		json_object_end(j);
	}
	json_array_end(j);
}

static void write_display(struct json *j, enum gecko_marker marker)
{
	bool overview = marker == GECKO_MARK_GIL || marker == GECKO_MARK_GIL_WAIT ||
			marker == GECKO_MARK_GC || marker == GECKO_MARK_EXCEPTION;

	json_array(j);
	if (overview)
		json_string(j, "timeline-overview");
	if (marker == GECKO_MARK_GC)
		json_string(j, "timeline-memory");
	json_string(j, "marker-chart");
	json_string(j, "marker-table");
	json_array_end(j);
}

/* The colour of the bar in the marker chart is a field of each marker's data. */
static void write_color_field(struct json *j)
{
	json_array(j);
	json_object(j);
	json_key(j, "key");
	json_string(j, "color");
	json_key(j, "label");
	json_string(j, "Colour");
	json_key(j, "format");
	json_string(j, "string");
	json_key(j, "hidden");
	json_bool(j, true);
	json_object_end(j);
	json_array_end(j);
}

void gecko_write_schema(struct json *j)
{
	json_array(j);
	for (int i = 0; i < GECKO_MARK_COUNT; i++) {
		json_object(j);
		json_key(j, "name");
		json_string(j, looks[i].type);
		json_key(j, "display");
		write_display(j, (enum gecko_marker)i);
		json_key(j, "tooltipLabel");
		json_string(j, looks[i].name);
		json_key(j, "tableLabel");
		json_string(j, looks[i].name);
		json_key(j, "chartLabel");
		json_string(j, looks[i].name);
		json_key(j, "description");
		json_string(j, looks[i].description);
		json_key(j, "colorField");
		json_string(j, "color");
		json_key(j, "fields");
		write_color_field(j);
		json_object_end(j);
	}
	json_array_end(j);
}
