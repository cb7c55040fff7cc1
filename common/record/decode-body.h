/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes records about tasks, their mappings, kernel symbols and losses. */
#pragma once

#include <linux/perf_event.h>

#include "common/record/cursor.h"
#include "common/record/event.h"

/*
 * @record, no sample, of which @c has what is between header and trailer. False where it is too
 * short. A kind we have no use for leaves @ret as it is.
 */
bool decode_body(struct cursor *c, const struct perf_event_header *record,
		 const struct perf_event_attr *attr, struct event *ret);
