/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/bytes.h"

#include <errno.h>
#include <unistd.h>

size_t bytes_read(int fd, uint64_t offset, void *ret, size_t n)
{
	size_t done = 0;

	while (done < n && offset <= (uint64_t)INT64_MAX - done) {
		ssize_t k = pread(fd, (char *)ret + done, n - done, (off_t)(offset + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return done;
}
