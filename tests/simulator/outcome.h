/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* outcome: what a branch will do, computed from the registers and the memory of its task. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct insn;
struct task;

struct outcome {
	bool taken;
	bool push;
	uint64_t target;
	uint64_t rsp;
	uint64_t rcx;
};

/* What the branch at rip will do. Negative errno if that is not known beforehand. */
int outcome_compute(const struct task *task, const struct insn *insn, struct outcome *out);
/* A word of the task's memory. */
int task_peek(const struct task *task, uint64_t addr, uint64_t *ret);
