/*
 * denied: which of the kernel's rules forbids one process to read another. See process_denied.
 */
#ifndef PYTOP_TARGET_DENIED_H
#define PYTOP_TARGET_DENIED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* What the kernel looks at, in __ptrace_may_access and security/yama (see ptrace(2), "Ptrace access
 * mode checking"). */
struct denied_facts {
	uid_t our_uid;        /* effective */
	uid_t target_uids[3]; /* real, effective, saved */
	uid_t files_uid; /* owner of the target's /proc files: root's when it is not dumpable */
	int yama_scope;  /* kernel.yama.ptrace_scope; 0: everything is allowed, or no yama */
	bool in_user_namespace; /* our rights end at its border */
	uint64_t our_effective, our_permitted, our_bounding, target_permitted; /* capability sets */
};

/* One of ST_DENIED*. */
enum status denied_decide(const struct denied_facts *facts);

#endif
