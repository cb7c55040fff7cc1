/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the symbols of an ELF file: from the file itself, its debug file, its PLT stubs. */
#pragma once

#include "common/elf/file.h"

/* Opens the separate debug file of @file: a descriptor for the caller to close, or -1. */
typedef int (*elf_debug_opener)(const struct elf_file *file, void *userdata);

/*
 * Fills @file->symbols, once. Calls @open_debug (or NULL) if the file has no full table itself.
 * 0 or -ENOMEM. Damaged parts are skipped, and the table may stay empty.
 */
int elf_symbols_read(struct elf_file *file, elf_debug_opener open_debug, void *userdata);
