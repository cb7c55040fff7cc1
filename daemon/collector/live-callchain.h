/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains by frame pointers, and where they stop being ones: code built without frame pointers
 * keeps anything in that register, and what the kernel finds where it leads to is no caller. Such
 * chains would make each sample a path of its own.
 */
#pragma once

#include <stdbool.h>

#include "common/process/processes.h"

/*
 * Cuts the user's part of the call chain of @sample before the first caller that is not in code
 * which
 * @process_context has mapped. True if there was one.
 */
bool live_callchain_cut(struct sample *sample, const struct processes *processes,
			const struct process_context *process_context);

/* Whether the kernel may have had more frames than it took for the sample. */
bool live_callchain_is_deep(const struct sample *sample);
