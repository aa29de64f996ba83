/*
 * collapsed: the very lines of a recording, with names that would break the format.
 */
#include "export/collapsed.h"

#include "exported.h"

static struct sample sample_of(thread_id thread, stack_id stack, enum thread_state state)
{
	bool gil = state == STATE_GIL;

	return (struct sample){ thread,         stack, (uint8_t)state, gil ? SAMPLE_GIL : 0,
				gil ? 1000 : 0, -1 };
}

/* All lines, for a kind. */
static char *lines_of(struct recording *r, enum kind kind, struct export_result *result)
{
	struct export_options options = exported_options;
	char folder[64], *text;

	options.kind = kind;
	exported_folder(folder);
	text = exported_text(r, "out.folded", &options, result);
	exported_remove(folder);
	return text;
}

START_TEST(lines)
{
	struct recording r;
	struct export_result result;
	char *text;

	recording_open(&r, NULL);

	thread_id main_thread = recording_thread(&r, 4242, "MainThread", true);
	thread_id worker = recording_thread(&r, 4243, "pool;1\n2", false);
	stack_id top = recording_call(&r, 0, "<module>", "/srv/shop.py", 1, 40);
	stack_id price = recording_call(&r, top, "Cart.price", "/srv/shop/cart.py", 88, 90);
	stack_id other_line = recording_call(&r, top, "Cart.price", "/srv/shop/cart.py", 88, 91);
	stack_id gc = recording_call(&r, price, NAMES_GC, "", 0, 0);
	stack_id evil = recording_call(&r, 0, "a;b\x1b[2J", "x;y", 3, 3);

	for (int i = 0; i < 10; i++) {
		struct sample s[2] = {
			sample_of(main_thread,
				  i < 4   ? price
				  : i < 6 ? other_line
					  : gc,
				  STATE_GIL),
			sample_of(worker, evil, i < 7 ? STATE_GIL_WAIT : STATE_SLEEP),
		};

		recording_tick(&r, s, 2);
	}
	text = lines_of(&r, KIND_WALL, &result);
	ck_assert_str_eq(text,
			 "MainThread (4242);<module> (shop.py:1);Cart.price (cart.py:88) 6\n"
			 "MainThread (4242);<module> (shop.py:1);Cart.price (cart.py:88);<GC> 4\n"
			 "pool,1\\n2 (4243);a,b\\x1b[2J (x,y:3) 10\n");
	ck_assert_uint_eq(result.rows, 3);
	ck_assert_uint_eq(result.samples, 20);
	free(text);
	text = lines_of(&r, KIND_WAIT, &result);
	ck_assert_str_eq(text, "pool,1\\n2 (4243);a,b\\x1b[2J (x,y:3) 7\n");
	free(text);
	recording_close(&r);
}
END_TEST

/* Ticks that came late stand for more than one sample, and half a sample rounds up. */
START_TEST(counts_are_time)
{
	struct recording r;
	struct export_result result;
	char *text;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 7, "T", true);
	stack_id slow = recording_call(&r, 0, "slow", "s.py", 1, 1);
	stack_id half = recording_call(&r, 0, "half", "s.py", 2, 2);
	stack_id less = recording_call(&r, 0, "less", "s.py", 3, 3);
	const struct {
		stack_id stack;
		nanoseconds weight;
	} ticks[] = {
		{ slow, 3 * MS }, { slow, 2 * MS }, { half, MS / 2 }, { less, MS / 2 - 1000 }
	};

	for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		struct sample s = sample_of(one, ticks[i].stack, STATE_GIL);

		r.tick.weight = ticks[i].weight;
		recording_tick(&r, &s, 1);
	}
	text = lines_of(&r, KIND_GIL, &result);
	ck_assert_str_eq(text, "T (7);slow (s.py:1) 5\nT (7);half (s.py:2) 1\n");
	free(text);
	recording_close(&r);
}
END_TEST

/* No frames at all: the thread itself is the leaf. */
START_TEST(no_stack)
{
	struct recording r;
	struct export_result result;
	char *text;

	recording_open(&r, NULL);

	struct sample s = sample_of(recording_thread(&r, 9, "", false), 0, STATE_RUNNING);

	recording_tick(&r, &s, 1);
	text = lines_of(&r, KIND_WALL, &result);
	ck_assert_str_eq(text, "thread (9) 1\n");
	free(text);
	recording_close(&r);
}
END_TEST

UNIT_MAIN("collapsed", lines, counts_are_time, no_stack)
