/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * phases N: two phases of known shares. First red() runs N times and blue() N times, 3 to 1 in
 * turns of the loop; then red() and blue() as often, 1 to 3. The loop is written in assembly so
 * that its counts are known whatever the compiler does: a turn is 3 instructions, and its
 * conditional branch is executed once a turn and taken once a turn but for the last.
 */
#include "work.h"

static inline void turns(unsigned long n)
{
	__asm__ volatile("1:\n\t"
			 "nop\n\t"
			 "dec %0\n\t"
			 "jnz 1b"
			 : "+r"(n)
			 :
			 : "cc");
}

static _noinline_ void red(unsigned long n)
{
	turns(n);
}

static _noinline_ void blue(unsigned long n)
{
	turns(n);
}

static _noinline_ void phase(unsigned n, unsigned long n_red, unsigned long n_blue)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		red(n_red);
		blue(n_blue);
	}
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 500);

	phase(n, 300, 100);
	phase(n, 100, 300);
	return 0;
}
