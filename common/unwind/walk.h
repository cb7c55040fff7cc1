/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks a call stack: registers, stack bytes and tables in, frames out.
 *
 * It allocates nothing and calls nothing but what it is given. What it reads may be anything: a
 * stack that is damaged gives a short result, with the reason. Objects without a table are walked
 * by the frame pointer, which cannot be verified fully: such frames are counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/unwind/table.h"

struct unwind_registers {
	uint64_t ip, sp, fp;
	uint64_t lr; /* AArch64 */
	/* All registers by their DWARF numbers, for code that finds its frame by another one. */
	uint64_t values[UNWIND_N_REGISTERS];
	uint32_t known; /* the numbers of those in @values: a bit each */
};

/* Code at an address. */
struct unwind_code {
	const struct unwind_table *table; /* NULL: it has none, or was searched already */
	uint64_t offset;                  /* in the file */
	const struct unwind_rule *rule;   /* found in the table that was searched already */
	/* Code without a rule is walked by the frame pointer: right for all of an object that has
	 * no table, and a guess where only some of its code has none. */
	bool by_fp;
};

enum unwind_call {
	UNWIND_CALL_UNKNOWN, /* the code is not available */
	UNWIND_CALL_YES,
	UNWIND_CALL_NO,
};

struct unwind_input {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	struct unwind_registers registers;
	const uint8_t *stack; /* @n_stack bytes from @stack_address on */
	uint64_t stack_address;
	size_t n_stack;
	/* The code at an address; false where no code is. */
	bool (*locate)(uint64_t address, struct unwind_code *ret, void *userdata);
	/* Whether a call precedes @address, see call-site.h. May be NULL. */
	enum unwind_call (*follows_call)(uint64_t address, void *userdata);
	void *userdata;
};

struct unwind_frame {
	uint64_t address; /* the leaf's; the return addresses; what a signal interrupted */
	uint64_t place;   /* in the function: for a return address the byte before it */
};

/* Why a walk ended. */
enum unwind_end {
	UNWIND_COMPLETE, /* at the start of the thread */
	UNWIND_NO_TABLE, /* at code without a table, and without a sound frame pointer */
	UNWIND_STACK,    /* more stack bytes are needed than there are */
	/* what should be a return address is none: no code, no call before, or replaced */
	UNWIND_NO_RETURN,
	UNWIND_FRAME, /* the caller's frame would lie wrong */
	UNWIND_DEPTH, /* there is room for no more frames */
	UNWIND_END_N,
};

struct unwind_result {
	enum unwind_end end;
	size_t n_frames;     /* the leaf first; at least 1 */
	size_t n_by_fp;      /* of the frames, those that were found by the frame pointer */
	uint64_t stopped_at; /* the place in the outermost frame */
	uint64_t sp;         /* where that frame begins */
	bool by_table;       /* it has a rule */
};

/* Writes at most @max_frames (1 at least) frames. */
void unwind_walk(const struct unwind_input *input, struct unwind_frame *frames, size_t max_frames,
		 struct unwind_result *ret);
