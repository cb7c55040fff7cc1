/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of branch records that processors have, and what the kernel's answers do not tell of
 * each. All are called LBR here, after the oldest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/sampler/machine.h"

struct lbr {
	const char *name;
	uint32_t depth;   /* rows, where the PMU does not say; 0: not known */
	bool call_stack;  /* it may have a call-stack mode */
	bool hw_idx;      /* the kernel tells which of the hardware's rows is the newest */
	bool wrong_path;  /* rows of a path that was speculated wrongly are among the others */
	bool any_is_free; /* all branches of both levels are handed on without a look at the code */
	bool taken_only;  /* only the event of taken branches has rows, of any branch, none else */
	const char *lacks; /* what its rows do not tell; NULL: nothing */
};

/* That which @machine has, if it has any. Never NULL. */
const struct lbr *lbr_of(const struct machine *machine);

/* The event of @pmu that counts taken branches as they retire: a raw config, or 0 where it is not
 * known. */
uint64_t lbr_taken_event(const struct machine *machine, const struct pmu *pmu);
