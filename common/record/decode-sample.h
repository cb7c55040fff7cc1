/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes the fields of a sample; the attr of its event defines which there are, and their order.
 */
#pragma once

#include <linux/perf_event.h>

#include "common/record/cursor.h"
#include "common/record/event.h"
#include "common/util/fault.h"

/* Bits of branch_sample_type that change a sample's shape; the second is newer than some headers.
 */
#define BRANCH_HW_INDEX PERF_SAMPLE_BRANCH_HW_INDEX
#define BRANCH_COUNTERS (1ull << 19)

/* Decodes @record; @c has its bytes after the header. 0, or -EBADMSG and @fault if they are too
 * few. */
int decode_sample(struct cursor *c, const struct perf_event_header *record,
		  const struct perf_event_attr *attr, struct event *ret, struct fault *fault);

/* Decodes TID and TIME, if @type has them: from a sample, or the trailer of any other record. */
bool decode_ids(struct cursor *c, uint64_t type, struct event *ret);
