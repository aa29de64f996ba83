/*
 * process: another process, held by its pidfd, its /proc directory and its start time.
 *
 * Invariant: everything is read through proc_fd, which fails for good once that process is gone,
 * so a number that was given to another process is never mistaken for it. Two things go by number
 * alone: the CPU clock and the readers of memory; process_alive, asked each tick, covers both.
 * Called by the front door and the sampler.
 */
#include "target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target/proc.h"

#define PROC_TEXT 2048              /* more than stat, and the part of status that is looked at */
#define FLAG_KERNEL_THREAD 0x200000 /* PF_KTHREAD in field 9 of stat */
#define SECOND 1000000000u

bool process_stat_parse(struct bytes text, struct process_stat *stat)
{
	struct bytes left = proc_after_name(text);
	uint64_t fields[25] = { 0 }; /* by the numbers of proc(5) */

	if (left.size == 0)
		return false;
	char state = (char)left.data[0];

	left = bytes_part(left, 1, left.size - 1);
	for (int i = 4; i <= 24; i++) {
		/* A negative number is of no use to anybody here (tty group, priority, nice). */
		while (left.size > 0 && (left.data[0] == ' ' || left.data[0] == '-'))
			left = bytes_part(left, 1, left.size - 1);
		if (!proc_number(&left, &fields[i]))
			return false;
	}
	*stat = (struct process_stat){
		.state = state,
		.parent = (pid_t)fields[4],
		.session = (pid_t)fields[6],
		.flags = fields[9],
		.cpu_ticks = fields[14] + fields[15],
		.thread_count = (uint32_t)fields[20],
		.start_time = fields[22],
		.rss_pages = fields[24],
	};
	return true;
}

static enum status read_stat(const struct process *p, struct process_stat *stat)
{
	char buf[PROC_TEXT];
	struct bytes text;
	enum status status = proc_reread(p->stat_fd, buf, sizeof(buf), &text);

	if (status != ST_OK)
		return status;
	return process_stat_parse(text, stat) ? ST_OK : ST_BAD_DATA;
}

/* The first number of a field of status. */
static bool status_number(struct bytes text, const char *key, uint64_t *v)
{
	struct bytes field = proc_field(text, key);

	return proc_number(&field, v);
}

void process_own_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	if (n > 0)
		path[n] = '\0';
	else
		snprintf(path, size, "pytop");
}

static pid_t status_pid(pid_t tid, const char *key)
{
	char path[64], buf[PROC_TEXT];
	struct bytes text;
	uint64_t pid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (proc_read(AT_FDCWD, path, buf, sizeof(buf), &text) != ST_OK ||
	    !status_number(text, key, &pid))
		return 0;
	return (pid_t)pid;
}

pid_t process_of_thread(pid_t tid)
{
	return status_pid(tid, "Tgid");
}

pid_t process_tracer(pid_t tid)
{
	return status_pid(tid, "TracerPid");
}

void process_comm(pid_t pid, char *name, size_t size)
{
	char path[64], buf[64];
	struct bytes text;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	name[0] = '\0';
	if (proc_read(AT_FDCWD, path, buf, sizeof(buf), &text) == ST_OK)
		snprintf(name, size, "%.*s", (int)strcspn(buf, "\n"), buf);
}

bool process_has_thread(const struct process *p, pid_t tid)
{
	char name[32];

	snprintf(name, sizeof(name), "task/%d", (int)tid);
	return faccessat(p->proc_fd, name, F_OK, 0) == 0;
}

/* Is this the number of a process that can be held? Fills start_time. */
static enum status examine(struct process *p)
{
	char buf[PROC_TEXT];
	struct bytes text;
	struct process_stat stat;
	uint64_t group;
	enum status status = read_stat(p, &stat);

	if (status != ST_OK)
		return status;
	if (stat.flags & FLAG_KERNEL_THREAD)
		return ST_IS_KERNEL;
	status = proc_read(p->proc_fd, "status", buf, sizeof(buf), &text);
	if (status != ST_OK)
		return status;
	if (status_number(text, "Tgid", &group) && (pid_t)group != p->pid)
		return ST_IS_THREAD;
	if (stat.state == 'Z' || stat.state == 'X')
		return ST_IS_ZOMBIE;
	p->start_time = stat.start_time;
	return ST_OK;
}

static enum status open_descriptors(struct process *p)
{
	char path[32];
	struct process_stat stat;

	snprintf(path, sizeof(path), "/proc/%d", (int)p->pid);
	p->proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->proc_fd < 0)
		return errno == ENOENT ? ST_NO_PROCESS : ST_SYSTEM;
	p->stat_fd = openat(p->proc_fd, "stat", O_RDONLY | O_CLOEXEC);
	if (p->stat_fd < 0)
		return proc_status(errno);
	enum status status = examine(p);

	if (status != ST_OK)
		return status;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	p->space_fd = openat(p->proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	/* It still lives, so the number was not given away before the pidfd was opened by it. */
	return read_stat(p, &stat);
}

enum status process_open(struct process *p, pid_t pid)
{
	struct process opened = {
		.pid = pid, .pidfd = -1, .proc_fd = -1, .stat_fd = -1, .space_fd = -1
	};

	if (pid <= 0)
		return ST_NO_PROCESS;
	if (pid == getpid())
		return ST_IS_SELF;
	enum status status = open_descriptors(&opened);

	if (status == ST_OK) {
		*p = opened;
		return ST_OK;
	}
	int saved = errno;

	process_close(&opened);
	errno = saved;
	return status == ST_ENDED ? ST_NO_PROCESS : status;
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void process_close(struct process *p)
{
	close_descriptor(&p->space_fd);
	close_descriptor(&p->pidfd);
	close_descriptor(&p->stat_fd);
	close_descriptor(&p->proc_fd);
}

enum status process_alive(const struct process *p)
{
	struct pollfd wait = { .fd = p->pidfd, .events = POLLIN };
	struct process_stat stat;

