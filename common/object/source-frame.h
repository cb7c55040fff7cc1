/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A source position. */
#pragma once

#include <stdint.h>

struct source_frame {
	const char *function; /* demangled; NULL: unknown; borrowed from what found it */
	const char *file;     /* likewise */
	uint32_t line;
};
