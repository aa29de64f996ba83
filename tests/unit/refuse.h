/*
 * refuse: make the kernel refuse a system call to this process and those it starts, as a
 * container's filter or an old kernel would. There is no way back; each case of a unit test runs
 * alone.
 */
#ifndef PYTOP_TESTS_REFUSE_H
#define PYTOP_TESTS_REFUSE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

/* false: filters of system calls are not to be had here. */
static inline bool refuse_call(unsigned number, unsigned errnum)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The same for calls whose argument (0 to 5) has one of these bits. */
static inline bool refuse_flags(unsigned number, unsigned argument, unsigned bits, unsigned errnum)
{
	size_t offset = offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset), /* the low half */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif
