/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/launcher/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/util/cleanup.h"
#include "common/util/libexec.h"
#include "daemon/launcher/capabilities.h"

#define ANSWER_US   5000000
#define PARSER_USER "branchd-parser"
#define NOBODY      65534
#define LOW_NICE    5

/* What a helper is and may. */
struct helper {
	const char *name;
	uint64_t capabilities;
	bool other_user;
	bool last; /* waits behind everything else for the CPU, but goes on */
};

static const struct helper helpers[] = {
	[HELPER_OPENER] = { .name = "opener",
			    .capabilities = CAPABILITY(CAP_SYS_PTRACE) |
					    CAPABILITY(CAP_DAC_READ_SEARCH) |
					    CAPABILITY(CAP_CHECKPOINT_RESTORE) },
	[HELPER_PARSER] = { .name = "parser", .other_user = true, .last = true },
	[HELPER_EVENTS] = { .name = "events",
			    .capabilities = CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_BPF) |
					    CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_SYSLOG) },
};

struct launcher {
	int fd; /* to branchd */
	uid_t parser_uid;
	gid_t parser_gid;
};

/* The launcher needs what it passes on, and what it takes to give up the rest. */
static uint64_t own_capabilities(void)
{
	uint64_t all = CAPABILITY(CAP_SETPCAP) | CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID);

	for (int i = 0; i < HELPER_KINDS; i++)
		all |= helpers[i].capabilities;
	return all;
}

/* Users of services are in this file; getpwnam() would load libraries that stay. */
static void find_parser_user(struct launcher *l)
{
	_cleanup_fclose_ FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;

	do
		user = file ? fgetpwent(file) : NULL;
	while (user && strcmp(user->pw_name, PARSER_USER) != 0);
	l->parser_uid = user ? user->pw_uid : NOBODY;
	l->parser_gid = user ? user->pw_gid : NOBODY;
}

/* Only root can become another user. */
static int change_user(const struct launcher *l)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(l->parser_gid, l->parser_gid, l->parser_gid) < 0 ||
	    setresuid(l->parser_uid, l->parser_uid, l->parser_uid) < 0)
		return -errno;
	return 0;
}

/* The signals that branchd blocks or ignores have no meaning for a helper. */
static void reset_signals(void)
{
	sigset_t none;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* About a third of what others get: with less, names and unwind tables come too late on a machine
 * that is full. */
static int lower_priority(void)
{
	const struct sched_param parameters = {};

	if (sched_setscheduler(0, SCHED_BATCH, &parameters) < 0 ||
	    setpriority(PRIO_PROCESS, 0, MAX(getpriority(PRIO_PROCESS, 0), LOW_NICE)) < 0)
		return -errno;
	return 0;
}

static int become(const struct launcher *l, const struct helper *helper, const char *path, int fd)
{
	char *argv[] = { (char *)path, NULL };
	int program = open(path, O_PATH | O_CLOEXEC), r;

	if (program < 0 || dup2(fd, STDIN_FILENO) < 0)
		return -errno;
	reset_signals();
	r = capabilities_limit(helper->capabilities); /* another user could not any more */
	if (r >= 0 && helper->last)
		r = lower_priority();
	if (r >= 0 && helper->other_user)
		r = change_user(l);
	if (r >= 0)
		r = capabilities_keep(helper->capabilities);
	if (r >= 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		r = -errno;
	if (r < 0)
		return r;
	execv(path, argv);
	if (errno == EACCES) /* the new user may not search a directory above the program */
		fexecve(program, argv, environ);
	return -errno;
}

/* Does not return. */
static void run_helper(const struct launcher *l, const struct helper *helper, const char *path,
		       int fd)
{
	int r = become(l, helper, path, fd);

	fprintf(stderr, "branchd: cannot run %s: %s\n", path, strerror(-r));
	_exit(EXIT_FAILURE);
}

/* The other end of the connection to a new helper, or -errno. */
static int start_helper(const struct launcher *l, const struct helper *helper)
{
	char path[PATH_MAX];
	int ends[2], r;
	pid_t pid;

	r = libexec_find(helper->name, path, sizeof(path));
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		run_helper(l, helper, path, ends[1]);
	r = pid < 0 ? -errno : ends[0];
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	return r;
}

/* Answers a request with a descriptor or an -errno. */
static int answer(const struct launcher *l, uint32_t kind)
{
	_cleanup_close_ int fd = kind < HELPER_KINDS ? start_helper(l, &helpers[kind]) : -EINVAL;
	struct channel_message reply = { .n_fds = fd >= 0, .fds = { fd } };

	reply.type = fd >= 0 ? 0 : (uint32_t)-fd;
	return channel_send(l->fd, &reply, channel_deadline(ANSWER_US));
}

/* Until branchd ends. Does not return. */
static void run_launcher(struct launcher *l)
{
	int r = 0;

	prctl(PR_SET_NAME, "branchd-launch");
	signal(SIGCHLD, SIG_IGN); /* nobody waits for the helpers */
	signal(SIGHUP, SIG_IGN);  /* branchd says when it is over */
	signal(SIGINT, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || capabilities_keep(own_capabilities()) < 0)
		_exit(EXIT_FAILURE);
	find_parser_user(l);
	while (r >= 0) {
		struct channel_message request;

		r = channel_receive(l->fd, 0, CHANNEL_NO_DEADLINE, &request);
		if (r >= 0)
			r = answer(l, request.type);
		channel_message_done(&request);
	}
	_exit(EXIT_SUCCESS);
}

int launcher_start(void)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		run_launcher(&(struct launcher){ .fd = ends[1] });
	}
	close(ends[1]);
	if (pid > 0)
		return ends[0];
	close(ends[0]);
	return -EAGAIN;
}

int launcher_request(int fd, enum helper_kind kind)
{
	uint64_t deadline = channel_deadline(ANSWER_US);
	struct channel_message m = { .type = kind };
	int r;

	r = channel_send(fd, &m, deadline);
	if (r >= 0)
		r = channel_receive(fd, 0, deadline, &m);
	if (r < 0) {
		shutdown(fd,
			 SHUT_RDWR); /* a late answer must not pass for that of another request */
		return r;
	}
	r = channel_message_take_fd(&m, 0);
	if (r < 0)
		r = m.type > 0 ? -(int)m.type : -EBADMSG;
	channel_message_done(&m);
	return r;
}
