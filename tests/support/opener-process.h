/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The real branchd-opener, as a child. */
#pragma once

#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/libexec.h"
#include "daemon/opener/opener.h"

struct opener_process {
	pid_t pid; /* the last one; 0: none yet */
	unsigned int n_started;
};

static inline int opener_process_connect(void *userdata)
{
	struct opener_process *process = userdata;
	posix_spawn_file_actions_t actions;
	char path[PATH_MAX], *argv[] = { path, NULL }, *env[] = { NULL };
	int ends[2], r;

	assert_int_equal(libexec_find("opener", path, sizeof(path)), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
	r = posix_spawn(&process->pid, path, &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	assert_int_equal(r, 0);
	process->n_started++;
	return ends[0];
}

static inline struct opener *opener_process_new(struct opener_process *process,
						uint64_t patience_us)
{
	const struct opener_settings settings = {
		.connect = opener_process_connect,
		.userdata = process,
		.patience_us = patience_us,
	};
	struct opener *opener;

	*process = (struct opener_process){};
	assert_int_equal(opener_new(&opener, &settings), 0);
	return opener;
}

static inline void opener_process_kill(struct opener_process *process)
{
	if (process->pid == 0)
		return;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, 0);
	process->pid = 0;
}
