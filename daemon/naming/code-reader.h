/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the machine code of a window's hottest functions, of each function once in a while. */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"
#include "daemon/window/window-code.h"

#define CODE_READER_PLACES 1024

/* Zeroed it has read nothing. */
struct code_reader {
	uint64_t known[CODE_READER_PLACES]; /* hashes of functions, each at its place */
	uint64_t since_us;                  /* when it began to remember */
};

/* Adds the code of functions of the finalized @profile to *@code, or makes it. 0 or -ENOMEM. */
int code_reader_read(struct code_reader *reader, struct symbolizer *symbols,
		     const struct profile *profile, struct window_code **code);
