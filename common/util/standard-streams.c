/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/standard-streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int standard_streams_fill(void)
{
	for (;;) {
		int fd = open("/dev/null", O_RDONLY | O_NOCTTY); /* the lowest that is free */

		if (fd < 0)
			return -errno;
		if (fd > STDERR_FILENO) {
			close(fd);
			return 0;
		}
	}
}
