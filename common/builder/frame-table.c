/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/frame-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define MIN_BITS 12

int frame_table_init(struct frame_table *table, size_t max_nodes)
{
	*table = (struct frame_table){ .bits = MIN_BITS, .max_nodes = max_nodes };
	table->slots = calloc((size_t)1 << MIN_BITS, sizeof(*table->slots));
	return table->slots ? 0 : -ENOMEM;
}

void frame_table_done(struct frame_table *table)
{
	free(table->slots);
	free(table->nodes);
}

/* As in row-table.c: multiply-add, and the high bits. */
static size_t slot_of(unsigned int bits, uint32_t context, uint32_t parent, uint64_t address)
{
	uint64_t h = address * 0x9e3779b97f4a7c15ull + parent * 0xbf58476d1ce4e5b9ull +
		     context * 0xd6e8feb86659fd93ull;

	return h >> (64 - bits);
}

static int grow(struct frame_table *t)
{
	unsigned int bits = t->bits + 1;
	size_t mask = ((size_t)1 << bits) - 1;
	uint32_t *slots = calloc(mask + 1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct frame_node *node = &t->nodes[i];
		size_t k = slot_of(bits, node->context, node->parent, node->address);

		while (slots[k])
			k = (k + 1) & mask;
		slots[k] = (uint32_t)i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->bits = bits;
	return 0;
}

static int64_t add_node(struct frame_table *t, size_t slot, const struct frame_node *node)
{
	if (t->n_nodes >= t->max_nodes)
		return -ENOSPC;
	if (ARRAY_RESERVE(&t->nodes, &t->cap_nodes, t->n_nodes + 1) < 0)
		return -ENOMEM;
	t->nodes[t->n_nodes++] = *node;
	t->slots[slot] = (uint32_t)t->n_nodes;
	return (int64_t)t->n_nodes - 1;
}

int64_t frame_table_get(struct frame_table *table, uint32_t context, uint32_t parent,
			uint64_t address)
{
	struct frame_node fresh = { address, parent, context, 0, 0, 0 };
	size_t mask, k;

	if (table->n_nodes >= (size_t)1 << (table->bits - 1) && grow(table) < 0)
		return -ENOMEM;
	mask = ((size_t)1 << table->bits) - 1;
	k = slot_of(table->bits, context, parent, address);
	for (; table->slots[k]; k = (k + 1) & mask) {
		const struct frame_node *node = &table->nodes[table->slots[k] - 1];

		if (node->address == address && node->parent == parent && node->context == context)
			return (int64_t)table->slots[k] - 1;
	}
	return add_node(table, k, &fresh);
}

void frame_table_clear(struct frame_table *table)
{
	memset(table->slots, 0, sizeof(*table->slots) << table->bits);
	table->n_nodes = 0;
}
