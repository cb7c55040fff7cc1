/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kind of a branch instruction. The numbers are the kernel's (PERF_BR_* in linux/perf_event.h).
 * The names are those of perf's branch filters, or of its report where it has no filter.
 */
#pragma once

#include <stdint.h>

enum branch_kind {
	BRANCH_UNKNOWN,
	BRANCH_COND,
	BRANCH_JMP,     /* direct, always taken */
	BRANCH_IND_JMP, /* by a register or memory */
	BRANCH_CALL,
	BRANCH_IND_CALL,
	BRANCH_RET,
	BRANCH_SYSCALL,
	BRANCH_SYSRET,
	BRANCH_COND_CALL,
	BRANCH_COND_RET,
	BRANCH_ERET, /* from an exception or interrupt; x86's iret */
	BRANCH_IRQ,
	BRANCH_SERROR,
	BRANCH_NO_TX,
	BRANCH_FAULT, /* the kernel's extended ones: faults, debug exceptions, Arm's FIQ */
	N_BRANCH_KINDS,
};

/* "cond", "ind_call"; NULL for BRANCH_UNKNOWN. */
const char *branch_kind_name(enum branch_kind kind);

/* Of two kinds reported for one branch: the known one, or else the smaller one. */
enum branch_kind branch_kind_merge(enum branch_kind a, enum branch_kind b);

/*
 * Parses names separated by commas into a set of bits, 1 << kind. "any_call" and "any_ret" stand
 * for several kinds, as in perf, system calls included. 0, or -EINVAL for an unknown name.
 */
int branch_kinds_parse(uint32_t *ret, const char *names);
