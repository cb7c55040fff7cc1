/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes records about tasks, their mappings, kernel symbols and losses. */
#pragma once

#include <linux/perf_event.h>

#include "common/record/cursor.h"
#include "common/record/event.h"

/*
 * Decodes @record, which is not a sample; @c has the bytes between its header and its trailer.
 * False if they are too few. A kind we have no use for leaves @ret as it is.
 */
bool decode_body(struct cursor *c, const struct perf_event_header *record,
		 const struct perf_event_attr *attr, struct event *ret);
