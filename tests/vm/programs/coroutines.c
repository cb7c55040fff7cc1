/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two coroutines take turns with a chain of 43 calls, at its end. Each yields by swapcontext, 12
 * calls deep, and ends; the registers have the calls of all three stacks.
 */
#include <ucontext.h>

#include "tests/support/chain-of-calls.h"
#include "tests/vm/programs/one-caller.h"

#define STACK_BYTES 65536

static ucontext_t one, two, chain;
static char stack_of_one[STACK_BYTES], stack_of_two[STACK_BYTES];

#define COROUTINE(name)                      \
	NOINLINE static void name##_12(void) \
	{                                    \
		work();                      \
		swapcontext(&name, &chain);  \
		work();                      \
	}                                    \
	CALL(name##_11, name##_12)           \
	CALL(name##_10, name##_11)           \
	CALL(name##_9, name##_10)            \
	CALL(name##_8, name##_9)             \
	CALL(name##_7, name##_8)             \
	CALL(name##_6, name##_7)             \
	CALL(name##_5, name##_6)             \
	CALL(name##_4, name##_5)             \
	CALL(name##_3, name##_4)             \
	CALL(name##_2, name##_3)             \
	CALL(name##_1, name##_2)             \
	CALL(name##_0, name##_1)

#define CALL(name, next)                 \
	NOINLINE static void name(void)  \
	{                                \
		work();                  \
		next();                  \
		sink++; /* not a jump */ \
	}

COROUTINE(one)
COROUTINE(two)

NOINLINE static void make(ucontext_t *coroutine, char *stack, void (*function)(void))
{
	if (getcontext(coroutine) < 0)
		abort();
	coroutine->uc_stack = (stack_t){ .ss_sp = stack, .ss_size = STACK_BYTES };
	coroutine->uc_link = &chain;
	makecontext(coroutine, function, 0);
}

NOINLINE static void f43(void)
{
	make(&one, stack_of_one, one_0);
	make(&two, stack_of_two, two_0);
	for (unsigned int i = 0; i < 2; i++) {
		swapcontext(&chain, &one);
		work();
		swapcontext(&chain, &two);
		work();
	}
}

CHAIN_OF_CALLS(CALL)

int main(int argc, char **argv)
{
	set_turns(argc, argv);
	for (;;)
		f1();
}
