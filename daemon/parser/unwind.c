/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/unwind.h"

#include <errno.h>
#include <fcntl.h>

#include "common/elf/unwind-rows.h"
#include "common/util/cleanup.h"

/* Of the file, or its debug file. 0, -ENODATA, -ETIME or -ENOMEM. */
static int read_rows(const struct file *file, int fd, struct unwind_table *ret)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	int r;

	if (fd < 0)
		return -ENODATA;
	r = elf_image_open(&image, fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (r >= 0)
		r = unwind_rows_read(image, &file->elf->loads, ret);
	return r < 0 && r != -ENOMEM && r != -ETIME ? -ENODATA : r;
}

int unwind_write(struct file *file, struct message_writer *answer)
{
	struct message_unwind_table m = { .machine = file->machine };
	struct unwind_table table = {};
	int r;

	r = read_rows(file, file->fd, &table);
	if (r == -ENODATA)
		r = read_rows(file, file->debug_fd, &table);
	if (r == -ENOMEM || r == -ETIME)
		return r;
	m.n_rules = (uint32_t)table.n_rules;
	m.n_rows = (uint32_t)table.n_rows;
	m.n_bytes = (uint32_t)table.n_bytes;
	message_write(answer, &m, sizeof(m));
	message_write(answer, table.rules, table.n_rules * sizeof(*table.rules));
	message_write(answer, table.parts,
		      unwind_table_n_parts(table.n_rows) * sizeof(*table.parts));
	message_write(answer, table.bytes, table.n_bytes);
	unwind_table_done(&table);
	return 0;
}
