/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The registers of user code in a sample, by the numbers of DWARF. The kernel numbers them in its
 * own way on each machine.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sample;

#define USER_REGISTERS_MAX 32

struct user_registers {
	uint64_t ip, sp;
	uint64_t fp; /* rbp; x29. 0 where not known */
	uint64_t lr; /* AArch64: x30. 0 where not known */
	/* The general registers by their DWARF numbers, sp and fp too; 0 where not known. */
	uint64_t values[USER_REGISTERS_MAX];
	uint32_t known; /* a bit for each number in @values */
};

/*
 * Reads the registers of @sample, taken on @machine (EM_X86_64 or EM_AARCH64). False if it has
 * none, or not ip and sp, or is of a program of 32 bits, or the machine is another.
 */
bool user_registers_read(const struct sample *sample, uint16_t machine, struct user_registers *ret);

/* EM_* of a name that uname(2) gives, 0 of one that is not known here. */
uint16_t user_registers_machine(const char *name);

/* EM_* of the machine that this program was compiled for, 0 of another. */
uint16_t user_registers_own_machine(void);
