/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with a database, in words: the first problems, and how many there are in all. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define PROBLEMS_MAX 50

struct problem {
	char where[64]; /* "window 12", "table stack", "file" */
	char what[256];
};

struct problems {
	struct problem rows[PROBLEMS_MAX];
	size_t n;
	uint64_t n_all;
};

void problems_add(struct problems *problems, const char *where, const char *format, ...)
	_printf_(3, 4);
