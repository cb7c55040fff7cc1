/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call stacks of one window as a tree, by raw address: nodes found by (context, parent, address).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAME_ROOT UINT32_MAX /* the parent of the outermost frames */

struct frame_node {
	uint64_t address;
	uint32_t parent; /* an index less than its own, or FRAME_ROOT */
	uint32_t context;
	uint64_t samples; /* those that ended here */
	uint64_t weight;
	uint64_t stitched; /* of the samples, those with frames from earlier ones */
};

struct frame_table {
	struct frame_node *nodes;
	size_t n_nodes, cap_nodes, max_nodes;
	uint32_t *slots; /* 1 << bits indices of nodes, + 1; 0: free */
	unsigned int bits;
};

int frame_table_init(struct frame_table *table, size_t max_nodes);
void frame_table_done(struct frame_table *table);

/* The node, found or made: its index; -ENOSPC if the table is full, -ENOMEM. */
int64_t frame_table_get(struct frame_table *table, uint32_t context, uint32_t parent,
			uint64_t address);

void frame_table_clear(struct frame_table *table);
