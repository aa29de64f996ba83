/* denied: each rule of the kernel by its own name. */
#include <errno.h>
#include <string.h>

#include "child.h"
#include "target/denied.h"
#include "target/process.h"

#define ALL ((uint64_t)0x1ffffffffff)
#define PTRACE ((uint64_t)1 << 19)

/* A user's own process, which could be read. */
static struct denied_facts own(void)
{
	return (struct denied_facts){ .our_uid = 1000,
				      .target_uids = { 1000, 1000, 1000 },
				      .files_uid = 1000,
				      .our_bounding = ALL };
}

START_TEST(owner)
{
	struct denied_facts f = own();

	f.target_uids[2] = 0;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_OWNER);
	f.our_bounding = ALL & ~PTRACE;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_CONTAINER);
	f.our_effective = f.our_bounding = ALL;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_TO_ROOT);
	f.in_user_namespace = true;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_NAMESPACE);
}
END_TEST

START_TEST(dumpable)
{
	struct denied_facts f = own();

	f.files_uid = 0;
	f.yama_scope = 1;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_DUMPABLE);
}
END_TEST

START_TEST(capability)
{
	struct denied_facts f = own();

	f.our_permitted = 1;
	f.target_permitted = 3;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_CAPABILITY);
	f.our_permitted = 7;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED);
}
END_TEST

START_TEST(yama)
{
	struct denied_facts f = own();

	f.yama_scope = 1;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_YAMA);
	f.our_bounding = 0;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_YAMA);
	f.yama_scope = 3;
	f.our_effective = ALL;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_YAMA_OFF);
}
END_TEST

START_TEST(container)
{
	struct denied_facts f = own();

	f.our_uid = 0;
	memset(f.target_uids, 0, sizeof(f.target_uids));
	f.files_uid = 0;
	f.our_bounding = ALL & ~PTRACE;
	ck_assert_int_eq(denied_decide(&f), ST_DENIED_CONTAINER);
}
END_TEST

static void become_other(int ready, void *context)
{
	(void)context;
	if (setgid(65534) != 0 || setuid(65534) != 0)
		_exit(1);
	child_sleeper(ready, NULL);
}

/* The whole of it, on the kernel that runs: another user's process, seen by one without rights. */
START_TEST(another_user)
{
	char what[64];

	if (geteuid() != 0) {
		printf("skip denied another_user: not root\n");
		return;
	}
	pid_t other = child_start(child_sleeper, NULL);
	pid_t nobody = child_start(become_other, NULL);

	ck_assert_int_eq(setgid(1234), 0);
	ck_assert_int_eq(setuid(1234), 0);
	enum status status = process_denied(other, EPERM, what, sizeof(what));

	ck_assert(status == ST_DENIED_OWNER || status == ST_DENIED_CONTAINER ||
		  status == ST_DENIED_YAMA_OFF);
	if (status == ST_DENIED_OWNER)
		ck_assert_str_eq(what, "root");
	status = process_denied(nobody, EPERM, NULL, 0);
	ck_assert(status != ST_OK && status != ST_ENDED);
}
END_TEST

START_TEST(gone)
{
	pid_t pid = child_start(child_sleeper, NULL);

	child_end(pid);
	ck_assert_int_eq(process_denied(pid, EPERM, NULL, 0), ST_ENDED);
}
END_TEST

UNIT_MAIN("denied", owner, dumpable, capability, yama, container, another_user, gone)
