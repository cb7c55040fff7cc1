/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/heap/heap.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util/cleanup.h"

/* Larger blocks are mappings of their own: they would fragment the heap. */
#define MAPPED_BYTES (256 << 10)

/* Free memory that stays. */
#define KEPT_BYTES (1 << 20)

void heap_set_up(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

uint64_t heap_resident_bytes(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, resident;

	if (!f || fscanf(f, "%llu %llu", &size, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * What is in memory and not used by malloc: what it holds free, and what else the process has. What
 * malloc itself calls free does not tell: after malloc_trim() most of that is not in memory.
 */
static uint64_t unused_bytes(void)
{
	struct mallinfo2 heap = mallinfo2();
	uint64_t resident = heap_resident_bytes(), used = heap.uordblks + heap.hblkhd;

	return resident > used ? resident - used : 0;
}

void heap_trim(void)
{
	static uint64_t other; /* what was unused and in memory still after the last trim */

	if (unused_bytes() <= other + KEPT_BYTES)
		return;
	malloc_trim(0);
	other = unused_bytes();
}
