/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads the source lines of many locations of a profile, object by object, so that a view looks
 * them up without asking for each location separately.
 */
#pragma once

#include <stddef.h>

#include "client/stream/stream.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* An empty one is zeroed. */
struct line_loader {
	struct location *rows;
	size_t n, cap;
};

/* A location without an object counts, too, but has no lines. 0 or -ENOMEM. */
int line_loader_add(struct line_loader *loader, struct location at);

/* Both ends of a block. 0 or -ENOMEM. */
int line_loader_add_block(struct line_loader *loader, const struct profile_block *block);

/* All locations of the path that ends with @node. 0 or -ENOMEM. */
int line_loader_add_stream(struct line_loader *loader, const struct view_streams *streams,
			   uint32_t node);

/* Loads the lines of all that were added. 0 or -ENOMEM. */
int line_loader_run(struct line_loader *loader, const struct profile *profile,
		    struct symbolizer *symbolizer);
void line_loader_done(struct line_loader *loader);

/* Loads the lines of all branches of @streams, if there is a symbolizer. 0 or -ENOMEM. */
int line_loader_load_streams(const struct view_streams *streams, const struct profile *profile,
			     struct symbolizer *symbolizer);
