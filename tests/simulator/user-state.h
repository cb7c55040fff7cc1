/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user-state: the registers of a task and the bytes of its stack, as the kernel puts them into
 * samples. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* ax bx cx dx si di bp sp ip flags cs ss r8 ... r15, in the numbers of asm/perf_regs.h. */
#define USER_STATE_MASK      0xff0fffULL
#define USER_STATE_REGISTERS 20
#define USER_STATE_STACK_MAX 60000 /* a sample has room for */

void user_state_registers(const struct user_regs_struct *regs,
			  uint64_t ret[static USER_STATE_REGISTERS]);
/* Copies what there is of the @n bytes from @rsp on; how many there are. */
size_t user_state_stack(pid_t tid, uint64_t rsp, size_t n, void *ret);
