/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/jit-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/profile/jit-map.h"
#include "common/symbol/failures.h"
#include "common/util/cleanup.h"

#define FOLDER "/tmp"

static bool is_ours(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/* Looks at the file before it opens it. */
static int open_own(const char *path, struct fault *why)
{
	_cleanup_close_ int found = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char again[32];
	struct stat st;
	int fd;

	if (found < 0)
		return fault_set(why, -errno, "not found: %s", path);
	if (fstat(found, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_set(why, -ENOEXEC, "%s is not a regular file", path);
	if (!is_ours(st.st_uid))
		return fault_set(why, -EPERM, "neither you nor root owns %s", path);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? fault_set(why, -errno, "%s: %s", path, strerror(errno)) : fd;
}

static int open_fd(const struct symbolizer_settings *settings, const struct profile_object *object,
		   const char *path, struct fault *why)
{
	int fd;

	if (!settings->open_jit && !settings->only_open)
		return open_own(path, why);
	fd = settings->open_jit ? settings->open_jit(object, settings->userdata) : -ENOENT;
	return fd < 0 ? fault_set(why, fd, "not found: %s", object->path) : fd;
}

/* Takes @fd, of a file that may have failed before. */
static int parse(const struct symbolizer_settings *settings, int fd, struct parser_file **ret,
		 struct file_identity *ret_state, struct fault *why)
{
	const char *failure = failures_find(settings->failures, fd);
	struct stat st;

	if (!failure && fstat(fd, &st) >= 0) {
		file_identity_fill(ret_state, &st, true);
		return parser_open_jit(settings->parser, fd, st.st_uid, ret, why);
	}
	close(fd);
	return fault_set(why, -EREMOTEIO, "%s", failure ?: "has no owner");
}

int jit_file_open(const struct symbolizer_settings *settings, const struct profile_object *object,
		  struct parser_file **ret, char **ret_path, struct file_identity *ret_state,
		  struct fault *why)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int copy = -1;
	struct fault fault = { .text = "" };
	int fd, r;

	if (jit_map_pid(object) < 0)
		return fault_set(why, -ENODATA, "no symbols for code in anonymous memory");
	if (asprintf(&path, "%s" FOLDER "/%s", settings->symfs ?: "", object->path) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	fd = open_fd(settings, object, path, why);
	if (fd < 0)
		return fd;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	r = parse(settings, fd, ret, ret_state, &fault);
	if (r == -EREMOTEIO && copy >= 0)
		failures_add(settings->failures, copy, fault.text);
	if (r < 0)
		return r == -ENOMEM ? r : fault_set(why, r, "%s: %s", path, fault.text);
	*ret_path = TAKE_PTR(path);
	return 0;
}
