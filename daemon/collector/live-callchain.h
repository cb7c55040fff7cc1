/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains by frame pointers. Code built without frame pointers keeps other values in that
 * register, so that the kernel follows an invalid frame pointer and takes any number for a caller.
 * Such chains would make each sample a path of its own.
 */
#pragma once

#include <stdbool.h>

#include "common/process/processes.h"

/*
 * Truncates the user's part of the call chain of @sample before the first caller outside of the
 * code that @process_context has mapped. True if there was one.
 */
bool live_callchain_truncate(struct sample *sample, const struct processes *processes,
			     const struct process_context *process_context);

/* Whether the kernel may have truncated the call chain at its depth limit. */
bool live_callchain_is_at_limit(const struct sample *sample);
