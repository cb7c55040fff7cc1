/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stubs of a procedure linkage table: their addresses, and the slots that they jump through.
 *
 * The stubs are decoded from their machine code, because their order and size depend on the linker
 * and its options. x86-64 and AArch64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_stub {
	uint64_t address, size;
	uint64_t slot; /* the address of the pointer it jumps through; 0: it pushes @push */
	uint64_t push; /* the index of its relocation in .rela.plt */
	bool header;   /* the common part that calls the dynamic linker */
};

/* A handler returns 0, or a negative errno, which ends the loop and becomes its result. */
typedef int (*elf_stub_handler)(const struct elf_stub *stub, void *userdata);

/* A section of stubs. */
struct elf_plt {
	uint16_t machine; /* EM_* */
	const uint8_t *bytes;
	size_t n;
	uint64_t address;
	uint64_t entry_size; /* of its stubs, or 0 */
};

int elf_plt_for_each_stub(const struct elf_plt *plt, elf_stub_handler handler, void *userdata);
