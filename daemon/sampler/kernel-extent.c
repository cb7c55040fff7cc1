/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/kernel-extent.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/kept/kept-header.h"

#define NAME      "kernel-extent"
#define NEW_NAME  "kernel-extent.part"
#define MAX_BYTES (UINT64_C(1) << 30) /* no kernel is larger */

static const struct kept_format format = { "branchdX", 2 };

struct content {
	struct kept_header head;
	uint32_t unused;
	uint64_t n_bytes;
};

bool kernel_extent_read(int directory, const struct build_id *id, uint64_t *ret_n_bytes)
{
	_cleanup_close_ int fd =
		openat(directory, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct content content;

	if (fd < 0 || id->n == 0 ||
	    pread(fd, &content, sizeof(content), 0) != (ssize_t)sizeof(content) ||
	    kept_header_check(&content.head, sizeof(content), &format, id) < 0 ||
	    content.n_bytes == 0 || content.n_bytes > MAX_BYTES)
		return false;
	*ret_n_bytes = content.n_bytes;
	return true;
}

void kernel_extent_write(int directory, const struct build_id *id, uint64_t n_bytes)
{
	struct content content = { .n_bytes = n_bytes };
	struct iovec part = { &content, sizeof(content) };
	int fd, r;

	if (id->n == 0)
		return;
	fd = openat(directory, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	kept_header_fill(&content.head, &format, id);
	r = kept_header_write(fd, &part, 1);
	if (close(fd) < 0 || r < 0 || renameat(directory, NEW_NAME, directory, NAME) < 0)
		unlinkat(directory, NEW_NAME, 0);
}
