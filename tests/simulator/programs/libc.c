/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libc N: sorting, hashing and strings with libc, N rounds. */
#include <stdio.h>
#include <string.h>

#include "work.h"

#define N_ITEMS 64

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static _noinline_ uint32_t sort(uint32_t state)
{
	uint32_t items[N_ITEMS];
	unsigned i;

	for (i = 0; i < N_ITEMS; i++)
		items[i] = state = work(state, 1);
	qsort(items, N_ITEMS, sizeof(*items), compare);
	return items[N_ITEMS / 2];
}

static _noinline_ uint32_t hash(const char *text)
{
	uint32_t h = 2166136261u;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 16777619u;
	return h;
}

static _noinline_ uint32_t strings(uint32_t state)
{
	char text[128], copy[128];
	size_t n;

	snprintf(text, sizeof(text), "%u of %s at %x", state, "something", state % 977);
	n = strlen(text);
	memcpy(copy, text, n + 1);
	strcat(copy, strchr(text, ' '));
	return hash(copy) + strcmp(copy, text);
}

int main(int argc, char **argv)
{
	unsigned i, n = size_argument(argc, argv, 60);
	uint32_t state = 1;

	for (i = 0; i < n; i++) {
		state = sort(state);
		state = strings(state);
	}
	return state == 0;
}
