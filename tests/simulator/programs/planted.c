/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * planted N [RANDOM [EXTRA]]: N turns through three functions of known work. With RANDOM not 0 a
 * branch of the first follows no pattern; with EXTRA not 0 the second calls the third as well. What
 * a test plants in the code is marked by DEARER.
 */
#include "work.h"

#define DEARER

static volatile uint32_t sink;
static uint8_t pattern[256];

/* A branch that is taken every other time, in a pattern or in none. */
static _noinline_ void decide(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (pattern[(sink + i) & 255])
			sink = sink + 1;
		else
			sink = sink ^ 2;
}

static _noinline_ void third(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sink = sink * 3 + (sink >> 7);
}

static _noinline_ void second(uint32_t n, unsigned extra)
{
	for (uint32_t i = 0; i < n; i++) {
		sink = (sink ^ i) * 5 + (sink >> 3);
		sink = (sink ^ i) * 7 + (sink >> 5);
		sink = (sink ^ i) * 9 + (sink >> 7);
		sink = (sink ^ i) * 11 + (sink >> 9);
		DEARER
	}
	if (extra)
		third(n);
}

int main(int argc, char **argv)
{
	unsigned n = size_argument(argc, argv, 100);
	unsigned random = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned extra = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	uint32_t state = 1;

	for (unsigned i = 0; i < 256; i++) {
		state = state * 1664525 + 1013904223;
		pattern[i] = random ? state >> 31 : i & 1;
	}
	for (unsigned i = 0; i < n; i++) {
		decide(40);
		second(40, extra);
		third(40);
	}
	return 0;
}
