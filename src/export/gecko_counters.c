/*
 * gecko_counters: a point every tenth of a second, kept as (time, memory, CPU) in the scratch file.
 *
 * The viewer adds up counts. It takes the first as 0, so the first point of memory is 0 and the
 * second, a microsecond later, the whole; from then on differences. CPU is what was used since
 * the point before.
 *
 * Called by gecko.c.
 */
#include "export/gecko_counters.h"

#include <string.h>

#define POINT_NS 100000000

enum status gecko_counters_open(struct gecko_counters *c, struct scratch *scratch, nanoseconds zero)
{
	*c = (struct gecko_counters){ .scratch = scratch, .zero = zero, .next = zero };
	return scratch_stream(scratch, &c->stream);
}

enum status gecko_counters_tick(struct gecko_counters *c, const struct tick *tick)
{
	struct point {
		int64_t us, rss, cpu_us;
	} point;

	if (tick->rss_bytes)
		c->rss = tick->rss_bytes;
	c->cpu += tick->process_cpu;
	c->has_rss |= c->rss != 0;
	c->has_cpu |= c->cpu != 0;
	if (tick->time < c->next)
		return ST_OK;
	point = (struct point){ (tick->time - c->zero) / 1000, (int64_t)c->rss, c->cpu / 1000 };
	c->cpu -= point.cpu_us * 1000;
	c->next = tick->time + POINT_NS;
	c->points++;
	return scratch_add(c->scratch, c->stream, &point, sizeof(point));
}

enum what { TIME, RSS, CPU };

/*
 * One column of one counter. RSS has one point more than CPU: the first is 0, and the whole
 * follows 1 us later; so the time after the second is 1 us shorter.
 */
static enum status write_column(struct gecko_counters *c, struct json *j, enum what what, bool rss)
{
	int64_t before[3] = { 0 }, point[3];
	enum status status = scratch_rewind(c->scratch, c->stream);
	struct bytes piece = { NULL, 0 };
	uint64_t points = 0;

	json_array(j);
	while (status == ST_OK) {
		status = scratch_read(c->scratch, &piece);
		if (status != ST_OK || !piece.size)
			break;
		for (size_t at = 0; at + sizeof(point) <= piece.size; at += sizeof(point)) {
			memcpy(point, piece.data + at, sizeof(point));
			if (what == TIME) {
				json_double(j, (double)(point[TIME] - before[TIME]) / 1000, 3);
				if (rss && !points)
					json_double(j, 0.001, 3);
				before[TIME] = point[TIME] + (rss && !points);
			} else if (what == RSS) {
				if (!points)
					json_int(j, 0);
				json_int(j, point[RSS] - before[RSS]);
				before[RSS] = point[RSS];
			} else {
				json_double(j, points ? (double)point[CPU] / 1000 : 0, 3);
			}
			points++;
		}
	}
	json_array_end(j);
	return status == ST_OK && points != c->points ? ST_BAD_DATA : status;
}

struct look {
	const char *name, *category, *description, *graph, *unit, *color, *location;
	int weight;
	const char *sources[2], *units[2], *labels[2];
};

static const struct look rss_look = {
	"RSS",
	"Memory",
	"Resident memory of the process",
	"line-accumulated",
	"bytes",
	"orange",
	"timeline-memory",
	20,
	{ "accumulated", "count-range" },
	{ "bytes", "bytes" },
	{ "resident memory", "range in graph" },
};

static const struct look cpu_look = {
	"Process CPU",
	"pytop",
	"CPU time of the whole process, threads without Python included",
	"line-rate",
	"ms",
	"purple",
	NULL,
	40,
	{ "rate", "committed-range-total" },
	{ "percent", "number" },
	{ "CPU (100% = one core)", "CPU ms in the visible range" },
};

static void member(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	json_string(j, value);
}

static void write_display(struct json *j, const struct look *look)
{
	json_key(j, "display");
	json_object(j);
	member(j, "graphType", look->graph);
	member(j, "unit", look->unit);
	member(j, "color", look->color);
	member(j, "markerSchemaLocation", look->location);
	json_key(j, "sortWeight");
	json_int(j, look->weight);
	member(j, "label", look->name);
	json_key(j, "tooltipRows");
	json_array(j);
	for (int i = 0; i < 2; i++) {
		json_object(j);
		member(j, "type", "value");
		member(j, "source", look->sources[i]);
		json_key(j, "format");
		json_object(j);
		member(j, "unit", look->units[i]);
		json_object_end(j);
		member(j, "label", look->labels[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static enum status write_counter(struct gecko_counters *c, struct json *j, const char *pid,
				 size_t main_thread, const struct look *look)
{
	bool rss = look == &rss_look;
	enum status status;

	json_object(j);
	member(j, "name", look->name);
	member(j, "category", look->category);
	member(j, "description", look->description);
	member(j, "pid", pid);
	json_key(j, "mainThreadIndex");
	json_uint(j, main_thread);
	write_display(j, look);
	json_key(j, "samples");
	json_object(j);
	json_key(j, "timeDeltas");
	status = write_column(c, j, TIME, rss);
	json_key(j, "count");
	if (status == ST_OK)
		status = write_column(c, j, rss ? RSS : CPU, rss);
	json_key(j, "length");
	json_uint(j, c->points + rss);
	json_object_end(j);
	json_object_end(j);
	return status;
}

enum status gecko_counters_write(struct gecko_counters *c, struct json *j, const char *pid,
				 size_t main_thread)
{
	enum status status = ST_OK;

	json_array(j);
	if (c->has_cpu)
		status = write_counter(c, j, pid, main_thread, &cpu_look);
	if (status == ST_OK && c->has_rss)
		status = write_counter(c, j, pid, main_thread, &rss_look);
	json_array_end(j);
	return status;
}
