/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file is opened once more, because its headers go when its functions were read. */
#include "daemon/parser/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/elf/data-names.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

/* 0 and *@ret, which stays NULL for a damaged file or without one; or -ENOMEM. */
static int open_image(int fd, struct elf_image **ret)
{
	int r = fd < 0 ? 0 : elf_image_open(ret, fcntl(fd, F_DUPFD_CLOEXEC, 0));

	return r == -ENOMEM ? r : 0;
}

static int find_names(const struct file *file, struct elf_data_name *names, size_t n)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	_cleanup_(elf_image_freep) struct elf_image *debug = NULL;
	int r;

	r = open_image(file->fd, &image);
	if (!r)
		r = open_image(file->debug_fd, &debug);
	return r < 0 || !image ? r : elf_data_names_find(image, debug, names, n);
}

static int write_rows(const struct elf_data_name *names, size_t n, struct message_writer *answer)
{
	struct message_rows head = { .n_rows = (uint32_t)n };
	_cleanup_free_ struct message_datum *rows = NULL;
	struct message_text text = {};
	int r;

	r = ARRAY_ALLOCATE_ZEROED(&rows, n);
	for (size_t i = 0; i < n && !r; i++) {
		rows[i].offset = names[i].offset;
		rows[i].is_slot = names[i].is_slot;
		r = message_text_add(&text, names[i].name, &rows[i].name);
	}
	head.n_text = (uint32_t)text.n;
	message_write(answer, &head, sizeof(head));
	message_write(answer, rows, n * sizeof(*rows));
	message_write(answer, text.text, text.n);
	free(text.text);
	return r;
}

int data_write(struct file *file, const uint64_t *addresses, size_t n,
	       struct message_writer *answer)
{
	struct elf_data_name *names;
	int r;

	if (ARRAY_ALLOCATE_ZEROED(&names, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		names[i].address = addresses[i];
	r = find_names(file, names, n);
	if (!r)
		r = write_rows(names, n, answer);
	for (size_t i = 0; i < n; i++)
		free(names[i].name);
	free(names);
	return r;
}
