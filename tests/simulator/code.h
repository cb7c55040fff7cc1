/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * code: the instructions of one address space, decoded once each.
 *
 * Answers two questions: what is the instruction at this address, and where does the straight run
 * that begins at this address end. Keeps the breakpoints as well, since they hide the bytes that it
 * decodes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_PLAIN,
	INSN_CONDITIONAL, /* Jcc, LOOPcc, JRCXZ */
	INSN_JUMP,
	INSN_JUMP_INDIRECT,
	INSN_CALL,
	INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_SYSCALL,
	INSN_OTHER, /* far transfers, traps, what the disassembler does not know: ends a run, is
		       stepped over */
};

enum insn_condition { /* 0..15 are the cc of Jcc */
		      CONDITION_LOOPNE = 16,
		      CONDITION_LOOPE,
		      CONDITION_LOOP,
		      CONDITION_RCXZ,
		      CONDITION_ECXZ,
};

#define REG_NONE (-1)

struct insn {
	uint64_t addr;
	uint64_t next;
	uint64_t target; /* of direct transfers */
	int64_t displacement;
	uint8_t length;
	uint8_t kind;
	uint8_t condition;
	uint8_t scale;
	bool is_memory; /* an indirect target lies in memory at [segment + base + index * scale +
			   displacement] */
	bool is_odd;    /* its target cannot be computed here: step over it and look */
	bool is_cpuid;  /* a hypervisor executes it, and may lose the trap of a single step */
	int8_t segment; /* these three: index into struct user_regs_struct as an array of words, or
			   REG_NONE */
	int8_t base;    /* also the register of `call *%reg` */
	int8_t index;
	bool patched; /* an int3 is in the program's memory */
	bool dead;    /* unmapped since */
	uint8_t original;
	uint16_t pop_bytes; /* of `ret n` */
	uint8_t counter;    /* the predictor's, see predictor.h */
	uint64_t last_target;
};

/* A straight run: n instructions from start to end, of which only `end` can be other than
 * INSN_PLAIN. */
struct block {
	uint64_t start;
	struct insn *end;
	uint32_t n_insns;
	bool dead;
};

struct code;

/* fd_mem is /proc/PID/mem of a process that has the address space, open for reading and writing; it
 * is taken. */
int code_new(struct code **ret, int fd_mem);
struct code *code_free(struct code *c);

/* NULL if there is no memory at addr. Borrowed, valid for the life of the code. */
struct insn *code_find_insn(struct code *c, uint64_t addr);
struct block *code_find_block(struct code *c, uint64_t addr);

/* Sets or removes the breakpoint at the instruction. -errno if the memory cannot be written. */
int code_patch(struct code *c, struct insn *insn);
int code_unpatch(struct code *c, struct insn *insn);
void code_unpatch_range(struct code *c, uint64_t start, uint64_t end);
/* Writes the program's own bytes into a copy of the address space that a fork has made. */
int code_unpatch_copy(struct code *c, int fd_mem);
/* The range was unmapped or mapped anew: forget what was there. */
void code_forget(struct code *c, uint64_t start, uint64_t end);
