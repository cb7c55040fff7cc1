/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One executable or shared library: who it is, where its code lies, what its functions are called.
 *
 * Offsets are the file's, which is what mappings speak of; addresses are the ELF file's own, which
 * is what its tables speak of. Program headers turn one into the other.
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
	char *debuglink; /* NULL where it names none */
	uint32_t debuglink_crc;
	struct elf_load *loads;
	size_t n_loads;
	struct symbol_table *symbols; /* NULL until they are read; by file offset */
	struct elf_image *image;      /* only until then */
};

/* Takes @fd in any case. Errors are those of elf_image_open(). */
int elf_file_open(struct elf_file **ret, int fd);
int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t n);
struct elf_file *elf_file_free(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_free);

/* True and *@ret, or false where the file's bytes at @offset are not loaded. */
bool elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *ret);
bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret);

/* The segment whose bytes in the file are loaded to @address, or NULL. */
const struct elf_load *elf_file_find_load(const struct elf_file *file, uint64_t address);

/*
 * The addresses [*@ret_low, *@ret_high) that its code may hold as plain numbers, because it is
 * linked to run at a fixed place; none (0, 0) of what runs anywhere.
 */
void elf_file_fixed_range(const struct elf_file *file, uint64_t *ret_low, uint64_t *ret_high);

/* True if code is loaded from the file; it is not from one with debug information alone. */
bool elf_file_has_code(const struct elf_file *file);
