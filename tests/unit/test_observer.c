/* Looks at a real interpreter: who is there, on what stack, doing what; whom to record; threads that come and go; the end. */
#include "pythons.h"

#include <time.h>

#include "attach.h"
#include "observer.h"

#define MS ((nanoseconds)1000000)

struct scene {
	struct python python;
	struct attachment attachment;
	struct names *names;
	struct observer *observer;
	const struct observation *seen;
	nanoseconds before;
};

static struct scene s;

static nanoseconds now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (nanoseconds)t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void observe(const struct observer_options *options)
{
	struct attach_failure failure;

	ck_assert_int_eq(attach_open(&s.attachment, s.python.pid, 5, false, NULL, &failure), ST_OK);
	ck_assert_int_eq(names_open(&s.names), ST_OK);
	ck_assert_int_eq(observer_open(&s.observer, &s.attachment.process, &s.attachment.memory,
				       &s.attachment.runtime, s.names, options),
			 ST_OK);
	s.before = now_ns();
}

static void scene_open(const char *script, const struct observer_options *options)
{
	memset(&s, 0, sizeof(s));
	python_start(&s.python, script);
	observe(options);
}

static void scene_close(void)
{
	observer_close(s.observer);
	names_close(s.names);
	attach_close(&s.attachment);
	python_end(&s.python);
}

static enum status try_look(void)
{
	struct timespec pause = { 0, MS };

	nanosleep(&pause, NULL);
	struct tick tick = { .time = now_ns() };
	tick.weight = tick.time - s.before;
	s.before = tick.time;
	return observer_look(s.observer, &tick, &s.seen);
}

static void look(void)
{
	ck_assert_int_eq(try_look(), ST_OK);
}

/* The first look learns who is there. */
static void looks(int n)
{
	while (n-- > 0)
		look();
}

static const char *name_of(const struct sample *sample)
{
	return names_text(s.names, names_thread_at(s.names, sample->thread)->name, NULL);
}

static const struct sample *sample_of(const char *name)
{
	for (size_t i = 0; i < s.seen->count; i++)
		if (strcmp(name_of(&s.seen->samples[i]), name) == 0)
			return &s.seen->samples[i];
	return NULL;
}

static bool has_function(const struct sample *sample, const char *name)
{
	for (stack_id id = sample->stack; id; id = names_stack_at(s.names, id)->parent) {
		const struct name_frame *f =
			names_frame_at(s.names, names_stack_at(s.names, id)->frame);
		func_id function = f->function;

		if (strcmp(names_text(s.names, names_function_at(s.names, function)->name, NULL),
			   name) == 0)
			return true;
	}
	return false;
}

static const struct observer_options everybody;

START_TEST(a_service)
{
	int gil = 0, spins = 0, sleeps = 0, polls = 0;

	scene_open(PYTHONS_SERVICE, &everybody);
	looks(3);
	while (sample_of("MainThread")->state != STATE_IO)
		look();
	for (int i = 0; i < 300; i++) {
		look();
		ck_assert_uint_eq(s.seen->count, 3);
		const struct sample *spinner = sample_of("spinner-1");
		const struct sample *sleeper = sample_of("sleeper-1");
		const struct sample *main_thread = sample_of("MainThread");
		ck_assert_ptr_nonnull(spinner);
		ck_assert_ptr_nonnull(sleeper);
		ck_assert_ptr_nonnull(main_thread);
		ck_assert(names_thread_at(s.names, main_thread->thread)->main);
		ck_assert(!names_thread_at(s.names, spinner->thread)->main);
		ck_assert_int_eq(names_thread_at(s.names, main_thread->thread)->tid, s.python.pid);
		ck_assert(has_function(spinner, "spinner") || spinner->flags & SAMPLE_TORN);
		ck_assert(has_function(sleeper, "sleeper"));
		spins += has_function(spinner, "burn");
		gil += (spinner->flags & SAMPLE_GIL) != 0;
		sleeps += sleeper->state == STATE_SLEEP || sleeper->state == STATE_POLL;
		polls += main_thread->state == STATE_IO;
		ck_assert_uint_eq(sleeper->cpu_mille, 0);
		ck_assert_uint_le(spinner->cpu_mille, 1000);
		ck_assert_uint_eq(s.seen->tick.interpreter_count, 1);
	}
	/* it may be between two calls, or give the GIL away for a moment, but not often */
	ck_assert_int_gt(spins, 150);
	ck_assert_int_gt(gil, 150);
	ck_assert_int_eq(sleeps, 300);
	ck_assert_int_eq(polls, 300);
	ck_assert_uint_gt(s.seen->tick.rss_bytes, 1 << 20);
	scene_close();
}
END_TEST

