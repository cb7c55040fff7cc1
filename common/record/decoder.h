/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decoder: one of perf's records in, one event out. The same for a record of a file and for
 * one of a live ring; it keeps no state but the layouts of the perf events ("sources") it was told.
 *
 * The layout of a record follows from its source's perf_event_attr: man 2 perf_event_open, section
 * "MMAP layout", and the comments of linux/perf_event.h.
 */
#pragma once

#include <linux/perf_event.h>

#include "common/record/event.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct decoder;

int decoder_new(struct decoder **ret);
struct decoder *decoder_free(struct decoder *decoder);
DEFINE_CLEANUP(struct decoder *, decoder_free);

/*
 * Adds the next source (numbered from 0): its attr, as the kernel that made it knew it (shorter or
 * longer than ours: the caller fills what is missing with zeros), and the ids its records carry.
 * All sources must carry their ids in the same place. -EINVAL, -ENOMEM.
 */
int decoder_add_source(struct decoder *decoder, const struct perf_event_attr *attr,
		       const uint64_t *ids, size_t n_ids, struct fault *fault);
/* More ids of source number @source. */
int decoder_add_ids(struct decoder *decoder, uint32_t source, const uint64_t *ids, size_t n_ids);

/* The source whose records carry @id, or -1. */
int64_t decoder_find_source(const struct decoder *decoder, uint64_t id);

size_t decoder_n_sources(const struct decoder *decoder);
const struct perf_event_attr *decoder_attr(const struct decoder *decoder, uint32_t source);

/*
 * The time of @record, whose header->size bytes are readable and 8-byte aligned: 1 and *@ret, 0 if
 * it has none. What sorting needs, before (and much cheaper than) decoding.
 */
int decoder_time(const struct decoder *decoder, const struct perf_event_header *record,
		 uint64_t *ret);

/*
 * Decodes it. A kind we have no use for is EVENT_OTHER, one we do not know EVENT_UNKNOWN. -EBADMSG
 * with @fault (without a place: the caller knows where the record lies) where it contradicts
 * itself.
 */
int decoder_decode(const struct decoder *decoder, const struct perf_event_header *record,
		   struct event *ret, struct fault *fault);
