/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/elf/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

static int take_image(struct elf_file **ret, struct elf_image *image)
{
	_cleanup_(elf_file_freep) struct elf_file *file = calloc(1, sizeof(*file));
	const char *link;

	if (!file) {
		elf_image_free(image);
		return -ENOMEM;
	}
	file->image = image;
	file->build_id = image->build_id;
	file->loads = image->loads;
	image->loads = (struct loads){};
	if (elf_image_debuglink(image, &link, &file->debuglink_crc)) {
		file->debuglink = strdup(link);
		if (!file->debuglink)
			return -ENOMEM;
	}
	*ret = TAKE_PTR(file);
	return 0;
}

int elf_file_open(struct elf_file **ret, int fd)
{
	struct elf_image *image;
	int r = elf_image_open(&image, fd);

	return r < 0 ? r : take_image(ret, image);
}

int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t n)
{
	struct elf_image *image;
	int r = elf_image_open_memory(&image, bytes, n);

	return r < 0 ? r : take_image(ret, image);
}

struct elf_file *elf_file_free(struct elf_file *file)
{
	if (!file)
		return NULL;
	elf_image_free(file->image);
	symbol_table_free(file->symbols);
	free(file->loads.rows);
	free(file->debuglink);
	free(file);
	return NULL;
}
