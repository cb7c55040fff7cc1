/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* coroutine N: three coroutines, each deep in calls of its own when it yields, by swapcontext; they
 * end one after the other. */
#include <sys/mman.h>
#include <ucontext.h>

#include "sampled.h"
#include "work.h"

#define COROUTINES  3
#define STACK_BYTES 65536

static ucontext_t resumed[COROUTINES], yielded;
static volatile unsigned current, ended;
static volatile uint32_t value;

static _noinline_ uint32_t leaf(uint32_t a)
{
	return a * 31 + 7;
}

static _noinline_ void yield(uint32_t a)
{
	value += leaf(a);
	swapcontext(&resumed[current], &yielded);
	value ^= leaf(a);
}

static _noinline_ uint32_t descend(unsigned depth, uint32_t a)
{
	yield(a);
	if (depth > 0)
		a += descend(depth - 1, leaf(a));
	return leaf(a) + depth;
}

static void coroutine(int number)
{
	value += descend(2 + (unsigned)number, value);
	ended |= 1u << number;
}

static int coroutine_make(unsigned i)
{
	char *p = mmap(NULL, 3 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || getcontext(&resumed[i]) < 0)
		return -1;
	p += STACK_BYTES; /* apart from all other memory */
	if (mprotect(p, STACK_BYTES, PROT_READ | PROT_WRITE) < 0)
		return -1;
	resumed[i].uc_stack = (stack_t){ .ss_sp = p, .ss_size = STACK_BYTES };
	resumed[i].uc_link = &yielded;
	makecontext(&resumed[i], (void (*)(void))coroutine, 1, (int)i);
	return 0;
}

static _noinline_ void run(unsigned i)
{
	current = i;
	if (!(ended >> i & 1))
		swapcontext(&yielded, &resumed[i]);
	value += leaf(i);
}

static _noinline_ int round_of_all(void)
{
	ended = 0;
	for (unsigned i = 0; i < COROUTINES; i++)
		if (coroutine_make(i) < 0)
			return -1;
	for (unsigned i = 0; ended != (1u << COROUTINES) - 1; i = (i + 1) % COROUTINES)
		run(i);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 1);

	if (round_of_all() < 0) /* binds the functions of libc */
		return 2;
	sample_as("sampled");
	for (unsigned i = 0; i < n; i++)
		if (round_of_all() < 0)
			return 2;
	sample_no_more();
	return 0;
}
