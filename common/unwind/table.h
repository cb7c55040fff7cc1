/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How to find the caller's frame, for each address of one object's code.
 *
 * A table has rows, sorted by offset in the file. A row lasts until the next one, and names a rule.
 * An object has few distinct rules, and rows are close together, so they are packed: a part of
 * UNWIND_PART_ROWS of them has the offset of its first row, and the others follow as bytes, see
 * packed-rows.h. A row takes 3 bytes in the mean. Code that nothing is known of has the rule
 * UNWIND_CFA_NONE.
 *
 * The frame of a function begins at its CFA (canonical frame address): what the stack pointer was
 * before the call. Registers have the numbers of DWARF. x86-64 and AArch64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/packed-rows.h"

/* The DWARF numbers of registers. */
#define UNWIND_X86_BX 3
#define UNWIND_X86_FP 6
#define UNWIND_X86_SP 7
#define UNWIND_X86_RA 16
#define UNWIND_A64_FP 29
#define UNWIND_A64_LR 30
#define UNWIND_A64_SP 31

#define UNWIND_N_REGISTERS 32 /* that a CFA may be computed from */

/* What the CFA is. */
enum unwind_cfa {
	UNWIND_CFA_NONE,        /* unknown */
	UNWIND_CFA_END,         /* there is no caller */
	UNWIND_CFA_REGISTER,    /* register + offset */
	UNWIND_CFA_MEMORY,      /* the word at register + offset */
	UNWIND_CFA_PLT,         /* sp + offset, and 8 more if ip % 16 >= register */
	UNWIND_CFA_INTERRUPTED, /* as MEMORY, and the caller is code that a signal interrupted */
	UNWIND_CFA_SIGNAL_A64,  /* the frame of a signal handler on AArch64; the kernel's layout */
	/* all in registers, as before a longjmp: the caller's stack pointer in cfa_register, its
	 * frame pointer and the return address in those of the numbers fp_offset and ra_offset */
	UNWIND_CFA_JUMP,
	UNWIND_CFA_POINTER, /* unknown, and the code has frame pointers, as that of Go */
	UNWIND_CFA_N,
};

/* Where the caller's value of a register is. */
enum unwind_saved {
	UNWIND_SAVED_NOT,      /* still in the register */
	UNWIND_SAVED_CFA,      /* in the word at CFA + offset */
	UNWIND_SAVED_REGISTER, /* in the word at cfa_register + offset */
	UNWIND_SAVED_FP,       /* in the word at fp + offset */
	UNWIND_SAVED_LOST,
	UNWIND_SAVED_HELD, /* in the register of the number @offset: a return address alone, as
			    * vfork() keeps it */
	UNWIND_SAVED_N,
};

struct unwind_rule {
	uint8_t cfa;          /* enum unwind_cfa */
	uint8_t cfa_register; /* below UNWIND_N_REGISTERS */
	/* enum unwind_saved of the frame pointer, the return address, and rbx, by which the dynamic
	 * linker finds its frame when it binds a function */
	uint8_t fp, ra, bx;
	/*
	 * Not 0: the code is of a function that ends by a jump to a return address in a register,
	 * as libgcc's _Unwind_Resume(). Shortly before it copies the return address of the frame
	 * that it jumps to into its own.
	 */
	uint8_t replaces;
	uint8_t unused[2];
	int32_t cfa_offset, fp_offset, ra_offset, bx_offset;
};

/* Another number, whenever tables, what they mean, or their files change. */
#define UNWIND_TABLE_FORMAT 6

#define UNWIND_MAX_RULES 0x8000u

/* Rows that are not packed. */
struct unwind_rows {
	uint16_t machine;         /* one of EM_* in elf.h */
	const uint32_t *starts;   /* ascending */
	const uint16_t *rule_ids; /* as those of struct unwind_row */
	size_t n;
	const struct unwind_rule *rules;
	size_t n_rules;
};

#define UNWIND_PART_ROWS 16

/* UNWIND_PART_ROWS rows; the last one may have fewer. */
struct unwind_part {
	uint32_t start; /* of the first row */
	uint32_t at;    /* its bytes */
};

struct unwind_table {
	uint16_t machine;
	size_t n_rows;
	const struct unwind_rule *rules;
	size_t n_rules;
	const struct unwind_part *parts; /* see unwind_table_n_parts() */
	const uint8_t *bytes;
	size_t n_bytes;
	void *memory; /* of all arrays; NULL: they are borrowed */
};

static inline size_t unwind_table_n_parts(size_t n_rows)
{
	return (n_rows + UNWIND_PART_ROWS - 1) / UNWIND_PART_ROWS;
}

/* Packs @rows, which are sorted: 0 and *@ret, for unwind_table_done(); or -ENOMEM. */
int unwind_table_pack(struct unwind_table *ret, const struct unwind_rows *rows);

/*
 * Whether the table is sorted and all its numbers are in bounds. All other functions need one that
 * is.
 */
bool unwind_table_is_valid(const struct unwind_table *table);

/* Row @i, which is less than their number. */
struct unwind_row unwind_table_row(const struct unwind_table *table, size_t i);

/* The rule at @offset of the file; NULL where none is known. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset);

#define UNWIND_OTHER_CODE 0x40000u /* bytes */

/*
 * Whether code without a rule may have frame pointers: by the table, or because @offset is in a
 * large part of the code, UNWIND_OTHER_CODE bytes at least, that nothing is known of, so that
 * another compiler made it, as V8's built-in functions.
 */
bool unwind_table_is_other_code(const struct unwind_table *table, uint64_t offset);

/*
 * The function around @offset of the file, or the part of one that lies apart: [*@ret_start,
 * *@ret_end). False if none is known.
 */
bool unwind_table_function(const struct unwind_table *table, uint64_t offset, uint64_t *ret_start,
			   uint64_t *ret_end);

/* The bytes that it takes. */
size_t unwind_table_bytes(const struct unwind_table *table);

/* Copies a table whose arrays are borrowed into memory of its own. 0 or -ENOMEM. */
int unwind_table_copy(struct unwind_table *ret, const struct unwind_table *table);

/* Another owner of the memory of @table, a copy. Each calls unwind_table_done(), in any thread. */
void unwind_table_share(struct unwind_table *ret, const struct unwind_table *table);

void unwind_table_done(struct unwind_table *table);
