/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tailcall N: a function that leaves by a tail call, direct and through a pointer, so that its
 * caller returns from another's frame. The leaf calls the very next instruction, which is no call
 * in a call stack, to learn its own address as old position-independent code does.
 */
#include "work.h"

static inline uint64_t own_address(void)
{
	uint64_t address;

	__asm__ volatile("sub $128, %%rsp\n\t" /* the red zone */
			 "call 1f\n"
			 "1:\tpop %0\n\t"
			 "add $128, %%rsp"
			 : "=r"(address)
			 :
			 : "cc", "memory");
	return address;
}

static _noinline_ uint32_t leaf(uint32_t state)
{
	return work(state, 20) + (own_address() == 0);
}

static _noinline_ uint32_t other(uint32_t state)
{
	return work(state, 12) ^ 1;
}

static uint32_t (*volatile pointers[])(uint32_t) = { leaf, other };

static _noinline_ uint32_t direct(uint32_t state)
{
	return leaf(work(state, 5));
}

static _noinline_ uint32_t indirect(uint32_t state)
{
	state = work(state, 5);
	return pointers[state / 256 % 2](state);
}

static _noinline_ uint32_t caller(uint32_t state)
{
	state += direct(state);
	state += indirect(state);
	return work(state, 3);
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 1000);
	uint32_t state = 1;

	for (i = 0; i < n; i++)
		state += caller(state);
	return state == 0;
}
