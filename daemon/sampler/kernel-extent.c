/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/kernel-extent.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/checksum/crc.h"
#include "common/util/cleanup.h"

#define NAME      "kernel-extent"
#define NEW_NAME  "kernel-extent.part"
#define MAX_BYTES (UINT64_C(1) << 30) /* no kernel is larger */

static const char magic[8] = "branchdX";

struct content {
	char magic[8];
	uint64_t n_bytes;
	uint8_t n_build_id;
	uint8_t build_id[sizeof(((struct build_id *)NULL)->bytes)];
	uint8_t unused[3];
	uint32_t crc; /* of all before */
};

static void fill(struct content *ret, const struct build_id *id, uint64_t n_bytes)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->magic, magic, sizeof(magic));
	ret->n_bytes = n_bytes;
	ret->n_build_id = id->n;
	memcpy(ret->build_id, id->bytes, sizeof(ret->build_id));
	ret->crc = crc_add(0, ret, offsetof(struct content, crc));
}

bool kernel_extent_read(int directory, const struct build_id *id, uint64_t *ret_n_bytes)
{
	_cleanup_close_ int fd =
		openat(directory, NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct content read_one, expected;

	if (fd < 0 || id->n == 0 ||
	    pread(fd, &read_one, sizeof(read_one), 0) != (ssize_t)sizeof(read_one))
		return false;
	fill(&expected, id, read_one.n_bytes);
	if (memcmp(&read_one, &expected, sizeof(expected)) != 0 || read_one.n_bytes == 0 ||
	    read_one.n_bytes > MAX_BYTES)
		return false;
	*ret_n_bytes = read_one.n_bytes;
	return true;
}

void kernel_extent_write(int directory, const struct build_id *id, uint64_t n_bytes)
{
	struct content content;
	bool whole;
	int fd;

	if (id->n == 0)
		return;
	fd = openat(directory, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return;
	fill(&content, id, n_bytes);
	whole = write(fd, &content, sizeof(content)) == (ssize_t)sizeof(content);
	if (close(fd) < 0 || !whole || renameat(directory, NEW_NAME, directory, NAME) < 0)
		unlinkat(directory, NEW_NAME, 0);
}
