/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a shell could run the command is known only at its end. If it could not, nobody has read
 * from the pipe: so as much as a pipe takes is kept, and shown without the pager.
 */
#include "client/term/pager.h"

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
	FILE *file; /* its writes arrive at on_write() */
	const char *command;
	size_t n_lines; /* left on the screen */
	char *held;     /* output that still fits the screen, or the pipe */
	size_t n_held, cap_held;
	bool decided;      /* @held was written, and all goes to @fd */
	bool all_held;     /* @held is all output; nobody may have read it */
	size_t pipe_bytes; /* capacity of the pipe */
	int fd;
	pid_t pid; /* 0: not running */
};

/* F: quit if all fits, R: colours, S: chop long lines, X: keep the text on the screen. */
#define LESS_OPTIONS "FRSX"

/* The shell's exit status for a command that it must not run, or did not find. */
#define CANNOT_RUN(status) \
	(WIFEXITED(status) && WEXITSTATUS(status) >= 126 && WEXITSTATUS(status) <= 127)

static bool is_in_folder(const char *folder, size_t n, const char *program)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%.*s/%s", (int)n, folder, program) < 0) {
		path = NULL;
		return false;
	}
	return access(path, X_OK) == 0;
}

static bool is_installed(const char *program)
{
	const char *folder = getenv("PATH") ?: "/usr/bin:/bin";

	while (*folder) {
		size_t n = strcspn(folder, ":");

		if (is_in_folder(folder, n, program))
			return true;
		folder += n + (folder[n] == ':');
	}
	return false;
}

static const char *pager_command(void)
{
	const char *command = getenv("PAGER");

	if (!command)
		return is_installed("less") ? "less" : is_installed("more") ? "more" : NULL;
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

/* Sends all further output to the pager, or to the terminal if it cannot be started. */
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
	pager->pipe_bytes = (size_t)fcntl(fds[1], F_GETPIPE_SZ);
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

static int append_held(struct pager *pager, const char *data, size_t n)
{
	int r = ARRAY_RESERVE(&pager->held, &pager->cap_held, pager->n_held + n);

	if (r < 0)
		return r;
	memcpy(pager->held + pager->n_held, data, n);
	pager->n_held += n;
	return 0;
}

/* False if it does not fit the screen. */
static bool hold(struct pager *pager, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] == '\n' && pager->n_lines-- == 0)
			return false;
	return append_held(pager, data, n) >= 0;
}

/* Waits for the end of the pager. If it never ran, its input goes to the terminal. */
static int wait_for(struct pager *pager)
{
	int status = 0;

	while (waitpid(pager->pid, &status, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
	signal(SIGINT, SIG_DFL);
	if (!pager->all_held || !CANNOT_RUN(status))
		return -EPIPE;
	dup2(STDOUT_FILENO, pager->fd);
	return write_all(pager->fd, pager->held, pager->n_held);
}

static int pass_on(struct pager *pager, const char *data, size_t n)
{
	int r = write_all(pager->fd, data, n);

	if (r == -EPIPE && pager->pid > 0)
		return wait_for(pager);
	if (pager->n_held > pager->pipe_bytes)
		pager->all_held = false;
	return r;
}

/* Starts the pager and writes what was held. */
static int decide(struct pager *pager)
{
	spawn(pager);
	pager->decided = true;
	pager->all_held = pager->pid > 0;
	return pass_on(pager, pager->held, pager->n_held);
}

static int take_output(struct pager *pager, const char *data, size_t n)
{
	int r;

	if (!pager->decided) {
		if (hold(pager, data, n))
			return 0;
		r = decide(pager);
		if (r < 0)
			return r;
	}
	if (pager->all_held && pager->pid > 0) {
		r = append_held(pager, data, n);
		if (r < 0)
			return r;
	}
	return pass_on(pager, data, n);
}

static ssize_t on_write(void *cookie, const char *data, size_t n)
{
	int r = take_output(cookie, data, n);

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
		write_all(pager->fd, pager->held, pager->n_held);
	if (pager->pid > 0) {
		dup2(STDOUT_FILENO, pager->fd); /* closes its input */
		wait_for(pager);
	}
	if (pager->fd != STDOUT_FILENO)
		close(pager->fd);
	free(pager->held);
	free(pager);
	return NULL;
}
