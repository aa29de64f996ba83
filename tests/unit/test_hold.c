/* hold: threads that stand still, and go on as if nothing had been. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "child.h"
#include "target/hold.h"

enum { WORKERS = 4 };
struct work {
	unsigned long counts[WORKERS + 1]; /* the last: by threads that come and go */
	volatile int signals;
};
static struct work *work;

static unsigned long count_of(int worker)
{
	return *(volatile unsigned long *)&work->counts[worker];
}

static void *count_up(void *context)
{
	volatile unsigned long *count = context;

	for (;;)
		++*count;
	return NULL;
}

static void *count_once(void *context)
{
	volatile unsigned long *count = context;

	for (int i = 0; i < 1000; i++)
		++*count;
	return NULL;
}

static void take_signal(int number)
{
	(void)number;
	work->signals++;
}

static void toil(int ready, void *context)
{
	pthread_t thread;

	work = context;
	signal(SIGUSR1, take_signal);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread, NULL, count_up, &work->counts[i]);
	child_ready(ready);
	for (;;)
		if (pthread_create(&thread, NULL, count_once, &work->counts[WORKERS]) == 0)
			pthread_join(thread, NULL);
}

static pid_t start_work(struct hold **hold)
{
	work = child_share(sizeof(*work));
	pid_t pid = child_start(toil, work);

	ck_assert_int_eq(hold_open(hold, pid, child_proc(pid)), ST_OK);
	return pid;
}

/* Wait until every count has moved on from there. */
static void wait_for_progress(const unsigned long *from)
{
	for (int i = 0; i <= WORKERS; i++)
		while (count_of(i) == from[i])
			sched_yield();
}

static void copy_counts(unsigned long *to)
{
	for (int i = 0; i <= WORKERS; i++)
		to[i] = count_of(i);
}

START_TEST(stands_still)
{
	struct hold *hold;
	unsigned long before[WORKERS + 1], after[WORKERS + 1] = { 0 };
	pid_t pid = start_work(&hold);

	for (int round = 0; round < 20; round++) {
		wait_for_progress(after);
		ck_assert_int_eq(hold_stop(hold), ST_OK);
		ck_assert_int_eq(hold_stop(hold), ST_OK);
		copy_counts(before);
		usleep(3000);
		copy_counts(after);
		ck_assert_mem_eq(before, after, sizeof(before));
		ck_assert_int_eq(hold_continue(hold), ST_OK);
		ck_assert_int_eq(hold_continue(hold), ST_OK);
	}
	wait_for_progress(after);
	ck_assert_uint_ge(hold_stopped_ns(hold), 20 * 3000000);
	hold_close(hold);
	child_end(pid);
}
END_TEST

START_TEST(signals_are_delivered)
{
	struct hold *hold;
	pid_t pid = start_work(&hold);

	for (int round = 1; round <= 20; round++) {
		if (round % 2)
			kill(pid, SIGUSR1);
		ck_assert_int_eq(hold_stop(hold), ST_OK);
		if (round % 2 == 0)
			kill(pid, SIGUSR1);
		ck_assert_int_eq(hold_continue(hold), ST_OK);
		while (work->signals < round)
			sched_yield();
		ck_assert_int_eq(work->signals, round);
	}
	hold_close(hold);
	child_end(pid);
}
END_TEST

/* Its letter in /proc. */
static char state_of(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	fclose(file);
	return state;
}

START_TEST(who_was_stopped_stays_stopped)
{
	struct hold *hold;
	unsigned long before[WORKERS + 1], after[WORKERS + 1];
	pid_t pid = start_work(&hold);

	kill(pid, SIGSTOP);
	while (state_of(pid) != 'T')
		sched_yield();
	ck_assert_int_eq(hold_stop(hold), ST_OK);
	ck_assert_int_eq(hold_continue(hold), ST_OK);
	while (state_of(pid) != 'T')
		sched_yield();
	copy_counts(before);
	usleep(3000);
	copy_counts(after);
	ck_assert_mem_eq(before, after, sizeof(before));
	kill(pid, SIGCONT);
	wait_for_progress(after);
	hold_close(hold);
	child_end(pid);
}
END_TEST

START_TEST(death_in_between)
{
	struct hold *hold;
	pid_t pid = start_work(&hold);
	int how;

	ck_assert_int_eq(hold_stop(hold), ST_OK);
	kill(pid, SIGKILL);
	while (state_of(pid) != 'Z') {
		if (hold_continue(hold) != ST_OK)
			break;
		if (hold_stop(hold) != ST_OK)
			break;
	}
	(void)!hold_continue(hold);
	while (hold_stop(hold) != ST_ENDED)
		(void)!hold_continue(hold);
	/* Its end is still there for who started it. */
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
	hold_close(hold);
}
END_TEST

/* pytop may die while it holds them. */
START_TEST(holder_dies)
{
	struct hold *hold;
	unsigned long counts[WORKERS + 1];
	pid_t pid = start_work(&hold);
	pid_t holder = fork();
	int how;

	if (holder == 0)
		_exit(hold_stop(hold) == ST_OK ? 0 : 1);
	ck_assert_int_eq(waitpid(holder, &how, 0), holder);
	ck_assert(WIFEXITED(how));
	if (WEXITSTATUS(how) != 0)
		printf("skip hold holder_dies: only a parent may attach here\n");
	copy_counts(counts);
	wait_for_progress(counts);
	hold_close(hold);
	child_end(pid);
}
END_TEST

START_TEST(already_traced)
{
	struct hold *hold;
	pid_t pid = start_work(&hold);
	int how;

	ck_assert_int_eq(hold_stop(hold), ST_OK);
	pid_t other = fork();

	if (other == 0) {
		struct hold *second;
		enum status status = hold_open(&second, pid, child_proc(pid));

		if (status == ST_OK)
			status = hold_stop(second);
		_exit(status == ST_TRACED ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(other, &how, 0), other);
	ck_assert(WIFEXITED(how) && WEXITSTATUS(how) == 0);
	ck_assert_int_eq(hold_continue(hold), ST_OK);
	hold_close(hold);
	child_end(pid);
}
END_TEST

UNIT_MAIN("hold", stands_still, signals_are_delivered, who_was_stopped_stays_stopped,
	  death_in_between, holder_dies, already_traced)
