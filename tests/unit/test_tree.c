/*
 * tree: sums of a recording whose sums are known.
 */
#include "profile/tree.h"

#include <math.h>

#include "profile/carry.h"
#include "recording.h"

static struct tree build(struct recording *r, struct tree_options options)
{
	struct tree tree;

	ck_assert_int_eq(tree_build(&tree, recording_replay(r), &options, NULL, NULL), ST_OK);
	return tree;
}

static const char *name_of(const struct tree *t, uint32_t node)
{
	const struct tree_node *n = &t->nodes[node];

	if (n->thread)
		return names_text(t->names, names_thread_at(t->names, n->thread)->name, NULL);
	if (n->state)
		return state_name((enum thread_state)(n->state - 1));
	return names_text(t->names, names_function_at(t->names, n->function)->name, NULL);
}

/* The node reached by the names of path, separated by '/'; 0: none. */
static uint32_t find(const struct tree *t, const char *path)
{
	uint32_t node = 0;

	while (*path) {
		size_t n = strcspn(path, "/");
		uint32_t child = t->nodes[node].first_child;

		while (child &&
		       (strlen(name_of(t, child)) != n || strncmp(name_of(t, child), path, n)))
			child = t->nodes[child].next_sibling;
		if (!child)
			return 0;
		node = child;
		path += n + (path[n] == '/');
	}
	return node;
}

static void ck_ms(double seconds, double ms)
{
	ck_assert_double_eq_tol(seconds * 1000, ms, 1e-6);
}

/*
 * main/work 6 ms with the GIL and 4 ms waiting; main/rest 5 ms asleep; Worker main/work 15 ms
 * native, half of it on a CPU.
 */
static void record_two(struct recording *r)
{
	recording_open(r, NULL);

	thread_id one = recording_thread(r, 4242, "MainThread", true);
	thread_id two = recording_thread(r, 4243, "Worker", false);
	stack_id top = recording_call(r, 0, "main", "/srv/shop.py", 1, 2);
	stack_id work = recording_call(r, top, "work", "/srv/shop.py", 10, 11);
	stack_id later = recording_call(r, top, "work", "/srv/shop.py", 10, 12);
	stack_id rest = recording_call(r, top, "rest", "/srv/shop.py", 20, 21);

	for (int i = 0; i < 15; i++) {
		struct sample s[2] = {
			{ one, i < 5 ? work : later, STATE_GIL, SAMPLE_GIL, 1000, -1 },
			{ two, work, STATE_RUNNING, 0, 500, -1 },
		};

		if (i >= 6)
			s[0] = (struct sample){ one, work, STATE_GIL_WAIT, 0, 0, 202 };
		if (i >= 10)
			s[0] = (struct sample){ one, rest, STATE_SLEEP, 0, 0, 230 };
		recording_tick(r, s, 2);
	}
}

