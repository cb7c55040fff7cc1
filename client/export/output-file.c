/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/output-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/cleanup.h"

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

static int open_temporary(struct output_file *file, const struct stat *old)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (asprintf(&file->temporary, "%s.XXXXXX", file->path) < 0) {
		file->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(TAKE_PTR(file->temporary));
		return r;
	}
	if (fchmod(fd, wanted_mode(old)) < 0)
		return -errno;
	file->f = fdopen(fd, "w");
	if (!file->f)
		return -errno;
	fd = -1;
	return 0;
}

/* A link stays a link: what it leads to is replaced. */
static int open_named(struct output_file *file)
{
	struct stat st;
	bool exists = stat(file->name, &st) == 0;

	if (exists && !S_ISREG(st.st_mode)) {
		file->f = fopen(file->name, "we");
		return file->f ? 0 : -errno;
	}
	if (exists && access(file->name, W_OK) < 0)
		return -errno;
	file->path = exists ? realpath(file->name, NULL) : strdup(file->name);
	if (!file->path)
		return -errno;
	return open_temporary(file, exists ? &st : NULL);
}

int output_file_open(struct output_file *ret, const char *name, struct fault *fault)
{
	struct output_file file = { .name = name ?: "stdout" };
	int r;

	if (!name) {
		file.f = stdout;
		*ret = file;
		return 0;
	}
	r = open_named(&file);
	if (r < 0) {
		output_file_done(&file);
		return fail(&file, r, fault);
	}
	*ret = file;
	return 0;
}

static int close_stream(struct output_file *file)
{
	FILE *f = TAKE_PTR(file->f);
	int r = 0;

	errno = EIO; /* of an earlier error, which is not known any more */
	if (ferror(f) || fflush(f) != 0)
		r = -errno;
	if (f != stdout && fclose(f) != 0 && r == 0)
		r = -errno;
	return r;
}

int output_file_finish(struct output_file *file, struct fault *fault)
{
	int r = close_stream(file);

	if (r == -EPIPE && !file->path)
		return 0; /* the reader has enough */
	if (r >= 0 && file->path && rename(file->temporary, file->path) < 0)
		r = -errno;
	if (r < 0)
		return fail(file, r, fault);
	free(TAKE_PTR(file->temporary));
	return 0;
}

void output_file_done(struct output_file *file)
{
	if (file->f && file->f != stdout)
		fclose(file->f);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct output_file){ .name = file->name };
}
