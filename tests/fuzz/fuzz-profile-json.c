/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever the reader accepts must be the same profile after it was written and read again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json/profile-json.h"
#include "common/util/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(profile_freep) struct profile *first = NULL, *second = NULL;
	_cleanup_free_ char *text = NULL;
	struct fault fault = { 0 };
	size_t n_text = 0;
	FILE *f;
	int r;

	r = profile_json_read(&first, (const char *)data, size, &fault);
	if (r < 0) {
		if (!*fault.text)
			abort();
		return 0;
	}
	f = open_memstream(&text, &n_text);
	if (!f || profile_json_write(first, f) < 0 || fclose(f) != 0)
		abort();
	if (profile_json_read(&second, text, n_text, &fault) < 0 || !profile_equal(first, second))
		abort();
	return 0;
}
