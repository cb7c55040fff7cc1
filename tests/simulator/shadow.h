/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shadow: the true call stack of one task on one stack.
 *
 * Each call leaves an entry with the stack slot that holds its return address. The entry lives as
 * long as the slot does: a slot below the stack pointer is gone, however the stack pointer got
 * there. So longjmp and exceptions need no rule of their own. A signal handler gets two entries,
 * one for the restorer it returns to and one for the interrupted instruction. A handler on an
 * alternate stack interrupts another shadow; see shadow-set.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shadow_entry {
	uint64_t slot; /* address of the return address on the program's stack */
	uint64_t call; /* address of the call, or of the instruction that a signal interrupted */
	uint64_t return_addr;
	uint64_t word;   /* address of the word that is returned to; of signals not the slot */
	uint64_t serial; /* of the calls of its task, increasing; 0: no call, but a signal's */
	bool is_signal;
	bool shown; /* its branch record was in a sample of this task */
};

struct shadow {
	uint64_t start, end;          /* the memory of the stack; both 0: not known yet */
	struct shadow *interrupted;   /* the stack below, if a signal handler runs on this one */
	struct shadow_entry *entries; /* outermost first */
	size_t n_entries;
	size_t n_allocated;
};

int shadow_copy(struct shadow *to, const struct shadow *from);
void shadow_clear(struct shadow *s);
void shadow_done(struct shadow *s);
/* -ENOMEM */
int shadow_push(struct shadow *s, const struct shadow_entry *entry);
/* Forgets entries whose slot is below rsp; whether there were any. */
bool shadow_trim(struct shadow *s, uint64_t rsp);
/* Whether a return by the address at @slot to @target ends the innermost call. */
bool shadow_returns(const struct shadow *s, uint64_t slot, uint64_t target);
/* The branch record of that call was in a sample; the call may be over. Also of the stacks below.
 */
void shadow_show(struct shadow *s, uint64_t serial);
/*
 * How many entries from the leaf on the @n bytes of memory from @rsp on still hold, without a gap.
 * @ret_is_changed: the first one that they do not hold lies there, but was overwritten.
 */
size_t shadow_count_held(const struct shadow *s, uint64_t rsp, const char *memory, size_t n,
			 bool *ret_is_changed);
/* How many entries from the leaf on were shown, without a gap. Also of the stacks below. */
size_t shadow_count_shown(const struct shadow *s);
