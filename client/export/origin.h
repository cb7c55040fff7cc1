/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When and of what the samples of a source were taken, and what they weigh. */
#pragma once

#include <stdint.h>

#include "client/source/profile-source.h"

/* Of the first window, since 1970; of a recording by its own clock. */
uint64_t origin_start_ns(const struct profile_source *source);

/* From the start of the first to the end of the last window; of a recording of its samples. */
uint64_t origin_length_ns(const struct profile_source *source);

/* The name of the event; "samples" if it is not known. */
const char *origin_event(const struct profile_source *source);

/* The unit of a period: "nanoseconds" of clocks, else "count". */
const char *origin_unit(const struct profile_source *source);

/* The sum of the periods of its samples; their number if the source knows no periods. */
uint64_t origin_weight(const struct profile_source *source, const struct profile_stack *stack);
