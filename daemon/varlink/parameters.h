/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parameters of a call, validated: of the right type, within bounds, and none of unknown name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/varlink/call.h"

/* A parameter that may be given: either a string, or a number of 0 or more. */
struct parameter {
	const char *name;
	const char **text; /* keeps its value if it is not given or null; borrowed from the call */
	int64_t *number;   /* likewise */
};

/* True, or the call was answered by InvalidParameter. */
bool parameters_read(struct call *call, const struct parameter *parameters, size_t n);
