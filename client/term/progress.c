/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "common/util/clock.h"

#define DELAY_NS    500000000ull
#define INTERVAL_NS 50000000ull
#define WIDTH       40

static const char full[] = "########################################";
static const char empty[] = "                                        ";

void progress_init(struct progress *progress)
{
	*progress = (struct progress){
		.start_ns = clock_ns(CLOCK_MONOTONIC),
		.is_terminal = isatty(STDERR_FILENO),
	};
}

static void show(uint64_t done, uint64_t all)
{
	double share = all > 0 && done < all ? (double)done / (double)all : 1;
	int n = (int)(share * WIDTH);

	fprintf(stderr, "\rreading [%.*s%.*s] %3.0f%%", n, full, WIDTH - n, empty, share * 100);
	fflush(stderr);
}

void progress_update(uint64_t done, uint64_t all, void *userdata)
{
	struct progress *progress = userdata;
	uint64_t now;

	if (!progress->is_terminal)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (now - progress->start_ns < DELAY_NS || now - progress->shown_ns < INTERVAL_NS)
		return;
	progress->shown_ns = now;
	progress->is_shown = true;
	show(done, all);
}

void progress_done(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = false;
}
