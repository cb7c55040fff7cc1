/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A progress bar: on stderr, only where that is a terminal and the work takes longer than one waits
 * without wondering. It leaves no trace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t start_ns, shown_ns;
	bool is_terminal, is_shown;
};

void progress_init(struct progress *progress);
/* How far it is. May be called as often as one likes; @userdata is the progress. */
void progress_update(uint64_t done, uint64_t all, void *userdata);
void progress_done(struct progress *progress);
