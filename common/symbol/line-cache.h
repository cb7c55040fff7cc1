/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source lines of an object that were looked up already, by offset. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/source-frame.h"

#define LINE_CACHE_MAX_FRAMES 64 /* of an offset */

struct line_cache_entry {
	uint64_t offset;
	uint32_t first;
	uint32_t n_frames; /* UINT32_MAX: the entry is free */
};

/* An empty one is zeroed. */
struct line_cache {
	struct line_cache_entry *entries; /* open addressing; cap is a power of 2 */
	size_t n, cap;
	struct source_frame *frames;
	size_t n_frames, cap_frames;
	struct strings *strings; /* of the frames */
};

void line_cache_done(struct line_cache *cache);

/* Adds the frames of @offset, which has none yet, and copies their strings. 0 or
 * -ENOMEM. */
int line_cache_add(struct line_cache *cache, uint64_t offset, const struct source_frame *frames,
		   size_t n);

/* The number of frames and *@ret, valid until the next is added; -ENOENT if it was not added. */
int line_cache_find(const struct line_cache *cache, uint64_t offset,
		    const struct source_frame **ret);
