/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a snapshot and what is remembered, the calls that the task is in: from the leaf on, each
 * must be made by the function that the next older row, or level, enters.
 *
 * Where it is not, the function was entered by a jump from the one that the row enters (a tail
 * call, a PLT stub), or the stack was cut by a jump out of it (longjmp, an exception): the function
 * is one that a call further below has entered, and the rows between are dead. What they were is
 * told by what the task returns to later: see entries.h. While that is not known the stack ends
 * there.
 *
 * A jump out leaves the hardware's height as it was: what the task is in then is that much higher.
 */
#pragma once

#include "common/stitch/snapshot-align.h"
#include "common/stitch/stitched.h"
#include "common/stitch/task.h"

/*
 * Fills @ret, and has @task remember. @room is for TASK_MAX_ROWS + TASK_MAX_LEVELS calls, where a
 * stack may be put that is not remembered so. @alignment is NULL for a task's first snapshot. A
 * kind, or -ENOMEM.
 */
int call_walk_run(struct stitched *ret, struct stitched_call *room, struct task *task,
		  const struct snapshot *s, const struct alignment *alignment);
