/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * predictor: a simple and exactly repeatable branch predictor, so that the mispredict flag has a
 * truth.
 *
 * - Conditional branches: a two-bit counter for each address, 1 (weakly not taken) at first; taken
 * counts up to 3, not taken down to 0; 2 and 3 predict taken.
 * - Indirect jumps and calls: the target of the last time; the first time is mispredicted.
 * - Returns: a ring of the last 16 return addresses of the task; calls push, returns pop; a call of
 * the very next instruction, which only reads the instruction pointer, does not push.
 * - Direct jumps and calls are never mispredicted.
 *
 * The counters belong to the address space (they live in struct insn), the ring to the task.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PREDICTOR_RETURNS 16

struct insn;

struct predictor {
	uint64_t returns[PREDICTOR_RETURNS];
	unsigned top;
};

/* Whether this execution was mispredicted; learns from it. */
bool predictor_execute(struct predictor *p, struct insn *insn, bool taken, uint64_t target);
