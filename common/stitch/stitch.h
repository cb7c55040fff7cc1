/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching: call stacks deeper than the branch record, from snapshots of it in call-stack mode.
 *
 * Of each task all calls are remembered that its rows have shown and that nothing has contradicted.
 * A snapshot is placed upon them (anchor.h), and what stands below its rows is then the rest of its
 * stack (walk.h). The idea, and the hardware index, are Kan Liang's (perf's --stitch-lbr, 2019);
 * that the memory is of the whole stack, what it rests on, and that a seam is verified, are not
 * perf's.
 *
 * A shorter stack is a nuisance, a wrong one is a lie: what cannot be told is not made.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/stitch/stitched.h"
#include "common/util/macro.h"

struct stitch;

struct stitch_settings {
	uint32_t depth;   /* rows the hardware can hold; 0: as many as were seen */
	size_t max_tasks; /* that are remembered; 0: 4096 */
	bool is_wiped; /* by the kernel at task switches, so that an index says nothing of before */
};

struct stitch_counters {
	uint64_t made;      /* stacks that rows of earlier snapshots were added to */
	uint64_t unplaced;  /* what was remembered could not be used: nothing in common with it */
	uint64_t ambiguous; /* several places were possible, which agreed in nothing */
	uint64_t broken;    /* calls that do not follow from one another */
	uint64_t evicted;   /* tasks forgotten for want of room */
};

int stitch_new(struct stitch **ret, const struct stitch_settings *settings);
struct stitch *stitch_free(struct stitch *stitch);
DEFINE_CLEANUP(struct stitch *, stitch_free);

/*
 * The callers of the user's code of a sample in call-stack mode, which was at @ip; 0 where that is
 * not known. Samples of a task come in order of time. 0 or -ENOMEM.
 */
int stitch_add(struct stitch *stitch, const struct event *event, uint64_t ip, struct stitched *ret);

/* Takes note of what makes tasks' stacks void: exec, fork, exit, other code, lost samples. */
void stitch_apply(struct stitch *stitch, const struct event *event);

const struct stitch_counters *stitch_get_counters(const struct stitch *stitch);
