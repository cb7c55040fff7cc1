/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/overlay.h"

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

struct overlay_node {
	struct key key;
	uint32_t number;
	UT_hash_handle hh;
};

void overlay_done(struct overlay *overlay)
{
	struct overlay_node *node, *next;

	HASH_ITER(hh, overlay->nodes, node, next) {
		HASH_DEL(overlay->nodes, node);
		free(node);
	}
}

static int64_t add(struct overlay *overlay, const struct key *key)
{
	_cleanup_free_ struct overlay_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	node->key = *key;
	node->number = overlay->n;
	HASH_ADD(hh, overlay->nodes, key, sizeof(node->key), node);
	if (!node->hh.tbl)
		return -ENOMEM;
	overlay->n++;
	return TAKE_PTR(node)->number;
}

int64_t overlay_find(struct overlay *overlay, uint32_t parent, struct location from,
		     struct location to)
{
	struct key key = { from.offset, to.offset, from.object, to.object, parent, 0 };
	struct overlay_node *node;

	HASH_FIND(hh, overlay->nodes, &key, sizeof(key), node);
	return node ? node->number : add(overlay, &key);
}
