/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One executable or shared library: its identity, its segments, its symbols.
 *
 * Offsets are file offsets, as in mappings. Addresses are those of the ELF file's own tables. The
 * program headers convert between them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/symbol/build-id.h"
#include "common/symbol/elf-image.h"
#include "common/symbol/symbol-table.h"
#include "common/util/macro.h"

struct elf_file {
	struct build_id build_id;
	char *debuglink; /* the name of its debug file, or NULL */
	uint32_t debuglink_crc;
	struct elf_load *loads;
	size_t n_loads;
	struct symbol_table *symbols; /* by file offset; NULL before elf_symbols_read() */
	struct elf_image *image;      /* NULL after elf_symbols_read() */
};

/* Takes @fd in any case. Errors are those of elf_image_open(). */
int elf_file_open(struct elf_file **ret, int fd);
int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t n);
struct elf_file *elf_file_free(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_free);

/* Convert. True and *@ret, or false where the bytes are not in a loaded segment of the file. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);
bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret);

/* The segment whose bytes in the file are loaded to @address, or NULL. */
const struct elf_load *elf_file_find_load(const struct elf_file *file, uint64_t address);

/*
 * The addresses [*@ret_low, *@ret_high) of a file that is linked to run at a fixed address: its
 * code may hold them as plain numbers. (0, 0) for position-independent code.
 */
void elf_file_fixed_range(const struct elf_file *file, uint64_t *ret_low, uint64_t *ret_high);

/* True if the file has code; a file of debug information has none. */
bool elf_file_has_code(const struct elf_file *file);
