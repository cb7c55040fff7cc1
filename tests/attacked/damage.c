/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Half of the values are numbers at random; the others are what makes damage work for an attacker:
 * addresses of writable memory, zero, and -1.
 */
#include "tests/attacked/damage.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "tests/support/random.h"

#define MAX_REGIONS 128
#define MAX_WRITES  256
#define NEAR        8192 /* bytes of the stack above the hook */

enum kind { HEAP, STACK, DATA, KINDS };

struct region {
	uintptr_t start, end;
	enum kind kind;
};

static struct region regions[MAX_REGIONS];
static size_t n_regions;

void damage_init(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && n_regions < MAX_REGIONS && fgets(line, sizeof(line), maps)) {
		struct region *region = &regions[n_regions];
		char mode[5];

		if (sscanf(line, "%lx-%lx %4s", &region->start, &region->end, mode) != 3 ||
		    strncmp(mode, "rw", 2) != 0)
			continue;
		region->kind = strstr(line, "[heap]")  ? HEAP :
			       strstr(line, "[stack]") ? STACK :
							 DATA;
		n_regions++;
	}
	if (maps)
		fclose(maps);
}

/* The heap and the stack as they are now. */
static void update(uintptr_t stack)
{
	for (size_t i = 0; i < n_regions; i++) {
		if (regions[i].kind == HEAP)
			regions[i].end = (uintptr_t)sbrk(0);
		if (regions[i].kind == STACK) {
			regions[i].start = stack;
			regions[i].end = MIN(regions[i].end, stack + NEAR);
		}
	}
}

static const struct region *choose_region(uint64_t *random, enum kind kind)
{
	const struct region *region;

	do
		region = &regions[random_below(random, n_regions)];
	while (kind != KINDS && region->kind != kind);
	return region;
}

static uint64_t *choose_place(uint64_t *random, enum kind kind)
{
	const struct region *region = choose_region(random, kind);
	uint64_t n = (region->end - region->start) / sizeof(uint64_t);

	return (uint64_t *)region->start + random_below(random, n);
}

static uint64_t choose_value(uint64_t *random)
{
	switch (random_below(random, 8)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
	case 3:
		return (uintptr_t)choose_place(random, KINDS);
	default:
		return next_random(random);
	}
}

static bool has(enum kind kind)
{
	for (size_t i = 0; i < n_regions; i++)
		if (regions[i].kind == kind)
			return true;
	return kind == KINDS && n_regions;
}

void damage_do(uint64_t seed)
{
	enum kind kind = seed % (KINDS + 1);
	uint64_t random = seed * 0x9e3779b97f4a7c15 + 1, n_writes;

	update((uintptr_t)__builtin_frame_address(0));
	if (!has(kind))
		return;
	n_writes = 1 + random_below(&random, kind == STACK ? MAX_WRITES / 16 : MAX_WRITES);
	for (uint64_t i = 0; i < n_writes; i++)
		*choose_place(&random, kind) = choose_value(&random);
}
