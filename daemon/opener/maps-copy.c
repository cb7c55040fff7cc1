/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/maps-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/opener/opener.h"

/* "55d0c4a2f000-55d0c4a34000 r-xp ..." */
static bool is_executable(const char *line)
{
	const char *space = strchr(line, ' ');

	return space && strlen(space) > 3 && space[3] == 'x';
}

static int copy_lines(FILE *from, FILE *to)
{
	_cleanup_free_ char *line = NULL;
	size_t n_line = 0, n = 0;

	while (n < OPENER_MAX_MAPPINGS && getline(&line, &n_line, from) > 0) {
		if (!is_executable(line))
			continue;
		if (fputs(line, to) < 0)
			return -EIO;
		n++;
	}
	return fflush(to) < 0 ? -errno : 0;
}

static int open_copy(FILE *from)
{
	_cleanup_fclose_ FILE *to = NULL;
	int fd = memfd_create("maps", MFD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	to = fdopen(fd, "w");
	if (!to) {
		close(fd);
		return -ENOMEM;
	}
	r = copy_lines(from, to);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	r = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return r < 0 ? -errno : r;
}

int maps_copy(int32_t pid, char *ret_executable, size_t n)
{
	_cleanup_fclose_ FILE *from = NULL;
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, ret_executable, n - 1);
	ret_executable[length > 0 ? length : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	from = fopen(path, "re");
	return from ? open_copy(from) : -errno;
}
