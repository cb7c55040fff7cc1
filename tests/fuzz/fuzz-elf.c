/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An ELF file of any bytes: all its symbols by name, places looked up, the lines of some. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf/file.h"
#include "common/elf/lines.h"
#include "common/elf/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_bytes(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-elf", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

struct input {
	const uint8_t *data;
	size_t size;
};

/* The file is its own debug file as well. */
static int on_debug_wanted(const struct elf_file *file, void *userdata)
{
	const struct input *input = userdata;

	return open_bytes(input->data, input->size);
}

static void look_up(const struct elf_file *file, struct lines *lines, uint64_t offset)
{
	struct source_frame frames[16];
	uint64_t address;
	size_t i = symbol_table_find(file->symbols, offset);

	if (i != SYMBOL_TABLE_NONE)
		symbol_table_name(file->symbols, i);
	if (lines && loads_address(&file->loads, offset, &address))
		lines_find(lines, address, NULL, frames, 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	_cleanup_(lines_freep) struct lines *lines = NULL;
	struct input input = { data, size };
	int fd = open_bytes(data, size);

	if (fd < 0 || elf_file_open(&file, fd) < 0)
		return 0;
	if (elf_symbols_read(file, on_debug_wanted, &input) < 0)
		return 0;
	lines_open(&lines, open_bytes(data, size));
	for (size_t i = 0; i < symbol_table_count(file->symbols) && i < 1000; i++) {
		symbol_table_name(file->symbols, i);
		look_up(file, lines, symbol_table_get(file->symbols, i).start);
	}
	for (size_t offset = 0; offset < size; offset += 97)
		look_up(file, lines, offset);
	return 0;
}