	if (p->pidfd >= 0)
		return poll(&wait, 1, 0) > 0 ? ST_ENDED : ST_OK;
	if (read_stat(p, &stat) != ST_OK || stat.state == 'Z' || stat.state == 'X')
		return ST_ENDED;
	return ST_OK;
}

bool process_executed(struct process *p)
{
	char byte;

	/* The file belongs to one address space: at the end of that it reads as empty, before it
	 * gives a byte or a fault. */
	if (p->space_fd < 0 || pread(p->space_fd, &byte, 1, 0) != 0)
		return false;
	if (process_alive(p) != ST_OK)
		return false;
	close(p->space_fd);
	p->space_fd = openat(p->proc_fd, "mem", O_RDONLY | O_CLOEXEC);
	return true;
}

bool process_exit_status(struct process *p, int *wait_status)
{
	int how;

	if (waitpid(p->pid, &how, WNOHANG) != p->pid)
		return false;
	*wait_status = how;
	return true;
}

/* Arguments joined by blanks. */
static void join_arguments(char *command, size_t size, struct bytes cmdline)
{
	size_t n = cmdline.size < size - 1 ? cmdline.size : size - 1;

	memcpy(command, cmdline.data, n);
	while (n > 0 && command[n - 1] == '\0')
		n--;
	command[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (command[i] == '\0')
			command[i] = ' ';
}

/* `python .` is known as the folder it was started in, as long as it is there. */
static void name_folder(const struct process *p, struct process_info *info)
{
	char folder[sizeof(info->executable)];
	ssize_t n = readlinkat(p->proc_fd, "cwd", folder, sizeof(folder) - 1);

	if (n < 2 || folder[0] != '/')
		return;
	folder[n] = '\0';
	snprintf(info->name, sizeof(info->name), "%.*s", (int)sizeof(info->name) - 1,
		 strrchr(folder, '/') + 1);
}

/* command and name from cmdline, or from the kernel's name where a process has wiped that. */
static void describe_command(const struct process *p, struct process_info *info)
{
	char buf[sizeof(info->command)], comm[64];
	struct bytes text;

	if (proc_read(p->proc_fd, "cmdline", buf, sizeof(buf), &text) == ST_OK && text.size > 0) {
		join_arguments(info->command, sizeof(info->command), text);
		process_name_parse(info->name, sizeof(info->name), text);
	}
	if (strcmp(info->name, ".") == 0)
		name_folder(p, info);
	if (info->command[0] && info->name[0])
		return;
	if (proc_read(p->proc_fd, "comm", comm, sizeof(comm), &text) != ST_OK)
		return;
	comm[strcspn(comm, "\n")] = '\0';
	if (!info->command[0])
		snprintf(info->command, sizeof(info->command), "[%s]", comm);
	if (!info->name[0])
		snprintf(info->name, sizeof(info->name), "%s", comm);
}

static void describe_executable(const struct process *p, struct process_info *info)
{
	unsigned char ident[5] = { 0 };
	ssize_t n = readlinkat(p->proc_fd, "exe", info->executable, sizeof(info->executable) - 1);

	info->executable[n > 0 ? n : 0] = '\0';
	int fd = openat(p->proc_fd, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (pread(fd, ident, sizeof(ident), 0) == sizeof(ident))
		info->is_32_bit = memcmp(ident, "\177ELF\001", sizeof(ident)) == 0;
	close(fd);
}

static void describe_owner(const struct process *p, struct process_info *info)
{
	char buf[PROC_TEXT];
	struct bytes text;
	uint64_t v;

	if (proc_read(p->proc_fd, "status", buf, sizeof(buf), &text) != ST_OK)
		return;
	if (status_number(text, "Uid", &v))
		info->uid = (uid_t)v;
	struct bytes ids = proc_field(text, "NSpid");

	info->other_pid_namespace = proc_number(&ids, &v) && proc_number(&ids, &v);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t ticks_ns(uint64_t ticks)
{
	long hz = sysconf(_SC_CLK_TCK);

	return ticks * (SECOND / (uint64_t)(hz > 0 ? hz : 100));
}

enum status process_info(const struct process *p, struct process_info *info)
{
	struct process_stat stat;
	enum status status = read_stat(p, &stat);

	if (status != ST_OK)
		return status;
	*info = (struct process_info){ .parent = stat.parent };
	describe_command(p, info);
	describe_executable(p, info);
	describe_owner(p, info);
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	info->start_time_ns = boot + ticks_ns(stat.start_time);
	return ST_OK;
}

enum status process_cpu_ns(const struct process *p, uint64_t *cpu_ns)
{
	/* The kernel's number for the CPU clock of a process (clock_getcpuclockid gives the same,
	 * with a system call more). */
	clockid_t clock = (clockid_t)(~(unsigned)p->pid << 3 | 2);
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return errno == EPERM ? ST_DENIED : ST_ENDED;
	*cpu_ns = (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
	return ST_OK;
}

enum status process_usage(const struct process *p, struct process_usage *usage)
{
	struct process_stat stat;
	enum status status = read_stat(p, &stat);

	if (status != ST_OK)
		return status;
	*usage = (struct process_usage){
		.cpu_ns = ticks_ns(stat.cpu_ticks),
		.rss_bytes = stat.rss_pages * (uint64_t)sysconf(_SC_PAGESIZE),
		.thread_count = stat.thread_count,
		.run_state = stat.state,
	};
	if (process_cpu_ns(p, &usage->cpu_ns) != ST_OK)
		usage->cpu_ns = ticks_ns(stat.cpu_ticks);
	return ST_OK;
}