/* The tick's holder is the thread whose sample holds the GIL. */
START_TEST(holder)
{
	int known = 0;

	scene_open(PYTHONS_SERVICE, &everybody);
	looks(3);
	for (int i = 0; i < 200; i++) {
		look();
		const struct tick_interpreter *in = &s.seen->tick.interpreters[0];
		for (size_t k = 0; k < s.seen->count; k++) {
			const struct sample *sample = &s.seen->samples[k];

			ck_assert_int_eq((sample->flags & SAMPLE_GIL) != 0,
					 in->locked && in->holder == sample->thread);
			known += in->holder == sample->thread;
		}
	}
	ck_assert_int_gt(known, 100);
	scene_close();
}
END_TEST

START_TEST(main_thread_only)
{
	const struct observer_options options = { .main_thread_only = true };

	scene_open(PYTHONS_SERVICE, &options);
	looks(5);
	ck_assert_uint_eq(s.seen->count, 1);
	ck_assert_str_eq(name_of(&s.seen->samples[0]), "MainThread");
	scene_close();
}
END_TEST

START_TEST(chosen_threads)
{
	pid_t chosen[1];
	const struct observer_options options = { .threads = chosen, .thread_count = 1 };

	scene_open(PYTHONS_SERVICE, &everybody);
	looks(5);
	chosen[0] = names_thread_at(s.names, sample_of("sleeper-1")->thread)->tid;
	observer_close(s.observer);
	names_close(s.names);
	attach_close(&s.attachment);
	observe(&options);
	looks(5);
	ck_assert_uint_eq(s.seen->count, 1);
	ck_assert_str_eq(name_of(&s.seen->samples[0]), "sleeper-1");
	scene_close();
}
END_TEST

/* Stopped around each look; nothing tears then, and the states are those of before. */
START_TEST(blocking)
{
	const struct observer_options options = { .blocking = true };

	scene_open(PYTHONS_SERVICE, &options);
	looks(3);
	uint64_t before = observer_held_ns(s.observer);
	for (int i = 0; i < 100; i++) {
		look();
		ck_assert_uint_eq(s.seen->count, 3);
		for (size_t k = 0; k < s.seen->count; k++) {
			ck_assert(!(s.seen->samples[k].flags & SAMPLE_TORN));
			ck_assert_int_ne(s.seen->samples[k].state, STATE_STOPPED);
		}
	}
	ck_assert_uint_gt(observer_held_ns(s.observer), before);
	scene_close();
}
END_TEST

/* Every thread has a row of its own, and its death is noted. */
START_TEST(threads_come_and_go)
{
	size_t born = 0, died = 0;

	scene_open("import threading, time, sys\n"
		   "print('ready', flush=True)\n"
		   "i = 0\n"
		   "while True:\n"
		   "    t = threading.Thread(target=time.sleep, args=(0.02,), name='t%d' % i)\n"
		   "    t.start(); t.join(); i += 1\n",
		   &everybody);
	while (names_thread_count(s.names) < 20) {
		look();
		ck_assert_uint_le(s.seen->count, 2);
	}
	for (thread_id id = 1; id <= names_thread_count(s.names); id++) {
		const struct name_thread *t = names_thread_at(s.names, id);

		born += t->born > 0;
		died += t->died > 0;
		ck_assert(!t->died || t->died >= t->born);
		for (thread_id other = 1; other < id; other++)
			ck_assert(names_thread_at(s.names, other)->tid != t->tid ||
				  names_thread_at(s.names, other)->died);
	}
	ck_assert_uint_ge(born, 20);
	ck_assert_uint_ge(died, 18);
	observer_bury(s.observer, now_ns());
	for (thread_id id = 1; id <= names_thread_count(s.names); id++)
		ck_assert_int_gt(names_thread_at(s.names, id)->died, 0);
	scene_close();
}
END_TEST

