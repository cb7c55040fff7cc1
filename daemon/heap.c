/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/heap.h"

#include <malloc.h>
#include <stddef.h>

/* Larger blocks are mappings of their own: they would fragment the heap. */
#define MAPPED_BYTES (2 << 20)

/* Free memory at the end of the heap that stays between two calls of heap_trim(). */
#define KEPT_BYTES (16 << 20)

void heap_set_up(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

void heap_trim(void)
{
	struct mallinfo2 heap = mallinfo2();

	if (heap.fordblks > heap.uordblks / 2)
		malloc_trim(0);
}
