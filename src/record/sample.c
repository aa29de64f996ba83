/*
 * sample: the names of kinds and states, and what one thread-sample is worth in each kind.
 *
 * Everything that adds up thread-samples (the tally on the screen, the profile over a range, an
 * export) asks sample_values(), so that all of them mean the same by "cpu" or "wait".
 */
#include "record/sample.h"

static const char *const kind_names[KIND_COUNT] = {
#define X(name, text, help) text,
	KIND_TABLE(X)
#undef X
};

static const char *const state_names[STATE_COUNT] = {
#define X(name, text, marker) text,
	STATE_TABLE(X)
#undef X
};

const char *kind_name(enum kind kind)
{
	return (unsigned int)kind < KIND_COUNT ? kind_names[kind] : "?";
}

const char *state_name(enum thread_state state)
{
	return (unsigned int)state < STATE_COUNT ? state_names[state] : "?";
}

void sample_values(const struct sample *s, nanoseconds weight, nanoseconds values[KIND_COUNT])
{
	values[KIND_WALL] = weight;
	values[KIND_CPU] = s->cpu_mille == 1000 ? weight
						: weight / 1000 * s->cpu_mille +
							  weight % 1000 * s->cpu_mille / 1000;
	values[KIND_GIL] = s->flags & SAMPLE_GIL ? weight : 0;
	values[KIND_WAIT] = s->state == STATE_GIL_WAIT ? weight : 0;
}
