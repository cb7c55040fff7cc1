/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A progress bar on stderr, if that is a terminal and the work takes longer than half a second. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t start_ns, shown_ns;
	bool is_terminal, is_shown;
};

void progress_init(struct progress *progress);
/* Cheap enough for frequent calls. @userdata is the struct progress. */
void progress_update(uint64_t done, uint64_t all, void *userdata);
/* Removes the bar. */
void progress_done(struct progress *progress);