START_TEST(names_renewed)
{
	scene_open(PYTHONS_SERVICE, &everybody);
	looks(5);
	thread_id main_thread = sample_of("MainThread")->thread;
	names_renew(s.names, NULL);
	observer_renewed(s.observer);
	look();
	ck_assert_uint_eq(s.seen->count, 3);
	ck_assert_uint_eq(sample_of("MainThread")->thread, main_thread);
	ck_assert(has_function(sample_of("sleeper-1"), "sleeper"));
	scene_close();
}
END_TEST

/* After the end every look fails, and what was seen last can still be looked at. */
START_TEST(the_end)
{
	scene_open(PYTHONS_SERVICE, &everybody);
	looks(5);
	kill(s.python.pid, SIGKILL);
	enum status status;
	do
		status = try_look();
	while (status == ST_OK);
	ck_assert(status == ST_ENDED || status == ST_FAULT);
	ck_assert_uint_eq(s.seen->count, 3);
	ck_assert(has_function(sample_of("sleeper-1"), "sleeper"));
	scene_close();
}
END_TEST

/* What the looks of some time add up to, in ns. */
struct shares {
	nanoseconds process, given, native, others;
};

static struct shares shares_of(nanoseconds how_much)
{
	struct shares sum = { 0 };

	while (sum.process < how_much) {
		nanoseconds ns[KIND_COUNT];

		look();
		sum.process += s.seen->tick.process_cpu;
		sum.native += s.seen->tick.native_cpu;
		sum.others += s.seen->tick.others_cpu;
		for (size_t i = 0; i < s.seen->count; i++) {
			sample_values(&s.seen->samples[i], s.seen->tick.weight, ns);
			sum.given += ns[KIND_CPU];
		}
	}
	return sum;
}

#define WORKERS \
	"import threading, time, sys\n" \
	"def run():\n" \
	"    while True:\n" \
	"        e = time.perf_counter() + 0.002\n" \
	"        while time.perf_counter() < e: pass\n" \
	"        time.sleep(0.001)\n" \
	"for i in range(3): threading.Thread(target=run, daemon=True).start()\n" \
	"print('ready', flush=True)\n" \
	"sys.stdin.read()\n"

/* Every thread is Python's: nothing is called native, from the first look on, and nobody is given more than there was. */
START_TEST(nothing_native)
{
	scene_open(WORKERS, &everybody);
	struct shares sum = shares_of(400 * MS);
	ck_assert_int_eq(sum.native, 0);
	ck_assert_int_eq(sum.others, 0);
	ck_assert_int_gt(sum.given, 0);
	ck_assert_int_le(sum.given, sum.process + sum.process / 20);
	scene_close();
}
END_TEST

/* Who is left out is no native thread. */
START_TEST(left_out)
{
	const struct observer_options options = { .main_thread_only = true };

	scene_open(WORKERS, &options);
	struct shares sum = shares_of(400 * MS);
	ck_assert_int_eq(sum.native, 0);
	ck_assert_int_gt(sum.others, sum.process / 10 * 8);
	ck_assert_int_le(sum.others, sum.process + 20 * MS);
	scene_close();
}
END_TEST

/* A thread that Python does not know spins, in the C library: its CPU time is native. */
START_TEST(native_thread)
{
	scene_open("import ctypes, sys, time\n"
		   "c = ctypes.CDLL(None)\n"
		   "text = ctypes.create_string_buffer(b'a' * (1 << 28))\n"
		   "print('ready', flush=True)\n"
		   "for i in range(99999):\n"
		   "    m = ctypes.c_ulong()\n"
		   "    c.pthread_create(ctypes.byref(m), None, ctypes.cast(c.strlen, "
		   "ctypes.c_void_p), text)\n"
		   "    c.pthread_join(m, None)\n",
		   &everybody);
	struct shares sum = shares_of(400 * MS);
	ck_assert_int_gt(sum.native, sum.process / 10 * 6);
	ck_assert_int_eq(sum.others, 0);
	scene_close();
}
END_TEST

PYTHONS_MAIN("observer", nothing_native, left_out, native_thread, a_service, holder,
	     main_thread_only, chosen_threads, blocking, threads_come_and_go, names_renewed,
	     the_end)
