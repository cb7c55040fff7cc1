/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of branch records of processors, and the facts about each that the kernel does not
 * report. All are called LBR here, after the oldest kind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/sampler/machine.h"

struct lbr {
	const char *name;
	uint32_t depth;    /* records, if the PMU does not report it; 0: not known */
	bool call_stack;   /* it may have a call-stack mode */
	bool hw_idx;       /* the kernel reports the physical index of the newest record */
	bool wrong_path;   /* it also records branches of wrongly speculated paths */
	bool any_is_free;  /* with any branch of both levels, the kernel does not decode any code */
	bool taken_only;   /* only the event of taken branches has records, always of any branch */
	const char *lacks; /* what its records lack; NULL: nothing */
};

/* The kind of @machine, if it has branch records at all. Never NULL. */
const struct lbr *lbr_of(const struct machine *machine);

/* The event of @pmu that counts taken branches as they retire: a raw config; 0: not known. */
uint64_t lbr_taken_event(const struct machine *machine, const struct pmu *pmu);
