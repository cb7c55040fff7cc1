/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/kept/kept-write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int kept_write(int directory, const char *part, const char *name, const struct build_id *id,
	       const struct kept_content *content)
{
	int fd = openat(directory, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			0600);
	int r;

	if (fd < 0)
		return -errno;
	r = content->write(fd, id, content->what);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(directory, part, directory, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(directory, part, 0);
	return r;
}
