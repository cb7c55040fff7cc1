/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One report of what was sampled from one moment to the next: its samples, then the hottest rows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/top/top.h"

/* How reports look. The strings of the filter are borrowed. */
struct report_settings {
	struct profile_filter filter;
	struct top_settings top;
	size_t order;         /* of the rows, see top-order.h */
	double percent_limit; /* leaves out rows below it; negative: none */
	bool json;            /* a line of JSON each */
	struct output_settings output;
};

/* When it was sampled. */
struct report_span {
	uint64_t from_us, until_us; /* CLOCK_REALTIME */
};

/*
 * Writes it to stdout at once. Takes over the finalized @profile, which @source has then. 0, or
 * -errno and @fault.
 */
int report_write(const struct report_settings *settings, struct profile_source *source,
		 struct profile *profile, struct report_span span, struct fault *fault);
