/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/heap.h"

#include <malloc.h>

/* Larger blocks are mappings of their own: they would fragment the heap. */
#define MAPPED_BYTES (1 << 20)

/* Free memory that stays. */
#define KEPT_BYTES (8 << 20)

void heap_set_up(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void heap_trim(void)
{
	if (mallinfo2().fordblks > KEPT_BYTES)
		malloc_trim(0);
}
