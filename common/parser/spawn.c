/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/parser/spawn.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/libexec.h"

#define MAX_CHILDREN 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t children[MAX_CHILDREN]; /* not yet collected; 0: none */

/* Collects the children that ended, and remembers @pid. */
static void remember_child(pid_t pid)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_CHILDREN; i++) {
		if (children[i] && waitpid(children[i], NULL, WNOHANG) != 0)
			children[i] = 0;
		if (!children[i] && pid) {
			children[i] = pid;
			pid = 0;
		}
	}
	pthread_mutex_unlock(&lock);
}

/* The child's end becomes its standard input. */
static int start(const char *path, int end)
{
	char *argv[] = { (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
	if (!r)
		r = posix_spawn(&pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (r)
		return -r;
	remember_child(pid);
	return 0;
}

int spawn_parser(uint32_t owner, void *userdata)
{
	char path[PATH_MAX];
	int ends[2], r;

	r = libexec_find("parser", path, sizeof(path));
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	r = start(path, ends[1]);
	close(ends[1]);
	if (r < 0) {
		close(ends[0]);
		return r;
	}
	return ends[0];
}
