/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shapes N: frames of all shapes that compilers make: without a frame, in the red zone, with many
 * saved registers, of more than a page, of variable size, realigned, with arguments on the stack;
 * functions with several returns, with a frame on one path only, that end with a call that does not
 * return; tail calls, and calls through tables, recursion and libc.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "sampled.h"
#include "work.h"

struct large {
	uint32_t words[40];
};

static jmp_buf out;

static _noinline_ uint32_t leaf(uint32_t a)
{
	return a * 31 + 7;
}

static _noinline_ uint32_t red_zone(uint32_t a)
{
	volatile uint32_t words[16];

	for (unsigned i = 0; i < 4; i++)
		words[i] = a + i;
	return words[a % 4];
}

static _noinline_ uint32_t saves(uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e,
				 uint32_t f)
{
	uint32_t g = leaf(a), h = leaf(b);

	a = leaf(c) + leaf(d) * b;
	return leaf(e) + leaf(f) + a + b + c + d + e + f + g + h;
}

static _noinline_ uint32_t many_arguments(uint32_t a, uint32_t b, uint32_t c, uint32_t d,
					  uint32_t e, uint32_t f, uint32_t g, uint32_t h,
					  uint32_t i)
{
	return saves(a, b, c, d, e, f) + leaf(g) + h + i;
}

static _noinline_ uint32_t large_frame(uint32_t a)
{
	volatile char page[10000];

	page[a % sizeof(page)] = (char)a;
	return leaf(a) + (uint32_t)page[a % sizeof(page)];
}

static _noinline_ uint32_t variable(uint32_t n)
{
	volatile char *p = alloca(n % 64 + 1);

	p[0] = (char)n;
	return leaf(n) + (uint32_t)p[0] + saves(n, 1, 2, 3, 4, 5);
}

static _noinline_ uint32_t realigned(uint32_t a)
{
	_Alignas(64) volatile uint32_t words[16];

	words[a % 16] = a;
	return leaf(words[a % 16]) + leaf(a);
}

static _noinline_ uint32_t realigned_variable(uint32_t a)
{
	_Alignas(64) volatile uint32_t words[16];
	volatile char *p = alloca(a % 100 + 1);

	words[a % 16] = a;
	p[0] = 1;
	return leaf(words[a % 16]) + saves(a, 2, 3, 4, 5, 6) + (uint32_t)p[0];
}

static _noinline_ uint32_t takes_large(struct large large, uint32_t a)
{
	return leaf(large.words[a % 40]);
}

static _noinline_ struct large gives_large(uint32_t a)
{
	struct large large = { 0 };

	large.words[a % 40] = leaf(a);
	return large;
}

static _noinline_ uint32_t several_returns(uint32_t a)
{
	uint32_t b = leaf(a);

	if (a % 4 == 0)
		return leaf(b) + a;
	if (a % 4 == 1)
		return leaf(b) * leaf(a) + b;
	if (a % 4 == 2)
		return b;
	return leaf(b + 1) - leaf(a + 2) * b;
}

/* The frame is needed on one of the paths only. */
static _noinline_ uint32_t seldom_frame(uint32_t a, uint32_t b)
{
	if (a % 2)
		return b;
	return saves(a, b, leaf(a), leaf(b), a, b) + a + b;
}

static _noinline_ uint32_t sum(unsigned n, ...)
{
	uint32_t total = 0;
	va_list args;

	va_start(args, n);
	while (n-- > 0)
		total += leaf(va_arg(args, uint32_t));
	va_end(args);
	return total;
}

static _noinline_ __attribute__((noreturn)) void leave(uint32_t a)
{
	longjmp(out, (int)(leaf(a) | 1));
}

/* Its last instruction is a call: the return address is the next function's. */
static _noinline_ __attribute__((noreturn)) void ends_with_a_call(uint32_t a)
{
	leave(leaf(a));
}

static _noinline_ uint32_t jumped_out(uint32_t a)
{
	if (setjmp(out) == 0)
		ends_with_a_call(a);
	return leaf(a);
}

static _noinline_ uint32_t tail(uint32_t a)
{
	return leaf(leaf(a));
}

static uint32_t (*volatile table[])(uint32_t) = { leaf, red_zone, tail, variable, realigned };

static _noinline_ uint32_t tail_through_a_table(uint32_t a)
{
	a = leaf(a);
	return table[a % 5](a);
}

static _noinline_ uint32_t odd(unsigned n, uint32_t a);

static _noinline_ uint32_t even(unsigned n, uint32_t a)
{
	return n == 0 ? leaf(a) : odd(n - 1, a + 1) + a;
}

static _noinline_ uint32_t odd(unsigned n, uint32_t a)
{
	return n == 0 ? red_zone(a) : even(n - 1, a * 3) ^ a;
}

static _noinline_ int compare(const void *a, const void *b)
{
	return (int)leaf(*(const uint32_t *)a) - (int)leaf(*(const uint32_t *)b);
}

static _noinline_ uint32_t by_libc(uint32_t a)
{
	uint32_t words[4] = { a, 3, leaf(a), 1 };

	qsort(words, 4, sizeof(words[0]), compare);
	return words[0];
}

static _noinline_ uint32_t all_of_them(uint32_t a)
{
	uint32_t total = 0;

	for (unsigned i = 0; i < 5; i++)
		total += table[i](a + i);
	total += many_arguments(a, 2, 3, 4, 5, 6, 7, 8, 9) + large_frame(a);
	total += realigned_variable(a) + takes_large(gives_large(a), a);
	for (unsigned i = 0; i < 4; i++)
		total += several_returns(a + i);
	total += seldom_frame(a, 1) + seldom_frame(a + 1, 2) + sum(8, a, 1, 2, 3, 4, 5, 6, 7);
	total += jumped_out(a) + tail_through_a_table(a) + even(9, a) + by_libc(a);
	return total;
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 1);
	uint32_t state = 1;

	state += all_of_them(1); /* binds the functions of libc */
	sample_as("sampled");
	for (unsigned i = 0; i < n; i++)
		state += all_of_them(state);
	sample_no_more();
	return state == 0;
}
