/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where functions are, for whoever can tell it from files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum function_kind {
	FUNCTION_PLAIN,
	FUNCTION_APART,     /* a part of a function, to which that jumps */
	FUNCTION_OUTERMOST, /* a task begins in it */
	FUNCTION_STUB,      /* of a PLT: it jumps to another function */
	FUNCTION_LEAVES,    /* it jumps out of functions that called it: longjmp, a throw */
	FUNCTION_RESUMES,   /* the same, and at least out of the one that called it */
};

/* The code of a function around an address of a process, or a part of it that lies apart. */
struct function_range {
	uint64_t start, end; /* end is exclusive */
	/* The same for all parts of a function, whatever its suffix (NAME.cold); 0: unknown. */
	uint64_t name;
	enum function_kind kind;
};

/* False if it is not known. */
typedef bool (*function_range_finder)(void *userdata, int32_t pid, uint64_t address,
				      struct function_range *ret);
