/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

struct pager {
	FILE *file; /* what the owner writes to; it comes to on_write() */
	const char *command;
	size_t n_lines; /* room left on the screen */
	char *held;     /* what was written while it fitted there */
	size_t n_held, cap_held;
	bool decided; /* @held went out, and all goes to @fd */
	int fd;
	pid_t pid; /* 0: none runs */
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

/* All goes to it from now on; to the terminal where it cannot be started. */
static void spawn(struct pager *pager)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pager->pid = fork();
	if (pager->pid == 0)
		run(pager->command, fds[0]);
	close(fds[0]);
	if (pager->pid < 0) {
		pager->pid = 0;
		close(fds[1]);
		return;
	}
	pager->fd = fds[1];
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, data, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		data += written;
		n -= (size_t)written;
	}
	return 0;
}

/* What was held goes out, and nothing is held any more. */
static int release(struct pager *pager)
{
	pager->decided = true;
	return write_all(pager->fd, pager->held, pager->n_held);
}

/* Holds it if it still fits. */
static bool hold(struct pager *pager, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] == '\n' && pager->n_lines-- == 0)
			return false;
	if (ARRAY_RESERVE(&pager->held, &pager->cap_held, pager->n_held + n) < 0)
		return false;
	memcpy(pager->held + pager->n_held, data, n);
	pager->n_held += n;
	return true;
}

static ssize_t on_write(void *cookie, const char *data, size_t n)
{
	struct pager *pager = cookie;
	int r = 0;

	if (!pager->decided && hold(pager, data, n))
		return (ssize_t)n;
	if (!pager->decided) {
		spawn(pager);
		r = release(pager);
	}
	if (r >= 0)
		r = write_all(pager->fd, data, n);
	if (r >= 0)
		return (ssize_t)n;
	errno = -r;
	return 0;
}

int pager_open(struct pager **ret, size_t n_lines)
{
	_cleanup_free_ struct pager *pager = calloc(1, sizeof(*pager));

	if (!pager)
		return -ENOMEM;
	pager->command = pager_command();
	if (!pager->command)
		return -ENOENT;
	pager->fd = STDOUT_FILENO;
	pager->n_lines = n_lines;
	pager->file = fopencookie(pager, "w", (cookie_io_functions_t){ .write = on_write });
	if (!pager->file)
		return -ENOMEM;
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
	if (!pager->decided)
		release(pager);
	if (pager->pid > 0) {
		close(pager->fd);
		while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
			;
		signal(SIGINT, SIG_DFL);
	}
	free(pager->held);
	free(pager);
	return NULL;
}
