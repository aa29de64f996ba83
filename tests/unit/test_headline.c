/* Each figure of the header, from sums whose outcome is known. */
#include "unit.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "headline.h"

#define MS ((nanoseconds)1000000)
#define SECOND (1000 * MS)

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

/* ---- sums */

/* One second of two interpreters: in the first the GIL is held half of the time, in the second one quarter. */
static void fill(struct tally *tally, struct names *names)
{
	struct sample samples[2] = { 0 };

	for (int i = 0; i < 2; i++) {
		struct name_thread t = { .tid = 10 + i, .interpreter = i, .born = 1 };

		ck_assert_int_eq(names_thread(names, &t, &samples[i].thread), ST_OK);
	}
	for (int i = 0; i < 1000; i++) {
		struct tick tick = { .time = SECOND + i * MS,
				     .weight = MS,
				     .process_cpu = MS * 3 / 2,
				     .native_cpu = MS / 4,
				     .missed = i % 10 == 0,
				     .interpreter_count = 2,
				     .interpreters = {
					     { .id = 0, .has_gil = true, .locked = i % 2 },
					     { .id = 1, .has_gil = true, .locked = i % 4 == 0 } } };

		samples[0].state = i % 2 ? STATE_GIL : STATE_GIL_WAIT;
		samples[0].cpu_mille = i % 2 ? 1000 : 0;
		samples[0].flags = (uint8_t)((i % 2 ? SAMPLE_GIL : 0) | (i % 5 ? 0 : SAMPLE_TORN));
		samples[1].state = STATE_SLEEP;
		samples[1].flags = i % 4 ? 0 : SAMPLE_EXCEPTION;
		ck_assert_int_eq(tally_tick(tally, &tick, samples, 2), ST_OK);
	}
}

START_TEST(sums)
{
	struct names *names;
	struct tally *tally;
	static struct pytop_header h;

	ck_assert_int_eq(names_open(&names), ST_OK);
	ck_assert_int_eq(tally_open(&tally, names, 0), ST_OK);
	headline_tally(&h, tally);
	ck_assert(!h.has_gil);
	ck_assert(is_near(h.cpu_percent, 0));
	ck_assert(is_near(h.torn_percent, 0));

	fill(tally, names);
	headline_tally(&h, tally);
	ck_assert(is_near(h.seen_s, 1));
	ck_assert_uint_eq(h.ticks, 1000);
	ck_assert_uint_eq(h.samples, 2000);
	ck_assert_uint_eq(h.missed, 100);
	ck_assert_uint_eq(h.torn, 200);
	ck_assert(is_near(h.torn_percent, 10));
	ck_assert(is_near(h.cpu_percent, 150));
	ck_assert(is_near(h.native_percent, 25));
	ck_assert(is_near(h.exception_percent, 25));
	/* of the busiest interpreter, with the waiters of that one */
	ck_assert(h.has_gil);
	ck_assert(is_near(h.gil_percent, 50));
	ck_assert(is_near(h.gil_wait_percent, 50));
	tally_close(tally);
	names_close(names);
}
END_TEST

START_TEST(without_a_gil)
{
	struct names *names;
	struct tally *tally;
	static struct pytop_header h;
	struct tick tick = { .time = SECOND, .weight = MS, .interpreter_count = 1 };

	ck_assert_int_eq(names_open(&names), ST_OK);
	ck_assert_int_eq(tally_open(&tally, names, 10), ST_OK);
	ck_assert_int_eq(tally_tick(tally, &tick, NULL, 0), ST_OK);
	headline_tally(&h, tally);
	ck_assert(!h.has_gil);
	tally_close(tally);
	names_close(names);
}
END_TEST

