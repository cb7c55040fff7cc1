/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The most exact way comes first: /proc/PID/map_files leads to the mapped file whatever its name is
 * by now. A path is resolved within the root directory of the process, so that a link there does
 * not lead to a file here. A process that has ended leaves only the root of process 1.
 *
 * Each way ends in an O_PATH descriptor, which acts on nothing. Only what is a regular file, on a
 * local file system, with the right inode, is then opened for reading, and handed over if it is the
 * very file.
 */
#include "daemon/opener/open-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/opener/file-system.h"
#include "daemon/opener/found-file.h"
#include "daemon/opener/root-directory.h"
#include "daemon/opener/same-file.h"

#define DELETED       " (deleted)"
#define MAX_PROC_PATH 64

static int has_inode(const struct stat *st, const struct opener_request *request)
{
	return st->st_ino == request->inode ? 0 : -ESTALE;
}

/* Takes @found. */
static int open_found(int found, const struct opener_request *request, struct file_identity *ret)
{
	struct file_identity identity;
	struct stat st;
	int r = found_file_open(found, request, has_inode, &st, &identity);

	if (r < 0)
		return r;
	if (!same_file(r, &st, identity.trusted, request)) {
		close(r);
		return -ESTALE;
	}
	if (identity.trusted)
		identity.trusted =
			file_system_has_true_owners(makedev(request->major, request->minor));
	*ret = identity;
	return r;
}

static int open_path(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_range(const struct opener_request *request, struct file_identity *ret)
{
	char link[MAX_PROC_PATH];

	if (request->end == 0)
		return -ENOENT;
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, request->pid,
		 request->start, request->end);
	return open_found(open_path(link), request, ret);
}

static int open_executable(const struct opener_request *request, struct file_identity *ret)
{
	char link[MAX_PROC_PATH];

	snprintf(link, sizeof(link), "/proc/%d/exe", request->pid);
	return open_found(open_path(link), request, ret);
}

/* Takes @below, a root directory or -errno. */
static int open_below(int below, const char *path, const struct opener_request *request,
		      struct file_identity *ret)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	_cleanup_close_ int root = below;
	int found;

	if (root < 0)
		return root;
	found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return open_found(found < 0 ? -errno : found, request, ret);
}

static bool is_deleted(const char *path)
{
	size_t n = strlen(path), mark = strlen(DELETED);

	return n > mark && strcmp(path + n - mark, DELETED) == 0;
}

/* Whether another way may lead to the file after this result. */
static bool may_go_on(int r)
{
	return r < 0 && r != -ENOEXEC && r != -EREMOTE && r != -EMFILE && r != -ENFILE &&
	       r != -ENOMEM;
}

/* By its name, as the process sees it, else as process 1 does. */
static int open_by_name(const struct opener_request *request, const char *path,
			struct file_identity *ret)
{
	int r = open_below(root_directory_open(request->pid), path, request, ret), again;

	if (!may_go_on(r) || request->pid == 1)
		return r;
	again = open_below(root_directory_open_first(), path, request, ret);
	return again >= 0 ? again : r;
}

int open_file(const struct opener_request *request, const char *path, struct file_identity *ret)
{
	int r = open_range(request, ret);

	if (path[0] != '/' || !may_go_on(r))
		return r;
	r = open_executable(request, ret);
	if (r < 0 && !is_deleted(path))
		r = open_by_name(request, path, ret);
	return r;
}
