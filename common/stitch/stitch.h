/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching: call stacks deeper than the LBR, from snapshots of it in call-stack mode.
 *
 * The stitcher remembers the calls of each task that its records have shown and that no later
 * record has contradicted. It aligns a snapshot with these calls (snapshot-align.h); the calls
 * below the records of the snapshot are then the rest of its stack (call-walk.h). The idea, and the
 * use of the hardware index, are Kan Liang's (perf's --stitch-lbr, 2019). Unlike perf it remembers
 * the whole stack, rests on the records in common, and verifies each stitch.
 *
 * A short stack is a nuisance, a wrong one is a lie: what is uncertain is not stitched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/stitch/function-range.h"
#include "common/stitch/stitched.h"
#include "common/util/macro.h"

struct stitch;

struct stitch_settings {
	uint32_t depth;   /* records the hardware holds; 0: the most that were seen */
	size_t max_tasks; /* remembered tasks; 0: 4096 */
	/* The kernel clears the LBR at task switches: an index means nothing across them. */
	bool is_wiped;
	/* Where functions are. NULL, or where it does not know: as the calls show. */
	function_range_finder find_function;
	void *userdata; /* for it */
};

struct stitch_counters {
	uint64_t stitched;     /* stacks completed with records of earlier snapshots */
	uint64_t unaligned;    /* the snapshot has nothing in common with what is remembered */
	uint64_t ambiguous;    /* several alignments were possible, which agreed in no call */
	uint64_t inconsistent; /* the calls do not follow from one another */
	uint64_t evicted;      /* tasks forgotten for lack of room */
};

int stitch_new(struct stitch **ret, const struct stitch_settings *settings);
struct stitch *stitch_free(struct stitch *stitch);
DEFINE_CLEANUP(struct stitch *, stitch_free);

/* The callers of the user's code of a sample in call-stack mode, which was at @ip (0: unknown). The
 * samples of a task come in order of time. 0 or -ENOMEM. */
int stitch_add(struct stitch *stitch, const struct event *event, uint64_t ip, struct stitched *ret);

/* Notes that process @pid has left calls without returning. */
void stitch_note_left(struct stitch *stitch, int32_t pid);

/*
 * Applies events that invalidate the stacks of tasks: exec, fork, exit, changed code, lost samples.
 */
void stitch_apply(struct stitch *stitch, const struct event *event);

const struct stitch_counters *stitch_get_counters(const struct stitch *stitch);
