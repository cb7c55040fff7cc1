/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Through syscall(), as injected code would do it. A path to be created is empty at the time. */
#include "tests/attacked/attacks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <linux/sched.h>
#include <netinet/in.h>

#include "common/util/macro.h"

#define PAGE    4096
#define RING    256 /* more than any structure here has */
#define CHILD   23
#define HOG_MIB 1024

static long result_of(long r)
{
	return r < 0 ? -errno : 0;
}

/* A shell creates the file. */
static long run_shell(const char *path, bool by_another_call)
{
	char command[256] = "> ";
	const char *const argv[] = { "sh", "-c", command, NULL };

	strncat(command, path, sizeof(command) - 3);
	if (by_another_call)
		return result_of(syscall(SYS_execveat, AT_FDCWD, "/bin/sh", argv, environ, 0));
	return result_of(syscall(SYS_execve, "/bin/sh", argv, environ));
}

static long execute(const char *path)
{
	return run_shell(path, false);
}

static long execute_at(const char *path)
{
	return run_shell(path, true);
}

static long read_file(const char *path)
{
	return result_of(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0));
}

static long create_file(const char *path)
{
	return result_of(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600));
}

static long open_by_another_call(const char *path)
{
	struct open_how how = { .flags = O_RDONLY };

	return result_of(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
}

static long make_directory(const char *path)
{
	return result_of(syscall(SYS_mkdirat, AT_FDCWD, path, 0700));
}

static long remove_file(const char *path)
{
	return result_of(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

static long change_mode(const char *path)
{
	return result_of(syscall(SYS_fchmodat, AT_FDCWD, path, 0777));
}

static long watch_file(const char *path)
{
	long fd = syscall(SYS_inotify_init1, 0);

	return result_of(fd);
}

/* The last descriptor that came: that of the file with the magic name. */
static int own_file(void)
{
	int fd = 3;

	while (fcntl(fd + 1, F_GETFD) >= 0)
		fd++;
	return fd;
}

static long write_own_file(const char *argument)
{
	return result_of(syscall(SYS_pwrite64, own_file(), "harm", 4, 0));
}

static long truncate_own_file(const char *argument)
{
	return result_of(syscall(SYS_ftruncate, own_file(), 0));
}

static long map_own_file(const char *argument)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, own_file(), 0);

	if (p == MAP_FAILED)
		return -errno;
	memcpy(p, "harm", 4);
	return 0;
}

static long use_internet(const char *argument)
{
	return result_of(syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
}

static long connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0)
		return -errno;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	return result_of(syscall(SYS_connect, fd, &address, sizeof(address)));
}

static long trace(const char *pid)
{
	return result_of(syscall(SYS_ptrace, PTRACE_ATTACH, atol(pid), 0, 0));
}

static long write_memory_of(const char *pid)
{
	struct iovec here = { .iov_base = &here, .iov_len = 1 };

	return result_of(syscall(SYS_process_vm_writev, atol(pid), &here, 1, &here, 1, 0));
}

static long kill_process(const char *pid)
{
	return result_of(syscall(SYS_kill, atol(pid), SIGKILL));
}

static long kill_thread(const char *pid)
{
	return result_of(syscall(SYS_tgkill, atol(pid), atol(pid), SIGKILL));
}

static long map_executable(const char *argument)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

static long make_executable(const char *argument)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -errno : result_of(mprotect(p, PAGE, PROT_READ | PROT_EXEC));
}

static long make_executable_by_key(const char *argument)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	return result_of(syscall(SYS_pkey_mprotect, p, PAGE, PROT_READ | PROT_EXEC, -1));
}

static long make_memory_file(const char *argument)
{
	return result_of(syscall(SYS_memfd_create, "harm", 0));
}

static long end_child(long pid)
{
	if (pid == 0)
		_exit(CHILD);
	if (pid < 0)
		return -errno;
	waitpid((pid_t)pid, NULL, 0);
	return 0;
}

static long make_child(const char *argument)
{
	return end_child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

static long make_child_by_another_call(const char *argument)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return end_child(syscall(SYS_clone3, &args, sizeof(args)));
}

