/*
 * denied: why a process may not be read, named by the rule that forbids it.
 *
 * The kernel only says EPERM; its rules are public and so is what they look at, in /proc. They
 * are asked here in the order in which a cure helps: what even root cannot change comes first,
 * and where the cure would be sudo but no process in this container can have the capability, the
 * container is the cause. denied_decide is pure; process_denied gathers for it. Called once, at a
 * refusal.
 */
#include "target/denied.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/proc.h"
#include "target/process.h"

#define CAPABILITY_PTRACE ((uint64_t)1 << 19) /* CAP_SYS_PTRACE, see capabilities(7) */
#define STATUS_TEXT 4096
#define YAMA_FILE "/proc/sys/kernel/yama/ptrace_scope"

static bool is_owner(const struct denied_facts *f)
{
	return f->target_uids[0] == f->our_uid && f->target_uids[1] == f->our_uid &&
	       f->target_uids[2] == f->our_uid;
}

enum status denied_decide(const struct denied_facts *f)
{
	bool can_be_had = f->our_bounding & CAPABILITY_PTRACE;

	if (f->yama_scope >= 3)
		return ST_DENIED_YAMA_OFF;
	if (f->our_effective & CAPABILITY_PTRACE)
		return f->in_user_namespace ? ST_DENIED_NAMESPACE : ST_DENIED_TO_ROOT;
	if (!is_owner(f))
		return can_be_had ? ST_DENIED_OWNER : ST_DENIED_CONTAINER;
	if (f->files_uid != f->target_uids[1])
		return can_be_had ? ST_DENIED_DUMPABLE : ST_DENIED_CONTAINER;
	if (f->target_permitted & ~f->our_permitted)
		return can_be_had ? ST_DENIED_CAPABILITY : ST_DENIED_CONTAINER;
	if (f->yama_scope >= 1)
		return ST_DENIED_YAMA;
	return can_be_had ? ST_DENIED : ST_DENIED_CONTAINER;
}

static uint64_t capability_set(struct bytes text, const char *key)
{
	struct bytes field = proc_field(text, key);
	uint64_t set = 0;

	return proc_hex(&field, &set) ? set : 0;
}

/* The first user namespace alone has all users in it, see user_namespaces(7). */
static bool is_in_user_namespace(void)
{
	char buf[STATUS_TEXT];
	struct bytes text;
	uint64_t inside, outside, length;

	return proc_read(AT_FDCWD, "/proc/self/uid_map", buf, sizeof(buf), &text) == ST_OK &&
	       proc_number(&text, &inside) && proc_number(&text, &outside) &&
	       proc_number(&text, &length) && (inside || outside || length != UINT32_MAX);
}

static bool gather_ours(struct denied_facts *f)
{
	char buf[STATUS_TEXT];
	struct bytes text;
	uint64_t scope;

	f->our_uid = geteuid();
	if (proc_read(AT_FDCWD, YAMA_FILE, buf, sizeof(buf), &text) == ST_OK &&
	    proc_number(&text, &scope))
		f->yama_scope = scope < 3 ? (int)scope : 3;
	if (proc_read(AT_FDCWD, "/proc/self/status", buf, sizeof(buf), &text) != ST_OK)
		return false;
	f->in_user_namespace = is_in_user_namespace();
	f->our_effective = capability_set(text, "CapEff");
	f->our_permitted = capability_set(text, "CapPrm");
	f->our_bounding = capability_set(text, "CapBnd");
	return true;
}

static bool gather_theirs(struct denied_facts *f, pid_t pid)
{
	char path[64], buf[STATUS_TEXT];
	struct bytes text;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (stat(path, &st) != 0)
		return false;
	f->files_uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (proc_read(AT_FDCWD, path, buf, sizeof(buf), &text) != ST_OK)
		return false;
	struct bytes uids = proc_field(text, "Uid");

	for (int i = 0; i < 3; i++) {
		uint64_t uid;

		if (!proc_number(&uids, &uid))
			return false;
		f->target_uids[i] = (uid_t)uid;
	}
	f->target_permitted = capability_set(text, "CapPrm");
	return true;
}

/* The first of the target's users that is not us, by name where it has one. */
static void name_owner(char *what, size_t size, const struct denied_facts *f)
{
	uid_t uid = f->target_uids[0];
	struct passwd entry, *found = NULL;
	char buf[4096];

	for (int i = 0; i < 3 && uid == f->our_uid; i++)
		uid = f->target_uids[i];
	if (getpwuid_r(uid, &entry, buf, sizeof(buf), &found) == 0 && found)
		snprintf(what, size, "%s", entry.pw_name);
	else
		snprintf(what, size, "user %u", (unsigned)uid);
}

enum status process_denied(pid_t pid, int errnum, char *what, size_t what_size)
{
	struct denied_facts f = { 0 };
	enum status status = ST_DENIED;

	if (what && what_size > 0)
		what[0] = '\0';
	if (gather_ours(&f) && gather_theirs(&f, pid))
		status = denied_decide(&f);
	else if (errnum == ESRCH || (kill(pid, 0) != 0 && errno == ESRCH))
		return ST_ENDED;
	if (!what || what_size == 0)
		return status;
	if (status == ST_DENIED_OWNER)
		name_owner(what, what_size, &f);
	else if (status == ST_DENIED_YAMA)
		snprintf(what, what_size, "%d", f.yama_scope);
	return status;
}
