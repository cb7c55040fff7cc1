/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a snapshot and the remembered calls of a task, finds the calls that the task is in. Each
 * call must be made by the function that the next older record, or level, enters.
 *
 * Where it is not, a function has made a tail call or was left by a jump: call-replay.h.
 *
 * A jump out leaves the height of the hardware as it was, so the calls of the task are that much
 * higher afterwards.
 */
#pragma once

#include "common/stitch/snapshot-align.h"
#include "common/stitch/stitched.h"
#include "common/stitch/task.h"

/*
 * Fills @ret, and makes @task remember the snapshot. @room holds TASK_MAX_ROWS + TASK_MAX_LEVELS
 * calls, for a stack that differs from what is remembered. @alignment is NULL for the first
 * snapshot of a task. An enum stitch_result, or -ENOMEM.
 */
int call_walk_run(struct stitched *ret, struct stitched_call *room, struct task *task,
		  const struct snapshot *s, const struct alignment *alignment);
