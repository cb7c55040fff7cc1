/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All names are strings in one section, each with its zero byte; the section begins with an empty
 * one. */
#include "daemon/events/kernel-btf.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"

#define MAX_BYTES (256u << 20)

/* False if there are fewer bytes. A file in /sys gives a page at a time. */
static bool read_at(int fd, void *ret, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t k = pread(fd, (char *)ret + done, n - done, (off_t)(at + done));

		if (k <= 0)
			return false;
		done += (size_t)k;
	}
	return true;
}

static bool has_string(const char *text, size_t n, const char *name)
{
	size_t n_name = strlen(name) + 1;

	for (const char *at = text; (at = memmem(at, n - (size_t)(at - text), name, n_name)); at++)
		if (at > text && at[-1] == '\0')
			return true;
	return false;
}

bool kernel_btf_has(const char *path, const char *name)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct btf_header head;
	char *text;
	bool has;

	if (fd < 0 || !read_at(fd, &head, sizeof(head), 0) || head.magic != BTF_MAGIC ||
	    head.str_len == 0 || head.str_len > MAX_BYTES)
		return false;
	text = malloc(head.str_len);
	has = text && read_at(fd, text, head.str_len, (uint64_t)head.hdr_len + head.str_off) &&
	      has_string(text, head.str_len, name);
	free(text);
	malloc_trim(0);
	return has;
}
