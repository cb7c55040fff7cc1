/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"

#define MAX_NAMES 100 /* that are tried */

static int fail(const struct output_file *file, int r, struct fault *fault)
{
	return fault_set(fault, r, "%s: cannot write: %s", file->name, strerror(-r));
}

/* The rights of the file that it replaces, or of any new file. */
static mode_t wanted_mode(const struct stat *old)
{
	mode_t mask;

	if (old)
		return old->st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* 0: it has no name; else it is to have one. */
static int open_nameless(struct output_file *file)
{
	_cleanup_free_ char *path = strdup(file->path);

	if (!path)
		return -ENOMEM;
	file->fd = open(dirname(path), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (file->fd < 0)
		return -errno;
	return access("/proc/self/fd", X_OK) < 0 ? -errno : 0; /* output_file_finish() needs it */
}

static int name_temporary(struct output_file *file)
{
	if (asprintf(&file->temporary, "%s.XXXXXX", file->path) >= 0)
		return 0;
	file->temporary = NULL;
	return -ENOMEM;
}

static int open_temporary(struct output_file *file, const struct stat *old)
{
	int r = open_nameless(file);

	if (r < 0) {
		if (file->fd >= 0)
			close(file->fd);
		r = name_temporary(file);
		if (r < 0)
			return r;
		file->fd = mkostemp(file->temporary, O_CLOEXEC);
	}
	if (file->fd < 0) {
		r = -errno;
		free(TAKE_PTR(file->temporary));
		return r;
	}
	return fchmod(file->fd, wanted_mode(old)) < 0 ? -errno : 0;
}

/* What a link leads to; it need not be there yet. */
static bool find_old(struct output_file *file, struct stat *ret)
{
	int fd;

	if (stat(file->name, ret) == 0)
		return true;
	if (errno != ENOENT || lstat(file->name, ret) < 0)
		return false;
	fd = open(file->name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0)
		return false;
	close(fd);
	file->is_new = true;
	return stat(file->name, ret) == 0;
}

/* A link stays a link: what it leads to is replaced. */
static int open_named(struct output_file *file)
{
	struct stat st;
	bool exists = find_old(file, &st);

	if (!exists && errno != ENOENT)
		return -errno;
	if (exists && !S_ISREG(st.st_mode)) {
		file->fd = open(file->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return file->fd >= 0 ? 0 : -errno;
	}
	if (exists && access(file->name, W_OK) < 0)
		return -errno;
	file->path = exists ? realpath(file->name, NULL) : strdup(file->name);
	if (!file->path)
		return -errno;
	return open_temporary(file, exists ? &st : NULL);
}

/*
 * Remembers the first error: stdio says only that there was one. A full disk or a limit may first
 * take a part, and refuse only the rest.
 */
static ssize_t write_out(void *cookie, const char *data, size_t n)
{
	struct output_file *file = cookie;
	size_t at = 0;

	while (at < n && file->r >= 0) {
		ssize_t n_written = write(file->fd, data + at, n - at);

		if (n_written > 0)
			at += (size_t)n_written;
		else if (n_written == 0)
			file->r = -EIO;
		else if (errno != EINTR)
			file->r = -errno;
	}
	file->n_written += at;
	return file->r < 0 ? 0 : (ssize_t)n;
}

static void do_nothing(int signal)
{
	(void)signal;
}

/*
 * A limit of sizes is an error as any other. A handler ends with execve(2), so that a command that
 * is started has what branchctl was started with.
 */
static void outlive_limit_of_size(void)
{
	struct sigaction now, handler = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };

	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &handler, NULL);
}

int output_file_open(struct output_file *ret, const char *name, struct fault *fault)
{
	struct output_file *file = ret;
	int r = 0;

	*file = OUTPUT_FILE_INIT;
	file->name = name ?: "stdout";
	outlive_limit_of_size();
	if (name)
		r = open_named(file);
	else if ((file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) < 0)
		r = -errno;
	if (r >= 0) {
		file->f = fopencookie(file, "w", (cookie_io_functions_t){ .write = write_out });
		r = file->f ? 0 : -ENOMEM;
	}
	return r < 0 ? fail(file, r, fault) : 0;
}

static int close_stream(struct output_file *file)
{
	FILE *f = TAKE_PTR(file->f);
	int fd = file->fd;

	fclose(f);
	file->fd = -1;
	if (close(fd) < 0 && file->r >= 0)
		file->r = -errno;
	return file->r;
}

/* A link cannot replace a file, but a rename can. */
static int name_nameless(struct output_file *file)
{
	char self[32];
	int r = -1;

	if (name_temporary(file) < 0)
		return -ENOMEM;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	for (unsigned int i = 0; r < 0 && i < MAX_NAMES; i++) {
		snprintf(strrchr(file->temporary, '.'), sizeof(".XXXXXX"), ".%06u",
			 ((unsigned int)getpid() + i) % 1000000);
		r = linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW);
		if (r < 0 && errno != EEXIST)
			break;
	}
	r = r < 0 ? -errno : 0;
	if (r < 0)
		free(TAKE_PTR(file->temporary));
	return r;
}

static int complete(struct output_file *file)
{
	int r = fflush(file->f) != 0 && file->r >= 0 ? -errno : file->r;

	if (r >= 0 && file->path && !file->temporary)
		r = name_nameless(file);
	return r;
}

int output_file_finish(struct output_file *file, struct fault *fault)
{
	int named = complete(file), r = close_stream(file);

	r = r < 0 ? r : named;
	if (r == -EPIPE && !file->path)
		return 0; /* the reader has enough */
	if (r >= 0 && file->path && rename(file->temporary, file->path) < 0)
		r = -errno;
	if (r < 0)
		return fail(file, r, fault);
	free(TAKE_PTR(file->temporary));
	file->is_new = false;
	return 0;
}

void output_file_done(struct output_file *file)
{
	if (file->f)
		fclose(file->f);
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	if (file->is_new)
		unlink(file->path);
	free(file->temporary);
	free(file->path);
	*file = OUTPUT_FILE_INIT;
}
