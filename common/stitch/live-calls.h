/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of the calls that branch records have shown a task is in by now, where the bytes of its
 * stack tell.
 *
 * Records outlive their calls: after a longjmp, an exception, or a switch to the stack of a
 * coroutine, the hardware still has the calls that were left. The stack does not lie. So what
 * unwinding has found of it is taken first, and records only complete it: where code has no table,
 * where the stack is deeper than unwinding goes, or than its copy.
 *
 * A call is live if its return address lies in the stack, further out than those of the calls above
 * it. That is no proof, as earlier calls leave words behind: so this is for code that has no table,
 * the stack ends at the first call that is not found, and none is looked for further out. What lies
 * beyond the copied bytes is believed in one case: unwinding has come to their end, each caller
 * that it found is the one that the records show, and the process was never seen to leave calls
 * that its records still had.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/record/event.h"
#include "common/stitch/stitched.h"

/* Of the callers, those from @end - 1 down to @end - @n: the newest first. */
struct live_calls {
	size_t end, n;
	bool any_left; /* the stack goes on with a caller below others, which were left */
};

/* The calls further out than the call chain of @sample, which was unwound. */
struct live_calls live_calls_find(const struct sample *sample, const struct stitched *stitched);
