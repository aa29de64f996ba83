/*
 * gecko_range: how much of a log a viewer can take.
 *
 * The Firefox Profiler is pleasant up to about two million rows. As long as all fits, each
 * thread-sample is a row of its own (with merged rows the viewer shows no times beside its
 * counts). A log tells for each second how many thread-samples and how many stored rows it has: a
 * stored row is where something changed or CPU was used. A run of equal idle samples makes one
 * row for its first and one for the rest, cut each GECKO_RUN_MAX_NS; so the estimate is an upper
 * bound and the promise holds without reading the log twice.
 *
 * Called by gecko.c.
 */
#include "export/gecko_range.h"

#define SECOND_NS 1000000000
#define CUTS (SECOND_NS / GECKO_RUN_MAX_NS + 1) /* of one thread's runs in a second */

uint64_t gecko_range_rows(const struct replay_second *second)
{
	uint64_t samples = second->samples, stored = second->rows, runs, threads, rows;

	if (stored > samples)
		stored = samples;
	runs = samples - stored < stored ? samples - stored : stored;
	threads = second->ticks ? (samples + second->ticks - 1) / second->ticks : 0;
	rows = stored + runs + threads * CUTS;
	return rows < samples ? rows : samples;
}

static bool inside(const struct replay_second *second, const struct export_options *options)
{
	nanoseconds end = second->start + SECOND_NS;

	return end > options->from && (!options->to || second->start < options->to);
}

void gecko_range_choose(const struct replay *replay, const struct export_options *options,
			uint64_t rows_max, struct gecko_range *range)
{
	size_t count, first;
	const struct replay_second *seconds = replay_seconds(replay, &count);
	uint64_t samples = 0, rows = 0;

	*range = (struct gecko_range){ .from = options->from, .to = options->to };
	for (size_t i = 0; i < count; i++)
		if (inside(&seconds[i], options))
			samples += seconds[i].samples;
	range->merge = samples > rows_max;
	if (!range->merge || options->whole)
		return;
	first = count;
	for (size_t i = count; i-- > 0;) {
		uint64_t more = gecko_range_rows(&seconds[i]);

		if (!inside(&seconds[i], options))
			continue;
		if (first < count && rows + more > rows_max) {
			range->from = seconds[first].start;
			range->shortened = true;
			break;
		}
		rows += more;
		first = i;
	}
}
