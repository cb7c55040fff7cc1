/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/kernel-extent.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/kept/kept-header.h"
#include "daemon/kept/kept-write.h"

#define NAME      "kernel-extent"
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

static int write_content(int fd, const struct build_id *id, const void *what)
{
	struct content content = { .n_bytes = *(const uint64_t *)what };
	struct iovec part = { &content, sizeof(content) };

	kept_header_fill(&content.head, &format, id);
	return kept_header_write(fd, &part, 1);
}

void kernel_extent_write(int directory, const struct build_id *id, uint64_t n_bytes)
{
	const struct kept_content content = { sizeof(struct content), write_content, &n_bytes };

	if (id->n > 0)
		kept_write(directory, NAME ".part", NAME, id, &content);
}
