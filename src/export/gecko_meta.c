/*
 * gecko_meta: the head of the document, and the sampler's own account under "more info".
 *
 * Only what the log says is told: a log may be exported on another machine, so nothing is asked
 * of this one. The command's arguments stand in it only on request: what is uploaded is public.
 *
 * Called by gecko.c, at the end of the pass.
 */
#include "export/gecko_meta.h"

#include <stdio.h>
#include <string.h>

#include "export/gecko_states.h"
#include "export/gecko_tables.h"

#define UNPROCESSED_VERSION 36 /* of the format before processing; wanted, not used */

nanoseconds gecko_meta_wall(const struct spool_about *about, nanoseconds time)
{
	return about->wall + (time - about->monotonic);
}

static void text(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	json_string(j, value);
}

static void flag(struct json *j, const char *key, bool value)
{
	json_key(j, key);
	json_bool(j, value);
}

static void number(struct json *j, const char *key, double value, int decimals)
{
	json_key(j, key);
	json_double(j, value, decimals);
}

static void write_times(const struct gecko_meta *m, struct json *j)
{
	number(j, "interval", (double)m->interval / 1e6, 6);
	number(j, "startTime", (double)(gecko_meta_wall(&m->info->about, m->zero) / 1000) / 1e3, 3);
	number(j, "profilingStartTime", 0, 0);
	number(j, "profilingEndTime", (double)((m->end - m->zero) / 1000) / 1e3, 3);
}

static void write_versions(const struct gecko_meta *m, struct json *j)
{
	char misc[128];

	number(j, "preprocessedProfileVersion", GECKO_VERSION, 0);
	number(j, "version", UNPROCESSED_VERSION, 0);
	number(j, "processType", 0, 0);
	text(j, "product",
	     m->info->about.name && *m->info->about.name ? m->info->about.name : "python");
	snprintf(misc, sizeof(misc), "CPython %s",
		 m->info->about.version ? m->info->about.version : "");
	text(j, "misc", misc);
	number(j, "stackwalk", 0, 0);
	flag(j, "debug", false);
	text(j, "oscpu", "Linux");
	text(j, "platform", "Linux");
	text(j, "toolkit", "");
	if (m->with_arguments && m->info->about.command)
		text(j, "arguments", m->info->about.command);
	text(j, "importedFrom", "pytop " PACKAGE_VERSION);
}

static void write_switches(struct json *j)
{
	flag(j, "symbolicated", true);
	flag(j, "symbolicationNotSupported", true);
	flag(j, "sourceCodeIsNotOnSearchfox", true);
	flag(j, "keepProfileThreadOrder", true);
	json_key(j, "sampleUnits");
	json_object(j);
	text(j, "time", "ms");
	text(j, "eventDelay", "ms");
	text(j, "threadCPUDelta", "\xc2\xb5s");
	json_object_end(j);
}

static void write_visible(const struct gecko_meta *m, struct json *j)
{
	json_key(j, "initialVisibleThreads");
	json_array(j);
	for (size_t i = 0; i < m->visible_count; i++)
		json_uint(j, m->visible[i]);
	json_array_end(j);
	json_key(j, "initialSelectedThreads");
	json_array(j);
	if (m->visible_count)
		json_uint(j, m->visible[0]);
	json_array_end(j);
}

static void entry(struct json *j, const char *label, const char *format)
{
	json_object(j);
	text(j, "label", label);
	text(j, "format", format);
	json_key(j, "value");
}

static void entry_text(struct json *j, const char *label, const char *value)
{
	entry(j, label, "string");
	json_string(j, value);
	json_object_end(j);
}

static void entry_count(struct json *j, const char *label, uint64_t value)
{
	entry(j, label, "integer");
	json_uint(j, value);
	json_object_end(j);
}

static void write_rate(const struct gecko_meta *m, struct json *j)
{
	double seconds = (double)(m->end - m->zero - m->gap) / 1e9;
	double kept = seconds > 0 && m->ticks > 1 ? (double)m->ticks / seconds : 0;
	char rate[96];

	if (m->info->about.rate_hz > 0)
		snprintf(rate, sizeof(rate), "%.6g Hz asked, %.6g Hz kept, jitter %.3g %%",
			 m->info->about.rate_hz, kept, m->info->about.jitter_percent);
	else
		snprintf(rate, sizeof(rate), "flat out, %.6g Hz kept", kept);
	entry_text(j, "Sampling rate", rate);
}

/* The sampler's facts: how much of the time was seen, and how well. */
static void write_extra(const struct gecko_meta *m, struct json *j)
{
	json_key(j, "extra");
	json_array(j);
	json_object(j);
	text(j, "label", "pytop");
	json_key(j, "entries");
	json_array(j);
	write_rate(m, j);
	entry_count(j, "Ticks", m->ticks);
	entry_count(j, "Thread-samples", m->samples);
	entry_count(j, "Missed ticks", m->missed);
	entry_count(j, "Torn stacks", m->torn);
	entry(j, "Not sampled (gaps)", "milliseconds");
	json_double(j, (double)m->gap / 1e6, 3);
	json_object_end(j);
	entry_text(j, "Range",
		   m->shortened ? "the last part of the log" : "all that was asked for");
	entry_text(j, "Rows",
		   m->merged ? "runs of equal idle samples are one row, with their weight"
			     : "one for each thread-sample");
	entry_text(j, "Global interpreter lock", m->info->about.free_threaded ? "no" : "yes");
	json_array_end(j);
	json_object_end(j);
	json_array_end(j);
}

void gecko_meta_write(const struct gecko_meta *m, struct json *j)
{
	json_object(j);
	write_versions(m, j);
	write_times(m, j);
	write_switches(j);
	json_key(j, "categories");
	gecko_write_categories(j);
	json_key(j, "markerSchema");
	gecko_write_schema(j);
	write_visible(m, j);
	write_extra(m, j);
	json_object_end(j);
}
