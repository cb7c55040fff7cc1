/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/found-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/opener/file-system.h"

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Without asking its file system anew. */
static int read_state(int fd, struct stat *ret)
{
	struct statx x;

	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS,
		  &x) < 0)
		return -errno;
	*ret = (struct stat){
		.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
		.st_ino = x.stx_ino,
		.st_mode = x.stx_mode,
		.st_uid = x.stx_uid,
		.st_size = (off_t)x.stx_size,
		.st_ctim = { .tv_sec = x.stx_ctime.tv_sec, .tv_nsec = x.stx_ctime.tv_nsec },
	};
	return 0;
}

static int open_again(int fd)
{
	char again[64];
	int r;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	r = open(again, OPEN_FLAGS);
	return r < 0 ? -errno : r;
}

int found_file_open(int found, const struct opener_request *request, found_file_check check,
		    struct stat *ret_st, struct file_identity *ret)
{
	_cleanup_close_ int fd = found;
	struct stat st;
	bool local;
	int r;

	if (found < 0)
		return found;
	r = read_state(fd, &st);
	if (r >= 0)
		r = S_ISREG(st.st_mode) ? check(&st, request) : -ENOEXEC;
	if (r < 0)
		return r;
	local = file_system_is_local(fd, st.st_dev);
	if (!local && !request->remote)
		return -EREMOTE;
	r = open_again(fd);
	if (r < 0)
		return r;
	*ret_st = st;
	file_identity_fill(ret, &st, local);
	return r;
}
