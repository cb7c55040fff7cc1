/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for large tables: the kernel provides each page when it is first touched. */
#pragma once

#include <stddef.h>

#define PAGES_HUGE (2u << 20) /* bytes of a huge page */

/*
 * @n_bytes, zeroed; what is never touched costs nothing. Beyond the first PAGES_HUGE bytes pages
 * are huge where the kernel can: what is spread over more pages than the TLB holds is slow to find.
 * NULL if there is no room. The caller gives it back by pages_free(), which takes NULL as well.
 */
void *pages_new(size_t n_bytes);
void pages_free(void *pages, size_t n_bytes);

/* Gives the memory of a part back, from a page's start on; it is zeroed when it is touched again.
 */
void pages_drop(void *part, size_t n_bytes);

/* Has the kernel provide all of a part at once, as huge pages where it can: for what is written
 * here and there until all pages are used, each of which would be mapped when it is read, and once
 * more when it is written. */
void pages_touch(void *part, size_t n_bytes);
