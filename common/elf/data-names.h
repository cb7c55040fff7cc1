/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the addresses that code refers to: variables, constants, functions, and entries of the
 * global offset table, which have the name of what the dynamic linker makes them point to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf/image.h"

struct elf_data_name {
	uint64_t address; /* given */
	char *name;       /* demangled, or that of a section; NULL: none; freed by the caller */
	uint64_t offset;  /* of the address in what has the name */
	bool is_slot;     /* an entry of the global offset table: what it points to has the name */
};

/*
 * Names @n addresses of @image, in any order. @debug: its separate debug file, used where @image
 * has no full symbol table; or NULL. 0, or -ENOMEM; names found until then are freed by the caller.
 */
int elf_data_names_find(struct elf_image *image, struct elf_image *debug,
			struct elf_data_name *names, size_t n);