static long allow_debuggers(const char *argument)
{
	return result_of(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static long raise_limit(const char *argument)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	return result_of(setrlimit(RLIMIT_NOFILE, &limit));
}

static long raise_priority(const char *argument)
{
	return result_of(syscall(SYS_setpriority, PRIO_PROCESS, 0, 0));
}

static long become_root(const char *argument)
{
	return result_of(syscall(SYS_setresuid, 0, 0, 0));
}

static long make_namespace(const char *argument)
{
	return result_of(syscall(SYS_unshare, CLONE_NEWUSER));
}

static long use_ring(const char *argument)
{
	char parameters[RING] = "";

	return result_of(syscall(SYS_io_uring_setup, 1, parameters));
}

static long load_program(const char *argument)
{
	char attributes[RING] = "\2\0\0\0\4\0\0\0\4\0\0\0\1"; /* an array of one element */

	return result_of(syscall(SYS_bpf, 0, attributes, RING / 2));
}

static long open_event(const char *argument)
{
	char attributes[RING] = "\1\0\0\0\x80"; /* software */

	return result_of(syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
}

static long write_to_terminal(const char *argument)
{
	return result_of(syscall(SYS_write, STDERR_FILENO, "", 0));
}

static long allocate_much(const char *argument)
{
	static const size_t mib = 1 << 20;

	for (size_t i = 0; i < HOG_MIB; i++) {
		char *p =
			mmap(NULL, mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return -errno;
		*p = 1;
	}
	return 0;
}

#ifdef __x86_64__
/* The calls of programs of 32 bits have other numbers. */
static long create_file_as_32_bits(const char *path)
{
	char *low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int r = 5; /* open */

	if (low == MAP_FAILED)
		return -errno;
	strncpy(low, path, PAGE - 1);
	__asm__ volatile("int $0x80"
			 : "+a"(r)
			 : "b"(low), "c"(O_WRONLY | O_CREAT), "d"(0600)
			 : "memory", "r8", "r9", "r10", "r11");
	return r < 0 ? r : 0;
}

static long create_file_as_x32(const char *path)
{
	return result_of(
		syscall(0x40000000 + SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600));
}
#endif

/* Closes the lifeline, or makes its end mean nothing. */
static long let_go(const char *argument)
{
	return result_of(close(STDOUT_FILENO));
}

static long outlive(const char *argument)
{
	return result_of(fcntl(STDOUT_FILENO, F_SETFL, 0));
}

/* Goes on for ever, without its budget. */
static long spin(const char *argument)
{
	const struct itimerval none = {};
	sigset_t all;

	setitimer(ITIMER_PROF, &none, NULL);
	alarm(0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (;;)
		__asm__ volatile("");
	return 0;
}

static long fall_silent(const char *argument)
{
	alarm(0);
	ppoll(NULL, 0, NULL, NULL);
	return 0;
}

static const struct attack {
	const char *verb;
	long (*function)(const char *argument);
} attacks[] = {
	{ "execve", execute },
	{ "execveat", execute_at },
	{ "open", read_file },
	{ "create", create_file },
	{ "openat2", open_by_another_call },
	{ "mkdir", make_directory },
	{ "unlink", remove_file },
	{ "chmod", change_mode },
	{ "inotify", watch_file },
	{ "write", write_own_file },
	{ "truncate", truncate_own_file },
	{ "map-shared", map_own_file },
	{ "inet", use_internet },
	{ "connect", connect_to },
	{ "ptrace", trace },
	{ "process_vm_writev", write_memory_of },
	{ "let-go", let_go },
	{ "outlive", outlive },
	{ "kill", kill_process },
	{ "tgkill", kill_thread },
	{ "mmap-exec", map_executable },
	{ "mprotect-exec", make_executable },
	{ "pkey_mprotect-exec", make_executable_by_key },
	{ "memfd", make_memory_file },
	{ "clone", make_child },
	{ "clone3", make_child_by_another_call },
	{ "prctl", allow_debuggers },
	{ "setrlimit", raise_limit },
	{ "setpriority", raise_priority },
	{ "setresuid", become_root },
	{ "unshare", make_namespace },
	{ "io_uring", use_ring },
	{ "bpf", load_program },
	{ "perf_event_open", open_event },
	{ "write-error", write_to_terminal },
	{ "allocate", allocate_much },
#ifdef __x86_64__
	{ "create-32", create_file_as_32_bits },
	{ "create-x32", create_file_as_x32 },
#endif
	{ "spin", spin },
	{ "silence", fall_silent },
};

long attacks_try(const char *verb, const char *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
		if (!strcmp(attacks[i].verb, verb))
			return attacks[i].function(argument);
	return -ENOTSUP;
}
