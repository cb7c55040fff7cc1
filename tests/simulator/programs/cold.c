/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cold N: functions whose unlikely half the compiler moves elsewhere, as NAME.cold with a table of
 * its own; every third call gets there. */
#include "sampled.h"
#include "work.h"

static volatile uint32_t n_reports;

static _noinline_ __attribute__((cold)) uint32_t report(uint32_t a)
{
	n_reports++;
	return a * 7 + 1;
}

static _noinline_ uint32_t warm(uint32_t a)
{
	return a * 31 + 7;
}

static _noinline_ uint32_t split(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t d = warm(a) + warm(b);

	if (a % 3 == 0) {
		d += report(a) * report(c) + warm(b);
		d ^= report(d);
	}
	return warm(d) + a + b + c;
}

static _noinline_ uint32_t split_deep(unsigned n, uint32_t a)
{
	if (n == 0)
		return split(a, a + 1, a + 2);
	if (a % 3 == 0) {
		a += report(a);
		return split_deep(n - 1, a) + report(a);
	}
	return split_deep(n - 1, a + 1) + a;
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 3);
	uint32_t state = 1;

	sample_as("sampled");
	for (unsigned i = 0; i < n; i++)
		state += split(i, state, 1) + split_deep(6, state * 3 + i);
	sample_no_more();
	return state == 0;
}
