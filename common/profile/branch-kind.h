/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What kind of instruction made a branch. The numbers are the kernel's (PERF_BR_* in
 * linux/perf_event.h), the names those of perf's branch filters, and where it has no filter those
 * of its report.
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

/* Of one branch, what two sources say: the known wins over the unknown, and then the smaller. */
enum branch_kind branch_kind_merge(enum branch_kind a, enum branch_kind b);

/*
 * *@ret is a bit, 1 << kind, for each kind in a list of names with commas between, among which are
 * "any_call" and "any_ret" as perf has them, system calls included. -EINVAL for any other word.
 */
int branch_kinds_parse(uint32_t *ret, const char *names);
