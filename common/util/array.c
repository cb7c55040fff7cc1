/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int array_reserve_raw(void *p, size_t *cap, size_t n, size_t size)
{
	void *old, *grown;
	size_t want;

	if (n <= *cap)
		return 0;
	want = *cap < 8 ? 8 : *cap * 2;
	if (want < n)
		want = n;
	if (want > SIZE_MAX / size)
		return -ENOMEM;
	memcpy(&old, p, sizeof(old));
	grown = realloc(old, want * size);
	if (!grown)
		return -ENOMEM;
	memcpy(p, &grown, sizeof(grown));
	*cap = want;
	return 0;
}
