/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes machine code into instructions, by capstone: x86-64, 32-bit x86, aarch64.
 *
 * Code that capstone cannot decode, for example newer instructions, becomes data: one byte, or one
 * word on aarch64, at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/instruction.h"
#include "common/util/macro.h"

struct disassembler;

/* @machine is one of EM_* in elf.h. 0, -EOPNOTSUPP for an unknown machine, or -ENOMEM. */
int disassembler_new(struct disassembler **ret, uint16_t machine);
struct disassembler *disassembler_free(struct disassembler *disassembler);
DEFINE_CLEANUP(struct disassembler *, disassembler_free);

/*
 * From now on numbers of 32 bits and more in [low, high) count as addresses and are zeroed in
 * instruction.fixed. Set it for a program that is linked to run at a fixed address (x86). Default:
 * no numbers.
 */
void disassembler_set_absolute(struct disassembler *disassembler, uint64_t low, uint64_t high);

/* From now on texts of x86 are as AT&T writes them, with the source first. Default: Intel's. */
int disassembler_set_att(struct disassembler *disassembler);

/*
 * Decodes the instruction at the start of @n bytes of code, which lie at @address. Its text is
 * valid until the next is decoded. False if @n is 0.
 */
bool disassembler_decode(struct disassembler *disassembler, const uint8_t *code, size_t n,
			 uint64_t address, struct instruction *ret);

/* The same without a text, for who reads much: instruction.text is NULL. */
bool disassembler_read(struct disassembler *disassembler, const uint8_t *code, size_t n,
		       uint64_t address, struct instruction *ret);
