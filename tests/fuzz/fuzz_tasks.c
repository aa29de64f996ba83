/* What the kernel says of threads and processes: syscall, schedstat, stat, cmdline, status. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target/proc.h"
#include "target/process.h"
#include "target/tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_activity(struct bytes text)
{
	struct task_activity activity;

	task_activity_parse(text, &activity);
	expect(activity.doing >= TASK_UNKNOWN && activity.doing <= TASK_STOPPED);
	expect(activity.syscall >= -1);
	expect(activity.doing == TASK_UNKNOWN || activity.doing == TASK_RUNNING ||
	       activity.syscall >= 0);
	if (task_activity_needs_state(&activity))
		task_activity_add_state(&activity, task_stat_state(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = { data, size };
	struct task_schedule schedule;
	struct process_stat stat;
	char name[16];

	check_activity(text);
	(void)task_schedule_parse(text, &schedule);
	(void)process_stat_parse(text, &stat);
	process_name_parse(name, sizeof(name), text);
	expect(strlen(name) < sizeof(name));
	struct bytes field = proc_field(text, "NSpid");
	uint64_t v;

	expect(field.size <= size);
	while (proc_number(&field, &v))
		continue;
	return 0;
}
