/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/pages.h"

#include <sys/mman.h>

void *pages_new(size_t n_bytes)
{
	char *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* A hint: where it is not taken all works as well, but slower. */
	if (n_bytes > PAGES_HUGE)
		madvise(p + PAGES_HUGE, n_bytes - PAGES_HUGE, MADV_HUGEPAGE);
	return p;
}

void pages_free(void *pages, size_t n_bytes)
{
	if (pages)
		munmap(pages, n_bytes);
}

void pages_drop(void *part, size_t n_bytes)
{
	madvise(part, n_bytes, MADV_DONTNEED);
}

void pages_touch(void *part, size_t n_bytes)
{
	if (n_bytes >= PAGES_HUGE)
		madvise(part, n_bytes, MADV_HUGEPAGE);
	madvise(part, n_bytes, MADV_POPULATE_WRITE);
}
