/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a recording says of itself, and what is wrong with it. */
#pragma once

#include <stdint.h>

#include "common/util/fault.h"

/* What the file says of itself; strings are NULL and numbers 0 where it says nothing. */
struct recording_info {
	const char *hostname, *os_release, *cpu, *cpuid;
	uint32_t n_cpus;  /* on line */
	uint16_t machine; /* EM_*; of this program's where the file does not say, 0: another */
	uint32_t depth;   /* branch records the hardware holds: "branches=N" */
};

/* What was lost because the file is damaged; see recording_forced(). */
struct recording_damage {
	uint64_t offset;       /* of the first unreadable byte */
	uint64_t n_bytes_lost; /* from there to the end of the records */
	struct fault fault;
};
