/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/cleanup.h"

struct pager {
	FILE *file;
	pid_t pid;
};

/* F: leave where all fits, R: colours, S: no folding of long lines, X: leave the text there. */
#define LESS_OPTIONS "FRSX"

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return "less";
	if (*command == '\0' || strcmp(command, "cat") == 0)
		return NULL;
	return command;
}

_Noreturn static void run(const char *command, int input)
{
	dup2(input, STDIN_FILENO);
	setenv("LESS", LESS_OPTIONS, 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* The reading end goes to the child, the writing end into the pager. */
static int spawn(struct pager *pager, const char *command, const int fds[2])
{
	pager->file = fdopen(fds[1], "w");
	if (!pager->file)
		return -errno;
	pager->pid = fork();
	if (pager->pid < 0)
		return -errno;
	if (pager->pid == 0)
		run(command, fds[0]);
	return 0;
}

int pager_open(struct pager **ret)
{
	_cleanup_free_ struct pager *pager = calloc(1, sizeof(*pager));
	const char *command = pager_command();
	int fds[2];
	int r;

	if (!pager)
		return -ENOMEM;
	if (!command)
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = spawn(pager, command, fds);
	close(fds[0]);
	if (r < 0) {
		if (pager->file)
			fclose(pager->file);
		else
			close(fds[1]);
		return r;
	}
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	*ret = TAKE_PTR(pager);
	return 0;
}

FILE *pager_file(struct pager *pager)
{
	return pager->file;
}

struct pager *pager_close(struct pager *pager)
{
	if (!pager)
		return NULL;
	fclose(pager->file);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, SIG_DFL);
	free(pager);
	return NULL;
}
