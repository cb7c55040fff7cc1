/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/simulator/user-state.h"

#include <string.h>
#include <sys/uio.h>

#define PAGE_BYTES 4096UL
#define PAGES_MAX  (USER_STATE_STACK_MAX / PAGE_BYTES + 2)

void user_state_registers(const struct user_regs_struct *r,
			  uint64_t ret[static USER_STATE_REGISTERS])
{
	const uint64_t all[USER_STATE_REGISTERS] = {
		r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip, r->eflags,
		r->cs,  r->ss,  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	memcpy(ret, all, sizeof(all));
}

/* A transfer ends with the page before the first that is not there. */
size_t user_state_stack(pid_t tid, uint64_t rsp, size_t n, void *ret)
{
	struct iovec to = { .iov_base = ret, .iov_len = n }, pages[PAGES_MAX];
	uint64_t at = rsp, end = rsp + n;
	size_t n_pages = 0;
	ssize_t r;

	for (; at < end && n_pages < PAGES_MAX; n_pages++) {
		uint64_t next = (at + PAGE_BYTES) & ~(PAGE_BYTES - 1);

		next = next < end ? next : end;
		pages[n_pages] = (struct iovec){ .iov_base = (void *)at, .iov_len = next - at };
		at = next;
	}
	r = process_vm_readv(tid, &to, 1, pages, n_pages, 0);
	return r < 0 ? 0 : (size_t)r;
}
