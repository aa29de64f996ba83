/*
 * Deadlines, weights, gaps and the accounts of the rate, with a clock that the test turns.
 */
#include "unit.h"

#include "record/pace.h"

#define MS 1000000LL
#define S 1000000000LL

static nanoseconds weight, gap;
static uint32_t missed;

static void tick(struct pace *p, nanoseconds now)
{
	pace_tick(p, now, &weight, &gap, &missed);
}

/* Without jitter deadlines stand on a grid, however late the ticks come. */
START_TEST(test_grid)
{
	static struct pace p;

	pace_start(&p, MS, 0, 1, S);
	for (int i = 1; i <= 1000; i++) {
		ck_assert_int_eq(p.deadline, S + i * MS);
		tick(&p, p.deadline + MS / 3);
		ck_assert_int_eq(weight, i == 1 ? MS + MS / 3 : MS);
		ck_assert_int_eq(gap, 0);
		ck_assert_uint_eq(missed, 0);
	}
}
END_TEST

/* 2.5 intervals after the last tick: one deadline was served, one was dropped. */
START_TEST(test_missed)
{
	static struct pace p;

	pace_start(&p, MS, 0, 1, S);
	tick(&p, S + MS);
	tick(&p, S + 3 * MS + MS / 2);
	ck_assert_uint_eq(missed, 1);
	ck_assert_int_eq(weight, 2 * MS + MS / 2);
	ck_assert_int_eq(gap, 0);
	ck_assert_int_eq(p.deadline, S + 4 * MS);
}
END_TEST

/* Ten seconds away: four intervals count, the rest is a gap, and its deadlines are not missed. */
START_TEST(test_gap)
{
	static struct pace p;

	pace_start(&p, MS, 0, 1, S);
	tick(&p, S + MS);
	tick(&p, 11 * S + MS);
	ck_assert_int_eq(weight, 4 * MS);
	ck_assert_int_eq(gap, 10 * S - 4 * MS);
	ck_assert_uint_eq(missed, 3);
	ck_assert_int_eq(p.deadline, 11 * S + 2 * MS);
}
END_TEST

START_TEST(test_interrupted)
{
	static struct pace p;

	pace_start(&p, MS, 0, 1, S);
	tick(&p, S + MS);
	pace_interrupted(&p, 2 * S);
	ck_assert_int_eq(p.deadline, 2 * S + MS);
	tick(&p, 2 * S + MS);
	ck_assert_int_eq(weight, 0);
	ck_assert_int_eq(gap, S);
	ck_assert_uint_eq(missed, 0);
	tick(&p, 2 * S + 2 * MS);
	ck_assert_int_eq(weight, MS);
	ck_assert_int_eq(gap, 0);
}
END_TEST

/* Every interval lies within the jitter, they differ, and their mean is the interval. */
START_TEST(test_jitter)
{
	static struct pace p;
	nanoseconds least = S, most = 0, before = S;
	enum { COUNT = 100000 };

	pace_start(&p, MS, 30, 12345, S);
	for (int i = 0; i < COUNT; i++) {
		nanoseconds interval = p.deadline - before;

		least = interval < least ? interval : least;
		most = interval > most ? interval : most;
		before = p.deadline;
		tick(&p, p.deadline);
		ck_assert_int_eq(gap, 0);
	}
	ck_assert_int_ge(least, 700000);
	ck_assert_int_lt(least, 702000);
	ck_assert_int_le(most, 1300000);
	ck_assert_int_gt(most, 1298000);

	double mean = (double)(before - S) / COUNT;

	ck_assert(mean > 997000 && mean < 1003000);
	ck_assert_uint_eq(p.missed, 0);
}
END_TEST

/* Flat out the mean of the weights stands for the interval. */
START_TEST(test_flat_out)
{
	static struct pace p;
	nanoseconds now = S;

	pace_start(&p, 0, 30, 1, S);
	ck_assert_int_eq(p.deadline, S);
	for (int i = 0; i < 1000; i++) {
		now += 4000;
		tick(&p, now);
		ck_assert_int_eq(weight, 4000);
		ck_assert_int_eq(gap, 0);
		ck_assert_int_eq(p.deadline, now);
	}
	tick(&p, now + MS);
	ck_assert_int_eq(weight, 16000);
	ck_assert_int_eq(gap, MS - 16000);
	ck_assert_uint_eq(missed, 0);
	/* When all ticks take longer, the mean follows. */
	now += MS;
	for (int i = 0; i < 1000; i++)
		tick(&p, now += 40000);
	ck_assert_int_eq(weight, 40000);
	ck_assert_int_eq(gap, 0);
}
END_TEST

START_TEST(test_report)
{
	static struct pace p;
	struct pace_report report;
	nanoseconds now = S;

	pace_start(&p, MS, 0, 1, S);
	for (int i = 0; i < 3500; i++) {
		now = p.deadline + (i % 50 ? 3000 : 2000 * 1000 / 10);
		tick(&p, now);
		pace_cost(&p, i % 50 ? 10000 : 100000);
	}
	pace_report(&p, now, &report);
	ck_assert(report.asked_hz > 999.9 && report.asked_hz < 1000.1);
	ck_assert(report.real_hz > 995 && report.real_hz < 1005);
	ck_assert(report.mean_hz > 999 && report.mean_hz < 1001);
	ck_assert(report.min_hz > 995 && report.min_hz <= report.max_hz && report.max_hz < 1005);
	ck_assert_uint_eq(report.ticks, 3500);
	ck_assert(report.late_p50_us > 2.5 && report.late_p50_us < 3.6);
	ck_assert(report.late_p99_us > 160 && report.late_p99_us < 240);
	ck_assert(report.cost_mean_us > 11.7 && report.cost_mean_us < 11.9);
	ck_assert(report.cost_p99_us > 80 && report.cost_p99_us < 120);
	/* No ticks for five seconds: the rate falls though none told it to. */
	pace_report(&p, now + 5 * S, &report);
	ck_assert(report.real_hz < 100);
}
END_TEST

/* Percentiles are of the last ten seconds. */
START_TEST(test_old_seconds_leave)
{
	static struct pace p;
	struct pace_report report;

	pace_start(&p, 10 * MS, 0, 1, S);
	for (int i = 0; i < 3000; i++)
		tick(&p, p.deadline + (i < 1500 ? MS : 0));
	pace_report(&p, 31 * S, &report);
	ck_assert(report.late_p99_us < 1);
}
END_TEST

/* Before the first tick nothing is known, and nothing is divided by zero. */
START_TEST(test_empty_report)
{
	static struct pace p;
	struct pace_report report;

	pace_start(&p, MS, 30, 1, S);
	pace_report(&p, S, &report);
	ck_assert(report.real_hz < 1e-9 && report.late_p99_us < 1e-9 && report.cost_mean_us < 1e-9);
}
END_TEST

UNIT_MAIN("pace", test_grid, test_missed, test_gap, test_interrupted, test_jitter, test_flat_out,
	  test_report, test_old_seconds_leave, test_empty_report)
