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

#include "common/elf/image.h"
#include "common/object/build-id.h"
#include "common/object/symbol-table.h"
#include "common/util/macro.h"

struct elf_file {
	struct build_id build_id;
	char *debuglink; /* the name of its debug file, or NULL */
	uint32_t debuglink_crc;
	struct loads loads;
	struct symbol_table *symbols; /* by file offset; NULL before elf_symbols_read() */
	struct elf_image *image;      /* NULL after elf_symbols_read() */
};

/* Takes @fd in any case. Errors are those of elf_image_open(). */
int elf_file_open(struct elf_file **ret, int fd);
int elf_file_open_memory(struct elf_file **ret, const void *bytes, size_t n);
struct elf_file *elf_file_free(struct elf_file *file);
DEFINE_CLEANUP(struct elf_file *, elf_file_free);
