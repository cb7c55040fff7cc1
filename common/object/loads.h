/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments of an ELF file that are loaded: they convert between offsets in the file, as in
 * mappings, and addresses, as in the file's own tables.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load {
	uint64_t offset, address;
	uint64_t size; /* in the file */
	uint64_t memory_size;
	bool executable;
};

struct loads {
	struct load *rows; /* offset + size and address + size do not overflow */
	size_t n;
};

/* Convert. True and *@ret, or false where the bytes are not in a loaded segment of the file. */
bool loads_address(const struct loads *loads, uint64_t offset, uint64_t *ret);
bool loads_offset(const struct loads *loads, uint64_t address, uint64_t *ret);

/* The segment whose bytes in the file are loaded to @address, or NULL. */
const struct load *loads_find(const struct loads *loads, uint64_t address);

/*
 * The addresses [*@ret_low, *@ret_high) of a file that is linked to run at a fixed address: its
 * code may hold them as plain numbers. (0, 0) for position-independent code.
 */
void loads_fixed_range(const struct loads *loads, uint64_t *ret_low, uint64_t *ret_high);

/* The address of the first segment with code, rounded down to a page as the kernel maps it. False:
 * there is none. */
bool loads_code_start(const struct loads *loads, uint64_t *ret);

/* True if a segment is executable; a file of debug information has none. */
bool loads_have_code(const struct loads *loads);
