/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Go's code, by its table of functions (.gopclntab), which stripped programs have as well. It has
 * frame pointers. A thread of Go starts with the frame pointer of the thread that made it, so only
 * the name of its first function tells that there is no caller.
 *
 * The table of Go 1.18 and later is read, of programs that are not position-independent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf/image.h"

#define GO_CODE_MAX_FIRST 4

struct go_range {
	uint64_t start, end; /* addresses; start < end */
};

struct go_code {
	struct go_range all;
	struct go_range first[GO_CODE_MAX_FIRST]; /* functions that have no caller; within @all */
	size_t n_first;
};

/* False if there is none, or the table is malformed. */
bool go_code_read(struct elf_image *image, struct go_code *ret);
