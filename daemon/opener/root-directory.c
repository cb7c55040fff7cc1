/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/root-directory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

static int open_directory(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int root_directory_open(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/root", pid);
	return open_directory(path);
}

int root_directory_open_first(void)
{
	int fd = root_directory_open(1);

	return fd < 0 ? open_directory("/") : fd;
}
