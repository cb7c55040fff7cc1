/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three layers: limits of resources; no user that owns anything, no capabilities, no new ones; a
 * list of system calls. A forbidden call kills the process. Calls with paths fail instead, because
 * libdw looks for more files by their names, which are not needed. Executable memory is refused.
 */
#include "daemon/parser/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/util/macro.h"

#define MEMORY  (512UL << 20)
#define MAX_CPU 600 /* seconds of a process; each file has its own budget */
#define N_FILES 2048
#define NOBODY  65534

static int set_limits(void)
{
	static const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} limits[] = {
		{ RLIMIT_AS, MEMORY },   { RLIMIT_CORE, 0 },    { RLIMIT_FSIZE, 0 },
		{ RLIMIT_CPU, MAX_CPU }, { RLIMIT_MEMLOCK, 0 }, { RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_NPROC, 0 },
	};
	struct rlimit files;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct rlimit limit = { limits[i].value, limits[i].value };

		if (setrlimit(limits[i].resource, &limit) < 0)
			return -errno;
	}
	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	files.rlim_max = MIN(files.rlim_max, (rlim_t)N_FILES);
	files.rlim_cur = files.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &files) < 0 ? -errno : 0;
}

/* Whoever started it may have been root, for example a root that runs branchctl. */
static int give_up_root(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -errno;
	return 0;
}

static int give_up_more(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

/* Standard error goes nowhere. Of the others, only connection and lifeline are left. */
static int close_descriptors(void)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDERR_FILENO) < 0)
		return -errno;
	return close_range(STDERR_FILENO + 1, ~0U, 0) < 0 ? -errno : 0;
}

int sandbox_limit(const char **ret_what)
{
	static const struct {
		const char *what;
		int (*step)(void);
	} steps[] = {
		{ "give up root", give_up_root },
		{ "set limits", set_limits },
		{ "give up new privileges", give_up_more },
		{ "close descriptors", close_descriptors },
	};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int r = steps[i].step();

		if (r < 0) {
			*ret_what = steps[i].what;
			return r;
		}
	}
	return 0;
}

static int allow_all(scmp_filter_ctx filter)
{
	static const int allowed[] = {
		/* the connection, and files that came by it */
		SCMP_SYS(recvmsg),
		SCMP_SYS(sendmsg),
		SCMP_SYS(ppoll),
		SCMP_SYS(read),
		SCMP_SYS(pread64),
		SCMP_SYS(fstat),
		SCMP_SYS(newfstatat),
		SCMP_SYS(lseek),
		/* memory */
		SCMP_SYS(brk),
		SCMP_SYS(munmap),
		SCMP_SYS(mremap),
		SCMP_SYS(madvise),
		/* time and signals */
		SCMP_SYS(clock_gettime),
		SCMP_SYS(gettimeofday),
		SCMP_SYS(setitimer),
		SCMP_SYS(alarm),
		SCMP_SYS(rt_sigreturn),
		SCMP_SYS(rt_sigprocmask),
		SCMP_SYS(restart_syscall),
		/* the rest of libc */
		SCMP_SYS(futex),
		SCMP_SYS(getrandom),
		SCMP_SYS(sysinfo),
		SCMP_SYS(exit),
		SCMP_SYS(exit_group),
	};
	static const int failing[] = {
		SCMP_SYS(open),   SCMP_SYS(openat),    SCMP_SYS(stat),
		SCMP_SYS(lstat),  SCMP_SYS(readlink),  SCMP_SYS(readlinkat),
		SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(getcwd),
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(allowed) && r >= 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	for (size_t i = 0; i < ARRAY_SIZE(failing) && r >= 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), failing[i], 0);
	return r;
}

/*
 * Mapping memory and protecting it: never executable. Duplicating descriptors, and closing those of
 * files; the lifeline stays.
 */
static int allow_some(scmp_filter_ctx filter)
{
	static const int commands[] = { F_DUPFD_CLOEXEC, F_GETFD, F_GETFL };
	int r;

	r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r >= 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r >= 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(close), 1,
				     SCMP_A0_32(SCMP_CMP_GT, STDERR_FILENO));
	for (size_t i = 0; i < ARRAY_SIZE(commands) && r >= 0; i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				     SCMP_A1(SCMP_CMP_EQ, (uint64_t)commands[i]));
	return r;
}

int sandbox_close(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r;

	if (!filter)
		return -ENOMEM;
	r = allow_all(filter);
	if (r >= 0)
		r = allow_some(filter);
	if (r >= 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}