START_TEST(threads_merged)
{
	struct recording r;
	struct tree t;
	uint32_t work, top;

	record_two(&r);
	t = build(&r, (struct tree_options){ 0 });
	work = find(&t, "main/work");
	top = find(&t, "main");
	ck_assert_uint_eq(t.count, 4);
	ck_assert_uint_eq(t.samples, 30);
	ck_assert_uint_eq(t.ticks, 15);
	ck_ms(t.seconds, 15);
	ck_ms(t.nodes[work].self_s[KIND_WALL], 25);
	ck_ms(t.nodes[work].self_s[KIND_CPU], 6 + 7.5);
	ck_ms(t.nodes[work].self_s[KIND_GIL], 6);
	ck_ms(t.nodes[work].self_s[KIND_WAIT], 4);
	ck_ms(t.nodes[top].self_s[KIND_WALL], 0);
	ck_ms(t.nodes[top].total_s[KIND_WALL], 30);
	ck_ms(t.nodes[0].total_s[KIND_CPU], 13.5);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

START_TEST(threads_apart_with_lines_and_states)
{
	struct recording r;
	struct tree t;

	record_two(&r);
	t = build(&r, (struct tree_options){ .threads_apart = true });
	ck_ms(t.nodes[find(&t, "MainThread/main/work")].self_s[KIND_WALL], 10);
	ck_ms(t.nodes[find(&t, "Worker/main/work")].self_s[KIND_CPU], 7.5);
	ck_assert_uint_eq(find(&t, "Worker/main/rest"), 0);
	tree_free(&t);

	t = build(&r, (struct tree_options){ .by_line = true });
	ck_assert_uint_eq(t.count, 5); /* work stands twice */
	ck_assert_int_eq(t.nodes[find(&t, "main/rest")].line, 21);
	tree_free(&t);

	t = build(&r, (struct tree_options){ .states = true });
	ck_ms(t.nodes[find(&t, "main/work")].self_s[KIND_WALL], 6);
	ck_ms(t.nodes[find(&t, "main/work/gil-wait")].self_s[KIND_WAIT], 4);
	ck_ms(t.nodes[find(&t, "main/work/running")].self_s[KIND_CPU], 7.5);
	ck_ms(t.nodes[find(&t, "main/rest/sleep")].total_s[KIND_WALL], 5);
	ck_ms(t.nodes[find(&t, "main/work")].total_s[KIND_WALL], 25);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

START_TEST(range_is_half_open)
{
	struct recording r;
	struct tree t;

	record_two(&r);
	t = build(&r, (struct tree_options){ .from = RECORDING_START + 6 * MS,
					     .to = RECORDING_START + 10 * MS });
	ck_assert_uint_eq(t.ticks, 4);
	ck_ms(t.nodes[find(&t, "main/work")].self_s[KIND_WAIT], 4);
	ck_ms(t.nodes[find(&t, "main/work")].self_s[KIND_GIL], 0);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

static bool refuse(void *context, double done)
{
	*(double *)context = done;
	return false;
}

START_TEST(cancelled_and_empty)
{
	struct recording r;
	struct tree t = { .count = 77 };
	const struct tree_options all = { 0 }, none = { .from = INT64_MAX - 1, .to = INT64_MAX };
	struct sample s[100];
	double told = -1;

	recording_open(&r, NULL);
	for (int i = 0; i < 100; i++)
		s[i] = (struct sample){
			recording_thread(&r, 5000 + i, "t", !i), 0, STATE_POLL, 0, 0, -1
		};
	for (int i = 0; i < 400; i++)
		recording_tick(&r, s, 100);
	ck_assert_int_eq(tree_build(&t, recording_replay(&r), &all, refuse, &told), ST_CANCELLED);
	ck_assert(told > 0 && told < 1);
	ck_assert_int_eq(tree_build(&t, r.replay, &none, NULL, NULL), ST_NO_SAMPLES);
	ck_assert_uint_eq(t.count, 77); /* untouched on failure */
	recording_close(&r);
}
END_TEST

/* Recursion far deeper than any stack of C would take. */
START_TEST(deep)
{
	enum { DEPTH = 30000 };
	struct recording r;
	struct tree t;
	stack_id stack = 0;
	uint32_t depth = 0;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 1, "MainThread", true);

	for (int i = 0; i < DEPTH; i++)
		stack = recording_call(&r, stack, i % 2 ? "odd" : "even", "/srv/deep.py", 1, 2);

	struct sample s = { one, stack, STATE_GIL, SAMPLE_GIL, 1000, -1 };

	recording_tick(&r, &s, 1);
	t = build(&r, (struct tree_options){ 0 });
	ck_assert_uint_eq(t.count, DEPTH + 1);
	for (uint32_t at = t.nodes[0].first_child; at; at = t.nodes[at].first_child) {
		ck_ms(t.nodes[at].total_s[KIND_GIL], 1);
		depth++;
	}
	ck_assert_uint_eq(depth, DEPTH);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

/* Too many paths: what is forgotten is small, and nothing is lost of the sums. */
START_TEST(pruned)
{
	enum { PATHS = 3000, NODES = 500 };
	struct recording r;
	struct tree t;
	double forgotten = 0, self = 0;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 1, "MainThread", true);
	stack_id top = recording_call(&r, 0, "main", "/srv/a.py", 1, 2);
	stack_id hot = recording_call(&r, top, "hot", "/srv/a.py", 5, 6);

	for (int i = 0; i < PATHS; i++) {
		char name[32];
		struct sample s = { one, hot, STATE_GIL, SAMPLE_GIL, 1000, -1 };

		recording_tick(&r, &s, 1);
		snprintf(name, sizeof(name), "cold%d", i);
		s.stack = recording_call(&r, top, name, "/srv/b.py", i + 1, i + 2);
		recording_tick(&r, &s, 1);
	}
	t = build(&r, (struct tree_options){ .nodes_max = NODES });
	ck_assert_uint_le(t.count, NODES);
	ck_ms(t.nodes[0].total_s[KIND_WALL], 2.0 * PATHS);
	ck_ms(t.nodes[find(&t, "main/hot")].self_s[KIND_CPU], PATHS);
	for (uint32_t i = 1; i < t.count; i++) {
		ck_assert_uint_lt(t.nodes[i].parent, i);
		self += t.nodes[i].self_s[KIND_GIL];
		if (!strcmp(name_of(&t, i), NAMES_FORGOTTEN))
			forgotten += t.nodes[i].self_s[KIND_GIL];
	}
	ck_ms(self, 2.0 * PATHS);
	ck_assert(forgotten * 1000 > PATHS - NODES);
	ck_assert(forgotten * 1000 <= PATHS);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

/* Ids that begin anew: the same paths fall together, and threads keep their names. */
START_TEST(generations)
{
	struct recording r;
	struct tree t;

	recording_open(&r, NULL);

	thread_id one = recording_thread(&r, 1, "Thread-1", true);

	for (int generation = 0; generation < 3; generation++) {
		if (generation) {
			spool_renew(r.spool);
			names_renew(r.names, NULL);
		}
		/* other functions first, so that ids differ from those before */
		for (int i = 0; i < generation; i++)
			recording_call(&r, 0, i ? "b" : "a", "/srv/other.py", 1, 1);

		stack_id top = recording_call(&r, 0, "main", "/srv/a.py", 1, 2);
		stack_id hot = recording_call(&r, top, "hot", "/srv/a.py", 5, 6);
		struct sample s = { one, hot, STATE_GIL, SAMPLE_GIL, 1000, -1 };

		for (int i = 0; i < 10; i++)
			recording_tick(&r, &s, 1);
		if (generation == 1)
			names_thread_renamed(r.names, one, recording_string(&r, "MainThread"));
	}
	t = build(&r, (struct tree_options){ .threads_apart = true });
	ck_assert_uint_eq(t.count, 4);
	ck_ms(t.nodes[find(&t, "MainThread/main/hot")].self_s[KIND_GIL], 30);
	tree_free(&t);
	recording_close(&r);
}
END_TEST

/* The names that ids are carried from are emptied under the carrier. */
START_TEST(carried_over_a_renewal)
{
	struct names *from, *to;
	struct carry *carry;
	stack_id before, after;
	func_id function;

	ck_assert_int_eq(names_open(&from), ST_OK);
	ck_assert_int_eq(names_open(&to), ST_OK);
	ck_assert_int_eq(carry_open(&carry, from, to), ST_OK);
	for (int i = 0; i < 2; i++) {
		struct recording fake = { .names = from };
		stack_id top, leaf;

		if (i) {
			names_renew(from, NULL);
			recording_call(&fake, 0, "other", "/o.py", 9, 9);
		}
		top = recording_call(&fake, 0, "main", "/a.py", 1, 2);
		leaf = recording_call(&fake, top, "leaf", "/a.py", 3, 4);
		ck_assert_int_eq(carry_tick(carry), i == 1);
		ck_assert_int_eq(carry_stack(carry, leaf, i ? &after : &before), ST_OK);
	}
	ck_assert_uint_eq(before, after);
	ck_assert_int_eq(carry_function(carry, 999999, &function), ST_OK);
	ck_assert_uint_eq(function, carry_forgotten(carry));
	ck_assert_int_eq(carry_stack(carry, 0, &after), ST_OK);
	ck_assert_uint_eq(after, 0);
	carry_close(carry);
	names_close(to);
	names_close(from);
}
END_TEST

UNIT_MAIN("tree", threads_merged, threads_apart_with_lines_and_states, range_is_half_open,
	  cancelled_and_empty, deep, pruned, generations, carried_over_a_renewal)
