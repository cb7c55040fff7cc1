/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/elf/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"

struct code {
	uint16_t machine;
	int fd;          /* or -1: */
	uint8_t *memory; /* the whole file */
	size_t n_memory;
};

static int copy_memory(struct code *code, const struct elf_image *image)
{
	code->memory = malloc(image->n_memory);
	if (!code->memory)
		return -ENOMEM;
	memcpy(code->memory, image->memory, image->n_memory);
	code->n_memory = image->n_memory;
	return 0;
}

static int copy_descriptor(struct code *code, const struct elf_image *image)
{
	code->fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	return code->fd < 0 ? -errno : 0;
}

int code_open(struct code **ret, const struct elf_file *file)
{
	_cleanup_(code_freep) struct code *code = NULL;
	const struct elf_image *image = file->image;
	int r;

	if (!image || !loads_have_code(&file->loads))
		return -ENODATA;
	code = calloc(1, sizeof(*code));
	if (!code)
		return -ENOMEM;
	code->machine = image->machine;
	code->fd = -1;
	r = image->memory ? copy_memory(code, image) : copy_descriptor(code, image);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(code);
	return 0;
}

struct code *code_free(struct code *code)
{
	if (!code)
		return NULL;
	if (code->fd >= 0)
		close(code->fd);
	free(code->memory);
	free(code);
	return NULL;
}

uint16_t code_machine(const struct code *code)
{
	return code->machine;
}

static size_t read_memory(const struct code *code, uint64_t offset, void *ret, size_t n)
{
	if (offset >= code->n_memory)
		return 0;
	n = MIN(n, code->n_memory - (size_t)offset);
	memcpy(ret, code->memory + offset, n);
	return n;
}

size_t code_read(const struct code *code, uint64_t offset, void *ret, size_t n)
{
	size_t done = 0;

	if (code->memory)
		return read_memory(code, offset, ret, n);
	while (done < n && offset <= (uint64_t)INT64_MAX - done) {
		ssize_t k = pread(code->fd, (char *)ret + done, n - done, (off_t)(offset + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		done += (size_t)k;
	}
	return done;
}
