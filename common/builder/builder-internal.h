/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What builder.c (counting) and settle.c (closing) share, and nobody else sees. */
#pragma once

#include "common/builder/builder.h"
#include "common/builder/frame-table.h"
#include "common/builder/row-table.h"
#include "common/stitch/stack.h"

struct builder {
	struct builder_settings settings;
	struct row_table rows;
	struct frame_table frames;
	struct stitch *stitch;           /* NULL: not wanted. It outlives windows, as tasks do */
	struct stitch_counters stitched; /* what it had counted when the window began */
	struct stack stack;              /* of the sample that is being counted */
	struct incarnation **contexts; /* those sampled in this window; raw addresses are theirs */
	size_t n_contexts, cap_contexts;
	size_t n_mappings;       /* of their address spaces, which live on until they are let go */
	struct profile *settled; /* what was settled of this window already, or NULL */
	struct profile_counters counters;
	uint64_t start_ns, end_ns;
};

/* Lets go of all incarnations: the window's addresses have no meaning any more. */
void builder_forget_contexts(struct builder *builder);

/*
 * Turns what is counted into a profile, not sealed yet, and begins anew: *@ret. 0, or -ENOMEM: then the
 * builder can only be freed.
 */
int builder_settle(struct builder *builder, const struct processes *processes,
		   struct profile **ret);
