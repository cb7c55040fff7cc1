/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/found-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

int found_file_stat(int fd, struct stat *ret)
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

int found_file_open(int fd)
{
	char again[64];
	int r;

	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	r = open(again, OPEN_FLAGS);
	return r < 0 ? -errno : r;
}
