/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Machine code as instructions, by capstone: x86-64, its 32-bit ancestor, and aarch64.
 *
 * What capstone does not know (it is older than some processors) is passed over as data, a byte at
 * a time, on aarch64 a word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/branch-kind.h"
#include "common/util/macro.h"

#define INSTRUCTION_MAX 16 /* bytes */

struct instruction {
	uint64_t address;
	size_t size;
	const char *text;      /* as "jne 0x1234", valid until the next one is decoded */
	enum branch_kind kind; /* BRANCH_UNKNOWN of what is no branch */
	bool has_target; /* a direct branch, or an address that is loaded relative to its own: */
	uint64_t target;
	bool is_data; /* not decoded */

	/* Its bytes without those bits that say how far from itself something is: moved code has
	 * the same. */
	uint8_t fixed[INSTRUCTION_MAX];
};

struct disassembler;

/* @machine is one of EM_* in elf.h. 0, -EOPNOTSUPP for a machine not known, or -ENOMEM. */
int disassembler_new(struct disassembler **ret, uint16_t machine);
struct disassembler *disassembler_free(struct disassembler *disassembler);
DEFINE_CLEANUP(struct disassembler *, disassembler_free);

/*
 * From now on numbers of 32 bits and more in [low, high) are taken for addresses, and left out of
 * instruction.fixed: those of a program that is linked to run at a fixed place (x86). None are at
 * first.
 */
void disassembler_set_absolute(struct disassembler *disassembler, uint64_t low, uint64_t high);

/* The instruction at the start of the @n bytes of code, which lie at @address; false where there
 * are none. */
bool disassembler_decode(struct disassembler *disassembler, const uint8_t *code, size_t n,
			 uint64_t address, struct instruction *ret);
