/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stubs of a procedure linkage table: where each is, and through which slot it jumps.
 *
 * Read from their machine code, for neither the order nor the size of stubs is the same for all
 * linkers and options. x86-64 and AArch64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_stub {
	uint64_t address, size;
	uint64_t slot; /* the address of the pointer it jumps through; 0 where it pushes instead: */
	uint64_t push; /* the index of its relocation among those of .rela.plt */
	bool header;   /* the common part that calls the dynamic linker */
};

/* Handlers return 0, or a negative errno that ends the loop and is its result. */
typedef int (*elf_stub_handler)(const struct elf_stub *stub, void *userdata);

/* @bytes are the section's, which is at @address and has stubs of @entry_size bytes if it says. */
int elf_plt_for_each_stub(uint16_t machine, const uint8_t *bytes, size_t n, uint64_t address,
			  uint64_t entry_size, elf_stub_handler handler, void *userdata);
