/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine code of an object: bytes by file offset, read on demand. Files are not mapped, so a
 * file that becomes shorter in the meantime does no harm.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/elf/file.h"
#include "common/util/macro.h"

struct code;

/*
 * @file is open and its symbols were not read yet. 0; -ENODATA where it has debug information but
 * no code; or another negative errno.
 */
int code_open(struct code **ret, const struct elf_file *file);
struct code *code_free(struct code *code);
DEFINE_CLEANUP(struct code *, code_free);

/* One of EM_* in elf.h. */
uint16_t code_machine(const struct code *code);

/* Reads up to @n bytes at @offset. The number of bytes read; fewer than @n where the file ends. */
size_t code_read(const struct code *code, uint64_t offset, void *ret, size_t n);