START_TEST(states)
{
	struct sample samples[] = { { .state = STATE_GIL },
				    { .state = STATE_POLL },
				    { .state = STATE_POLL },
				    { .state = 200 } };
	static struct pytop_header h;

	headline_states(&h, samples, 4);
	ck_assert_uint_eq(h.thread_count, 4);
	ck_assert_uint_eq(h.threads_by_state[STATE_GIL], 1);
	ck_assert_uint_eq(h.threads_by_state[STATE_POLL], 2);
	ck_assert(!h.stopped);
	for (int i = 0; i < 4; i++)
		samples[i].state = STATE_STOPPED;
	headline_states(&h, samples, 4);
	ck_assert_uint_eq(h.threads_by_state[STATE_STOPPED], 4);
	ck_assert_uint_eq(h.threads_by_state[STATE_POLL], 0);
	ck_assert(h.stopped);
	headline_states(&h, samples, 0);
	ck_assert(!h.stopped);
}
END_TEST

/* ---- the pace */

START_TEST(pace_figures)
{
	static struct pytop_header h;
	static struct pace pace;
	struct headline headline;
	nanoseconds weight, gap, now = SECOND;
	uint32_t missed;

	headline_open(&headline, now);
	pace_start(&pace, MS, 0, 1, now);
	/* every tenth tick comes a whole interval late: one deadline is dropped */
	for (int i = 0; i < 3000; i++) {
		now += i % 10 == 9 ? 2 * MS : MS;
		pace_tick(&pace, now, &weight, &gap, &missed);
		pace_cost(&pace, 20000);
		if (i % 1000 == 999)
			headline_pace(&headline, &h, &pace, (uint64_t)(now - SECOND) / 4, now);
	}
	ck_assert(is_near(h.rate_asked_hz, 1000));
	ck_assert(fabs(h.rate_real_hz - 909) < 5);
	ck_assert(fabs(h.rate_mean_hz - 909) < 5);
	ck_assert(fabs(h.missed_percent - 100.0 / 11) < 0.5);
	ck_assert(is_near(h.blocked_percent, 25));
	ck_assert(fabs(h.tick_mean_us - 20) < 1);
	ck_assert(!h.spinning);
	ck_assert(h.self_cpu_percent >= 0);

	/* recent: a whole good second later nothing is missed any more */
	for (int i = 0; i < 2100; i++) {
		now += MS;
		pace_tick(&pace, now, &weight, &gap, &missed);
	}
	headline_pace(&headline, &h, &pace, (uint64_t)(now - SECOND) / 4, now);
	ck_assert(h.missed_percent < 0.2);
}
END_TEST

START_TEST(spinning)
{
	static struct pytop_header h;
	static struct pace pace;
	struct headline headline;

	headline_open(&headline, SECOND);
	pace_start(&pace, 0, 0, 1, SECOND);
	headline_pace(&headline, &h, &pace, 0, 2 * SECOND);
	ck_assert(h.spinning);
	ck_assert(is_near(h.rate_asked_hz, 0));
	pace_start(&pace, 20000, 0, 1, SECOND);
	headline_pace(&headline, &h, &pace, 0, 2 * SECOND);
	ck_assert(h.spinning);
}
END_TEST

/* ---- the target */

START_TEST(target)
{
	static struct attachment a;
	static struct pytop_header h;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	a.process.pid = 4711;
	a.info.start_time_ns = (uint64_t)(now.tv_sec - 100) * 1000000000u;
	strcpy(a.info.name, "app.py");
	strcpy(a.info.command, "python3 app.py -x");
	strcpy(a.runtime.version_text, "3.13.1");
	headline_target(&h, &a);
	ck_assert_int_eq(h.pid, 4711);
	ck_assert_str_eq(h.python, "3.13.1");
	ck_assert_str_eq(h.name, "app.py");
	ck_assert_str_eq(h.command, "python3 app.py -x");
	ck_assert_uint_ge(h.uptime_s, 100);
	ck_assert_uint_lt(h.uptime_s, 100 + 3600);
}
END_TEST

START_TEST(no_log)
{
	static struct pytop_header h;
	struct headline headline;

	headline_open(&headline, SECOND);
	h.log = PYTOP_LOG_ON;
	headline_log(&headline, &h, NULL, SECOND);
	ck_assert_int_eq(h.log, PYTOP_LOG_NONE);
}
END_TEST

UNIT_MAIN("headline", sums, without_a_gil, states, pace_figures, spinning, target, no_log)
