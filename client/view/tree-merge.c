/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/tree-merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Hashed as it is, so without padding. */
struct key {
	uint64_t from, to;
	uint32_t from_object, to_object, parent, zero;
};

struct tree_merge_node {
	struct key key;
	uint32_t number;
	UT_hash_handle hh;
};

void tree_merge_done(struct tree_merge *merge)
{
	struct tree_merge_node *node, *next;

	HASH_ITER(hh, merge->nodes, node, next) {
		HASH_DEL(merge->nodes, node);
		free(node);
	}
}

static int64_t add(struct tree_merge *merge, const struct key *key)
{
	_cleanup_free_ struct tree_merge_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	node->key = *key;
	node->number = merge->n;
	HASH_ADD(hh, merge->nodes, key, sizeof(node->key), node);
	if (!node->hh.tbl)
		return -ENOMEM;
	merge->n++;
	return TAKE_PTR(node)->number;
}

int64_t tree_merge_find(struct tree_merge *merge, uint32_t parent, struct location from,
			struct location to)
{
	struct key key = { from.offset, to.offset, from.object, to.object, parent, 0 };
	struct tree_merge_node *node;

	HASH_FIND(hh, merge->nodes, &key, sizeof(key), node);
	return node ? node->number : add(merge, &key);
}
