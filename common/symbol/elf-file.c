/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/elf-file.h"

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
	file->loads = TAKE_PTR(image->loads);
	file->n_loads = image->n_loads;
	image->n_loads = 0;
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
	free(file->loads);
	free(file->debuglink);
	free(file);
	return NULL;
}

/* Segments may share bytes of the file (data that follows code in one page): code wins. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret)
{
	const struct elf_load *found = NULL;

	for (size_t i = 0; i < file->n_loads; i++) {
		const struct elf_load *l = &file->loads[i];

		if (offset >= l->offset && offset - l->offset < l->size)
			found = found && !l->executable ? found : l;
	}
	if (!found)
		return false;
	*ret = found->address + (offset - found->offset);
	return true;
}

const struct elf_load *elf_file_find_load(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->n_loads; i++) {
		const struct elf_load *l = &file->loads[i];

		if (address >= l->address && address - l->address < l->size)
			return l;
	}
	return NULL;
}

bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret)
{
	const struct elf_load *l = elf_file_find_load(file, address);

	if (!l)
		return false;
	*ret = l->offset + (address - l->address);
	return true;
}

/* Programs linked below this address are position-independent. */
#define LOWEST_FIXED 0x10000

void elf_file_fixed_range(const struct elf_file *file, uint64_t *ret_low, uint64_t *ret_high)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < file->n_loads; i++) {
		low = MIN(low, file->loads[i].address);
		high = MAX(high, file->loads[i].address + file->loads[i].memory_size);
	}
	*ret_low = low < LOWEST_FIXED || low > high ? 0 : low;
	*ret_high = *ret_low ? high : 0;
}

bool elf_file_has_code(const struct elf_file *file)
{
	for (size_t i = 0; i < file->n_loads; i++)
		if (file->loads[i].executable)
			return true;
	return false;
}
