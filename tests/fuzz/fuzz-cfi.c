/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call frame information: any bytes as .eh_frame or .debug_frame of a file that is otherwise sound.
 * What comes out is a valid table.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "common/elf/unwind-rows.h"
#include "tests/support/elf-head.h"

#define ADDRESS 0x40000000 /* of the section; its functions may lie anywhere around it */
#define CODE    0x80000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	struct elf_head head;
	uint8_t cfi[];
};

static void fill(struct image *image, const uint8_t *data, size_t size, bool eh, bool a64)
{
	elf_head_init(&image->head, a64 ? EM_AARCH64 : EM_X86_64, CODE,
		      eh ? ".eh_frame" : ".debug_frame", size);
	image->head.sections[1].sh_addr = ADDRESS;
	if (!eh)
		image->head.sections[1].sh_flags = 0;
	memcpy(image->cfi, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table table;
	struct elf_image *elf;
	struct image *image;
	int r;

	if (size < 1)
		return 0;
	image = calloc(1, sizeof(*image) + size);
	fill(image, data + 1, size - 1, data[0] & 1, data[0] & 2);
	r = elf_image_open_memory(&elf, image, sizeof(*image) + size - 1);
	free(image);
	if (r < 0)
		abort();
	if (unwind_rows_read(elf, &elf->loads, &table) >= 0) {
		if (!unwind_table_is_valid(&table) || table.n_rows == 0)
			abort();
		unwind_table_done(&table);
	}
	elf_image_free(elf);
	return 0;
}
